"""Times of joins and hand-overs, in which a rare retry costs a multiple of the usual time.

One retry in twenty joins makes the sample mean jump and leaves Student's interval with a coverage
of 15 to 65 %. Such a metric is reported as a median with its exact interval (order statistics,
binomial), the share of trials with a retry (Wilson 1927), and the mean: with a BCa interval (Efron
1987) where enough trials were retried, and with none where too few were. Two policies are compared
by Mann and Whitney's test (1947); the shift between them has the interval of Hodges and Lehmann
(1963). All functions work on many cells at once.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from airtoll.analyse.estimate import RESAMPLES, Array, median_ranks
from airtoll.analyse.ranks import mann_whitney_rows, orders
from airtoll.analyse.shares import wilson
from airtoll.analyse.student import normal_below, normal_quantile

#: Counters of a join's messages, repetitions included. Mobile IP's are left out: agents advertise
#: at random times, so that their number varies without any retry.
_JOIN: Final = (
    "authentication_messages",
    "messages_ieee80211",
    "messages_eap",
    "messages_eapol_key",
    "messages_radius",
    "messages_ikev1",
    "messages_ikev2",
    "messages_wireguard",
    "messages_openvpn",
)

#: metric -> metrics that count the messages of the same exchange
TIMES: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(
        (
            "association_time_s",
            "eap_time_s",
            "key_handshake_time_s",
            "negotiation_time_s",
            "join_time_s",
            "join_all_time_s",
        ),
        _JOIN,
    ),
    "preauthentication_time_s": ("preauthentication_messages",),
    **dict.fromkeys(("rejoin_gap_s", "rejoin_gap_longest_s"), ("rejoin_messages",)),
    **dict.fromkeys(
        (
            "handover_gap_s",
            "handover_scan_s",
            "handover_association_s",
            "handover_eap_s",
            "handover_keys_s",
            "handover_mobile_ip_s",
            "handover_tunnel_s",
            "handover_join_s",
        ),
        ("handover_messages", "handover_tunnel_messages"),
    ),
}

#: Retries below which the mean has no interval: with fewer, samples often hold none of the slow
#: trials or too many.
FEWEST_RETRIES: Final = 10

#: Fewest readings of an interval of the mean, if retries were not counted: BCa covers 93 % with
#: them, and 80 % with five readings (Student's t: 88 %).
_FEWEST_UNCOUNTED: Final = 50

#: Readings of both sides up to which the exact distribution of U is used.
_EXACT_U: Final = 60


def bca_of_means(rows: Array, level: float) -> tuple[Array, Array]:
    """Ends of the BCa interval of each row's mean (Efron 1987); rows x readings.

    The resamples depend on the number of readings alone. NaN without spread or below three
    readings.
    """
    count, n = rows.shape
    low, high = np.full(count, np.nan), np.full(count, np.nan)
    if n < 3:
        return low, high
    weights, repeats = _resamples(n)
    # One buffer for all parts: fresh memory of this size costs more than the sorting.
    buffer = np.empty((min(count, 500), weights.shape[0]))
    for start in range(0, count, 500):
        part = slice(start, start + 500)
        low[part], high[part] = _bca_part(rows[part], weights, repeats, level, buffer)
    return low, high


def _bca_part(
    rows: Array, weights: Array, repeats: NDArray[np.int64] | None, level: float, buffer: Array
) -> tuple[Array, Array]:
    centred = rows - rows.mean(axis=1, keepdims=True)
    draws = np.matmul(centred, weights.T, out=buffer[: rows.shape[0]])
    index = np.arange(rows.shape[0])
    if repeats is None:
        draws.sort(axis=1)
        own = None
    else:
        order = draws.argsort(axis=1)
        draws = np.take_along_axis(draws, order, axis=1)
        own = repeats[order]
        ends_at = own.cumsum(axis=1)

    def number(which: NDArray[np.bool_]) -> NDArray[np.int64]:
        """How many draws of each row these are."""
        return np.asarray((which if own is None else which * own).sum(axis=1))

    def drawn(place: NDArray[np.int64]) -> Array:
        """The draw at a place of each row's order, from 0."""
        if repeats is None:
            return np.asarray(draws[index, place])
        return np.asarray(draws[index, (ends_at <= place[:, np.newaxis]).sum(axis=1)])

    # Jackknife means of a mean differ from it by -centred / (n - 1).
    cubes, squares = (centred**3).sum(axis=1), (centred**2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        acceleration = cubes / (6 * squares**1.5)
    zero = 1e-12 * np.sqrt(squares)[:, np.newaxis]
    # Draws below zero, and half of those at zero.
    below = (number(draws < -zero) + number(draws <= zero)) / (2 * RESAMPLES)
    bias = normal_quantile(np.clip(below, 0.5 / RESAMPLES, 1 - 0.5 / RESAMPLES))
    ends = []
    for z in normal_quantile([(1 - level) / 2, (1 + level) / 2]):
        shifted = bias + (bias + z) / (1 - acceleration * (bias + z))
        place = np.nan_to_num(normal_below(shifted)) * (RESAMPLES - 1)
        whole = np.clip(np.floor(place).astype(int), 0, RESAMPLES - 2)
        rest = place - whole
        value = drawn(whole) * (1 - rest) + drawn(whole + 1) * rest
        ends.append(np.where(squares > 0, rows.mean(axis=1) + value, np.nan))
    return ends[0], ends[1]


@lru_cache(maxsize=64)
def _resamples(n: int) -> tuple[Array, NDArray[np.int64] | None]:
    """Share of each reading in each resample (resamples x n), and how often each is drawn.

    Three readings have 10 different resamples, five have 126: each is sorted once. From eight
    readings on most resamples differ: all are listed, and the second value is None.
    """
    rng = np.random.default_rng([n, RESAMPLES])
    drawn = rng.multinomial(n, np.full(n, 1 / n), size=RESAMPLES)
    different, repeats = np.unique(drawn, axis=0, return_counts=True)
    if 2 * len(different) > RESAMPLES:
        return drawn / n, None
    return different / n, repeats.astype(np.int64)


def time_rows(
    readings: pl.DataFrame, by: list[str], level: float, without_spread: str
) -> pl.DataFrame:
    """One row per cell, metric, flow and station of the metrics of ``TIMES``.

    ``by``: the columns that name a row, ``metric`` among them. Columns beside them: ``median``,
    ``median_low``, ``median_high``, ``median_coverage`` (attained; null without an interval),
    ``mean``, ``mean_low``, ``mean_high``, ``mean_method`` (last words of its method; null
    where readings are equal or one), ``n``, ``retried`` (trials with more messages than the cell's
    smallest exchange; null where messages were not counted), ``share``, ``share_low``,
    ``share_high`` (Wilson), ``warning``. ``without_spread``: the warning of equal readings.
    """
    times = readings.filter(pl.col("metric").is_in(list(TIMES)))
    groups = times.group_by(by, maintain_order=True).agg("value", "trial", "attempt")
    retried = _retried(readings, times, by)
    groups = groups.join(retried, on=by, how="left", nulls_equal=True, maintain_order="left")
    n = groups["value"].list.len().to_numpy().astype(np.int64)
    columns = {
        name: np.full(n.shape, np.nan)
        for name in ("median", "median_low", "median_high", "median_coverage")
    } | {name: np.full(n.shape, np.nan) for name in ("mean", "mean_low", "mean_high")}
    known = groups["retried"].cast(pl.Float64).fill_null(math.nan).to_numpy()
    for size in np.unique(n):
        rows = np.flatnonzero(n == size)
        values = groups["value"].gather(rows).explode().to_numpy().reshape(rows.size, size).copy()
        values.sort(axis=1)
        columns["median"][rows] = np.median(values, axis=1)
        columns["mean"][rows] = values.mean(axis=1)
        spread = values[:, -1] - values[:, 0] > 1e-12 * np.abs(values[:, -1])
        ranks = median_ranks(int(size), level)
        if ranks is not None:
            low, high, coverage = ranks
            columns["median_low"][rows] = np.where(spread, values[:, low - 1], np.nan)
            columns["median_high"][rows] = np.where(spread, values[:, high - 1], np.nan)
            columns["median_coverage"][rows] = np.where(spread, coverage, np.nan)
        low_ends, high_ends = ends_of_means(values, known[rows], level)
        columns["mean_low"][rows] = np.where(spread, low_ends, np.nan)
        columns["mean_high"][rows] = np.where(spread, high_ends, np.nan)
    low_share, high_share = wilson(known, n, level)
    fixed = (pl.col("value").list.max() - pl.col("value").list.min()) <= (
        1e-12 * pl.col("value").list.max().abs()
    )
    return groups.select(
        *by,
        **{name: pl.Series(values) for name, values in columns.items()},
        mean_method=pl.when(pl.Series(n > 1) & ~fixed)
        .then(_methods(n, known))
        .otherwise(pl.lit(None, pl.String)),
        n=pl.Series(n),
        retried=pl.col("retried"),
        share=pl.Series(known / np.maximum(n, 1)),
        share_low=pl.Series(low_share),
        share_high=pl.Series(high_share),
        warning=pl.when(pl.Series(n > 1) & fixed)
        .then(pl.lit(without_spread))
        .otherwise(_warnings(n, known, high_share)),
    )


def ends_of_means(rows: Array, retried: Array, level: float) -> tuple[Array, Array]:
    """Ends of the BCa interval of each row's mean; rows x readings. NaN where it would not hold.

    ``retried``: retried trials of each row; NaN: not counted.
    """
    low, high = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    held = _holds(np.full(len(rows), rows.shape[1]), retried)
    if held.any():
        low[held], high[held] = bca_of_means(rows[held], level)
    return low, high


def _holds(n: NDArray[np.int64], retried: Array) -> NDArray[np.bool_]:
    """Whether a mean of ``n`` readings has an interval that covers what it says."""
    uncounted = np.isnan(retried)
    return np.asarray((retried >= FEWEST_RETRIES) | (uncounted & (n >= _FEWEST_UNCOUNTED)))


def _methods(n: NDArray[np.int64], retried: Array) -> pl.Series:
    """The last words of the method of each row's mean."""
    few = f": no interval below {FEWEST_RETRIES} retried trials"
    uncounted = f": no interval below {_FEWEST_UNCOUNTED} trials, as retries were not counted"
    words = np.where(_holds(n, retried), ", BCa", np.where(np.isnan(retried), uncounted, few))
    return pl.Series(words.tolist(), dtype=pl.String)


def _retried(readings: pl.DataFrame, times: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Trials of each row whose exchange took more messages than the cell's smallest one."""
    place = [name for name in by if name not in ("metric", "unit")]
    trial = [*place, "trial", "attempt"]
    if times.is_empty():
        return times.select(*by, retried=pl.lit(0, pl.Int64))
    exchanges = []
    found = set(times["metric"].unique())
    # Metrics that count the same messages share one sum over each trial.
    for counters in dict.fromkeys(own for metric, own in TIMES.items() if metric in found):
        metrics = [metric for metric, own in TIMES.items() if own == counters]
        messages = (
            readings.filter(pl.col("metric").is_in(list(counters)))
            .group_by(trial)
            .agg(messages=pl.col("value").sum())
        )
        exchanges.append(
            times.filter(pl.col("metric").is_in(metrics))
            .select(*trial, "metric", "unit")
            .join(messages, on=trial, how="inner", nulls_equal=True)
        )
    return (
        pl.concat(exchanges)
        .group_by(by)
        .agg(retried=(pl.col("messages") > pl.col("messages").min()).sum().cast(pl.Int64))
    )


def _warnings(n: NDArray[np.int64], retried: Array, share_high: Array) -> pl.Series:
    """The warning of each row; rows with equal words share their text."""
    retried = np.nan_to_num(retried, nan=-1)
    _kinds, first, place = np.unique(n + 1j * retried, return_index=True, return_inverse=True)
    words = [
        _warning(int(size), float(count), float(high))
        for size, count, high in zip(n[first], retried[first], share_high[first], strict=True)
    ]
    return pl.Series(words, dtype=pl.String).gather(pl.Series(place.reshape(-1), dtype=pl.UInt32))


def _warning(n: int, retried: float, share_high: float) -> str | None:
    """The warning of a mean of n trials; a negative number of retries is unknown."""
    if retried < 0:
        few = n < _FEWEST_UNCOUNTED
        return "retries were not counted: no interval of the mean" if few else None
    if retried == 0:
        high = f"{100 * share_high:.0f} %"
        return f"no retry in {n} trials; up to {high} may need one: no interval of the mean"
    if retried < FEWEST_RETRIES:
        return f"{retried:.0f} retried trials, below {FEWEST_RETRIES}: no interval of the mean"
    return None


def shifts(first: Array, second: Array, level: float) -> tuple[Array, Array, Array, Array]:
    """Hodges-Lehmann shift second - first with its ends, and Mann and Whitney's p, row by row.

    ``first`` rows x n1, ``second`` rows x n2. Ends are NaN where no pair of differences covers
    ``level`` (below 4 and 4 readings at 95 %). Both sides without spread: ends and p are NaN.
    """
    n1, n2 = first.shape[1], second.shape[1]
    differences = np.sort(
        (second[:, :, np.newaxis] - first[:, np.newaxis, :]).reshape(first.shape[0], -1), axis=1
    )
    value = np.median(differences, axis=1)
    rank = _shift_rank(n1, n2, level)
    if rank is None:
        low = high = np.full(value.shape, np.nan)
    else:
        low, high = differences[:, rank - 1], differences[:, n1 * n2 - rank]
    p = mann_whitney_rows(second, first, differences)
    scale = np.maximum(np.abs(first).max(axis=1), np.abs(second).max(axis=1))
    fixed = (np.ptp(first, axis=1) <= 1e-12 * scale) & (np.ptp(second, axis=1) <= 1e-12 * scale)
    return (
        value,
        np.where(fixed, np.nan, low),
        np.where(fixed, np.nan, high),
        np.where(fixed, np.nan, p),
    )


@lru_cache(maxsize=256)
def _shift_rank(n1: int, n2: int, level: float) -> int | None:
    """Rank of the difference that bounds the shift from below, from 1."""
    tail = (1 - level) / 2
    if n1 + n2 <= _EXACT_U:
        below = np.cumsum(orders(n1, n2)) / math.comb(n1 + n2, n1)
        rank = int(np.searchsorted(below, tail, side="right"))
    else:
        deviation = math.sqrt(n1 * n2 * (n1 + n2 + 1) / 12)
        rank = math.floor(n1 * n2 / 2 + float(normal_quantile(tail)) * deviation)
    return rank if rank >= 1 else None
