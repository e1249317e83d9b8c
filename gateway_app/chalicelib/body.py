"""What a provider sends as its body: decoded as it comes, with a bound before and after, and whole or an error.

gzip is undone here and not by libcurl, which lets a body pass whose gzip is cut short.
"""

import zlib
from collections.abc import Iterator

Fault = tuple[str, str]  # an outcome, and why in words

_GZIP = ("gzip", "x-gzip")
_GZIP_FORMAT = zlib.MAX_WBITS | 16  # zlib's number for: with the header and checksum of gzip, and nothing else
_MOST_AT_ONCE = 256 << 10  # bytes


class Body:
    """One reply's body."""

    def __init__(self, encoding: str, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._chunks: list[bytes] = []
        self._sent_bytes = self._bytes = 0
        self._gzip = zlib.decompressobj(_GZIP_FORMAT) if encoding.lower() in _GZIP else None
        self.fault: Fault | None = None
        if self._gzip is None and encoding.lower() not in ("", "identity"):
            self.fault = "protocol_error", "its content coding was not asked for; gzip was"

    def take(self, chunk: bytes) -> bool:
        """A piece as it was sent; False when no more of it is wanted, and `fault` says why."""
        self._sent_bytes += len(chunk)
        try:
            for piece in self._decoded(chunk):
                self._bytes += len(piece)
                if max(self._bytes, self._sent_bytes) > self._most_bytes:
                    self.fault = "too_large", f"more than {self._most_bytes} bytes of inventory"
                    return False
                self._chunks.append(piece)
        except zlib.error:
            self.fault = "protocol_error", "its gzip is broken"
            return False
        return True

    def _decoded(self, chunk: bytes) -> Iterator[bytes]:
        """What a piece becomes, a little at a time: zlib needs twice the room of what it gives back."""
        if self._gzip is None:
            yield chunk
            return
        is_more = True
        while is_more:
            most = min(_MOST_AT_ONCE, self._most_bytes - self._bytes + 1)
            piece = self._gzip.decompress(chunk, most)
            yield piece
            chunk = self._gzip.unconsumed_tail
            is_more = len(piece) == most and not self._gzip.eof

    def end(self) -> Fault | None:
        """What is wrong with the whole, now that nothing more comes."""
        if self.fault is None and self._gzip is not None and self._sent_bytes:
            if not self._gzip.eof:
                self.fault = "protocol_error", "its gzip is cut short"
            elif self._gzip.unused_data:
                self.fault = "protocol_error", "something follows its gzip"
        return self.fault

    def whole(self) -> bytes:
        """All of it, decoded."""
        return b"".join(self._chunks)
