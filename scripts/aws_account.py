"""What only AWS itself needs: keys instead of an open door, a person's consent, and roles that an account has once."""

import json
import os
import re
from collections.abc import Mapping

from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

from scripts.build import Built
from scripts.deployment import Names
from scripts.stacks import Stacks
from scripts.targets import Target
from scripts.terminal import Failure, console, heading, line

# What the base stack's outputs are before there is one: change sets can be made with it, and are not executed.
UNKNOWN_YET = {
    "Artifacts": "not-there-yet",
    "RegistryTable": "not-there-yet",
    "RegistryTableArn": "arn:aws:dynamodb:us-east-1:000000000000:table/not-there-yet",
    "LayerArn": "arn:aws:lambda:us-east-1:000000000000:layer:not-there-yet:1",
}
MASTER_KEY = re.compile(r"(ssm|secretsmanager):(.+)")


def refuse_what_is_unsafe(target: Target, *, is_dry: bool) -> None:
    """AUTH=open is for a person's own machine. Raises Failure, also for keys without the secret that they come from."""
    if target.auth != "keys":
        raise Failure(f"AUTH={target.auth} would let everybody in; on AWS it must be keys.")
    if target.provider_addresses not in ("public", "private"):
        raise Failure("On AWS PROVIDER_ADDRESSES must be public or private.")
    if not is_dry:
        refuse_keys_from_nothing(target)


def refuse_keys_from_nothing(target: Target) -> None:
    """With AUTH=keys there must be the secret that they come from, on any target. Raises Failure."""
    if target.auth == "keys" and not MASTER_KEY.fullmatch(os.environ.get("MASTER_KEY", "")):
        raise Failure(
            "Keys are derived from a secret: MASTER_KEY=ssm:/fedcompute/master-key or secretsmanager:NAME."
            " How to make one stands in docs/deployment.md; --dry-run works without."
        )


def has_credentials(target: Target) -> bool:
    """Whether AWS knows who is deploying."""
    try:
        target.client("sts").get_caller_identity()
    except (NoCredentialsError, BotoCoreError, ClientError, Failure):
        return False
    return True


def show_what_is_missing(built: Built, names: Names) -> None:
    """Without credentials: what the templates would make, and what it takes to go on."""
    for stack, template in [
        (names.base, "base"),
        *((names.provider(one), "provider") for one in names.providers),
        (names.gateway, "gateway"),
    ]:
        heading(f"Resources of {stack}")
        resources = json.loads(built.template(template).read_text())["Resources"]
        for name, one in sorted(resources.items(), key=lambda item: (item[1]["Type"], item[0])):
            line(f"add     {one['Type']:<32} {name}")
    heading("Missing")
    line("credentials: AWS_PROFILE=NAME, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; then a change set can be made")
    if not os.environ.get("MASTER_KEY"):
        line("MASTER_KEY: needed to deploy, see docs/deployment.md")


def ask_whether(target: Target, names: Names, *, is_agreed: bool) -> None:
    """Asks before anything is created. Raises Failure for any answer but yes."""
    who = target.client("sts").get_caller_identity()
    stacks = ", ".join([names.base, *map(names.provider, names.providers), names.gateway])
    heading("Where to")
    line(f"account {who['Account']} in {target.session().region_name}, as {who['Arn']}: {stacks}")
    if not is_agreed and console.input("  Create or change them? (yes/no) ").strip().lower() != "yes":
        raise Failure("Nothing was done.")


def base_parameters(target: Target, stacks: Stacks, names: Names) -> dict[str, str]:
    """Whether the base makes the role by which API Gateway writes logs: where there is none, or it made the one there is."""
    made_before = stacks.parameters(names.base).get("ApiGatewayLogRole") == "true"
    there = target.client("apigateway").get_account().get("cloudwatchRoleArn")
    return {"ApiGatewayLogRole": "true" if made_before or not there else "false"}


def gateway_parameters(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The master key's reference, and what the function may read for it."""
    found = MASTER_KEY.fullmatch(environment.get("MASTER_KEY", ""))
    if found is None:
        return {}
    kind, name = found.groups()
    return {
        "MasterKey": found[0],
        "MasterKeyKind": "ssm" if kind == "ssm" else "secret",
        "MasterKeyName": name.removeprefix("/"),
    }


def provider_parameters(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The key that the gateway gave a provider, where it asks for one."""
    return {"ProviderKey": environment["PROVIDER_KEY"]} if environment.get("PROVIDER_KEY") else {}
