"""Readings that have not settled: the figure depends on the length of the trial.

An overloaded queue grows for as long as a trial lasts, and fragments that find a full queue
deliver less and less. Repeated trials agree about such a reading to many digits, and an interval
over them says nothing. Each flow therefore compares the two halves of its measured time
(``..._drift_...``). A reading whose halves differ by more than chance between trials has not
settled: it has no interval, no test, and says so. One or two trials tell nothing of chance: of them
only a drift with a known cause counts.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import numpy as np
import polars as pl
from attrs import frozen

from airtoll.analyse.estimate import Array
from airtoll.analyse.student import t_quantile

#: Difference of the halves, as a share of their mean, that counts without a test: of several trials
#: that all differ by as much, and of a single one.
_PLAIN: Final = 0.5
_PLAIN_OF_ONE: Final = 1.0
#: Trials below which a drift counts only where its cause is known.
_LEAST_TRIALS: Final = 3
#: Level of the test that chance gives the halves' difference.
_LEVEL: Final = 0.999
#: Share of a cell's throughput by which its flows must drift so that the whole has not settled.
_OF_WHOLE: Final = 0.05

_DELAYS: Final = (
    "delay_s",
    "delay_p50_s",
    "delay_p95_s",
    "delay_p99_s",
    "jitter_s",
    "sender_time_s",
    "transit_time_s",
    "receiver_time_s",
    "packets_queued",
    "voice_mos",
)


@frozen
class Drift:
    """A row of drifts: of which metric, and the metrics of the same flow that depend on it.

    ``least``: the least difference of the halves, as a share of their mean, that counts. Delays of
    a full queue take a while to settle and change little by it.
    """

    of: str
    least: float
    metrics: tuple[str, ...]


#: Metric that holds the second half less the first.
DRIFTS: Final[dict[str, Drift]] = {
    "throughput_drift_bps": Drift(
        "throughput_bps",
        0.1,
        (
            "throughput_bps",
            "fairness_ratio",
            "loss_ratio",
            "energy_j_per_bit",
            "packets_received",
            "packets_lost",
            *_DELAYS,
        ),
    ),
    "delay_drift_s": Drift("delay_s", 0.5, _DELAYS),
}

_PART: Final = ["flow", "station"]


def unsettled(rows: pl.DataFrame, explained: Collection[str] = ()) -> pl.DataFrame:
    """Flows and cells whose readings have not settled.

    ``rows``: readings of whole trials that count. ``explained``: cells whose trials name a cause of
    differing halves. Columns of the result: cell, flow, station (null: the cell as a whole), ``of``
    (``throughput_bps`` or ``delay_s``), ``relative`` (second half less first as a share of their
    mean, mean over trials), ``n``.
    """
    schema = {name: rows.schema[name] for name in ("cell", *_PART)}
    nothing = pl.DataFrame(
        schema={**schema, "of": pl.String(), "relative": pl.Float64(), "n": pl.Int64()}
    )
    drifting = rows.filter(pl.col("metric").is_in(list(DRIFTS)))
    if drifting.is_empty():
        return nothing
    found = [nothing]
    for metric, drift in DRIFTS.items():
        own = drifting.filter(metric=metric).select("cell", *_PART, "trial", "attempt", d="value")
        if own.is_empty():
            continue
        bases = (
            rows.filter(metric=drift.of)
            .join(own.select("cell").unique(), on="cell", how="semi")
            .select("cell", *_PART, "trial", "attempt", base="value")
        )
        # A trial without a drift has halves that are about the same.
        both = bases.join(
            own, on=["cell", *_PART, "trial", "attempt"], how="left", nulls_equal=True
        ).with_columns(pl.col("d").fill_null(0.0))
        flows = _judged(both.filter(pl.col("flow").is_not_null()), drift, explained)
        if flows.is_empty():
            continue
        found += [flows.select(nothing.columns), _of_cells(both, flows, drift.of, nothing)]
    return pl.concat(found)


def in_words(relative: float) -> str:
    """How the second half differs from the first; ``relative``: the difference over the mean."""
    ratio = (1 + relative / 2) / max(1 - relative / 2, 1e-9)
    if ratio >= 2:
        return f"{ratio:.1f} times as high" if ratio < 100 else "over 100 times as high"
    return f"{100 * abs(ratio - 1):.0f} % {'higher' if ratio > 1 else 'lower'}"


def metrics_of(of: str) -> tuple[str, ...]:
    """The metrics of a flow that have not settled where this one has not."""
    return next(drift.metrics for drift in DRIFTS.values() if drift.of == of)


def _judged(both: pl.DataFrame, drift: Drift, explained: Collection[str]) -> pl.DataFrame:
    """The flows whose halves differ by more than chance; ``drift``: mean difference, SI units."""
    groups = both.group_by("cell", *_PART, maintain_order=True).agg("d", "base")
    kept, relatives, sizes, drifts = [], [], [], []
    columns = (groups["cell"].cast(pl.String), groups["d"], groups["base"])
    for number, (cell, d, base) in enumerate(zip(*columns, strict=True)):
        differences, means = d.to_numpy(), base.to_numpy()
        known = means > 0
        if known.sum() < (1 if cell in explained else _LEAST_TRIALS):
            continue
        if not _is_drift(differences[known] / means[known], drift.least):
            continue
        kept.append(number)
        relatives.append(float((differences[known] / means[known]).mean()))
        sizes.append(int(known.sum()))
        drifts.append(float(differences.mean()))
    return (
        groups[kept]
        .select("cell", *_PART)
        .with_columns(
            of=pl.lit(drift.of),
            relative=pl.Series(relatives, dtype=pl.Float64),
            n=pl.Series(sizes, dtype=pl.Int64),
            drift=pl.Series(drifts, dtype=pl.Float64),
        )
    )


def _is_drift(relative: Array, least: float) -> bool:
    """Whether the halves of some trials differ in one direction, by more than chance."""
    n = relative.size
    if not (np.all(relative > 0) or np.all(relative < 0)):
        return False
    if np.abs(relative).min() >= (_PLAIN if n > 1 else _PLAIN_OF_ONE):
        return True
    if n < 2 or abs(relative.mean()) < least:
        return False
    error = float(relative.std(ddof=1)) / n**0.5
    return bool(abs(relative.mean()) > float(t_quantile(_LEVEL, n - 1)) * error)


def _of_cells(
    both: pl.DataFrame, flows: pl.DataFrame, of: str, nothing: pl.DataFrame
) -> pl.DataFrame:
    """The cells as a whole: the largest drift of a delay, or the sum of those of throughputs."""
    summed = flows.group_by("cell", maintain_order=True).agg(
        relative=pl.col("relative").sort_by(pl.col("relative").abs()).last(),
        drift=pl.col("drift").sum(),
        n=pl.col("n").max(),
    )
    if of == "throughput_bps":
        whole = (
            both.filter(pl.col("flow").is_not_null())
            .group_by("cell", "trial", "attempt")
            .agg(pl.col("base").sum())
            .group_by("cell")
            .agg(pl.col("base").mean())
        )
        summed = (
            summed.join(whole, on="cell", maintain_order="left")
            .with_columns(relative=pl.col("drift") / pl.col("base"))
            .filter(pl.col("relative").abs() > _OF_WHOLE)
        )
    return summed.with_columns(
        *(pl.lit(None, nothing.schema[name]).alias(name) for name in _PART), of=pl.lit(of)
    ).select(nothing.columns)
