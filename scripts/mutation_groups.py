"""What `make mutation` tries, and which tests are to notice; and the mistakes that are none."""

from typing import NamedTuple

_SHARED = "layers/fedcompute/python/fedcompute"
_GATEWAY = "gateway_app/chalicelib"
_LIMITS = "tests/docs/test_reliability_page.py"


class Group(NamedTuple):
    """Modules by name, each with its file, and the tests that are to notice mistakes in them."""

    name: str
    modules: dict[str, str]
    tests: tuple[str, ...]


def _shared(*names: str) -> dict[str, str]:
    return {f"fedcompute.{name}": f"{_SHARED}/{name}.py" for name in names}


def _gateway(*names: str) -> dict[str, str]:
    return {f"chalicelib.{name}": f"{_GATEWAY}/{name}.py" for name in names}


def _unit(*names: str) -> tuple[str, ...]:
    return tuple(f"tests/unit/test_{name}.py" for name in names)


def _integration(*names: str) -> tuple[str, ...]:
    return tuple(f"tests/integration/test_{name}.py" for name in names)


GROUPS = (
    Group(
        "matching",
        _shared("matching", "explanation", "eligibility", "taints", "copies", "feasibility", "survey", "demand"),
        _unit("matching", "copies", "feasibility", "rejections", "ranking", "survey"),
    ),
    Group("ranking", _shared("ranking", "choice", "rounding"), _unit("ranking")),
    Group(
        "reading",
        _shared("reading", "rereading", "parting", "pieces", "soundness"),
        (*_unit("reading", "rereading", "hostile_replies"), _LIMITS),
    ),
    Group(
        "knowledge",
        _gateway("inventories", "comparison", "compared"),
        (*_unit("inventories", "comparison"), *_integration("search")),
    ),
    Group("addresses", _gateway("addresses"), _unit("addresses")),
    Group("circuit", _gateway("circuit", "turns", "body"), (*_unit("circuit", "turns", "body"), _LIMITS)),
    Group(
        "fan-out",
        _gateway("fanout", "crews", "lane", "sockets", "transfer", "resting", "reply_headers", "curl_words"),
        (*_unit("transfer", "resting"), *_integration("fanout", "tls"), _LIMITS),
    ),
    Group(
        "division",
        _gateway("division", "orders", "invocations"),
        (*_unit("division", "orders"), *_integration("divided_search", "invocations")),
    ),
    Group(
        "registry",
        _gateway("registry", "table", "snapshot", "attempts", "writes", "items"),
        _unit("registry_items", "registry_changes")
        + _integration(
            "registry_on_moto", "registry_in_trouble", "registry_patience", "registry_verbs", "registry_races"
        ),
    ),
)

# (module, what): mistakes that change nothing anybody could see.
EQUIVALENT = frozenset(
    {
        # A fit for a request with a GPU has a group, and one without has none.
        ("fedcompute.copies", "demand.gpu is not None and fit.group is not None"),
        # Both lists have a place for each device.
        ("fedcompute.matching", "True"),
        ("fedcompute.choice", "True"),
        # No two devices of a node have the same index and id.
        ("fedcompute.choice", "_tie(device) < _tie(chosen)"),
        # The same instant, a clock that stands still, and what the collector closes as well.
        ("chalicelib.lane", "time.monotonic() < deadline"),
        ("chalicelib.lane", "max(time.monotonic() - began, 1e-06)"),
        ("chalicelib.lane", "left out: self._sockets.close()"),
        # Whoever begins a call has said what is asked.
        ("chalicelib.transfer", "self._asked is not None"),
        # A connection whose number is of nothing is told again next time, and skipped again.
        ("chalicelib.resting", "left out: self._poll.unregister(fd)"),
        # Only `outcome` and `message` are read of it.
        ("fedcompute.reading", "left out: super().__init__(message)"),
    }
)
