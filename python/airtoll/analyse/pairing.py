"""Trials of equal number in pairs: a state that both sides share drops out of their difference.

Two plans give pairs: interleaved trials on a testbed whose state drifts (a machine, the air), and
common random numbers in the simulator (``pairing = "common"``: the policies of a cell draw the same
random numbers in trials of equal number). Otherwise the simulator draws each trial independently,
and pairing would only lose degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import polars as pl

from airtoll.analyse.contrast import Contrast
from airtoll.analyse.estimate import Array
from airtoll.analyse.student import t_above, t_below, t_quantile

#: The testbed whose trials draw from their seed alone.
SIMULATOR: Final = "simulator"
#: Testbeds whose neighbouring trials share a state.
_DRIFTING = ("linux",)


def pairs_trials(order: str, testbed: str, pairing: str = "independent") -> bool:
    """Whether trials of equal number are compared in pairs.

    ``pairing``: the plan's; ``common`` says that the policies of a cell share random numbers.
    """
    if testbed == SIMULATOR:
        return pairing == "common"
    return order == "interleaved" and testbed in _DRIFTING


def runs_share_draws(seed: object, other_seed: object, testbed: str) -> bool:
    """Whether trials of equal number of two runs drew the same random numbers.

    Only a simulator draws from the seed alone; on other testbeds equal seeds share nothing.
    """
    return seed == other_seed and testbed == SIMULATOR


def how_runs_are_compared(*, in_pairs: bool) -> str:
    """The rule by which trials of two runs are compared, a sentence."""
    if in_pairs:
        return (
            "Trials of equal number drew the same random numbers: means are compared in pairs (t; "
            "by their signs where all differences are equal), other values as independent readings "
            "(Welch)."
        )
    return "Trials are compared as independent readings (Welch)."


def paired_rows(
    readings: pl.DataFrame, contrast: Contrast, same: Sequence[str], labels: Sequence[str]
) -> pl.DataFrame:
    """One row per secured cell and quantity: ``value``, ``deviation``, ``n``, the same with ``_0``
    for the reference, ``cell_0``, ``covariance`` (of the means), and ``least`` and ``most`` (of the
    differences), over complete pairs alone.

    ``same``: columns that both sides share besides those of the contrast; ``labels``: columns of
    the secured side that are kept.
    """
    same = [*contrast.same, *same]
    zero, secured = contrast.split(readings)
    zero = zero.select(*same, "trial", cell_0=pl.col("cell"), x=pl.col("value"))
    pairs = secured.join(zero, on=[*same, "trial"], how="inner", nulls_equal=True)
    by = list(dict.fromkeys([*labels, *same, "unit", "cell_0"]))
    return pairs.group_by(by, maintain_order=True).agg(
        value=pl.col("value").mean(),
        deviation=pl.col("value").std(ddof=1),
        n=pl.len(),
        value_0=pl.col("x").mean(),
        deviation_0=pl.col("x").std(ddof=1),
        n_0=pl.len(),
        covariance=pl.cov("value", "x", ddof=1) / pl.len(),
        least=(pl.col("value") - pl.col("x")).min(),
        most=(pl.col("value") - pl.col("x")).max(),
    )


def paired_interval(
    delta: Array, variance: Array, n: Array, level: float
) -> tuple[Array, Array, Array]:
    """Ends of the paired t interval and its two-sided p value, elementwise.

    ``variance``: squared standard error of the mean difference; ``n``: pairs. NaN where all
    differences are equal.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(variance)
        half = np.where(error == 0, np.nan, t_quantile(level, n - 1) * error)
        p = np.where(error == 0, np.nan, 2 * t_above(np.abs(delta) / error, n - 1))
    return delta - half, delta + half, p


def paired_tost(delta: Array, variance: Array, n: Array, margin: Array) -> Array:
    """Larger p value of the two one-sided paired tests against the margins (Schuirmann 1987)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(variance)
        p = np.maximum(
            t_above((delta + margin) / error, n - 1),
            t_below((delta - margin) / error, n - 1),
        )
    return np.asarray(np.where(error == 0, np.nan, p), dtype=np.float64)


def fieller_paired_ends(
    a: Array, b: Array, va: Array, vb: Array, covariance: Array, n: Array, level: float
) -> tuple[Array, Array]:
    """Fieller's interval ends of a / b for paired means (Fieller 1954), n - 1 degrees of freedom.

    ``va``, ``vb`` and ``covariance`` are those of the means. Where b cannot be told from zero the
    interval is the whole line.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        t2 = t_quantile(level, n - 1) ** 2
        t2 = np.where((va == 0) & (vb == 0), np.nan, t2)
        first = b**2 - t2 * vb
        middle = a * b - t2 * covariance
        root = np.sqrt(np.maximum(middle**2 - first * (a**2 - t2 * va), 0.0))
        low = np.where(first <= 0, -np.inf, (middle - root) / first)
        high = np.where(first <= 0, np.inf, (middle + root) / first)
    return low, high
