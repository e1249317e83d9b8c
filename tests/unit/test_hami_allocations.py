"""What pods hold by HAMi's annotations, and what of them is believed. Expected numbers are worked out by hand."""

import json

import pytest
from cluster_made import (
    ALLOCATED,
    card,
    codes,
    container,
    devices,
    free,
    hami_node,
    hami_pod,
    inventory,
    node,
    only_device,
    only_node,
    pod,
)

TWO = [card("GPU-a"), card("GPU-b", index=1)]  # 40960 MiB, 100 %, 10 slots each


def left(*pods, cards=TWO, **node_more):
    """Free memory, compute and slots of each card."""
    found = inventory(hami_node(cards, 20, **node_more), pods=list(pods))
    return {name: free(device) for name, device in devices(found).items()}


def told(*pods, cards=TWO):
    return codes(inventory(hami_node(cards, 20), pods=list(pods)))


FREE = (40960, 100, 10)


@pytest.mark.parametrize(
    ("text", "a", "b"),
    [
        ("GPU-a,NVIDIA,3000,0:;", (37960, 100, 9), FREE),
        ("GPU-a,NVIDIA,8192,30:GPU-b,NVIDIA,8192,30:;", (32768, 70, 9), (32768, 70, 9)),
        (";;GPU-b,NVIDIA,16384,50:;", FREE, (24576, 50, 9)),
        ("GPU-a,NVIDIA,2048,10:;GPU-a,NVIDIA,4096,20:;", (34816, 70, 8), FREE),
        (",,0,0:;GPU-a,NVIDIA,2048,0:;", (38912, 100, 9), FREE),
        ("GPU-a,NVIDIA,40960,100:;", (0, 0, 9), FREE),
        ("GPU-a,NVIDIA,3000,0:", (37960, 100, 9), FREE),
        ("GPU-a,NVIDIA,3000,0", (37960, 100, 9), FREE),
        ("GPU-a,NVIDIA,3000,0,more,fields:;", (37960, 100, 9), FREE),
        ("GPU-a,anything at all,3000,0:;", (37960, 100, 9), FREE),
        ("", FREE, FREE),
        (";", FREE, FREE),
    ],
)
def test_encoding_of_an_allocation(text, a, b):
    apps = [container(f"c{number}") for number in range(3)]

    found = left(hami_pod(text, containers=apps))

    assert (found["GPU-a"], found["GPU-b"]) == (a, b)


@pytest.mark.parametrize(
    ("phase", "counts"),
    [("Running", True), ("Pending", True), ("Unknown", True), ("Succeeded", False), ("Failed", False)],
)
def test_pods_count_until_they_are_finished(phase, counts):
    assert (left(hami_pod("GPU-a,NVIDIA,40960,100:;", phase=phase))["GPU-a"] != FREE) is counts


def test_pod_that_is_placed_but_not_bound_counts_and_one_that_terminates_too():
    pending = hami_pod("GPU-a,NVIDIA,1000,0:;", on=None, phase="Pending")
    terminating = hami_pod("GPU-b,NVIDIA,2000,0:;")
    terminating["metadata"]["deletionTimestamp"] = "2026-07-01T11:00:00Z"

    assert left(pending, terminating) == {"GPU-a": (39960, 100, 9), "GPU-b": (38960, 100, 9)}


def test_work_list_of_the_plugin_is_never_added():
    work = {"hami.io/vgpu-devices-to-allocate": "GPU-a,NVIDIA,3000,0:;"}

    assert left(hami_pod("GPU-a,NVIDIA,3000,0:;", annotations=work))["GPU-a"] == (37960, 100, 9)
    assert left(pod(annotations={"hami.io/vgpu-node": "n0", **work}))["GPU-a"] == FREE


def test_pod_that_hami_placed_nowhere_is_not_in_its_books():
    assert left(pod(annotations={ALLOCATED: "GPU-a,NVIDIA,3000,0:;"}))["GPU-a"] == FREE


# Init containers


SERVER = [container("server")]
INIT = [container("convert")]
ENDED = {"initContainerStatuses": [{"name": "convert", "state": {"terminated": {"exitCode": 0}}}]}
FAILED = {"initContainerStatuses": [{"name": "convert", "state": {"terminated": {"exitCode": 1}}}]}
BOTH = "GPU-a,NVIDIA,20480,60:;GPU-a,NVIDIA,10240,30:;"


