"""Which network addresses a provider may have: judged when it registers, and again at each connect.

The table is our own: what Python calls a global address changes with its patch level.
"""

import functools
import ipaddress
import re
import socket
from collections.abc import Iterable
from enum import StrEnum
from urllib.parse import urlsplit

from fedcompute.base_url import host_and_port

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# Below 1024 stand the services of machines, and what they answer would tell a stranger which of them run.
WEB_PORTS = (80, 443)
FIRST_FREE_PORT = 1024
BAD_PORT = "has a port that no provider may have: 80, 443 and those from 1024 are for them"


class Reach(StrEnum):
    """How near a provider may be."""

    PUBLIC = "public"  # https only
    PRIVATE = "private"  # also RFC 1918 and unique local addresses
    ANY = "any"  # also this machine


def _networks(*texts: str) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(text) for text in texts)


LOOPBACK = _networks("127.0.0.0/8", "::1/128")
PRIVATE = _networks("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
# Metadata services of clouds that stand in otherwise allowed networks.
METADATA = _networks("fd00:ec2::/32", "100.100.100.200/32", "192.0.0.192/32", "168.63.129.16/32")
# IANA's special-purpose registries: never a provider.
NEVER = METADATA + _networks(
    "0.0.0.0/8",
    "100.64.0.0/10",
    "169.254.0.0/16",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/3",
    "fe80::/10",
)
GLOBAL_V6 = ipaddress.IPv6Network("2000::/3")
NEVER_V6 = _networks("2001::/23", "2001:db8::/32", "3fff::/20")
# IPv6 prefixes that hold an IPv4 address, and how many bits from the right it stands.
EMBEDDED = (
    (ipaddress.IPv6Network("::ffff:0:0/96"), 0),  # IPv4-mapped
    (ipaddress.IPv6Network("64:ff9b::/96"), 0),  # NAT64
    (ipaddress.IPv6Network("2002::/16"), 80),  # 6to4
)


# Where an emulator of AWS has the APIs that were deployed to it: behind its own host and port.
_EMULATED_API = re.compile(r"/(?:restapis/(\w+)/[\w-]+/_user_request_|_aws/execute-api/(\w+)/[\w-]+)")


class AddressPolicy:
    """The rule of PROVIDER_ADDRESSES. `forbidden` are URLs that no provider may share host and port with.

    `emulator` is one of them, where AWS is an emulator: of what it answers, deployed APIs alone may be providers.
    """

    def __init__(self, reach: Reach, forbidden: Iterable[str] = (), emulator: str = "") -> None:
        self.reach = reach
        self._forbidden = tuple(host_and_port(url) for url in forbidden)
        self._emulator = host_and_port(emulator) if emulator and reach is not Reach.PUBLIC else None

    def refusal_of_url(self, base_url: str, own_host: str = "", own_api: str = "") -> str | None:
        """Why a base_url may not be registered, in words, or None. Names are judged again when they resolve.

        `own_host` and `own_api`: the Host that the caller named, and the id that API Gateway has this gateway under.
        """
        host, port = host_and_port(base_url)
        if self.reach is Reach.PUBLIC and not base_url.startswith("https:"):
            return "must begin with https://"
        api = self._emulated_api(base_url)
        is_own = api == own_api if api else bool(own_host) and _is_own(base_url, own_host)
        if is_own or (not api and (host, port) in self._forbidden):
            return "must not be the gateway itself or its AWS endpoint"
        if not _is_for_providers(port):
            return BAD_PORT
        try:
            return self.refusal(_without_localhost(host), port, base_url)
        except ValueError:
            return "must have a plain address, such as 10.0.0.7" if _is_coded_address(host) else None

    def refusal(self, host: str, port: int, base_url: str = "") -> str | None:
        """Why this address and port may not be connected to, in words, or None. ValueError: not an address.

        `base_url`: the provider's, whose name has led to the address.
        """
        address = _plain(ipaddress.ip_address(host.partition("%")[0]))
        is_denied = any(port == denied and _is_at(address, name) for name, denied in self._forbidden)
        if is_denied and not self._emulated_api(base_url):
            return "is the AWS endpoint's or the Lambda run time's"
        if _within(address, LOOPBACK):
            if self.reach is not Reach.ANY:
                return "is on the gateway's own machine"
            return None if _is_for_providers(port) else BAD_PORT
        if _within(address, NEVER) or (address.version == 6 and _is_special_v6(address)):
            return "is in a network that no provider may be in"
        if _within(address, PRIVATE) and self.reach is Reach.PUBLIC:
            return "is in a private network"
        return None if _is_for_providers(port) else BAD_PORT

    def _emulated_api(self, base_url: str) -> str | None:
        """The id of the API that a base_url is of, where it is one that was deployed to the emulator."""
        if self._emulator is None:
            return None
        host, port = host_and_port(base_url)
        if (_without_localhost(host), port) != (_without_localhost(self._emulator[0]), self._emulator[1]):
            return None
        found = _EMULATED_API.fullmatch(urlsplit(base_url).path)
        return (found[1] or found[2]) if found else None


def _is_for_providers(port: int) -> bool:
    return port in WEB_PORTS or port >= FIRST_FREE_PORT


def _is_own(base_url: str, own_host: str) -> bool:
    """Whether a URL leads to the host and port that a caller reached this gateway by."""
    scheme = base_url.partition(":")[0]
    host, port = host_and_port(base_url)
    try:
        own_name, own_port = host_and_port(f"{scheme}://{own_host}")
    except ValueError:  # what a caller sends as Host may be anything
        return False
    return (_written_plainly(host), port) == (_written_plainly(own_name), own_port)


def _written_plainly(host: str) -> str:
    """One spelling of an address that has several; whatever is this machine is 127.0.0.1."""
    host = _without_localhost(host)
    try:
        address = _plain(ipaddress.ip_address(host))
    except ValueError:  # a name
        return host
    return "127.0.0.1" if _within(address, LOOPBACK) else str(address)


def _without_localhost(host: str) -> str:
    return "127.0.0.1" if host == "localhost" or host.endswith(".localhost") else host


def _plain(address: Address) -> Address:
    """The IPv4 address that an IPv6 address carries, where it carries one."""
    for network, shift in EMBEDDED:
        if address in network:
            return ipaddress.IPv4Address((int(address) >> shift) & 0xFFFFFFFF)
    return address


def _is_special_v6(address: Address) -> bool:
    return not _within(address, PRIVATE) and (address not in GLOBAL_V6 or _within(address, NEVER_V6))


def _within(address: Address, networks: Iterable[Network]) -> bool:
    return any(address in network for network in networks)


def _is_coded_address(host: str) -> bool:
    """Whether the system would read a host as a number: 2130706433, 0x7f.1, 0177.0.0.1, 127.1."""
    try:
        socket.inet_aton(host)
    except OSError:
        return False
    return True


@functools.cache
def _addresses_of(name: str) -> frozenset[Address]:
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except OSError:
        return frozenset()
    return frozenset(ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found)


def _is_at(address: Address, name: str) -> bool:
    """Whether a forbidden name is this address; every loopback address is this machine."""
    theirs = _addresses_of(name)
    return address in theirs or (_within(address, LOOPBACK) and any(_within(other, LOOPBACK) for other in theirs))
