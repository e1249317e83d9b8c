"""Taints and tolerations, by Kubernetes' rules and one more: who asks for GPUs may use nodes kept for GPUs."""

from collections.abc import Iterable

from fedcompute.inventory import Taint
from fedcompute.request import Toleration

KEEP_OUT = ("NoSchedule", "NoExecute")


def are_tolerated(taints: Iterable[Taint], tolerations: Iterable[Toleration], resource: str | None) -> bool:
    """Whether no taint keeps the job out. `resource`: the devices' resource name where a GPU is asked for."""
    for taint in taints:
        if taint.effect not in KEEP_OUT or (resource is not None and taint.key == resource):
            continue
        if not any(_tolerates(toleration, taint) for toleration in tolerations):
            return False
    return True


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    return (
        toleration.effect in ("", taint.effect)
        and toleration.key in ("", taint.key)
        and (toleration.operator == "Exists" or toleration.value == taint.value)
    )
