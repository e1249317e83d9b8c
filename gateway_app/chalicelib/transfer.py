"""One provider's call over libcurl: bounded in time and size, checked at connect, and every end of it a Reply."""

import socket
from typing import Any

import pycurl

from chalicelib.addresses import AddressPolicy
from chalicelib.body import Body, Fault
from chalicelib.calls import NOT_MODIFIED, OK, Call, Reply
from chalicelib.curl_words import without_place
from chalicelib.handle import Opened, new_handle
from chalicelib.reply_headers import Header, all_values, header, plain_value
from chalicelib.resting import Peer
from fedcompute.base_url import host_and_port, inventory_url
from fedcompute.signatures import Signed, signed_of

MOST_HEADER_BYTES = 64 << 10
FIRST_PACE = 40e6  # bytes of its replies that are read and compared in a second, until that is known
LONGEST_STATUS = 3  # digits
MOST_IGNORED_BYTES = 64 << 10  # of a body that nobody wants; more, and the connection is not worth keeping
SWITCHED = 101  # the only interim answer after which no HTTP comes

_TLS_ERRORS = frozenset({35, 51, 53, 54, 58, 59, 60, 64, 66, 77, 80, 82, 83, 90, 91, 98})


class Transfer:
    """A libcurl handle of one provider, used again and again by one lane."""

    # Of one call; each begins anew.
    _body: Body | None  # None: nobody wants it
    _headers: list[Header]
    _ignored_bytes: int
    _header_bytes: int
    _status: int  # 0: none yet
    _budget_ms: int
    _has_head: bool
    _is_cut: bool
    _blocked: str | None
    _fault: Fault | None

    def __init__(self, policy: AddressPolicy, most_body_bytes: int) -> None:
        self._policy = policy
        self._most_body_bytes = most_body_bytes
        self.pace = FIRST_PACE
        self.curl = new_handle(self._open_socket, self._on_header, self._on_body, most_body_bytes)
        self._asked: tuple[str, str | None, Signed | None] | None = None
        self._is_kept = True
        self._clear()

    @property
    def peer(self) -> Peer | None:
        """Whom it was connected to last."""
        address = self.curl.getinfo(pycurl.PRIMARY_IP)
        return (address, self.curl.getinfo(pycurl.PRIMARY_PORT)) if address else None

    def begin(self, call: Call, budget_ms: int, is_cut: bool, is_fresh: bool = False, is_kept: bool = True) -> None:
        """Make ready for one call. `is_cut`: the search's deadline comes before the provider's own timeout.

        `is_fresh`: over a new connection. `is_kept`: the connection stays open after it.
        """
        self._clear()
        if is_kept != self._is_kept:
            self._is_kept = is_kept
            self.curl.setopt(pycurl.FORBID_REUSE, int(not is_kept))
        self.curl.setopt(pycurl.FRESH_CONNECT, int(is_fresh))
        self._budget_ms, self._is_cut = budget_ms, is_cut
        self.curl.setopt(pycurl.TIMEOUT_MS, budget_ms)
        if self._asked != (call.base_url, call.etag, call.signed):
            self._asked = (call.base_url, call.etag, call.signed)
            self.curl.setopt(pycurl.URL, inventory_url(call.base_url))
            headers = ["Accept: application/json", "Accept-Encoding: gzip"]
            if call.etag is not None:
                headers.append(f"If-None-Match: {call.etag}")
            if call.signed is not None:
                headers += [f"{name}: {value}" for name, value in call.signed.headers.items()]
            self.curl.setopt(pycurl.HTTPHEADER, headers)

    def end(self, errno: int = 0) -> Reply:
        """What came of the call; `errno` is libcurl's, 0 for none."""
        seconds = self._seconds()
        outcome, message = self._outcome(errno)
        body = self._body.whole() if self._body is not None and outcome == OK else b""
        reply = Reply(
            outcome,
            message,
            round(seconds[-1] * 1000),
            self._status if self._has_head else None,
            body,
            plain_value(self._headers, b"etag"),
            plain_value(self._headers, b"x-observed-at"),
            seconds,
            self._signed(),
        )
        self._body = None
        return reply

    def too_late(self) -> Reply:
        """What is said of a call that the search's deadline has cut off."""
        return Reply("deadline_exceeded", "no answer before the search's deadline", round(self._seconds()[-1] * 1000))

    def close(self) -> None:
        """Give the handle back."""
        self.curl.close()

    def _clear(self) -> None:
        self._headers = []
        self._ignored_bytes = self._header_bytes = self._status = self._budget_ms = 0
        self._has_head = self._is_cut = False
        self._blocked = self._fault = self._body = None

    def _open_socket(self, purpose: int, address: Any) -> Any:  # noqa: ARG002 (libcurl's signature)
        host, port = address.addr[:2]
        self._blocked = self._policy.refusal(host, port, self._asked[0] if self._asked is not None else "")
        if self._blocked is not None:
            return pycurl.SOCKET_BAD
        return Opened(socket.socket(address.family, address.socktype, address.protocol))

    def _on_header(self, line: bytes) -> int | None:
        self._header_bytes += len(line)
        if self._header_bytes > MOST_HEADER_BYTES:
            self._fault = "protocol_error", f"more than {MOST_HEADER_BYTES} bytes of headers"
            return -1
        if line.startswith(b"HTTP/"):  # of an interim answer (1xx), or of the answer
            self._headers.clear()
            code = line.split(None, 2)[1:2]
            if code and len(code[0]) > LONGEST_STATUS:
                self._fault = "protocol_error", f"a status of more than {LONGEST_STATUS} digits"
                return -1
            self._status = int(code[0]) if code and code[0].isdigit() else 0
            if self._status == SWITCHED:
                self._fault = "protocol_error", f"switched to another protocol ({SWITCHED}), which nobody asked for"
                return -1
        elif self._has_head:
            return None  # a trailer: nothing of it is believed
        elif line in (b"\r\n", b"\n"):
            self._has_head = self._status >= 200
            return self._expect_body() if self._status == 200 else None
        else:
            self._headers.append(header(line))
        return None

    def _expect_body(self) -> int | None:
        self._body = Body(",".join(all_values(self._headers, b"content-encoding")), self._most_body_bytes)
        return None if self._body.fault is None else -1

    def _on_body(self, chunk: bytes) -> int | None:
        if self._body is not None:
            return None if self._body.take(chunk) else -1
        self._ignored_bytes += len(chunk)
        return -1 if self._ignored_bytes > MOST_IGNORED_BYTES else None

    def _outcome(self, errno: int) -> tuple[str, str | None]:  # noqa: C901, PLR0911 (one cause after another)
        fault = self._fault or (self._body.fault if self._body is not None else None)
        if fault is not None:
            return fault
        if self._has_head and self._status != 200:
            return self._outcome_of_status()
        if errno == pycurl.E_OPERATION_TIMEDOUT:
            if self._is_cut:
                return "deadline_exceeded", "no answer before the search's deadline"
            return "timeout", f"no answer within {self._budget_ms} ms"
        if errno == pycurl.E_FILESIZE_EXCEEDED:
            return "too_large", f"more than {self._most_body_bytes} bytes of inventory"
        if self._blocked is not None and errno == pycurl.E_COULDNT_CONNECT:
            return "address_blocked", f"its address {self._blocked}"
        if errno == pycurl.E_COULDNT_CONNECT:
            return "unreachable", "nothing accepts connections at its address"
        if errno == pycurl.E_COULDNT_RESOLVE_HOST:
            return "dns_failure", "its host name could not be resolved"
        if errno in _TLS_ERRORS:
            return "tls_failure", f"no trusted TLS connection: {self._error(errno)}"
        if errno:
            return "protocol_error", f"no complete HTTP answer: {self._error(errno)}"
        return (self._body.end() if self._body is not None else None) or (OK, None)

    def _error(self, errno: int) -> str:
        """libcurl's words, without the host."""
        host, port = host_and_port(self._asked[0]) if self._asked is not None else ("", 0)
        names = host, self.curl.getinfo(pycurl.PRIMARY_IP)
        return without_place(self.curl.errstr(), names, port) or f"libcurl's error {errno}"

    def _outcome_of_status(self) -> tuple[str, str | None]:
        is_revalidation = self._asked is not None and self._asked[1] is not None
        if self._status == 304 and is_revalidation:
            return NOT_MODIFIED, None
        if 300 <= self._status < 400 and self._status != 304:
            return "redirected", f"answered with a redirect ({self._status}); redirects are not followed"
        return "http_status", f"answered with status {self._status}"

    def _signed(self) -> Signed | None:
        """The reply's signature, where the call had one."""
        if self._asked is None or self._asked[2] is None:
            return None
        found = {name: plain_value(self._headers, name.encode()) or "" for name in self._asked[2].headers}
        return signed_of(found)

    def _seconds(self) -> tuple[float, float, float, float, float]:
        """What Timings.of takes."""
        get = self.curl.getinfo
        return (
            get(pycurl.NAMELOOKUP_TIME),
            get(pycurl.CONNECT_TIME),
            get(pycurl.APPCONNECT_TIME),
            get(pycurl.STARTTRANSFER_TIME),
            get(pycurl.TOTAL_TIME),
        )
