"""Values of whole cells from those of their flows and stations, trial by trial.

Observations and sketches gain the rows that their testbed did not give, by the reduction that the
schema declares for the metric. Tests then rest on one value for each trial: stations of one trial
share its air and are no independent readings.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from airtoll.analyse.percentiles import PERCENTILES
from airtoll.observe.metrics import METRICS
from airtoll.observe.tables import SKETCHES

_TRIAL: Final = ["cell", "trial", "attempt"]
_PART: Final = ["flow", "station"]
_IS_PART: Final = pl.col("flow").is_not_null() | pl.col("station").is_not_null()


def with_totals(observations: pl.DataFrame) -> pl.DataFrame:
    """The observations, and a row of the whole cell for each trial and metric without one.

    ``observations``: rows of whole trials (``second`` null) with finite values. Percentiles have
    their totals from :func:`with_whole_sketches`.
    """
    parts = observations.filter(_IS_PART)
    if parts.is_empty():
        return observations
    known = observations.filter(~_IS_PART).select(*_TRIAL, "metric").unique()
    parts = parts.join(known, on=[*_TRIAL, "metric"], how="anti", maintain_order="left")
    kinds = {name: metric.total.kind for name, metric in METRICS.items()}
    parts = parts.with_columns(
        kind=pl.col("metric").replace_strict(kinds, default="none", return_dtype=pl.String)
    ).filter(pl.col("kind").is_in(["sum", "mean", "max"]))
    parts = _complete(parts, observations)
    parts = _weighted(parts, observations)
    keys = [name for name in observations.columns if name not in (*_PART, "value")]
    value, weight = pl.col("value"), pl.col("weight")
    totals = (
        parts.group_by([*keys, "kind"], maintain_order=True)
        .agg(
            total=pl.when(pl.col("kind").first() == "max")
            .then(value.max())
            .when(pl.col("kind").first() == "sum")
            .then(value.sum())
            .when(weight.null_count() == 0, weight.sum() > 0)
            .then((value * weight).sum() / weight.sum())
            .otherwise(value.mean())
        )
        .select(
            *(
                pl.lit(None, observations.schema[name]).alias(name)
                if name in _PART
                else pl.col("total").alias("value")
                if name == "value"
                else pl.col(name)
                for name in observations.columns
            )
        )
    )
    return pl.concat([observations, totals])


def with_whole_sketches(
    observations: pl.DataFrame, sketches: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Observations and sketches with the packets of all flows of each trial taken together.

    The percentiles of a trial are those of the bins' middles (``airtoll.observe.tables.SKETCHES``).
    """
    missing = sketches.filter(_IS_PART).join(
        sketches.filter(~_IS_PART).select(*_TRIAL, "metric").unique(),
        on=[*_TRIAL, "metric"],
        how="anti",
        maintain_order="left",
    )
    by = [*_TRIAL, "metric"]
    bins = _bins(missing, by)
    whole = (
        bins.group_by(by, maintain_order=True)
        .agg("nanoseconds", pl.col("counts").cast(pl.UInt32))
        .with_columns(pl.lit(None, sketches.schema[name]).alias(name) for name in _PART)
        .select(list(SKETCHES))
    )
    labels = [
        name for name in observations.columns if name not in (*_PART, "metric", "unit", "value")
    ]
    of_trials = observations.select(labels).unique(_TRIAL, maintain_order=True)
    of_packets = pl.concat(
        bins.filter(metric=sketched)
        .group_by(_TRIAL, maintain_order=True)
        .agg(pooled=_at_share(share))
        .with_columns(metric=pl.lit(metric, sketches.schema["metric"]))
        for metric, (sketched, share) in PERCENTILES.items()
    )
    # A single flow's reading is that of the cell, free of the bins' width.
    measured = (
        observations.filter(_IS_PART, pl.col("metric").is_in(list(PERCENTILES)))
        .group_by(by, maintain_order=True)
        .agg("unit", "value")
    )
    known = observations.filter(~_IS_PART).select(by).unique()
    totals = (
        measured.join(of_packets, on=by, how="inner", maintain_order="left")
        .with_columns(
            unit=pl.col("unit").list.first(),
            value=pl.when(pl.col("value").list.len() == 1)
            .then(pl.col("value").list.first())
            .otherwise("pooled"),
        )
        .join(known, on=by, how="anti", maintain_order="left")
        .join(of_trials, on=_TRIAL, how="inner", maintain_order="left")
        .with_columns(pl.lit(None, observations.schema[name]).alias(name) for name in _PART)
        .select(observations.columns)
        .cast(observations.schema)
    )
    return pl.concat([observations, totals]), pl.concat([sketches, whole])


def _bins(sketches: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """The bins of each trial and metric upwards, with the counts of all flows.

    The bins of a single flow are in this order already, and a sort takes longer than all else
    here. Categories are sorted by their codes, which is faster than by their text.
    """
    several = pl.len().over(by) > 1
    one_flow, flows = (
        sketches.filter(chosen)
        .select(*by, "nanoseconds", "counts")
        .explode("nanoseconds", "counts")
        for chosen in (~several, several)
    )
    if flows.is_empty():
        return one_flow
    summed = flows.group_by([*by, "nanoseconds"]).agg(pl.col("counts").sum())
    every = pl.concat([one_flow, summed.cast(flows.schema)])
    return every.sort(*(pl.col(name).to_physical() for name in by), "nanoseconds")


def _at_share(share: float) -> pl.Expr:
    """The first bin, seconds, that a share of the packets reaches."""
    below = pl.col("counts").cum_sum()
    rank = (share * below.last() - 1e-9).ceil().clip(lower_bound=1)
    return pl.col("nanoseconds").filter(below >= rank).first() / 1e9


def _complete(parts: pl.DataFrame, observations: pl.DataFrame) -> pl.DataFrame:
    """Without the metrics that only some flows of a trial have, where all of them must.

    A flow has a throughput, an offered load, or both.
    """
    wanted = [name for name, metric in METRICS.items() if metric.total.complete]
    flows = (
        observations.filter(_IS_PART, pl.col("metric").is_in(["throughput_bps", "offered_bps"]))
        .group_by(*_TRIAL, *_PART)
        .agg()
        .group_by(_TRIAL)
        .agg(flows=pl.len())
    )
    some = pl.col("metric").is_in(wanted) & (
        pl.len().over([*_TRIAL, "metric"]) < pl.col("flows").fill_null(0)
    )
    joined = parts.join(flows, on=_TRIAL, how="left", maintain_order="left")
    return joined.filter(~some).drop("flows")


def _weighted(parts: pl.DataFrame, observations: pl.DataFrame) -> pl.DataFrame:
    """With the weight of each part; null where the trial did not measure it."""
    by = {name: metric.total.by for name, metric in METRICS.items() if metric.total.by}
    wanted = list(dict.fromkeys(name for names in by.values() for name in names))
    key = [*_TRIAL, *_PART]
    weights = pl.DataFrame(
        [(metric, weigher) for metric, names in by.items() for weigher in names],
        schema=dict.fromkeys(("metric", "weigher"), observations.schema["metric"]),
        orient="row",
    ).join(
        observations.filter(_IS_PART, pl.col("metric").is_in(wanted)).select(
            *key, "value", weigher="metric"
        ),
        on="weigher",
        how="inner",
    )
    summed = weights.group_by([*key, "metric"]).agg(weight=pl.col("value").sum())
    return parts.join(
        summed, on=[*key, "metric"], how="left", nulls_equal=True, maintain_order="left"
    )
