"""Extended resources by which device plugins advertise accelerators without HAMi: one table.

Sources: NVIDIA/k8s-device-plugin (nvidia.com/gpu, .shared, mig-*), ROCm/k8s-device-plugin (amd.com/gpu and compute and memory
partitions), intel/intel-device-plugins-for-kubernetes (i915, xe; monitoring and the old memory.max, millicores and tiles are
no capacity), and the vendors' own plugins. What is by HAMi's names and counted in parts is in capacity_cards.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

# One device each: whole cards, MIG slices, other fixed parts of cards. One device for all: shares of cards that nobody
# tells apart. Nothing: what describes or divides what another resource counts.
Kind = Literal["card", "slice", "part", "shares", "nothing"]


@dataclass(frozen=True, slots=True)
class Plain:
    """What a resource counts; `model` where no label says it. `mode` is the device's."""

    vendor: str
    kind: Kind
    model: str = ""
    mode: str | None = None


_TABLE: tuple[tuple[str, Plain], ...] = (
    (r"nvidia\.com/gpu", Plain("NVIDIA", "card", "NVIDIA GPU")),
    (r"nvidia\.com/gpu\.shared", Plain("NVIDIA", "shares", "NVIDIA GPU", "time-slicing")),
    (r"nvidia\.com/mig-[^.]+\.[^.]+\.shared", Plain("NVIDIA", "shares", "NVIDIA GPU", "mig")),
    (r"nvidia\.com/mig-.+", Plain("NVIDIA", "slice", "NVIDIA GPU", "mig")),
    (r"nvidia\.com/(gpumem|gpumem-percentage|gpucores|priority)", Plain("NVIDIA", "nothing")),
    (r"amd\.com/gpu", Plain("AMD", "card", "AMD GPU")),
    (r"amd\.com/(?P<mode>[a-z]px_nps[0-9])", Plain("AMD", "part", "AMD GPU")),
    (r"amd\.com/(gpumem|gpumem-percentage|gpucores)", Plain("AMD", "nothing")),
    (r"gpu\.intel\.com/(i915|xe)", Plain("Intel", "card", "Intel GPU")),
    (r"gpu\.intel\.com/.+", Plain("Intel", "nothing")),
    (r"habana\.ai/gaudi", Plain("Intel", "card", "Gaudi")),
    (r"google\.com/tpu", Plain("Google", "card", "TPU")),
    (r"aws\.amazon\.com/neurondevice", Plain("AWS", "card", "Neuron")),
    (r"aws\.amazon\.com/neuroncore", Plain("AWS", "part", "Neuron core")),
    (r"huawei\.com/(?P<model>Ascend[0-9A-Z]+)-[0-9]+c(\..+)?", Plain("Huawei", "part", mode="vnpu")),
    (r"huawei\.com/(Ascend.+)-(memory|core)", Plain("Huawei", "nothing")),
    (r"huawei\.com/(?P<model>Ascend[0-9A-Z-]+)", Plain("Huawei", "card")),
    (r"hygon\.com/dcu", Plain("Hygon", "card", "DCU")),
    (r"cambricon\.com/(?P<model>mlu[0-9]*)", Plain("Cambricon", "card")),
    (r"iluvatar\.(ai|com)/gpu", Plain("Iluvatar", "card", "Iluvatar GPU")),
    (r"mthreads\.com/gpu", Plain("MThreads", "card", "MThreads GPU")),
    (r"birentech\.com/gpu", Plain("Biren", "card", "Biren GPU")),
    (r"vastaitech\.com/va", Plain("Vastai", "card", "Vastai VA")),
    # Whole cards that capacity_cards lists; here so that no renamed resource is taken for them.
    (r"(metax-tech\.com|enflame\.com|kunlunxin\.com)/(gpu|gcu|xpu)", Plain("", "nothing")),
)


_LONGEST = 253 + 1 + 63  # a domain, a slash and a name


@lru_cache(maxsize=1024)
def plain(resource: str) -> Plain | None:
    """What an extended resource counts; None for what is not in the table, or too long to be a resource's name."""
    if len(resource) > _LONGEST:
        return None
    for pattern, found in _TABLE:
        match = re.fullmatch(pattern, resource)
        if match is not None:
            said = match.groupdict()
            return Plain(found.vendor, found.kind, said.get("model") or found.model, said.get("mode") or found.mode)
    return None


def is_plain(resource: str) -> bool:
    """Whether the table has the resource."""
    return plain(resource) is not None
