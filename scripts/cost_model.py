"""What a search costs in time, GB-seconds and dollars: pure arithmetic over measured constants and list prices.

CPU is measured by scripts.bench and fitted by scripts.simulate --calibrate; what Lambda, API Gateway and DynamoDB add is
modelled, and each such constant says so.
"""

from collections.abc import Sequence
from typing import NamedTuple

FULL_VCPU_MB = 1769  # a Lambda of this size has one vCPU (AWS documentation); a smaller one has its share of one
CONNECTIONS = 500  # of FANOUT_CONNECTIONS, for a search that is alone, as on Lambda
REGISTRY_MS = 5.0  # modelled: one consistent read of DynamoDB in the same region
INVOCATION_MS = 25.0  # modelled: sending a part to another warm invocation and getting it back
SENT_MS = 0.03  # measured by scripts.bench_parts: CPU of sending a provider elsewhere and of reading what came back
PROVIDERS_EACH = 1000  # SEARCH_PART_PROVIDERS, by default
MOST_PARTS = 17  # of one search, this invocation's own included
READ_UNITS = 1.0  # of one search: the version item; the list itself is kept

# us-east-1 list prices of November 2026, in dollars: AWS Lambda x86, API Gateway REST, DynamoDB on demand.
GB_SECOND = 0.0000166667
MILLION_INVOCATIONS = 0.20
MILLION_API_CALLS = 3.50
MILLION_READ_UNITS = 0.125

SECONDS_A_MONTH = 30 * 24 * 3600


class Constants(NamedTuple):
    """Milliseconds of one vCPU: of a search, of each provider asked, and of each node compared."""

    search: float
    provider: float
    node: float


class Case(NamedTuple):
    """One federation and one function."""

    providers: int
    nodes: int  # of each provider
    latency_ms: float
    memory_mb: int
    parts: int = 1


class Cost(NamedTuple):
    """Of one search. `dollars` are for a million of them."""

    wall_ms: float
    cpu_ms: float
    gb_seconds: float
    dollars: float

    def dollars_a_month(self, searches_per_s: float) -> float:
        """At a steady rate."""
        return self.dollars * searches_per_s * SECONDS_A_MONTH / 1e6


def cost(case: Case, constants: Constants) -> Cost:
    """What one search of this case costs when every part is warm."""
    providers = case.providers / case.parts
    cpu_ms = constants.search + constants.provider * providers + constants.node * providers * case.nodes
    share = min(1.0, case.memory_mb / FULL_VCPU_MB)
    waves = -(-providers // CONNECTIONS)
    others = case.parts - 1
    sent_ms = SENT_MS * providers if others else 0.0
    part_ms = waves * case.latency_ms + (cpu_ms + sent_ms) / share
    wall_ms = REGISTRY_MS + part_ms + (INVOCATION_MS if others else 0.0)
    gb_seconds = case.memory_mb / 1024 * (wall_ms + others * part_ms) / 1000
    dollars = (
        1e6 * gb_seconds * GB_SECOND
        + case.parts * MILLION_INVOCATIONS
        + MILLION_API_CALLS
        + READ_UNITS * MILLION_READ_UNITS
    )
    return Cost(wall_ms, cpu_ms * case.parts + sent_ms * others, gb_seconds, dollars)


def parts_of(providers: int, providers_each: int = PROVIDERS_EACH) -> int:
    """Into how many parts a deployed gateway divides a search of so many providers; 1: it does not."""
    return max(1, min(-(-providers // providers_each), MOST_PARTS))


def fitted(measured: Sequence[tuple[int, int, float]]) -> Constants:
    """Constants from (providers, nodes of each, CPU ms of a search): least squares, each relative to its size.

    Negative constants, which noise can make, are taken as 0. Raises ValueError for fewer than three measurements.
    """
    if len(measured) < len(Constants._fields):
        raise ValueError("three measurements of different shapes are needed")
    rows = [(1 / cpu, providers / cpu, providers * nodes / cpu) for providers, nodes, cpu in measured]
    normal = [[sum(row[i] * row[j] for row in rows) for j in range(3)] for i in range(3)]
    right = [sum(row[i] for row in rows) for i in range(3)]
    return Constants(*(max(0.0, value) for value in _solved(normal, right)))


def _solved(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Gauss's elimination with pivots, for three unknowns."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for column in range(len(rows)):
        pivot = max(range(column, len(rows)), key=lambda row: abs(rows[row][column]))
        if rows[pivot][column] == 0:
            raise ValueError("three measurements of different shapes are needed")
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for row in range(len(rows)):
            if row != column:
                factor = rows[row][column] / rows[column][column]
                rows[row] = [one - factor * other for one, other in zip(rows[row], rows[column], strict=True)]
    return [row[-1] / row[place] for place, row in enumerate(rows)]
