"""The stacks of one deployment: a base, a gateway, and one per provider."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scripts.artifacts import Artifacts, key_of
from scripts.build import Built
from scripts.settings import PROVIDERS, ROOT
from scripts.stacks import Stack, Stacks
from scripts.targets import Target
from scripts.terminal import Failure, line

INVENTORIES = ROOT / "provider_app" / "inventories"
# What a person may set of the stacks' parameters, by the name of the variable.
TUNING = {
    "LOG_LEVEL": "LogLevel",
    "LOG_RETENTION_DAYS": "LogRetentionDays",
    "TRACING": "Tracing",
    "REQUESTS_PER_SECOND": "RequestsPerSecond",
    "BURST": "Burst",
    "SEARCH_PART_PROVIDERS": "SearchPartProviders",
    "KEY_RATE_PER_S": "KeyRatePerS",
    "OWNER_PROVIDERS": "OwnerProviders",
    "ALARM_TOPIC_ARN": "AlarmTopicArn",
}


@dataclass(frozen=True)
class Names:
    """What the stacks are called. Two prefixes are two deployments."""

    prefix: str
    providers: tuple[str, ...]

    @property
    def base(self) -> str:
        """The base stack."""
        return f"{self.prefix}-base"

    @property
    def gateway(self) -> str:
        """The gateway's stack."""
        return f"{self.prefix}-gateway"

    def provider(self, name: str) -> str:
        """A provider's stack."""
        return f"{self.prefix}-{name}"


def names(target: Target, environment: Mapping[str, str] = os.environ) -> Names:
    """The stacks that the environment asks for: STACK_PREFIX and PROVIDERS. Raises Failure for an unknown provider.

    On AWS there are no providers unless they are named: what ships here are samples.
    """
    usual = () if target.is_aws else PROVIDERS
    named = environment.get("PROVIDERS")
    providers = usual if named is None else tuple(named.replace(",", " ").split())
    for name in providers:
        if not (INVENTORIES / f"{name}.json").exists():
            raise Failure(f"There is no inventory of {name}: provider_app/inventories/{name}.json is missing.")
    return Names(environment.get("STACK_PREFIX") or "fedcompute", providers)


class Deployment:
    """Makes what each stack is wanted to be, and applies it: `apply` says of one stack whether it was changed."""

    def __init__(self, target: Target, names: Names, built: Built, apply: Callable[[Stack], bool]) -> None:
        self.target = target
        self.names = names
        self._built = built
        self._apply = apply

    def base(self, stacks: Stacks, artifacts: Callable[[str], Artifacts], parameters: Mapping[str, str]) -> None:
        """The base, and everything sent that the others need. The first time without its layer, which needs its bucket."""
        before = stacks.parameters(self.names.base)
        if stacks.status(self.names.base) is None or "Artifacts" not in stacks.outputs(self.names.base):
            self._apply(self.base_stack({**parameters, "LayerKey": ""}))
            before = {}
        bucket = artifacts(stacks.outputs(self.names.base)["Artifacts"])
        for name in ("layer", "gateway", "provider"):
            file = self._built.zip(name)
            if file.exists():
                key, is_new = bucket.send(file)
                line(f"{key[: len(name) + 13]}.. {'sent' if is_new else 'is there'} ({file.stat().st_size >> 10} KiB)")
        layer = key_of(self._built.zip("layer")) if self.target.lays_layers else ""
        wanted = self.base_stack({**parameters, "LayerKey": layer})
        if before or layer:
            self._apply(wanted)

    def base_stack(self, parameters: Mapping[str, str]) -> Stack:
        """The base stack as it is wanted."""
        return self._stack(self.names.base, "base", {"OnAws": _truth(self.target.is_aws), **parameters})

    def gateway_stack(self, base: Mapping[str, str], parameters: Mapping[str, str]) -> Stack:
        """The gateway's stack; `base`: the base stack's outputs."""
        own = {
            "RegistryTable": base["RegistryTable"],
            "RegistryTableArn": base["RegistryTableArn"],
            "Auth": self.target.auth,
            "ProviderAddresses": self.target.provider_addresses,
        }
        return self._stack(self.names.gateway, "gateway", {**self._common("gateway", base), **own, **parameters})

    def provider_stack(self, name: str, base: Mapping[str, str], parameters: Mapping[str, str]) -> Stack:
        """One provider's stack."""
        own = {"ProviderId": name, "InventoryFile": f"inventories/{name}.json"}
        return self._stack(
            self.names.provider(name), "provider", {**self._common("provider", base), **own, **parameters}
        )

    def _common(self, name: str, base: Mapping[str, str]) -> dict[str, str]:
        return {
            "OnAws": _truth(self.target.is_aws),
            "CodeBucket": base["Artifacts"],
            "CodeKey": key_of(self._built.zip(name)),
            "LayerArn": base["LayerArn"] if self.target.lays_layers else "",
            "AllowedHosts": self.target.allowed_hosts,
        }

    def _stack(self, name: str, template: str, parameters: Mapping[str, str]) -> Stack:
        document: dict[str, Any] = json.loads(self._built.template(template).read_text())
        set_by_hand = {TUNING[key]: os.environ[key] for key in TUNING if os.environ.get(key)}
        every = {**parameters, **set_by_hand}
        return Stack(name, document, {key: value for key, value in every.items() if key in document["Parameters"]})


def deployed_providers(stacks: Stacks, names: Names) -> list[str]:
    """Which providers have a stack: those that are asked for, and any sample that was deployed before."""
    known = dict.fromkeys((*names.providers, *sorted(file.stem for file in INVENTORIES.glob("*.json"))))
    return [name for name in known if stacks.status(names.provider(name)) is not None]


def _truth(value: bool) -> str:
    return "true" if value else "false"
