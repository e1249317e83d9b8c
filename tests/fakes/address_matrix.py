"""Every way to write an address that a provider may not have, and what it is: what no policy may be talked into."""

from typing import NamedTuple


class Row(NamedTuple):
    """A host as it stands in a base_url, and the kind of address it leads to. `form`: a URL of another shape."""

    host: str
    kind: str  # public, private, loopback, never; where it leads
    form: str = "{scheme}://{host}:{port}"

    def url(self, scheme: str, port: int) -> str:
        """The base_url."""
        return self.form.format(scheme=scheme, host=self.host, port=port)


# Names and what they lead to.
NAMES = {
    "public.test": "8.8.8.8",
    "private.test": "10.0.0.7",
    "loopback.test": "127.0.0.1",
    "metadata.test": "169.254.169.254",
    "both.test": "8.8.8.8 127.0.0.1",
    "both-v6.test": "8.8.8.8 ::1",
    "mapped.test": "::ffff:169.254.169.254",
    "xn--mnchen-3ya.test": "127.0.0.1",
}

_LOOPBACK = (
    *(
        "127.0.0.1",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
    ),
    *("0x7f.1", "0177.0.0.1", "017700000001", "127.0.0.1.", "127.255.255.254", "[::1]", "[0:0:0:0:0:0:0:1]"),
    *("[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]"),
    *(
        "[0:0:0:0:0:ffff:127.0.0.1]",
        "[::FFFF:7F00:0001]",
        "[64:ff9b::127.0.0.1]",
        "0x7F.0.0.1",
        "0000177.0.0.1",
        "lab.localhost",
    ),
    *("loopback.test", "loopback.test.", "LOOPBACK.test", "xn--mnchen-3ya.test"),
)
_NEVER = (
    *("169.254.169.254", "2852039166", "0xA9FEA9FE", "0251.0376.0251.0376", "169.254.43518", "169.254.170.2"),
    *("169.254.170.23", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::]"),
    *(
        "[fd00:ec2::254]",
        "[fd00:ec2::23]",
        "[fe80::1]",
        "[fe80::1%25lo]",
        "100.100.100.200",
        "192.0.0.192",
        "168.63.129.16",
    ),
    *(
        "[::ffff:0:127.0.0.1]",
        "[::ffff:0:a9fe:a9fe]",
        "[2001:0:7f00:1::]",
        "[fe80::5efe:7f00:1]",
        "100.64.0.1",
        "0.0.0.0",
        "0",
        "[::]",
        "[::127.0.0.1]",
        "[64:ff9b:1::1]",
        "[2001:db8::1]",
        "[fec0::1]",
        "[2001::1]",
    ),
    *("192.0.2.1", "198.18.0.1", "203.0.113.9", "224.0.0.1", "255.255.255.255", "metadata.test", "mapped.test"),
)
_PRIVATE = (
    *("10.0.0.7", "172.16.0.1", "192.168.1.1", "0x0a000007", "012.0.0.7", "[fc00::1]", "[fd12::1]"),
    *("[::ffff:10.0.0.7]", "[64:ff9b::a00:7]", "[2002:a00:7::]", "private.test"),
)
_PUBLIC = ("8.8.8.8", "public.test", "[2606:4700::1111]")
_OTHER_SHAPES = (
    Row("127.0.0.1", "loopback", "{scheme}://8.8.8.8@{host}:{port}"),
    Row("127.0.0.1", "loopback", "{scheme}://8.8.8.8:{port}@{host}:{port}/"),
    Row("127.0.0.1", "loopback", "{scheme}://8.8.8.8:{port}\\@{host}:{port}/"),
    Row("127.0.0.1", "loopback", "{scheme}://{host}:{port}#@8.8.8.8"),
    Row("127.0.0.1", "loopback", "{scheme}://{host}:{port}?@8.8.8.8"),
    Row("127.0.0.1", "loopback", "{scheme}:{host}:{port}"),
    Row("127.0.0.1", "loopback", "{scheme}:///{host}:{port}"),
    Row("127.0.0.1", "loopback", "{scheme}://{host}%00.example.org:{port}"),
    Row("127.0.0.1", "loopback", "{scheme}://{host}%2eexample.org:{port}"),
    Row("①②⑦.⓪.⓪.①", "loopback"),
    Row("127。0。0。1", "loopback"),
    Row("localhoﬆ", "loopback"),
    Row("münchen.test", "loopback"),
    Row("127.0.0.1", "loopback", "file://{host}/etc/hosts"),
    Row("127.0.0.1", "loopback", "gopher://{host}:{port}/x"),
    Row("127.0.0.1", "loopback", "ftp://{host}:{port}/x"),
    Row("127.0.0.1", "loopback", "unix:///{host}"),
)
_MIXED = (Row("both.test", "loopback"), Row("both-v6.test", "loopback"))  # public as well: that one may be called

ROWS = (
    *(Row(host, "loopback") for host in _LOOPBACK),
    *(Row(host, "never") for host in _NEVER),
    *(Row(host, "private") for host in _PRIVATE),
    *(Row(host, "public") for host in _PUBLIC),
    *_OTHER_SHAPES,
    *_MIXED,
)
