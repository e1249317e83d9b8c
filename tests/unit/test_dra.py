"""Devices of dynamic resource allocation. Expected numbers are worked out by hand."""

import pytest
from cluster_made import codes, devices, free, inventory, node, only_device, only_node, total

GIB = 1024  # MiB


def device(name="gpu-0", uuid="GPU-0", memory="40Gi", **more):
    """A card as NVIDIA's driver publishes it; attributes by keyword."""
    attributes = {"type": "gpu", "uuid": uuid, "productName": "NVIDIA A100-SXM4-40GB", **more.pop("attributes", {})}
    return {
        "name": name,
        "attributes": {key: {"string": value} for key, value in attributes.items() if value is not None},
        "capacity": {} if memory is None else {"memory": {"value": memory}},
        **more,
    }


def mig(number, parent="GPU-0", memory="4864Mi", **more):
    """A slice of a card."""
    attributes = {"type": "mig", "parentUUID": parent, "profile": "1g.5gb", "uuid": f"MIG-{number}"}
    return device(f"gpu-0-mig-1g5gb-19-{number}", memory=memory, attributes=attributes, **more)


def resource_slice(*of_devices, name="s0", generation=1, count=1, on="n0", driver="gpu.nvidia.com", **spec):
    pool = {"name": "n0", "generation": generation, "resourceSliceCount": count}
    placed = {"nodeName": on} if on else {}
    return {
        "metadata": {"name": name},
        "spec": {"driver": driver, "pool": pool, **placed, "devices": list(of_devices), **spec},
    }


def claim(*results, driver="gpu.nvidia.com", name="c0"):
    """A claim that holds devices: names, or results in full."""
    full = [{"driver": driver, "pool": "n0", **({"device": one} if isinstance(one, str) else one)} for one in results]
    return {"metadata": {"name": name}, "status": {"allocation": {"devices": {"results": full}}}}


def found_of(*slices, claims=(), **more):
    return inventory(node(**more.pop("node", {})), slices=list(slices), claims=list(claims), **more)


def test_whole_card_is_one_device():
    found = only_device(found_of(resource_slice(device())))

    assert (found.id, found.vendor, found.model, found.resource) == (
        "GPU-0",
        "NVIDIA",
        "NVIDIA A100-SXM4-40GB",
        "gpu.nvidia.com",
    )
    assert total(found) == free(found) == (40 * GIB, 100, 1)
    assert (found.mode, found.card, found.pool, found.healthy) == (None, None, False, True)


def test_v1beta1_nests_members_under_basic():
    old = {
        "name": "gpu-0",
        "basic": {"attributes": {"uuid": {"string": "GPU-4"}}, "capacity": {"memory": {"value": "16Gi"}}},
    }

    found = only_device(found_of(resource_slice(old)))

    assert (found.id, found.memory_total_mib) == ("GPU-4", 16 * GIB)


def test_names_with_a_domain_are_the_same_attributes():
    one = {
        "name": "gpu-0",
        "attributes": {"gpu.nvidia.com/uuid": {"string": "GPU-5"}},
        "capacity": {"gpu.nvidia.com/memory": {"value": "1Gi"}},
    }

    assert total(only_device(found_of(resource_slice(one)))) == (1024, 100, 1)


def test_card_without_an_uuid_is_named_by_driver_pool_and_device():
    assert only_device(found_of(resource_slice(device(uuid=None)))).id == "gpu.nvidia.com/n0/gpu-0"


def test_card_that_says_no_memory_has_unknown_memory():
    found = only_device(found_of(resource_slice(device(memory=None))))

    assert (found.memory_total_mib, free(found)) == (None, (None, 100, 1))


def test_node_is_the_slices_node_and_not_its_name():
    found = inventory(node("n0"), node("n1"), slices=[resource_slice(device(), name="n0-x", on="n1")])

    assert [(one.name, len(one.devices)) for one in found.nodes] == [("n0", 0), ("n1", 1)]


def test_each_device_may_name_its_own_node():
    spread = resource_slice(
        device("a", "GPU-a", nodeName="n0"), device("b", "GPU-b", nodeName="n1"), on=None, perDeviceNodeSelection=True
    )

    found = inventory(node("n0"), node("n1"), slices=[spread])

    assert [[device.id for device in one.devices] for one in found.nodes] == [["GPU-a"], ["GPU-b"]]


@pytest.mark.parametrize("place", [{"allNodes": True}, {"nodeSelector": {"nodeSelectorTerms": []}}])
def test_devices_of_no_single_node_are_told_and_not_listed(place):
    found = found_of(resource_slice(device(), on=None, **place))

    assert only_node(found).devices == []
    assert codes(found) == ["dra_not_on_a_node"]


@pytest.mark.parametrize("driver", ["dra.net", "dra.cpu", "compute-domain.nvidia.com", "rdma.example.com"])
def test_devices_of_other_drivers_are_no_accelerators(driver):
    assert only_node(found_of(resource_slice(device(), driver=driver))).devices == []


