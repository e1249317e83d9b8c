"""What the federation has, as a person reads it: totals, by provider and by model."""

from collections.abc import Iterator

from rich.console import Console, RenderableType
from rich.text import Text

from fedcompute.commands.tables import Cells, Column, bar, is_wide, of, put, table
from fedcompute.commands.words import GIB, counted, gib, gib_of_mib, model
from fedcompute.overview import DeviceSums, ProviderTotals, Resources
from fedcompute.text import clean

_BY_PROVIDER = (
    Column("provider", is_words=True, is_firm=False),
    Column("nodes"),
    Column("GPUs"),
    Column("unused"),
    Column("free\nshares"),
    Column("GPU memory\nin use", is_words=True),
    Column("free\nGPU GiB"),
    Column("free\ncores"),
    Column("free\nGiB"),
)
_BY_MODEL = (
    Column("vendor", is_words=True),
    Column("model", is_words=True, is_firm=False),
    Column("GPUs"),
    Column("healthy", is_wide=True),
    Column("unused"),
    Column("free\nshares"),
    Column("GPU memory\nin use", is_words=True),
    Column("free\nGPU GiB"),
)


def draw_overview(console: Console, answer: Resources) -> None:
    """Prints the overview."""
    for part in overview(answer, wide=is_wide(console), is_terminal=console.is_terminal):
        put(console, part)


def overview(answer: Resources, *, wide: bool = False, is_terminal: bool) -> Iterator[RenderableType]:
    """The overview's parts, one under the other."""
    yield Text(_headline(answer), style="bold")
    for entry in answer.providers:
        if not entry.is_answered:
            yield Text(clean(f"{entry.id} did not answer: {entry.message or entry.outcome}"), style="yellow")
    yield ""
    yield table(
        _BY_PROVIDER, (_provider(one, wide=wide) for one in answer.by_provider), wide=wide, is_terminal=is_terminal
    )
    yield ""
    models = (
        (one.vendor or "-", model(one.vendor, one.model), *_devices(one.devices, wide=wide, with_healthy=True))
        for one in answer.by_model
    )
    yield table(_BY_MODEL, models, wide=wide, is_terminal=is_terminal)


def _headline(answer: Resources) -> str:
    totals, devices = answer.totals, answer.totals.devices
    ailing = "" if devices.healthy == devices.count else f", {devices.count - devices.healthy} not healthy"
    return (
        f"{counted(len(answer.by_provider), 'provider')}, {counted(totals.nodes, 'node')}, "
        f"{counted(devices.count, 'GPU')} ({devices.unused} unused{ailing}), "
        f"{devices.memory_available_mib >> 10} of {devices.memory_total_mib >> 10} GiB of GPU memory free"
    )


def _provider(one: ProviderTotals, *, wide: bool) -> Cells:
    return (
        one.provider_id,
        str(one.nodes),
        *_devices(one.devices, wide=wide),
        of(one.cpu.available_millicores // 1000, one.cpu.total_millicores // 1000, str, wide=wide),
        of(one.memory.available_bytes // GIB * GIB, one.memory.total_bytes // GIB * GIB, gib, wide=wide),
    )


def _devices(sums: DeviceSums, *, wide: bool, with_healthy: bool = False) -> Cells:
    free = None if sums.unknown == sums.count else sums.memory_available_mib
    return (
        str(sums.count),
        *([str(sums.healthy)] if with_healthy else []),
        str(sums.unused),
        of(sums.slots_available, sums.slots_total, str, wide=wide),
        bar(free, sums.memory_total_mib),
        of(free, sums.memory_total_mib, gib_of_mib, wide=wide),
    )
