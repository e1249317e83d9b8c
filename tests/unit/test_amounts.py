"""Amounts on the command line: exact, rounded up, and refused in words."""

from contextlib import suppress
from fractions import Fraction

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedcompute.commands.amounts import Cores, GpuMemory, Memory, Milliseconds, Percent
from fedcompute.commands.wanted import labels, toleration

UNITS = {
    "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
    "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "B": 1,
    "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "k": 10**3, "M": 10**6, "G": 10**9,
}  # fmt: skip


def read(kind: click.ParamType[int], text: str) -> int:
    return kind.convert(text, None, None)


@pytest.mark.parametrize(
    ("text", "mib"),
    [
        ("30GiB", 30720),
        ("30GB", 28611),
        ("30000MiB", 30000),
        ("1.5TiB", 1572864),
        ("30 gib", 30720),
        ("1B", 1),
        (".5GiB", 512),
    ],
)
def test_gpu_memory_is_in_mib_rounded_up(text: str, mib: int) -> None:
    assert read(GpuMemory(), text) == mib


@given(st.integers(1, 10**6), st.integers(0, 999), st.sampled_from(list(UNITS)))
def test_memory_is_exact_in_every_unit(whole: int, thousandths: int, unit: str) -> None:
    exact = (whole + Fraction(thousandths, 1000)) * UNITS[unit]

    assert read(Memory(), f"{whole}.{thousandths:03}{unit}") == -(-exact.numerator // exact.denominator)


@pytest.mark.parametrize(("text", "millicores"), [("4", 4000), ("500m", 500), ("0.5", 500), ("1.0005", 1001)])
def test_cores_are_in_thousandths_rounded_up(text: str, millicores: int) -> None:
    assert read(Cores(), text) == millicores


@pytest.mark.parametrize(("text", "milliseconds"), [("8s", 8000), ("1.5s", 1500), ("500ms", 500), ("500 ms", 500)])
def test_times_are_in_milliseconds(text: str, milliseconds: int) -> None:
    assert read(Milliseconds(), text) == milliseconds


@pytest.mark.parametrize("text", ["50", "50%", "50 %"])
def test_percents_may_have_their_sign(text: str) -> None:
    assert read(Percent(), text) == 50


@pytest.mark.parametrize(
    ("kind", "text", "told"),
    [
        (GpuMemory(), "30", "'30' is of no unit; write 30MiB, 30GiB or 30GB"),
        (Memory(), "1.5", "'1.5' is of no unit; write 1.5MiB, 1.5GiB or 1.5GB"),
        (Memory(), "500m", "no amount of memory; write it like 30GiB"),
        (Memory(), "-1GiB", "no amount of memory"),
        (Memory(), "1e3GiB", "no amount of memory"),
        (Memory(), "1iB", "no amount of memory"),
        (Memory(), "", "no amount of memory"),
        (Memory(), "٣GiB", "no amount of memory"),
        (Memory(), "0GiB", "is less than anything; leave the option out to ask for none"),
        (Cores(), "4 cores", "no number of cores; write it like 4, 0.5 or 500m"),
        (Cores(), "1.2.3", "no number of cores"),
        (Percent(), "12.5", "no whole percentage"),
        (Milliseconds(), "8", "no time; write it like 8s or 500ms"),
        (Milliseconds(), "0s", "is less than anything"),
    ],
)
def test_what_is_no_amount_is_refused_with_what_would_be_one(kind: click.ParamType[int], text: str, told: str) -> None:
    with pytest.raises(click.BadParameter) as caught:
        read(kind, text)

    assert told in caught.value.message


@pytest.mark.parametrize("kind", [Memory(), GpuMemory(), Cores(), Percent(), Milliseconds()])
@given(text=st.text(max_size=12))
def test_any_text_is_an_amount_or_refused(kind: click.ParamType[int], text: str) -> None:
    with suppress(click.BadParameter):
        assert read(kind, text) >= 1


@pytest.mark.parametrize(
    ("text", "read_as"),
    [
        ("a=b:NoSchedule", {"key": "a", "operator": "Equal", "value": "b", "effect": "NoSchedule"}),
        ("a=:NoExecute", {"key": "a", "operator": "Equal", "value": "", "effect": "NoExecute"}),
        ("a=b", {"key": "a", "operator": "Equal", "value": "b"}),
        ("a:NoSchedule", {"key": "a", "operator": "Exists", "effect": "NoSchedule"}),
        ("example.org/a", {"key": "example.org/a", "operator": "Exists"}),
    ],
)
def test_tolerations_are_written_as_kubectl_writes_taints(text: str, read_as: dict[str, str]) -> None:
    assert toleration(text) == read_as


@pytest.mark.parametrize("text", ["", ":NoSchedule", "=b", "a=b:Never", "a:", "a=b:noschedule"])
def test_what_is_no_toleration_is_refused(text: str) -> None:
    with pytest.raises(click.UsageError, match="is no toleration"):
        toleration(text)


def test_labels_may_hold_equals_signs() -> None:
    assert labels(["a=b=c", "d="]) == {"a": "b=c", "d": ""}
