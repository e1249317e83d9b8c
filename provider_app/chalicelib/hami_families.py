"""Whose cards HAMi registers on a node, under which annotation, and what the numbers in it mean: one table.

Source: Project-HAMi/HAMi v2.10.0, pkg/device/*/device.go, and charts/hami/templates/scheduler/device-configmap.yaml for the
resource names; volcano-sh/devices for volcano.sh/node-vgpu-register.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from chalicelib.cards import CoreUnit

Form = Literal["records", "volcano", "metax", "enflame"]


@dataclass(frozen=True, slots=True)
class Family:
    """One kind of registered cards. `{chip}` stands for what the annotation's key says.

    `counts`: the resources, one slot each, that its device plugin advertises; the first is the default name.
    `memory`, `cores`: the resources by which a pod asks for a part of a card; `memory_unit` is their unit in MiB.
    """

    vendor: str
    pattern: str
    counts: tuple[str, ...]
    memory: str = ""
    memory_unit: int = 1
    cores: str = ""
    unit: CoreUnit = "percent"
    whole_core: bool = False  # the scheduler takes devcore for 100, whatever is registered
    percent_note: str = ""  # a node's annotation that says "true" where its cards count in percent all the same
    mode: str | None = None  # where none is written
    form: Form = "records"
    slots_are_allocatable: bool = False  # kubelet's count is the sum of the healthy cards' slots


FAMILIES: tuple[Family, ...] = (
    Family(
        "NVIDIA",
        "nvidia",
        ("nvidia.com/gpu",),
        "nvidia.com/gpumem",
        cores="nvidia.com/gpucores",
        mode="hami-core",
        slots_are_allocatable=True,
    ),
    Family("Hygon", "dcu", ("hygon.com/dcunum",), "hygon.com/dcumem", cores="hygon.com/dcucores"),
    Family(
        "Huawei",
        "ascend.*",
        ("huawei.com/{chip}",),
        "huawei.com/{chip}-memory",
        cores="huawei.com/{chip}-core",
        unit="parts",
        percent_note="hami-vnpu-core",
    ),
    Family(
        "Iluvatar",
        "iluvatar.*|(?:mr|bi)-.+",
        ("iluvatar.ai/{chip}-vgpu", "iluvatar.ai/vgpu"),
        "iluvatar.ai/{chip}.vMem",
        256,
        "iluvatar.ai/{chip}.vCore",
    ),
    Family("Kunlunxin", "xpu", ("kunlunxin.com/vxpu",), "kunlunxin.com/vxpu-memory"),
    Family("Vastai", "va", ("vastaitech.com/va",), whole_core=True),
    Family("Biren", "biren", ("birentech.com/gpu",), whole_core=True),
    Family("AMD", "amd", ("amd.com/gpu",), "amd.com/gpumem", cores="amd.com/gpucores", unit="parts"),
    Family("Cambricon", "mlu", ("cambricon.com/vmlu", "cambricon.com/mlunum")),  # until v2.4; by capacity since
)
METAX = Family("MetaX", "", ("metax-tech.com/sgpu",), form="metax")
ENFLAME = Family("Enflame", "", ("enflame.com/drs-gcu", "enflame.com/vgcu"), form="enflame")
VOLCANO = Family(
    "NVIDIA",
    "",
    ("volcano.sh/vgpu-number",),
    "volcano.sh/vgpu-memory",
    cores="volcano.sh/vgpu-cores",
    mode="hami-core",
    form="volcano",
    slots_are_allocatable=True,
)
UNKNOWN = Family("unknown", ".*", ())

_BY_KEY = {
    "metax-tech.com/node-gpu-devices": METAX,
    "enflame.com/gcu-drs-capacity": ENFLAME,
    "volcano.sh/node-vgpu-register": VOLCANO,
}
# Two word orders: hami.io/node-nvidia-register, hami.io/node-register-Ascend910B3. 4pd.io is what HAMi's keys began with
# before it was named HAMi (4paradigm/k8s-vgpu-scheduler).
_KEY = re.compile(r"(?:hami\.io|4pd\.io)/node-(?:register-(?P<after>.+)|(?P<before>.+)-register)")


@dataclass(frozen=True, slots=True)
class RegisterKey:
    """What an annotation's key says: the family, and the chip where the family has several."""

    family: Family
    chip: str

    def named(self, resource: str) -> str:
        """A resource's name with the chip in it."""
        return resource.replace("{chip}", self.chip)


@lru_cache(maxsize=1024)  # nodes have few different keys
def register_key(key: str) -> RegisterKey | None:
    """The register that an annotation's key stands for; None where it stands for none."""
    if key in _BY_KEY:
        return RegisterKey(_BY_KEY[key], "")
    match = _KEY.fullmatch(key)
    if match is None:
        return None
    chip = match["after"] or match["before"]
    family = next((one for one in FAMILIES if re.fullmatch(one.pattern, chip, re.IGNORECASE)), UNKNOWN)
    return RegisterKey(family, chip)
