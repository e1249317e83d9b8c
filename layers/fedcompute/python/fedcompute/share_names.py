"""What HAMi calls a share of each vendor's card: the names of its resources, their units, and how a card is named.

Source: HAMi v2.10.0, charts/hami (values.yaml, templates/scheduler/device-configmap.yaml) and pkg/device/*. All names can be
changed in the chart's values; these are its defaults.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class ShareNames:
    """How a pod asks for a share of a card. None: that vendor has no such resource, or no such unit."""

    memory: str | None = None
    memory_unit_mib: int = 1
    memory_sizes: tuple[int, ...] = ()  # the only amounts that are taken, where not all are
    compute: str | None = None
    compute_of_card: int = 100  # what a whole card's compute is, in the resource's unit
    all_memory: str | None = None  # the resource that takes percents of the card's memory
    cards: str | None = None  # the annotation that lists the cards to choose from

    def memory_amount(self, mib: int) -> int:
        """MiB in the resource's unit, rounded up."""
        amount = _up(mib, self.memory_unit_mib)
        return next((size for size in self.memory_sizes if size >= amount), amount)

    def compute_amount(self, percent: int) -> int:
        """Percent of a card in the resource's unit, rounded up."""
        return _up(percent * self.compute_of_card, 100)


def share_names(resource: str) -> ShareNames | None:
    """The names that go with a count resource; None where HAMi does not share such devices."""
    known = _BY_RESOURCE.get(resource)
    if known is not None:
        return known
    for pattern, make in _BY_PATTERN:
        match = pattern.fullmatch(resource)
        if match is not None:
            return make(match[1])
    return None


def _up(amount: int, unit: int) -> int:
    return -(-amount // unit)


def _ascend(chip: str) -> ShareNames:
    return ShareNames(memory=f"huawei.com/{chip}-memory", cards=f"hami.io/use-{chip}-uuid")


def _iluvatar(chip: str) -> ShareNames:
    return ShareNames(memory=f"iluvatar.ai/{chip}.vMem", memory_unit_mib=256, compute=f"iluvatar.ai/{chip}.vCore")


_BY_PATTERN: tuple[tuple[re.Pattern[str], Callable[[str], ShareNames]], ...] = (
    (re.compile(r"huawei\.com/(Ascend[0-9A-Z-]+)"), _ascend),
    (re.compile(r"iluvatar\.ai/([A-Z0-9-]+)-vgpu"), _iluvatar),
)

_BY_RESOURCE: Mapping[str, ShareNames] = {
    "nvidia.com/gpu": ShareNames(
        memory="nvidia.com/gpumem",
        compute="nvidia.com/gpucores",
        all_memory="nvidia.com/gpumem-percentage",
        cards="nvidia.com/use-gpuuuid",
    ),
    "amd.com/gpu": ShareNames(memory="amd.com/gpumem", compute="amd.com/gpucores", cards="amd.com/use-gpu-uuid"),
    "hygon.com/dcunum": ShareNames(
        memory="hygon.com/dcumem", compute="hygon.com/dcucores", cards="hygon.com/use-gpuuuid"
    ),
    "cambricon.com/vmlu": ShareNames(
        memory="cambricon.com/mlu.smlu.vmemory",
        memory_unit_mib=256,
        compute="cambricon.com/mlu.smlu.vcore",
        cards="cambricon.com/use-gpuuuid",
    ),
    "metax-tech.com/sgpu": ShareNames(
        memory="metax-tech.com/vmemory",
        memory_unit_mib=1024,
        compute="metax-tech.com/vcore",
        cards="metax-tech.com/use-gpuuuid",
    ),
    "mthreads.com/vgpu": ShareNames(
        memory="mthreads.com/sgpu-memory",
        memory_unit_mib=512,
        memory_sizes=(2, 4, 8, 16, 32, 64, 96),
        compute="mthreads.com/sgpu-core",
        compute_of_card=16,
        cards="mthreads.ai/use-gpuuuid",
    ),
    "kunlunxin.com/vxpu": ShareNames(memory="kunlunxin.com/vxpu-memory", cards="hami.io/use-xpu-uuid"),
    "vastaitech.com/va": ShareNames(cards="vastaitech.com/use-gpuuuid"),
    "birentech.com/gpu": ShareNames(cards="birentech.com/use-gpuuuid"),
}
