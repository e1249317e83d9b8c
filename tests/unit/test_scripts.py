"""The pure parts of scripts/: ports, settings, process tables, environments, packages and reports."""

import json
import os
import platform
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts import archives, handlers, inventories, ports, process_table, processes, services, settings, table, verify
from scripts.processes import Running
from scripts.terminal import Failure

PROC_NET_TCP = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4242 1 0000000000000000 100 0 0 10 0
   1: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 4343 1 0000000000000000 20 4 30 10 -1
   2: 0100007F:11D6 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4444 1 0000000000000000 100 0 0 10 0
"""
PS = """    1     1 Ss   Mon Nov 30 07:50:00 2026
  812   800 Z+   Mon Nov 30 08:00:00 2026
"""


class TestSettings:
    def test_ports_are_the_usual_ones_without_variables(self) -> None:
        assert settings.read({}).ports == settings.DEFAULT_PORTS

    def test_variable_sets_a_port_and_is_stronger_than_what_was_started(self) -> None:
        found = settings.read({"PROVIDER_A_PORT": "9081"}, remembered={"provider-a": 7081, "gateway": 7080})

        assert (found.ports["provider-a"], found.ports["gateway"]) == (9081, 7080)

    @pytest.mark.parametrize("text", ["0", "65536", "eighty", "-1", "80 80", "٨٠"])
    def test_what_is_no_port_is_refused_by_its_variable(self, text: str) -> None:
        with pytest.raises(Failure, match="GATEWAY_PORT"):
            settings.read({"GATEWAY_PORT": text})

    def test_two_services_on_one_port_are_refused(self) -> None:
        with pytest.raises(Failure, match="8081"):
            settings.read({"GATEWAY_PORT": "8081"})


class TestServices:
    def test_emulator_never_gets_the_gateways_port(self) -> None:
        caller = {"GATEWAY_PORT": "9000", "EMULATOR_PORT": "9001", "AUTH": "keys", "SERVICES": "s3"}

        emulator = services.emulator(settings.read(caller))
        given = services.environment_of(emulator, caller)

        assert given["GATEWAY_PORT"] == "9001"
        assert "AUTH" not in given
        assert "SERVICES" not in given

    @pytest.mark.parametrize("variable", ["HTTP_PROXY", "https_proxy", "NO_PROXY", "AWS_PROFILE", "AWS_SESSION_TOKEN"])
    def test_no_service_gets_proxies_or_an_account(self, variable: str) -> None:
        for service in services.fleet(settings.read({})):
            assert variable not in services.environment_of(service, {variable: "something"})

    def test_each_provider_reads_its_own_inventory(self) -> None:
        of = {one.name: one.environment for one in services.fleet(settings.read({}))}

        assert of["provider-b"]["PROVIDER_ID"] == "provider-b"
        assert of["provider-b"]["INVENTORY_FILE"] == "inventories/provider-b.json"


class TestInventories:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        for name in settings.PROVIDERS:
            (tmp_path / f"{name}.json").write_text(json.dumps({"provider_id": name, "nodes": []}))
        return tmp_path

    def test_each_file_and_what_it_holds_is_told(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        inventories.check(folder)

        assert [line.rpartition("/")[2] for line in capsys.readouterr().out.splitlines()] == [
            f"{name}.json: 0 nodes, 0 devices" for name in settings.PROVIDERS
        ]

    def test_byte_order_mark_that_the_provider_lets_pass_is_let_pass(self, folder: Path) -> None:
        file = folder / "provider-b.json"
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())

        inventories.check(folder)

    def test_inventory_of_another_provider_is_refused(self, folder: Path) -> None:
        (folder / "provider-b.json").write_bytes((folder / "provider-c.json").read_bytes())

        with pytest.raises(Failure, match=r"provider-b\.json:/provider_id: is provider-c"):
            inventories.check(folder)

    def test_every_mistake_is_told_with_file_and_pointer(self, folder: Path) -> None:
        (folder / "provider-a.json").write_text('{"provider_id": 1, "nodes": [{"name": "n", "schedulable": true}]}')

        with pytest.raises(Failure) as caught:
            inventories.check(folder)

        assert "provider-a.json:/provider_id: " in str(caught.value)
        assert "provider-a.json:/nodes/0/ready: is required" in str(caught.value)

    def test_file_that_is_no_json_is_told_as_such(self, folder: Path) -> None:
        (folder / "provider-a.json").write_text("{")

        with pytest.raises(Failure, match=r"is not provider-a's inventory:\nit is not JSON: .* line 1, column 2"):
            inventories.check(folder)

    def test_file_that_is_not_there_is_named(self, folder: Path) -> None:
        (folder / "provider-c.json").unlink()

        with pytest.raises(Failure, match=r"provider-c\.json can't be read"):
            inventories.check(folder)


class TestPorts:
    def test_only_listening_sockets_of_the_port_count(self) -> None:
        assert ports.listening_inodes(PROC_NET_TCP, 8080) == {"4242"}

    def test_free_ports_differ(self) -> None:
        assert len(set(ports.free_ports(5))) == 5


class TestProcessTable:
    @given(st.text(st.characters(exclude_characters="\n"), max_size=16))
    def test_any_process_name_is_read_past(self, name: str) -> None:
        line = f"77 ({name}) S 1 70 70 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 123456 0 0"

        found = process_table.parse_stat(line)

        assert found == process_table.Process(pid=77, group=70, started="123456", is_zombie=False)

    def test_ps_tells_zombies_and_start_times(self) -> None:
        found = list(process_table.parse_ps(PS))

        assert [(one.pid, one.group, one.is_zombie) for one in found] == [(1, 1, False), (812, 800, True)]
        assert found[0].started == "Mon Nov 30 07:50:00 2026"

    def test_own_process_is_found_and_a_number_that_cannot_be_is_not(self) -> None:
        assert process_table.find(os.getpid()) is not None
        assert process_table.find(2**22 + 1) is None


class TestProcesses:
    def test_process_that_took_the_number_later_is_neither_ours_nor_ended(self, tmp_path: Path) -> None:
        with subprocess.Popen(
            [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True
        ) as other:
            before = Running("gateway", 8080, other.pid, "an earlier time", process_table.boot())

            forced = processes.stop(tmp_path, [before])

            assert not before.is_alive
            assert forced == []
            assert other.poll() is None
            other.communicate(b"\n")

    def test_record_of_an_earlier_run_of_the_machine_is_nobody(self) -> None:
        here = process_table.find(os.getpid())
        assert here is not None

        assert not Running("gateway", 8080, here.pid, here.started, "another boot").is_alive
        assert Running("gateway", 8080, here.pid, here.started, process_table.boot()).is_alive

    def test_broken_record_is_dropped(self, tmp_path: Path) -> None:
        (tmp_path / "services").mkdir()
        (tmp_path / "services" / "gateway.json").write_text("{")

        assert processes.recorded(tmp_path) == {}


class TestTable:
    def test_shape_is_what_create_table_takes_and_nothing_of_aws(self) -> None:
        shape = table.table_shape(json.loads(table.TEMPLATE.read_text()))

        assert {one["AttributeName"] for one in shape["KeySchema"]} == {"pk", "sk"}
        assert set(shape) <= set(table.SHAPE)

    def test_template_without_a_table_is_refused(self) -> None:
        with pytest.raises(Failure, match="0 DynamoDB tables"):
            table.table_shape({"Resources": {}})


class TestBuild:
    @given(st.permutations([("b.py", b"2"), ("a/c.py", b"1"), ("a.py", b"")]))
    def test_zip_is_the_same_in_whatever_order_files_come(self, files: list[tuple[str, bytes]]) -> None:
        first, second = _zipped(dict(files)), _zipped(dict(reversed(files)))

        assert first == second

    def test_normalised_zip_keeps_what_it_holds(self, tmp_path: Path) -> None:
        target = tmp_path / "any.zip"
        with zipfile.ZipFile(target, "w") as archive:
            archive.mkdir("empty")
            archive.writestr("z.py", "1")
            archive.writestr("a.py", "2")

        archives.normalise(target)

        with zipfile.ZipFile(target) as archive:
            assert archive.namelist() == ["a.py", "z.py"]
            assert archive.read("z.py") == b"1"

    def test_each_handler_is_named_once(self) -> None:
        function: Any = {"Type": "AWS::Serverless::Function", "Properties": {"Handler": "app.app"}}

        assert handlers.named_in({"Resources": {"One": function, "Two": function, "Api": {}}}) == ["app.app"]

    @pytest.mark.skipif(
        (platform.system(), platform.machine()) != ("Linux", "x86_64"), reason="packages are for Linux on x86_64"
    )
    def test_package_that_lacks_a_module_is_refused_with_its_name(self, tmp_path: Path) -> None:
        archives.write(tmp_path / "deployment.zip", {"app.py": b"import rich\napp = None\n"})
        (tmp_path / "sam.json").write_text('{"Resources": {"F": {"Properties": {"Handler": "app.app"}}}}')

        with pytest.raises(Failure, match="No module named 'rich'"):
            handlers.check(tmp_path / "deployment.zip", tmp_path / "sam.json", tmp_path / "scratch")


class TestVerify:
    def test_unknown_check_is_told(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert verify.main(["typos"]) == 2

        assert "typos" in capsys.readouterr().err

    def test_each_check_has_its_own_name(self) -> None:
        names = [one.name for one in verify.checks()]

        assert len(names) == len(set(names))


def _zipped(files: dict[str, bytes]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "any.zip"
        archives.write(target, files)
        return target.read_bytes()
