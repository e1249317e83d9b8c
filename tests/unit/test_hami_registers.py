"""What device plugins register on a node, by release line and vendor. Expected numbers are worked out by hand."""

import json

import pytest
from cluster_made import card, codes, devices, free, hami_node, inventory, node, only_device, only_node, total


def ids(found):
    return sorted(devices(found))


# Release lines of NVIDIA's register


def test_seven_fields_of_v23_and_v24():
    text = "GPU-a,10,15360,100,NVIDIA-Tesla T4,0,true:GPU-b,10,15360,100,NVIDIA-Tesla T4,1,false:"

    found = devices(inventory(hami_node(text, slots=10)))

    assert total(found["GPU-a"]) == free(found["GPU-a"]) == (15360, 100, 10)
    assert (found["GPU-a"].mode, found["GPU-a"].numa, found["GPU-a"].index) == ("hami-core", 0, None)
    assert (found["GPU-b"].healthy, free(found["GPU-b"])) == (False, (0, 0, 0))


def test_nine_fields_of_v25_to_v27_say_index_and_mode():
    text = "GPU-a,10,46068,100,NVIDIA-NVIDIA L40S,0,true,3,hami-core:GPU-b,7,40960,100,NVIDIA-NVIDIA A100,1,true,0,mig:"

    found = devices(inventory(hami_node(text, slots=17)))

    assert (found["GPU-a"].index, found["GPU-a"].mode, found["GPU-a"].model) == (3, "hami-core", "NVIDIA L40S")
    assert (found["GPU-b"].index, found["GPU-b"].mode, found["GPU-b"].slots_total) == (0, "mig", 7)


def test_json_of_v28_leaves_out_what_is_zero():
    found = devices(
        inventory(hami_node([card("GPU-a"), card("GPU-b", index=1, numa=1, mode="hami-core", health=None)], 10))
    )

    assert (found["GPU-a"].index, found["GPU-a"].numa, found["GPU-a"].mode) == (0, 0, "hami-core")
    assert (found["GPU-b"].index, found["GPU-b"].numa, found["GPU-b"].healthy) == (1, 1, False)


def test_json_is_told_by_its_first_character_and_blanks_before_it_do_not_matter():
    found = inventory(hami_node("\n  " + json.dumps([card("GPU-a", type="a:b,c")]), 10))

    assert only_device(found).model == "a:b,c"


def test_both_forms_may_stand_in_one_cluster():
    old = hami_node("GPU-a,10,15360,100,NVIDIA-Tesla T4,0,true:", 10, name="old")
    new = hami_node([card("GPU-b")], 10, name="new")

    found = inventory(old, new)

    assert [(one.name, [device.id for device in one.devices]) for one in found.nodes] == [
        ("new", ["GPU-b"]),
        ("old", ["GPU-a"]),
    ]


def test_key_of_the_time_before_hami_is_read():
    text = "GPU-a,10,15360,100,NVIDIA-Tesla T4,0,true:"

    assert ids(inventory(hami_node(text, 10, key="4pd.io/node-nvidia-register"))) == ["GPU-a"]


def test_scaled_numbers_stand_as_registered_and_are_told():
    found = inventory(hami_node([card("GPU-a", count=20, devmem=49152, devcore=200)], 20))

    assert total(only_device(found)) == free(only_device(found)) == (49152, 200, 20)
    assert codes(found) == ["scaled"]


@pytest.mark.parametrize(("measured", "told"), [("24576", ["scaled"]), ("49152", []), ("many", [])])
def test_memory_beyond_what_was_measured_is_told(measured, told):
    found = inventory(hami_node([card(devmem=49152)], 10, labels={"nvidia.com/gpu.memory": measured}))

    assert only_device(found).memory_total_mib == 49152
    assert codes(found) == told


def test_order_in_the_annotation_is_of_no_meaning():
    cards = [card(f"GPU-{number}", index=number) for number in (3, 0, 2, 1)]

    assert [one.index for one in only_node(inventory(hami_node(cards, 40))).devices] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("registered", "shown"),
    [
        ("NVIDIA-NVIDIA A10", "NVIDIA A10"),
        ("NVIDIA A10", "NVIDIA A10"),
        ("NVIDIA-Tesla T4", "Tesla T4"),
        ("NVIDIA-", "NVIDIA-"),
    ],
)
def test_doubled_prefix_of_the_model_is_taken_off(registered, shown):
    assert only_device(inventory(hami_node([card(type=registered)], 10))).model == shown


