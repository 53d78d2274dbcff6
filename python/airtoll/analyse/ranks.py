"""Statistics of ranks: the test of Mann and Whitney, and Kendall's tau.

Mann and Whitney's p is exact where one side has at most eight readings; with ties it is that of the
permutations of the mean ranks. Else it comes from the normal law, with corrections for ties and for
continuity (Hollander, Wolfe and Chicken 2014, section 4.1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from airtoll.analyse.student import normal_below

Array = NDArray[np.float64]

#: Most readings of the smaller side whose orders are counted.
_EXACT: Final = 8
#: Most readings of both sides, of which some are equal, whose permutations are counted.
_MOST_TIED: Final = 40


def mann_whitney(x: ArrayLike, y: ArrayLike) -> tuple[float, float]:
    """Mann and Whitney's U of ``x`` over ``y`` (ties count half) and the two-sided p."""
    first, second = np.asarray(x, float), np.asarray(y, float)
    n1, n2 = first.size, second.size
    _, back, counts = np.unique(
        np.concatenate([first, second]), return_inverse=True, return_counts=True
    )
    last = np.cumsum(counts)
    ranks = (last - (counts - 1) / 2)[back]
    u = float(np.sum(ranks[:n1])) - n1 * (n1 + 1) / 2
    larger = max(u, n1 * n2 - u)
    if counts.max() == 1 and min(n1, n2) <= _EXACT:
        ways = orders(n1, n2)
        p = 2 * float(np.sum(ways[math.ceil(larger) :])) / math.comb(n1 + n2, n1)
        return u, min(1.0, p)
    if min(n1, n2) <= _EXACT and n1 + n2 <= _MOST_TIED:
        return u, _permuted(np.round(2 * ranks).astype(np.int64), n1)
    n = n1 + n2
    ties = float(np.sum(counts.astype(float) ** 3 - counts))
    deviation = math.sqrt(n1 * n2 / 12 * max(n + 1 - ties / (n * (n - 1)), 0.0))
    above = larger - n1 * n2 / 2 - 0.5
    if deviation == 0:
        return u, 1.0
    return u, min(1.0, 2 * float(normal_below(-above / deviation)))


def _permuted(twice: NDArray[np.int64], n1: int) -> float:
    """Two-sided p of the sum of the first ``n1`` ranks over all permutations.

    ``twice``: double mean ranks, which are whole numbers. The ways to draw some of them with each
    sum are counted rank by rank.
    """
    total = int(twice.sum())
    ways = np.zeros((n1 + 1, total + 1))
    ways[0, 0] = 1
    for rank in twice:
        ways[1:, rank:] += ways[:-1, : total + 1 - rank]
    own = int(twice[:n1].sum())
    tail = min(float(ways[n1, : own + 1].sum()), float(ways[n1, own:].sum()))
    return min(1.0, 2 * tail / math.comb(twice.size, n1))


def mann_whitney_rows(x: Array, y: Array, differences: Array) -> Array:
    """The two-sided p of :func:`mann_whitney` for each row of ``x`` and ``y`` (rows x readings).

    ``differences``: each of a row of ``x`` less each of ``y``, in any order.
    """
    n1, n2 = x.shape[1], y.shape[1]
    together = np.sort(np.concatenate([x, y], axis=1), axis=1)
    alone = (together[:, 1:] != together[:, :-1]).all(axis=1) & (min(n1, n2) <= _EXACT)
    p = np.empty(len(x))
    if alone.any():
        u = (differences[alone] > 0).sum(axis=1)
        tails = np.cumsum(orders(n1, n2)[::-1])[::-1]
        larger = np.maximum(u, n1 * n2 - u)
        p[alone] = np.minimum(2 * tails[larger] / math.comb(n1 + n2, n1), 1.0)
    for row in np.flatnonzero(~alone):
        p[row] = mann_whitney(x[row], y[row])[1]
    return p


@lru_cache(maxsize=256)
def orders(n1: int, n2: int) -> Array:
    """Orders of n1 + n2 readings with each value of U (Gaussian binomial coefficients)."""
    counts = np.zeros(n1 * n2 + 1)
    counts[0] = 1
    for i in range(1, n1 + 1):
        for u in range(counts.size - 1, n2 + i - 1, -1):
            counts[u] -= counts[u - n2 - i]
        for u in range(i, counts.size):
            counts[u] += counts[u - i]
    return counts


def kendall(x: Sequence[float], y: Sequence[float]) -> float:
    """Kendall's tau-b; NaN where all readings of a side tie (Kendall 1945)."""
    first, second = np.asarray(x, float), np.asarray(y, float)
    one = np.sign(first[:, np.newaxis] - first)
    other = np.sign(second[:, np.newaxis] - second)
    scale = math.sqrt(float(np.sum(one * one)) * float(np.sum(other * other)))
    return float(np.sum(one * other)) / scale if scale else math.nan
