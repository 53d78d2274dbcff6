"""Drift over the rounds of a watched link, and the mean over rounds.

One value per round gives the slope per hour with its interval. Rounds count as independent; the
spread is that between rounds, not that of the trials within one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from attrs import frozen

from airtoll.analyse.estimate import Estimate, mean_t
from airtoll.analyse.student import t_above, t_quantile
from airtoll.errors import UsageError


@frozen
class Drift:
    """A straight line through the rounds: slope per hour, and whether it differs from none."""

    slope_per_hour: Estimate
    p: float

    @property
    def verdict(self) -> str:
        """In words, at the slope's own level."""
        if math.isnan(self.p):
            return "too few rounds to tell"
        if self.p >= 1 - self.slope_per_hour.level:
            return "no drift detectable"
        return "rising" if self.slope_per_hour.value > 0 else "falling"


def drift(hours: Sequence[float], values: Sequence[float], unit: str, level: float = 0.95) -> Drift:
    """Least-squares slope of ``values`` over ``hours``, with a t interval.

    Fewer than three rounds, or rounds at one instant, give NaN. Raises ``UsageError`` if the two
    differ in length.
    """
    if len(hours) != len(values):
        raise UsageError(f"{len(hours)} times for {len(values)} values")
    if len(values) < 3 or min(hours) == max(hours):
        nothing = Estimate(
            math.nan, math.nan, math.nan, level, len(values), "least squares, t", f"{unit}/h"
        )
        return Drift(nothing, math.nan)
    x, y = np.asarray(hours, float), np.asarray(values, float)
    x, y = x - x.mean(), y - y.mean()
    degrees = len(values) - 2
    slope = float(np.sum(x * y) / np.sum(x * x))
    error = math.sqrt(float(np.sum((y - slope * x) ** 2)) / degrees / float(np.sum(x * x)))
    half = float(t_quantile(level, degrees)) * error
    p = 2 * float(t_above(abs(slope) / error, degrees)) if error else 0.0 if slope else 1.0
    return Drift(
        Estimate(
            slope, slope - half, slope + half, level, len(values), "least squares, t", f"{unit}/h"
        ),
        p,
    )


def over_rounds(values: Sequence[float], unit: str, level: float = 0.95) -> Estimate:
    """The mean over rounds with a t interval from their scatter."""
    return mean_t(values, unit, level)
