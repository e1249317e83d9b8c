"""The pure parts of the lab: what it compares, what it takes out of diagnostics, and how it reads versions."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.generate_cluster import generate
from scripts.hami_verify import FIELDS, cluster_cards, compare
from scripts.redact import redacted
from scripts.tools import version_in

CARD = {
    "id": "GPU-1",
    "count": 10,
    "devmem": 40960,
    "devcore": 100,
    "type": "A100",
    "mode": "hami-core",
    "health": True,
}


def node(name: str = "n1") -> dict[str, Any]:
    return {"metadata": {"name": name, "annotations": {"hami.io/node-nvidia-register": json.dumps([CARD])}}}


def pod(held: str, phase: str = "Running", place: str = "n1") -> dict[str, Any]:
    notes = {"hami.io/vgpu-node": place, "hami.io/vgpu-devices-allocated": held}
    return {"metadata": {"name": "p", "annotations": notes}, "status": {"phase": phase}}


def free(*pods: dict[str, Any]) -> tuple[int | None, ...]:
    card = cluster_cards([node()], pods)["n1", "GPU-1"]
    return tuple(card[name] for name in FIELDS if "available" in name)


def test_card_that_nobody_holds_is_free() -> None:
    assert free() == (40960, 100, 10)


def test_pods_take_what_their_annotations_say() -> None:
    assert free(pod("GPU-1,NVIDIA,12288,30:;"), pod(";GPU-1,NVIDIA,1000,10:;")) == (27672, 60, 8)


def test_finished_pods_and_those_of_other_nodes_take_nothing() -> None:
    finished, elsewhere = pod("GPU-1,NVIDIA,1,1:;", "Succeeded"), pod("GPU-1,NVIDIA,1,1:;", place="n2")

    assert free(finished, elsewhere) == (40960, 100, 10)


def test_card_that_only_one_side_knows_differs() -> None:
    rows = compare(cluster_cards([node()], []), {})

    assert [row.agrees for row in rows] == [False] * len(FIELDS)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("kind v0.31.0 go1.25.4 linux/amd64", (0, 31)),
        ("Client Version: v1.34.0\nKustomize Version: v5.7.1", (1, 34)),
        ("v3.16.1+g5a8", (3, 16)),
        ("nothing", None),
    ],
)
def test_version_is_the_first_one_told(text: str, version: tuple[int, int] | None) -> None:
    assert version_in(text) == version


TOKEN = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJtYWRlLXVwIn0.c2lnbmF0dXJl"
BASE64 = base64.b64encode(b"hush hush hush hush").decode()


@pytest.mark.parametrize(
    "text",
    [
        f"token: {TOKEN}",
        f'"token": "{TOKEN}"',
        f"loose {TOKEN} in a line",
        f"client-key-data: {BASE64}",
        f'"client-certificate-data": "{BASE64}"',
        f"Authorization: Bearer {BASE64}",
        f"curl -H 'authorization: basic {BASE64}'",
        f"- name: DB_PASSWORD\n  value: {BASE64}",
        f'{{"name": "API_KEY", "value": "{BASE64}"}}',
        f"PROVIDER_KEY={BASE64}",
        f"password: '{BASE64}'",
        f"https://user:{BASE64}@registry.example/v2",
        f"-----BEGIN EC PRIVATE KEY-----\n{BASE64}\n-----END EC PRIVATE KEY-----",
        f"-----BEGIN RSA PRIVATE KEY-----\n{BASE64}",
        "fc_abc123_hushhushhush",
        "AKIAABCDEFGHIJKLMNOP",
    ],
)
def test_secrets_are_taken_out(text: str) -> None:
    cleaned = redacted(text)

    assert "<removed>" in cleaned
    for secret in (TOKEN, BASE64, "hushhush", "ABCDEFGHIJKLMNOP"):
        assert secret not in cleaned


@pytest.mark.parametrize(
    "text",
    [
        'hami.io/vgpu-devices-allocated: "GPU-1,NVIDIA,12288,30:;"',
        "nvidia.com/gpu: 80",
        "automountServiceAccountToken: false"[:29],
        "image: projecthami/hami:v2.10.0",
        "- name: PORT\n  value: '80'",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redacted(text) == text


@given(st.text())
def test_redacting_twice_is_redacting_once(text: str) -> None:
    assert redacted(redacted(text)) == redacted(text)


def test_generated_clusters_of_one_seed_are_the_same() -> None:
    assert generate(6, 30, seed=3) == generate(6, 30, seed=3)
    assert generate(6, 30, seed=3) != generate(6, 30, seed=4)


def test_generated_pods_hold_no_more_of_a_card_than_it_has() -> None:
    nodes, pods = generate(10, 400)

    cards = cluster_cards(nodes, pods)

    assert all(amount is not None and amount >= 0 for card in cards.values() for amount in card.values())
    assert any(card["slots_available"] != card["slots_total"] for card in cards.values())


def test_generated_objects_have_realistic_sizes() -> None:
    nodes, pods = generate(20, 20)

    assert 10_000 < len(json.dumps(nodes)) / 20 < 16_000
    assert 2_000 < len(json.dumps(pods)) / 20 < 5_000