def test_memory_that_the_plugin_could_not_tell_is_unknown_and_not_none_at_all():
    found = only_device(inventory(hami_node([card(devmem=None)], 10)))

    assert (found.memory_total_mib, found.memory_available_mib, found.slots_available) == (None, None, 10)


def test_empty_list_means_no_cards_and_nothing_odd():
    found = inventory(hami_node([], 0))

    assert only_node(found).devices == []
    assert codes(found) == []


# What is wrong with a record hides no other


GOOD = "GPU-good,10,15360,100,NVIDIA-Tesla T4,0,true,0,hami-core:"


@pytest.mark.parametrize(
    "bad",
    [
        "GPU-x,10,abc,100,T,0,true,0,hami-core:",
        "GPU-x,,15360,100,T,0,true,0,hami-core:",
        "GPU-x,10,15360,100,T,0,true,0:",
        "GPU-x,10,15360,100,T,0,true,0,hami-core,more:",
        "GPU-x,-1,15360,100,T,0,true,0,hami-core:",
        "GPU-x,10,-15360,100,T,0,true,0,hami-core:",
        "GPU-x,10,2147483648,100,T,0,true,0,hami-core:",
        "GPU-x,10,18446744073709551615,100,T,0,true,0,hami-core:",
        "GPU-x,10,15360,1e2,T,0,true,0,hami-core:",
        "GPU-x,10,15360,100,T,0,maybe,0,hami-core:",
        ",10,15360,100,T,0,true,0,hami-core:",
        "GPU-x:",
        "GPU-x,10,15360,0,:",
    ],
)
def test_bad_record_is_left_out_with_a_warning_and_its_siblings_stand(bad):
    found = inventory(hami_node(GOOD + bad, 10))

    assert ids(found) == ["GPU-good"]
    assert codes(found) == ["bad_register"]
    assert "hami.io/node-nvidia-register: record 1" in only_node(found).warnings[0].message


def test_record_without_its_last_colon_is_read():
    assert ids(inventory(hami_node(GOOD + GOOD.replace("good", "last").rstrip(":"), 20))) == ["GPU-good", "GPU-last"]


def test_empty_records_are_skipped():
    assert ids(inventory(hami_node("::" + GOOD + ":", 10))) == ["GPU-good"]


@pytest.mark.parametrize("text", ["", "nonsense", "{}", "[", '[{"id": "GPU-0"', "null"])
def test_text_that_is_no_register_leaves_no_device_and_a_warning(text):
    found = inventory(hami_node(text, 80))

    assert only_node(found).devices == []
    assert codes(found) == ["bad_register"]


@pytest.mark.parametrize("text", [":", "[]", " [ ] "])
def test_register_without_records_is_not_odd(text):
    assert codes(inventory(hami_node(text, 0))) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"devmem": "24576"},
        {"devmem": 24576.5},
        {"count": -1},
        {"devcore": 2**31},
        {"id": None},
        {"id": ""},
        {"health": "true"},
    ],
)
def test_bad_entry_is_left_out_with_a_warning_and_its_siblings_stand(wrong):
    found = inventory(hami_node([card("GPU-good"), {**card("GPU-x"), **wrong}], 10))

    assert ids(found) == ["GPU-good"]
    assert codes(found) == ["bad_register"]


def test_entry_that_is_no_object_hides_no_other():
    found = inventory(hami_node(json.dumps([5, card("GPU-good"), None, "x"]), 10))

    assert ids(found) == ["GPU-good"]


def test_members_that_nobody_knows_are_ignored():
    entry = card("GPU-a", devicepairscore={}, custominfo={"NetworkID": 0}, devicevendor="x", future=[1])

    assert total(only_device(inventory(hami_node([entry], 10)))) == (40960, 100, 10)


def test_members_are_read_in_any_case_as_go_does():
    text = json.dumps([{"ID": "GPU-a", "Count": 10, "DevMem": 40960, "DEVCORE": 100, "Type": "T", "Health": True}])

    assert total(only_device(inventory(hami_node(text, 10)))) == (40960, 100, 10)


def test_null_is_as_good_as_absent():
    entry = card("GPU-a") | {"index": None, "numa": None, "mode": None, "migProfiles": None}

    assert codes(inventory(hami_node(json.dumps([entry]), 10))) == []


@pytest.mark.parametrize("numa", [-1, "x", 255.5, [1]])
def test_odd_numa_node_is_unknown_and_the_card_stands(numa):
    found = only_device(inventory(hami_node([card("GPU-a", numa=numa)], 10)))

    assert (found.numa, found.slots_available) == (None, 10)


