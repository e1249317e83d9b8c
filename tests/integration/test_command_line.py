"""The commands that ask a gateway, as a person or a script sees them."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from click.testing import CliRunner
from fakes.gateway import Gateway
from fakes.gateway_server import Served, always, calls_of, serving
from fakes.inventories import a_device, a_node, an_inventory
from fakes.provider_fleet import ProviderFleet
from fakes.registry_table import a_record, fill
from rich.cells import cell_len
from rich.console import Console

from fedcompute.cli import main
from fedcompute.commands import output

SHARE = ("--gpu", "1", "--gpu-memory", "30GiB")


@pytest.fixture(autouse=True)
def _at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KEY", "KEY_FILE", "URL", "OUTPUT"):
        monkeypatch.delenv(f"FEDCOMPUTE_{name}", raising=False)
    monkeypatch.setenv("FEDCOMPUTE_CONFIG", str(tmp_path / "config.toml"))


@pytest.fixture
def served(gateway: Gateway, fleet: ProviderFleet, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A gateway with lab-a (a cluster with HAMi: gpu-01 with 40 GiB, gpu-02 with 20 GiB) and lab-b (a static pool)."""
    small = a_device("GPU-2", memory_available_mib=20480, slots_available=9)
    cluster = fleet.add("lab-a")
    cluster.inventory = an_inventory("lab-a", a_node("gpu-01"), a_node("gpu-02", small), source="hami")
    fleet.add("lab-b", a_node("pool-01", a_device("GPU-3", memory_available_mib=35000, slots_available=8)))
    for one in ("lab-a", "lab-b"):
        gateway.register(one, fleet.base_url(one), labels={"letter": one[-1]})
    with serving(calls_of(gateway)) as served:
        monkeypatch.setenv("FEDCOMPUTE_URL", served.url)
        yield served


class Ran(NamedTuple):
    exit_code: int
    stdout: str
    stderr: str
    stdout_bytes: bytes


def run(*arguments: str, given: str | None = None, **environment: str) -> Ran:
    """A command's end; the log of the gateway, which is in this process, is left out of its standard error."""
    runner = CliRunner()
    done = runner.invoke(main, arguments, input=given, env=environment, catch_exceptions=False, prog_name="fedcompute")
    told = "".join(line for line in done.stderr.splitlines(keepends=True) if not line.startswith("{"))
    return Ran(done.exit_code, done.stdout, told, done.stdout_bytes)


def sent(served: Served) -> Any:
    return json.loads(served.asked[-1].body)


def on_a_terminal(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setattr(
        output,
        "console",
        lambda: Console(width=width, force_terminal=True, color_system=None, highlight=False, markup=False),
    )


def test_json_is_the_gateways_body_byte_for_byte(served: Served) -> None:
    for command in (("search", *SHARE), ("top",), ("providers", "list"), ("providers", "show", "lab-a")):
        result = run(*command, "-o", "json")

        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout_bytes == served.last_body


def test_yaml_says_what_json_says(served: Served) -> None:
    result = run("search", *SHARE, "-o", "yaml")

    assert yaml.safe_load(result.stdout) == json.loads(served.last_body)


def test_csv_has_a_row_for_each_candidate_in_the_apis_units(served: Served) -> None:
    rows = list(csv.DictReader(io.StringIO(run("search", *SHARE, "-o", "csv").stdout)))

    assert [(row["rank"], row["provider_id"], row["node"]) for row in rows] == [
        ("1", "lab-b", "pool-01"),
        ("2", "lab-a", "gpu-01"),
    ]
    assert rows[0]["memory_available_mib"] == "35000"


def test_names_stand_one_a_line(served: Served) -> None:
    assert run("search", *SHARE, "-o", "name").stdout == "lab-b/pool-01\nlab-a/gpu-01\n"
    assert run("providers", "list", "-o", "name").stdout == "lab-a\nlab-b\n"
    assert run("top", "-o", "name").stdout == "lab-a\nlab-b\n"


@pytest.mark.parametrize("width", [80, 140])
@pytest.mark.parametrize("command", [("search", *SHARE), ("search", "--gpu", "9"), ("top",), ("providers", "list")])
def test_table_fits_the_terminal_and_breaks_no_name(
    served: Served, monkeypatch: pytest.MonkeyPatch, width: int, command: tuple[str, ...]
) -> None:
    on_a_terminal(monkeypatch, width)

    lines = run(*command).stdout.splitlines()

    assert max(map(cell_len, lines)) <= width
    assert any("lab-a" in line for line in lines)


def test_piped_table_is_plain_text_with_a_line_for_each_row(served: Served) -> None:
    lines = run("search", *SHARE).stdout.splitlines()

    assert [line.split()[3] for line in lines[2:4]] == ["pool-01", "gpu-01"]
    assert all(line.isascii() and line.isprintable() and line == line.rstrip() for line in lines)


def test_hint_alone_is_a_manifest(served: Served) -> None:
    result = run("search", *SHARE, "--hint", "2")

    assert result.exit_code == 0
    assert yaml.safe_load(result.stdout)["metadata"]["annotations"]["nvidia.com/use-gpuuuid"] == "GPU-1"


def test_hint_for_what_is_no_cluster_says_whom_to_ask(served: Served, fleet: ProviderFleet) -> None:
    result = run("search", *SHARE, "--hint")

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"fedcompute: pool-01 is in no cluster that takes a manifest; ask Lab lab-b, {fleet.base_url('lab-b')}.\n"
    )


