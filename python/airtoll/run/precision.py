"""How many trials a run goes on to until its overheads are known as precisely as asked for.

A run that stops when its interval is narrow enough stops more often than not after a small sample
deviation. From fewer than ten trials on, the interval then covers less than it says; from ten on it
covers 94 to 96 % (tests/run/test_precision.py, docs/statistics.md).
"""

from __future__ import annotations

import math
from typing import Any, Final

import polars as pl
from attrs import evolve

from airtoll.analyse import Analysis
from airtoll.analyse.analysis import THROUGHPUT
from airtoll.analyse.overhead import Summary, overhead_of_summaries

#: Trials per cell before the interval decides.
LEAST_TRIALS: Final = 10

#: Growth of the number of trials from one look to the next.
_LEAST_GROWTH: Final = 1.25
_MOST_GROWTH: Final = 2.0


def next_repetitions(
    repetitions: int, half_width: float, precision: float, most: int
) -> int | None:
    """Trials per cell to go on to; None where the run ends.

    ``half_width``: of the widest interval, in the unit of ``precision``.
    """
    if repetitions >= most:
        return None
    if repetitions < LEAST_TRIALS:
        return min(most, LEAST_TRIALS)
    if half_width <= precision:
        return None
    # A half width falls with the root of the trials. At most double: the deviation may settle.
    growth = min(_MOST_GROWTH, max(_LEAST_GROWTH, (half_width / precision) ** 2))
    return min(most, max(repetitions + 1, int(repetitions * growth)))


def widest_half_width(analysis: Analysis) -> float | None:
    """The widest half width of a whole cell's overhead, as a share; None without overheads.

    Differences in bit/s are taken as a share of the largest baseline throughput. Deterministic
    cells count as known, and so do readings that are equal in all of ``LEAST_TRIALS`` trials or
    more: another one hardly differs. More trials settle no reading that depends on their length.
    A cell without any other interval counts as infinitely wide.
    """
    widest = None
    for row in analysis.overheads.iter_rows(named=True):
        if row["flow"] is not None or row["station"] is not None or row["value"] != row["value"]:
            continue
        found = analysis.overhead_of_all(row["cell"])
        if found is None:
            continue
        known = found.is_deterministic or not found.is_settled
        half = 0.0 if known else found.half_width
        if found.is_equal:
            half = _of_equal(analysis, row)
        widest = max(widest or 0.0, half if half == half else float("inf"))
    if widest is None or analysis.definition != "difference_bps":
        return widest
    rates = analysis.estimates.filter(
        (pl.col("metric") == THROUGHPUT) & pl.col("cell").is_in(list(analysis.references))
    )["value_all"]
    return widest / float(rates.max() or 1.0)  # type: ignore[arg-type]


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