def test_init_container_is_the_peak_while_it_runs_and_nothing_after():
    def held(**status):
        return left(hami_pod(BOTH, containers=SERVER, initContainers=INIT, **status))["GPU-a"]

    assert held() == (20480, 40, 9)
    assert held(status=FAILED) == (20480, 40, 9)
    assert held(status=ENDED) == (30720, 70, 9)


def test_version_that_leaves_init_containers_out_lists_app_containers_alone():
    one = hami_pod("GPU-a,NVIDIA,10240,30:;", containers=SERVER, initContainers=INIT, status=ENDED)

    assert left(one)["GPU-a"] == (30720, 70, 9)


def test_peak_of_several_init_containers_is_the_largest_of_each_amount():
    text = "GPU-a,NVIDIA,9000,10:;GPU-a,NVIDIA,1000,50:;GPU-a,NVIDIA,500,5:;"

    one = hami_pod(text, containers=SERVER, initContainers=[container("i"), container("j")])

    assert left(one)["GPU-a"] == (40960 - 9000, 50, 9)


def test_sidecar_holds_its_part_beside_the_app_and_for_good():
    sidecar = container("proxy", restartPolicy="Always")
    text = "GPU-a,NVIDIA,1000,10:;GPU-a,NVIDIA,2000,20:;"

    assert left(hami_pod(text, containers=SERVER, initContainers=[sidecar]))["GPU-a"] == (37960, 70, 8)


def test_init_container_after_a_sidecar_peaks_beside_it():
    containers = [container("proxy", restartPolicy="Always"), container("convert")]
    text = "GPU-a,NVIDIA,1000,10:;GPU-a,NVIDIA,9000,20:;GPU-a,NVIDIA,2000,20:;"

    # While "convert" runs: 1000 + 9000 MiB, 10 + 20 %, two slots. After: 1000 + 2000 MiB.
    assert left(hami_pod(text, containers=SERVER, initContainers=containers))["GPU-a"] == (30960, 70, 8)
    assert left(hami_pod(text, containers=SERVER, initContainers=containers, status=ENDED))["GPU-a"] == (37960, 70, 8)


def test_init_container_takes_one_slot_of_a_card_however_often_it_names_it():
    text = "GPU-a,NVIDIA,100,0:GPU-a,NVIDIA,100,0:;;"

    assert left(hami_pod(text, containers=SERVER, initContainers=INIT))["GPU-a"] == (40760, 100, 9)


# Nothing is believed


@pytest.mark.parametrize(
    "bad",
    [
        "GPU-a,NVIDIA:;",
        "GPU-a,NVIDIA,3000:;",
        "GPU-a,NVIDIA,-3000,0:;",
        "GPU-a,NVIDIA,3000,-50:;",
        "GPU-a,NVIDIA,many,0:;",
        "GPU-a,NVIDIA,3000,:;",
        "GPU-a,NVIDIA,18446744073709551615,0:;",
        "GPU-a,NVIDIA,4294967296,0:;",
        "GPU-a:;",
    ],
)
def test_record_that_can_not_be_read_is_told_and_the_rest_counts(bad):
    good = hami_pod("GPU-b,NVIDIA,1000,0:;", name="good")

    assert left(hami_pod(bad, name="bad"), good) == {"GPU-a": FREE, "GPU-b": (39960, 100, 9)}
    assert "bad_allocation" in told(hami_pod(bad, name="bad"), good)


def test_forged_allocation_takes_all_of_a_card_at_most():
    assert left(hami_pod("GPU-a,NVIDIA,2147483647,2147483647:;"))["GPU-a"] == (0, 0, 9)
    assert told(hami_pod("GPU-a,NVIDIA,2147483647,2147483647:;")) == ["over_allocated"]


def test_more_holders_than_slots_leave_no_slot():
    cards = [card("GPU-a", count=2)]

    assert (
        left(*(hami_pod("GPU-a,NVIDIA,10,0:;", name=f"p{number}") for number in range(3)), cards=cards)["GPU-a"][2] == 0
    )


def test_card_that_is_not_there_is_an_orphan_and_no_device():
    found = inventory(hami_node(TWO), pods=[hami_pod("GPU-gone,NVIDIA,1000,0:;")])

    assert sorted(devices(found)) == ["GPU-a", "GPU-b"]
    assert codes(found) == ["orphan_allocation"]


