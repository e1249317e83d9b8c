"""The command line, as a person or a script sees it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fedcompute import __version__
from fedcompute.cli import main

SOUND = {
    "provider_id": "lab",
    "nodes": [
        {"name": "n1", "ready": True, "schedulable": True, "devices": [{"id": "a", "healthy": True}]},
        {"name": "n2", "ready": True, "schedulable": True, "devices": [{"id": "a", "healthy": True}]},
    ],
}
UNSOUND = {"provider_id": "lab", "nodes": [{"name": "n1", "ready": True, "schedulable": 1}, {"name": "n1"}]}


def run(*arguments: str, given: bytes = b"") -> Result:
    return CliRunner().invoke(main, arguments, input=given)


def written(folder: Path, name: str, value: object) -> str:
    path = folder / name
    path.write_text(json.dumps(value))
    return str(path)


def test_version_is_the_packages() -> None:
    result = run("--version")

    assert result.exit_code == 0
    assert __version__ in result.stdout


def test_sound_file_is_told_with_its_size(tmp_path: Path) -> None:
    path = written(tmp_path, "a.json", SOUND)

    result = run("inventory", "check", path)

    assert result.exit_code == 0
    assert result.stdout == f"{path}: ok (2 nodes, 2 devices)\n"
    assert result.stderr == ""


def test_each_mistake_is_one_line_on_stderr_that_begins_with_file_and_place(tmp_path: Path) -> None:
    path = written(tmp_path, "a.json", UNSOUND)

    result = run("inventory", "check", path)

    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.splitlines() == [
        f"{path}:/nodes/0/schedulable: must be true or false, not a whole number",
        f"{path}:/nodes/1/name: 'n1' stands at /nodes/0/name too",
        f"{path}:/nodes/1/ready: is required",
        f"{path}:/nodes/1/schedulable: is required",
    ]


def test_one_bad_file_fails_the_command_and_the_others_are_still_checked(tmp_path: Path) -> None:
    bad, good = written(tmp_path, "bad.json", []), written(tmp_path, "good.json", SOUND)

    result = run("inventory", "check", bad, good)

    assert result.exit_code == 1
    assert result.stdout == f"{good}: ok (2 nodes, 2 devices)\n"
    assert result.stderr == f"{bad}: must be an object, not a list\n"


def test_standard_input_is_checked_in_place_of_a_file() -> None:
    result = run("inventory", "check", "-", given=b'{"provider_id": "lab", "nodes": []}')

    assert result.exit_code == 0
    assert result.stdout == "<stdin>: ok (0 nodes, 0 devices)\n"


def test_json_output_has_an_entry_for_each_file(tmp_path: Path) -> None:
    bad, good = written(tmp_path, "bad.json", UNSOUND), written(tmp_path, "good.json", SOUND)

    result = run("inventory", "check", "--output", "json", good, bad)

    told = json.loads(result.stdout)["files"]
    assert result.exit_code == 1
    assert told[0] == {"file": good, "ok": True, "nodes": 2, "devices": 2, "errors": []}
    assert (told[1]["file"], told[1]["ok"], told[1]["nodes"]) == (bad, False, None)
    assert told[1]["errors"][2] == {"pointer": "/nodes/1/ready", "message": "is required"}


def test_file_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    path = str(tmp_path / "none.json")

    result = run("inventory", "check", path)

    assert result.exit_code == 1
    assert result.stderr == f"{path}: can't be read: no such file or directory\n"


def test_folder_is_said_to_be_one(tmp_path: Path) -> None:
    result = run("inventory", "check", str(tmp_path))

    assert result.exit_code == 1
    assert result.stderr == f"{tmp_path}: can't be read: is a directory\n"


def test_file_that_may_not_be_read_is_said_to_be_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "a.json", SOUND)

    def refuse(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "read_bytes", refuse)  # root may read everything, whatever the mode says

    result = run("inventory", "check", path)

    assert result.exit_code == 1
    assert result.stderr == f"{path}: can't be read: permission denied\n"


@pytest.mark.parametrize(
    "arguments", [("inventory", "check"), ("inventory", "check", "--output", "xml", "a"), ("buy",)]
)
def test_wrong_usage_exits_with_2(arguments: tuple[str, ...]) -> None:
    assert run(*arguments).exit_code == 2


@pytest.mark.parametrize("command", ["", "search", "top", "providers", "why"])
def test_help_imports_nothing_slow(command: str) -> None:
    code = (
        "import sys; from click.testing import CliRunner; from fedcompute.cli import main\n"
        f"done = CliRunner().invoke(main, {[*command.split(), '--help']!r})\n"
        "assert done.exit_code == 0\n"
        "print(*sorted({'requests', 'rich', 'pydantic', 'yaml', 'fedcompute.client'} & set(sys.modules)))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "\n"