def test_profiles_that_can_not_be_read_cost_only_the_profiles():
    found = inventory(hami_node([card("GPU-a", mode="mig", migProfiles="?"), card("GPU-b")], 20))

    assert ids(found) == ["GPU-a", "GPU-b"]
    assert only_node(found).devices[0].largest_free_mib is None
    assert codes(found) == ["bad_register"]


def test_second_card_of_an_id_is_left_out_and_told():
    found = inventory(hami_node([card("GPU-a", devmem=1), card("GPU-a", index=1, devmem=2)], 20))

    assert only_device(found).memory_total_mib == 1
    assert "duplicate_device" in codes(found)


def test_one_vendors_nonsense_hides_no_other_vendor():
    more = {"hami.io/node-dcu-register": "nonsense"}

    assert ids(inventory(hami_node([card("GPU-a")], 10, annotations=more))) == ["GPU-a"]


# Whether the plugin lives


OLD = "Requesting_2020-01-01 00:00:00"
DEAD = (False, (0, 0, 0))


def lives(found):
    device = only_device(found)
    return device.healthy, free(device)


@pytest.mark.parametrize(
    "handshake",
    [None, OLD, "Requesting_2026.07.01 11:59:50", "Reported 2020-01-01 00:00:00 +0000 UTC m=+30.5", "?", ""],
)
def test_allocatable_count_proves_the_plugin_alive_whatever_the_handshake(handshake):
    annotations = {} if handshake is None else {"hami.io/node-handshake": handshake}

    found = inventory(hami_node([card()], 10, annotations=annotations))

    assert lives(found) == (True, (40960, 100, 10))
    assert codes(found) == []


def test_deleted_handshake_with_an_allocatable_count_is_used_and_told():
    found = inventory(hami_node([card()], 10, annotations={"hami.io/node-handshake": "Deleted_2026-07-01 11:59:00"}))

    assert lives(found) == (True, (40960, 100, 10))
    assert codes(found) == ["deleted_handshake"]


@pytest.mark.parametrize(
    "handshake", [OLD, "Deleted_2026-07-01 11:59:00", "Reported 2026-07-01 11:59:50.1 +0000 UTC m=+3"]
)
def test_count_of_zero_proves_the_plugin_gone_and_its_cards_are_listed_sick(handshake):
    found = inventory(hami_node([card()], 0, annotations={"hami.io/node-handshake": handshake}))

    assert lives(found) == DEAD
    assert codes(found) == ["stale_register"]


def test_without_a_count_a_fresh_report_is_believed_and_nothing_else():
    reported = {"hami.io/node-handshake": "Reported 2026-07-01 11:59:50.1 +0000 UTC m=+3"}
    requested = {"hami.io/node-handshake": "Requesting_2026-07-01 11:59:50"}

    assert lives(inventory(hami_node([card()], None, annotations=reported)))[0]
    assert lives(inventory(hami_node([card()], None, annotations=requested))) == DEAD
    assert lives(inventory(hami_node([card()], None))) == DEAD


def test_all_cards_sick_is_fresh_news_and_not_a_dead_plugin():
    found = inventory(hami_node([card(health=None)], 0))

    assert lives(found) == DEAD
    assert codes(found) == []


def test_renamed_count_resource_of_the_vendor_proves_the_plugin_alive():
    assert lives(inventory(hami_node([card()], None, allocatable={"nvidia.com/vgpu": "10"})))[0]


@pytest.mark.parametrize("other", ["nvidia.com/gpumem", "nvidia.com/mig-1g.5gb", "nvidia.com/gpucores"])
def test_other_known_resources_of_the_vendor_prove_nothing(other):
    found = inventory(hami_node([card()], None, allocatable={other: "10"}))

    assert not any(device.id == "GPU-0" and device.healthy for device in only_node(found).devices)


def test_handshake_without_a_register_is_noise():
    found = inventory(node(annotations={"hami.io/node-handshake-dcu": "Deleted_2026-07-01 11:59:00"}))

    assert only_node(found).devices == []
    assert codes(found) == []
    assert found.source == "kubernetes"


def test_dead_vendor_does_not_take_a_live_one_along():
    dcu = {"hami.io/node-dcu-register": "DCU-0,4,65520,100,DCU-K100,0,true,0,mdcu:"}

    found = devices(inventory(hami_node([card("GPU-a")], 10, annotations=dcu, allocatable={"hygon.com/dcunum": "0"})))

    assert (found["GPU-a"].healthy, found["DCU-0"].healthy) == (True, False)


def test_node_that_is_not_ready_keeps_the_numbers_of_its_books():
    found = inventory(hami_node([card()], 10, conditions=[{"type": "Ready", "status": "Unknown"}]))

    assert not only_node(found).ready
    assert lives(found) == (True, (40960, 100, 10))


