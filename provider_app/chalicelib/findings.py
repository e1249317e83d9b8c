"""What was odd or left out while a cluster was read, as warnings: bounded in number and length, cleaned."""

from fedcompute.inventory import Warning as InventoryWarning
from fedcompute.text import clean

MOST_PER_NODE = 12
MOST_PER_CLUSTER = 200


class Findings:
    """Collects warnings about one node, or about the cluster where `node` is None; equal ones stand once."""

    def __init__(self, node: str | None = None, most: int = MOST_PER_NODE) -> None:
        self._node = None if node is None else clean(node)
        self._most = most
        self._kept: dict[tuple[str, str, str | None], InventoryWarning] = {}
        self._more: set[tuple[str, str, str | None]] = set()

    def add(self, code: str, message: str, device: str | None = None) -> None:
        """One more. `message` names the annotation, object or resource, and the reason."""
        message, device = clean(message), None if device is None else clean(device)
        key = (code, message, device)
        if key in self._kept:
            return
        if len(self._kept) < self._most:
            self._kept[key] = InventoryWarning(code=code, message=message, node=self._node, device=device)
        elif len(self._more) < 10_000:
            self._more.add(key)

    def warnings(self) -> list[InventoryWarning]:
        """All that were kept, and how many were not."""
        kept = list(self._kept.values())
        if self._more:
            message = f"{len(self._more)} more warnings left out"
            kept.append(InventoryWarning(code="more_warnings", message=message, node=self._node))
        return kept
