"""The sample inventories: checked by the code that serves them, before anything is started."""

from collections.abc import Iterable
from pathlib import Path

from fedcompute import inventory_file
from fedcompute.inventory import Inventory
from scripts.settings import PROVIDERS, ROOT
from scripts.terminal import Failure, line

FOLDER = ROOT / "provider_app" / "inventories"


def check(folder: Path = FOLDER, names: Iterable[str] = PROVIDERS) -> None:
    """Says what each file holds. Raises Failure, with every mistake, for the first that its provider could not serve."""
    for name in names:
        file = folder / f"{name}.json"
        shown = file.relative_to(ROOT) if file.is_relative_to(ROOT) else file
        try:
            nodes = _served(file, name).nodes
        except OSError as error:
            raise Failure(f"{shown} can't be read: {error.strerror}.") from error
        except inventory_file.InventoryFileError as error:
            mistakes = [f"{shown}:{place}: {message}" if place else f"it {message}" for place, message in error.faults]
            raise Failure("\n".join([f"{shown} is not {name}'s inventory:", *mistakes])) from error
        line(f"{shown}: {len(nodes)} nodes, {sum(len(node.devices) for node in nodes)} devices")


def _served(file: Path, name: str) -> Inventory:
    held = inventory_file.load(file.read_bytes())
    if held.provider_id != name:
        fault = "/provider_id", f"is {held.provider_id}, but the file is {name}'s; make them the same"
        raise inventory_file.InventoryFileError([fault])
    return held
