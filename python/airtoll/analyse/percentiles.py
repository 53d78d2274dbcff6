"""Percentiles over the packets of all trials, from the sketches of the trials.

The mean of the trials' 99th percentiles is no 99th percentile of the packets: short trials bias it,
and its t interval covers 33 to 88 %. Here the packets of all trials are pooled by adding the counts
of equal bins, and the interval comes from a bootstrap that draws whole trials (clusters), since
packets of one trial share its state. The percentile interval is expanded for few trials (Hesterberg
2015, section 4.2): its tails are those of Student's t with n - 1 degrees of freedom, widened by
sqrt(n / (n - 1)).

Of fewer than ten trials the bootstrap covers 56 to 89 %. A median then has the values at which a t
test over the trials does not refuse that half of the packets lie below (Woodruff 1952). Percentiles
above the median have no interval below ten trials, and none where a few trials hold most of the
slowest packets: the next trial may hold as many again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
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

#: Fewest trials of an interval: of a median, and of a percentile above it.
FEWEST_OF_MEDIANS: Final = 3
FEWEST_OF_TAILS: Final = 10

#: Fewest trials among which the slowest packets must be spread as if evenly.
_FEWEST_TAILS: Final = 5.0

#: Begins the method of a percentile of all packets.
OF_PACKETS: Final = "all packets of "

#: Begins the method of a percentile that is averaged over trials, for testbeds without sketches.
OF_TRIALS: Final = "mean of the trials' percentiles"

#: Added to the method of a comparison that rests on such averages.
ON_TRIALS: Final = ", means of the trials' percentiles"


def pooled(sketches: pl.DataFrame, level: float) -> pl.DataFrame:
    """Percentiles per cell, flow and station: metric, value, low, high (seconds).

    ``sketches``: rows of ``airtoll.observe.tables.SKETCHES`` of the trials that count. The ends
    are half a bin further apart than those of the bootstrap, since a bin's middle stands for all of
    its values. ``pooled_deviation`` is the standard error times the root of n: a test on means
    takes the percentile for a mean of n readings with this deviation. ``pooled_method``: in words.
    """
    rows = []
    keys = ["cell", "flow", "station", "metric"]
    # The only flow of a cell has the packets of the cell as a whole.
    found: dict[tuple[object, ...], list[tuple[float, float, float, float, str]]] = {}
    for (cell, flow, station, sketched), group in sketches.group_by(keys, maintain_order=True):
        wanted = {
            metric: share for metric, (name, share) in PERCENTILES.items() if name == sketched
        }
        values, counts = merged(group["nanoseconds"].to_list(), group["counts"].to_list())
        digest = blake2b(values.tobytes() + counts.tobytes()).digest()
        packets = (sketched, counts.shape, digest)
        if packets not in found:
            below = counts.cumsum(axis=1)
            found[packets] = [percentile(values, below, share, level) for share in wanted.values()]
        for metric, (value, low, high, error, how) in zip(wanted, found[packets], strict=True):
            low, high = low * (1 - HALF_BIN), high * (1 + HALF_BIN)
            deviation = error * math.sqrt(group.height)
            rows.append((cell, flow, station, metric, value, low, high, deviation, how))
    return pl.DataFrame(
        rows,
        schema={
            **{name: sketches.schema[name] for name in ("cell", "flow", "station", "metric")},
            "pooled": pl.Float64(),
            "pooled_low": pl.Float64(),
            "pooled_high": pl.Float64(),
            "pooled_deviation": pl.Float64(),
            "pooled_method": pl.String(),
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
    values: Array, below: Array, share: float, level: float
) -> tuple[float, float, float, float, str]:
    """The value below which a share of all packets lies, the ends of its cluster interval, its
    standard error over trials, and the method in words.

    ``values``: bins, upwards; ``below``: counts cumulated over the bins, trials x bins. The
    standard error is the bootstrap's times sqrt(n / (n - 1)), which removes the bias of the
    bootstrap's variance of a mean (Efron and Tibshirani 1993, section 5.3). NaN for ends and error
    where there is no interval.
    """
    n = below.shape[0]
    whole = float(_at_share(values, below, np.ones((1, n)), share)[0])
    if n < 2:
        return whole, math.nan, math.nan, math.nan, f"{OF_PACKETS}one trial"
    of = f"{OF_PACKETS}{n} trials"
    fewest = FEWEST_OF_TAILS if share > 0.5 else FEWEST_OF_MEDIANS
    if n < fewest:
        return whole, math.nan, math.nan, math.nan, f"{of}: an interval takes {fewest}"
    if share > 0.5 and _spread_of_tails(below, share) < _FEWEST_TAILS:
        how = f"{of}: no interval, a few trials hold most of the slowest packets"
        return whole, math.nan, math.nan, math.nan, how
    if n < FEWEST_OF_TAILS:
        low, high = _inverted(values, below, share, level)
        error = (high - low) / (2 * float(t_quantile(level, n - 1)))
        return whole, low, high, error, f"{of}, inverted t test"
    weights, place = _drawn(n)
    draws = _at_share(values, below, weights, share)[place]
    wider = math.sqrt(n / (n - 1))
    tail = _tail(n, level)
    low, high = (float(end) for end in np.quantile(draws, [tail, 1 - tail]))
    return whole, low, high, float(draws.std()) * wider, f"{of}, bootstrap of trials"


def _inverted(values: Array, below: Array, share: float, level: float) -> tuple[float, float]:
    """The least and the greatest bin that a t test over the trials does not refuse.

    Tested is that the packets below less ``share`` of all have a mean of zero over the trials.
    """
    n = below.shape[0]
    excess = below - share * below[:, -1:]
    error = excess.std(axis=0, ddof=1) / math.sqrt(n)
    held = np.flatnonzero(np.abs(excess.mean(axis=0)) <= float(t_quantile(level, n - 1)) * error)
    whole = int(np.argmax(below.sum(axis=0) >= share * below[:, -1].sum() - 1e-9))
    if held.size == 0:
        return float(values[whole]), float(values[whole])
    # The bin after the last one that is held still has packets at the tested share.
    last = min(int(held[-1]) + 1, values.size - 1)
    return float(values[min(int(held[0]), whole)]), float(values[max(last, whole)])


def _spread_of_tails(below: Array, share: float) -> float:
    """Over how many trials the packets from the percentile on are spread, as if evenly (Kish)."""
    totals = below[:, -1]
    at = int(np.argmax(below.sum(axis=0) >= share * totals.sum() - 1e-9))
    slow = totals - (below[:, at - 1] if at else 0.0)
    return float(slow.sum() ** 2 / (slow**2).sum())


@lru_cache(maxsize=256)
def _tail(n: int, level: float) -> float:
    """The share of the resamples of ``n`` trials on either side of the expanded interval."""
    wider = math.sqrt(n / (n - 1))
    return float(normal_below(-float(t_quantile(level, n - 1)) * wider))


def _at_share(values: Array, below: Array, weights: Array, share: float) -> Array:
    """The first bin of each weighted sum of trials that reaches the share, by bisection.

    ``weights``: resamples x trials. Sums of counts are whole numbers, so the order of the
    additions changes nothing.
    """
    least, most = _bins_of_mixes(below, share)
    if least == most:
        return np.full(len(weights), values[least])
    cumulated = np.ascontiguousarray(below.T)
    rank = np.maximum(np.ceil(share * (weights @ cumulated[-1]) - 1e-9), 1)
    first = np.full(len(weights), least)
    last = np.full(len(weights), most)
    for _ in range((most - least + 1).bit_length()):
        middle = (first + last) // 2
        short = np.einsum("ij,ij->i", weights, cumulated[middle]) < rank
        first = np.where(short, np.minimum(middle + 1, last), first)
        last = np.where(short, last, middle)
    return np.asarray(values[first])


def _bins_of_mixes(below: Array, share: float) -> tuple[int, int]:
    """The least and the greatest bin in which a weighted sum of the trials can reach the share.

    No sum reaches it before its first trial has, and each has reached it when its last trial has.
    The margins are above the rounding of the shares.
    """
    end = below.shape[1] - 1
    if not below[:, -1].all():
        return 0, end
    wanted = share * below[:, -1:]
    least = (below < wanted - 1e-6).sum(axis=1).min()
    most = (below < wanted + 1e-6).sum(axis=1).max()
    return min(int(least), end), min(int(most), end)


@lru_cache(maxsize=64)
def _drawn(n: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """How often each of n trials is drawn: the different resamples, and the one of each draw.

    Few trials have few different resamples: three have 10, five have 126.
    """
    rng = np.random.default_rng([n, RESAMPLES, 99])
    drawn = rng.multinomial(n, np.full(n, 1 / n), size=RESAMPLES)
    different, place = np.unique(drawn, axis=0, return_inverse=True)
    return different.astype(np.float64), place.reshape(-1)
