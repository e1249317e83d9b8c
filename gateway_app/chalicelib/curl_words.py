"""What libcurl says of a call that failed, without where the provider is: who may search need not know that."""

import re

from fedcompute.text import clean

LONGEST = 120


def without_place(words: str, names: tuple[str, ...], port: int) -> str:
    """The words, cut and cleaned; each name of the host, with its port or without, is "its host"."""
    for name in filter(None, names):
        words = re.sub(rf"\[?{re.escape(name)}\.?\]?(:{port}\b)?", "its host", words, flags=re.IGNORECASE)
    return clean(words, LONGEST)
