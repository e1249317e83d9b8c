"""What of a node is not its devices."""

import pytest
from cluster_made import READY, codes, inventory, node, only_node, pod

from fedcompute.inventory import Pods, Taint


@pytest.mark.parametrize(("status", "ready"), [("True", True), ("False", False), ("Unknown", False)])
def test_node_is_ready_when_the_condition_says_true(status, ready):
    found = only_node(inventory(node(conditions=[{"type": "Ready", "status": status}])))

    assert found.ready is ready


def test_node_that_never_reported_is_not_ready():
    assert not only_node(inventory(node(conditions=[]))).ready


def test_cordoned_node_is_ready_and_not_schedulable_and_keeps_its_numbers():
    found = only_node(inventory(node(spec={"unschedulable": True})))

    assert (found.ready, found.schedulable) == (True, False)
    assert found.cpu.available_millicores == 8000


@pytest.mark.parametrize("key", ["not-ready", "unreachable", "memory-pressure", "disk-pressure", "unschedulable"])
@pytest.mark.parametrize(
    ("effect", "schedulable"), [("NoSchedule", False), ("NoExecute", False), ("PreferNoSchedule", True)]
)
def test_lifecycle_taint_closes_the_node_and_is_not_listed(key, effect, schedulable):
    found = only_node(inventory(node(spec={"taints": [{"key": f"node.kubernetes.io/{key}", "effect": effect}]})))

    assert found.schedulable is schedulable
    assert found.taints == []


def test_other_taints_are_listed_but_for_preferences():
    taints = [
        {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"},
        {"key": "dedicated", "effect": "NoExecute"},
        {"key": "spot", "effect": "PreferNoSchedule"},
    ]

    found = only_node(inventory(node(spec={"taints": taints})))

    assert found.schedulable
    assert found.taints == [
        Taint(key="nvidia.com/gpu", value="present", effect="NoSchedule"),
        Taint(key="dedicated", value="", effect="NoExecute"),
    ]


def test_totals_are_allocatable_and_never_capacity():
    found = only_node(inventory(node(allocatable={"cpu": "7800m"}, capacity={"cpu": "8", "memory": "64Gi"})))

    assert found.cpu.total_millicores == 7800


def test_pods_are_counted_against_the_limit_whatever_they_ask_for():
    pods = [pod(f"p{number}", phase=phase) for number, phase in enumerate(["Running", "Pending", "Unknown", "Failed"])]

    found = only_node(inventory(node(allocatable={"pods": "5"}), pods=pods))

    assert found.pods == Pods(total=5, available=2)


def test_more_pods_than_the_limit_leave_none():
    found = only_node(inventory(node(allocatable={"pods": "1"}), pods=[pod("a"), pod("b")]))

    assert found.pods == Pods(total=1, available=0)


def test_amount_that_is_no_quantity_is_unknown_and_told():
    found = inventory(node(allocatable={"cpu": "many"}))

    assert only_node(found).cpu.total_millicores is None
    assert codes(found) == ["unreadable_quantity"]


def test_over_commitment_leaves_nothing_and_is_told():
    found = inventory(node(), pods=[pod(requests={"cpu": "9", "memory": "1Ti"})])

    assert only_node(found).cpu.available_millicores == 0
    assert only_node(found).memory.available_bytes == 0
    assert codes(found) == ["over_committed", "over_committed"]


def test_pod_without_a_node_is_charged_to_none():
    found = only_node(inventory(node(), pods=[pod(on=None, phase="Pending", requests={"cpu": "1"})]))

    assert found.cpu.available_millicores == 8000


def test_nodes_without_a_name_of_their_own_are_left_out_and_told():
    found = inventory(node("n0"), node("n0", allocatable={"cpu": "1"}), node(""))

    assert [(one.name, one.cpu.total_millicores) for one in found.nodes] == [("n0", 8000)]
    assert codes(found) == ["unusable_node", "unusable_node"]


def test_labels_are_listed_in_one_order():
    found = only_node(inventory(node(labels={"b": "2", "a": "1"}, conditions=[READY])))

    assert list(found.labels.items()) == [("a", "1"), ("b", "2")]


@pytest.mark.parametrize("labels", [{"type": "virtual-kubelet"}, {"liqo.io/type": "virtual-node"}])
def test_node_that_stands_for_another_cluster_is_told(labels):
    found = inventory(node(labels=labels))

    assert codes(found) == ["virtual_node"]
    assert only_node(found).cpu.total_millicores == 8000


def test_node_with_more_devices_labels_and_taints_than_an_inventory_takes_is_cut_and_told():
    many = node(
        allocatable={"nvidia.com/gpu": "1024", "amd.com/gpu": "9"},
        labels={f"l{number}": "" for number in range(600)},
        spec={"taints": [{"key": f"t{number}", "effect": "NoSchedule"} for number in range(200)]},
    )

    found = inventory(many)

    listed = only_node(found)
    assert (len(listed.devices), len(listed.labels), len(listed.taints)) == (1024, 512, 128)
    assert not listed.schedulable
    assert codes(found) == ["too_many_devices", "too_many_labels", "too_many_taints"]
