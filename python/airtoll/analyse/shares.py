"""Intervals of shares: their ends lie between 0 and 1.

A share of counted events has Wilson's interval (Wilson 1927). A mean of one share per trial, such
as the share of clients that joined, has Wilson's interval with the effective number of events: the
number that would give the variance between the trials (Kish 1965), and Student's quantile, because
that variance is estimated (Korn, Graubard 1998; Dean, Pagano 2015).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from airtoll.analyse.student import normal_quantile, t_quantile


def wilson(successes: ArrayLike, n: ArrayLike, level: float) -> tuple[Any, Any]:
    """Wilson's interval of a share (Wilson 1927), elementwise; NaN for n = 0."""
    k, count = np.asarray(successes, dtype=np.float64), np.asarray(n, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return _ends(k / count, count, float(normal_quantile((1 + level) / 2)))


def of_trials(mean: ArrayLike, deviation: ArrayLike, n: ArrayLike, level: float) -> tuple[Any, Any]:
    """Interval of a mean of ``n`` shares with that standard deviation, elementwise.

    NaN for a mean of 0 or 1, without spread and below two trials.
    """
    share, spread = np.asarray(mean, dtype=np.float64), np.asarray(deviation, dtype=np.float64)
    count = np.asarray(n, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        events = count * share * (1 - share) / spread**2
        low, high = _ends(share, events, t_quantile(level, count - 1))
    known = (spread > 0) & (share > 0) & (share < 1)
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def _ends(share: Any, events: Any, quantile: Any) -> tuple[Any, Any]:
    z2 = quantile**2
    centre = (share + z2 / (2 * events)) / (1 + z2 / events)
    half = quantile * np.sqrt(share * (1 - share) / events + z2 / (4 * events**2))
    half /= 1 + z2 / events
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)