# What kubelet counts against what is registered


def slots(found):
    return [device.slots_available for device in only_node(found).devices]


def test_second_plugin_that_counts_cards_leaves_one_slot_each():
    cards = [card(f"GPU-{number}", index=number) for number in range(4)]

    found = inventory(hami_node(cards, 4))

    assert slots(found) == [1, 1, 1, 1]
    assert "fewer_slots_than_registered" in codes(found)


def test_cards_that_kubelet_lost_are_not_offered():
    cards = [card(f"GPU-{number}", index=number, count=1) for number in range(8)]

    found = inventory(hami_node(cards, 5))

    assert sum(slots(found)) == 5


def test_slots_of_sick_cards_are_not_missed():
    found = inventory(hami_node([card("GPU-a"), card("GPU-b", index=1, health=None)], 10))

    assert slots(found) == [10, 0]
    assert codes(found) == []


# Cordons


def test_cordoned_card_takes_nothing_new_and_is_not_sick():
    found = devices(
        inventory(hami_node([card("GPU-a"), card("GPU-b")], annotations={"hami.io/device-cordon": " GPU-b , ,"}))
    )

    assert (found["GPU-b"].healthy, free(found["GPU-b"]), total(found["GPU-b"])) == (True, (0, 0, 0), (40960, 100, 10))
    assert free(found["GPU-a"]) == (40960, 100, 10)


# Vendors


def vendor_node(key, text, resource, count, annotations=None):
    return node(annotations={key: text, **(annotations or {})}, allocatable={resource: str(count)})


@pytest.mark.parametrize(
    ("key", "text", "resource", "count", "expected"),
    [
        (
            "hami.io/node-dcu-register",
            "DCU-S1,4,65520,100,DCU-K100,0,true,0,mdcu:",
            "hygon.com/dcunum",
            4,
            ("Hygon", "DCU-K100", "mdcu", (65520, 100, 4)),
        ),
        (
            "hami.io/node-MR-V100-register",
            "9c1e-1,100,32768,100,MR-V100,0,true,0,:",
            "iluvatar.ai/MR-V100-vgpu",
            100,
            ("Iluvatar", "MR-V100", None, (32768, 100, 100)),
        ),
        (
            "hami.io/node-BI-V150-register",
            "9c1e-1,100,32768,100,BI-V150,0,true,0,:",
            "iluvatar.ai/BI-V150-vgpu",
            100,
            ("Iluvatar", "BI-V150", None, (32768, 100, 100)),
        ),
        (
            "hami.io/node-register-xpu",
            json.dumps([{"id": "X1", "count": 4, "devmem": 98304, "devcore": 100, "type": "P800", "health": True}]),
            "kunlunxin.com/vxpu",
            4,
            ("Kunlunxin", "P800", None, (98304, 100, 4)),
        ),
        (
            "hami.io/node-va-register",
            json.dumps(
                [
                    {
                        "id": "V1",
                        "count": 1,
                        "devmem": 16384,
                        "devcore": 8,
                        "type": "VA16",
                        "health": True,
                        "devicepairscore": {},
                    }
                ]
            ),
            "vastaitech.com/va",
            1,
            ("Vastai", "VA16", None, (16384, 100, 1)),
        ),
        (
            "hami.io/node-biren-register",
            json.dumps([{"id": "B1", "count": 1, "devmem": 65536, "devcore": 32, "type": "BR106", "health": True}]),
            "birentech.com/gpu",
            1,
            ("Biren", "BR106", None, (65536, 100, 1)),
        ),
        (
            "hami.io/node-amd-register",
            json.dumps(
                [
                    {
                        "id": "0x1",
                        "count": 10,
                        "devmem": 196592,
                        "devcore": 304,
                        "type": "AMD_Instinct_MI300X_OAM",
                        "health": True,
                    }
                ]
            ),
            "amd.com/gpu",
            10,
            ("AMD", "AMD_Instinct_MI300X_OAM", None, (196592, 100, 10)),
        ),
        (
            "hami.io/node-register-Ascend910B3",
            json.dumps(
                [{"id": "A1", "count": 4, "devmem": 65536, "devcore": 20, "type": "Ascend910B3", "health": True}]
            ),
            "huawei.com/Ascend910B3",
            4,
            ("Huawei", "Ascend910B3", None, (65536, 100, 4)),
        ),
        (
            "hami.io/node-register-Ascend310P",
            json.dumps([{"id": "A1", "count": 7, "devmem": 21527, "devcore": 8, "type": "Ascend310P", "health": True}]),
            "huawei.com/Ascend310P",
            7,
            ("Huawei", "Ascend310P", None, (21527, 100, 7)),
        ),
        (
            "volcano.sh/node-vgpu-register",
            "GPU-v1,10,32768,NVIDIA-Tesla V100-SXM2-32GB,true,hami-core:",
            "volcano.sh/vgpu-number",
            10,
            ("NVIDIA", "Tesla V100-SXM2-32GB", "hami-core", (32768, 100, 10)),
        ),
        (
            "metax-tech.com/node-gpu-devices",
            json.dumps(
                [
                    {
                        "uuid": "M1",
                        "bdf": "0000:21:00.0",
                        "model": "MXC500",
                        "totalDevCount": 16,
                        "totalCompute": 100,
                        "totalVRam": 65536,
                        "availableDevCount": 15,
                        "availableCompute": 60,
                        "availableVRam": 49152,
                        "healthy": True,
                        "qosPolicy": "fixed-share",
                    }
                ]
            ),
            "metax-tech.com/sgpu",
            16,
            ("MetaX", "MXC500", None, (65536, 100, 16)),
        ),
        (
            "enflame.com/gcu-drs-capacity",
            json.dumps(
                {
                    "devices": [{"index": "0", "minor": "0", "capacity": "6"}],
                    "profiles": {"1g.6gb": "0", "2g.12gb": "1", "6g.36gb": "3"},
                }
            ),
            "enflame.com/drs-gcu",
            6,
            ("Enflame", "Enflame GCU", None, (36864, 100, 6)),
        ),
    ],
)
def test_every_vendors_register(key, text, resource, count, expected):
    found = inventory(vendor_node(key, text, resource, count))

    device = only_device(found)
    assert (device.vendor, device.model, device.mode, total(device)) == expected
    assert free(device) == total(device)
    assert device.resource == resource
    assert codes(found) == []
    assert found.source == "hami"


