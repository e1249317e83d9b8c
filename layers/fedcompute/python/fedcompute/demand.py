"""A search request made ready to be compared with thousands of nodes."""

from functools import lru_cache

from fedcompute import models, vendors
from fedcompute.request import CpuRequest, GpuRequest, MemoryRequest, SearchRequest, Strategy, Toleration
from fedcompute.survey import Kind

# The first test that a device fails, and what it has of what it lacks; None where that is no amount.
Failure = tuple[str, int | None]

# Sorts before another: the better choice.
Preference = tuple[float, ...]

GPU_WEIGHT = 3.0
MOST_KNOWN_DEMANDS = 4
MOST_KNOWN_KINDS = 20_000
ALL_COMPUTE_PERCENT = 100  # from here on HAMi gives the whole card


class GpuDemand:
    """What is asked of each device. None: not asked for.

    Knows what it has found out of kinds of devices, and is kept from search to search: kinds outlive a search as well.
    """

    __slots__ = (
        "_mismatches",
        "_runs",
        "_vendor",
        "compute",
        "count",
        "failures",
        "idle",
        "memory",
        "preferences",
        "takes_all",
        "weight",
        "whole",
    )

    def __init__(self, request: GpuRequest) -> None:
        self.count = request.count
        self.memory = request.minimum_memory_mib
        self.compute = request.minimum_compute_percent
        self.whole = request.sharing == "whole"
        # HAMi gives a pod that names no memory, or asks for all compute, the whole card.
        self.takes_all = self.memory is None or (self.compute is not None and self.compute >= ALL_COMPUTE_PERCENT)
        self._vendor = request.vendor
        self._runs = models.runs(request.model) if request.model is not None else None
        asked = (self.count, self.memory, self.compute)
        self.weight = GPU_WEIGHT / sum(amount is not None for amount in asked)  # of each dimension
        # As far as they were met: the test that each kind of device fails, what it would be if nothing ran on it, and
        # where it stands in a strategy's order of choice.
        self.failures: dict[Kind, str | None] = {}
        self.idle: dict[Kind, Kind] = {}
        self.preferences: dict[Strategy, dict[Kind, Preference]] = {strategy: {} for strategy in Strategy}
        self._mismatches: dict[tuple[str, str], str | None] = {}

    def make_room(self) -> None:
        """Forget kinds where there are too many: they are as many as strangers make them. Who reads them now may go on."""
        if len(self.failures) > MOST_KNOWN_KINDS:
            self.failures, self.idle, self._mismatches = {}, {}, {}
            self.preferences = {strategy: {} for strategy in Strategy}

    def mismatch(self, vendor: str, model: str) -> str | None:
        """`gpu_vendor_mismatch`, `gpu_model_mismatch` or None; kept, since names repeat from node to node."""
        key = (vendor, model)
        try:
            return self._mismatches[key]
        except KeyError:
            found = self._mismatches[key] = self._find_mismatch(vendor, model)
            return found

    def _find_mismatch(self, vendor: str, model: str) -> str | None:
        if self._vendor is not None and not vendors.is_same(self._vendor, vendor):
            return "gpu_vendor_mismatch"
        if self._runs is not None and not models.matches(self._runs, model):
            return "gpu_model_mismatch"
        return None


class Demand:
    """What is asked of each node. None: not asked for. `token`: by what it is known again, when it is gone itself."""

    __slots__ = ("cpu", "gpu", "memory", "strategy", "token", "tolerations")

    def __init__(
        self,
        gpu: GpuRequest | None,
        cpu: CpuRequest | None,
        memory: MemoryRequest | None,
        tolerations: tuple[Toleration, ...],
        strategy: Strategy,
    ) -> None:
        self.cpu: int | None = cpu.minimum_millicores if cpu else None
        self.memory: int | None = memory.minimum_bytes if memory else None
        self.gpu: GpuDemand | None = _gpu_demand(gpu) if gpu else None
        self.tolerations: tuple[Toleration, ...] = tolerations
        self.strategy: Strategy = strategy
        self.token = object()

    @classmethod
    def of(cls, request: SearchRequest) -> "Demand":
        """What a request asks; the same object for the same, so that what was found out with it holds the next time."""
        demand = _demand(request.gpu, request.cpu, request.memory, request.tolerations, request.strategy)
        if demand.gpu is not None:
            demand.gpu.make_room()
        return demand


_demand = lru_cache(maxsize=MOST_KNOWN_DEMANDS)(Demand)
_gpu_demand = lru_cache(maxsize=MOST_KNOWN_DEMANDS)(GpuDemand)
