"""Percentiles over the packets of all trials, from the sketches of the trials.

The mean of the trials' 99th percentiles is no 99th percentile of the packets: short trials bias it,
and its t interval covers 33 to 88 %. Here the packets of all trials are pooled by adding the counts
of equal bins, and the interval comes from a bootstrap that draws whole trials (clusters), since
packets of one trial share its state. The percentile interval is expanded for few trials (Hesterberg
2015, section 4.2): its tails are those of Student's t with n - 1 degrees of freedom, widened by
sqrt(n / (n - 1)).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from airtoll.analyse.estimate import RESAMPLES, Array
from airtoll.analyse.student import normal_below, t_quantile

#: metric -> (metric of the sketch, share of the packets below)
PERCENTILES: Final[dict[str, tuple[str, float]]] = {
    f"{name}_p{percent}_s": (f"{name}{unit}", percent / 100)
    for name, unit in (("delay", "_s"), ("response", "_time_s"))
    for percent in (50, 95, 99)
}

#: Half of a bin's width over its middle: bins are 1/64 of their value wide.
HALF_BIN: Final = 1 / 128

#: Begins the method of a percentile that is averaged over trials, for testbeds without sketches.
OF_TRIALS: Final = "mean of the trials' percentiles"

#: Added to the method of a comparison that rests on such averages.
ON_TRIALS: Final = ", means of the trials' percentiles"


def pooled(sketches: pl.DataFrame, level: float) -> pl.DataFrame:
    """Percentiles per cell, flow and station: metric, value, low, high (seconds), n (trials).

    ``sketches``: rows of ``airtoll.observe.tables.SKETCHES`` of the trials that count. The ends
    are half a bin further apart than those of the bootstrap, since a bin's middle stands for all of
    its values. ``pooled_deviation`` is the standard error times the root of n: a test on means
    takes the percentile for a mean of n readings with this deviation.
    """
    rows = []
    keys = ["cell", "flow", "station", "metric"]
    for (cell, flow, station, sketched), group in sketches.group_by(keys, maintain_order=True):
        values, counts = merged(group["nanoseconds"].to_list(), group["counts"].to_list())
        for metric, (source, share) in PERCENTILES.items():
            if source != sketched:
                continue
            value, low, high = percentile(values, counts, share, level)
            low, high = low * (1 - HALF_BIN), high * (1 + HALF_BIN)
            error = standard_error(values, counts, share)
            deviation = error * math.sqrt(group.height)
            rows.append((cell, flow, station, metric, value, low, high, deviation, group.height))
    return pl.DataFrame(
        rows,
        schema={
            "cell": pl.String(),
            "flow": pl.String(),
            "station": pl.String(),
            "metric": pl.String(),
            "pooled": pl.Float64(),
            "pooled_low": pl.Float64(),
            "pooled_high": pl.Float64(),
            "pooled_deviation": pl.Float64(),
            "pooled_n": pl.UInt32(),
        },
        orient="row",
    )


def merged(
    nanoseconds: Sequence[Sequence[int]], counts: Sequence[Sequence[int]]
) -> tuple[Array, Array]:
    """Values of all occupied bins, seconds, and the counts in them (trials x bins)."""
    flat = np.concatenate([np.asarray(ns, dtype=np.int64) for ns in nanoseconds])
    bins, place = np.unique(flat, return_inverse=True)
    table = np.zeros((len(counts), bins.size))
    start = 0
    for trial, own in enumerate(counts):
        table[trial, place[start : start + len(own)]] = own
        start += len(own)
    return bins / 1e9, table


def percentile(
    values: Array, counts: Array, share: float, level: float
) -> tuple[float, float, float]:
    """The value below which a share of all packets lies, and the ends of its cluster interval.

    ``values``: bins, upwards; ``counts``: trials x bins. NaN ends below two trials.
    """
    whole = _at_share(values, counts.sum(axis=0)[np.newaxis, :], share)[0]
    n = counts.shape[0]
    if n < 2:
        return whole, math.nan, math.nan
    draws = _at_share(values, _drawn(n) @ counts, share)
    tail = float(normal_below(-float(t_quantile(level, n - 1)) * math.sqrt(n / (n - 1))))
    low, high = np.quantile(draws, [tail, 1 - tail])
    return whole, float(low), float(high)


def standard_error(values: Array, counts: Array, share: float) -> float:
    """Standard error of a percentile over trials: the bootstrap's, times sqrt(n / (n - 1)).

    The factor removes the bias of the bootstrap's variance of a mean (Efron and Tibshirani 1993,
    section 5.3). NaN below two trials.
    """
    n = counts.shape[0]
    if n < 2:
        return math.nan
    draws = _at_share(values, _drawn(n) @ counts, share)
    return float(draws.std()) * math.sqrt(n / (n - 1))


def _at_share(values: Array, counts: Array, share: float) -> Array:
    below = np.cumsum(counts, axis=1)
    rank = np.maximum(np.ceil(share * below[:, -1] - 1e-9), 1)
    return np.asarray(values[(below < rank[:, np.newaxis]).sum(axis=1)])


@lru_cache(maxsize=64)
def _drawn(n: int) -> NDArray[np.float64]:
    """How often each of n trials is drawn in each resample."""
    rng = np.random.default_rng([n, RESAMPLES, 99])
    return rng.multinomial(n, np.full(n, 1 / n), size=RESAMPLES).astype(np.float64)
