"""The document that is made of the page's files."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from chalicelib.page import FOLDER, STYLES, page

SCRIPT = re.compile(r'<script type="module">(.*)</script>', re.DOTALL)


def script() -> str:
    (found,) = SCRIPT.findall(page().html)
    return str(found)


def test_every_module_stands_in_it_once_after_what_it_imports() -> None:
    order = re.findall(r"^const in_(\w+) = \(\(\) => \{$", script(), re.MULTILINE)

    assert sorted(order) == sorted(path.stem for path in FOLDER.glob("*.js"))
    for name in order:
        imported = re.findall(r'from "\./(\w+)\.js"', (FOLDER / f"{name}.js").read_text())
        assert all(order.index(needed) < order.index(name) for needed in imported), name


def test_nothing_of_the_modules_own_syntax_is_left() -> None:
    assert re.findall(r"^(?:import|export)\b.*", script(), re.MULTILINE) == []


def test_every_style_sheet_is_used() -> None:
    assert sorted(STYLES) == sorted(path.name for path in FOLDER.glob("*.css"))
    assert "/* style */" not in page().html


def test_no_place_in_the_page_parses_html() -> None:
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\b|new Function"

    assert re.findall(forbidden, script()) == []


def test_every_import_names_what_its_module_exports() -> None:
    for path in FOLDER.glob("*.js"):
        for names, module in re.findall(r'^import \{([^}]*)\} from "\./(\w+)\.js";', path.read_text(), re.MULTILINE):
            exported = re.findall(
                r"^export (?:async )?(?:function|const|class) (\w+)",
                (FOLDER / f"{module}.js").read_text(),
                re.MULTILINE,
            )
            wanted = {name.strip() for name in names.split(",") if name.strip()}
            used = {name for name in wanted if len(re.findall(rf"\b{name}\b", path.read_text())) > 1}

            assert wanted <= set(exported), (path.name, module)
            assert wanted == used, f"{path.name} imports {wanted - used} and does not use it"


def test_script_is_sound(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    file = tmp_path / "page.mjs"
    file.write_text(script())

    done = subprocess.run([node, "--check", str(file)], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
