"""What gateways and providers sign, against other implementations of HMAC and the vector of docs/security.md."""

import base64
import hashlib
import hmac
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedcompute.signatures import (
    WINDOW_S,
    SignatureError,
    Signed,
    check_reply,
    check_request,
    key_bytes,
    provider_key,
    sign_reply,
    sign_request,
    signed_of,
)

PAGE = (Path(__file__).parents[2] / "docs" / "security.md").read_text()
NOW = 1767225600
KEY = provider_key(b"m" * 32, "provider-a", 1)
OTHER_KEY = provider_key(b"m" * 32, "provider-b", 1)
REPLY = {"provider_id": "provider-a", "status": 200, "etag": '"v1"', "body": b'{"nodes": []}'}


def vector() -> dict[str, str]:
    part = PAGE[PAGE.index("### Test vector") : PAGE.index("With nothing but openssl")]
    return {name: value.strip("`") for name, value in re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", part, re.MULTILINE)}


def by_hashlib(key: bytes, text: bytes) -> bytes:
    """HMAC-SHA256 as RFC 2104 spells it."""
    block = key.ljust(64, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in block) + text).digest()
    return hashlib.sha256(bytes(byte ^ 0x5C for byte in block) + inner).digest()


def by_openssl(key: bytes, text: bytes) -> bytes:
    command = ["openssl", "dgst", "-sha256", "-mac", "HMAC", "-macopt", f"hexkey:{key.hex()}", "-binary"]
    return subprocess.run(command, input=text, capture_output=True, check=True).stdout


ways = pytest.mark.parametrize(
    "mac",
    [
        lambda key, text: hmac.new(key, text, "sha256").digest(),
        by_hashlib,
        pytest.param(
            by_openssl, marks=pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is not installed")
        ),
    ],
    ids=["hmac", "hashlib", "openssl"],
)


@ways
def test_the_vector_of_the_page_is_what_others_compute(mac):
    said = vector()
    key = mac(said["master"].encode(), f"provider|{said['provider id']}|{said['key version']}".encode())

    assert base64.b64encode(key).decode() == said["key"]
    for message in ("the call", "the reply, 200", "the reply, 304"):
        signature = base64.b64encode(mac(key, said[f"text of {message}"].encode())).decode()
        assert f"v1,{signature}" == said[f"signature of {message}"]
    assert hashlib.sha256(said["body"].encode()).hexdigest() in said["text of the reply, 200"]


def test_the_vector_of_the_page_is_what_this_package_computes():
    said = vector()
    key = provider_key(said["master"].encode(), said["provider id"], int(said["key version"]))

    call = sign_request([key], said["webhook-id"], int(said["webhook-timestamp of the call"]), said["provider id"])
    reply = {
        status: sign_reply(
            [key],
            said["webhook-id"],
            int(said["webhook-timestamp of the reply"]),
            provider_id=said["provider id"],
            status=status,
            etag=said["ETag"],
            body=said["body"].encode() if status == 200 else b"",
        )
        for status in (200, 304)
    }

    assert key == said["key"]
    assert call.signature == said["signature of the call"]
    assert reply[200].signature == said["signature of the reply, 200"]
    assert reply[304].signature == said["signature of the reply, 304"]


def test_what_was_signed_is_taken_from_its_headers_again():
    signed = sign_request([KEY], "id-1", NOW, "provider-a")

    assert signed_of(signed.headers) == signed
    assert check_request(signed, [KEY], NOW, "provider-a") == signed


@pytest.mark.parametrize("missing", ["webhook-id", "webhook-timestamp", "webhook-signature"])
def test_message_that_lacks_a_header_is_not_signed(missing):
    headers = sign_request([KEY], "id-1", NOW, "provider-a").headers
    del headers[missing]

    assert signed_of(headers) is None
    with pytest.raises(SignatureError, match="no signature"):
        check_request(None, [KEY], NOW, "provider-a")


@pytest.mark.parametrize("apart_s", [-WINDOW_S, 0, WINDOW_S])
def test_clocks_may_be_a_window_apart(apart_s):
    signed = sign_request([KEY], "id-1", NOW, "provider-a")

    assert check_request(signed, [KEY], NOW + apart_s, "provider-a")