@pytest.mark.parametrize(
    ("driver", "vendor"),
    [
        ("gpu.amd.com", "AMD"),
        ("gpu.intel.com", "Intel"),
        ("gaudi.intel.com", "Intel"),
        ("tpu.google.com", "Google"),
        ("neuron.aws.com", "AWS"),
        ("gpu.example.com", "unknown"),
    ],
)
def test_vendor_follows_from_the_driver(driver, vendor):
    assert only_device(found_of(resource_slice(device(), driver=driver))).vendor == vendor


# Claims


def test_claim_takes_its_device_whether_or_not_a_pod_uses_it():
    found = devices(found_of(resource_slice(device(), device("gpu-1", "GPU-1")), claims=[claim("gpu-0")]))

    assert (free(found["GPU-0"]), free(found["GPU-1"])) == ((0, 0, 0), (40 * GIB, 100, 1))


def test_access_for_administration_takes_nothing():
    watching = claim({"device": "gpu-0", "adminAccess": True})

    assert free(only_device(found_of(resource_slice(device()), claims=[watching]))) == (40 * GIB, 100, 1)


@pytest.mark.parametrize("status", [None, {}, {"allocation": None}, {"allocation": {"devices": {"results": None}}}])
def test_claim_that_is_not_allocated_takes_nothing(status):
    waiting = {"metadata": {"name": "c"}, "status": status}

    assert free(only_device(found_of(resource_slice(device()), claims=[waiting]))) == (40 * GIB, 100, 1)


def test_claim_on_another_pool_or_driver_takes_nothing_here():
    elsewhere = [claim({"device": "gpu-0", "pool": "n9"}), claim("gpu-0", driver="gpu.amd.com", name="c1")]

    assert free(only_device(found_of(resource_slice(device()), claims=elsewhere))) == (40 * GIB, 100, 1)


def test_without_claims_what_is_free_is_unknown():
    found = only_device(found_of(resource_slice(device()), unknown=("claims",)))

    assert (total(found), free(found)) == ((40 * GIB, 100, 1), (None, None, None))


def hami_shared():
    one = {"attributes": {"type": "hami-gpu"}, "allowMultipleAllocations": True}
    amounts = {"cores": {"value": "100"}, "memory": {"value": "40Gi"}}
    return resource_slice(device("hami-gpu-0", **one) | {"capacity": amounts}, driver="hami-core-gpu.project-hami.io")


def test_shared_device_gives_up_what_claims_consume():
    shares = [
        claim(
            {"device": "hami-gpu-0", "consumedCapacity": {"cores": "30", "memory": "8Gi"}},
            driver="hami-core-gpu.project-hami.io",
        ),
        claim(
            {"device": "hami-gpu-0", "consumedCapacity": {"cores": "20", "memory": "1Gi"}},
            driver="hami-core-gpu.project-hami.io",
            name="c1",
        ),
    ]

    found = only_device(found_of(hami_shared(), claims=shares))

    assert total(found) == (40 * GIB, 100, 100)
    assert free(found) == (31 * GIB, 50, 98)


def test_share_that_does_not_say_how_much_takes_all():
    share = claim({"device": "hami-gpu-0"}, driver="hami-core-gpu.project-hami.io")

    assert free(only_device(found_of(hami_shared(), claims=[share])))[:2] == (0, 0)


# Standing MIG slices


def test_slices_are_listed_and_their_card_is_not():
    found = devices(found_of(resource_slice(device(), mig(0), mig(1), device("gpu-1", "GPU-1"))))

    assert sorted(found) == ["GPU-1", "MIG-0", "MIG-1"]
    assert (found["MIG-0"].card, found["MIG-0"].mode, total(found["MIG-0"])) == ("GPU-0", "mig", (4864, None, 1))


def test_claim_on_a_slice_leaves_the_others():
    found = devices(found_of(resource_slice(device(), mig(0), mig(1)), claims=[claim("gpu-0-mig-1g5gb-19-0")]))

    assert (free(found["MIG-0"]), free(found["MIG-1"])) == ((0, None, 0), (4864, None, 1))


def test_claim_on_the_whole_card_takes_its_slices():
    found = devices(found_of(resource_slice(device(), mig(0), mig(1)), claims=[claim("gpu-0")]))

    assert [one.slots_available for one in found.values()] == [0, 0]


def test_card_for_virtual_machines_is_the_same_card():
    bus = {"pciBusID": "0000:01:00.0"}
    both = resource_slice(device(attributes=bus), device("gpu-vfio-0", None, attributes={"type": "vfio", **bus}))

    assert list(devices(found_of(both))) == ["GPU-0"]
    assert free(only_device(found_of(both, claims=[claim("gpu-vfio-0")]))) == (0, 0, 0)


# Cards that are cut on demand


def takes(memory, processors, *places):
    counters = {"memory": {"value": memory}, "multiprocessors": {"value": str(processors)}}
    counters |= {f"memory-slice-{place}": {"value": "1"} for place in places}
    return [{"counterSet": "gpu-0-counter-set", "counters": counters}]


