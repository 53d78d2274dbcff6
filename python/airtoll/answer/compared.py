"""The changes that a question asks for, place by place, with their verdicts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import polars as pl
from attrs import evolve

from airtoll.analyse import Analysis, Estimate, analyse
from airtoll.analyse.analysis import THROUGHPUT
from airtoll.analyse.overhead import Summary, ratio_fieller
from airtoll.analyse.settling import DRIFTS
from airtoll.answer.claims import Compare, Verdict
from airtoll.answer.measured import Measured
from airtoll.observe.metrics import METRICS, Direction
from airtoll.observe.spoken import spoken
from airtoll.question import Arm, Asked, Place

#: Names of the arms in an analysis of one question; the reference is the first.
_HAVE: Final = "have"
#: Metrics that the totals of a metric are weighted by.
_WEIGHTS: Final = ("packets_received", "packets_lost", "handovers", "group_rekeys", "rejoins")
#: A larger number of further trials is not named.
_MOST_MORE: Final = 100_000


def compared(question: Asked, measured: Measured) -> list[Compare]:
    """The change of every candidate at every place, in the order of the study."""
    arms = {question.have: _HAVE} | {arm: f"to {n}" for n, arm in enumerate(question.to)}
    analysis = _analysed(question, measured, arms)
    found = []
    for place in question.places:
        mine = place.cells[question.have]
        for arm in question.to:
            if arm not in place.cells:
                continue
            other = place.cells[arm]
            found.append(_judged(question, analysis, place, arm, mine.name, other.name, measured))
    return found


def _analysed(question: Asked, measured: Measured, arms: dict[Arm, str]) -> Analysis | None:
    """An analysis of the question's cells, in which the arm stands for the policy.

    Cells of one place differ in nothing else, so that every rule of an analysis by policy
    (selection, pairs, control variates, rank tests, families) holds for any axis.
    """
    of_cell = {}
    for number, place in enumerate(question.places):
        for arm, cell in place.cells.items():
            of_cell[cell.name] = (arms[arm], f"place {number}")
    wanted = [question.metric, *_WEIGHTS, "backoff_excess_slots", *DRIFTS]
    if question.metric != THROUGHPUT:
        # The drift of a delay is judged by the throughput, too.
        wanted += [THROUGHPUT, "delay_s"]
    own = measured.observations.filter(
        pl.col("cell").is_in(list(of_cell)) & pl.col("metric").is_in(wanted)
    )
    if own.filter(pl.col("metric") == question.metric).is_empty():
        return None
    rows = _as_text(own).with_columns(
        policy=pl.col("cell").replace_strict({c: arm for c, (arm, _) in of_cell.items()}),
        scenario=pl.col("cell").replace_strict({c: place for c, (_, place) in of_cell.items()}),
        traffic=pl.lit("all"),
        factors=pl.lit("{}"),
    )
    sketches = measured.sketches
    if sketches is not None:
        sketches = _as_text(sketches.filter(pl.col("cell").is_in(list(of_cell))))
    definition = measured.analysis.definition
    return analyse(
        rows,
        _as_text(measured.trials.filter(pl.col("cell").is_in(list(of_cell)))),
        baseline=_HAVE,
        overhead="of_baseline" if definition == "difference_bps" else definition,
        select=measured.plan.study.trials.select,
        level=measured.analysis.level,
        paired=measured.analysis.paired and _shares_numbers(question, measured),
        answers=[question.metric],
        sketches=sketches,
        testbed=measured.testbed,
    )


def _as_text(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col(pl.Categorical).cast(pl.String))


def _shares_numbers(question: Asked, measured: Measured) -> bool:
    """Whether trials of equal number may be taken in pairs.

    The simulator's common random numbers are common to the policies of one place alone.
    """
    return measured.testbed != "simulator" or question.axes == ("policy",)


def _judged(
    question: Asked,
    analysis: Analysis | None,
    place: Place,
    arm: Arm,
    mine: str,
    other: str,
    measured: Measured,
) -> Compare:
    metric = question.metric
    told = spoken(metric).told
    claim = Compare(
        metric=metric,
        place=place,
        have=question.have,
        to=arm,
        before=None,
        after=None,
        change=None,
        is_share=told == "share",
        verdict=Verdict.UNMEASURED,
    )
    part = _part(analysis, question, mine) if analysis else None
    before = None if analysis is None or part is None else analysis.estimate(mine, metric, *part)
    after = None if analysis is None or part is None else analysis.estimate(other, metric, *part)
    claim = evolve(claim, before=before, after=after)
    if analysis is None or part is None or before is None or after is None:
        return evolve(claim, reason=_why_unmeasured(measured, other if before else mine))
    for one in (before, after):
        if not one.is_settled:
            return evolve(claim, verdict=Verdict.UNSETTLED, reason=one.method)
        if one.is_unpriced:
            return evolve(claim, reason=one.method)
    change = (
        _share(analysis, mine, other, metric, part)
        if claim.is_share
        else _difference(analysis, other, metric, part)
    )
    if change is None:
        return evolve(claim, reason="the value before is zero")
    verdict, more = judge(change, question.unnoticed, METRICS[metric].better)
    return evolve(claim, change=change, verdict=verdict, more=more)


def _part(analysis: Analysis, question: Asked, cell: str) -> tuple[str | None, str | None] | None:
    """Flow and station of the value that counts: of the cell, or of one station."""
    if question.station is None and analysis.estimate(cell, question.metric) is not None:
        return None, None
    rows = analysis.estimates.filter(
        (pl.col("cell") == cell) & (pl.col("metric") == question.metric)
    )
    if question.station is not None:
        rows = rows.filter(pl.col("station") == question.station)
    if rows.is_empty():
        return None
    return rows["flow"][0], rows["station"][0]


def _share(
    analysis: Analysis, mine: str, other: str, metric: str, part: tuple[str | None, str | None]
) -> Estimate | None:
    """The change as a share of what was (of_secured: of what is), positive where there is more."""
    if metric == THROUGHPUT:
        lost = analysis.overhead(other, *part)
        if lost is None or not math.isfinite(lost.value):
            return None
        return evolve(lost, value=-lost.value, low=-lost.high, high=-lost.low)
    first, second = (_summary(analysis, cell, metric, part) for cell in (mine, other))
    if not first.mean:
        return None
    ratio = ratio_fieller(second, first, analysis.level)
    return evolve(ratio, value=ratio.value - 1, low=ratio.low - 1, high=ratio.high - 1)


def _summary(
    analysis: Analysis, cell: str, metric: str, part: tuple[str | None, str | None]
) -> Summary:
    row = analysis.estimates.row(analysis.row_of(cell, metric, *part), named=True)
    deviation = math.nan if row["deviation"] is None else row["deviation"]
    return Summary(row["value_all"], deviation, int(row["n_all"]))


def _difference(
    analysis: Analysis, other: str, metric: str, part: tuple[str | None, str | None]
) -> Estimate | None:
    flow, station = part
    rows = analysis.comparisons.filter(
        (pl.col("cell") == other)
        & (pl.col("metric") == metric)
        & pl.col("flow").eq_missing(flow)
        & pl.col("station").eq_missing(station)
    )
    if rows.is_empty():
        return None
    row = rows.row(0, named=True)
    return Estimate(
        row["difference"],
        math.nan if row["low"] is None else row["low"],
        math.nan if row["high"] is None else row["high"],
        analysis.level,
        int(row["n"]),
        row["method"],
        row["unit"],
    )


def judge(change: Estimate, unnoticed: float, better: Direction) -> tuple[Verdict, int | None]:
    """The verdict on a change, and the further trials of each cell that would decide.

    ``unnoticed``: in the unit of the change. ``better``: as in the table of metrics.
    """
    low, high = change.low, change.high
    if change.is_deterministic:
        low = high = change.value
    if math.isnan(low) or math.isnan(high):
        return Verdict.TOO_FEW, None
    if -unnoticed <= low and high <= unnoticed:
        return Verdict.UNNOTICED, None
    if low > 0 or high < 0:
        if better == "neither":
            return Verdict.CHANGES, None
        return (Verdict.GAINS if (change.value > 0) == (better == "more") else Verdict.COSTS), None
    return Verdict.TOO_FEW, _more(change, unnoticed)


def _more(change: Estimate, unnoticed: float) -> int | None:
    """Further trials of each cell until the interval decides, if its width shrinks as 1/sqrt(n)."""
    wanted = max(abs(change.value), unnoticed - abs(change.value))
    half, trials = change.half_width, max(change.n // 2, 2)
    if not math.isfinite(half) or wanted <= 0:
        return None
    more = math.ceil(trials * ((half / wanted) ** 2 - 1))
    return max(1, more) if more <= _MOST_MORE else None


def _why_unmeasured(measured: Measured, cell: str) -> str:
    rows = measured.trials.filter(pl.col("cell") == cell)
    for status in ("skipped", "failed"):
        reasons = rows.filter(pl.col("status") == status)["reason"].drop_nulls()
        if len(reasons):
            return str(reasons[0])
    return "no trial measured it"


def of_arm(claims: Sequence[Compare], arm: Arm) -> list[Compare]:
    """The claims about one candidate."""
    return [claim for claim in claims if claim.to == arm]
