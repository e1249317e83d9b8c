"""/docs: swagger-ui in one document where it is installed, and a plain list where it is not."""

import base64
import hashlib
import re
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest
from fakes.gateway import Gateway

from chalicelib.api_viewer import FOLDER, viewer
from scripts import docs_viewer


def hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@pytest.fixture
def operations(monkeypatch: pytest.MonkeyPatch) -> tuple[Any, ...]:
    return tuple(Gateway(monkeypatch).module.web.operations)


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    (tmp_path / "swagger-ui.css").write_text("body { color: red }")
    (tmp_path / "swagger-ui-bundle.js").write_text('x = /<!--/; y = "<script></SCRIPT>"; z = "<b>";')
    return tmp_path


def test_the_viewer_is_one_document_whose_policy_lets_only_its_script_run(
    operations: tuple[Any, ...], installed: Path
) -> None:
    html, policy = viewer(operations, installed)

    (script,) = re.findall(r"<script>(.*)</script>", html, re.DOTALL)
    assert f"script-src {hashed(script)};" in policy
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy
    assert re.findall(r"(?:src|href)=[^>]*", html) == ['href="data:,"']


def test_nothing_in_the_viewers_script_can_end_it(operations: tuple[Any, ...], installed: Path) -> None:
    html, _ = viewer(operations, installed)

    assert html.lower().count("<script") == html.lower().count("</script") == 1
    assert "<!--" not in html
    assert r"x = /\x3c!--/; y = " in html
    assert 'z = "<b>";' in html


def test_without_the_viewer_every_operation_is_listed(operations: tuple[Any, ...], tmp_path: Path) -> None:
    html, policy = viewer(operations, tmp_path)

    assert all(f"{one.method} {one.path}" in html for one in operations)
    assert "scripts/docs_viewer.py" in html
    assert 'href="openapi.json"' in html
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    assert policy == f"default-src 'none'; style-src {hashed(style)}; frame-ancestors 'none'"


def test_the_gateway_serves_it_with_its_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Gateway(monkeypatch).call("GET", "/docs")

    assert answer.status == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert len(answer.text) < 4_000_000  # a Lambda answers at most 6 MB


def test_no_npm_is_told_and_nothing_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)

    assert "npm is not installed" in docs_viewer.fetch(tmp_path / "viewer")
    assert not (tmp_path / "viewer").exists()


def an_npm(folder: Path, content: str) -> Path:
    """A program that packs what is no swagger-ui."""
    (folder / "package").mkdir()
    (folder / "package" / "LICENSE").write_text(content)
    with tarfile.open(folder / "made.tgz", "w:gz") as archive:
        archive.add(folder / "package", "package")
    program = folder / "npm"
    program.write_text(f'#!/bin/sh\ncp {folder}/made.tgz "$4/swagger-ui-dist.tgz"\n')
    program.chmod(0o755)
    return program


def test_an_archive_that_is_not_the_pinned_one_is_not_unpacked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    npm = an_npm(tmp_path, "something else")
    monkeypatch.setattr(shutil, "which", lambda _: str(npm))

    assert "is not what is pinned" in docs_viewer.fetch(tmp_path / "viewer")
    assert not (tmp_path / "viewer").exists()


@pytest.mark.skipif(not FOLDER.exists(), reason="the viewer is not installed; python scripts/docs_viewer.py gets it")
def test_what_is_installed_is_the_pinned_version_and_is_not_fetched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)

    assert docs_viewer.VERSION in docs_viewer.fetch()
    assert {file.name for file in FOLDER.iterdir()} == {"VERSION", *docs_viewer.WANTED}
