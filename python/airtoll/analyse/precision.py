"""How precisely each overhead of an analysis is known, and the trials that a wanted one needs.

Takes an analysis; gives half widths of intervals, as shares, and forecasts from them. Decides
nothing about which trials run.
"""

from __future__ import annotations

import math
from typing import Any, Final

import polars as pl
from attrs import evolve, frozen

from airtoll.analyse.analysis import THROUGHPUT, Analysis
from airtoll.analyse.overhead import Summary, overhead_of_summaries

#: Trials per cell before an interval decides whether more are needed (docs/statistics.md).
LEAST_TRIALS: Final = 10


@frozen
class Known:
    """How far the interval of one whole cell's overhead reaches to either side, as a share.

    ``half``: infinite where more trials may give the first interval; 0 where no trial narrows it.
    """

    cell: str
    reference: str
    half: float


def how_known(analysis: Analysis) -> list[Known]:
    """The overheads of whole cells with their half widths, in the order of the analysis.

    Differences in bit/s are taken as a share of the largest baseline throughput. Deterministic
    cells count as known, and so do readings that are equal in all of ``LEAST_TRIALS`` trials or
    more: another one hardly differs. More trials settle no reading that depends on their length.
    A cell without any other interval counts as infinitely wide.
    """
    unit = 1.0
    if analysis.definition == "difference_bps":
        rates = analysis.estimates.filter(
            (pl.col("metric") == THROUGHPUT) & pl.col("cell").is_in(list(analysis.references))
        )["value_all"]
        unit = float(max(rates.to_list(), default=0.0) or 1.0)
    found = []
    for row in analysis.overheads.iter_rows(named=True):
        if row["flow"] is not None or row["station"] is not None or row["value"] != row["value"]:
            continue
        own = analysis.overhead_of_all(row["cell"])
        if own is None:
            continue
        half = 0.0 if own.is_deterministic or not own.is_settled else own.half_width
        if own.is_equal:
            half = _of_equal(analysis, row)
        half = half / unit if half == half else math.inf
        found.append(Known(str(row["cell"]), str(row["baseline_cell"]), half))
    return found


def forecast(trials: int, half: float, wanted: float) -> int | None:
    """Trials per cell until half an interval is ``wanted``, which shrinks as 1/sqrt(n).

    ``half``: that of ``trials`` trials. None where nothing is known of it.
    """
    if not math.isfinite(half):
        return None
    return max(LEAST_TRIALS, math.ceil(trials * (half / wanted) ** 2))


def _of_equal(analysis: Analysis, row: dict[str, Any]) -> float:
    """Half width of an overhead with equal readings on a side, which then counts as without spread.

    NaN of fewer than ``LEAST_TRIALS`` trials.
    """
    samples = [
        analysis.throughputs.filter(cell=str(row[name]))["value"].to_numpy()
        for name in ("baseline_cell", "cell")
    ]
    if min(sample.size for sample in samples) < LEAST_TRIALS:
        return math.nan
    zero, own = (evolve(Summary.of(sample), exact=True) for sample in samples)
    found = overhead_of_summaries(zero, own, analysis.definition, analysis.level)
    return 0.0 if found.is_deterministic else found.half_width
