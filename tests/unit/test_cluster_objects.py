"""Pages of the API, and what one odd object costs."""

import json

import pytest
from cluster_made import inventory, node, only_node, pod

from chalicelib.cluster_objects import UnreadablePageError, decode_page
from chalicelib.findings import Findings


def page(kind, *items, **metadata):
    return decode_page(kind, json.dumps({"metadata": metadata, "items": list(items)}).encode())


def test_page_says_where_the_next_one_starts():
    found = page("nodes", node(), **{"continue": "abc", "resourceVersion": "17"})

    assert (found.continue_token, found.resource_version, len(found.items)) == ("abc", "17", 1)


@pytest.mark.parametrize("body", [b"{}", b'{"items": null}', b'{"items": [], "metadata": null}'])
def test_last_page_may_be_empty(body):
    found = decode_page("pods", body)

    assert (found.items, found.continue_token, found.warnings) == ([], "", [])


@pytest.mark.parametrize(
    "odd",
    [
        5,
        None,
        "x",
        [],
        {"metadata": {"name": "odd", "annotations": {"a": 5}}},
        {"metadata": {"name": "odd"}, "status": []},
    ],
)
def test_odd_object_is_left_out_and_told_and_the_others_stand(odd):
    found = page("nodes", node("a"), odd, node("b"))

    assert [one.metadata.name for one in found.items] == ["a", "b"]
    assert [one.code for one in found.warnings] == ["unreadable_object"]


def test_warning_names_the_object():
    (warning,) = page("pods", {"metadata": {"name": "odd"}, "spec": 5}).warnings

    assert "pods: odd left out" in warning.message


@pytest.mark.parametrize("body", [b"", b"[]", b"no JSON", b"\xff", b'{"items": 5}', b'{"items":' + b"[" * 100_000])
def test_body_that_is_no_list_is_refused(body):
    with pytest.raises(UnreadablePageError):
        decode_page("nodes", body)


def test_null_is_as_good_as_absent():
    empty = {"metadata": {"name": "n0", "labels": None, "annotations": None}, "spec": {"taints": None}, "status": {}}
    bare = {"metadata": {"name": "p"}, "spec": {"containers": None, "initContainers": None}, "status": {}}

    assert page("nodes", empty).warnings == page("pods", bare).warnings == []
    assert only_node(inventory(empty)).cpu.total_millicores is None


def test_annotations_that_nobody_reads_are_dropped():
    notes = {"hami.io/vgpu-node": "n0", "kubectl.kubernetes.io/last-applied-configuration": "x" * 10_000}

    (kept,) = page("pods", pod(annotations=notes)).items

    assert kept.metadata.annotations == {"hami.io/vgpu-node": "n0"}


def test_numbers_may_stand_bare_in_amounts():
    assert only_node(inventory(node(allocatable={"cpu": 4, "memory": 1e9}))).memory.total_bytes == 10**9


def test_warnings_are_bounded_in_number_and_length_and_cleaned():
    findings = Findings("n0", most=3)
    for number in range(10):
        findings.add("odd", f"{number} \x1b[31m\u202e" + "x" * 1000)
        findings.add("odd", f"{number} \x1b[31m\u202e" + "x" * 1000)

    found = findings.warnings()

    assert [one.message[:2] for one in found] == ["0 ", "1 ", "2 ", "7 "]
    assert found[-1].code == "more_warnings"
    assert all(len(one.message) <= 200 and "\x1b" not in one.message and "\u202e" not in one.message for one in found)
