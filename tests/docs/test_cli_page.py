"""Every command of docs/cli.md, run in its order against the gateway and the sample providers, in a terminal of 80 columns."""

import os
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from chalice.test import Client
from click.testing import CliRunner
from fakes.gateway_server import Asked, serving
from rich.console import Console

from fedcompute.cli import main
from fedcompute.commands import output

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "cli.md").read_text()
ANY = "…"
WIDTH = 80


class Example(NamedTuple):
    command: str
    told: str
    status: int
    is_cluster: bool  # whether provider-a is a cluster with HAMi


def examples() -> list[Example]:
    found = []
    for marks, block in re.findall(r"<!-- run(.*?) -->\n```console\n(.*?)```", PAGE, re.DOTALL):
        status = re.search(r"exits (\d)", marks)
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, told = part.replace("\\\n", " ").partition("\n")
            found.append(Example(command, told, int(status[1]) if status else 0, "hami" in marks))
    return found


@pytest.fixture
def gateway(federation: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    def handle(asked: Asked) -> tuple[int, Mapping[str, str], bytes]:
        answer = Client(federation.gateway).http.request(
            asked.method,
            asked.path,
            headers=dict(asked.headers),
            body=federation.to_fleet(asked.body.decode()).encode(),
        )
        return answer.status_code, answer.headers, federation.from_fleet(answer.body.decode()).encode()

    def terminal() -> Console:
        return Console(width=WIDTH, force_terminal=True, color_system=None, highlight=False, markup=False)

    with serving(handle) as served:
        monkeypatch.setattr(output, "console", terminal)
        monkeypatch.setenv("FEDCOMPUTE_URL", served.url)
        monkeypatch.setenv("FEDCOMPUTE_CONFIG", str(tmp_path / "none.toml"))
        monkeypatch.chdir(tmp_path)
        yield federation


def run(command: str) -> tuple[int, str]:
    program, *arguments = shlex.split(command)
    assert program == "fedcompute"
    done = CliRunner().invoke(main, arguments, catch_exceptions=False, prog_name=program, env=dict(os.environ))
    return done.exit_code, "".join(line for line in done.output.splitlines(keepends=True) if not line.startswith("{"))


def is_told(expected: str, actual: str) -> bool:
    """Whether a text is as the page says, spaces at the ends of lines aside; `…` stands for anything."""
    pattern = re.escape("\n".join(line.rstrip() for line in expected.strip().splitlines()))
    plain = "\n".join(line.rstrip() for line in actual.strip().splitlines())
    return re.fullmatch(pattern.replace(ANY, ".*"), plain, re.DOTALL) is not None


def test_every_command_tells_what_the_page_says(gateway: Any) -> None:
    all_examples = examples()
    assert len(all_examples) >= PAGE.count("<!-- run") > 0
    assert PAGE.count("```console") == PAGE.count("<!-- run")
    (Path.cwd() / "request.json").write_text('{"gpu": {"count": 2, "vendor": "NVIDIA"}, "strategy": "spread"}')

    for example in all_examples:
        gateway.fleet.labs["provider-a"].inventory["source"] = "hami" if example.is_cluster else "static"
        status, told = run(example.command)

        assert is_told(example.told, told), f"$ {example.command}\n{told}"
        assert status == example.status, f"$ {example.command} exits with {status}"


def test_every_command_and_every_option_of_search_stands_on_the_page() -> None:
    search = main.get_command(None, "search")  # type: ignore[arg-type]
    assert search is not None
    options = {name for one in search.params for name in one.opts if name.startswith("--")}

    assert [name for name in sorted(options) if f"`{name}" not in PAGE] == []
    for group in ("", "providers "):
        found = main if not group else main.get_command(None, "providers")  # type: ignore[arg-type]
        assert [name for name in found.list_commands(None) if f"fedcompute {group}{name}" not in PAGE] == []  # type: ignore[union-attr, arg-type]
