"""Differences between two policies: test, effect size and what the test shows (:class:`Evidence`).

Inputs are two samples or arrays of summaries. A family of tests is corrected by Holm (1979) or by
the false discovery rate.

Readings that are all equal on a side have no variance that a t test could use. Their comparison is
an exact test of ranks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Literal

import numpy as np
from attrs import evolve, frozen
from numpy.typing import ArrayLike

from airtoll.analyse.estimate import Array, Estimate, has_spread, sample
from airtoll.analyse.evidence import Evidence, evidence_of
from airtoll.analyse.overhead import Summary, difference, satterthwaite
from airtoll.analyse.ranks import mann_whitney
from airtoll.analyse.student import t_above, t_below

Method = Literal["welch", "mann-whitney"]


@frozen
class Sizes:
    """Readings of both sides."""

    first: int
    second: int


@frozen
class Test:
    """Outcome of comparing ``secured`` with ``baseline`` (secured - baseline).

    ``p``: two-sided p value; ``p_holm``: after Holm over its family (equal to p alone).
    ``effect``: Hedges' g (Welch) or Cliff's delta (Mann-Whitney). ``equivalence_p``: the larger
    p value of the two one-sided tests for the margin (NaN without one). ``ranked``: p is that of an
    exact test of ranks, which few trials leave no choice. ``among``: size of the family.
    """

    __test__ = False

    difference: Estimate
    method: Method
    p: float
    p_holm: float
    effect: float
    equivalence_p: float
    margin: float
    sizes: Sizes
    ranked: bool = False
    among: int = 1

    @property
    def needs(self) -> int | None:
        """The fewest trials a side of which the test can find a difference; None: enough."""
        fewest = min(self.sizes.first, self.sizes.second)
        if fewest < FEWEST_TRIALS:
            return FEWEST_TRIALS
        alpha = (1 - self.difference.level) / max(self.among, 1)
        if self.ranked and least_p(self.sizes.first, self.sizes.second) >= alpha:
            return trials_for_ranks(alpha)
        return None

    @property
    def shows(self) -> Evidence:
        """The evidence after the correction."""
        return evidence_of(
            self.difference, self.p_holm, self.equivalence_p, alone=self.p, needs=self.needs
        )


def compare_samples(
    secured: ArrayLike,
    baseline: ArrayLike,
    unit: str,
    *,
    method: Method = "welch",
    level: float = 0.95,
    margin: float = math.nan,
) -> Test:
    """Welch's t test (1947) or Mann and Whitney's U (1947), with TOST if a margin is given.

    ``margin`` is absolute, in ``unit``. The outcome is that of this single test; use
    :func:`holm` for a family.
    """
    x, y = sample(secured), sample(baseline)
    a, b = Summary.of(x), Summary.of(y)
    estimate = difference(a, b, unit, level)
    equal = min(x.size, y.size) > 1 and not (has_spread(x) and has_spread(y))
    if method == "mann-whitney" or equal:
        p, effect = _mann_whitney(x, y)
        same = equal and not has_spread(np.concatenate([x, y]))
        p = math.nan if same else p
    else:
        p, effect = welch_p(a, b), hedges_g(a, b)
    equivalence = math.nan if equal else tost_p(a, b, margin)
    ranked = method == "mann-whitney" or equal
    sizes = Sizes(x.size, y.size)
    return Test(estimate, method, p, p, effect, equivalence, margin, sizes, ranked)


def holm(tests: Sequence[Test]) -> list[Test]:
    """The same tests with Holm's step-down correction (1979)."""
    alone = np.array([test.p for test in tests])
    corrected, family = holm_adjust(alone), int((~np.isnan(alone)).sum())
    return [
        evolve(test, p_holm=float(p), among=family)
        for test, p in zip(tests, corrected, strict=True)
    ]


#: Fewest trials a side of any test.
FEWEST_TRIALS: Final = 2