def test_ascend_without_health_is_sick():
    text = json.dumps([{"id": "A1", "index": 2, "count": 7, "devmem": 21527, "devcore": 8, "type": "Ascend310P"}])

    assert not only_device(
        inventory(vendor_node("hami.io/node-register-Ascend310P", text, "huawei.com/Ascend310P", 7))
    ).healthy


def test_two_chips_of_one_vendor_live_and_die_apart():
    entry = {"count": 4, "devmem": 65536, "devcore": 20, "health": True}
    annotations = {
        "hami.io/node-register-Ascend910B3": json.dumps([{"id": "A1", "type": "Ascend910B3", **entry}]),
        "hami.io/node-register-Ascend310P": json.dumps([{"id": "A2", "type": "Ascend310P", **entry}]),
    }

    found = devices(inventory(node(annotations=annotations, allocatable={"huawei.com/Ascend910B3": "4"})))

    assert (found["A1"].healthy, found["A2"].healthy) == (True, False)


def test_enflame_capacity_may_be_a_number_and_ids_are_those_of_hami():
    text = json.dumps(
        {"devices": [{"index": "1", "capacity": 6}, {"index": "x", "capacity": 0}], "profiles": {"6g.36gb": "3"}}
    )

    found = inventory(vendor_node("enflame.com/gcu-drs-capacity", text, "enflame.com/drs-gcu", 6))

    assert ids(found) == ["n0-enflame-drs-1"]
    assert codes(found) == ["bad_register"]


def test_volcanos_register_with_another_number_of_fields_is_told():
    found = inventory(vendor_node("volcano.sh/node-vgpu-register", GOOD, "volcano.sh/vgpu-number", 10))

    assert codes(found) == ["bad_register"]


@pytest.mark.parametrize(
    ("handshake", "healthy"),
    [(None, True), ("Reported 2020-01-01 00:00:00", True), (OLD, False), ("Deleted_2026-07-01 11:59:50", False)],
)
def test_vendor_that_nobody_knows_is_listed_and_its_handshake_is_all_there_is(handshake, healthy):
    annotations = {"hami.io/node-strange-register": "S-0,4,1000,100,Strange,0,true,0,x:"}
    if handshake:
        annotations["hami.io/node-handshake-strange"] = handshake

    device = only_device(inventory(node(annotations=annotations)))

    assert (device.vendor, device.healthy) == ("unknown", healthy)


@pytest.mark.parametrize(
    "key", ["hami.io/node-nvidia-score", "NVIDIA", "hami.io/mutex.lock", "example.com/node-x-register"]
)
def test_other_annotations_are_no_registers(key):
    assert only_node(inventory(node(annotations={key: GOOD}))).devices == []