def test_node_that_is_not_there_is_told():
    assert told(hami_pod("GPU-a,NVIDIA,1000,0:;", node="gone", on=None)) == ["orphan_allocation"]


def test_node_of_the_books_is_charged_where_the_pod_runs_elsewhere():
    nodes = hami_node([card("GPU-x")], 10, name="n0"), hami_node([card("GPU-x")], 10, name="n1")

    found = inventory(*nodes, pods=[hami_pod("GPU-x,NVIDIA,1000,0:;", node="n0", on="n1")])

    assert [one.devices[0].memory_available_mib for one in found.nodes] == [39960, 40960]
    assert codes(found) == ["placed_elsewhere"]


def test_card_that_only_the_pods_own_node_has_is_charged_there():
    nodes = hami_node([card("GPU-x")], 10, name="n0"), hami_node([card("GPU-y")], 10, name="n1")

    found = inventory(*nodes, pods=[hami_pod("GPU-y,NVIDIA,1000,0:;", node="n0", on="n1")])

    assert [one.devices[0].memory_available_mib for one in found.nodes] == [40960, 39960]


def test_same_id_on_two_nodes_is_two_cards():
    nodes = [hami_node([card("DCU-0")], 10, name=name) for name in ("n0", "n1")]

    found = inventory(*nodes, pods=[hami_pod("DCU-0,DCU,1000,0:;", node="n1", on="n1")])

    assert [one.devices[0].memory_available_mib for one in found.nodes] == [40960, 39960]


def test_sick_and_cordoned_cards_give_nothing_and_keep_their_pods():
    cards = [card("GPU-a", health=None), card("GPU-b")]

    found = left(hami_pod("GPU-b,NVIDIA,1,1:;"), cards=cards, annotations={"hami.io/device-cordon": "GPU-b"})

    assert found == {"GPU-a": (0, 0, 0), "GPU-b": (0, 0, 0)}


def test_without_pods_what_healthy_cards_have_is_unknown_and_sick_ones_have_nothing():
    found = devices(inventory(hami_node([card("GPU-a"), card("GPU-b", health=None)], 10), unknown=("pods",)))

    assert free(found["GPU-a"]) == (None, None, None)
    assert free(found["GPU-b"]) == (0, 0, 0)


# Pods that bypass the scheduler


def test_pod_without_an_allocation_is_charged_where_there_is_one_card():
    part = pod(limits={"nvidia.com/gpu": "1", "nvidia.com/gpumem": "5k", "nvidia.com/gpucores": "30"})
    percent = pod(limits={"nvidia.com/gpu": "1", "nvidia.com/gpumem-percentage": "25"})
    silent = pod(limits={"nvidia.com/gpu": "1"})

    assert left(part, cards=TWO[:1])["GPU-a"] == (35960, 70, 9)
    assert left(percent, cards=TWO[:1])["GPU-a"] == (30720, 100, 9)
    assert left(silent, cards=TWO[:1])["GPU-a"] == (0, 0, 9)


def test_pod_without_an_allocation_is_told_where_nobody_knows_its_card():
    assert left(pod(limits={"nvidia.com/gpu": "1"})) == {"GPU-a": FREE, "GPU-b": FREE}
    assert told(pod(limits={"nvidia.com/gpu": "1"})) == ["unseen_pod"]


def test_pod_with_an_allocation_is_not_charged_by_its_limits_too():
    one = hami_pod("GPU-a,NVIDIA,3000,0:;", limits={"nvidia.com/gpu": "1", "nvidia.com/gpumem": "3000"})

    assert left(one, cards=TWO[:1])["GPU-a"] == (37960, 100, 9)


# Other vendors' keys and units