def least_p(n1: int, n2: int) -> float:
    """The smallest p of a test of ranks: all readings of a side lie above those of the other."""
    return 2 / math.comb(n1 + n2, n1)


@lru_cache(maxsize=256)
def trials_for_ranks(alpha: float) -> int:
    """Fewest trials a side of which a test of ranks can find a difference."""
    n = FEWEST_TRIALS
    while least_p(n, n) >= alpha:
        n += 1
    return n


def least_p_of_pairs(n: int) -> float:
    """The smallest p of the sign test of n pairs: all differ to one side."""
    return 2.0 / 2.0**n


def trials_for_signs(alpha: float) -> int:
    """Fewest pairs of which the sign test can find a difference."""
    return math.floor(math.log2(2 / alpha)) + 1


def holm_adjust(p: Array) -> Array:
    """Holm-adjusted p values of a family; NaN stays NaN and counts for nothing."""
    adjusted = np.full(p.shape, np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    m = order.size
    steps = np.maximum.accumulate(p[order] * (m - np.arange(m)))
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def fdr_adjust(p: Array) -> Array:
    """p values adjusted by Benjamini and Hochberg (1995); NaN stays NaN and counts for nothing."""
    adjusted = np.full(p.shape, np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    steps = p[order] * order.size / np.arange(1, order.size + 1)
    adjusted[order] = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0)
    return adjusted


def welch_p(a: Summary, b: Summary) -> float:
    """Two-sided p value of Welch's test; NaN if a spread is unknown."""
    return float(
        welch_p_values(
            np.array([a.mean - b.mean]),
            np.array([a.variance_of_mean]),
            np.array([b.variance_of_mean]),
            np.array([float(a.n)]),
            np.array([float(b.n)]),
        )[0]
    )


def welch_p_values(delta: Array, va: Array, vb: Array, na: Array, nb: Array) -> Array:
    """Two-sided Welch p values, elementwise; va, vb squared standard errors.

    NaN where neither side has any spread: a deterministic cell has no sampling distribution.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(va + vb)
        p = 2 * t_above(np.abs(delta) / error, satterthwaite(va, vb, na, nb))
    return np.asarray(np.where(error == 0, np.nan, p), dtype=np.float64)


def hedges_g(a: Summary, b: Summary) -> float:
    """Standardised difference with Hedges' small-sample factor (Hedges 1981)."""
    degrees = a.n + b.n - 2
    if degrees < 1 or math.isnan(a.deviation) or math.isnan(b.deviation):
        return math.nan
    pooled = math.sqrt(((a.n - 1) * a.deviation**2 + (b.n - 1) * b.deviation**2) / degrees)
    if pooled == 0:
        return math.nan
    return (a.mean - b.mean) / pooled * (1 - 3 / (4 * degrees - 1))


def tost_p(a: Summary, b: Summary, margin: float) -> float:
    """Larger p value of the two one-sided tests against -margin and +margin (Schuirmann 1987)."""
    return float(
        tost_p_values(
            np.array([a.mean - b.mean]),
            np.array([a.variance_of_mean]),
            np.array([b.variance_of_mean]),
            np.array([float(a.n)]),
            np.array([float(b.n)]),
            np.array([margin]),
        )[0]
    )


def tost_p_values(delta: Array, va: Array, vb: Array, na: Array, nb: Array, margin: Array) -> Array:
    """Elementwise :func:`tost_p`; va, vb squared standard errors.

    NaN where no margin is given and where neither side has any spread.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(va + vb)
        degrees = satterthwaite(va, vb, na, nb)
        p = np.maximum(
            t_above((delta + margin) / error, degrees),
            t_below((delta - margin) / error, degrees),
        )
    return np.asarray(np.where(error == 0, np.nan, p), dtype=np.float64)


def _mann_whitney(x: Array, y: Array) -> tuple[float, float]:
    if min(x.size, y.size) == 0:
        return math.nan, math.nan
    u, p = mann_whitney(x, y)
    return p, 2 * u / (x.size * y.size) - 1
