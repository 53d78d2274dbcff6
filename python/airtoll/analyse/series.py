"""Series of one run: its readings are not independent trials.

The per-second (or per-point) values of one trial, in order, give the warm-up to cut and a mean
whose interval allows for correlation. Points of one run are not repetitions.
"""

from __future__ import annotations

import math

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from airtoll.analyse.estimate import Estimate, mean_t, sample


def mser(values: ArrayLike, batch: int = 5) -> int:
    """Points to cut as warm-up by MSER-5 (White 1997; White, Cobb and Spratt 2000).

    Takes the cut, a multiple of ``batch``, that minimises the marginal standard error of the
    remaining batch means; only the first half of the series is searched. 0 if too short.
    """
    x = sample(values)
    k = x.size // batch
    if k < 2:
        return 0
    means = x[: k * batch].reshape(k, batch).mean(axis=1)
    best, cut = math.inf, 0
    for d in range(k // 2 + 1):
        rest = means[d:]
        statistic = float(np.sum((rest - rest.mean()) ** 2)) / rest.size**2
        if statistic < best * (1 - 1e-12):
            best, cut = statistic, d
    return cut * batch


def batch_means(values: ArrayLike, unit: str, batches: int = 10, level: float = 0.95) -> Estimate:
    """Mean of a series with the t interval of its batch means (Schmeiser 1982).

    The tail that fills no batch is left out of the interval, not of the value.
    """
    x = sample(values)
    size = x.size // batches
    if size < 1:
        value = float(x.mean()) if x.size else math.nan
        return Estimate(value, math.nan, math.nan, level, x.size, "series too short", unit)
    means = x[: size * batches].reshape(batches, size).mean(axis=1)
    inner = mean_t(means, unit, level)
    value = float(x.mean())
    half = inner.half_width
    return Estimate(value, value - half, value + half, level, x.size, "mean, batch means", unit)


def summarise_series(
    observations: pl.DataFrame, discard_first: int | None = None, level: float = 0.95
) -> pl.DataFrame:
    """One row per series of a run, its warm-up cut and its mean with an interval.

    Columns: cell, trial, attempt, metric, flow, station, unit, ``points``, ``cut`` (by MSER-5, or
    ``discard_first`` points), ``value``, ``low``, ``high`` (batch means over what is left, at
    ``level``) and ``lag_one``.
    """
    keys = ["cell", "trial", "attempt", "metric", "flow", "station", "unit"]
    rows = observations.filter(pl.col("second").is_not_null() & pl.col("value").is_finite())
    found = []
    for key, group in rows.sort("second").group_by(keys, maintain_order=True):
        values = group["value"].to_numpy()
        cut = mser(values) if discard_first is None else min(discard_first, values.size)
        estimate = batch_means(values[cut:], str(key[-1]), level=level)
        found.append(
            dict(zip(keys, key, strict=True))
            | {
                "points": values.size,
                "cut": cut,
                "value": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
                "lag_one": lag_one(values[cut:]),
            }
        )
    schema = {name: observations.schema[name] for name in keys} | {
        "points": pl.UInt32(),
        "cut": pl.UInt32(),
        "value": pl.Float64(),
        "low": pl.Float64(),
        "high": pl.Float64(),
        "lag_one": pl.Float64(),
    }
    return pl.DataFrame(found, schema=schema).sort(keys, nulls_last=False)


def lag_one(values: ArrayLike) -> float:
    """Lag-one autocorrelation; NaN for a series without spread or under three points."""
    x = sample(values)
    centred = x - x.mean() if x.size else x
    power = float(np.sum(centred**2))
    if x.size < 3 or power == 0:
        return math.nan
    return float(np.sum(centred[1:] * centred[:-1])) / power
