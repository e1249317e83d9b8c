"""How names of vendors and models are compared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedcompute import models, vendors


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("NVIDIA A100-SXM4-40GB", ("nvidia", "a", "100", "sxm", "4", "40", "gb")),
        ("Ascend910B3", ("ascend", "910", "b", "3")),
        ("RTX_4090", ("rtx", "4090")),
        ("  --__ ", ()),
        ("Élan 7", ("élan", "7")),
        ("昇腾910", ("昇腾", "910")),
    ],
)
def test_model_is_split_into_runs_of_letters_and_of_digits(model: str, expected: tuple[str, ...]) -> None:
    assert models.runs(model) == expected


@pytest.mark.parametrize(
    ("wanted", "model", "expected"),
    [
        ("A100", "NVIDIA A100-SXM4-40GB", True),
        ("A10", "NVIDIA A100-SXM4-40GB", False),
        ("A10", "NVIDIA A10", True),
        ("100", "NVIDIA A100", True),
        ("00", "NVIDIA A100", False),
        ("RTX4090", "NVIDIA GeForce RTX 4090", True),
        ("rtx-4090", "NVIDIA GeForce RTX 4090", True),
        ("TX 4090", "NVIDIA GeForce RTX 4090", False),
        ("GeForce 4090", "NVIDIA GeForce RTX 4090", False),
        ("4090 RTX", "NVIDIA GeForce RTX 4090", False),
        ("910B", "Ascend910B3", True),
        ("910", "Ascend910B3", True),
        ("910B30", "Ascend910B3", False),
        ("A100 40GB", "NVIDIA A100-SXM4-40GB", False),
        ("SXM4-40GB", "NVIDIA A100-SXM4-40GB", True),
        ("A100", "", False),
    ],
)
def test_wanted_runs_stand_whole_and_one_after_the_other(wanted: str, model: str, expected: bool) -> None:
    assert models.matches(models.runs(wanted), model) is expected


@given(st.text(), st.text(), st.text())
def test_model_is_found_within_what_stands_around_it(before: str, model: str, after: str) -> None:
    assert models.matches(models.runs(model), f"{before} {model} {after}")


CANONICAL = {
    "NVIDIA": ["NVIDIA Corporation"],
    "AMD": ["Advanced Micro Devices"],
    "Intel": ["Intel Corporation"],
    "Huawei": ["Ascend"],
    "Hygon": ["DCU"],
    "Cambricon": ["MLU"],
    "Kunlunxin": ["Kunlun"],
    "Iluvatar": ["Iluvatar CoreX", "CoreX"],
    "MThreads": ["Moore Threads"],
    "MetaX": ["metax-tech"],
    "Enflame": ["GCU"],
    "Biren": [],
    "Vastai": [],
    "AWS": ["Amazon", "Neuron", "AWSNeuron"],
}


@pytest.mark.parametrize("canonical", CANONICAL)
def test_vendor_is_known_by_each_of_its_names_in_any_case(canonical: str) -> None:
    for name in (canonical, *CANONICAL[canonical]):
        for spelling in (name, name.lower(), name.upper()):
            assert vendors.canonical(spelling) == canonical
            assert vendors.is_same(spelling, canonical)


def test_table_has_no_other_vendors() -> None:
    assert {names[0]: list(names[1:]) for names in vendors.NAMES} == CANONICAL


def test_vendor_that_is_not_in_the_table_stays_as_it_is_and_ignores_case() -> None:
    assert vendors.canonical("Acme") == "Acme"
    assert vendors.is_same("ACME", "acme")
    assert not vendors.is_same("Acme", "NVIDIA")
    assert not vendors.is_same("", "NVIDIA")


@given(st.sampled_from([name for names in vendors.NAMES for name in names]) | st.text(), st.text())
def test_canonical_is_stable_and_sameness_goes_both_ways(one: str, other: str) -> None:
    assert vendors.canonical(vendors.canonical(one)) == vendors.canonical(one)
    assert vendors.is_same(one, other) is vendors.is_same(other, one)
