"""The cost of security in throughput: its sign, and its words.

An overhead of every definition becomes a cost, which is positive where security takes throughput. A
cost whose interval reaches zero is no measurable cost; one below zero is a gain, and is called so.
"""

from __future__ import annotations

import math
from typing import Final, Literal

from attrs import evolve

from airtoll.analyse.estimate import Estimate
from airtoll.analyse.quantities import show_estimate, show_overhead, show_value

Sign = Literal["cost", "gain", "none"]

#: Words of a gain, and of a cost that trials cannot tell from zero.
NO_COST: Final = "no measurable cost"


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


def most_of(cost: Estimate) -> str:
    """The upper end of a cost that trials cannot tell from zero; empty where none is known."""
    if not cost.has_interval or not math.isfinite(cost.high) or cost.high <= 0:
        return ""
    if cost.unit != "1":
        return show_value(cost.high, cost.unit)
    return show_overhead(evolve(cost, value=cost.high, low=math.nan, high=math.nan))


def amount(cost: Estimate, *, ends: bool = False) -> str:
    """The size of a cost or of a gain with its interval, without a sign of its own."""
    size = evolve(cost, value=-cost.value, low=-cost.high, high=-cost.low)
    shown = size if sign_of(cost) == "gain" else cost
    return show_overhead(shown, ends=ends) if cost.unit == "1" else show_estimate(shown)


def cost_in_words(overhead: Estimate, *, bare: bool = False) -> str:
    """A cost as a clause: ``it costs 3.1 %``, ``it gains 0.4 %``, ``no measurable cost``."""
    cost = as_cost(overhead)
    sign = sign_of(cost)
    if sign == "none":
        most = most_of(cost)
        return f"{NO_COST} (at most {most})" if most else NO_COST
    text = amount(cost, ends=True)
    if sign == "gain":
        return f"gains {text}" if bare else f"it gains {text}"
    return text if bare else f"it costs {text}"
