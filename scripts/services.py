"""The five services of the local fleet: how each is started and how it says that it is ready."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scripts.settings import PROVIDERS, ROOT, Settings

# What a child gets of the caller's environment. No proxies (all calls stay on this machine), no AWS account, and none
# of the variables that mean one thing to us and another to the emulator (GATEWAY_PORT, AUTH, SERVICES).
SYSTEM = (
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LD_LIBRARY_PATH",
    "LOGNAME",
    "PATH",
    "PYTHONPATH",
    "TZ",
    "USER",
)
TUNING = (
    "ALLOWED_HOSTS",
    "FANOUT_CONNECTIONS",
    "FANOUT_THREADS",
    "INVENTORY_MAX_AGE_MS",
    "LOG_LEVEL",
    "MAX_INVENTORY_BYTES",
    "METRICS",
)
INHERITED = frozenset((*SYSTEM, *TUNING, "SEARCH_DEADLINE_MS"))
NO_ACCOUNT: dict[str, str] = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
}
# A resolver that does not answer costs a second, not ten.
QUICK_RESOLVER: dict[str, str] = {"RES_OPTIONS": "timeout:1 attempts:1"}


@dataclass(frozen=True)
class Service:
    """One process of the fleet. Ready when a GET of each of its `ready_paths` answers 200."""

    name: str
    port: int
    command: tuple[str, ...]
    directory: Path
    environment: Mapping[str, str]
    ready_paths: tuple[str, ...]


def fleet(settings: Settings) -> list[Service]:
    """All services, in the order in which they are shown."""
    return [emulator(settings), *(_provider(settings, name) for name in PROVIDERS), _gateway(settings)]


def emulator(settings: Settings) -> Service:
    """DynamoDB and the rest of AWS on this machine. It saves its state when it is asked to end."""
    own = {
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(settings.ports["emulator"]),
        "PERSIST_STATE": "1",
        "STATE_DIR": str(settings.run_dir / "emulator-state"),
        "TMPDIR": str(settings.run_dir / "tmp"),
        "DOCKER_HOST": "unix:///nonexistent/docker.sock",  # it starts no containers and looks for none
        "SFTP_ENABLED": "0",
        "IOT_MTLS_ENABLED": "0",
    }
    return Service(
        name="emulator",
        port=settings.ports["emulator"],
        command=(str(settings.emulator_venv / "bin" / "python"), "-m", "ministack"),
        directory=settings.run_dir,
        environment=own | NO_ACCOUNT,
        ready_paths=("/_ministack/health",),
    )


def _provider(settings: Settings, name: str) -> Service:
    own = {"PROVIDER_ID": name, "INVENTORY_MODE": "static", "INVENTORY_FILE": f"inventories/{name}.json"}
    return _chalice(settings, name, "provider_app", {**own, **QUICK_RESOLVER, **NO_ACCOUNT}, ("/health",))


def _gateway(settings: Settings) -> Service:
    own = {
        "REGISTRY_TABLE": settings.table,
        "AUTH": "open",
        "PROVIDER_ADDRESSES": "any",
        "AWS_ENDPOINT_URL": settings.url("emulator"),
    }
    return _chalice(settings, "gateway", "gateway_app", {**own, **QUICK_RESOLVER, **NO_ACCOUNT}, ("/health", "/ready"))


def _chalice(
    settings: Settings, name: str, app: str, environment: Mapping[str, str], ready_paths: tuple[str, ...]
) -> Service:
    port = settings.ports[name]
    chalice = str(Path(sys.executable).with_name("chalice"))
    # Without its reloader: that would be a second process, and edits are told by `make stop && make dev`.
    command = (sys.executable, chalice, "local", "--no-autoreload", "--host", "127.0.0.1", "--port", str(port))
    return Service(name, port, command, ROOT / app, environment, ready_paths)


def environment_of(service: Service, caller: Mapping[str, str] = os.environ) -> dict[str, str]:
    """All variables that a service's process gets."""
    return {name: value for name, value in caller.items() if name in INHERITED} | {
        "PYTHONUNBUFFERED": "1",
        **service.environment,
    }
