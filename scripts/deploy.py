"""make deploy: builds what changed, brings the stacks to it, registers the providers, and searches.

TARGET=emulator (default), localstack or aws. Nothing that is as it should be is touched.
"""

import argparse
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from scripts import (
    aws_account,
    build,
    costs,
    deployment,
    fleet,
    gateway,
    interrupts,
    inventories,
    processes,
    report,
    services,
    settings,
    targets,
)
from scripts.artifacts import Artifacts
from scripts.deployment import Deployment, Names
from scripts.exclusive import alone
from scripts.packages import Variant
from scripts.settings import Settings
from scripts.stacks import Stack, Stacks
from scripts.targets import Target
from scripts.terminal import Failure, console, fail, heading, line


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command. Returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m scripts.deploy", description=__doc__)
    parser.add_argument("--dry-run", action="store_true", help="make and show the change sets, execute none")
    parser.add_argument("--yes", action="store_true", help="do not ask before something is created on AWS")
    given = parser.parse_args(arguments)
    try:
        with interrupts.raised():
            deploy(is_dry=given.dry_run, is_agreed=given.yes)
    except Failure as failure:
        fail(failure)
        return 1
    except (BotoCoreError, ClientError) as error:
        fail(Failure(f"The target refused a call: {error}"))
        return 1
    except interrupts.Interrupted as interrupted:
        console.print(
            "\nInterrupted. What CloudFormation has begun it also ends; the next make deploy goes on from there."
        )
        return 128 + interrupted.number
    return 0


def deploy(*, is_dry: bool, is_agreed: bool) -> None:
    """All of it. Raises Failure."""
    configured = running_fleet()
    target = targets.find(configured)
    names = deployment.names(target)
    if target.is_aws:
        aws_account.refuse_what_is_unsafe(target, is_dry=is_dry)
    elif not is_dry:
        aws_account.refuse_keys_from_nothing(target)
    if names.providers:
        heading("Inventories")
        inventories.check(names=names.providers)
    with _reachable(target, configured):
        heading("Packages")
        built = build.build(Variant(build.architecture(), target.lays_layers))
        if target.is_aws:
            heading("Costs")
            costs.show([built.template(name) for name in ("base", "gateway", *("provider" for _ in names.providers))])
            if is_dry and not aws_account.has_credentials(target):
                aws_account.show_what_is_missing(built, names)
                return
            aws_account.ask_whether(target, names, is_agreed=is_agreed or is_dry)
        Run(target, names, built, is_dry=is_dry).all()


def running_fleet() -> Settings:
    """The local fleet's settings, with the ports that what runs of it has."""
    started = processes.recorded(settings.run_dir())
    return settings.read(remembered={name: one.port for name, one in started.items()})


class Run:
    """One deployment as it happens."""

    def __init__(self, target: Target, names: Names, built: build.Built, *, is_dry: bool) -> None:
        self.target, self.names, self.is_dry = target, names, is_dry
        self.stacks = target.stacks()
        self.deployment = Deployment(target, names, built, self.apply)
        self.changed: list[str] = []

    def all(self) -> None:
        """Every stack, the providers' records, and a search."""
        parameters = aws_account.base_parameters(self.target, self.stacks, self.names) if self.target.is_aws else {}
        heading(self.names.base)
        if self.is_dry:
            self._show_change_sets(parameters)
            return
        self.deployment.base(self.stacks, lambda bucket: Artifacts(self.target.client("s3"), bucket), parameters)
        base = self.stacks.outputs(self.names.base)
        for name in self.names.providers:
            heading(self.names.provider(name))
            self.apply(self.deployment.provider_stack(name, base, aws_account.provider_parameters()))
        heading(self.names.gateway)
        self.apply(self.deployment.gateway_stack(base, aws_account.gateway_parameters()))
        self._register()
        console.print()
        changed = (
            f"Changed: {', '.join(self.changed)}."
            if self.changed
            else "Nothing changed: everything was as it should be."
        )
        console.print(changed, markup=False)
        for name, url in urls(self.target, self.stacks, self.names).items():
            console.print(f"{name} {url}", markup=False)

    def apply(self, stack: Stack) -> bool:
        """One stack; says so when there is nothing to do."""
        is_changed = self.stacks.apply(stack)
        if not is_changed:
            line("is as it should be")
        elif stack.name not in self.changed:
            self.changed.append(stack.name)
        return is_changed

    def _show_change_sets(self, parameters: dict[str, str]) -> None:
        base = {**aws_account.UNKNOWN_YET, **self.stacks.outputs(self.names.base)}
        wanted = [self.deployment.base_stack(parameters)]
        wanted += [
            self.deployment.provider_stack(one, base, aws_account.provider_parameters()) for one in self.names.providers
        ]
        wanted.append(self.deployment.gateway_stack(base, aws_account.gateway_parameters()))
        for stack in wanted:
            change_set = self.stacks.prepare(stack)
            heading(f"Change set of {stack.name}")
            for change in change_set.changes if change_set else ("nothing to change",):
                line(change)
            if change_set:
                self.stacks.drop(change_set)

    def _register(self) -> None:
        if self.target.auth != "open":
            return  # a person with a key does that, once: see docs/deployment.md
        heading("Registry")
        found = self.stacks.outputs(self.names.gateway)
        address = self.target.url(found["ApiId"])
        for name in self.names.providers:
            api = self.stacks.outputs(self.names.provider(name))["ApiId"]
            # Its function's first start may take longer than a search waits.
            gateway.wake(self.target.url(api))
            line(f"{name} {gateway.place(address, name, self.target.inner_url(api))}")
        if self.names.providers:
            report.show(gateway.sample_search(address))


def urls(target: Target, stacks: Stacks, names: Names) -> dict[str, str]:
    """Where everything that is deployed answers, by name."""
    found = {"gateway": stacks.outputs(names.gateway).get("ApiId")}
    for name in deployment.deployed_providers(stacks, names):
        found[name] = stacks.outputs(names.provider(name)).get("ApiId")
    return {name: target.url(api) for name, api in found.items() if api}


def _reachable(target: Target, configured: Settings) -> AbstractContextManager[Any]:
    """The emulator runs from here on: the one of make dev, or one that is started now and stays."""
    if target.name != "emulator":
        return nullcontext()
    with alone(configured.run_dir, wait=True), fleet.up(configured, [services.emulator(configured)], _tell_of_emulator):
        return nullcontext()


def _tell_of_emulator(service: services.Service, running: Any, is_new: bool) -> None:
    if is_new:
        line(f"the emulator was started on port {service.port} (process {running.pid}); make stop ends it")


if __name__ == "__main__":
    sys.exit(main())
