"""The changes that a question asks for, place by place, with their verdicts."""

from __future__ import annotations

import math
from typing import Final

import polars as pl
from attrs import evolve

from airtoll.analyse import Analysis, Estimate, analyse
from airtoll.analyse.analysis import THROUGHPUT
from airtoll.analyse.join_times import TIMES
from airtoll.analyse.overhead import Summary, ratio_fieller
from airtoll.analyse.power import fresh_trials
from airtoll.analyse.settling import DRIFTS
from airtoll.answer.claims import Compare, Verdict
from airtoll.answer.measured import Measured
from airtoll.observe.metrics import METRICS, Direction
from airtoll.observe.spoken import spoken
from airtoll.plan import Cell
from airtoll.plan.same_frames import same_data_frames
from airtoll.question import Arm, Asked, Place

_JOINED: Final = "joined_ratio"
#: A time that exists where every client joined.
ALL_JOINED: Final = "join_all_time_s"
#: The reason where the trials that counted have no value of the metric.
NO_TRIAL: Final = "no trial measured it"
#: The axis of a change since an earlier run.
RUN: Final = "run"
#: Names of the arms in an analysis of one question; the reference is the first.
_HAVE: Final = "have"
#: Metrics that the totals of a metric are weighted by.
_WEIGHTS: Final = ("packets_received", "packets_lost", "handovers", "group_rekeys", "rejoins")
#: Beginnings of metrics that data frames alone decide where no station joins. Beacons differ, so
#: that the air of management frames, silence and the power of a station that wakes for them do not.
OF_FRAMES: Final = (
    *(THROUGHPUT, "fairness_", "loss_", "delay_", "jitter_", "response_", "voice_", "transfer_"),
    *("sender_time", "transit_time", "receiver_time", "packets_", "tcp_", "crypto_", "cpu_"),
    *(f"airtime_{part}" for part in ("payload", "ip_", "mac_", "security", "ack", "contention")),
    *(f"airtime_{part}" for part in ("card", "retry", "protection")),
    *(f"octets_{part}" for part in ("payload", "ip_", "mac", "security", "control", "retry")),
    *(f"group_{part}" for part in ("airtime", "messages", "delivered", "delay")),
)
_MODELS: Final = ("simulator", "analytic")
#: Chance of a change among the comparisons of one question that have none.
_CHANCE: Final = 0.05


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
    select = measured.plan.study.trials.select
    wanted = [question.metric, *_WEIGHTS, "backoff_excess_slots", *DRIFTS]
    wanted.append(select.metric or question.metric)
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
    return analyse(
        rows,
        _as_text(measured.trials.filter(pl.col("cell").is_in(list(of_cell)))),
        baseline=_HAVE,
        select=select,
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

    The simulator's common random numbers are common to the policies of one place, and to runs of
    one seed.
    """
    return measured.testbed != "simulator" or question.axes in (("policy",), (RUN,))


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
    claim = Compare(
        metric=metric,
        place=place,
        have=question.have,
        to=arm,
        before=None,
        after=None,
        change=None,
        is_share=spoken(metric).is_share,
        verdict=Verdict.UNMEASURED,
        clients=_clients(place.cells[arm]) if metric == _JOINED else None,
    )
    part = _part(analysis, question, mine) if analysis else None
    before = None if analysis is None or part is None else level_in(analysis, mine, metric, part)
    after = None if analysis is None or part is None else level_in(analysis, other, metric, part)
    claim = evolve(claim, before=before, after=after)
    if analysis is None or part is None or before is None or after is None:
        lacking = other if before else mine
        return evolve(
            claim,
            reason=why_unmeasured(measured, lacking),
            fails=metric == ALL_JOINED and _joined(measured, lacking) is not None,
        )
    for one in (before, after):
        if not one.is_settled:
            return evolve(claim, verdict=Verdict.UNSETTLED, reason=one.method)
        if one.is_unpriced:
            return evolve(claim, reason=one.method)
    difference, holds, is_apart = _difference(analysis, other, metric, part)
    change: Estimate | None = difference
    if claim.is_share:
        if before.value == 0:
            # No share of nothing: from nothing to something, whatever the spread of nothing.
            claim = evolve(claim, is_share=False)
            change = after
            holds = True
        else:
            change = _share(analysis, mine, other, metric, part)
    if change is None:
        return evolve(claim, reason="the value before is zero")
    unnoticed = question.unnoticed if claim.is_share == (spoken(metric).is_share) else 0.0
    verdict, fresh = judge(
        change,
        unnoticed,
        METRICS[metric].better,
        holds=holds,
        is_apart=is_apart,
        # An interval answers without the readings.
        is_tied=math.isnan(change.low) and _tied(measured, (mine, other), metric, part),
    )
    if _sends_the_same(question, measured, place.cells[question.have], place.cells[arm]):
        return evolve(claim, change=change, verdict=Verdict.UNNOTICED, same_frames=True)
    return evolve(claim, change=change, verdict=verdict, fresh=fresh)


def _tied(
    measured: Measured,
    cells: tuple[str, str],
    metric: str,
    part: tuple[str | None, str | None],
) -> bool:
    """Whether all readings of two cells are equal, of two trials or more of each."""
    flow, station = part
    rows = measured.observations.filter(
        pl.col("cell").cast(pl.String).is_in(cells)
        & (pl.col("metric") == metric)
        & pl.col("second").is_null()
    )
    if flow is not None:
        rows = rows.filter(pl.col("flow") == flow)
    if station is not None:
        rows = rows.filter(pl.col("station") == station)
    counts = rows.group_by("cell").agg(pl.col("trial").n_unique())["trial"]
    return rows["value"].n_unique() == 1 and len(counts) == len(cells) and min(counts) > 1


def _sends_the_same(question: Asked, measured: Measured, have: Cell, to: Cell) -> bool:
    """Whether a change is chance, as the plan says that both cells send the same data frames.

    Only in a model: a real device may treat equal frames differently.
    """
    return (
        question.axes == ("policy",)
        and question.metric.startswith(OF_FRAMES)
        and measured.testbed in _MODELS
        and same_data_frames(have, to)
    )


def _joined(measured: Measured, cell: str) -> float | None:
    """The share of the clients that joined, where it is not all of them."""
    rows = measured.observations.filter((pl.col("cell") == cell) & (pl.col("metric") == _JOINED))
    share = rows["value"].mean()
    return share if isinstance(share, float) and share < 1 else None


def _clients(cell: Cell) -> int:
    return cell.settings.clients or len(cell.settings.stations)


def level_in(
    analysis: Analysis, cell: str, metric: str, part: tuple[str | None, str | None]
) -> Estimate | None:
    """The value of one cell; of times whose changes are shifts of medians, the median."""
    found = analysis.estimate(cell, metric, *part)
    if found is None or metric not in TIMES:
        return found
    flow, station = part
    row = analysis.times.filter(
        (pl.col("cell") == cell)
        & (pl.col("metric") == metric)
        & pl.col("flow").eq_missing(flow)
        & pl.col("station").eq_missing(station)
    )
    if row.is_empty():
        return found
    return evolve(
        found,
        value=row["median"][0],
        low=row["median_low"][0],
        high=row["median_high"][0],
        method="median",
    )


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
    """The change as a share of what was, positive where there is more."""
    after = analysis.estimate(other, metric, *part)
    if after is not None and after.value == 0:
        # All is lost, whatever the spread of the value before.
        return evolve(after, value=-1.0, low=-1.0, high=-1.0, unit="1")
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
) -> tuple[Estimate | None, bool, bool]:
    """After - before, whether it holds among all comparisons of the question (Holm), and whether
    an exact test sets the readings of both sides apart.
    """
    flow, station = part
    rows = analysis.comparisons.filter(
        (pl.col("cell") == other)
        & (pl.col("metric") == metric)
        & pl.col("flow").eq_missing(flow)
        & pl.col("station").eq_missing(station)
    )
    if rows.is_empty():
        return None, True, False
    row = rows.row(0, named=True)
    p = row["p_adjusted"]
    found = Estimate(
        row["difference"],
        math.nan if row["low"] is None else row["low"],
        math.nan if row["high"] is None else row["high"],
        analysis.level,
        int(row["n"]),
        row["method"],
        row["unit"],
    )
    alone = row["p"]
    is_apart = alone is not None and alone < _CHANCE
    return found, p is None or math.isnan(p) or p < _CHANCE, is_apart


def judge(
    change: Estimate,
    unnoticed: float,
    better: Direction,
    *,
    holds: bool = True,
    is_apart: bool = False,
    is_tied: bool = False,
) -> tuple[Verdict, int | None]:
    """The verdict on a change, and the trials of each cell of a fresh run that would decide.

    ``unnoticed``: in the unit of the change. ``better``: as in the table of metrics. ``holds``:
    whether the change is more than chance among all comparisons of its question; one whose whole
    interval would be noticed needs no such test. ``is_apart``: of readings that are equal in all
    trials of a side, and so have no interval, whether an exact test sets both sides apart.
    ``is_tied``: all readings of both sides are equal.
    """
    low, high = change.low, change.high
    if change.is_deterministic:
        low = high = change.value
    if math.isnan(low) or math.isnan(high):
        if not (is_apart or ((change.is_equal or is_tied) and change.value == 0)):
            return Verdict.TOO_FEW, _fresh_of_tied(change)
        low = high = change.value
    if -unnoticed <= low and high <= unnoticed:
        return Verdict.UNNOTICED, None
    is_noticed = low > unnoticed or high < -unnoticed
    if is_noticed or ((low > 0 or high < 0) and holds):
        if better == "neither":
            return Verdict.CHANGES, None
        return (Verdict.GAINS if (change.value > 0) == (better == "more") else Verdict.COSTS), None
    return Verdict.TOO_FEW, _fresh(change, unnoticed)


def _fresh(change: Estimate, unnoticed: float) -> int | None:
    """Trials of each cell of a fresh run whose interval decides."""
    wanted = max(abs(change.value), unnoticed - abs(change.value))
    return fresh_trials(change.half_width, wanted, max(change.n // 2, 2), change.level)


def _fresh_of_tied(change: Estimate) -> int | None:
    """Trials of each cell from which on an exact test can set apart readings that are all equal on
    each side; None where there are so many. The least p of n trials against n is 2 of all ways to
    choose n of 2 n, of n pairs 2 of 2 to the power of n.
    """
    if not change.is_equal:
        return None
    done = max(change.n // 2, 1)
    pairs = "pair" in change.method
    enough = next(
        n for n in range(1, 100) if 2 / (2**n if pairs else math.comb(2 * n, n)) < _CHANCE
    )
    return enough if enough > done else None


def why_unmeasured(measured: Measured, cell: str) -> str:
    """The reason for which a cell has no value."""
    joined = _joined(measured, cell)
    if joined is not None:
        of = next(one for one in measured.plan.cells if one.name == cell)
        clients = _clients(of)
        many = joined * clients
        told = f"{many:.0f}" if many.is_integer() else f"on average {many:.2g}"
        return f"{told} of {clients} clients joined within {of.settings.join.limit_s:g} s"
    rows = measured.trials.filter(pl.col("cell") == cell)
    for status in ("skipped", "failed"):
        reasons = rows.filter(pl.col("status") == status)["reason"].drop_nulls()
        if len(reasons):
            return str(reasons[0])
    return NO_TRIAL
