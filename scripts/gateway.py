"""Calls of the local gateway: registers the three providers and runs the sample search."""

import json
from typing import Any

import requests

from scripts.settings import PROVIDERS, Settings
from scripts.terminal import Failure

NAMES = {"provider-a": "Research Lab A", "provider-b": "University Cluster B", "provider-c": "Edge Lab C"}
LABELS = {"provider-a": {"region": "eu"}, "provider-b": {"region": "us"}, "provider-c": {"region": "eu"}}

SAMPLE: dict[str, Any] = {
    "gpu": {"count": 1, "minimum_memory_mib": 30000, "minimum_compute_percent": 50, "vendor": "NVIDIA"},
    "cpu": {"minimum_millicores": 4000},
    "memory": {"minimum_bytes": 17179869184},
    "strategy": "best-fit",
}
SEARCH = "/api/v1/resources/search"
RECORDS = "/api/v1/providers"
DEPLOYED = "/_user_request_"  # stands in the address of every API that an emulator has
TIMEOUT_S = 30


def register(configured: Settings) -> dict[str, str]:
    """Registers the three providers; says of each, by id, how that went. A record that a person has edited stays."""
    before = _registered_before(configured)
    told = {}
    with _session() as session:
        for name in PROVIDERS:
            told[name] = _register(configured, session, name, before.get(name))
    urls = {name: configured.public_url(name) for name in PROVIDERS}
    _memory(configured).write_text(json.dumps(urls))
    return told


def place(address: str, name: str, base_url: str) -> str:
    """Registers a provider that was deployed, or moves its record to where it is now; says how that went.

    `address`: of the gateway. A record that names a place outside the deployment was edited by a person, and stays.
    """
    record = {"id": name, "name": NAMES.get(name, name), "base_url": base_url, "labels": LABELS.get(name, {})}
    with _session() as session:
        answer = session.post(address + RECORDS, json=record, timeout=TIMEOUT_S)
        if answer.status_code != 409:
            _expect(answer, 201)
            return f"registered at {base_url}"
        own = f"{address}{RECORDS}/{name}"
        there = str(_expect(session.get(own, timeout=TIMEOUT_S), 200).json()["base_url"])
        if there == base_url:
            return "is registered already"
        if DEPLOYED not in there:
            return f"stays registered at {there}, as it was edited; it was deployed at {base_url}"
        _expect(session.patch(own, json={"base_url": base_url}, timeout=TIMEOUT_S), 200)
        return f"was moved from {there} to {base_url}"


def wake(address: str) -> None:
    """Waits for an app's first answer. Raises Failure for one that is none."""
    with _session() as session:
        _expect(session.get(f"{address}/health", timeout=TIMEOUT_S), 200)


def search(configured: Settings) -> dict[str, Any]:
    """The answer to the sample search."""
    return sample_search(configured.url("gateway"))


def sample_search(address: str) -> dict[str, Any]:
    """The same of a gateway at any address."""
    with _session() as session:
        answer = session.post(address + SEARCH, json=SAMPLE, timeout=TIMEOUT_S)
        found: dict[str, Any] = _expect(answer, 200).json()
    return found


def _register(configured: Settings, session: requests.Session, name: str, before: str | None) -> str:
    address = configured.public_url(name)
    record = {"id": name, "name": NAMES[name], "base_url": address, "labels": LABELS[name]}
    records = configured.url("gateway") + RECORDS
    answer = session.post(records, json=record, timeout=TIMEOUT_S)
    if answer.status_code != 409:
        _expect(answer, 201)
        return f"registered at {address}"
    there = _expect(session.get(f"{records}/{name}", timeout=TIMEOUT_S), 200).json()["base_url"]
    if there == address:
        return "is registered already"
    if there != before:
        return f"stays registered at {there}, as it was edited; it runs at {address}"
    # This command registered it, on another port: it moves along.
    _expect(session.patch(f"{records}/{name}", json={"base_url": address}, timeout=TIMEOUT_S), 200)
    return f"was moved from {there} to {address}"


def _session() -> requests.Session:
    session = requests.Session()
    session.trust_env = False  # no proxy stands between two processes of one machine
    return session


def _expect(answer: requests.Response, status: int) -> requests.Response:
    if answer.status_code != status:
        asked = f"{answer.request.method} {answer.request.url}"
        raise Failure(f"{asked} was answered with {answer.status_code}, not {status}: {answer.text[:500]}")
    return answer


def _memory(configured: Settings) -> Any:
    return configured.run_dir / "registered.json"


def _registered_before(configured: Settings) -> dict[str, str]:
    try:
        found: dict[str, str] = json.loads(_memory(configured).read_text())
    except (OSError, ValueError):
        return {}
    return found
