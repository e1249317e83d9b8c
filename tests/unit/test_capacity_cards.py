"""Cards that HAMi knows by extended resources alone, and how pods are charged on them. Numbers are worked out by hand."""

import pytest
from cluster_made import codes, devices, free, hami_pod, inventory, node, only_node, pod, total


def found_on(allocatable, *pods, **more):
    return inventory(node(allocatable=allocatable, **more), pods=list(pods))


CAMBRICON = {
    "cambricon.com/vmlu": "400",
    "cambricon.com/mlu.smlu.vcore": "400",
    "cambricon.com/mlu.smlu.vmemory": "384",
}
MTHREADS = {"mthreads.com/vgpu": "2", "mthreads.com/sgpu-core": "32", "mthreads.com/sgpu-memory": "192"}
NEURON = {"aws.amazon.com/neuron": "2", "aws.amazon.com/neuroncore": "4", "aws.amazon.com/neurondevice": "2"}


def test_cambricon_has_a_card_per_hundred_cores_and_units_of_256_mib():
    found = devices(found_on(CAMBRICON))

    # 384 units * 256 MiB / 4 cards = 24576 MiB.
    assert sorted(found) == [f"n0-cambricon-mlu-{number}" for number in range(4)]
    assert {(one.vendor, total(one), free(one)) for one in found.values()} == {
        ("Cambricon", (24576, 100, 100), (24576, 100, 100))
    }


def test_cambricon_allocation_is_in_mib_already():
    held = hami_pod("n0-cambricon-mlu-1,MLU,12800,50:;", key="hami.io/cambricon-mlu-devices-allocated")

    found = devices(found_on(CAMBRICON, held))

    assert free(found["n0-cambricon-mlu-1"]) == (11776, 50, 99)
    assert free(found["n0-cambricon-mlu-0"]) == (24576, 100, 100)


def test_cambricon_request_without_an_allocation_is_in_units():
    one = {"cambricon.com/vmlu": "100", "cambricon.com/mlu.smlu.vcore": "100", "cambricon.com/mlu.smlu.vmemory": "96"}
    limits = {"cambricon.com/vmlu": "1", "cambricon.com/mlu.smlu.vcore": "25", "cambricon.com/mlu.smlu.vmemory": "10"}

    found = devices(found_on(one, pod(limits=limits)))

    assert free(found["n0-cambricon-mlu-0"]) == (24576 - 2560, 75, 99)


def test_mthreads_has_a_card_per_sixteen_cores_and_units_of_512_mib():
    held = hami_pod("n0-mthreads-0,Mthreads,8192,4:;", key="hami.io/mthreads-vgpu-devices-allocated")

    found = devices(found_on(MTHREADS, held))

    # 192 units * 512 MiB / 2 cards = 49152 MiB; 4 of 16 cores are 25 %.
    assert sorted(found) == ["n0-mthreads-0", "n0-mthreads-1"]
    assert (total(found["n0-mthreads-0"]), free(found["n0-mthreads-0"])) == ((49152, 100, 100), (40960, 75, 99))


def test_neuron_has_a_slot_per_core_and_no_memory_that_anybody_tells():
    found = devices(found_on(NEURON))

    assert sorted(found) == ["n0-AWSNeuron-0", "n0-AWSNeuron-1"]
    assert {(total(one), free(one)) for one in found.values()} == {((None, 100, 2), (None, 100, 2))}


@pytest.mark.parametrize(("mask", "percent", "slots"), [(1, 50, 1), (2, 50, 1), (3, 0, 0)])
def test_neuron_cores_are_bits(mask, percent, slots):
    held = hami_pod(f"n0-AWSNeuron-0,AWSNeuron,0,{mask}:;", key="hami.io/aws-neuron-devices-allocated")

    assert free(devices(found_on(NEURON, held))["n0-AWSNeuron-0"]) == (None, percent, slots)


def test_both_neuron_cores_may_be_held_by_two_pods():
    held = [
        hami_pod(f"n0-AWSNeuron-0,AWSNeuron,0,{mask}:;", key="hami.io/aws-neuron-devices-allocated", name=f"p{mask}")
        for mask in (1, 2)
    ]

    assert free(devices(found_on(NEURON, *held))["n0-AWSNeuron-0"]) == (None, 0, 0)


