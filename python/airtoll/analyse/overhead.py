"""Overhead and other ratios, with intervals.

Inputs are readings or summary statistics (mean, sample standard deviation, n) without and with
security; results are :class:`Estimate`. T1 is the throughput without, T2 with security:

    of_baseline      (T1 - T2) / T1     unit 1
    of_secured       (T1 - T2) / T2     unit 1
    difference_bps   T2 - T1            unit bit/s (negative where security costs)

Never mixes definitions: each result's method names its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from airtoll.analyse.estimate import (
    DETERMINISTIC,
    EQUAL,
    Array,
    Estimate,
    has_spread,
    sample,
)
from airtoll.analyse.student import t_quantile
from airtoll.errors import UsageError

Definition = Literal["of_baseline", "of_secured", "difference_bps"]
DEFINITIONS: tuple[Definition, ...] = ("of_baseline", "of_secured", "difference_bps")


@frozen
class Summary:
    """Mean, sample standard deviation (n - 1) and number of readings; NaN deviation: unknown.

    ``exact``: the readings are of a model without random numbers, so that a deviation of zero is
    known. Otherwise equal readings have an unknown spread.
    """

    mean: float
    deviation: float
    n: int
    exact: bool = False

    @classmethod
    def of(cls, values: ArrayLike) -> Summary:
        """The summary of readings."""
        x = sample(values)
        deviation = math.nan
        if x.size > 1:
            deviation = float(x.std(ddof=1)) if has_spread(x) else 0.0
        return cls(float(x.mean()) if x.size else math.nan, deviation, x.size)

    @property
    def variance_of_mean(self) -> float:
        """Squared standard error of the mean."""
        return self.deviation**2 / self.n if self.n else math.nan

    @property
    def has_unknown_spread(self) -> bool:
        """Whether its readings are equal by chance, or may be."""
        return self.deviation == 0 and not self.exact


def overhead(
    baseline: ArrayLike, secured: ArrayLike, definition: Definition, level: float = 0.95
) -> Estimate:
    """Overhead from readings without and with security; see the module for the definitions."""
    return overhead_of_summaries(Summary.of(baseline), Summary.of(secured), definition, level)


def overhead_of_summaries(
    baseline: Summary, secured: Summary, definition: Definition, level: float = 0.95
) -> Estimate:
    """Overhead from printed or computed summaries; Fieller's interval (Welch's for difference)."""
    if definition == "difference_bps":
        return difference(secured, baseline, "bit/s", level)
    if definition == "of_baseline":
        ratio = ratio_fieller(secured, baseline, level)
        return Estimate(
            1 - ratio.value,
            1 - ratio.high,
            1 - ratio.low,
            level,
            ratio.n,
            _named(ratio, definition),
            "1",
        )
    if definition == "of_secured":
        ratio = ratio_fieller(baseline, secured, level)
        return Estimate(
            ratio.value - 1,
            ratio.low - 1,
            ratio.high - 1,
            level,
            ratio.n,
            _named(ratio, definition),
            "1",
        )
    raise UsageError(f"overhead definition {definition!r}: allowed are {', '.join(DEFINITIONS)}")


def overhead_value(baseline: float, secured: float, definition: Definition) -> float:
    """The bare formula, for checking printed figures."""
    if definition == "of_baseline":
        return (baseline - secured) / baseline
    if definition == "of_secured":
        return (baseline - secured) / secured
    return secured - baseline


def ratio_fieller(numerator: Summary, denominator: Summary, level: float = 0.95) -> Estimate:
    """Ratio of two independent means with Fieller's interval (Fieller 1954).

    Degrees of freedom after Welch and Satterthwaite, at the estimated ratio. Where the
    denominator is not distinguishable from zero the interval is the whole line.
    """
    a, b = numerator.mean, denominator.mean
    n = numerator.n + denominator.n
    value = a / b if b else math.nan
    va, vb = numerator.variance_of_mean, denominator.variance_of_mean
    if math.isnan(va) or math.isnan(vb):
        return Estimate(value, math.nan, math.nan, level, n, "ratio, spread unknown", "1")
    if (va == 0 and vb == 0) or numerator.has_unknown_spread or denominator.has_unknown_spread:
        method = f"ratio, {_without_spread(numerator, denominator)}"
        return Estimate(value, math.nan, math.nan, level, n, method, "1")
    low, high = fieller_ends(
        np.array([a]),
        np.array([b]),
        np.array([va]),
        np.array([vb]),
        np.array([numerator.n]),
        np.array([denominator.n]),
        level,
    )
    return Estimate(value, float(low[0]), float(high[0]), level, n, "ratio, Fieller", "1")


def fieller_ends(
    a: Array, b: Array, va: Array, vb: Array, na: Array, nb: Array, level: float
) -> tuple[Array, Array]:
    """Fieller's interval ends of a / b, elementwise; arrays of one shape.

    ``va`` and ``vb`` are squared standard errors of the means, ``na`` and ``nb`` sample sizes.
    NaN where both standard errors are zero.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = a / b
        degrees = satterthwaite(va, ratio**2 * vb, na, nb)
        t2 = t_quantile(level, degrees) ** 2
        g = t2 * vb / b**2
        root = np.sqrt(np.maximum(t2 * (va * (1 - g) + ratio**2 * vb), 0.0)) / np.abs(b)
        low = (ratio - root) / (1 - g)
        high = (ratio + root) / (1 - g)
        low = np.where(g >= 1, -np.inf, low)
        high = np.where(g >= 1, np.inf, high)
    return low, high


