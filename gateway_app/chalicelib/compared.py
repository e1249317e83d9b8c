"""What one provider's nodes come to for one request."""

from typing import NamedTuple

from fedcompute.ranking import Fit
from fedcompute.rejections import Bar, Rejections

# What decides what a provider's nodes come to and how many of them are told: a demand's token, and the limit.
type Question = tuple[object, int]


class Compared(NamedTuple):
    """Of the nodes that fit, those that could still be among the best; how many fit; and a tally of the others.

    The bars are those of the time: what was known then to be better is not looked into.
    """

    fits: list[Fit]
    total: int
    rejections: Rejections
    is_busy: bool | None  # whether a node would fit if nothing ran on it; None: nobody needed to know
    score_bar: float | None
    rejections_bar: Bar | None

    def is_enough(self, score_bar: float | None, rejections_bar: Bar | None) -> bool:
        """Whether nothing is missing that could be shown under these bars: they are as high, or higher."""
        is_score_bar_met = self.score_bar is None or (score_bar is not None and score_bar >= self.score_bar)
        is_bar_met = self.rejections_bar is None or (
            rejections_bar is not None and rejections_bar <= self.rejections_bar
        )
        return is_score_bar_met and is_bar_met
