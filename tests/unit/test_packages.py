"""What goes into a package: all that a function needs, nothing else, the same bytes each time."""

import json
import struct
from pathlib import Path

import pytest

from scripts import archives, fingerprints, handlers, locks, packages, reachable, templates
from scripts.packages import APPS, INFRA, SHARED_CODE, Variant
from scripts.settings import ROOT
from scripts.terminal import Failure


class TestArchives:
    @pytest.mark.parametrize(
        ("name", "used"),
        [
            ("pydantic/main.py", True),
            ("pydantic/v1/main.py", False),
            ("certifi/tests/test_certify.py", False),
            ("certifi/cacert.pem", True),
            ("msgspec/__init__.pyi", False),
            ("msgspec-0.23.0.dist-info/licenses/LICENSE", True),
            ("msgspec-0.23.0.dist-info/RECORD", False),
            ("chalicelib/tests.py", True),
            ("fedcompute/py.typed", False),
        ],
    )
    def test_only_what_a_function_reads_is_kept(self, name: str, used: bool) -> None:
        assert archives.is_used(name) is used

    def test_compiled_modules_are_the_same_bytes_again_and_need_no_time_stamp(self, tmp_path: Path) -> None:
        files = {"a.py": b"NAMES = {'x', 'y', 'z'}\n", "b/c.py": b"def f(): return frozenset('abc')\n"}

        first = archives.compiled(files, tmp_path / "one", "/var/task")
        second = archives.compiled(files, tmp_path / "two", "/var/task")

        assert first == second
        (made,) = [content for name, content in first.items() if name.startswith("__pycache__/a.")]
        assert struct.unpack_from("<I", made, 4)[0] == 0b01  # PEP 552: by hash, unchecked

    def test_module_that_does_not_compile_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(Failure, match=r"bad\.py"):
            archives.compiled({"bad.py": b"def"}, tmp_path, "/var/task")


class TestContents:
    def zipped(self, folder: Path, **files: bytes) -> Path:
        target = folder / "package.zip"
        archives.write(target, files)
        return target

    def test_package_without_a_pinned_distribution_is_refused_by_its_name(self, tmp_path: Path) -> None:
        package = self.zipped(tmp_path, **{"msgspec-0.23.0.dist-info/METADATA": b""})

        with pytest.raises(Failure, match="lacks pycurl"):
            handlers.check_contents(package, ["msgspec", "pycurl"], "x86_64")

    @pytest.mark.parametrize(("architecture", "number"), [("x86_64", 183), ("arm64", 62)])
    def test_machine_code_for_another_machine_is_refused(self, tmp_path: Path, architecture: str, number: int) -> None:
        package = self.zipped(tmp_path, **{"msgspec/_core.so": b"\x7fELF" + bytes(14) + struct.pack("<H", number)})

        with pytest.raises(Failure, match=r"_core\.so"):
            handlers.check_contents(package, [], architecture)


class TestLocks:
    LOCK = "# header\npydantic==2.14.4 \\\n    --hash=sha256:1\npydantic-core==2.50.5 \\\n    --hash=sha256:2\nrich==15.0.0 \\\n    --hash=sha256:3\n"

    def test_part_has_what_is_needed_with_its_hashes_and_nothing_else(self) -> None:
        assert list(locks.pinned(locks.part(self.LOCK, ["Pydantic"]))) == ["pydantic", "pydantic_core"]
        assert "sha256:2" in locks.part(self.LOCK, ["pydantic"])

    def test_functions_carry_no_client_of_kubernetes_and_no_sdk(self) -> None:
        for app in APPS:
            names = set(locks.pinned(packages.lock(app)))
            assert not names & {"kubernetes", "boto3", "botocore", "requests"}
        assert {"pycurl", "msgspec", "pydantic_core"} <= set(locks.pinned(packages.lock("gateway")))


class TestReachable:
    def test_layer_has_no_command_line_and_no_client(self) -> None:
        names = {one.stem for one in reachable.modules([ROOT / folder for folder in APPS.values()], SHARED_CODE)}

        assert {"web", "request", "matching", "ranking"} <= names
        assert not names & {"cli", "client", "session"}


