"""The web page as the gateway serves it."""

import base64
import hashlib
import re

import pytest
from fakes.gateway import Gateway


def test_page_is_html_under_a_policy_that_names_its_script_and_style(gateway: Gateway) -> None:
    answer = gateway.call("GET", "/")

    assert answer.status == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"
    policy = answer.headers["content-security-policy"]
    for tag in ("script", "style"):
        (content,) = re.findall(rf"<{tag}[^>]*>(.*?)</{tag}>", answer.text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy


def test_page_of_another_host_is_refused_like_everything_else(gateway: Gateway) -> None:
    assert gateway.call("GET", "/", headers={"Host": "evil.example"}).problem["code"] == "foreign_host"


def test_page_needs_no_key(monkeypatch: pytest.MonkeyPatch, table: str) -> None:
    locked = Gateway(monkeypatch, REGISTRY_TABLE=table, AUTH="keys")

    assert locked.call("GET", "/").status == 200
