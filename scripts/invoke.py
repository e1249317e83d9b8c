"""Sends one API Gateway event to a function and prints the answer and what the function logged.

scripts/invoke gateway GET /health
scripts/invoke gateway POST /api/v1/resources/search --body '{"gpu": {}}'
scripts/invoke provider-a GET /api/v1/inventory --local

Without --local it is the function that `make deploy` made at TARGET, without API Gateway in front of it; with --local it
is this checkout's code, in a process of its own, with the settings of `make dev`.
"""

import argparse
import base64
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from scripts import deploy, deployment, events, services, targets
from scripts.settings import ROOT
from scripts.terminal import Failure, console, errors, fail

# Runs a handler as Lambda does: the event on stdin, the answer on stdout, the log on stderr.
HANDLER = """
import json, sys
sys.path.insert(0, ".")
answers, sys.stdout = sys.stdout, sys.stderr
from app import app
print(json.dumps(app(json.load(sys.stdin), None)), file=answers)
"""
ROUTES = """
import json, sys
sys.path.insert(0, ".")
from app import app
print(json.dumps(list(app.routes)))
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command. Returns its exit code."""
    parser = argparse.ArgumentParser(
        prog="scripts/invoke", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("function", help="gateway, or a provider such as provider-a")
    parser.add_argument("method", type=str.upper)
    parser.add_argument("path", help="with its query, as in /api/v1/providers?limit=1")
    parser.add_argument("--body", help="JSON, or @FILE")
    parser.add_argument("--header", action="append", default=[], metavar="NAME:VALUE")
    parser.add_argument("--local", action="store_true", help="this checkout's code instead of the deployed function")
    given = parser.parse_args(arguments)
    try:
        body = Path(given.body[1:]).read_text() if (given.body or "").startswith("@") else given.body
        headers = {name.strip(): value.strip() for name, _, value in (one.partition(":") for one in given.header)}
        event = events.api_event(_routes(given.function), given.method, given.path, body, headers)
        answer, log = (_local if given.local else _deployed)(given.function, event)
    except (Failure, OSError) as failure:
        fail(failure if isinstance(failure, Failure) else Failure(str(failure)))
        return 1
    except (BotoCoreError, ClientError) as error:
        fail(Failure(f"The target refused a call: {error}"))
        return 1
    show(answer, log)
    return 0 if answer.get("statusCode", 500) < 500 else 1


def show(answer: dict[str, Any], log: str) -> None:
    """The answer on stdout, the log on stderr."""
    headers = answer.get("multiValueHeaders") or {}
    console.print(answer.get("statusCode", "The function failed:"), markup=False)
    for name, values in {**answer.get("headers", {}), **headers}.items():
        console.print(f"{name}: {values if isinstance(values, str) else ', '.join(values)}", markup=False)
    console.print("", answer.get("body", json.dumps(answer, indent=1)), sep="\n", markup=False)
    errors.print(log.strip(), markup=False)


def _folder(function: str) -> Path:
    return ROOT / ("gateway_app" if function == "gateway" else "provider_app")


def _routes(function: str) -> list[str]:
    command = [sys.executable, "-c", ROUTES]
    done = subprocess.run(command, cwd=_folder(function), capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"{_folder(function).name}/app.py can't be imported:\n{done.stderr}")
    routes: list[str] = json.loads(done.stdout)
    return routes


def _deployed(function: str, event: dict[str, Any]) -> tuple[dict[str, Any], str]:
    target = targets.find(deploy.running_fleet())
    names = deployment.names(target)
    stack = names.gateway if function == "gateway" else names.provider(function)
    found = target.stacks().outputs(stack)
    if not found:
        raise Failure(f"There is no stack {stack} at {target.name}: make deploy TARGET={target.name}")
    payload = json.dumps(event).encode()
    told = target.client("lambda").invoke(FunctionName=found["FunctionName"], Payload=payload, LogType="Tail")
    answer: dict[str, Any] = json.loads(told["Payload"].read())
    return answer, base64.b64decode(told.get("LogResult", "")).decode(errors="replace")


def _local(function: str, event: dict[str, Any]) -> tuple[dict[str, Any], str]:
    known = {one.name: one for one in services.fleet(deploy.running_fleet())}
    if function not in known or function == "emulator":
        raise Failure(f"{function} is none of make dev's apps; there are {', '.join(known.keys() - {'emulator'})}.")
    done = subprocess.run(
        [sys.executable, "-c", HANDLER],
        cwd=_folder(function),
        env=services.environment_of(known[function]),
        input=json.dumps(event),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Failure(f"{function} failed:\n{done.stderr}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer, done.stderr


if __name__ == "__main__":
    raise SystemExit(main())