def satterthwaite(va: Array, vb: Array, na: Array, nb: Array) -> Array:
    """Welch-Satterthwaite degrees of freedom of va + vb (squared standard errors)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((va + vb) ** 2 / (va**2 / (na - 1) + vb**2 / (nb - 1)))


def difference(a: Summary, b: Summary, unit: str, level: float = 0.95) -> Estimate:
    """Difference of means a - b with Welch's interval (Welch 1947)."""
    value = a.mean - b.mean
    n = a.n + b.n
    va, vb = a.variance_of_mean, b.variance_of_mean
    if math.isnan(va) or math.isnan(vb):
        return Estimate(value, math.nan, math.nan, level, n, "difference, spread unknown", unit)
    if (va == 0 and vb == 0) or a.has_unknown_spread or b.has_unknown_spread:
        method = f"difference, {_without_spread(a, b)}"
        return Estimate(value, math.nan, math.nan, level, n, method, unit)
    degrees = float(
        satterthwaite(np.array(va), np.array(vb), np.array(float(a.n)), np.array(float(b.n)))
    )
    half = t_quantile(level, degrees) * math.sqrt(va + vb)
    return Estimate(value, value - half, value + half, level, n, "difference, Welch", unit)


def mean_of_estimates(parts: Sequence[Estimate]) -> Estimate:
    """Mean of independent estimates of one unit and level (McCarter's combined overhead).

    Half-widths add in quadrature, each side separately. A deterministic part adds no half-width; a
    mean of deterministic parts alone has no interval, and neither has one with a part whose spread
    is unknown.
    """
    if not parts:
        raise UsageError("the mean of no estimates does not exist")
    if len({part.unit for part in parts}) > 1 or len({part.level for part in parts}) > 1:
        raise UsageError("estimates to be averaged must share unit and level")
    k = len(parts)
    value = sum(part.value for part in parts) / k
    random = [part for part in parts if not part.is_deterministic]
    low = value - math.sqrt(sum((part.value - part.low) ** 2 for part in random)) / k
    high = value + math.sqrt(sum((part.high - part.value) ** 2 for part in random)) / k
    if not random:
        low = high = math.nan
    # The part that leaves the mean without an interval says why.
    unknown = [part for part in random if not part.has_interval]
    method = f"mean of {k}: {(unknown or random or parts)[0].method}"
    return Estimate(
        value, low, high, parts[0].level, sum(p.n for p in parts), method, parts[0].unit
    )


def _without_spread(a: Summary, b: Summary) -> str:
    return DETERMINISTIC if a.exact and b.exact else EQUAL


def _named(ratio: Estimate, definition: str) -> str:
    return f"{definition}, {ratio.method.removeprefix('ratio, ')}"