@pytest.mark.parametrize(
    ("limits", "left"),
    [
        ({"aws.amazon.com/neuroncore": "1"}, [2, 1]),
        ({"aws.amazon.com/neuroncore": "3"}, [1, 0]),
        ({"aws.amazon.com/neuron": "1"}, [2, 0]),
        ({"aws.amazon.com/neuron": "9"}, [0, 0]),
    ],
)
def test_neuron_cores_of_pods_that_hami_never_saw_are_taken_whichever_they_are(limits, left):
    found = found_on(NEURON, pod(limits=limits))

    assert [one.slots_available for one in only_node(found).devices] == left


def test_part_of_a_cambricon_card_may_be_asked_for_without_counting_cards():
    one = {"cambricon.com/mlu.smlu.vcore": "100", "cambricon.com/mlu.smlu.vmemory": "96"}
    limits = {"cambricon.com/mlu.smlu.vcore": "25", "cambricon.com/mlu.smlu.vmemory": "10"}

    assert free(devices(found_on(one, pod(limits=limits)))["n0-cambricon-mlu-0"]) == (24576 - 2560, 75, 99)


@pytest.mark.parametrize(
    ("resource", "name", "memory", "key"),
    [
        ("metax-tech.com/gpu", "metax", 65536, "hami.io/metax-gpu-devices-allocated"),
        ("kunlunxin.com/xpu", "kunlun", 98304, "hami.io/kunlun-allocated"),
        ("enflame.com/gcu", "GCU", None, "hami.io/enflame-gcu-devices-allocated"),
    ],
)
def test_whole_cards(resource, name, memory, key):
    held = hami_pod(f"n0-{name}-1,X,{memory or 100},100:;", key=key, limits={resource: "1"})

    found = devices(found_on({resource: "4"}, held))

    assert sorted(found) == [f"n0-{name}-{number}" for number in range(4)]
    assert total(found[f"n0-{name}-0"]) == free(found[f"n0-{name}-0"]) == (memory, 100, 1)
    assert free(found[f"n0-{name}-1"]) == (None if memory is None else 0, 0, 0)


def test_second_half_of_kunlun_cards_is_on_the_second_numa_node():
    assert [one.numa for one in only_node(found_on({"kunlunxin.com/xpu": "4"})).devices] == [0, 0, 1, 1]


def test_whole_cards_of_pods_that_hami_never_saw_are_taken_whichever_they_are():
    found = found_on({"metax-tech.com/gpu": "4"}, pod("a", limits={"metax-tech.com/gpu": "2"}), pod("b"))

    assert sorted(one.slots_available for one in only_node(found).devices) == [0, 0, 1, 1]
    assert codes(found) == []


def test_whole_cards_of_seen_and_unseen_pods_do_not_fall_on_one_another():
    seen = hami_pod(
        "n0-metax-3,X,65536,100:;", key="hami.io/metax-gpu-devices-allocated", limits={"metax-tech.com/gpu": "1"}
    )
    unseen = pod("u", limits={"metax-tech.com/gpu": "1"})

    found = found_on({"metax-tech.com/gpu": "4"}, seen, unseen)

    assert sum(one.slots_available for one in only_node(found).devices) == 2


def test_left_over_annotation_of_shared_gpus_counts_for_nothing_beside_whole_ones():
    register = '[{"uuid":"M","model":"MXC500","totalDevCount":16,"totalCompute":100,"totalVRam":65536,"healthy":true}]'
    annotations = {"metax-tech.com/node-gpu-devices": register}

    found = found_on({"metax-tech.com/gpu": "2", "metax-tech.com/sgpu": "0"}, annotations=annotations)

    assert sorted(devices(found)) == ["n0-metax-0", "n0-metax-1"]


def test_shared_gpus_that_live_are_not_listed_as_whole_ones_too():
    register = '[{"uuid":"M","model":"MXC500","totalDevCount":16,"totalCompute":100,"totalVRam":65536,"healthy":true}]'
    annotations = {"metax-tech.com/node-gpu-devices": register}

    found = found_on({"metax-tech.com/gpu": "1", "metax-tech.com/sgpu": "16"}, annotations=annotations)

    assert list(devices(found)) == ["M"]
    assert codes(found) == ["advertised_twice"]


def test_impossible_number_of_cards_is_bounded_and_told():
    found = found_on({"metax-tech.com/gpu": "999999999999"})

    assert len(only_node(found).devices) == 1024
    assert codes(found) == ["too_many_devices"]


@pytest.mark.parametrize("count", ["0", "-4", "many"])
def test_no_cards_where_none_are_allocatable(count):
    assert only_node(found_on({"metax-tech.com/gpu": count})).devices == []