@pytest.mark.parametrize("apart_s", [-WINDOW_S - 1, WINDOW_S + 1])
def test_clocks_that_are_further_apart_are_told(apart_s):
    signed = sign_request([KEY], "id-1", NOW, "provider-a")

    with pytest.raises(SignatureError, match="301 s from now"):
        check_request(signed, [KEY], NOW + apart_s, "provider-a")


def test_signature_for_another_provider_or_with_its_key_is_wrong():
    for signed, provider_id in (
        (sign_request([KEY], "id-1", NOW, "provider-b"), "provider-a"),
        (sign_request([OTHER_KEY], "id-1", NOW, "provider-a"), "provider-a"),
    ):
        with pytest.raises(SignatureError, match="wrong"):
            check_request(signed, [KEY], NOW, provider_id)


def test_either_of_two_keys_will_do_on_either_side():
    both = sign_request([KEY, OTHER_KEY], "id-1", NOW, "provider-a")

    assert both.signature.count("v1,") == 2
    for keys in ([KEY], [OTHER_KEY], [OTHER_KEY, KEY]):
        assert check_request(both, keys, NOW, "provider-a")
    assert check_request(sign_request([OTHER_KEY], "id-1", NOW, "provider-a"), [KEY, OTHER_KEY], NOW, "provider-a")


@pytest.mark.parametrize(
    "changed",
    [
        {"provider_id": "provider-b"},
        {"status": 304},
        {"etag": '"v2"'},
        {"etag": ""},
        {"body": b'{"nodes": [ ]}'},
        {"body": b""},
    ],
)
def test_reply_of_which_anything_was_changed_is_refused(changed):
    signed = sign_reply([KEY], "id-1", NOW, **REPLY)

    assert check_reply(signed, [KEY], NOW, request_id="id-1", **REPLY)
    with pytest.raises(SignatureError, match="wrong"):
        check_reply(signed, [KEY], NOW, request_id="id-1", **(REPLY | changed))


def test_reply_to_another_call_is_refused():
    signed = sign_reply([KEY], "id-1", NOW, **REPLY)

    with pytest.raises(SignatureError, match="another call"):
        check_reply(signed, [KEY], NOW, request_id="id-2", **REPLY)
    with pytest.raises(SignatureError, match="wrong"):
        check_reply(signed._replace(id="id-2"), [KEY], NOW, request_id="id-2", **REPLY)


def test_call_is_no_reply_and_reply_no_call():
    call = sign_request([KEY], "id-1", NOW, "provider-a")
    reply = sign_reply([KEY], "id-1", NOW, **REPLY)

    with pytest.raises(SignatureError):
        check_reply(call, [KEY], NOW, request_id="id-1", **REPLY)
    with pytest.raises(SignatureError):
        check_request(reply, [KEY], NOW, "provider-a")


@given(st.text(max_size=80), st.text(max_size=20), st.text(max_size=200))
def test_nothing_that_a_stranger_makes_up_is_taken_or_breaks(message_id, timestamp, signature):
    with pytest.raises(SignatureError):
        check_request(Signed(message_id, timestamp, signature), [KEY], NOW, "provider-a")


@pytest.mark.parametrize("timestamp", ["", "-1", "1e9", " 1767225600", "1767225600.0", "٣", "9" * 13, "1767225600\n"])
def test_time_is_written_in_one_way(timestamp):
    with pytest.raises(SignatureError, match="malformed"):
        check_request(Signed("id-1", timestamp, "v1,AAAA"), [KEY], NOW, "provider-a")


def test_keys_differ_by_provider_version_and_master():
    keys = {
        provider_key(master, provider_id, version)
        for master in (b"m" * 32, b"n" * 32)
        for provider_id in ("a", "b")
        for version in (1, 2)
    }

    assert len(keys) == 8
    assert all(len(key_bytes(key)) == 32 for key in keys)


@pytest.mark.parametrize("text", ["", "short", "AAAA", KEY[:-4], KEY + "AAAA", "é" * 44, f" {KEY}"])
def test_text_that_is_no_key_is_refused(text):
    with pytest.raises(ValueError, match="a key"):
        key_bytes(text)
