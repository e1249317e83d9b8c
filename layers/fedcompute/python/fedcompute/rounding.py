"""How every score is rounded, so that two implementations agree on order."""

STEP = 1e-12  # takes ties at the ninth decimal, which are common, away from the last bit of a sum


def rounded(score: float) -> float:
    """Nine decimals."""
    return round(score + STEP, 9)
