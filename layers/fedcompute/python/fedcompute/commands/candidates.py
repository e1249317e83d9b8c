"""A search's answer as a person reads it: what fits, who answered, and why the rest does not fit."""

from rich.console import Console

from fedcompute.answer import Candidate, Entry, SearchAnswer
from fedcompute.commands.tables import Column, draw, heading, is_wide, known, line, of
from fedcompute.commands.words import age, cores, counted, gib, gib_of_mib, in_words, least, models, phrase, told
from fedcompute.eligibility import free_memory

MOST_WARNINGS = 5

_COLUMNS = (
    Column("#"),
    Column("score"),
    Column("provider", is_words=True, is_firm=False),
    Column("node", is_words=True),
    Column("GPU", is_words=True, is_firm=False),
    Column("card", is_wide=True, is_words=True),
    Column("GPU\nGiB"),
    Column("GPU\n%"),
    Column("free\ncores"),
    Column("free\nGiB"),
    Column("copies"),
    Column("age", is_wide=True),
)


def draw_answer(console: Console, answer: SearchAnswer) -> None:
    """The whole answer; what is as it should be is told in a line."""
    line(console, summary(answer), "bold")
    if answer.candidates:
        wide = is_wide(console)
        draw(console, _COLUMNS, (_row(one, wide=wide) for one in answer.candidates))
        hint = answer.candidates[0].hint
        if hint is not None and hint.kind != "contact":
            line(console, "Next: with --hint it prints a manifest for the first, with --hint N for another.", "dim")
    _draw_outcomes(console, answer.providers)
    if answer.rejections.nodes:
        _draw_rejections(console, answer)
    for warning in answer.warnings[:MOST_WARNINGS]:
        line(console, f"Warning: {told(warning)}", "yellow")
    if len(answer.warnings) > MOST_WARNINGS:
        line(console, f"{len(answer.warnings) - MOST_WARNINGS} more warnings; see --output json.", "yellow")


def summary(answer: SearchAnswer) -> str:
    """The answer in a line."""
    shown, total = len(answer.candidates), answer.total_candidates
    count = counted(total, "candidate") if shown == total else f"the best {shown} of {total} candidates"
    asked = counted(len(answer.providers), "provider")
    unknown = "; some that might have one did not answer" if answer.providers else "; no provider was asked"
    feasibility = {
        "feasible": "",
        "busy": " now, though one would fit if nothing else ran on it",
        "unknown": unknown,
    }.get(answer.feasibility, "")
    words = count if total else f"no candidate{feasibility}"
    return f"{words[:1].upper()}{words[1:]} ({answer.strategy.name}, {asked}, {answer.took_ms} ms)"


def _row(one: Candidate, *, wide: bool) -> tuple[str, ...]:
    """What is free, and with room for it `of` how much."""
    node, devices = one.node, one.devices
    memory = least(devices, free_memory), least(devices, lambda device: device.memory_total_mib)
    compute = (
        least(devices, lambda device: device.compute_available_percent),
        least(devices, lambda device: device.compute_total_percent),
    )
    return (
        str(one.rank),
        f"{one.score:.3f}",
        one.provenance.provider_id,
        node.name,
        models(one),
        ",".join(known(device.index) for device in devices) or "-",
        of(*memory, gib_of_mib, wide=wide),
        of(*compute, str, wide=wide),
        of(node.cpu.available_millicores, node.cpu.total_millicores, cores, wide=wide),
        of(node.memory.available_bytes, node.memory.total_bytes, gib, wide=wide),
        str(one.copies),
        age(one.provenance.age_ms),
    )


def _draw_outcomes(console: Console, entries: list[Entry]) -> None:
    missing = [one for one in entries if not one.is_answered]
    if not missing:
        return
    heading(console, f"{len(missing)} of {counted(len(entries), 'provider')} did not answer")
    columns = (Column("provider", is_words=True), Column("outcome", is_words=True), Column("ms"))
    more = Column("message", is_words=True, is_firm=False)
    draw(console, (*columns, more), ((one.id, one.outcome, str(one.took_ms), one.message or "") for one in missing))


def _draw_rejections(console: Console, answer: SearchAnswer) -> None:
    rejections = answer.rejections
    verb = "does" if rejections.nodes == 1 else "do"
    if answer.candidates:
        most = ", ".join(f"{count} {phrase(code)}" for code, count in list(rejections.by_reason.items())[:3])
        line(console, f"{counted(rejections.nodes, 'node')} {verb} not fit: {most} ...", "dim")
        return
    heading(console, f"Why {counted(rejections.nodes, 'node')} {verb} not fit (a node may have several reasons)")
    reasons = rejections.by_reason.items()
    draw(console, (Column("nodes"), Column("reason", is_words=True)), ((str(n), phrase(code)) for code, n in reasons))
    if rejections.nearest:
        heading(console, "Nearest, and what they lack")
        columns = (Column("provider", is_words=True), Column("node", is_words=True))
        lacks = Column("lacks", is_words=True, is_firm=False)
        nearest = rejections.nearest
        draw(
            console,
            (*columns, lacks),
            ((one.provider_id, one.node, "; ".join(map(in_words, one.reasons))) for one in nearest),
        )
