"""The changes that a question asks for, place by place, with their verdicts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import polars as pl
from attrs import evolve, frozen

from airtoll.analyse import Analysis, Estimate, analyse
from airtoll.analyse.analysis import THROUGHPUT
from airtoll.analyse.join_times import TIMES
from airtoll.analyse.overhead import Summary, ratio_fieller
from airtoll.analyse.percentiles import PERCENTILES
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
    own = _as_text(own)
    if question.others_than is not None:
        own = pl.concat([own, _of_others(own, question.others_than)])
    rows = own.with_columns(
        policy=pl.col("cell").replace_strict({c: arm for c, (arm, _) in of_cell.items()}),
        scenario=pl.col("cell").replace_strict({c: place for c, (_, place) in of_cell.items()}),
        traffic=pl.lit("all"),
        factors=pl.lit("{}"),
    )
    # Only percentiles rest on the packets of all trials, whose bins take longer than all else.
    sketches = None if PERCENTILES.keys().isdisjoint(wanted) else measured.sketches
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


def _of_others(rows: pl.DataFrame, left_out: str) -> pl.DataFrame:
    """Throughputs of all stations but one as those of a station more, ``others_of(left_out)``."""
    alone = rows.filter(
        (pl.col("metric") == THROUGHPUT)
        & pl.col("station").is_not_null()
        & (pl.col("station") != left_out)
    )
    whole = alone.filter(pl.col("flow").is_null())
    alone = alone if whole.is_empty() else whole
    keys = [name for name in rows.columns if name not in ("station", "flow", "value")]
    return (
        alone.group_by(keys, maintain_order=True)
        .agg(pl.col("value").sum())
        .with_columns(station=pl.lit(others_of(left_out)), flow=pl.lit(None, rows.schema["flow"]))
        .select(rows.columns)
    )


def others_of(station: str) -> str:
    """The name under which an analysis has the other stations; no station can have it."""
    return f"all but {station}"


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
    claim = unjudged(metric, place, question.have, arm)
    claim = evolve(
        claim,
        clients=_clients(place.cells[arm]) if metric == _JOINED else None,
        is_share=claim.is_share or question.as_share,
    )
    part = None if analysis is None else _part(analysis, question, mine)
    if analysis is None or part is None:
        return _without_value(claim, mine, measured)
    pair = Pair(mine, other, *part)
    claim = judged(claim, analysis, pair, question.unnoticed, lambda: tied(measured, pair, metric))
    if claim.before is None or claim.after is None:
        return _without_value(claim, other if claim.before else mine, measured)
    claim = by_ranks(claim, measured, pair, question.unnoticed)
    return by_frames(claim, measured.testbed)


def _without_value(claim: Compare, cell: str, measured: Measured) -> Compare:
    """A claim about a cell without a value."""
    return evolve(
        claim,
        reason=why_unmeasured(measured, cell),
        fails=claim.metric == ALL_JOINED and _joined(measured, cell) is not None,
    )


def unjudged(metric: str, place: Place, have: Arm, to: Arm) -> Compare:
    """A claim about a metric, before anything is known."""
    return Compare(
        metric=metric,
        place=place,
        have=have,
        to=to,
        before=None,
        after=None,
        change=None,
        is_share=spoken(metric).is_share,
        verdict=Verdict.UNMEASURED,
    )


@frozen
class Pair:
    """A cell and the one that it is compared with (``reference``); the part of both."""

    reference: str
    cell: str
    flow: str | None = None
    station: str | None = None

    @property
    def part(self) -> tuple[str | None, str | None]:
        """Flow and station."""
        return self.flow, self.station


def judged(
    claim: Compare,
    analysis: Analysis,
    pair: Pair,
    unnoticed: float,
    is_tied: Callable[[], bool] = lambda: False,
) -> Compare:
    """A claim with the values of two cells of an analysis, their change and its verdict.

    ``unnoticed``: as in a question about the metric. ``is_tied``: whether all readings of both
    cells are equal; asked only where there is no interval. ``UNMEASURED`` and without a reason
    where a cell has no value.
    """
    metric, part = claim.metric, pair.part
    # A ratio is one of means.
    level = _mean if claim.is_share else level_in
    before, after = (level(analysis, one, metric, part) for one in (pair.reference, pair.cell))
    claim = evolve(claim, before=before, after=after)
    if before is None or after is None:
        return claim
    difference, holds, is_apart = _difference(analysis, pair.cell, metric, part)
    for one in (before, after, *([] if difference is None else [difference])):
        if not one.is_settled:
            return evolve(claim, verdict=Verdict.UNSETTLED, reason=one.method)
        if one.is_unpriced:
            return evolve(claim, reason=one.method)
    change: Estimate | None = difference
    if claim.is_share:
        if before.value == 0:
            # No share of nothing: from nothing to something, whatever the spread of nothing.
            claim = evolve(claim, is_share=False)
            change = after
            holds = True
            unnoticed = 0.0
        else:
            change = _share(analysis, pair, metric)
    if change is None:
        return evolve(claim, reason="the value before is zero")
    verdict, fresh = judge(
        change,
        unnoticed,
        METRICS[metric].better,
        holds=holds,
        is_apart=is_apart,
        # An interval answers without the readings, and so does a difference.
        is_tied=math.isnan(change.low) and change.value == 0 and is_tied(),
    )
    return evolve(claim, change=change, verdict=verdict, fresh=fresh)


def by_ranks(claim: Compare, measured: Measured, pair: Pair, unnoticed: float) -> Compare:
    """The claim; ``UNNOTICED`` where all readings of a side are equal, which leaves no interval,
    and no reading of the other side differs noticeably from any of them.

    The least and the greatest difference of n readings and n others enclose the shift of ranks with
    a chance of error of 2 of all ways to choose n of 2 n (Hodges and Lehmann, 1963), of n pairs 2
    of 2 to the power of n.
    """
    change = claim.change
    if claim.verdict is not Verdict.TOO_FEW or change is None or not math.isnan(change.low):
        return claim
    rows = readings(measured, pair, claim.metric)
    of = [rows.filter(pl.col("cell") == one)["value"] for one in (pair.reference, pair.cell)]
    mine, others = ([float(value) for value in values.drop_nulls()] for values in of)
    fewest = min(len(mine), len(others))
    if fewest < _enough(1 - change.level, pairs="pair" in change.method):
        return claim
    low, high = min(others) - max(mine), max(others) - min(mine)
    if claim.is_share:
        if min(mine) <= 0:
            return claim
        low, high = min(others) / max(mine) - 1, max(others) / min(mine) - 1
    if claim.is_share != spoken(claim.metric).is_share or max(-low, high) > unnoticed:
        return claim
    change = evolve(change, low=low, high=high, method="range of all differences")
    return evolve(claim, change=change, verdict=Verdict.UNNOTICED, fresh=None)


def tied(measured: Measured, pair: Pair, metric: str) -> bool:
    """Whether all readings of two cells are equal, of two trials or more of each."""
    rows = readings(measured, pair, metric)
    counts = rows.group_by("cell").agg(pl.col("trial").n_unique())["trial"]
    return rows["value"].n_unique() == 1 and len(counts) == 2 and min(counts) > 1


def readings(measured: Measured, pair: Pair, metric: str) -> pl.DataFrame:
    """The rows of two cells with a metric's value of each trial."""
    cells = (pair.reference, pair.cell)
    flow, station = pair.part
    rows = measured.observations.filter(
        pl.col("cell").cast(pl.String).is_in(cells)
        & (pl.col("metric") == metric)
        & pl.col("second").is_null()
    )
    if flow is not None:
        rows = rows.filter(pl.col("flow") == flow)
    if station is not None:
        rows = rows.filter(pl.col("station") == station)
    return rows


