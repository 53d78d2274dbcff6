"""Estimates: a value, its interval, the level, how many readings, and by which method.

Samples are 1-D float arrays of any unit; results are :class:`Estimate`. Where there is no interval
(one reading, a printed mean, a deterministic cell) its ends are NaN and the method says why. Every
bootstrap takes a numpy Generator.
"""

from __future__ import annotations

import math

import numpy as np
from attrs import evolve, frozen
from numpy.typing import ArrayLike, NDArray

from airtoll.analyse.counting import binomial_below
from airtoll.analyse.student import t_quantile
from airtoll.errors import UsageError

Array = NDArray[np.float64]

#: Bootstrap resamples unless the caller says otherwise.
RESAMPLES = 2000

#: Method of an estimate whose model draws no random numbers: its trials are one trial.
DETERMINISTIC = "deterministic: the trials are one trial"

#: Method of an estimate whose readings are all equal though its model is random, or is not known.
#: Counts of few packets or of whole A-MPDUs tie by chance: the spread is unknown, not zero.
EQUAL = "equal in all trials: spread unknown"

#: Method of an estimate whose trials differ in their halves (see ``settling``).
NOT_SETTLED = "not settled"

#: Method of an estimate, and verdict, where a device's profile lacks a cost: never that of no cost.
COST_UNKNOWN = "cost unknown"

#: Relative spread below which readings count as equal: rounding of binary64 means.
ROUNDING = 1e-12


@frozen
class Estimate:
    """One estimated quantity.

    ``low`` and ``high`` bound the two-sided interval of confidence ``level`` (NaN: none can be
    had); ``n`` counts the readings that went in; ``unit`` is that of value, low and high.
    """

    value: float
    low: float
    high: float
    level: float
    n: int
    method: str
    unit: str

    @property
    def has_interval(self) -> bool:
        """Whether both ends are numbers (infinite ones included)."""
        return not (math.isnan(self.low) or math.isnan(self.high))

    @property
    def is_deterministic(self) -> bool:
        """Whether the model draws no random numbers, so that no interval exists."""
        return self.method.endswith(DETERMINISTIC)

    @property
    def is_equal(self) -> bool:
        """Whether all readings were equal, though others might have come."""
        return self.method.endswith(EQUAL)

    @property
    def is_settled(self) -> bool:
        """Whether the halves of the trials agree; otherwise the value depends on their length."""
        return NOT_SETTLED not in self.method

    @property
    def is_unpriced(self) -> bool:
        """Whether a cipher's cost on a device is not known, so that the value leaves it out."""
        return COST_UNKNOWN in self.method

    @property
    def half_width(self) -> float:
        """Half of the interval's width; NaN without an interval."""
        return (self.high - self.low) / 2

    def _repr_html_(self) -> str:
        """The estimate as a notebook shows it."""
        from airtoll.analyse.markup import estimate_html

        return estimate_html(self)

    def contains(self, value: float) -> bool:
        """Whether ``value`` lies within the interval, ends included."""
        return self.low <= value <= self.high

    def to_json(self) -> dict[str, float | int | str | None]:
        """Plain values; what is not finite becomes None."""

        def finite(number: float) -> float | None:
            return number if math.isfinite(number) else None

        return {
            "value": finite(self.value),
            "low": finite(self.low),
            "high": finite(self.high),
            "level": self.level,
            "n": self.n,
            "method": self.method,
            "unit": self.unit,
        }


def without_interval(estimate: Estimate) -> Estimate:
    """The same value with no ends, for a table that gives the interval elsewhere."""
    return evolve(estimate, low=math.nan, high=math.nan)


def sample(values: ArrayLike) -> Array:
    """A 1-D float array of finite readings. Raises UsageError if one is not finite."""
    array = np.asarray(values, dtype=np.float64).ravel()
    if not np.all(np.isfinite(array)):
        raise UsageError("readings must be finite numbers: leave out what is missing")
    return array


def has_spread(x: Array) -> bool:
    """Whether readings differ by more than the rounding of a mean."""
    return float(np.ptp(x)) > ROUNDING * float(np.abs(x).max())


def mean_t(values: ArrayLike, unit: str, level: float = 0.95) -> Estimate:
    """Mean with Student's t interval (Student 1908); n - 1 degrees of freedom."""
    x = sample(values)
    n = x.size
    if n == 0:
        return Estimate(math.nan, math.nan, math.nan, level, 0, "no readings", unit)
    mean = float(x.mean())
    if n == 1:
        return Estimate(mean, math.nan, math.nan, level, 1, "single reading", unit)
    if not has_spread(x):
        return Estimate(mean, math.nan, math.nan, level, n, EQUAL, unit)
    half = t_quantile(level, n - 1) * float(x.std(ddof=1)) / math.sqrt(n)
    return Estimate(mean, mean - half, mean + half, level, n, "mean, t", unit)


def median_ranks(n: int, level: float) -> tuple[int, int, float] | None:
    """Ranks (from 1) of the order statistics that bound the median, and the coverage attained.

    The narrowest symmetric pair whose binomial coverage is at least ``level`` (Thompson 1936);
    None where no pair has it: below n = 6 at 95 %.
    """
    if n < 1:
        return None
    lows = np.arange(1, n // 2 + 1)
    coverage = 1 - 2 * binomial_below(n, 0.5)[lows - 1]
    good = np.flatnonzero(coverage >= level)
    if good.size == 0:
        return None
    low = int(lows[good[-1]])
    return low, n + 1 - low, float(coverage[good[-1]])