class TestFingerprints:
    def test_what_is_current_is_not_made_again_and_what_was_touched_is(self, tmp_path: Path) -> None:
        target, made = tmp_path / "any.zip", []

        def make() -> None:
            made.append(1)
            target.write_text("content")

        assert fingerprints.unless_current([target], "one", make)
        assert not fingerprints.unless_current([target], "one", make)
        assert fingerprints.unless_current([target], "two", make)
        target.write_text("edited by hand")
        assert fingerprints.unless_current([target], "two", make)
        assert len(made) == 3


class TestVariants:
    def test_each_has_a_folder_of_its_own(self) -> None:
        names = {Variant(machine, layer).name for machine in ("x86_64", "arm64") for layer in (True, False)}

        assert len(names) == 4


class TestTemplates:
    @pytest.mark.parametrize("app", list(APPS))
    def test_every_name_in_infra_is_chalices_or_whole(self, app: str) -> None:
        extras = templates.extras(INFRA / "api.json", INFRA / f"{app}.json")
        partial = {name for name, one in extras["Resources"].items() if "Type" not in one}

        of_parts = {"Part", "PartRole"} if app == "gateway" else set()
        assert partial <= templates.OF_CHALICE | of_parts

    def test_function_for_parts_has_all_that_the_handler_has_but_its_own_name(self) -> None:
        made = self.a_template("gateway")["Resources"]
        handler, part = (made[name]["Properties"] for name in ("APIHandler", "Part"))
        variables, others = (one["Environment"]["Variables"] for one in (handler, part))

        assert variables["SEARCH_PART_FUNCTION"] == {"Ref": "Part"}
        assert others == {name: value for name, value in variables.items() if name != "SEARCH_PART_FUNCTION"}
        assert {
            name: handler[name] for name in ("CodeUri", "Layers", "LoggingConfig", "Tracing")
        }.items() <= part.items()

    def test_no_address_and_nobody_but_the_handlers_role_leads_to_the_function_for_parts(self) -> None:
        made = self.a_template("gateway")["Resources"]
        leads = [json.dumps(lead) for lead in ({"Ref": "Part"}, {"Fn::GetAtt": ["Part", "Arn"]})]
        naming = {name for name, one in made.items() if any(lead in json.dumps(one) for lead in leads)}

        assert naming == {"APIHandler", "ApiHandlerRole", "PartThrottlesAlarm", "PartErrorsAlarm"}
        assert not {"Events", "FunctionUrlConfig"} & made["Part"]["Properties"].keys()

    def a_template(self, app: str) -> templates.Template:
        """What infra/ adds, on top of resources that have no more than a type."""
        made = templates.extras(INFRA / "api.json", INFRA / f"{app}.json")
        kinds = {"APIHandler": "AWS::Serverless::Function", "Part": "AWS::Serverless::Function"}
        bare: templates.Template = {name: {"Properties": {}} for name in templates.OF_CHALICE}
        resources = {
            name: {"Type": kinds.get(name, "any"), **one} for name, one in {**bare, **made["Resources"]}.items()
        }
        return templates.checked({**made, "Resources": resources}, app)

    def test_name_that_meets_no_match_is_refused(self) -> None:
        resources = {name: {"Type": "any", "Properties": {}} for name in templates.OF_CHALICE}

        with pytest.raises(Failure, match="ApiHandlerRolle"):
            templates.checked(
                {"Resources": {**resources, "ApiHandlerRolle": {"Properties": {}}}, "Outputs": {}}, "gateway"
            )

    def test_what_api_gateway_answers_itself_is_a_problem_too(self) -> None:
        body = templates.extras(INFRA / "api.json", INFRA / "gateway.json")["Resources"]["RestAPI"]["Properties"]
        answers = body["DefinitionBody"]["x-amazon-apigateway-gateway-responses"]

        for name, one in answers.items():
            problem = json.loads(one["responseTemplates"]["application/json"])
            assert str(problem["status"]) == one["statusCode"], name
            assert one["responseParameters"]["gatewayresponse.header.Content-Type"] == "'application/problem+json'"
        assert {one["statusCode"] for one in answers.values()} >= {"401", "403", "404", "413", "415", "429", "500"}
