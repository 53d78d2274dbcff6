"""How a change differs between the two places of a study that asks nothing itself.

Takes the changes of a question; gives the difference of each candidate's changes at both places.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from airtoll.analyse import Estimate
from airtoll.answer.claims import Apart, Compare, Verdict
from airtoll.answer.compared import judge
from airtoll.question import Asked

#: The method of the difference: squares of the distances to the ends are added (Zou and Donner,
#: Construction of confidence intervals about effect measures, 2008).
MOVER: Final = "difference of two changes (MOVER)"
_PLACES: Final = 2


def apart(question: Asked, claims: Sequence[Compare]) -> Iterator[Apart]:
    """The differences of a question with two places, candidate by candidate.

    Trials of different places are independent. A change without an interval, and one that is
    unnoticed at both places, has no difference.
    """
    if len(question.places) != _PLACES:
        return
    for arm in question.to:
        here = [claim for claim in claims if claim.to == arm and claim.change is not None]
        if len(here) != _PLACES or here[0].is_share != here[1].is_share:
            continue
        if all(claim.verdict is Verdict.UNNOTICED for claim in here):
            continue
        first, second = sorted(here, key=_amount)
        difference = _difference(first, second)
        if difference is not None:
            verdict, _ = judge(difference, question.unnoticed, "neither")
            yield Apart(first, second, difference, verdict)


def _amount(claim: Compare) -> float:
    """The amount of a change; 0 without one."""
    return 0.0 if claim.change is None else abs(claim.change.value)


def _difference(first: Compare, second: Compare) -> Estimate | None:
    one, other = first.change, second.change
    assert one is not None
    assert other is not None
    if not all(math.isfinite(end) for end in (one.low, one.high, other.low, other.high)):
        return None
    value = other.value - one.value
    low = value - math.hypot(other.value - other.low, one.high - one.value)
    high = value + math.hypot(other.high - other.value, one.value - one.low)
    return Estimate(value, low, high, one.level, min(one.n, other.n), MOVER, one.unit)
