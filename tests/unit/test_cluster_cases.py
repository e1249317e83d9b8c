"""Clusters after public bug reports, each against its derived answer, and what no cluster may do to an inventory."""

from dataclasses import replace

import msgspec
import pytest
from cluster_case import FOLDER, differences, load

from chalicelib.cluster_inventory import inventory_of
from chalicelib.inventory_reply import encode
from fedcompute.reading import read

CASES = sorted(folder.name for folder in FOLDER.iterdir() if folder.is_dir())


def test_there_are_cases():
    assert len(CASES) == 23


@pytest.mark.parametrize("name", CASES)
def test_inventory_is_the_derived_answer(name):
    case = load(name)

    inventory = inventory_of(case.cluster, case.now)

    assert list(differences(case.expected, inventory)) == []


@pytest.mark.parametrize("name", CASES)
def test_order_of_objects_makes_no_difference(name):
    case = load(name)
    cluster = case.cluster
    turned = replace(cluster, nodes=cluster.nodes[::-1], pods=(cluster.pods or ())[::-1], slices=cluster.slices[::-1])

    forth, back = inventory_of(cluster, case.now), inventory_of(turned, case.now)

    assert encode(forth).etag == encode(back).etag


@pytest.mark.parametrize("name", CASES)
def test_gateway_takes_every_node_and_device(name):
    case = load(name)
    inventory = inventory_of(case.cluster, case.now)

    taken = read(msgspec.json.encode(inventory), "provider-a")

    assert taken.nodes == inventory.nodes


@pytest.mark.parametrize("name", CASES)
def test_without_pods_what_is_free_is_unknown_and_totals_stand(name):
    case = load(name)
    known = inventory_of(case.cluster, case.now)

    unknown = inventory_of(replace(case.cluster, pods=None), case.now)

    assert [warning.code for warning in unknown.warnings] == ["pods_unreadable"]
    for before, node in zip(known.nodes, unknown.nodes, strict=True):
        assert (node.cpu.total_millicores, node.cpu.available_millicores) == (before.cpu.total_millicores, None)
        assert (node.memory.total_bytes, node.memory.available_bytes) == (before.memory.total_bytes, None)
        assert [device.memory_total_mib for device in node.devices] == [one.memory_total_mib for one in before.devices]
        if not case.cluster.slices:
            assert not any(device.slots_available for device in node.devices)
