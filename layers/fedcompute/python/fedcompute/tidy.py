"""What a provider says in texts, made fit for an answer, a page and a terminal.

Almost every document is plain, and seen to be so at a glance; only of the others each text is looked at.
"""

from collections.abc import Iterator

from msgspec import structs

from fedcompute.inventory import LONGEST_NAME, Device, Inventory, Node, Taint
from fedcompute.text import clean

_DEVICE_TEXTS = ("id", "resource", "vendor", "model", "mode", "card")
_TAINT_TEXTS = ("key", "value", "effect")


def tidied(inventory: Inventory) -> Inventory:
    """Without control, format and surrogate characters in what it shows; the same one where there are none."""
    nodes = [_tidied(node) for node in inventory.nodes]
    source = _clean(inventory.source)
    if source == inventory.source and all(new is old for new, old in zip(nodes, inventory.nodes, strict=True)):
        return inventory
    return structs.replace(inventory, source=source, nodes=nodes)


def _tidied(node: Node) -> Node:
    if "".join(_texts(node)).isprintable():
        return node
    return structs.replace(
        node,
        name=_clean(node.name),
        labels={_clean(key): _clean(value) for key, value in node.labels.items()},
        taints=[_cleaned(taint, _TAINT_TEXTS) for taint in node.taints],
        devices=[_cleaned(device, _DEVICE_TEXTS) for device in node.devices],
    )


def _texts(node: Node) -> Iterator[str]:
    yield node.name
    yield from node.labels
    yield from node.labels.values()
    for taint in node.taints:
        yield from (taint.key, taint.value, taint.effect)
    for device in node.devices:
        yield from (device.id, device.resource, device.vendor, device.model, device.mode or "", device.card or "")


def _cleaned[Part: (Device, Taint)](part: Part, names: tuple[str, ...]) -> Part:
    texts = {name: getattr(part, name) for name in names}
    return structs.replace(part, **{name: text and _clean(text) for name, text in texts.items()})


def _clean(text: str) -> str:
    return clean(text, LONGEST_NAME)
