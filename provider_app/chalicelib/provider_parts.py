"""The collaborators of the provider's app, each built on first use."""

import os
import threading
from functools import cached_property
from pathlib import Path

from chalice.app import Request, Response

from chalicelib.cluster_source import cluster_source
from chalicelib.inventory_reply import InventorySource
from chalicelib.provider_metrics import ProviderMetrics, scrapers_by_token
from chalicelib.provider_settings import ProviderSettings, SettingsError, from_environment
from chalicelib.signed_calls import SignedCalls
from chalicelib.static_inventory import StaticInventory
from fedcompute.errors import unavailable
from fedcompute.log import Log
from fedcompute.own_hosts import own_hosts_only
from fedcompute.web import Access


class ProviderParts:
    """What the views work with. `folder` is the app's, which INVENTORY_FILE is relative to.

    Two threads may build a part at once; either will do, as the last one kept is what all use from then on. Of the
    inventory there is one from the start.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._building = threading.Lock()
        self._inventory: InventorySource | None = None
        self.metrics = ProviderMetrics()

    @cached_property
    def settings(self) -> ProviderSettings:
        """The environment; 503 `not_ready` that names each variable that is missing or wrong."""
        try:
            return from_environment(os.environ)
        except SettingsError as error:
            raise unavailable("not_ready", str(error)) from error

    @cached_property
    def log(self) -> Log:
        """The log; at its default level where the settings can't be read, since that must be logged too."""
        try:
            return Log("provider", from_environment(os.environ).log_level)
        except SettingsError:
            return Log("provider")

    @cached_property
    def access(self) -> Access:
        """Who may call: the gateway that shares a key with this provider; without one, this machine's own clients."""
        if self.signed_calls is None:
            return own_hosts_only(self.settings.allowed_hosts)
        return scrapers_by_token(self.settings.metrics_token, self.signed_calls.check)

    @cached_property
    def signed_calls(self) -> SignedCalls | None:
        """The rule of PROVIDER_KEY; None where it is not set."""
        settings = self.settings
        return SignedCalls(settings.provider_id, settings.provider_key) if settings.provider_key else None

    def signed(self, request: Request, response: Response) -> Response:
        """An answer as it leaves: signed for its call, where calls are signed."""
        return response if self.signed_calls is None else self.signed_calls.sign(request, response)

    @property
    def inventory(self) -> InventorySource:
        """Where the inventory comes from; kubernetes and hami mean the same."""
        settings = self.settings
        with self._building:
            if self._inventory is None:
                # One for all: those who ask a cluster's at the same time share a read of it.
                file = self._folder / settings.inventory_file
                is_static = settings.inventory_mode == "static"
                self._inventory = StaticInventory(file, settings.provider_id) if is_static else cluster_source(settings)
            return self._inventory
