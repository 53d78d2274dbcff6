"""Join and hand-over times by cell: median, share of retries, mean.

A summary gives rows of text for the page and the terminal. Metrics that a run did not observe are
missing, never zero.
"""

from __future__ import annotations

import math
from typing import Any, Final

import polars as pl

from airtoll.analyse import Estimate
from airtoll.analyse.join_times import TIMES
from airtoll.analyse.quantities import NOTHING, Shown, show_estimate
from airtoll.observe.metrics import name_of
from airtoll.report.summary import RunSummary

#: The times that are shown where they are observed; a study's answers come first.
_SHOWN: Final = ("negotiation_time_s", "eap_time_s", "join_all_time_s", "handover_gap_s")


def time_rows(summary: RunSummary, *, answers_only: bool = False) -> list[dict[str, str]]:
    """One row per metric and cell, in the order of the plan, as a whole.

    ``answers_only``: the study's primary metrics alone.
    """
    wanted = [*summary.study.answers, *(() if answers_only else _SHOWN)]
    metrics = [m for m in dict.fromkeys(wanted) if m in TIMES]
    frame = summary.analysis.times.filter(
        pl.col("metric").is_in(metrics) & pl.col("flow").is_null()
    )
    if frame.is_empty():
        return []
    order = {cell.name: index for index, cell in enumerate(summary.plan.cells)}
    frame = (
        frame.with_columns(
            order=pl.col("cell").replace_strict(order, return_dtype=pl.Int64),
            rank=pl.col("metric").replace_strict(
                {name: index for index, name in enumerate(metrics)}, return_dtype=pl.Int64
            ),
        )
        .sort("rank", "order", "station", nulls_last=False)
        .unique(["metric", "cell"], keep="first", maintain_order=True)
    )
    return [_row(summary, row) for row in frame.iter_rows(named=True)]


def _row(summary: RunSummary, row: dict[str, Any]) -> dict[str, str]:
    level = summary.analysis.level

    def shown(name: str) -> str:
        ends = (row[f"{name}_low"], row[f"{name}_high"])
        return show_estimate(_estimate(row[name], *ends, row["unit"]))

    def _estimate(value: float, low: float, high: float, unit: str) -> Estimate:
        return Estimate(value, low, high, level, row["n"], "", unit)

    coverage = row["median_coverage"]
    exact = "" if math.isnan(coverage) else f" ({100 * coverage:.1f} %)"
    median = shown("median")
    if isinstance(median, Shown):
        median = Shown(median + exact, median.estimate)
    retried = NOTHING
    if row["retried"] is not None:
        low, high = 100 * row["share_low"], 100 * row["share_high"]
        share = _estimate(row["retried"] / row["n"], row["share_low"], row["share_high"], "1")
        retried = Shown(f"{row['retried']} of {row['n']} [{low:.0f}, {high:.0f}] %", share)
    place = (row["scenario"], row["traffic"], row["factors"], ("policy",))
    return {
        "metric": name_of(row["metric"]),
        "cell": row["cell"],
        "policy": summary.names.variant(row["policy"], row["factors"]),
        "place": summary.names.place(*place),
        "median": median,
        "retried": retried,
        "mean": shown("mean"),
        "warning": row["warning"] or "",
    }
