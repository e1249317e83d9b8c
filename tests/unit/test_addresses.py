"""Which addresses a provider may have, under each policy and in each way to write them."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.addresses import BAD_PORT, AddressPolicy, Reach

PUBLIC, PRIVATE, ANY = AddressPolicy(Reach.PUBLIC), AddressPolicy(Reach.PRIVATE), AddressPolicy(Reach.ANY)


def allowed_by(address: str) -> list[Reach]:
    return [policy.reach for policy in (PUBLIC, PRIVATE, ANY) if policy.refusal(address, 443) is None]


@pytest.mark.parametrize(
    "address",
    [
        *("8.8.8.8", "1.1.1.1", "11.0.0.0", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0"),
        *("192.167.1.1", "198.17.0.1", "198.20.0.1", "223.255.255.255"),
        *("2606:4700::1111", "2a00:1450::1", "2001:4860:4860::8888"),
    ],
)
def test_public_address_is_allowed_by_every_policy(address: str) -> None:
    assert allowed_by(address) == [Reach.PUBLIC, Reach.PRIVATE, Reach.ANY]


@pytest.mark.parametrize(
    "address",
    [
        *("10.0.0.0", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255"),
        *("fc00::1", "fd12:3456::1"),
        *("::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::"),  # carry 10.0.0.1
    ],
)
def test_private_address_needs_the_private_policy(address: str) -> None:
    assert allowed_by(address) == [Reach.PRIVATE, Reach.ANY]
    assert PUBLIC.refusal(address, 443) == "is in a private network"


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.255.255.254", "127.1.2.3", "::1"),
        *("::ffff:127.0.0.1", "::ffff:7f00:1", "64:ff9b::7f00:1", "2002:7f00:1::", "2002:7f00:1:ffff::1"),
    ],
)
def test_own_machine_needs_the_policy_that_allows_any(address: str) -> None:
    assert allowed_by(address) == [Reach.ANY]
    assert PRIVATE.refusal(address, 443) == "is on the gateway's own machine"


@pytest.mark.parametrize(
    "address",
    [
        # link-local and metadata
        *("169.254.169.254", "169.254.0.1", "169.254.170.2", "fe80::1", "fe80::1%eth0", "febf::1"),
        *("fd00:ec2::254", "100.100.100.200", "192.0.0.192", "168.63.129.16"),
        *("::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::"),
        # unspecified, shared, special, documentation, benchmarks, multicast, reserved, broadcast
        *("0.0.0.0", "0.1.2.3", "100.64.0.1", "100.127.255.255", "192.0.0.8", "192.0.2.1", "192.88.99.1"),
        *("198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.250"),
        *("240.0.0.1", "255.255.255.255", "::ffff:0.0.0.0", "::ffff:224.0.0.1"),
        # the same of IPv6; IPv4-compatible, site-local, local NAT64, Teredo, discard
        *("::", "::127.0.0.1", "::10.0.0.1", "::8.8.8.8", "fec0::1", "ff02::1", "64:ff9b:1::1", "100::1"),
        *("2001::1", "2001:10::1", "2001:db8::1", "3fff::1", "5f00::1", "4000::1"),
    ],
)
def test_special_address_is_allowed_by_no_policy(address: str) -> None:
    assert allowed_by(address) == []


@given(st.ip_addresses())
def test_nearer_reach_allows_all_that_a_farther_one_does(address: ipaddress.IPv4Address) -> None:
    allowed = allowed_by(str(address))

    assert allowed == [reach for reach in Reach if reach in allowed]
    assert allowed in ([], [Reach.ANY], [Reach.PRIVATE, Reach.ANY], list(Reach))


@given(st.ip_addresses(v=4))
def test_ipv4_address_is_judged_alike_in_each_ipv6_address_that_carries_it(address: ipaddress.IPv4Address) -> None:
    number = int(address)
    carriers = (
        ipaddress.IPv6Address((0xFFFF << 32) | number),
        ipaddress.IPv6Address((0x64FF9B << 96) | number),
        ipaddress.IPv6Address((0x2002 << 112) | (number << 80) | 1),
    )

    for carrier in carriers:
        for policy in (PUBLIC, PRIVATE, ANY):
            assert policy.refusal(str(carrier), 80) == policy.refusal(str(address), 80)


# --- as URLs, when a provider registers


@pytest.mark.parametrize("url", ["https://gpu.example.org", "https://8.8.8.8:8443/lab", "https://[2606:4700::1]/"])
def test_public_https_url_is_allowed_by_every_policy(url: str) -> None:
    assert [policy.refusal_of_url(url) for policy in (PUBLIC, PRIVATE, ANY)] == [None, None, None]


def test_http_is_for_private_networks_and_ones_own_machine() -> None:
    assert PUBLIC.refusal_of_url("http://gpu.example.org") == "must begin with https://"
    assert PRIVATE.refusal_of_url("http://gpu.example.org") is None
    assert ANY.refusal_of_url("http://127.0.0.1:8081") is None


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "lab.localhost", "127.0.0.1", "[::1]", "[::ffff:7f00:1]"])
def test_own_machine_by_any_name_needs_the_policy_that_allows_any(host: str) -> None:
    url = f"https://{host}:8081"

    assert PUBLIC.refusal_of_url(url) == "is on the gateway's own machine"
    assert PRIVATE.refusal_of_url(url) == "is on the gateway's own machine"
    assert ANY.refusal_of_url(url) is None


@pytest.mark.parametrize(
    "host",
    [
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "127.1",
        "127.0.1",
        "010.0.0.1",
        "1.2.3.04",
        "0",
        "0xa9fea9fe",
    ],
)
def test_address_in_a_code_of_its_own_is_refused_by_every_policy(host: str) -> None:
    for policy in (PUBLIC, PRIVATE, ANY):
        refusal = policy.refusal_of_url(f"https://{host}/")
        assert refusal == "must have a plain address, such as 10.0.0.7"


@pytest.mark.parametrize("host", ["169.254.169.254", "[fd00:ec2::254]", "[::ffff:169.254.169.254]", "0.0.0.0"])
def test_metadata_url_is_refused_by_every_policy(host: str) -> None:
    for policy in (PUBLIC, PRIVATE, ANY):
        assert policy.refusal_of_url(f"https://{host}/latest") == "is in a network that no provider may be in"


@pytest.mark.parametrize("port", [22, 25, 53, 1, 81, 442, 444, 1023])
def test_port_of_another_service_is_refused_by_every_policy(port: int) -> None:
    for policy in (PUBLIC, PRIVATE, ANY):
        for host in ("8.8.8.8", "gpu.example.org", "127.0.0.1", "10.0.0.7"):
            assert policy.refusal_of_url(f"https://{host}:{port}") is not None
        assert policy.refusal("8.8.8.8", port) == BAD_PORT
    assert ANY.refusal("127.0.0.1", port) == BAD_PORT
    assert PRIVATE.refusal("10.0.0.7", port) == BAD_PORT


@pytest.mark.parametrize("port", [80, 443, 1024, 8081, 8443, 65535])
def test_ports_of_the_web_and_those_without_a_service_are_for_providers(port: int) -> None:
    for policy in (PUBLIC, PRIVATE, ANY):
        assert policy.refusal_of_url(f"https://gpu.example.org:{port}") is None
        assert policy.refusal("8.8.8.8", port) is None


# --- what the gateway itself talks to

OURS = "must not be the gateway itself or its AWS endpoint"
ENDPOINT = AddressPolicy(Reach.ANY, ["http://127.0.0.1:4566", "https://DynamoDB.example.com"])


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:4566",
        "https://127.0.0.1:4566/x",
        "https://dynamodb.example.com",
        "https://dynamodb.example.com:443",
    ],
)
def test_aws_endpoint_is_no_provider(url: str) -> None:
    assert ENDPOINT.refusal_of_url(url) == OURS


@pytest.mark.parametrize("host", ["localhost", "127.0.0.2", "[::1]", "[::ffff:127.0.0.1]"])
def test_aws_endpoint_on_this_machine_is_no_provider_by_any_other_name_either(host: str) -> None:
    assert ENDPOINT.refusal_of_url(f"http://{host}:4566") == "is the AWS endpoint's or the Lambda run time's"
    assert ENDPOINT.refusal_of_url(f"http://{host}:4567") is None


def test_forbidden_address_is_refused_at_connect_time_on_its_port_alone() -> None:
    policy = AddressPolicy(Reach.ANY, ["http://10.1.2.3:9001"])

    assert policy.refusal("10.1.2.3", 9001) == "is the AWS endpoint's or the Lambda run time's"
    assert policy.refusal("::ffff:10.1.2.3", 9001) == "is the AWS endpoint's or the Lambda run time's"
    assert policy.refusal("10.1.2.3", 9002) is None
    assert policy.refusal("10.1.2.4", 9001) is None


@pytest.mark.parametrize(
    ("url", "own_host"),
    [
        ("http://gateway.example.org", "gateway.example.org"),
        ("https://gateway.example.org/lab", "gateway.example.org"),  # the port is that of the scheme
        ("https://gateway.example.org:443", "Gateway.Example.org"),
        ("http://gateway.example.org:8080", "gateway.example.org:8080"),
        ("http://localhost:8080", "127.0.0.1:8080"),
        ("http://127.0.0.1:8080", "localhost:8080"),
        ("http://[::1]:8080", "[::1]:8080"),
        ("http://[0:0::1]:8080", "[::1]:8080"),
        ("http://[::ffff:127.0.0.1]:8080", "localhost:8080"),
        ("http://[::ffff:7f00:1]:8080", "127.0.0.1:8080"),
        ("http://[::1]:8080", "localhost:8080"),
        ("http://127.0.0.2:8080", "localhost:8080"),
        ("http://lab.localhost:8080", "[::1]:8080"),
    ],
)
def test_gateway_is_no_provider_of_its_own(url: str, own_host: str) -> None:
    assert ANY.refusal_of_url(url, own_host) == OURS


@pytest.mark.parametrize("own_host", ["", "other.example.org", "localhost:8080", "a:b:c", "[", "x:99999", "\x00"])
def test_other_hosts_and_senseless_ones_refuse_nothing(own_host: str) -> None:
    assert ANY.refusal_of_url("http://localhost:8081", own_host) is None


# --- APIs that were deployed to an emulator

EMULATOR = "http://127.0.0.1:4566"
DEPLOYED = [
    f"{EMULATOR}/restapis/abc123/api/_user_request_",
    "http://localhost:4566/restapis/abc123/api/_user_request_",
    f"{EMULATOR}/_aws/execute-api/abc123/api",
]
NOT_DEPLOYED = [
    EMULATOR,
    f"{EMULATOR}/bucket/key",
    f"{EMULATOR}/restapis/abc123/api",
    f"{EMULATOR}/restapis/abc123/api/_user_request_/more",
    f"{EMULATOR}/restapis/abc123/api//_user_request_",
    f"{EMULATOR}/restapis/abc%2f123/api/_user_request_",
    f"{EMULATOR}/x/restapis/abc123/api/_user_request_",
    "http://127.0.0.1:9001/restapis/abc123/api/_user_request_",
]


def beside_an_emulator(reach: Reach = Reach.ANY) -> AddressPolicy:
    return AddressPolicy(reach, [EMULATOR, "http://127.0.0.1:9001"], emulator=EMULATOR)


@pytest.mark.parametrize("url", DEPLOYED)
def test_deployed_api_may_be_a_provider_though_it_is_behind_the_aws_endpoint(url: str) -> None:
    policy = beside_an_emulator()

    assert policy.refusal_of_url(url, own_host="127.0.0.1:4566", own_api="other") is None
    assert policy.refusal("127.0.0.1", 4566, url) is None


@pytest.mark.parametrize("url", NOT_DEPLOYED)
def test_nothing_else_behind_the_aws_endpoint_may(url: str) -> None:
    policy = beside_an_emulator()

    assert policy.refusal_of_url(url, own_host="127.0.0.1:4566", own_api="other") is not None
    assert policy.refusal("127.0.0.1", 9001 if ":9001" in url else 4566, url) is not None


def test_gateway_that_was_deployed_is_no_provider_of_its_own() -> None:
    assert beside_an_emulator().refusal_of_url(DEPLOYED[0], "127.0.0.1:4566", "abc123") == OURS


def test_name_that_leads_to_the_aws_endpoint_gains_nothing_from_a_path() -> None:
    url = "http://lab.example.org:4566/restapis/abc123/api/_user_request_"

    assert beside_an_emulator().refusal("127.0.0.1", 4566, url) is not None


def test_no_such_api_is_a_provider_where_only_public_ones_are() -> None:
    assert all(beside_an_emulator(Reach.PUBLIC).refusal_of_url(url) is not None for url in DEPLOYED)
