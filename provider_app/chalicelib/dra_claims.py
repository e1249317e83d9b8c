"""What ResourceClaims hold of DRA devices: an allocated claim holds its devices, whether or not a pod uses it."""

from collections.abc import Iterable

from chalicelib.core_objects import ResourceList
from chalicelib.dra_objects import ResourceClaim
from fedcompute.quantities import whole

Held = dict[tuple[str, str, str], list[ResourceList]]


def held_by(claims: Iterable[ResourceClaim]) -> Held:
    """By driver, pool and device, of each allocation what it consumes ({} where it takes the device whole).

    Access for administration (monitoring) takes nothing.
    """
    held: Held = {}
    for claim in claims:
        allocation = claim.status.allocation if claim.status is not None else None
        devices = allocation.devices if allocation is not None else None
        for one in (devices.results if devices is not None else None) or ():
            if not one.admin_access:
                held.setdefault((one.driver, one.pool, one.device), []).append(one.consumed_capacity or {})
    return held


def consumed(shares: Iterable[ResourceList], capacity: str, total: int) -> int:
    """Units of a capacity that shares of a device consume together; a share that does not say takes all of it."""
    together = 0
    for share in shares:
        said = next((value for name, value in share.items() if name.rpartition("/")[2] == capacity), None)
        amount = whole(said)
        together += total if amount is None else max(0, amount)
    return min(together, total)
