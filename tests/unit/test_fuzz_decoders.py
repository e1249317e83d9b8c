"""A few hundred of the made-up clusters that scripts/fuzz_decoders.py makes 100,000 values of."""

from scripts.fuzz_decoders import run


def test_made_up_clusters_are_read_without_an_exception_or_an_impossible_number():
    assert run(300, examples=60) >= 300
