"""Devices by extended resources and labels, without HAMi. Numbers are worked out by hand."""

import pytest
from cluster_made import codes, devices, free, inventory, node, only_device, only_node, pod, total


def found_on(allocatable, *pods, **more):
    return inventory(node(allocatable=allocatable, **more), pods=list(pods))


def gfd(**labels):
    """Labels of GPU Feature Discovery; an underscore stands for a dash."""
    return {f"nvidia.com/gpu.{name.replace('_', '-')}": value for name, value in labels.items()}


def test_whole_gpus_are_one_device_each_with_names_and_sizes_of_labels():
    labels = gfd(product="NVIDIA-L40S", memory="46068", count="4", replicas="1", sharing_strategy="none")

    found = found_on({"nvidia.com/gpu": "4"}, pod(limits={"nvidia.com/gpu": "1"}), labels=labels)

    listed = only_node(found).devices
    assert [one.id for one in listed] == [f"nvidia.com/gpu-{number}" for number in range(4)]
    assert {(one.model, one.vendor, total(one), one.mode, one.pool) for one in listed} == {
        ("NVIDIA L40S", "NVIDIA", (46068, 100, 1), None, False)
    }
    assert sorted(free(one) for one in listed) == [(0, 0, 0), *[(46068, 100, 1)] * 3]
    assert found.source == "kubernetes"


def test_without_labels_the_memory_is_unknown():
    found = only_device(found_on({"nvidia.com/gpu": "1"}))

    assert (total(found), free(found), found.vendor) == ((None, 100, 1), (None, 100, 1), "NVIDIA")


def test_lost_cards_are_told_and_not_listed_and_nothing_is_below_zero():
    busy = [pod(f"p{number}", limits={"nvidia.com/gpu": "1"}) for number in range(8)]

    found = found_on({"nvidia.com/gpu": "7"}, *busy, capacity={"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": "8"})

    assert [one.slots_available for one in only_node(found).devices] == [0] * 7
    assert codes(found) == ["unhealthy_devices"]


@pytest.mark.parametrize(
    ("labels", "mode"),
    [
        (
            gfd(product="NVIDIA-A10-SHARED", memory="23028", count="2", replicas="8", sharing_strategy="time-slicing"),
            "time-slicing",
        ),
        (gfd(product="NVIDIA-A10-SHARED", memory="23028", count="2"), "time-slicing"),
        (gfd(product="NVIDIA-A10", memory="23028", count="2", replicas="8", sharing_strategy="mps"), "mps"),
        (gfd(product="NVIDIA-A10", memory="23028", count="2", replicas="1"), None),
    ],
)
def test_shares_that_nobody_tells_apart_are_one_pool(labels, mode):
    found = only_device(found_on({"nvidia.com/gpu": "16"}, pod(limits={"nvidia.com/gpu": "3"}), labels=labels))

    assert (found.pool, found.mode, found.model) == (True, mode, "NVIDIA A10")
    assert (total(found), free(found)) == ((23028, 100, 16), (None, None, 13))


def test_renamed_shares_are_a_pool_and_the_plain_resource_is_none():
    labels = gfd(product="NVIDIA-A10G", memory="23028", count="1", replicas="1")

    found = only_device(found_on({"nvidia.com/gpu": "0", "nvidia.com/gpu.shared": "50"}, labels=labels))

    assert (found.resource, found.pool, found.mode, found.slots_total) == (
        "nvidia.com/gpu.shared",
        True,
        "time-slicing",
        50,
    )


def test_mig_of_the_single_strategy_is_a_slice_each():
    labels = gfd(product="NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", memory="4864", count="7")

    found = only_node(found_on({"nvidia.com/gpu": "7"}, pod(limits={"nvidia.com/gpu": "2"}), labels=labels)).devices

    assert {(one.mode, one.model, total(one), one.card) for one in found} == {
        ("mig", "NVIDIA A100-SXM4-40GB", (4864, None, 1), None)
    }
    assert sorted(free(one) for one in found)[:3] == [(0, None, 0), (0, None, 0), (4864, None, 1)]


def test_mig_of_the_mixed_strategy_is_a_slice_each_beside_whole_cards():
    labels = gfd(product="NVIDIA-A100-SXM4-40GB", memory="40960", count="8") | {
        "nvidia.com/mig-1g.5gb.memory": "4864",
        "nvidia.com/mig-1g.5gb.product": "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb",
        "nvidia.com/mig-3g.20gb.memory": "19968",
    }
    allocatable = {"nvidia.com/gpu": "4", "nvidia.com/mig-1g.5gb": "7", "nvidia.com/mig-3g.20gb": "2"}

    found = only_node(found_on(allocatable, labels=labels)).devices

    counted = {}
    for one in found:
        key = (one.resource, one.mode, one.model, total(one))
        counted[key] = counted.get(key, 0) + 1
    assert counted == {
        ("nvidia.com/gpu", None, "NVIDIA A100-SXM4-40GB", (40960, 100, 1)): 4,
        ("nvidia.com/mig-1g.5gb", "mig", "NVIDIA A100-SXM4-40GB", (4864, None, 1)): 7,
        ("nvidia.com/mig-3g.20gb", "mig", "NVIDIA A100-SXM4-40GB", (19968, None, 1)): 2,
    }


