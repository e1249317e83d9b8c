"""The gateway's routes and the function for parts of searches, and nothing else."""

from typing import Any

from chalice.app import Chalice, Request, Response

from chalicelib import providers
from chalicelib.answers import encoded, hidden_from, page_answer, record_answer, search_answer
from chalicelib.api_document import api_document
from chalicelib.api_viewer import viewer
from chalicelib.callers import caller_of
from chalicelib.check import check
from chalicelib.collaborators import Collaborators
from chalicelib.health import health, ready
from chalicelib.page import page
from chalicelib.resources import resources
from chalicelib.search import search
from fedcompute.answer import SearchAnswer
from fedcompute.exposition import MEDIA_TYPE
from fedcompute.operations import HTML, PUBLIC, Contract
from fedcompute.overview import Resources
from fedcompute.provider import NewProvider, ReplacedProvider
from fedcompute.readiness import Health, Ready
from fedcompute.records import CheckAnswer, Record, RecordPage
from fedcompute.request import SearchRequest, parse_search
from fedcompute.web import JSON, Web, html_response, json_response, no_content, note, query_of, raw_body, text_response

PROVIDERS = "/api/v1/providers"
ONE_PROVIDER = PROVIDERS + "/{provider_id}"

# What a view that works on one record may answer with.
OF_ONE = ("provider_not_found", "registry_unavailable")

app = Chalice(app_name="fedcompute-gateway")
gateway = Collaborators()
web = Web(app, lambda: gateway.log, lambda: gateway.access)


@web.route("/", role=PUBLIC, contract=Contract(HTML))
def get_page(request: Request) -> Response:
    """The web page."""
    return html_response(*page())


@web.route("/health", role=PUBLIC, contract=Contract(Health))
def get_health(request: Request) -> Response:
    """Whether the process answers."""
    return json_response(*encoded(health()))


@web.route("/ready", role=PUBLIC, contract=Contract(Ready, errors=("not_ready",)))
def get_ready(request: Request) -> Response:
    """Whether the registry answers too."""
    return json_response(*encoded(ready(gateway.registry)))


@web.route("/openapi.json", role=PUBLIC, contract=Contract(JSON))
def get_openapi(request: Request) -> Response:
    """This API as an OpenAPI 3.1 document."""
    return json_response(api_document(tuple(web.operations), is_open=gateway.settings.auth == "open"))


@web.route("/docs", role=PUBLIC, contract=Contract(HTML))
def get_docs(request: Request) -> Response:
    """The same document for people."""
    return html_response(*viewer(tuple(web.operations)))


@web.route(
    PROVIDERS,
    ("POST",),
    role="provider",
    contract=Contract(
        Record,
        201,
        takes=NewProvider,
        headers=("ETag", "Location"),
        errors=("not_ready", "owner_full", "provider_exists", "registry_full", "registry_unavailable"),
    ),
)
def post_provider(request: Request) -> Response:
    """Register a provider."""
    record = providers.register(gateway.records(request), raw_body(request), gateway.approval(request))
    location = {"Location": f"{PROVIDERS}/{record.id}"}
    return json_response(*record_answer(record, 201, location, gateway.key_shown_with(record)))


@web.route(
    PROVIDERS,
    role="search",
    contract=Contract(
        RecordPage,
        query=providers.PAGE_QUERY,
        errors=("malformed_token", "registry_unavailable", "validation_failed"),
    ),
)
def get_providers(request: Request) -> Response:
    """The registry, by id, a page at a time."""
    return json_response(*page_answer(providers.listed(gateway.registry, query_of(request)), caller_of(request)))


@web.route(ONE_PROVIDER, role="search", contract=Contract(Record, headers=("ETag",), errors=OF_ONE))
def get_provider(request: Request, provider_id: str) -> Response:
    """One record."""
    record = gateway.registry.get(provider_id)
    return json_response(*record_answer(record, members=hidden_from(caller_of(request), record)))


@web.route(
    ONE_PROVIDER,
    ("PUT",),
    role="provider",
    contract=Contract(Record, takes=ReplacedProvider, headers=("ETag",), is_conditional=True, errors=OF_ONE),
)
def put_provider(request: Request, provider_id: str) -> Response:
    """Replace a record."""
    body, approve = raw_body(request), gateway.approval(request)
    return json_response(
        *record_answer(providers.replace(gateway.records(request), provider_id, body, request.headers, approve))
    )


@web.route(
    ONE_PROVIDER,
    ("PATCH",),
    role="provider",
    contract=Contract(
        Record, takes=ReplacedProvider, patches=True, headers=("ETag",), is_conditional=True, errors=OF_ONE
    ),
)
def patch_provider(request: Request, provider_id: str) -> Response:
    """Change some fields of a record."""
    body, approve = raw_body(request), gateway.approval(request)
    return json_response(
        *record_answer(providers.patch(gateway.records(request), provider_id, body, request.headers, approve))
    )


@web.route(
    ONE_PROVIDER,
    ("DELETE",),
    role="provider",
    contract=Contract(None, 204, is_conditional=True, errors=OF_ONE),
)
def delete_provider(request: Request, provider_id: str) -> Response:
    """Remove a record."""
    providers.remove(gateway.records(request), provider_id, request.headers)
    return no_content()


@web.route(
    ONE_PROVIDER + "/check",
    ("POST",),
    role="provider",
    contract=Contract(CheckAnswer, errors=("not_ready", *OF_ONE)),
)
def post_provider_check(request: Request, provider_id: str) -> Response:
    """Ask one provider now."""
    records = gateway.records(request)
    found = check(records.get(provider_id), gateway.asking, records.confirm)
    gateway.metrics.asked([found["provider"]])
    return json_response(*encoded(found))


@web.route(
    "/api/v1/resources/search",
    ("POST",),
    role="search",
    contract=Contract(
        SearchAnswer,
        takes=SearchRequest,
        headers=("Server-Timing",),
        errors=("not_ready", "registry_unavailable"),
        also={503: SearchAnswer},
    ),
)
def post_search(request: Request) -> Response:
    """The main job: where can this job run now?"""
    wanted = parse_search(raw_body(request), gateway.settings.search_deadline_ms)
    found = search(wanted, gateway.registry, gateway.division(request), caller_of(request).owns)
    answer = search_answer(found, wanted)
    note(**found.log_fields, **gateway.metrics.searched(found))
    return json_response(*answer)


@web.route(
    "/api/v1/resources", role="search", contract=Contract(Resources, errors=("not_ready", "registry_unavailable"))
)
def get_resources(request: Request) -> Response:
    """What the federation has now."""
    found = resources(gateway.registry, gateway.asking, gateway.settings.search_deadline_ms)
    gateway.metrics.asked(found["providers"])
    return json_response(*encoded(found))


@web.route(
    "/metrics",
    role="search",
    contract=Contract(MEDIA_TYPE, errors=("not_found", "registry_unavailable")),
)
def get_metrics(request: Request) -> Response:
    """Counts of all processes, and what this one knows, for Prometheus."""
    return text_response(gateway.metrics.text(gateway.registry, gateway.asking), MEDIA_TYPE)


@app.lambda_function()
def part(event: Any, context: Any) -> str:
    """A function of its own, which no address leads to: asks some of the providers for a search that is divided."""
    return gateway.orders.done(event)
