"""The same card never twice, whichever ways advertise it."""

import pytest
from cluster_made import card, codes, devices, hami_node, hami_pod, inventory, node, only_node

SLICE = {
    "metadata": {"name": "s0"},
    "spec": {
        "driver": "gpu.nvidia.com",
        "nodeName": "n0",
        "pool": {"name": "n0", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": "gpu-0", "attributes": {"uuid": {"string": "GPU-dra"}}}],
    },
}


def test_hamis_count_resource_is_no_further_cards():
    assert list(devices(inventory(hami_node([card("GPU-a")], 10)))) == ["GPU-a"]


def test_register_goes_before_dra_and_that_is_told():
    found = inventory(hami_node([card("GPU-a")], 10), slices=[SLICE])

    assert list(devices(found)) == ["GPU-a"]
    assert codes(found) == ["advertised_twice"]


def test_dra_goes_before_extended_resources():
    found = inventory(node(allocatable={"nvidia.com/gpu": "1"}), slices=[SLICE])

    assert list(devices(found)) == ["GPU-dra"]
    assert codes(found) == ["advertised_twice"]


def test_dead_register_goes_after_everything_that_lives():
    found = inventory(hami_node([card("GPU-a")], 0), slices=[SLICE])

    assert list(devices(found)) == ["GPU-dra"]
    assert codes(found) == ["advertised_twice", "stale_register"]


def test_dead_register_beside_shares_of_another_plugin():
    found = inventory(hami_node([card("GPU-a")], 0, allocatable={"nvidia.com/gpu.shared": "8"}))

    assert list(devices(found)) == ["nvidia.com/gpu.shared"]


def test_register_that_can_not_be_read_does_not_make_its_slots_cards():
    found = inventory(hami_node("nonsense", 80))

    assert only_node(found).devices == []


def test_slots_without_a_registered_card_are_told_and_not_taken_for_cards():
    found = inventory(hami_node([], 80))

    assert only_node(found).devices == []
    assert codes(found) == ["empty_register"]


def test_mig_slices_beside_the_register_are_of_other_cards_unless_all_are_registered():
    allocatable = {"nvidia.com/mig-1g.5gb": "7"}

    def listed(cards, **labels):
        one = hami_node(cards, 10, allocatable=allocatable, labels=labels)
        return len(only_node(inventory(one)).devices)

    assert listed([card("GPU-a")]) == 8
    assert listed([card("GPU-a")], **{"nvidia.com/gpu.count": "2"}) == 8
    assert listed([card("GPU-a")], **{"nvidia.com/gpu.count": "1"}) == 1
    assert listed([card("GPU-a", mode="mig")]) == 1


def test_two_registers_of_one_card_list_it_once():
    volcano = {"volcano.sh/node-vgpu-register": "GPU-a,10,40960,NVIDIA-A100,true,hami-core:"}

    found = inventory(hami_node([card("GPU-a")], 10, annotations=volcano, allocatable={"volcano.sh/vgpu-number": "10"}))

    assert list(devices(found)) == ["GPU-a"]
    assert codes(found) == ["duplicate_device"]


def test_vendors_stand_beside_one_another():
    found = inventory(hami_node([card("GPU-a")], 10, allocatable={"amd.com/gpu": "1", "kunlunxin.com/xpu": "1"}))

    assert {one.vendor for one in only_node(found).devices} == {"NVIDIA", "AMD", "Kunlunxin"}


def test_foreign_plugins_resources_are_no_cards():
    found = inventory(
        hami_node([card("GPU-a")], 10, allocatable={"aliyun.com/gpu-count": "7", "aliyun.com/gpu-mem": "0"})
    )

    assert list(devices(found)) == ["GPU-a"]


def test_id_that_two_vendors_give_stands_once_on_a_node():
    dcu = {"hami.io/node-dcu-register": "X,4,65520,100,DCU-K100,0,true,0,mdcu:"}

    found = inventory(hami_node([card("X")], 10, annotations=dcu, allocatable={"hygon.com/dcunum": "4"}))

    assert len(only_node(found).devices) == 1
    assert codes(found) == ["duplicate_device"]


@pytest.mark.parametrize(
    ("nodes", "pods", "source"),
    [
        ([node(allocatable={"nvidia.com/gpu": "1"})], [], "kubernetes"),
        ([hami_node([card()], 10)], [], "hami"),
        ([node(), hami_node([card()], 10, name="n1")], [], "hami"),
        ([node(allocatable={"metax-tech.com/gpu": "1"})], [], "kubernetes"),
        ([node(allocatable={"metax-tech.com/gpu": "1"})], [hami_pod("n0-metax-0,X,1,1:;")], "hami"),
        ([node(annotations={"hami.io/node-handshake": "Requesting_2026-07-01 11:59:50"})], [], "kubernetes"),
    ],
)
def test_source_is_hami_where_hami_keeps_books(nodes, pods, source):
    assert inventory(*nodes, pods=pods).source == source
