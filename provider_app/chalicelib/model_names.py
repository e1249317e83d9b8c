"""Model names as people know them, of what plugins make of them."""

import re

_SLICE = re.compile(r"-MIG-[0-9][^ ]*$")


def plain(name: str) -> str:
    """Without the vendor's prefix that HAMi puts in front ("NVIDIA-NVIDIA A10", "NVIDIA-Tesla T4"); other names stay."""
    return name.removeprefix("NVIDIA-") or name


def of_label(product: str) -> str:
    """A product as GPU Feature Discovery writes it, blanks as dashes: without "-SHARED" and "-MIG-<profile>"."""
    name = _SLICE.sub("", product.removesuffix("-SHARED"))
    return f"NVIDIA {name[7:]}" if name.startswith("NVIDIA-") else name


def is_slice(product: str) -> bool:
    """Whether a product label names the slices of cards, as in the single MIG strategy."""
    return _SLICE.search(product.removesuffix("-SHARED")) is not None