def cut_on_demand(count=1, **more):
    """A card of eight memory slices, and three of the cuts that it could get."""
    whole = takes("40Gi", 98, *range(8))
    offered = [
        device(consumesCounters=whole),
        device("half-0", None, "20Gi", attributes={"type": "mig"}, consumesCounters=takes("20Gi", 42, 0, 1, 2, 3)),
        device("half-1", None, "20Gi", attributes={"type": "mig"}, consumesCounters=takes("20Gi", 42, 4, 5, 6, 7)),
        device("small-0", None, "5Gi", attributes={"type": "mig"}, consumesCounters=takes("5Gi", 14, 0)),
    ]
    shared = [{"name": "gpu-0-counter-set", "counters": whole[0]["counters"]}]
    return resource_slice(*offered, sharedCounters=shared, count=count, **more)


def test_card_that_may_be_cut_is_one_device_and_cuts_are_never_added_up():
    found = only_device(found_of(cut_on_demand()))

    assert (found.id, found.mode, total(found), free(found)) == ("GPU-0", None, (40 * GIB, 100, 1), (40 * GIB, 100, 1))
    assert found.largest_free_mib == 40 * GIB


def test_what_is_left_of_a_cut_card_follows_from_its_counters():
    found = only_device(found_of(cut_on_demand(), claims=[claim("small-0")]))

    # 40 - 5 GiB; 84 of 98 processors are 85 %; the half at places 0 to 3 is gone, the other one fits.
    assert (free(found), found.largest_free_mib, found.mode) == ((35 * GIB, 85, 1), 20 * GIB, "mig")


def test_card_of_two_halves_that_are_held_has_nothing():
    found = only_device(found_of(cut_on_demand(), claims=[claim("half-0", "half-1")]))

    assert (free(found), found.largest_free_mib) == ((0, 0, 0), 0)


def test_card_that_is_held_whole_has_no_cuts():
    found = only_device(found_of(cut_on_demand(), claims=[claim("gpu-0")]))

    assert (free(found), found.mode) == ((0, 0, 0), None)


def test_counters_may_stand_in_a_slice_of_their_own():
    whole = cut_on_demand(count=2)
    shared = whole["spec"].pop("sharedCounters")
    counters = resource_slice(name="s1", count=2, sharedCounters=shared)

    found = only_device(found_of(whole, counters, claims=[claim("small-0")]))

    assert free(found) == (35 * GIB, 85, 1)


def test_slices_that_all_find_room_at_once_stand_and_are_a_device_each():
    slices = [mig(number, memory="5Gi", consumesCounters=takes("5Gi", 14, number)) for number in (0, 1)]
    shared = [{"name": "gpu-0-counter-set", "counters": takes("40Gi", 98, *range(8))[0]["counters"]}]

    found = devices(found_of(resource_slice(*slices, sharedCounters=shared), claims=[claim("gpu-0-mig-1g5gb-19-1")]))

    assert {name: (one.card, free(one)) for name, one in found.items()} == {
        "MIG-0": ("GPU-0", (5 * GIB, None, 1)),
        "MIG-1": ("GPU-0", (0, None, 0)),
    }


# Pools


def test_only_the_newest_generation_of_a_pool_counts():
    old, new = (
        resource_slice(device("a", "GPU-a"), generation=1),
        resource_slice(device("b", "GPU-b"), name="s1", generation=2),
    )

    assert list(devices(found_of(old, new))) == list(devices(found_of(new, old))) == ["GPU-b"]


def test_pool_that_lacks_slices_gives_nothing_and_is_told():
    found = found_of(resource_slice(device(), count=2))

    assert (total(only_device(found)), free(only_device(found))) == ((40 * GIB, 100, 1), (0, 0, 0))
    assert codes(found) == ["incomplete_pool"]


def test_pool_of_several_slices_is_put_together():
    found = devices(
        found_of(resource_slice(device(), count=2), resource_slice(device("gpu-1", "GPU-1"), name="s1", count=2))
    )

    assert {free(one) for one in found.values()} == {(40 * GIB, 100, 1)}


def test_device_that_stands_twice_in_a_pool_is_told():
    found = found_of(resource_slice(device(), device(uuid="GPU-other")))

    assert list(devices(found)) == ["GPU-0"]
    assert codes(found) == ["duplicate_device"]


# Taints


@pytest.mark.parametrize(
    ("taint", "healthy", "slots"),
    [
        ({"key": "gpu.nvidia.com/xid", "effect": "NoSchedule"}, False, 0),
        ({"key": "gpu.nvidia.com/gpu-lost", "effect": "NoExecute"}, False, 0),
        ({"key": "example.com/reserved", "effect": "NoSchedule"}, True, 0),
        ({"key": "gpu.nvidia.com/unmonitored", "effect": "None"}, True, 1),
    ],
)
def test_tainted_device_gives_nothing(taint, healthy, slots):
    found = only_device(found_of(resource_slice(device(taints=[taint]))))

    assert (found.healthy, found.slots_available) == (healthy, slots)