def test_nothing_found_exits_with_1_and_says_what_the_nearest_lack(served: Served) -> None:
    result = run("search", "--gpu", "1", "--gpu-memory", "41GiB")

    assert result.exit_code == 1
    assert result.stdout.startswith("No candidate")
    assert "GPU memory: 40.0 GiB of 41.0 GiB, 1.0 GiB short (1 device)" in result.stdout


def test_provider_that_is_away_is_told_and_fails_only_who_requires_all(
    served: Served, gateway: Gateway, fleet: ProviderFleet
) -> None:
    gateway.register("gone", fleet.base_url("gone"))

    lenient, strict = run("search", *SHARE), run("search", *SHARE, "--require-all")

    assert (lenient.exit_code, strict.exit_code) == (0, 3)
    assert "1 of 3 providers did not answer" in lenient.stdout
    assert strict.stderr == (
        "fedcompute: Not every provider answered: gone (http_status). Leave --require-all out to see what the others have.\n"
    )


def test_flags_go_over_the_file(served: Served, tmp_path: Path) -> None:
    file = tmp_path / "request.json"
    file.write_text('{"gpu": {"count": 2, "vendor": "AMD"}, "limit": 7, "providers": {"exclude": ["x"]}}')

    run("search", "-f", str(file), "--gpu", "1", "--provider", "lab-a", "--label", "letter=a")

    assert sent(served) == {
        "gpu": {"count": 1, "vendor": "AMD"},
        "limit": 7,
        "providers": {"exclude": ["x"], "include": ["lab-a"], "labels": {"letter": "a"}},
    }


def test_request_may_come_from_the_standard_input(served: Served) -> None:
    result = run("search", "-f", "-", given='{"cpu": {"minimum_millicores": 500}}')

    assert result.exit_code == 0
    assert sent(served) == {"cpu": {"minimum_millicores": 500}}


