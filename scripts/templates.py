"""The CloudFormation templates: what Chalice makes of an app's routes, with what infra/ adds."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fedcompute.errors import STATUS, TITLES
from scripts.settings import ROOT
from scripts.terminal import Failure

type Template = dict[str, Any]

# What Chalice names its resources. Another name in infra/ would make a second one instead of changing this one.
OF_CHALICE = frozenset({"APIHandler", "APIHandlerInvokePermission", "ApiHandlerRole", "RestAPI"})
# What a further function of an app has in common with the one that API Gateway calls.
SHARED_BY_FUNCTIONS = ("CodeUri", "Environment", "Layers", "LoggingConfig", "Tags", "Tracing")
# What an answer that API Gateway makes itself says, by its type: the words of fedcompute.errors.
ANSWERS: Mapping[str, tuple[str, str]] = {
    "MISSING_AUTHENTICATION_TOKEN": ("not_found", "There is nothing at this address."),
    "RESOURCE_NOT_FOUND": ("not_found", "There is nothing at this address."),
    "UNAUTHORIZED": ("unauthenticated", "Send a key: Authorization: Bearer fc_..."),
    "ACCESS_DENIED": ("forbidden", "This is not for you."),
    "THROTTLED": ("rate_limited", "Too many requests at once; try again in a moment."),
    "QUOTA_EXCEEDED": ("rate_limited", "Too many requests; try again later."),
    "REQUEST_TOO_LARGE": ("payload_too_large", "The body is too large."),
    "UNSUPPORTED_MEDIA_TYPE": ("unsupported_media_type", "Send the body with Content-Type: application/json."),
    "BAD_REQUEST_BODY": ("malformed_json", "The request can't be read."),
    "INTEGRATION_TIMEOUT": ("internal", "No answer in time. The log has it under this request id."),
    "DEFAULT_5XX": ("internal", "Something went wrong here. The log has it under this request id."),
}


def extras(*files: Path) -> Template:
    """These templates as one, later ones on top, with the answers that API Gateway makes itself."""
    merged: Template = {}
    for file in files:
        merged = _merged(merged, json.loads(file.read_text()))
    body = merged["Resources"]["RestAPI"]["Properties"]["DefinitionBody"]
    body["x-amazon-apigateway-gateway-responses"] = {name: _answer(*told) for name, told in ANSWERS.items()}
    merged["Outputs"] = {
        **merged.get("Outputs", {}),
        "Url": {
            "Value": {"Fn::Sub": "https://${RestAPI}.execute-api.${AWS::Region}.${AWS::URLSuffix}/api"},
            "Description": "Where it answers on AWS; an emulator has it by the API's id.",
        },
        "ApiId": {"Value": {"Ref": "RestAPI"}},
        "FunctionName": {"Value": {"Ref": "APIHandler"}},
        "HandlerLogName": {"Value": {"Ref": "HandlerLog"}},
    }
    return merged


def checked(template: Template, name: str) -> Template:
    """A merged template, in which every name of infra/ has met its match. Raises Failure."""
    without_type = sorted(key for key, one in template["Resources"].items() if "Type" not in one)
    if without_type or not template["Resources"].keys() >= OF_CHALICE:
        wrong = ", ".join(without_type) or ", ".join(sorted(OF_CHALICE - template["Resources"].keys()))
        raise Failure(f"infra/{name}.json and Chalice's template do not fit together: {wrong}.")
    handler = template["Resources"]["APIHandler"]["Properties"]
    for own_name, one in template["Resources"].items():
        if one["Type"] == "AWS::Serverless::Function" and one["Properties"] is not handler:
            one["Properties"] |= {name: handler[name] for name in SHARED_BY_FUNCTIONS}
            # A function is not told its own name: it can't send itself anything, and the template has no circle.
            variables = handler["Environment"]["Variables"].items()
            others = {name: value for name, value in variables if value != {"Ref": own_name}}
            one["Properties"]["Environment"] = {"Variables": others}
    for double in ("RestAPIId", "APIHandlerName", "APIHandlerArn", "EndpointURL"):
        template["Outputs"].pop(double, None)
    return template


def copy_base(_: Path, output: Path) -> None:
    """The base stack's template stands ready in infra/."""
    output.write_bytes((ROOT / "infra" / "base.json").read_bytes())


def _merged(under: Any, over: Any) -> Any:
    if not isinstance(under, dict) or not isinstance(over, dict):
        return over
    return {**under, **{key: _merged(under.get(key), value) for key, value in over.items()}}


def _answer(code: str, detail: str) -> Template:
    status = STATUS[code]
    problem = {
        "type": f"urn:fedcompute:problem:{code}",
        "title": TITLES[status],
        "status": status,
        "code": code,
        "detail": detail,
        "request_id": "$context.requestId",
    }
    headers = {"Content-Type": "'application/problem+json'", "X-Request-Id": "context.requestId"}
    if status == 429:
        headers["Retry-After"] = "'1'"
    return {
        "statusCode": str(status),
        "responseParameters": {f"gatewayresponse.header.{name}": value for name, value in headers.items()},
        "responseTemplates": {"application/json": json.dumps(problem)},
    }
