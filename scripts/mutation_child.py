"""The process of one mutant: takes it for the module, runs the tests, and ends."""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import NoReturn

from scripts.settings import ROOT

_LIBRARIES = ("pytest", "hypothesis", "pydantic", "msgspec", "pycurl", "boto3", "moto", "moto.dynamodb", "chalice.app")

_LOADED = "ignore:Module already imported:pytest.PytestAssertRewriteWarning"


def load_libraries() -> None:
    """What every mutant's tests need, loaded once; of this project nothing."""
    for name in _LIBRARIES:
        importlib.import_module(name)
    from hypothesis import Phase, settings  # noqa: PLC0415 (a test's library, which only this needs)

    settings.register_profile("mutation", phases=(Phase.explicit, Phase.generate), derandomize=True, database=None)
    settings.load_profile("mutation")


class _Mutated(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds one module, and gives it another source."""

    def __init__(self, name: str, source: str) -> None:
        self.name, self.source = name, source

    def find_spec(self, name: str, *_: object) -> importlib.machinery.ModuleSpec | None:
        """See importlib."""
        return importlib.util.spec_from_loader(name, self) if name == self.name else None

    def exec_module(self, module: ModuleType) -> None:
        """See importlib."""
        exec(compile(self.source, f"<{self.name}>", "exec"), module.__dict__)  # noqa: S102 (that is what it is for)


def run_tests(tests: Sequence[str], mutated: tuple[str, str] | None) -> NoReturn:
    """Ends the process: 0 where the tests pass."""
    code = 3
    try:
        if mutated is not None:
            sys.meta_path.insert(0, _Mutated(*mutated))
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        os.chdir(ROOT)
        pytest = importlib.import_module("pytest")
        options = [
            "-q",
            "-x",
            "--tb=no",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            "-W",
            _LOADED,
            "-m",
            "not e2e and not stress",
        ]
        code = int(pytest.main([*options, *tests]))
    finally:
        os._exit(code)
