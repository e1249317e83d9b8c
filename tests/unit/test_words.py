"""Codes and amounts in words."""

import pytest

from fedcompute.answer import Reason
from fedcompute.commands import words
from fedcompute.inventory import Device
from fedcompute.reasons import REASONS


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        (
            Reason(reason="insufficient_cpu", have=1500, need=4000, short_by=2500),
            "cpu: 1.5 cores of 4 cores, 2.5 cores short",
        ),
        (
            Reason(reason="insufficient_gpu_memory", have=20480, need=30720, short_by=10240, devices=8),
            "GPU memory: 20.0 GiB of 30.0 GiB, 10.0 GiB short (8 devices)",
        ),
        (Reason(reason="insufficient_gpu_count", have=1, need=2, short_by=1), "GPUs that can serve: 1 of 2, 1 short"),
        (
            Reason(reason="insufficient_gpu_compute", have=20, need=50, short_by=30, devices=1),
            "GPU compute: 20 % of 50 %, 30 % short (1 device)",
        ),
        (Reason(reason="node_not_ready"), "the node is not ready"),
        (Reason(reason="gpu_vendor_mismatch", devices=4), "GPUs of another vendor (4 devices)"),
        (Reason(reason="too_far_away"), "too far away"),
    ],
)
def test_reason_is_told_with_its_amounts(reason: Reason, told: str) -> None:
    assert words.in_words(reason) == told


@pytest.mark.parametrize("code", REASONS)
def test_every_reason_is_words(code: str) -> None:
    assert "_" not in words.phrase(code)


@pytest.mark.parametrize(
    ("told", "wanted"),
    [
        (words.gib_of_mib(31180), "30.4"),
        (words.gib_of_mib(30719), "29.9"),
        (words.gib(402 << 30), "402"),
        (words.cores(5250), "5.2"),
        (words.cores(118_999), "118"),
        (words.cores(64000), "64"),
    ],
)
def test_amounts_are_never_more_than_there_is(told: str, wanted: str) -> None:
    assert told == wanted


@pytest.mark.parametrize(
    ("milliseconds", "told"),
    [
        (None, "-"),
        (0, "0.0 s"),
        (812, "0.8 s"),
        (12_400, "12 s"),
        (300_000, "5 min"),
        (7_200_000, "2 h"),
        (172_800_000, "2 d"),
    ],
)
def test_age_is_in_the_unit_that_fits(milliseconds: int | None, told: str) -> None:
    assert words.age(milliseconds) == told


def test_least_of_devices_is_unknown_where_one_is() -> None:
    devices = [Device(id="a", healthy=True, memory_available_mib=2), Device(id="b", healthy=True)]

    assert words.least(devices, lambda device: device.memory_available_mib) is None
    assert words.least(devices[:1], lambda device: device.memory_available_mib) == 2
    assert words.least([], lambda device: device.memory_available_mib) is None
