"""Cards that HAMi knows by a node's extended resources alone, without a register annotation: one table.

Source: Project-HAMi/HAMi v2.10.0, GetNodeDevices in pkg/device/{cambricon,mthreads,metax,enflame,kunlun,awsneuron}. HAMi reads
capacity; here it is allocatable, since kubelet takes what is sick out of it. The memory of whole MetaX GPUs and Kunlun XPUs
is HAMi's nominal one, which it books by; Enflame's 100 is no MiB, and Neuron's 0 no memory: unknown.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from chalicelib.cards import Card, CoreUnit
from chalicelib.core_objects import ClusterNode
from chalicelib.findings import Findings
from chalicelib.node_state import count_of
from fedcompute.quantities import LARGEST
from fedcompute.soundness import MOST_DEVICES


@dataclass(frozen=True, slots=True)
class CardKind:
    """How a vendor's cards follow from its resources.

    `counted`: the resource that says how many cards there are, `each` of it a card. `memory`, `cores`: the resources of all
    cards together, memory in `memory_unit` MiB. `count`: the resource that a pod takes a card, or a share of one, by.
    """

    vendor: str
    count: str
    model: str
    id: str
    counted: str = ""
    each: int = 1
    memory: str = ""
    memory_unit: int = 1
    memory_mib: int | None = None
    cores: str = ""
    core_count: int = 100
    unit: CoreUnit = "percent"
    slots: int = 1


KINDS: tuple[CardKind, ...] = (
    CardKind(
        "Cambricon",
        "cambricon.com/vmlu",
        "MLU",
        "cambricon-mlu",
        counted="cambricon.com/mlu.smlu.vcore",
        each=100,
        memory="cambricon.com/mlu.smlu.vmemory",
        memory_unit=256,
        cores="cambricon.com/mlu.smlu.vcore",
        slots=100,
    ),
    CardKind(
        "MThreads",
        "mthreads.com/vgpu",
        "MThreads GPU",
        "mthreads",
        counted="mthreads.com/sgpu-core",
        each=16,
        memory="mthreads.com/sgpu-memory",
        memory_unit=512,
        cores="mthreads.com/sgpu-core",
        core_count=16,
        unit="parts",
        slots=100,
    ),
    CardKind("MetaX", "metax-tech.com/gpu", "MetaX GPU", "metax", memory_mib=65536),
    CardKind("Enflame", "enflame.com/gcu", "Enflame GCU", "GCU"),
    CardKind("Kunlunxin", "kunlunxin.com/xpu", "Kunlun XPU", "kunlun", memory_mib=98304),
    CardKind("AWS", "aws.amazon.com/neuron", "AWS Neuron", "AWSNeuron", cores="aws.amazon.com/neuroncore", unit="bits"),
)


def capacity_cards(node: ClusterNode, findings: Findings) -> Iterator[tuple[CardKind, list[Card]]]:
    """The cards of each kind that the node has; ids are those that HAMi gives them."""
    listed = node.status.allocatable or {}
    for kind in KINDS:
        amount = count_of(listed, kind.counted or kind.count)
        if not amount:
            continue
        count = min(-(-amount // kind.each), MOST_DEVICES)
        if -(-amount // kind.each) > MOST_DEVICES:
            findings.add("too_many_devices", f"{kind.count}: only the first {MOST_DEVICES} cards are listed")
        yield kind, [_card(kind, node, place, count, amount) for place in range(count)]


def _card(kind: CardKind, node: ClusterNode, place: int, count: int, amount: int) -> Card:
    slots, cores = kind.slots, kind.core_count
    if kind.unit == "bits":
        slots = max(1, min(31, (count_of(node.status.allocatable, kind.cores) or 0) // count))
        cores = (1 << slots) - 1
    return Card(
        id=f"{node.metadata.name}-{kind.id}-{place}",
        vendor=kind.vendor,
        resource=kind.count,
        model=kind.model,
        slots=slots,
        memory_mib=_memory_mib(kind, node, amount),
        cores=cores,
        unit=kind.unit,
        index=place,
        numa=int(kind.vendor == "Kunlunxin" and place >= count // 2),  # as HAMi takes it to be
    )


def _memory_mib(kind: CardKind, node: ClusterNode, amount: int) -> int | None:
    if not kind.memory:
        return kind.memory_mib
    together = count_of(node.status.allocatable, kind.memory)
    return min(together * kind.memory_unit * kind.each // amount, LARGEST) or None if together else None
