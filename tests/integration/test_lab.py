"""The lab's commands, each by itself, with recording stand-ins for docker, git, helm, kind and kubectl."""

import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from click.testing import CliRunner, Result
from fakes.lab import Lab, a_lab

from scripts import bootstrap, collect_debug, generate_cluster, hami_verify, make_kubeconfig, ports
from scripts import lab as names


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    """Without the provider's process; the end-to-end test has it."""
    monkeypatch.setattr(bootstrap, "start_provider", lambda _: None)
    with a_lab(tmp_path) as made:
        yield made


def run(lab: Lab, command: click.Command, *arguments: str, **more: str) -> Result:
    return CliRunner().invoke(command, arguments, env={**lab.environment, **more})


def test_every_helm_release_and_image_is_pinned(lab: Lab) -> None:
    run(lab, bootstrap.main)
    calls = lab.programs.calls()

    hami = next(call for call in calls if call.startswith("helm upgrade --install hami "))
    mock = next(call for call in calls if call.startswith("helm upgrade --install nvml-mock "))
    fetched = next(call for call in calls if call.startswith("git fetch"))
    assert f"--version {names.HAMI_VERSION}" in hami
    assert "--kube-context kind-fedcompute-lab" in hami
    assert str(lab.run_dir) in mock
    assert fetched.endswith(names.MOCK_COMMIT)
    assert yaml.safe_load((names.FILES / "nvml-mock-values.yaml").read_text())["image"]["tag"] == names.MOCK_COMMIT[:12]
    assert (
        yaml.safe_load((names.FILES / "hami-values.yaml").read_text())["global"]["imageTag"] == f"v{names.HAMI_VERSION}"
    )


def test_scheduler_has_the_version_of_the_cluster() -> None:
    cluster = yaml.safe_load((names.FILES / "cluster.yaml").read_text())
    values = yaml.safe_load((names.FILES / "hami-values.yaml").read_text())

    images = {node["image"] for node in cluster["nodes"]}

    assert cluster["name"] == names.CLUSTER
    assert images == {f"kindest/node:{values['scheduler']['kubeScheduler']['image']['tag']}"}


def test_bootstrap_that_failed_goes_on_where_it_was(lab: Lab) -> None:
    lab.programs.breaks("helm upgrade --install hami")
    failed = run(lab, bootstrap.main)
    first = lab.programs.calls()
    lab.programs.breaks()

    done = run(lab, bootstrap.main)

    again = lab.programs.calls()
    assert (failed.exit_code, done.exit_code) == (1, 0)
    assert "helm upgrade --install hami" in failed.stderr
    assert [call for call in first if call.startswith(("kind create", "docker build"))] != []
    assert [call for call in again if call.startswith(("kind create", "docker build"))] == []
    assert list(lab.records) == ["kind-lab"]


def test_failing_step_is_named_and_ends_the_command(lab: Lab) -> None:
    (lab.programs.state / "config.json").unlink()

    done = run(lab, bootstrap.main)

    assert done.exit_code == 1
    assert "config view" in done.stderr
    assert lab.records == {}


def test_everything_that_is_missing_is_told_before_anything_is_done(lab: Lab, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()

    done = run(lab, bootstrap.main, PATH=str(empty))

    assert done.exit_code == 1
    for name in ("docker", "git", "helm", "kind", "kubectl"):
        assert f"{name}: not on PATH; get it at https://" in done.stderr
    assert "Nothing was done." in done.stderr


def test_program_that_is_too_old_is_told(lab: Lab) -> None:
    done = run(lab, bootstrap.main, DOCKER_VERSION="19.03.1")

    assert "docker: 19.3 is here, 24.0 is needed" in done.stderr
    assert not [call for call in lab.programs.calls() if "create" in call]


def test_gateway_that_does_not_run_is_told_first(lab: Lab) -> None:
    done = run(lab, bootstrap.main, GATEWAY_PORT=str(ports.free_ports(1)[0]))

    assert done.exit_code == 1
    assert "run `make dev` first" in done.stderr
    assert not [call for call in lab.programs.calls() if "create" in call]


def test_hami_verify_without_a_provider_says_what_to_run(lab: Lab) -> None:
    done = run(lab, hami_verify.main)

    assert done.exit_code == hami_verify.CANNOT_ASK
    assert "run `make bootstrap` first" in done.stderr


def test_kubeconfig_is_renewed_in_place_and_stays_private(lab: Lab, tmp_path: Path) -> None:
    file = tmp_path / "made" / "kubeconfig"

    codes = [run(lab, make_kubeconfig.main, "--output", str(file), "--context", "kind-x").exit_code for _ in range(2)]

    document = json.loads(file.read_text())
    calls = lab.programs.calls()
    assert codes == [0, 0]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [one.name for one in file.parent.iterdir()] == ["kubeconfig"]
    assert document["users"][0]["user"] == {"token": "made-up-token"}
    assert "kubectl --context kind-x create token fedcompute-reader -n fedcompute --duration=24h" in calls
    assert not [call for call in calls if "made-up-token" in call]


def test_debug_files_hold_no_secrets_and_say_what_is_missing(lab: Lab, tmp_path: Path) -> None:
    (lab.programs.state / "pods.yaml").write_text(
        'env:\n- name: DB_PASSWORD\n  value: hush1\n- name: PORT\n  value: "80"\nAuthorization: Bearer hush2hush2\n'
    )
    lab.programs.breaks("helm")

    done = run(lab, collect_debug.main, "--output", str(tmp_path / "debug"))

    (folder,) = (tmp_path / "debug").iterdir()
    written = {file.name: file.read_text() for file in folder.iterdir()}
    assert done.exit_code == 0
    assert "hush" not in "".join(written.values())
    assert 'value: "80"' in written["pods.yaml"]
    assert "made to fail" in written["charts.txt"]
    assert "charts.txt" in done.stdout
    assert "inventory.json" in done.stdout
    assert not [call for call in lab.programs.calls() if "secret" in call]


@pytest.mark.parametrize("command", [bootstrap, hami_verify, collect_debug, make_kubeconfig, generate_cluster])
def test_help_says_what_it_does_and_does_nothing(lab: Lab, command: Any) -> None:
    done = run(lab, command.main, "--help")

    assert done.exit_code == 0
    assert "Usage:" in done.stdout
    assert lab.programs.calls() == []
