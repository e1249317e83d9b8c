"""A provider's routes: what this owner has now, for the gateways that ask."""

from datetime import UTC, datetime
from pathlib import Path

import msgspec
from chalice.app import Chalice, Request, Response

from chalicelib.inventory_reply import AGE_QUERY, asked_max_age_ms, reply
from chalicelib.provider_document import api_document
from chalicelib.provider_metrics import SCRAPER
from chalicelib.provider_parts import ProviderParts
from fedcompute import __version__
from fedcompute.exposition import MEDIA_TYPE
from fedcompute.inventory import Inventory
from fedcompute.operations import PUBLIC, Contract
from fedcompute.readiness import Health
from fedcompute.web import JSON, Web, json_response, text_response

app = Chalice(app_name="fedcompute-provider")
parts = ProviderParts(Path(__file__).parent)
web = Web(app, lambda: parts.log, lambda: parts.access, parts.metrics.count)


@web.route("/health", role=PUBLIC, contract=Contract(Health))
def health(request: Request) -> Response:
    """Whether this app runs, and its version."""
    return json_response(msgspec.json.encode({"status": "ok", "version": __version__}))


@web.route("/metrics", role=SCRAPER, contract=Contract(MEDIA_TYPE, errors=("not_ready",)))
def metrics(request: Request) -> Response:
    """What this process has answered, and its last inventory, for Prometheus."""
    return text_response(parts.metrics.text(datetime.now(UTC)), MEDIA_TYPE)


@web.route("/openapi.json", role=PUBLIC, contract=Contract(JSON))
def openapi(request: Request) -> Response:
    """What a provider serves, as an OpenAPI 3.1 document."""
    return json_response(api_document(tuple(web.operations)))


@web.route(
    "/api/v1/inventory",
    role="gateway",
    contract=Contract(
        Inventory,
        query=AGE_QUERY,
        headers=("ETag", "X-Observed-At"),
        errors=("inventory_unavailable", "not_ready", "validation_failed"),
        also={304: None},
    ),
)
def inventory(request: Request) -> Response:
    """The inventory, or 304 where the caller has it."""
    max_age_ms = asked_max_age_ms(request.query_params)
    observation = parts.inventory.observe(datetime.now(UTC), max_age_ms)
    parts.metrics.last = observation
    return parts.signed(request, reply(observation, request.headers.get("if-none-match")))
