"""The gateway's parts, each made once and on first use: importing the app reads no environment and opens nothing."""

from functools import cached_property

from chalice.app import Request

from chalicelib.addresses import AddressPolicy
from chalicelib.asking import Asking
from chalicelib.dynamodb import make_client
from chalicelib.fanout import Fanout
from chalicelib.gateway_settings import GatewaySettings, read_settings
from chalicelib.inventories import Inventories
from chalicelib.providers import Approve
from chalicelib.registry import Registry
from fedcompute.documents import invalid
from fedcompute.errors import Problem
from fedcompute.log import Log
from fedcompute.provider import ProviderFields
from fedcompute.web import PUBLIC, Access, own_hosts_only


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
        return own_hosts_only(self.settings.allowed_hosts) if self.settings.auth == "open" else _keys_only

    @cached_property
    def addresses(self) -> AddressPolicy:
        """Where providers may be."""
        return AddressPolicy(self.settings.provider_addresses, self.settings.forbidden_urls)

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
        return Asking(fanout, Inventories())

    def _log_fanout_error(self, provider_id: str, error: BaseException) -> None:
        self.log.exception("fanout", error, provider_id=provider_id)  # noqa: PLE1205 (no logger of the standard library)

    def approval(self, request: Request) -> Approve:
        """Whether a provider may have the address that this request gives it."""
        own_host = request.headers.get("host", "")

        def approve(fields: ProviderFields) -> None:
            refusal = self.addresses.refusal_of_url(fields.base_url, own_host)
            if refusal is not None:
                raise invalid([{"pointer": "/base_url", "message": refusal}])

        return approve


def _keys_only(request: Request, role: str) -> None:  # noqa: ARG001 (no request holds a key that is known)
    """Nobody has a key: a gateway that asks for keys answers its public routes alone."""
    if role != PUBLIC:
        raise Problem(
            "unauthenticated", "This gateway answers callers with a key only.", headers={"WWW-Authenticate": "Bearer"}
        )