def test_shared_mig_slices_are_a_pool():
    found = only_device(found_on({"nvidia.com/mig-1g.5gb.shared": "14"}))

    assert (found.pool, found.mode, found.slots_total) == (True, "mig", 14)


@pytest.mark.parametrize(
    ("allocatable", "vendor", "count"),
    [
        ({"amd.com/gpu": "8"}, "AMD", 8),
        ({"amd.com/cpx_nps4": "8"}, "AMD", 8),
        ({"gpu.intel.com/i915": "2"}, "Intel", 2),
        ({"gpu.intel.com/xe": "2", "gpu.intel.com/monitoring": "1", "gpu.intel.com/xe_monitoring": "1"}, "Intel", 2),
        ({"habana.ai/gaudi": "8"}, "Intel", 8),
        ({"google.com/tpu": "4"}, "Google", 4),
        ({"aws.amazon.com/neurondevice": "2"}, "AWS", 2),
        ({"huawei.com/Ascend910": "8"}, "Huawei", 8),
        ({"huawei.com/Ascend910B4-1": "8", "huawei.com/Ascend910B4-1-memory": "65536"}, "Huawei", 8),
        ({"huawei.com/Ascend310P-2c": "4"}, "Huawei", 4),
        ({"hygon.com/dcu": "8"}, "Hygon", 8),
        ({"cambricon.com/mlu370": "8"}, "Cambricon", 8),
        ({"iluvatar.ai/gpu": "2"}, "Iluvatar", 2),
        ({"mthreads.com/gpu": "2"}, "MThreads", 2),
        ({"birentech.com/gpu": "2"}, "Biren", 2),
        ({"vastaitech.com/va": "2"}, "Vastai", 2),
    ],
)
def test_every_vendors_whole_devices(allocatable, vendor, count):
    found = only_node(found_on(allocatable)).devices

    assert [one.vendor for one in found] == [vendor] * count
    assert {(one.slots_total, one.slots_available) for one in found} == {(1, 1)}


@pytest.mark.parametrize(
    "resource",
    [
        "gpu.intel.com/memory.max",
        "gpu.intel.com/millicores",
        "gpu.intel.com/tiles",
        "gpu.intel.com/i915_monitoring",
        "nvidia.com/gpumem",
        "nvidia.com/gpumem-percentage",
        "nvidia.com/gpucores",
        "aliyun.com/gpu-mem",
        "hugepages-1Gi",
        "ephemeral-storage",
        "smarter-devices/fuse",
    ],
)
def test_what_is_no_device_is_not_listed(resource):
    assert only_node(found_on({resource: "7"})).devices == []


def test_intel_gpus_that_are_advertised_several_times_are_a_pool():
    labels = {"gpu.intel.com/device.count": "2", "gpu.intel.com/product": "Flex_170"}

    found = only_device(found_on({"gpu.intel.com/i915": "20"}, labels=labels))

    assert (found.pool, found.model, found.slots_total) == (True, "Flex 170", 20)


def test_amd_labels_say_model_and_memory():
    labels = {"amd.com/gpu.vram": "192G", "amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM"}

    found = devices(found_on({"amd.com/gpu": "2"}, labels=labels))["amd.com/gpu-0"]

    assert (found.model, found.memory_total_mib) == ("AMD Instinct MI300X OAM", 196608)


def test_older_amd_labels_are_read_as_well():
    assert (
        only_device(found_on({"amd.com/gpu": "1"}, labels={"beta.amd.com/gpu.vram": "64G"})).memory_total_mib == 65536
    )


@pytest.mark.parametrize("memory", ["", "many", "-1", "46068Mi", "0"])
def test_label_that_is_no_number_says_nothing(memory):
    assert only_device(found_on({"nvidia.com/gpu": "1"}, labels=gfd(memory=memory))).memory_total_mib is None


def test_without_pods_what_is_free_is_unknown():
    found = only_device(inventory(node(allocatable={"nvidia.com/gpu": "1"}), unknown=("pods",)))

    assert (found.slots_total, free(found)) == (1, (None, None, None))


def test_labels_without_the_resource_make_no_device():
    assert only_node(found_on({}, labels=gfd(count="8", product="NVIDIA-L4"))).devices == []
