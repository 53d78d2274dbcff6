"""The cost of security in throughput: its sign, and its words.

An overhead of every definition becomes a cost, which is positive where security takes throughput.
Its words are those of the verdicts on throughput: nothing that anyone would notice, too few trials
to tell, a cost, or a gain, which is called so.
"""

from __future__ import annotations

import math
from typing import Final, Literal

from attrs import evolve

from airtoll.analyse.estimate import Estimate
from airtoll.analyse.quantities import show_estimate, show_overhead, show_value
from airtoll.observe.spoken import NOTHING_NOTICED, UNDECIDED, spoken

Sign = Literal["cost", "gain", "none"]

_UNNOTICED: Final = spoken("throughput_bps").unnoticed


def cost_sign(unit: str) -> float:
    """Factor that turns an overhead of that unit into a cost.

    A difference of bit rates (T2 - T1, bit/s) is negative where security costs throughput.
    """
    return 1.0 if unit == "1" else -1.0


def as_cost(overhead: Estimate) -> Estimate:
    """The same overhead, positive where security costs throughput."""
    if cost_sign(overhead.unit) > 0:
        return overhead
    low, high = -overhead.high, -overhead.low
    return evolve(overhead, value=-overhead.value, low=low, high=high)


def sign_of(cost: Estimate) -> Sign:
    """Whether a cost is one, a gain, or neither at the level of its interval."""
    low, high = (cost.low, cost.high) if cost.has_interval else (cost.value, cost.value)
    if low > 0:
        return "cost"
    return "gain" if high < 0 else "none"


def is_unnoticed(cost: Estimate) -> bool:
    """Whether the whole cost lies inside of what goes unnoticed: a share of throughput."""
    if cost.value == 0 and not cost.has_interval:
        return True
    if cost.unit != "1" or not (cost.has_interval or cost.is_deterministic):
        return False
    return _bound(cost) <= _UNNOTICED


def _bound(cost: Estimate) -> float:
    """The largest amount that the interval allows, of a cost or of a gain."""
    if not cost.has_interval:
        return abs(cost.value)
    return max(abs(cost.low), abs(cost.high))


def most_of(cost: Estimate) -> str:
    """The largest amount of a cost or gain that is not told as one; empty where none is known."""
    bound = _bound(cost)
    if not math.isfinite(bound) or bound == 0:
        return ""
    if cost.unit != "1":
        return show_value(bound, cost.unit)
    return show_overhead(evolve(cost, value=bound, low=math.nan, high=math.nan))


def amount(cost: Estimate, *, ends: bool = False) -> str:
    """The size of a cost or of a gain with its interval, without a sign of its own."""
    size = evolve(cost, value=-cost.value, low=-cost.high, high=-cost.low)
    shown = size if sign_of(cost) == "gain" else cost
    return show_overhead(shown, ends=ends) if cost.unit == "1" else show_estimate(shown)


def is_told(overhead: Estimate) -> bool:
    """Whether the words of an overhead are an amount."""
    cost = as_cost(overhead)
    return sign_of(cost) != "none" and not is_unnoticed(cost)


def cost_in_words(overhead: Estimate, *, bare: bool = False) -> str:
    """A cost as a clause: ``it costs 3.1 %``, ``it gains 2.4 %``, ``it costs nothing that anyone
    would notice (at most 0.7 %)``, ``too few trials to tell (at most 3 %)``.
    """
    cost = as_cost(overhead)
    sign = sign_of(cost)
    if (unnoticed := is_unnoticed(cost)) or sign == "none":
        words = UNDECIDED
        if unnoticed:
            words = NOTHING_NOTICED if bare else f"it costs {NOTHING_NOTICED}"
        most = most_of(cost)
        return f"{words} (at most {most})" if most else words
    text = amount(cost, ends=True)
    if sign == "gain":
        return f"gains {text}" if bare else f"it gains {text}"
    return text if bare else f"it costs {text}"
