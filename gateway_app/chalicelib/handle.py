"""A libcurl handle that asks one provider and takes nothing from this machine's environment."""

import socket
from typing import Any

import certifi
import pycurl

RECEIVE_BUFFER_BYTES = 256 << 10


class Opened:
    """A socket that pycurl duplicates as soon as it has it; closed when pycurl lets go of it, and not a moment later."""

    def __init__(self, opened: socket.socket) -> None:
        self._opened = opened
        self.fileno = opened.fileno

    def __del__(self) -> None:
        self._opened.close()


def new_handle(open_socket: Any, on_header: Any, on_body: Any, most_body_bytes: int) -> pycurl.Curl:
    """A handle that calls these three: before it connects, for each line of a header, for each piece of a body."""
    curl = pycurl.Curl()
    options = {
        pycurl.NOSIGNAL: 1,
        pycurl.PROTOCOLS: pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS,
        pycurl.FOLLOWLOCATION: 0,
        pycurl.HTTP_VERSION: pycurl.CURL_HTTP_VERSION_1_1,
        pycurl.HTTP09_ALLOWED: 0,
        pycurl.PATH_AS_IS: 1,
        # Nothing of this machine's environment takes part: no proxy, no .netrc, no cookies.
        pycurl.PROXY: "",
        pycurl.NOPROXY: "*",
        pycurl.NETRC: pycurl.NETRC_IGNORED,
        pycurl.USERAGENT: "fedcompute-gateway",
        pycurl.MAXFILESIZE_LARGE: most_body_bytes,
        pycurl.BUFFERSIZE: RECEIVE_BUFFER_BYTES,
        pycurl.CAINFO: certifi.where(),
        pycurl.SSL_VERIFYPEER: 1,
        pycurl.SSL_VERIFYHOST: 2,
        pycurl.OPENSOCKETFUNCTION: open_socket,
        pycurl.HEADERFUNCTION: on_header,
        pycurl.WRITEFUNCTION: on_body,
    }
    for option, value in options.items():
        curl.setopt(option, value)
    return curl