@pytest.mark.parametrize(
    ("register", "cores", "key", "text", "expected"),
    [
        # 5 of 20 AI cores are 25 %: 15 * 100 / 20 = 75.
        (
            "register-Ascend910B3",
            20,
            "hami.io/Ascend910B3-devices-allocated",
            "C,Ascend910B3,16384,5:;",
            (24576, 75, 9),
        ),
        # 1 of 8 AI cores: 7 * 100 / 8 = 87.5, rounded down.
        ("register-Ascend310P", 8, "hami.io/Ascend310P-devices-allocated", "C,Ascend310P,3072,1:;", (37888, 87, 9)),
        # 152 of 304 compute units.
        ("amd-register", 304, "hami.io/amd-devices-allocated", "C,AMD_Instinct,20480,152:;", (20480, 50, 9)),
        ("dcu-register", 100, "hami.io/dcu-devices-allocated", "C,DCU,8192,25:;", (32768, 75, 9)),
        ("MR-V100-register", 100, "hami.io/MR-V100-devices-allocated", "C,MR-V100,8192,25:;", (32768, 75, 9)),
        ("iluvatar-register", 100, "hami.io/iluvatar-vgpu-devices-allocated", "C,Iluvatar,8192,25:;", (32768, 75, 9)),
        ("register-xpu", 100, "hami.io/xpu-devices-allocated", "C,XPU,8192,25:;", (32768, 75, 9)),
        # The scheduler takes the cores of these two for 100, whatever is registered.
        ("va-register", 8, "hami.io/Vastai-devices-allocated", "C,Vastai,8192,25:;", (32768, 75, 9)),
        ("biren-register", 32, "hami.io/Biren-devices-allocated", "C,Biren,8192,25:;", (32768, 75, 9)),
    ],
)
def test_every_vendors_allocation_in_its_unit_of_cores(register, cores, key, text, expected):
    resources = [
        "huawei.com/Ascend910B3",
        "huawei.com/Ascend310P",
        "amd.com/gpu",
        "hygon.com/dcunum",
        "kunlunxin.com/vxpu",
    ]
    resources += ["iluvatar.ai/MR-V100-vgpu", "iluvatar.ai/vgpu", "vastaitech.com/va", "birentech.com/gpu"]
    annotations = {f"hami.io/node-{register}": json.dumps([card("C", devcore=cores)])}
    one = node(annotations=annotations, allocatable=dict.fromkeys(resources, "10"))

    found = inventory(one, pods=[hami_pod(text, key=key)])

    assert free(next(device for device in only_node(found).devices if device.id == "C")) == expected


def test_ascend_in_soft_slicing_counts_percent():
    annotations = {"hami.io/node-register-Ascend910B4-1": json.dumps([card("C", count=4)]), "hami-vnpu-core": "true"}
    one = node(annotations=annotations, allocatable={"huawei.com/Ascend910B4-1": "4"})

    found = inventory(one, pods=[hami_pod("C,Ascend910B4-1,5120,9:;", key="hami.io/Ascend910B4-1-devices-allocated")])

    assert free(only_device(found)) == (35840, 91, 3)


METAX = [
    {"uuid": "M", "model": "MXC500", "totalDevCount": 16, "totalCompute": 100, "totalVRam": 65536, "healthy": True}
]


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("hami.io/metax-sgpu-devices-allocated", "M,Metax-SGPU,16384,40:;"),
        ("metax-tech.com/gpu-devices-allocated", '[[{"uuid":"M","compute":40,"vRam":16384}]]'),
    ],
)
def test_metax_shared_gpus_are_charged_once_by_hamis_key_or_by_metaxs_own(key, text):
    one = node(
        annotations={"metax-tech.com/node-gpu-devices": json.dumps(METAX)}, allocatable={"metax-tech.com/sgpu": "16"}
    )

    assert free(only_device(inventory(one, pods=[hami_pod(text, key=key)]))) == (49152, 60, 15)


def test_metax_pods_with_both_keys_are_charged_once():
    one = node(
        annotations={"metax-tech.com/node-gpu-devices": json.dumps(METAX)}, allocatable={"metax-tech.com/sgpu": "16"}
    )
    both = hami_pod(
        "M,Metax-SGPU,16384,40:;",
        key="hami.io/metax-sgpu-devices-allocated",
        annotations={"metax-tech.com/gpu-devices-allocated": '[[{"uuid":"M","compute":40,"vRam":16384}]]'},
    )

    assert free(only_device(inventory(one, pods=[both]))) == (49152, 60, 15)


def test_volcanos_pods():
    one = node(
        annotations={"volcano.sh/node-vgpu-register": "GPU-v,10,32768,NVIDIA-Tesla V100,true,hami-core:"},
        allocatable={"volcano.sh/vgpu-number": "10"},
    )
    held = pod(annotations={"volcano.sh/vgpu-node": "n0", "volcano.sh/vgpu-ids-new": "GPU-v,NVIDIA,4096,20:;"})

    assert free(only_device(inventory(one, pods=[held]))) == (28672, 80, 9)


