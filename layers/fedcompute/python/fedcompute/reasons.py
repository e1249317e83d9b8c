"""Every reason why a node can't hold a request."""

from typing import NamedTuple

# Reasons in the order in which a rejection lists them.
REASONS = (
    "node_not_ready",
    "node_not_schedulable",
    "untolerated_taint",
    "no_free_pod",
    "unknown_cpu",
    "insufficient_cpu",
    "unknown_memory",
    "insufficient_memory",
    "no_gpu",
    "gpu_vendor_mismatch",
    "gpu_model_mismatch",
    "gpu_unhealthy",
    "unknown_gpu_slots",
    "no_free_gpu_slot",
    "gpu_in_use",
    "unknown_gpu_memory",
    "insufficient_gpu_memory",
    "unknown_gpu_compute",
    "insufficient_gpu_compute",
    "insufficient_gpu_count",
)
PLACE = {reason: place for place, reason in enumerate(REASONS)}


class Reason(NamedTuple):
    """One thing that keeps a request off a node. Amounts are None for what is no amount or not known.

    `devices`: how many devices fail so, for a reason that is theirs. `have`: the best among them.
    """

    reason: str
    have: int | None = None
    need: int | None = None
    devices: int | None = None

    @property
    def short_by(self) -> int | None:
        """How much is missing."""
        return None if self.have is None or self.need is None else self.need - self.have
