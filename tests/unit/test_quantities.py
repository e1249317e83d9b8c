"""Kubernetes quantities. The expected numbers are worked out by hand from the grammar in apimachinery's quantity.go."""

from decimal import ROUND_CEILING, Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedcompute import quantities
from fedcompute.quantities import LARGEST, millis, nanos, whole


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("1Ki", 1024),
        ("1k", 1000),
        ("5k", 5000),
        ("1.5Gi", 1610612736),
        ("0.5Ki", 512),
        ("2e3", 2000),
        ("1E3", 1000),
        ("1E", 10**18),
        ("1Ei", 2**60),
        ("12e6", 12_000_000),
        ("129e6", 129_000_000),
        ("1G", 10**9),
        ("1Mi", 2**20),
        ("1Ti", 2**40),
        ("1Pi", 2**50),
        ("1M", 10**6),
        ("1T", 10**12),
        ("1P", 10**15),
        ("0", 0),
        ("+5", 5),
        ("-5", -5),
        ("1.", 1),
        ("263429896Ki", 269_752_213_504),
        ("128974848", 128_974_848),
        ("128974848000m", 128_974_848),
        ("15961844721600m", 15_961_844_722),
        ("1288490188800m", 1_288_490_189),
        ("500m", 1),
        ("1n", 1),
        (".5", 1),
        ("1e-3", 1),
        (7, 7),
        (2.5, 3),
        (1e22, LARGEST),
    ],
)
def test_quantity_in_whole_units_is_rounded_up(text, units):
    assert whole(text) == units


@pytest.mark.parametrize(
    ("text", "millicores"),
    [
        ("100m", 100),
        ("2", 2000),
        ("0.1", 100),
        ("1500000000n", 1500),
        ("2500000u", 2500),
        ("1n", 1),
        ("63770m", 63770),
        ("1e-1", 100),
        (4, 4000),
        (0.25, 250),
        ("-1", -1000),
    ],
)
def test_quantity_in_thousandths_is_rounded_up(text, millicores):
    assert millis(text) == millicores


@pytest.mark.parametrize(
    "text",
    [
        *[
            "",
            " ",
            "1 ",
            " 1",
            "K",
            "1K",
            "1ki",
            "1KI",
            "1mi",
            "1e",
            "1e3Ki",
            "1.2.3",
            "abc",
            "--1",
            ".",
            "e3",
            "+",
            "1_000",
        ],
        *["\u0661", "0x10", "NaN", "inf", "1Kib", "1" * 257, None, True, float("nan"), float("inf"), -float("inf")],
    ],
)
def test_what_is_no_quantity_is_none(text):
    assert nanos(text) is whole(text) is millis(text) is None


@pytest.mark.parametrize("text", ["1e999999999999999999999", "9" * 200, "1e19", "16Ei", "9" * 40 + "Ei"])
def test_absurd_quantity_is_bounded_by_the_largest(text):
    assert whole(text) == LARGEST
    assert whole("-" + text) == -LARGEST
    assert millis(text) == LARGEST


def test_largest_ints_are_bounded_as_well():
    assert whole(10**400) == LARGEST
    assert whole(-(10**400)) == -LARGEST
    assert whole(2**63) == LARGEST


def test_absurdly_small_quantity_is_a_nano_at_least():
    assert nanos("1e-999999999999999999999") == 1
    assert nanos("0e-99") == 0


def test_large_decimals_keep_every_digit():
    assert nanos("9007199254740993.000000001") == 9007199254740993000000001


@given(
    sign=st.sampled_from(["", "+", "-"]),
    number=st.decimals(min_value=0, max_value=10**12, places=12),
    suffix=st.sampled_from(["", *quantities._POWER_OF_TEN, *quantities._POWER_OF_TWO]),
)
def test_any_quantity_agrees_with_decimal_arithmetic(sign, number, suffix):
    with localcontext(prec=100):
        factor = Decimal(10) ** quantities._POWER_OF_TEN.get(suffix, 0) * 2 ** quantities._POWER_OF_TWO.get(suffix, 0)
        away_from_zero = (number * factor * 10**9).to_integral_value(ROUND_CEILING)

    found = nanos(f"{sign}{number:f}{suffix}")

    assert found == min(int(away_from_zero), LARGEST * 10**9) * (-1 if sign == "-" else 1)


@given(st.text(max_size=40) | st.floats() | st.integers() | st.from_regex(quantities._QUANTITY, fullmatch=True))
def test_anything_is_a_bounded_quantity_or_none(value):
    found = nanos(value)

    assert found is None or -LARGEST * 10**9 <= found <= LARGEST * 10**9