def test_enflames_pods():
    text = json.dumps({"devices": [{"index": "0", "capacity": 6}], "profiles": {"1g.6gb": "0", "6g.36gb": "3"}})
    one = node(annotations={"enflame.com/gcu-drs-capacity": text}, allocatable={"enflame.com/drs-gcu": "6"})
    held = hami_pod("n0-enflame-drs-0,Enflame,6144,16:;", key="hami.io/enflame-vgpu-devices-allocated")

    assert free(only_device(inventory(one, pods=[held]))) == (30720, 84, 5)


def test_keys_of_the_time_before_hami():
    one = hami_node("GPU-a,10,15360,100,NVIDIA-Tesla T4,0,true:", 10, key="4pd.io/node-nvidia-register")
    held = pod(annotations={"4pd.io/vgpu-node": "n0", "4pd.io/vgpu-ids-new": "GPU-a,NVIDIA,1000,10:;"})

    assert free(only_device(inventory(one, pods=[held]))) == (14360, 90, 9)


# MIG, up to v2.9 and since v2.10


PROFILES = [
    {
        "name": "1g.5gb",
        "memoryMB": 4864,
        "core": 15,
        "sliceCount": 1,
        "placements": [{"start": start, "size": 1} for start in range(7)],
    },
    {
        "name": "3g.20gb",
        "memoryMB": 19968,
        "core": 43,
        "sliceCount": 3,
        "placements": [{"start": 0, "size": 4}, {"start": 4, "size": 4}],
    },
]
MIG = card("GPU-m", count=7, mode="mig", migProfiles=PROFILES)


def mig_pod(text, *places, name="p0"):
    slices = [
        {
            "containerIndex": 0,
            "deviceIndex": number,
            "gpuUUID": "GPU-m",
            "profile": "x",
            "placement": {"start": start, "size": size},
        }
        for number, (start, size) in enumerate(places)
    ]
    return hami_pod(text, name=name, annotations={"hami.io/vgpu-mig-allocations": json.dumps(slices)})


def mig_card(*pods):
    return only_device(inventory(hami_node([MIG], 7), pods=list(pods)))


def test_slice_of_v29_is_found_by_the_id_before_its_bracket():
    found = left(hami_pod("GPU-a[1-2],NVIDIA,9856,28:;"), cards=[card("GPU-a", count=7, mode="mig")])

    assert found["GPU-a"] == (31104, 72, 6)


def test_empty_card_has_room_for_its_largest_profile():
    assert (mig_card().largest_free_mib, mig_card().mode) == (19968, "mig")


def test_slice_that_is_held_leaves_the_profiles_that_still_find_a_place():
    one = mig_pod("GPU-m,NVIDIA,4864,15:;", (0, 1))
    other = mig_pod("GPU-m,NVIDIA,4864,15:;", (5, 1), name="p1")

    assert (free(mig_card(one)), mig_card(one).largest_free_mib) == ((36096, 85, 6), 19968)
    assert (free(mig_card(one, other)), mig_card(one, other).largest_free_mib) == ((31232, 70, 5), 4864)


def test_full_card_has_room_for_none():
    full = mig_pod("GPU-m,NVIDIA,19968,43:GPU-m,NVIDIA,19968,43:;", (0, 4), (4, 4))

    assert mig_card(full).largest_free_mib == 0


def test_card_with_a_slice_whose_place_nobody_knows_is_out_of_service():
    found = inventory(hami_node([MIG], 7), pods=[hami_pod("GPU-m,NVIDIA,4864,15:;")])

    device = only_device(found)
    assert (device.healthy, free(device), device.largest_free_mib) == (False, (0, 0, 0), 0)
    assert codes(found) == ["unplaced_mig"]


@pytest.mark.parametrize(
    "text", ["?", "{}", '[{"gpuUUID":"GPU-m"}]', '[{"gpuUUID":"GPU-m","profile":"x","placement":{"size":0}}]']
)
def test_slices_that_can_not_be_read_are_told(text):
    one = hami_pod("GPU-m,NVIDIA,4864,15:;", annotations={"hami.io/vgpu-mig-allocations": text})

    assert "bad_allocation" in codes(inventory(hami_node([MIG], 7), pods=[one]))


def test_profiles_are_alternatives_and_never_added_up():
    assert mig_card().memory_total_mib == 40960
