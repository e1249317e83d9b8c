"""The gateway's parts, each made once and on first use: importing the app reads no environment and opens nothing."""

from functools import cached_property

from chalice.app import Request

from chalicelib.addresses import AddressPolicy
from chalicelib.asking import Asking
from chalicelib.callers import caller_of, keys_only, open_to_all
from chalicelib.callers_records import CallersRecords
from chalicelib.division import Division
from chalicelib.dynamodb import make_client
from chalicelib.fanout import Fanout
from chalicelib.gateway_settings import GatewaySettings, read_settings
from chalicelib.inventories import Inventories
from chalicelib.invocations import Invocations
from chalicelib.key_store import KeyStore
from chalicelib.master_key import MasterKey
from chalicelib.metrics import Metrics
from chalicelib.orders import Orders
from chalicelib.providers import Approve
from chalicelib.rate_limit import RateLimit
from chalicelib.registry import Registry
from chalicelib.signing import Signing
from chalicelib.totals import Totals
from fedcompute.documents import invalid
from fedcompute.log import Log
from fedcompute.own_hosts import own_hosts_only
from fedcompute.provider import ProviderFields, ProviderRecord
from fedcompute.text import clean
from fedcompute.web import Access, note, request_id_of


class Collaborators:
    """What the views call. A property that two threads ask for at once may be made twice; the last one stays."""

    @cached_property
    def settings(self) -> GatewaySettings:
        """The environment as a model."""
        return read_settings()

    @cached_property
    def log(self) -> Log:
        """One JSON line per event."""
        return Log("gateway", self.settings.log_level)

    @cached_property
    def access(self) -> Access:
        """Who may call: the rule of AUTH."""
        if self.settings.auth == "open":
            return open_to_all(own_hosts_only(self.settings.allowed_hosts))
        return keys_only(KeyStore(self.registry.table), RateLimit(self.settings.key_rate_per_s))

    @cached_property
    def signing(self) -> Signing | None:
        """How providers know this gateway, and it them; None where AUTH=open."""
        return Signing(MasterKey(self.settings.master_key)) if self.settings.auth == "keys" else None

    @cached_property
    def addresses(self) -> AddressPolicy:
        """Where providers may be."""
        return AddressPolicy(
            self.settings.provider_addresses, self.settings.forbidden_urls, emulator=self.settings.aws_endpoint_url
        )

    @cached_property
    def registry(self) -> Registry:
        """The providers' records."""
        return Registry(
            make_client,
            self.settings.registry_table,
            on_unreadable=lambda provider_id: self.log.write("ERROR", "unreadable_record", provider_id=provider_id),
        )

    @cached_property
    def asking(self) -> Asking:
        """The fan-out, with what this process knows."""
        fanout = Fanout(
            self.addresses,
            threads=self.settings.fanout_threads,
            connections=self.settings.fanout_connections,
            most_body_bytes=self.settings.max_inventory_bytes,
            on_error=self._log_fanout_error,
        )
        return Asking(fanout, Inventories(), self.signing)

    @cached_property
    def invocations(self) -> Invocations | None:
        """The function that parts of large searches are sent to; None where none is named."""
        name = self.settings.search_part_function
        return Invocations(name) if name else None

    @cached_property
    def orders(self) -> Orders:
        """What that function does."""
        return Orders(self.asking, self.log)

    @cached_property
    def metrics(self) -> Metrics:
        """What is counted, of all processes together."""
        settings = self.settings
        totals = Totals(self.registry.table, _note_flush_error) if settings.metrics == "on" else None
        return Metrics(totals, settings.aws_lambda_function_name if settings.is_on_aws else "")

    def _log_fanout_error(self, provider_id: str, error: BaseException) -> None:
        self.log.exception("fanout", error, provider_id=provider_id)  # noqa: PLE1205 (no logger of the standard library)

    def division(self, request: Request) -> Division:
        """How this request's search is divided among invocations."""
        request_id = request_id_of(request)

        def on_lost(error: BaseException, providers: int) -> None:
            self.log.exception("part_lost", error, request_id=request_id, providers=providers)  # noqa: PLE1205 (no logger of the standard library)

        return Division(self.asking, self.invocations, self.settings.search_part_providers, on_lost, request_id)

    def records(self, request: Request) -> CallersRecords:
        """The registry, as who makes this request may change it."""
        caller, request_id = caller_of(request), request_id_of(request)
        most = self.settings.owner_providers
        return CallersRecords(self.registry, caller, self.signing, self.log, request_id, most_owned=most)

    def key_shown_with(self, record: ProviderRecord) -> dict[str, str]:
        """What stands beside a new record, this once: the key of its provider, where AUTH=keys."""
        return {} if self.signing is None else {"key": self.signing.key_of(record)}

    def approval(self, request: Request) -> Approve:
        """Whether a provider may have the address that this request gives it."""
        own_host = request.headers.get("host", "")
        own_api = str(request.context.get("apiId") or "")

        def approve(fields: ProviderFields) -> None:
            refusal = self.addresses.refusal_of_url(fields.base_url, own_host, own_api)
            if refusal is not None:
                raise invalid([{"pointer": "/base_url", "message": refusal}])

        return approve


def _note_flush_error(error: BaseException) -> None:
    """In the line of the request that met it: a line of its own would be a second one."""
    note(metrics_not_flushed=clean(f"{type(error).__name__}: {error}"))
