"""The gateway's Lambda handler in a process of its own, for scripts.bench.

python -m scripts.bench_gateway PORT PROVIDERS: registers the fleet's providers, then answers each line of standard input,
{"n": searches, "request": {...}, "is_varied": false}, with {"wall": [s], "cpu": [s], "parts": [{part: ms}], "candidates": n, "peak_mb": n}.
DynamoDB is moto, inside this process: what the registry costs here says nothing of DynamoDB, and is counted apart.
"""

import importlib
import importlib.util
import itertools
import json
import os
import resource
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from scripts.settings import ROOT

TABLE = "bench"
SEARCH = "/api/v1/resources/search"
ENVIRONMENT = {
    "REGISTRY_TABLE": TABLE,
    "AUTH": "open",
    "PROVIDER_ADDRESSES": "any",
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
    "LOG_LEVEL": "ERROR",
}


def main() -> None:
    """Runs the process."""
    port, providers = int(sys.argv[1]), int(sys.argv[2])
    os.environ.update(ENVIRONMENT)
    from moto import mock_aws  # noqa: PLC0415 (after the environment is set)

    with mock_aws():
        app = app_under_test()
        _fill(port, providers)
        for line in sys.stdin:
            order = json.loads(line)
            bodies = _bodies(order["n"], order["request"], is_varied=order.get("is_varied", False))
            at_once = order.get("at_once", 1)
            found = measured(app, bodies) if at_once == 1 else _measured_at_once(app, bodies, at_once)
            sys.stdout.write(json.dumps(found) + "\n")
            sys.stdout.flush()


def app_under_test() -> Any:
    """The gateway's app of this checkout, made anew."""
    sys.path.insert(0, str(ROOT / "gateway_app"))
    spec = importlib.util.spec_from_file_location("gateway_under_test", ROOT / "gateway_app" / "app.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.app


def _fill(port: int, providers: int) -> None:
    """Put the records straight into the table: moto copies it for every transaction."""
    import boto3  # noqa: PLC0415

    item_of = importlib.import_module("chalicelib.items").item_of  # of the app that was just loaded
    version_key = importlib.import_module("chalicelib.writes").VERSION_KEY
    from fedcompute.provider import ProviderRecord  # noqa: PLC0415

    template = json.loads((ROOT / "infra" / "base.json").read_text())
    described = template["Resources"]["RegistryTable"]["Properties"]
    client = boto3.client("dynamodb")
    plain = {part: described[part] for part in ("AttributeDefinitions", "KeySchema", "BillingMode")}
    client.create_table(TableName=TABLE, **plain)
    now = "2026-01-01T00:00:00.000Z"
    for place in range(providers):
        url = f"http://127.0.0.1:{port}/{place}"
        record = ProviderRecord(
            id=f"provider-{place:04d}",
            name="Lab",
            base_url=url,
            timeout_ms=20000,
            version=1,
            created_at=now,
            updated_at=now,
        )
        client.put_item(TableName=TABLE, Item=item_of(record, "seed"))
    client.put_item(TableName=TABLE, Item={**version_key, "version": {"N": "1"}, "write_id": {"S": "seed"}})


_asked_before = itertools.count(1)


def _bodies(count: int, request: dict[str, Any], *, is_varied: bool) -> list[str]:
    """The same request so often, or (`is_varied`) one that nobody has asked before, each time."""
    if not is_varied:
        return [json.dumps(request)] * count
    least = request["gpu"]["minimum_memory_mib"]
    amounts = (least + next(_asked_before) % 1000 for _ in range(count))
    return [json.dumps(request | {"gpu": request["gpu"] | {"minimum_memory_mib": amount}}) for amount in amounts]


def measured(app: Any, bodies: list[str]) -> dict[str, Any]:
    """One search for each body, one after the other."""
    found: dict[str, Any] = {"wall": [], "cpu": [], "parts": []}
    for body in bodies:
        event = _event(body)
        cpu, wall = time.process_time(), time.perf_counter()
        answer = app(event, None)
        found["wall"].append(time.perf_counter() - wall)
        found["cpu"].append(time.process_time() - cpu)
        found["parts"].append(_parts(answer["headers"] | {k: v[0] for k, v in answer["multiValueHeaders"].items()}))
        found["candidates"] = _decoded(answer)["total_candidates"]
    found["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found["cpu_median"] = statistics.median(found["cpu"])
    return found


def _measured_at_once(app: Any, bodies: list[str], at_once: int) -> dict[str, Any]:
    """So many threads at a time; `wall` is all searches' together. `ranked`: what each found."""
    events = [_event(body) for body in bodies]
    with ThreadPoolExecutor(at_once) as pool:
        wall = time.perf_counter()
        answers = list(pool.map(lambda event: app(event, None), events))
        wall = time.perf_counter() - wall
    decoded = [_decoded(answer) for answer in answers]
    ranked = [
        [(one["provenance"]["provider_id"], one["node"]["name"]) for one in each["candidates"]] for each in decoded
    ]
    return {"wall": [wall], "ranked": ranked}


def _decoded(answer: dict[str, Any]) -> Any:
    decoded = json.loads(answer["body"])
    outcomes = {entry["outcome"] for entry in decoded["providers"]}
    assert outcomes <= {"ok", "not_modified"}, f"providers failed: {outcomes}"
    return decoded


def _parts(headers: dict[str, str]) -> dict[str, float]:
    timing = next(value for name, value in headers.items() if name.lower() == "server-timing")
    pairs = (part.strip().split(";dur=") for part in timing.split(","))
    return {name: float(ms) for name, ms in pairs}


def _event(body: str) -> dict[str, Any]:
    headers = {"content-type": "application/json", "host": "localhost"}
    return {
        "resource": SEARCH,
        "path": SEARCH,
        "httpMethod": "POST",
        "body": body,
        "isBase64Encoded": False,
        "headers": headers,
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "queryStringParameters": None,
        "multiValueQueryStringParameters": None,
        "pathParameters": None,
        "stageVariables": None,
        "requestContext": {"resourcePath": SEARCH, "httpMethod": "POST", "requestId": "bench", "identity": {}},
    }


if __name__ == "__main__":
    main()
