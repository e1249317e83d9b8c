"""Text that strangers wrote, made fit for an answer, a log line and a terminal."""

import unicodedata

LONGEST = 200
ELLIPSIS = "…"


def clean(text: str, longest: int = LONGEST) -> str:
    """Without control, format (bidi, zero width) and surrogate characters, and at most `longest` characters."""
    kept = text[: longest * 4]
    if not (kept.isascii() and kept.isprintable()):
        kept = "".join(" " if character.isspace() else character for character in kept)
        kept = "".join(character for character in kept if unicodedata.category(character) not in ("Cc", "Cf", "Cs"))
    return kept if len(kept) <= longest else kept[: longest - 1] + ELLIPSIS
