"""make deploy, urls and undeploy as a person runs them, in a copy of the tree, on an emulator of their own."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests

from scripts import fingerprints, handlers
from scripts.ports import free_ports
from scripts.settings import ROOT

pytestmark = pytest.mark.e2e

EMULATOR_VENV = (ROOT / os.environ.get("EMULATOR_VENV", ".run/emulator-venv")).absolute()
OURS = ("RUN_DIR", "MAKEFLAGS", "MAKELEVEL", "TARGET", "PROVIDERS", "STACK_PREFIX", "AUTH", "MASTER_KEY")
PATIENCE_S = 300


@dataclass(frozen=True)
class Checkout:
    """A copy of the tree, with the wheels that are built already."""

    folder: Path
    port: int

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if name not in OURS and not name.startswith("AWS_")}
        own = {
            "VENV": sys.prefix,
            "EMULATOR_VENV": str(EMULATOR_VENV),
            "EMULATOR_PORT": str(self.port),
            "PYTHONPATH": str(self.folder / "layers" / "fedcompute" / "python"),
        }
        return subprocess.run(
            command,
            cwd=self.folder,
            env={**kept, **own, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )

    def make(self, *arguments: str, **environment: str) -> str:
        done = self.run("make", *arguments, **environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def urls(self) -> dict[str, str]:
        return dict(row.split() for row in self.make("urls").splitlines())

    def ask(self, path: str, body: Any = None) -> Any:
        with requests.Session() as session:
            session.trust_env = False
            method = "GET" if body is None else "POST"
            return session.request(method, self.urls()["gateway"] + path, json=body, timeout=30).json()

    def packages(self) -> dict[str, str]:
        """The hash of each package, by its name."""
        files = (self.folder / "build").glob(f"{handlers.machine()}/*.zip")
        return {file.name: fingerprints.of_content(file) for file in files}

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.folder / name).read_text()
        assert old in text
        (self.folder / name).write_text(text.replace(old, new, 1))


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checkout]:
    if not EMULATOR_VENV.exists():
        pytest.skip("the emulator is not installed; make test-e2e does that")
    folder = tmp_path_factory.mktemp("deployment")
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    for name in subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    if (ROOT / "build" / "dependencies").exists():
        shutil.copytree(ROOT / "build" / "dependencies", folder / "build" / "dependencies")
    copy = Checkout(folder, free_ports(1)[0])
    yield copy
    copy.run("make", "stop")


@pytest.fixture
def deployed(checkout: Checkout) -> Checkout:
    checkout.make("deploy")
    return checkout


def test_first_deployment_ends_with_an_answered_search_and_every_address(checkout: Checkout) -> None:
    printed = checkout.make("deploy")

    assert "CREATE_COMPLETE" in printed
    assert "6 candidates" in printed
    assert [row.split()[0] for row in printed.splitlines()[-4:]] == [
        "gateway",
        "provider-a",
        "provider-b",
        "provider-c",
    ]
    assert set(checkout.urls()) == {"gateway", "provider-a", "provider-b", "provider-c"}


def test_second_deployment_builds_and_changes_nothing_and_says_so(deployed: Checkout) -> None:
    printed = deployed.make("deploy")

    assert "Nothing changed" in printed
    assert "UPDATE" not in printed
    assert "sent" not in printed
    assert printed.count("as it was") == 6


def test_packages_are_the_same_bytes_when_built_again(deployed: Checkout) -> None:
    before = deployed.packages()
    for file in (deployed.folder / "build").glob("*/*.zip"):
        if file.parent.name != "dependencies":
            file.unlink()

    deployed.make("build")

    assert set(before) >= {"gateway.zip", "provider.zip", "layer.zip"}
    assert deployed.packages() == before


def test_changed_handler_and_changed_layer_are_live_afterwards(deployed: Checkout) -> None:
    deployed.edit("gateway_app/chalicelib/health.py", '"status": "ok", "version"', '"status": "fine", "version"')
    deployed.edit("layers/fedcompute/python/fedcompute/__init__.py", '"0.1.0"', '"0.1.1"')

    printed = deployed.make("deploy")

    assert deployed.ask("/health") == {"status": "fine", "version": "0.1.1"}
    assert "UPDATE_COMPLETE" in printed


def test_failed_update_tells_its_first_reason_and_the_version_before_still_answers(deployed: Checkout) -> None:
    before = deployed.ask("/health")
    handler, extras = "gateway_app/chalicelib/health.py", "infra/gateway.json"
    kept = {name: (deployed.folder / name).read_text() for name in (handler, extras)}
    template = json.loads(kept[extras])
    # Metric math is what the emulator refuses to make of all that cfn-lint lets through.
    metric = {"Id": "m", "Expression": "1 + 1"}
    alarm = {"Metrics": [metric], "EvaluationPeriods": 1, "Threshold": 0, "ComparisonOperator": "GreaterThanThreshold"}
    template["Resources"]["Broken"] = {
        "Type": "AWS::CloudWatch::Alarm",
        "DependsOn": ["APIHandler"],
        "Properties": alarm,
    }
    (deployed.folder / extras).write_text(json.dumps(template))
    deployed.edit(handler, '"version": __version__', '"version": "broken"')

    done = deployed.run("make", "deploy")
    after = deployed.ask("/health")
    for name, text in kept.items():
        (deployed.folder / name).write_text(text)

    assert done.returncode != 0
    assert "Broken (AWS::CloudWatch::Alarm)" in done.stderr
    assert "the version before still stands" in done.stderr
    assert after == before
    assert "Changed: fedcompute-gateway" not in deployed.make("deploy")


def test_event_by_hand_shows_the_answer_and_the_log_line(deployed: Checkout) -> None:
    done = deployed.run("scripts/invoke", "gateway", "GET", "/api/v1/providers?limit=1")

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("200\n")
    assert '"provider-a"' in done.stdout
    line = next(json.loads(row) for row in done.stderr.splitlines() if '"request"' in row)
    assert (line["path"], line["status"]) == ("/api/v1/providers", 200)


def test_registry_goes_out_as_lines_and_comes_back(deployed: Checkout) -> None:
    lines = deployed.run("scripts/registry_backup", "export").stdout

    (deployed.folder / "backup.jsonl").write_text(lines)
    done = deployed.run("sh", "-c", "scripts/registry_backup import --replace < backup.jsonl")

    items = [json.loads(row) for row in lines.splitlines()]
    records = [one["sk"]["S"] for one in items if one["pk"]["S"] == "provider"]
    assert records == ["provider-a", "provider-b", "provider-c"]
    assert done.returncode == 0, done.stderr
    assert {one["id"] for one in deployed.ask("/api/v1/providers")["providers"]} == {
        "provider-a",
        "provider-b",
        "provider-c",
    }


def test_aws_is_refused_with_an_open_door_and_shows_what_it_would_cost(deployed: Checkout) -> None:
    nowhere = {
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
    }

    open_door = deployed.run("make", "deploy", "TARGET=aws", "AUTH=open", "DRY_RUN=1", **nowhere)
    without_key = deployed.run("make", "deploy", "TARGET=aws", **nowhere)
    dry = deployed.run("make", "deploy", "TARGET=aws", "DRY_RUN=1", **nowhere)

    assert "AUTH=open would let everybody in" in open_door.stderr
    assert "MASTER_KEY" in without_key.stderr
    assert dry.returncode == 0, dry.stderr
    assert "at rest, per month" in dry.stdout
    assert "per million searches" in dry.stdout
    assert "AWS::DynamoDB::Table" in dry.stdout
    assert "credentials" in dry.stdout


def test_after_undeploying_nothing_is_left(deployed: Checkout) -> None:
    deployed.make("undeploy")

    assert deployed.run("make", "urls").returncode != 0
    assert "Nothing is deployed" in deployed.make("undeploy")