def test_every_flag_is_sent_in_the_apis_words(served: Served) -> None:
    run(
        *("search", *SHARE, "--gpu-compute", "50%", "--vendor", "nvidia", "--model", "A100", "--sharing", "any"),
        *("--cpu", "500m", "--memory", "16GB", "--strategy", "spread", "--limit", "3", "--deadline", "1.5s"),
        *("--exclude", "lab-b", "--toleration", "team=ml:NoSchedule", "--toleration", "spot", "--require-all"),
        "--no-explain",
    )

    assert sent(served) == {
        "gpu": {
            "count": 1,
            "minimum_memory_mib": 30720,
            "minimum_compute_percent": 50,
            "vendor": "nvidia",
            "model": "A100",
            "sharing": "any",
        },
        "cpu": {"minimum_millicores": 500},
        "memory": {"minimum_bytes": 16_000_000_000},
        "strategy": "spread",
        "limit": 3,
        "deadline_ms": 1500,
        "providers": {"exclude": ["lab-b"]},
        "tolerations": [
            {"key": "team", "operator": "Equal", "value": "ml", "effect": "NoSchedule"},
            {"key": "spot", "operator": "Exists"},
        ],
        "partial": "require_all",
        "explain": False,
    }


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("search",), "Ask for something: --gpu, --cpu or --memory, or a request with -f."),
        (("search", "--gpu", "0"), "--gpu: 0 is not in the range x>=1."),
        (("search", "--gpu-memory", "30"), "--gpu-memory: '30' is of no unit; write 30MiB, 30GiB or 30GB."),
        (("search", "--cpu", "lots"), "--cpu: 'lots' is no number of cores; write it like 4, 0.5 or 500m."),
        (("search", "--cpu", "1", "--label", "a"), "'a' is no label; write it as KEY=VALUE."),
        (("search", "-f", "/none"), "/none can't be read: No such file or directory."),
        (("search", "-f", "/none", "--gateway", "campus"), "/none can't be read: No such file or directory."),
        (("serch",), "No such command 'serch'."),
        (
            ("search", "--cpu", "1", "-g", "ftp://a"),
            "'ftp://a' is no gateway's address: it must begin with http:// or https://.",
        ),
    ],
)
def test_wrong_usage_is_a_line_and_exits_with_2(arguments: tuple[str, ...], told: str) -> None:
    result = run(*arguments)

    assert result.exit_code == 2
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"fedcompute: {told}")
    assert "--help" in line


def test_mistake_that_the_gateway_finds_is_told_by_its_flag_and_exits_with_2(served: Served) -> None:
    result = run("search", "--gpu", "1", "--vendor", "", "--model", "-")

    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        "fedcompute: --vendor: String should have at least 1 character.",
        "fedcompute: --model: must have a letter or a digit.",
    ]


def test_gateway_that_is_away_is_a_line_and_exits_with_3() -> None:
    result = run("search", "--cpu", "1", "-g", "http://localhost:1")

    assert result.exit_code == 3
    assert result.stderr == (
        "fedcompute: No gateway answers at http://localhost:1: connection refused. "
        "Start one with `make dev`, or name yours with --gateway or FEDCOMPUTE_URL.\n"
    )


def test_gateway_that_asks_for_a_key_says_how_to_give_one() -> None:
    body = b'{"code": "unauthenticated", "status": 401, "detail": "Send a key."}'

    with serving(always(401, body)) as served:
        result = run("top", "-g", served.url)

    assert result.exit_code == 3
    assert result.stderr.startswith("fedcompute: Send a key. Set FEDCOMPUTE_KEY")


def test_why_tells_what_a_node_lacks(served: Served) -> None:
    result = run("why", "gpu-02", *SHARE)

    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "gpu-02 of lab-a does not take it:",
        "  GPU memory: 20.0 GiB of 30.0 GiB, 10.0 GiB short (1 device)",
        "  GPUs that can serve: 0 of 1, 1 short",
    ]


def test_why_tells_that_a_node_takes_the_job(served: Served) -> None:
    result = run("why", "gpu-01", *SHARE)

    assert (result.exit_code, result.stdout) == (0, "gpu-01 of lab-a takes it: candidate 2 of 2.\n")


def test_why_tells_that_nobody_has_such_a_node(served: Served) -> None:
    result = run("why", "gpu-99", *SHARE)

    assert (result.exit_code, result.stdout) == (1, "")
    assert "No provider that was asked has a node gpu-99" in result.stderr


def test_why_says_how_to_narrow_where_the_node_is_not_among_the_nearest(served: Served, fleet: ProviderFleet) -> None:
    fleet.labs["lab-b"].inventory = an_inventory("lab-b", *(a_node(f"pool-0{place}") for place in range(8)))

    result = run("why", "gpu-02", "--gpu", "1", "--gpu-memory", "50GiB")

    assert result.exit_code == 1
    assert "Narrow the search to its provider with --provider." in result.stderr
    assert run("why", "gpu-02", "--gpu", "1", "--gpu-memory", "50GiB", "-p", "lab-a").stdout.startswith(
        "gpu-02 of lab-a"
    )


