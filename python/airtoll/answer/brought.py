"""Claims about imported readings: each secured cell against its baseline.

There is no study and no question: every metric of a whole cell that both cells have is compared.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import polars as pl
from attrs import frozen

from airtoll.analyse import Analysis
from airtoll.analyse.analysis import THROUGHPUT
from airtoll.answer.claims import Compare
from airtoll.answer.compared import Pair, judged, unjudged
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
    metric = str(row["metric"])
    pair = Pair(str(row["baseline_cell"]), str(row["cell"]), row["flow"], row["station"])
    baseline, cell = (
        analysis.estimates.row(analysis.row_of(name, metric, *pair.part), named=True)
        for name in (pair.reference, pair.cell)
    )
    place = Place((("scenario", cell["scenario"]), ("traffic", cell["traffic"])), {})
    have, to = (Arm((("policy", one["policy"]),)) for one in (baseline, cell))
    claim = judged(unjudged(metric, place, have, to), analysis, pair, spoken(metric).unnoticed)
    if claim.change is None or not math.isfinite(claim.change.value):
        return None
    return claim
