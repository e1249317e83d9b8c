"""Effective requests of pods, as the scheduler counts them (kubernetes/component-helpers, resource/helpers.go)."""

import pytest
from cluster_made import container, inventory, node, only_node, pod


def millicores(**of_pod):
    """What a pod takes of its node."""
    return 8000 - only_node(inventory(node(), pods=[pod(**of_pod)])).cpu.available_millicores


def cpu(name, amount, **more):
    return container(name, {"cpu": amount}, **more)


def test_app_containers_add_up():
    assert millicores(containers=[cpu("a", "500m"), cpu("b", "250m")]) == 750


@pytest.mark.parametrize(("init", "taken"), [("100m", 1000), ("2", 2000)])
def test_init_container_counts_where_it_is_the_peak(init, taken):
    assert millicores(containers=[cpu("a", "1")], initContainers=[cpu("i", init)]) == taken


def test_init_containers_run_one_after_the_other():
    assert millicores(containers=[cpu("a", "1")], initContainers=[cpu("i", "1500m"), cpu("j", "1800m")]) == 1800


def test_sidecar_runs_beside_the_app_and_beside_later_init_containers():
    sidecar = cpu("s", "100m", restartPolicy="Always")

    # App 500m + 250m + sidecar 100m = 850m; the init container's 2000m beside the sidecar's 100m = 2100m.
    apps = [cpu("a", "500m"), cpu("b", "250m")]
    assert millicores(containers=apps, initContainers=[sidecar, cpu("i", "2")]) == 2100
    assert millicores(containers=apps, initContainers=[sidecar]) == 850


def test_init_container_before_a_sidecar_does_not_run_beside_it():
    sidecar = cpu("s", "100m", restartPolicy="Always")

    assert millicores(containers=[cpu("a", "500m")], initContainers=[cpu("i", "2"), sidecar]) == 2000


def test_two_sidecars_add_up():
    sidecars = [cpu("s", "100m", restartPolicy="Always"), cpu("t", "200m", restartPolicy="Always")]

    assert millicores(containers=[cpu("a", "500m")], initContainers=[*sidecars, cpu("i", "1")]) == 1300


def test_overhead_comes_on_top():
    assert millicores(containers=[cpu("a", "1")], overhead={"cpu": "250m"}) == 1250


def test_requests_of_the_pod_replace_the_sum_before_overhead():
    whole = {"requests": {"cpu": "3"}}

    assert millicores(containers=[cpu("a", "1")], resources=whole, overhead={"cpu": "250m"}) == 3250


def test_requests_of_the_pod_do_not_replace_extended_resources():
    asks = {"nvidia.com/gpu": "1", "cpu": "1"}
    one = pod(requests=asks, resources={"requests": {"cpu": "2", "nvidia.com/gpu": "4"}})

    found = only_node(inventory(node(allocatable={"nvidia.com/gpu": "4"}), pods=[one]))

    assert sum(device.slots_available for device in found.devices) == 3
    assert found.cpu.available_millicores == 6000


def test_resize_counts_what_the_container_has_while_that_is_more():
    has = {"containerStatuses": [{"name": "main", "allocatedResources": {"cpu": "3"}}]}
    will = {"containerStatuses": [{"name": "main", "resources": {"requests": {"cpu": "500m"}}}]}

    assert millicores(requests={"cpu": "1"}, status=has) == 3000
    assert millicores(requests={"cpu": "1"}, status=will) == 1000


@pytest.mark.parametrize(
    "refused",
    [
        {"resize": "Infeasible"},
        {"conditions": [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]},
    ],
)
def test_resize_that_can_not_be_counts_what_the_container_has(refused):
    has = {"containerStatuses": [{"name": "main", "allocatedResources": {"cpu": "1"}}], **refused}

    assert millicores(requests={"cpu": "64"}, status=has) == 1000


@pytest.mark.parametrize(
    ("phase", "taken"), [("Running", 1000), ("Pending", 1000), ("Unknown", 1000), ("Succeeded", 0), ("Failed", 0)]
)
def test_finished_pods_take_nothing(phase, taken):
    assert millicores(requests={"cpu": "1"}, phase=phase) == taken


def test_limit_of_an_extended_resource_is_its_request_and_of_cpu_is_not():
    one = pod(limits={"nvidia.com/gpu": "1", "cpu": "4"})

    found = only_node(inventory(node(allocatable={"nvidia.com/gpu": "2"}), pods=[one]))

    assert sum(device.slots_available for device in found.devices) == 1
    assert found.cpu.available_millicores == 8000


@pytest.mark.parametrize("odd", ["-5", "many", None, ""])
def test_request_that_is_no_amount_counts_for_nothing(odd):
    assert millicores(requests={"cpu": odd}) == 0


def test_fractions_of_a_byte_add_up_in_a_pod_and_are_rounded_up_pod_by_pod():
    halves = [container("a", {"memory": "500m"}), container("b", {"memory": "500m"})]

    together = only_node(inventory(node(), pods=[pod(containers=halves)]))
    apart = only_node(inventory(node(), pods=[pod("a", containers=halves[:1]), pod("b", containers=halves[1:])]))

    assert together.memory.available_bytes == 64 * 2**30 - 1
    assert apart.memory.available_bytes == 64 * 2**30 - 2
