"""Claims about imported readings: each secured cell against its baseline.

There is no study and no question: every metric of a whole cell that both cells have is compared.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import polars as pl
from attrs import evolve, frozen

from airtoll.analyse import Analysis
from airtoll.analyse.analysis import THROUGHPUT, estimate_of_row
from airtoll.analyse.overhead import Summary, ratio_fieller
from airtoll.answer.claims import Compare
from airtoll.answer.compared import judge
from airtoll.observe.metrics import METRICS
from airtoll.observe.spoken import SPOKEN, spoken
from airtoll.question import Arm, Place


@frozen
class Brought:
    """A claim about readings. ``p``: of the change, after correction; NaN where none was tested.

    ``cell``, ``flow``, ``station``: the part of the secured cell.
    """

    claim: Compare
    p: float
    cell: str
    flow: str | None = None
    station: str | None = None


def brought(analysis: Analysis) -> list[Brought]:
    """The claims, throughputs first, then in the order of the readings.

    Cells of which a metric is known by flows alone have a claim for each flow.
    """
    found = list(_claims(analysis))
    found.sort(key=lambda one: one.claim.metric != THROUGHPUT)
    return found


def _claims(analysis: Analysis) -> Iterator[Brought]:
    rows = analysis.comparisons.filter(pl.col("metric").is_in([*SPOKEN]))
    whole = pl.col("flow").is_null() & pl.col("station").is_null()
    wholes = set(rows.filter(whole).select("cell", "metric").iter_rows())
    for row in rows.iter_rows(named=True):
        is_whole = row["flow"] is None and row["station"] is None
        if not is_whole and (row["cell"], row["metric"]) in wholes:
            continue
        claim = _judged(analysis, row)
        if claim is not None:
            p = row["p_adjusted"]
            yield Brought(
                claim, math.nan if p is None else p, row["cell"], row["flow"], row["station"]
            )


def _judged(analysis: Analysis, row: dict[str, Any]) -> Compare | None:
    metric, part = str(row["metric"]), (row["flow"], row["station"])
    names = [str(row[name]) for name in ("baseline_cell", "cell")]
    rows = [analysis.estimates.row(analysis.row_of(cell, metric, *part), named=True)
            for cell in names]  # fmt: skip
    before, after = (estimate_of_row(dict(one), analysis.level) for one in rows)
    is_share = spoken(metric).is_share and before.value != 0
    if is_share:
        first, second = (_summary(one) for one in rows)
        ratio = ratio_fieller(second, first, analysis.level)
        change = evolve(ratio, value=ratio.value - 1, low=ratio.low - 1, high=ratio.high - 1)
    else:
        change = evolve(
            after,
            value=float(row["difference"]),
            low=math.nan if row["low"] is None else float(row["low"]),
            high=math.nan if row["high"] is None else float(row["high"]),
            method=str(row["method"]),
        )
    if not math.isfinite(change.value):
        return None
    p, alone = row["p_adjusted"], row["p"]
    alpha = 1 - analysis.level
    verdict, more = judge(
        change,
        spoken(metric).unnoticed if is_share == spoken(metric).is_share else 0.0,
        METRICS[metric].better,
        holds=p is None or math.isnan(float(p)) or float(p) < alpha,
        is_apart=alone is not None and float(alone) < alpha,
    )
    baseline, cell = rows
    place = Place((("scenario", cell["scenario"]), ("traffic", cell["traffic"])), {})
    have, to = (Arm((("policy", one["policy"]),)) for one in (baseline, cell))
    return Compare(metric, place, have, to, before, after, change, is_share, verdict, more)


def _summary(row: dict[str, Any]) -> Summary:
    deviation = math.nan if row["deviation"] is None else float(row["deviation"])
    return Summary(float(row["value_all"]), deviation, int(row["n_all"]))
