"""The page at /docs: swagger-ui over /openapi.json, or a plain list of the operations where swagger-ui is not installed.

One document with its style and script inline, as `page` makes one: no path prefix and no missing network can break it.
"""

import base64
import hashlib
import html
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from fedcompute.operations import Operation

FOLDER = Path(__file__).parent / "viewer"  # what scripts/docs_viewer.py unpacks; not in git

START = """
window.ui = SwaggerUIBundle({
  url: new URL("openapi.json", location.href.replace(/\\/$/, "")).href,
  dom_id: "#viewer", deepLinking: true, validatorUrl: null, tryItOutEnabled: true, displayRequestDuration: true,
});
"""

PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>fedcompute API</title><link rel="icon" href="data:,">{head}</head>
<body>{body}</body>
</html>
"""

PLAIN_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "th,td{padding:.2rem 1rem .2rem 0;vertical-align:top;text-align:left}"
)

WITHOUT = (
    "This gateway came without swagger-ui. Where npm is installed, <code>python scripts/docs_viewer.py</code> gets it, "
    'before the gateway is started or packaged. <a href="openapi.json">openapi.json</a> is the whole document.'
)

_DANGEROUS = re.compile(r"<(?=!--|/?script)", re.IGNORECASE)


class Viewer(NamedTuple):
    """What a browser gets."""

    html: str
    policy: str  # the value of Content-Security-Policy


@lru_cache(maxsize=2)
def viewer(operations: Sequence[Operation], folder: Path = FOLDER) -> Viewer:
    """The page for these operations (a tuple)."""
    try:
        style = (folder / "swagger-ui.css").read_text(encoding="utf-8")
        bundle = (folder / "swagger-ui-bundle.js").read_text(encoding="utf-8")
    except OSError:
        return _plain(operations)
    # Inside a script element only these would be read as markup; the escape means the same in strings and patterns.
    script = _DANGEROUS.sub(r"\\x3c", bundle) + START
    policy = {
        "default-src": "'none'",
        "script-src": _hashed(script),
        "style-src": "'unsafe-inline'",  # swagger-ui writes style attributes
        "img-src": "data:",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    body = f'<div id="viewer"></div><script>{script}</script>'
    return Viewer(PAGE.format(head=f"<style>{style}</style>", body=body), _policy_text(policy))


def _plain(operations: Sequence[Operation]) -> Viewer:
    rows = "".join(
        f"<tr><td><code>{html.escape(one.method)} {html.escape(one.path)}</code></td>"
        f"<td>{html.escape(one.text.partition(chr(10))[0])}</td><td>{html.escape(one.role)}</td></tr>"
        for one in operations
    )
    table = f"<table><thead><tr><th>operation</th><th>does</th><th>role</th></tr></thead><tbody>{rows}</tbody></table>"
    policy = {"default-src": "'none'", "style-src": _hashed(PLAIN_STYLE), "frame-ancestors": "'none'"}
    body = f"<main><h1>fedcompute API</h1><p>{WITHOUT}</p>{table}</main>"
    return Viewer(PAGE.format(head=f"<style>{PLAIN_STYLE}</style>", body=body), _policy_text(policy))


def _policy_text(policy: dict[str, str]) -> str:
    return "; ".join(f"{name} {value}" for name, value in policy.items())


def _hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