def by_frames(claim: Compare, testbed: str) -> Compare:
    """The claim; ``UNNOTICED`` where both cells send the same data frames."""
    if claim.change is None or not _sends_the_same(claim, testbed):
        return claim
    return evolve(claim, verdict=Verdict.UNNOTICED, same_frames=True, fresh=None)


def _sends_the_same(claim: Compare, testbed: str) -> bool:
    """Whether a change is chance, as the plan says that both cells send the same data frames.

    Only in a model: a real device may treat equal frames differently.
    """
    return (
        [axis for axis, _ in claim.have.levels] == ["policy"]
        and claim.metric.startswith(OF_FRAMES)
        and testbed in _MODELS
        and same_data_frames(claim.place.cells[claim.have], claim.place.cells[claim.to])
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


def _mean(
    analysis: Analysis, cell: str, metric: str, part: tuple[str | None, str | None]
) -> Estimate | None:
    return analysis.estimate(cell, metric, *part)


def _part(analysis: Analysis, question: Asked, cell: str) -> tuple[str | None, str | None] | None:
    """Flow and station of the value that counts: of the cell, or of one station."""
    station = question.station
    if question.others_than is not None:
        station = others_of(question.others_than)
    if station is None and analysis.estimate(cell, question.metric) is not None:
        return None, None
    rows = analysis.estimates.filter(
        (pl.col("cell") == cell) & (pl.col("metric") == question.metric)
    )
    if station is not None:
        rows = rows.filter(pl.col("station") == station)
    if rows.is_empty():
        return None
    return rows["flow"][0], rows["station"][0]


def _share(analysis: Analysis, pair: Pair, metric: str) -> Estimate | None:
    """The change as a share of what was, positive where there is more."""
    after = analysis.estimate(pair.cell, metric, *pair.part)
    if after is not None and after.value == 0:
        # All is lost, whatever the spread of the value before.
        return evolve(after, value=-1.0, low=-1.0, high=-1.0, unit="1")
    if metric == THROUGHPUT:
        lost = analysis.overhead(pair.cell, *pair.part)
        if lost is None or not math.isfinite(lost.value):
            return None
        if analysis.definition == "of_baseline":
            return evolve(lost, value=-lost.value, low=-lost.high, high=-lost.low)
        if analysis.definition == "of_secured":
            # (T2 - T1)/T1 of x = (T1 - T2)/T2, which rises where the other falls.
            value, low, high = (-x / (1 + x) for x in (lost.value, lost.high, lost.low))
            return evolve(lost, value=value, low=low, high=high)
    first, second = (
        _summary(analysis, cell, metric, pair.part) for cell in (pair.reference, pair.cell)
    )
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
    row = analysis.comparison(other, metric, *part)
    if row is None:
        return None, True, False
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
    chance = 1 - analysis.level
    is_apart = alone is not None and alone < chance
    return found, p is None or math.isnan(p) or p < chance, is_apart


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
    enough = _enough(1 - change.level, pairs="pair" in change.method)
    return enough if enough > done else None


def _enough(chance: float, *, pairs: bool) -> int:
    """The least number of trials of each cell at which an exact test can decide."""
    return next(n for n in range(1, 100) if 2 / (2**n if pairs else math.comb(2 * n, n)) < chance)


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
