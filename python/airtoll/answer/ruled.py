"""The requirements of a study, place by place: met, failed, or not to be told.

A limit is judged by the interval: a value meets it if the whole interval does, and fails if none of
it does. Intervals are those of single values, without a correction for their number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

import polars as pl
from attrs import evolve

from airtoll.analyse import Analysis, Estimate
from airtoll.analyse.analysis import THROUGHPUT
from airtoll.analyse.power import fresh_trials
from airtoll.answer.claims import Compare, Ruled, Ruling, Verdict
from airtoll.answer.compared import compared, level_in, why_unmeasured
from airtoll.answer.measured import Measured
from airtoll.observe.metrics import OVERHEAD
from airtoll.plan import Cell
from airtoll.question import Required, required
from airtoll.study import Require

#: Equal readings whose median is on one side of a limit by the sign test at 95 % (0.5^5 = 0.031).
_EQUAL: Final = 5


def ruled(measured: Measured) -> tuple[Ruled, ...]:
    """Every requirement at each of its places, in the order of the study."""
    return tuple(claim for one in required(measured.plan) for claim in _ruled(one, measured))


def _ruled(one: Required, measured: Measured) -> Iterator[Ruled]:
    require = one.require
    if one.asked is None:
        for cell in one.cells:
            parts = _parts(measured.analysis, require, cell)
            for flow, station in parts:
                claim = _of_value(require, measured, cell, flow, station)
                # The only flow of a station needs no name.
                yield claim if len(parts) > 1 else evolve(claim, flow=None)
        return
    for change in compared(one.asked, measured):
        yield _of_change(require, measured, change)


def _parts(analysis: Analysis, require: Require, cell: Cell) -> list[tuple[str | None, str | None]]:
    """The whole of a cell or of a station; each part of it where the metric has no total."""
    frame = analysis.overheads
    if require.metric != OVERHEAD:
        frame = analysis.estimates.filter(metric=require.metric)
    frame = frame.filter(pl.col("cell") == cell.name)
    station = require.station
    if station is not None:
        frame = frame.filter(pl.col("station") == station)
    parts = list(frame.select("flow", "station").iter_rows())
    whole = (None, station)
    return [whole] if whole in parts or not parts else parts


def _of_value(
    require: Require, measured: Measured, cell: Cell, flow: str | None, station: str | None
) -> Ruled:
    analysis = measured.analysis
    if require.metric == OVERHEAD:
        value = analysis.overhead(cell.name, flow, station)
    else:
        value = level_in(analysis, cell.name, require.metric, (flow, station))
    if value is not None and not math.isfinite(value.value):
        value = None
    claim = _claim(require, cell, value, flow=flow, station=station)
    if value is None:
        reason = why_unmeasured(measured, cell.name)
        if require.metric == OVERHEAD and analysis.estimate(cell.name, THROUGHPUT) is not None:
            reason = "its baseline has no throughput"
        return evolve(claim, reason=reason)
    return _without_gaps(_judged(claim, value), measured, (cell,))


def _of_change(require: Require, measured: Measured, compare: Compare) -> Ruled:
    cells = (compare.place.cells[compare.have], compare.place.cells[compare.to])
    claim = _claim(require, cells[1], compare.change, station=require.station, compare=compare)
    if compare.verdict in (Verdict.UNMEASURED, Verdict.UNSETTLED) or compare.change is None:
        ruling = Ruling.UNSETTLED if compare.verdict is Verdict.UNSETTLED else Ruling.UNMEASURED
        return evolve(claim, ruling=ruling, reason=compare.reason)
    claim = _judged(claim, compare.change, trials=max(compare.change.n // 2, 2))
    return _without_gaps(claim, measured, cells)


def _claim(
    require: Require,
    cell: Cell,
    value: Estimate | None,
    *,
    flow: str | None = None,
    station: str | None = None,
    compare: Compare | None = None,
) -> Ruled:
    return Ruled(
        metric=require.metric,
        cell=cell,
        ruling=Ruling.UNMEASURED,
        value=value,
        name=require.name,
        at_least=require.at_least,
        at_most=require.at_most,
        compare=compare,
        flow=flow,
        station=station,
    )


def _judged(claim: Ruled, value: Estimate, trials: int | None = None) -> Ruled:
    if not value.is_settled:
        return evolve(claim, ruling=Ruling.UNSETTLED, reason=value.method)
    if value.is_unpriced:
        return evolve(claim, ruling=Ruling.UNMEASURED, reason=value.method)
    count = value.n if trials is None else trials
    ruling = rule(value, claim.at_least, claim.at_most, trials=count)
    fresh = None
    if ruling is Ruling.TOO_FEW:
        fresh = _fresh(value, claim.at_least, claim.at_most, count)
    return evolve(claim, ruling=ruling, fresh=fresh)


def rule(value: Estimate, at_least: float | None, at_most: float | None, *, trials: int) -> Ruling:
    """Whether a value meets its limits, by its interval.

    ``trials``: of each cell. Equal readings of a random model have no interval; from five on the
    sign test of their median decides.
    """
    low, high = value.low, value.high
    if value.is_deterministic or (value.is_equal and trials >= _EQUAL):
        low = high = value.value
    if math.isnan(low) or math.isnan(high):
        return Ruling.TOO_FEW
    least = -math.inf if at_least is None else at_least
    most = math.inf if at_most is None else at_most
    if low > most or high < least:
        return Ruling.FAILED
    return Ruling.MET if low >= least and high <= most else Ruling.TOO_FEW


def _fresh(
    value: Estimate, at_least: float | None, at_most: float | None, trials: int
) -> int | None:
    """Trials of each cell of a fresh run whose interval is on one side of the limit."""
    if value.is_equal:
        return _EQUAL
    distances = [abs(value.value - limit) for limit in (at_least, at_most) if limit is not None]
    return fresh_trials(value.half_width, min(distances), trials, value.level)


def _without_gaps(claim: Ruled, measured: Measured, cells: tuple[Cell, ...]) -> Ruled:
    """A requirement that only the trials without a failure meet is not met."""
    if claim.ruling is not Ruling.MET:
        return claim
    for cell in cells:
        count, words = failures(measured, cell)
        if count:
            return evolve(claim, ruling=Ruling.UNMEASURED, reason=words)
    return claim


def failures(measured: Measured, cell: Cell) -> tuple[int, str]:
    """The trials of a cell that failed at every attempt: their number, and a reason in words."""
    rows = measured.trials.filter(pl.col("cell") == cell.name)
    done = rows.filter(pl.col("status") == "ok")["trial"].unique()
    failed = rows.filter((pl.col("status") == "failed") & ~pl.col("trial").is_in(done.implode()))
    if failed.is_empty():
        return 0, ""
    count = failed["trial"].n_unique()
    return count, f"{count} of {count + len(done)} trials failed: {failed['reason'][0]}"
