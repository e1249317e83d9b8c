"""What a person can set for the local fleet, and where it keeps its files."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scripts.terminal import Failure

ROOT = Path(__file__).resolve().parent.parent

PROVIDERS = ("provider-a", "provider-b", "provider-c")
DEFAULT_PORTS: Mapping[str, int] = {
    "emulator": 4566,
    "provider-a": 8081,
    "provider-b": 8082,
    "provider-c": 8083,
    "gateway": 8080,
}


@dataclass(frozen=True)
class Settings:
    """The local fleet: its files, its table and the port of each service."""

    run_dir: Path
    emulator_venv: Path
    table: str
    ports: Mapping[str, int]

    def url(self, name: str) -> str:
        """Where a service answers, for this machine's own calls."""
        return f"http://127.0.0.1:{self.ports[name]}"

    def public_url(self, name: str) -> str:
        """The same, as a person types it."""
        return f"http://localhost:{self.ports[name]}"


def read(environment: Mapping[str, str] = os.environ, remembered: Mapping[str, int] | None = None) -> Settings:
    """The settings from the environment; a port that is not set there is the remembered one, then the default.

    Raises Failure for a port that is none, and for two services on one port.
    """
    known = {**DEFAULT_PORTS, **(remembered or {})}
    ports = {name: _port(environment, name, known[name]) for name in DEFAULT_PORTS}
    for name, port in ports.items():
        twins = [other for other, its in ports.items() if its == port and other != name]
        if twins:
            raise Failure(f"{name} and {twins[0]} both have port {port}; set {port_variable(twins[0])} to another one.")
    return Settings(
        run_dir=run_dir(environment),
        emulator_venv=(ROOT / environment.get("EMULATOR_VENV", ".run/emulator-venv")).absolute(),
        table=environment.get("REGISTRY_TABLE") or "fedcompute",
        ports=ports,
    )


def run_dir(environment: Mapping[str, str] = os.environ) -> Path:
    """Where the fleet of this checkout keeps its state, its records and its logs."""
    return (ROOT / environment.get("RUN_DIR", ".run")).absolute()


def port_variable(name: str) -> str:
    """The environment variable that sets a service's port: PROVIDER_A_PORT for provider-a."""
    return f"{name.upper().replace('-', '_')}_PORT"


def _port(environment: Mapping[str, str], name: str, default: int) -> int:
    text = environment.get(port_variable(name)) or str(default)
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 65535):
        raise Failure(f"{port_variable(name)}={text} is no port; give a number from 1 to 65535.")
    return int(text)
