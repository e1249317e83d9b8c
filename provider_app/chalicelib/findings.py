"""What was odd or left out while a cluster was read, as warnings: bounded in number and length, cleaned, in one order."""

from fedcompute.inventory import Warning as InventoryWarning
from fedcompute.text import clean

MOST_PER_NODE = 12
MOST_PER_CLUSTER = 200
_MOST_HELD = 5000


class Findings:
    """Collects warnings about one node, or about the cluster where `node` is None; equal ones stand once."""

    def __init__(self, node: str | None = None, most: int = MOST_PER_NODE) -> None:
        self._node = None if node is None else clean(node)
        self._most = most
        self._found: set[tuple[str, str, str]] = set()

    def add(self, code: str, message: str, device: str | None = None) -> None:
        """One more. `message` names the annotation, object or resource, and the reason."""
        if len(self._found) < _MOST_HELD:
            self._found.add((code, clean(message), clean(device or "")))

    def warnings(self) -> list[InventoryWarning]:
        """As many as may be, in the order of their codes and texts, and how many more there were."""
        if not self._found:
            return []
        kept = [
            InventoryWarning(code=code, message=message, node=self._node, device=device or None)
            for code, message, device in sorted(self._found)[: self._most]
        ]
        if len(self._found) > self._most:
            message = f"{len(self._found) - self._most} more warnings left out"
            kept.append(InventoryWarning(code="more_warnings", message=message, node=self._node))
        return kept
