"""The web page: one document, made from the files in webpage/ on first use, and the policy that lets only it run.

Scripts there are ES modules that import each other. Here they become one: each module is a function that returns what it
exports, called once, after those that it imports.
"""

import base64
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "webpage"
STYLES = ("base.css", "controls.css", "request.css", "results.css", "tables.css")

_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./([a-z_]+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function|const|class) (\w+))", re.MULTILINE)


class Page(NamedTuple):
    """What a browser gets."""

    html: str
    policy: str  # the value of Content-Security-Policy


@cache
def page() -> Page:
    """The document with its style and script inline, and a policy that names both by their hashes."""
    style = "\n" + "".join((FOLDER / name).read_text(encoding="utf-8") for name in STYLES)
    script = "\n" + "\n".join(_modules("main", []))
    html = (FOLDER / "page.html").read_text(encoding="utf-8")
    html = html.replace("/* style */", style).replace("/* script */", script)
    policy = {
        "default-src": "'none'",
        "script-src": _hashed(script),
        "style-src": _hashed(style),
        "img-src": "data:",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        # No text can become markup: the page builds elements, and never parses HTML.
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    return Page(html, "; ".join(f"{name} {value}" for name, value in policy.items()))


def _modules(name: str, seen: list[str]) -> list[str]:
    """A module as a function's value, and before it those that it imports, each once."""
    seen.append(name)
    text = (FOLDER / f"{name}.js").read_text(encoding="utf-8")
    before = [part for _, needed in _IMPORT.findall(text) if needed not in seen for part in _modules(needed, seen)]
    exported = ", ".join(found for _, found in _EXPORT.findall(text))
    inner = _EXPORT.sub(r"\1", _IMPORT.sub(r"const \1 = in_\2;", text)).strip()
    return [*before, f"const in_{name} = (() => {{\n{inner}\nreturn {{ {exported} }};\n}})();\n"]


def _hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
