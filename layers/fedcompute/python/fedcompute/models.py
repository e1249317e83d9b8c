"""Device model names: a request for `A100` finds "NVIDIA A100-SXM4-40GB", one for `A10` does not."""

import re

# Runs of letters and runs of decimal digits, in any script; all else separates.
_RUN = re.compile(r"[^\W\d_]+|\d+")


def runs(model: str) -> tuple[str, ...]:
    """The runs of letters and of digits in a model's name, in lower case."""
    return tuple(_RUN.findall(model.lower()))


def matches(wanted: tuple[str, ...], model: str) -> bool:
    """Whether the wanted runs stand whole and one after the other in the model's name."""
    found = runs(model)
    width = len(wanted)
    return any(found[at : at + width] == wanted for at in range(len(found) - width + 1))
