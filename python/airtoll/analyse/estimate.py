"""Estimates: a value, its interval, the level, how many readings, and by which method.

Takes samples (1-D float arrays, any unit); gives :class:`Estimate`. A result is never a bare
number: where no interval can be had (one reading, a printed mean), its ends are NaN and the
method says why. Never draws ambient randomness: every bootstrap takes a numpy Generator.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike, NDArray

from airtoll.analyse.student import normal_below, normal_quantile, t_quantile
from airtoll.errors import UsageError

Array = NDArray[np.float64]

#: Bootstrap resamples unless the caller says otherwise.
RESAMPLES = 2000


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
    def half_width(self) -> float:
        """Half of the interval's width; NaN without an interval."""
        return (self.high - self.low) / 2

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


def sample(values: ArrayLike) -> Array:
    """A 1-D float array of finite readings. Raises UsageError if one is not finite."""
    array = np.asarray(values, dtype=np.float64).ravel()
    if not np.all(np.isfinite(array)):
        raise UsageError("readings must be finite numbers: leave out what is missing")
    return array


def mean_t(values: ArrayLike, unit: str, level: float = 0.95) -> Estimate:
    """Mean with Student's t interval (Student 1908); n - 1 degrees of freedom."""
    x = sample(values)
    n = x.size
    if n == 0:
        return Estimate(math.nan, math.nan, math.nan, level, 0, "no readings", unit)
    mean = float(x.mean())
    if n == 1:
        return Estimate(mean, math.nan, math.nan, level, 1, "single reading", unit)
    half = t_quantile(level, n - 1) * float(x.std(ddof=1)) / math.sqrt(n)
    return Estimate(mean, mean - half, mean + half, level, n, "mean, t", unit)


def mean_bca(
    values: ArrayLike,
    unit: str,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> Estimate:
    """Mean with a bias-corrected and accelerated bootstrap interval (Efron 1987)."""
    return bca(values, lambda rows: rows.mean(axis=-1), "mean, BCa", unit, rng, level, resamples)


def median_bca(
    values: ArrayLike,
    unit: str,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> Estimate:
    """Median with a bias-corrected and accelerated bootstrap interval (Efron 1987)."""
    return bca(
        values, lambda rows: np.median(rows, axis=-1), "median, BCa", unit, rng, level, resamples
    )


def bca(
    values: ArrayLike,
    statistic: Callable[[Array], Array],
    method: str,
    unit: str,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> Estimate:
    """Any statistic over the last axis, with a BCa interval (Efron 1987, equations 2.3 and 6.6).

    The acceleration comes from the jackknife. A sample without spread has the interval
    [value, value]; fewer than three readings give none.
    """
    x = sample(values)
    n = x.size
    if n == 0:
        return Estimate(math.nan, math.nan, math.nan, level, 0, "no readings", unit)
    value = float(statistic(x[np.newaxis, :])[0])
    if n < 3:
        return Estimate(value, math.nan, math.nan, level, n, f"{method}: under 3 readings", unit)
    if float(np.ptp(x)) == 0.0:
        return Estimate(value, value, value, level, n, method, unit)
    draws = np.sort(statistic(x[rng.integers(0, n, size=(resamples, n))]))
    below = (np.sum(draws < value) + 0.5 * np.sum(draws == value)) / resamples
    below = min(max(below, 0.5 / resamples), 1 - 0.5 / resamples)
    bias = normal_quantile(below)
    left_out = x[np.array([[j for j in range(n) if j != i] for i in range(n)])]
    jack = statistic(left_out)
    centred = jack.mean() - jack
    spread = float(np.sum(centred**2))
    acceleration = float(np.sum(centred**3)) / (6 * spread**1.5) if spread > 0 else 0.0
    ends = []
    for z in normal_quantile([(1 - level) / 2, (1 + level) / 2]):
        shifted = bias + (bias + z) / (1 - acceleration * (bias + z))
        ends.append(float(np.quantile(draws, normal_below(shifted))))
    return Estimate(value, ends[0], ends[1], level, n, method, unit)
