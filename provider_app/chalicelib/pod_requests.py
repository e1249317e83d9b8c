"""What a pod takes from its node, as the scheduler counts it.

Source: kubernetes/component-helpers, resource/helpers.go (PodRequests, AggregateContainerRequests): the larger of what the
app containers ask for together and the peak while the init containers run; sidecars (init containers with restartPolicy
Always) run beside both; requests of the pod as a whole (1.34) replace the sum; overhead comes on top.
"""

from collections.abc import Iterable, Mapping

from chalicelib.core_objects import ClusterPod, Container, ContainerStatus, ResourceList
from fedcompute.quantities import nanos

Amounts = dict[str, int]  # by resource name, in billionths of its unit

_FINISHED = ("Succeeded", "Failed")
_ROUNDED = (("cpu", 10**6), ("memory", 10**9))  # up, pod by pod, to millicores and bytes
_REFUSED = "/"  # no container has this name
_OF_THE_POD = ("cpu", "memory")  # and hugepages-*: what pod-level requests are about


def is_live(pod: ClusterPod) -> bool:
    """Whether a pod still holds what it was given: terminating and unknown ones do, finished ones do not."""
    return pod.status.phase not in _FINISHED


def requests_of(pod: ClusterPod) -> Amounts:
    """The effective requests of a pod, by resource."""
    spec = pod.spec
    has = _actual(pod)
    containers = spec.containers or ()
    # Most pods have one container, and what it asks for is the pod's.
    total = _asked(containers[0], has) if len(containers) == 1 else _together(_asked(one, has) for one in containers)
    if spec.init_containers:
        total = _with_init(total, spec.init_containers, has)
    if spec.resources is not None and spec.resources.requests:
        whole = _amounts(spec.resources.requests)
        total |= {name: amount for name, amount in whole.items() if _is_of_the_pod(name)}
    if spec.overhead:
        _add(total, _amounts(spec.overhead))
    for name, unit in _ROUNDED:
        if name in total and total[name] % unit:
            total[name] += unit - total[name] % unit
    return total


def _with_init(app: Amounts, containers: list[Container], has: Mapping[str, ContainerStatus]) -> Amounts:
    beside: Amounts = {}
    peak: Amounts = {}
    for container in containers:
        own = dict(_asked(container, has))
        _add(own, beside)
        _raise_to(peak, own)
        if container.restart_policy == "Always":
            beside = own
    _add(app, beside)
    _raise_to(app, peak)
    return app


def _asked(container: Container, has: Mapping[str, ContainerStatus]) -> Amounts:
    """What a container asks for, or has already where that is more; an extended resource's limit is its request."""
    needs = container.resources
    asked: Amounts = {}
    if needs is not None:
        if needs.limits:
            asked = _amounts({name: value for name, value in needs.limits.items() if "/" in name})
        if needs.requests:
            asked |= _amounts(needs.requests)
    status = has.get(container.name) if has else None
    if status is not None:
        if _REFUSED in has:  # the spec asks for what will not be
            asked = {name: amount for name, amount in asked.items() if not _is_of_the_pod(name)}
        _raise_to(asked, _amounts(status.allocated_resources or {}))
        _raise_to(asked, _amounts((status.resources and status.resources.requests) or {}))
    return asked


def _actual(pod: ClusterPod) -> Mapping[str, ContainerStatus]:
    """The statuses that may differ from the spec (in-place resize), by container; _REFUSED stands for a resize that can't be."""
    status = pod.status
    if not status.container_statuses and not status.init_container_statuses:
        return {}
    both = (*(status.container_statuses or ()), *(status.init_container_statuses or ()))
    found = {one.name: one for one in both if one.allocated_resources or one.resources}
    if found and _is_refused(pod):
        found[_REFUSED] = ContainerStatus()
    return found


def _is_refused(pod: ClusterPod) -> bool:
    """Whether a resize is infeasible: `status.resize` before 1.33, a condition since."""
    return pod.status.resize == "Infeasible" or any(
        one.type == "PodResizePending" and one.status == "True" and one.reason == "Infeasible"
        for one in pod.status.conditions or ()
    )


def _amounts(listed: ResourceList) -> Amounts:
    """Amounts in billionths; what is no quantity, or below zero, counts for nothing."""
    found = {}
    for name, value in listed.items():
        amount = nanos(value)
        if amount is not None and amount > 0:
            found[name] = amount
    return found


def _together(several: Iterable[Amounts]) -> Amounts:
    total: Amounts = {}
    for amounts in several:
        _add(total, amounts)
    return total


def _add(total: Amounts, more: Amounts) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, 0) + amount


def _raise_to(total: Amounts, least: Amounts) -> None:
    for name, amount in least.items():
        if amount > total.get(name, 0):
            total[name] = amount


def _is_of_the_pod(name: str) -> bool:
    return name in _OF_THE_POD or name.startswith("hugepages-")
