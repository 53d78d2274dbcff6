"""Tails of the binomial and the Poisson distribution.

Sums of probabilities, from logarithms: relative errors stay near the machine's for thousands of
trials.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def binomial_below(n: int, p: float) -> Array:
    """P(X <= k) of n trials with probability ``p`` each, for k from 0 to n."""
    return np.minimum(np.cumsum(_binomial(n, p)), 1.0)


def binomial_above(k: int, n: int, p: float) -> float:
    """P(X > k) of n trials with probability ``p`` each."""
    return min(1.0, float(np.sum(_binomial(n, p)[max(0, k + 1) :])))


def poisson_above(k: int, mean: float) -> float:
    """P(X > k) of a Poisson variable with that mean."""
    if mean <= 0:
        return 1.0 if k < 0 else 0.0
    # Terms fall off faster than those of a normal law beyond forty deviations.
    last = int(max(k, mean) + 40 * math.sqrt(max(mean, k, 1)) + 60)
    counts = np.arange(1, last + 1)
    logs = np.concatenate([[0.0], np.cumsum(math.log(mean) - np.log(counts))]) - mean
    return min(1.0, float(np.sum(np.exp(logs[max(0, k + 1) :]))))


@lru_cache(maxsize=256)
def _binomial(n: int, p: float) -> Array:
    """P(X = k) for k from 0 to n."""
    if p <= 0 or p >= 1:
        found = np.zeros(n + 1)
        found[n if p >= 1 else 0] = 1.0
        return found
    k = np.arange(1, n + 1)
    ways = np.concatenate([[0.0], np.cumsum(np.log((n - k + 1) / k))])
    counts = np.arange(n + 1)
    return np.asarray(np.exp(ways + counts * math.log(p) + (n - counts) * math.log1p(-p)))
