"""The evidence of a comparison: statistics alone, without words and without what people notice.

No member says "no difference": a difference was found, or none could be told from chance, or both
sides are equivalent within a stated margin, or the trials are too few for the test to find any.
"""

from __future__ import annotations

import math
from enum import Enum

from airtoll.analyse.estimate import Estimate


class Evidence(Enum):
    """The outcome of one comparison, at the level of its estimate."""

    HIGHER = "higher"
    LOWER = "lower"
    #: The single test shows a difference; after the correction for its family none is left.
    HIGHER_ALONE = "higher alone"
    LOWER_ALONE = "lower alone"
    #: Two one-sided tests hold the difference within a stated margin.
    EQUIVALENT = "equivalent"
    UNDETECTED = "undetected"
    #: The smallest p of the test would not be significant in its family.
    TOO_FEW = "too few trials"
    #: All readings of both sides are the same value, though others might have come.
    EQUAL = "equal"
    #: The model draws no random numbers.
    DETERMINISTIC = "deterministic"
    COST_UNKNOWN = "cost unknown"
    NOT_SETTLED = "not settled"
    SPREAD_UNKNOWN = "spread unknown"
    #: A single figure (a closed form) lies within the interval of the other side, or outside it.
    WITHIN = "within the other's interval"
    OUTSIDE = "outside the other's interval"

    @property
    def differs(self) -> bool:
        """Whether the two sides are told apart."""
        return self in (Evidence.HIGHER, Evidence.LOWER, Evidence.OUTSIDE)

    @property
    def is_alone(self) -> bool:
        """Whether they are told apart by the single test, and not among its family."""
        return self in (Evidence.HIGHER_ALONE, Evidence.LOWER_ALONE)


def evidence_of(
    estimate: Estimate,
    p: float,
    equivalence_p: float,
    *,
    alone: float = math.nan,
    needs: int | None = None,
) -> Evidence:
    """The outcome of one test of the difference ``estimate``.

    ``p`` is what counts; ``alone``: what it was before the correction for its family. ``needs``:
    the fewest trials a side of which the test can find a difference (None: there are enough).
    """
    alpha = 1 - estimate.level
    if math.isnan(p) and estimate.is_deterministic:
        return Evidence.DETERMINISTIC
    if estimate.is_unpriced:
        return Evidence.COST_UNKNOWN
    if not estimate.is_settled:
        return Evidence.NOT_SETTLED
    if math.isnan(p) and estimate.is_equal and estimate.value == 0:
        return Evidence.EQUAL
    if needs is not None:
        return Evidence.TOO_FEW
    if math.isnan(p):
        return Evidence.SPREAD_UNKNOWN
    if not math.isnan(equivalence_p) and equivalence_p < alpha:
        return Evidence.EQUIVALENT
    is_higher = estimate.value > 0
    if p < alpha:
        return Evidence.HIGHER if is_higher else Evidence.LOWER
    if alone < alpha:
        return Evidence.HIGHER_ALONE if is_higher else Evidence.LOWER_ALONE
    return Evidence.UNDETECTED