def test_registry_is_changed_by_its_commands(served: Served, fleet: ProviderFleet) -> None:
    fleet.add("lab-c")
    added = run(
        "providers", "add", "lab-c", fleet.base_url("lab-c"), "--name", "Lab C", "--label", "a=b", "--label", "c=d"
    )
    edited = run("providers", "edit", "lab-c", "--timeout", "2s", "--remove-label", "a", "-o", "json")
    disabled = run("providers", "disable", "lab-c", "lab-a")
    enabled = run("providers", "enable", "lab-a")
    removed = run("providers", "remove", "lab-c", "--yes")

    assert [one.exit_code for one in (added, edited, disabled, enabled, removed)] == [0] * 5
    assert "fedcompute: lab-c: ok, 1 nodes" in added.stderr
    record = json.loads(edited.stdout)
    assert (record["timeout_ms"], record["labels"]) == (2000, {"c": "d"})
    assert disabled.stdout == "lab-c is disabled\nlab-a is disabled\n"
    assert enabled.stdout == "lab-a is enabled\n"
    assert removed.stdout == "lab-c is removed\n"
    assert run("providers", "list", "-o", "name").stdout == "lab-a\nlab-b\n"


def test_provider_that_does_not_answer_is_registered_and_that_is_said(served: Served, fleet: ProviderFleet) -> None:
    result = run("providers", "add", "lab-x", fleet.base_url("lab-a"))

    assert result.exit_code == 0
    assert "identity_mismatch, answered as 'lab-a'" in result.stderr
    assert "fedcompute providers check lab-x" in result.stderr


@pytest.mark.parametrize("output_format", ["table", "name", "json"])
def test_key_that_is_shown_once_is_never_lost(output_format: str) -> None:
    body = b'{"id": "lab-k", "enabled": false, "version": 1, "key": "a2V5"}'

    with serving(always(201, body)) as served:
        result = run("providers", "add", "lab-k", "http://lab.test", "-g", served.url, "-o", output_format)

    assert result.exit_code == 0
    assert "a2V5" in result.stdout + result.stderr
    assert "fedcompute providers check lab-k" in result.stderr
    assert len(served.asked) == 1


def test_provider_that_has_to_pass_a_check_first_is_not_said_to_be_enabled() -> None:
    with serving(always(200, b'{"id": "lab-k", "enabled": false, "version": 1}')) as served:
        result = run("providers", "enable", "lab-k", "-g", served.url)

    assert result.stdout == "lab-k stays disabled until it has passed: fedcompute providers check lab-k\n"


def test_check_exits_with_1_where_one_does_not_answer_well(
    served: Served, gateway: Gateway, fleet: ProviderFleet
) -> None:
    gateway.register("gone", fleet.base_url("gone"))

    result = run("providers", "check", "lab-a", "gone")

    assert result.exit_code == 1
    assert [line.partition(",")[0] for line in result.stdout.splitlines()] == ["lab-a: ok", "gone: http_status"]


def test_removing_asks_first(served: Served) -> None:
    result = run("providers", "remove", "lab-a", given="n\n")

    assert result.exit_code == 1
    assert run("providers", "show", "lab-a").exit_code == 0


def test_editor_changes_a_record_and_a_record_left_alone_stays(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = run("providers", "edit", "lab-a", "-o", "json", EDITOR="sed -i s/^name:.*/name:\\ New/")
    left = run("providers", "edit", "lab-a", EDITOR="true")

    assert json.loads(changed.stdout)["name"] == "New"
    assert (left.exit_code, left.stderr) == (1, "fedcompute: Nothing was changed.\n")


def test_one_that_fails_keeps_none_of_the_others_from_its_turn(served: Served) -> None:
    result = run("providers", "disable", "nope", "lab-b")

    assert (result.exit_code, result.stdout) == (3, "lab-b is disabled\n")
    assert result.stderr.startswith("fedcompute: No provider has the id nope.")


def test_list_of_several_pages_is_one_list_of_the_records_as_they_came(
    served: Served, dynamodb: Any, table: str
) -> None:
    fill(dynamodb, table, [a_record(f"many-{place:03}") for place in range(101)])

    result = run("providers", "list", "-o", "json")

    listed = json.loads(result.stdout)
    assert (len(listed["providers"]), listed["next_token"]) == (103, None)
    assert listed["providers"][0] == json.loads(run("providers", "show", "lab-a", "-o", "json").stdout)


def test_what_strangers_wrote_can_not_move_the_cursor(served: Served, fleet: ProviderFleet, gateway: Gateway) -> None:
    evil = a_node("n\x1b[2J\u202e1", a_device(model="\x1b]0;owned\x07 A100"))
    fleet.labs["lab-b"].inventory = an_inventory("lab-b", evil)

    for command in (("search", *SHARE), ("search", *SHARE, "-o", "name"), ("search", *SHARE, "-o", "csv"), ("top",)):
        text = run(*command).stdout

        assert not {"\x1b", "\x07", "\u202e"} & set(text)


def test_completion_knows_the_ids(served: Served) -> None:
    result = run(_FEDCOMPUTE_COMPLETE="bash_complete", COMP_WORDS="fedcompute providers show lab", COMP_CWORD="3")

    assert result.stdout == "plain,lab-a\nplain,lab-b\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script_names_the_command(shell: str) -> None:
    assert "_FEDCOMPUTE_COMPLETE" in run("completion", shell).stdout


def test_every_command_has_help() -> None:
    for command in ("search", "why", "top", "providers", "inventory", "gateways", "completion"):
        assert f"Usage: fedcompute {command}" in run(command, "--help").stdout
        assert command in run("--help").stdout


class TestWhichGateway:
    """Flag, environment, configuration; and the key that goes with it."""

    def called(self, served: Served, *arguments: str, **environment: str) -> str | None:
        result = run("top", *arguments, "-o", "name", **environment)
        assert result.exit_code == 0, result.stderr
        return served.asked[-1].headers.get("authorization")

    @pytest.fixture
    def campus(self, served: Served, tmp_path: Path) -> Path:
        key = tmp_path / "campus.key"
        key.write_text("fc_file_secret\n")
        key.chmod(0o600)
        text = f'default = "campus"\n[gateways.campus]\nurl = "{served.url}"\nkey_file = "{key}"\n'
        (tmp_path / "config.toml").write_text(text + '[gateways.other]\nurl = "http://localhost:1"\n')
        return key

    def test_default_of_the_configuration(self, served: Served, campus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("FEDCOMPUTE_URL")

        assert self.called(served) == "Bearer fc_file_secret"

    def test_name_on_the_command_line(self, served: Served, campus: Path) -> None:
        assert self.called(served, "-g", "campus", FEDCOMPUTE_URL="http://localhost:1") == "Bearer fc_file_secret"

    def test_key_of_the_environment_goes_first(self, served: Served, campus: Path) -> None:
        assert self.called(served, FEDCOMPUTE_KEY="fc_env_secret") == "Bearer fc_env_secret"

    def test_gateways_are_listed(self, served: Served, campus: Path) -> None:
        assert run("gateways").stdout == f"* campus  {served.url}\n  other  http://localhost:1\n"

    def test_key_that_others_may_read_is_not_used(self, campus: Path) -> None:
        campus.chmod(0o644)

        result = run("top", "-g", "campus")

        assert result.exit_code == 2
        assert f"make it yours alone with: chmod 600 {campus}" in result.stderr

    def test_name_that_is_not_configured_is_told_with_those_that_are(self, campus: Path) -> None:
        result = run("top", "-g", "lab")

        assert result.exit_code == 2
        assert "No gateway is called lab" in result.stderr
        assert "campus, other" in result.stderr

    @pytest.mark.parametrize("text", ["gateways = 1", "[gateways.a]\nuri = 'x'", "="])
    def test_configuration_that_can_not_be_used_is_told_so(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "config.toml").write_text(text)

        result = run("top")

        assert result.exit_code == 2
        assert "config.toml can't be used" in result.stderr
