"""The verdicts of tables: a claim for every row that a run, or two runs, compare.

A row that a question of the study is about has the claim of its answer. Every other row is judged
by the same rules, with the p values of the whole run.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import evolve, frozen

from airtoll.analyse.between import Change
from airtoll.analyse.evidence import Evidence
from airtoll.analyse.families import PRIMARY
from airtoll.answer.claimed import Answered
from airtoll.answer.claims import Compare, Verdict
from airtoll.answer.compared import Pair, by_frames, judge, judged, tied, unjudged
from airtoll.answer.measured import Measured
from airtoll.observe.metrics import METRICS
from airtoll.observe.spoken import spoken
from airtoll.plan import Cell, Plan
from airtoll.question import Arm, Place, levels_of, unnoticed_in
from airtoll.study import Level

#: Cell, flow and station of a row.
Part = tuple[str, str | None, str | None]
_NOWHERE = Place((), {})
_FIRST, _SECOND = (Arm((("run", which),)) for which in ("first", "second"))


@frozen
class Stated:
    """The verdict on one row, and what statistics alone says.

    ``is_asked``: the claim is that of an answer, whose family is the comparisons of its question.
    ``evidence``, ``needs``, ``margin``, ``among`` and ``is_primary``: as in
    ``Analysis.comparisons``; they are those of the whole run.
    """

    claim: Compare
    evidence: Evidence
    needs: int | None = None
    margin: float = math.nan
    among: int = 1
    is_primary: bool = True
    is_asked: bool = False

    @property
    def is_of_pairs(self) -> bool:
        """Whether it is a change that is the same in every pair of trials."""
        change = self.claim.change
        return change is not None and change.is_equal and change.method.startswith("pairs")


def unnoticed_of(plan: Plan, metric: str) -> float:
    """The largest unnoticed change: the least of the study's questions, else the metric's own."""
    stated = [
        one.unnoticed
        for one in plan.study.question
        if one.metric == metric and one.unnoticed is not None
    ]
    return min(stated) if stated else unnoticed_in(metric, plan.cells)


def stated(measured: Measured, answers: Iterable[Answered], metric: str) -> dict[Part, Stated]:
    """The verdict on every compared row of a metric."""
    if metric not in METRICS:
        return {}
    asked = _asked(answers, metric)
    cells = {cell.name: cell for cell in measured.plan.cells}
    unnoticed = unnoticed_of(measured.plan, metric)
    rows = measured.analysis.comparisons.filter(metric=metric)
    count = Counter(rows["cell"])
    found = {}
    for row in rows.iter_rows(named=True):
        pair = Pair(str(row["baseline_cell"]), str(row["cell"]), row["flow"], row["station"])
        # The only row of a cell stands for the whole.
        is_whole = pair.part == (None, None) or count[row["cell"]] == 1
        claim = asked.get(Pair(pair.reference, pair.cell)) if is_whole else None
        is_asked = claim is not None
        if claim is None:
            claim = _judged(measured, cells, pair, metric, unnoticed)
        key = (pair.cell, pair.flow, pair.station)
        found[key] = evolve(of_row(claim, row), is_asked=is_asked)
    return found


def of_row(claim: Compare, row: Mapping[str, Any]) -> Stated:
    """A claim with its row of ``Analysis.comparisons``."""
    return Stated(
        claim,
        Evidence(row["evidence"]),
        row["needs"],
        math.nan if row["margin"] is None else row["margin"],
        int(row["among"]),
        row["family"] == PRIMARY,
    )


def of_change(change: Change, unnoticed: float | None = None) -> Stated:
    """The verdict on the change of one quantity between two runs.

    ``unnoticed``: that of a study (default: the metric's own).
    """
    metric = change.metric
    own = spoken(metric)
    claim = unjudged(metric, _NOWHERE, _FIRST, _SECOND)
    claim = evolve(claim, before=change.first, after=change.second)
    is_share = own.is_share and change.share is not None
    moved = change.share if is_share else change.difference
    assert moved is not None
    kept = Stated(claim, change.evidence, change.needs, math.nan, change.among, change.is_primary)
    for one in (change.first, change.second):
        if not one.is_settled:
            settled = evolve(claim, verdict=Verdict.UNSETTLED, reason=one.method)
            return evolve(kept, claim=settled)
        if one.is_unpriced:
            return evolve(kept, claim=evolve(claim, reason=one.method))
    alpha = 1 - change.difference.level
    limit = own.unnoticed if unnoticed is None else unnoticed
    verdict, fresh = judge(
        moved,
        limit if is_share == own.is_share else 0.0,
        METRICS[metric].better,
        holds=math.isnan(change.p_adjusted) or change.p_adjusted < alpha,
        is_apart=change.p < alpha,
        is_tied=change.difference.is_equal and change.difference.value == 0,
    )
    said = evolve(claim, change=moved, is_share=is_share, verdict=verdict, fresh=fresh)
    return evolve(kept, claim=said)


def _asked(answers: Iterable[Answered], metric: str) -> dict[Pair, Compare]:
    """The claims of answers about a metric of whole cells, the most important question first."""
    found: dict[Pair, Compare] = {}
    for answered in answers:
        question = answered.question
        if (
            question.metric != metric
            or question.station
            or question.others_than
            or question.as_share
        ):
            continue
        for claim in answered.compares:
            mine, other = (claim.place.cells[arm].name for arm in (claim.have, claim.to))
            found.setdefault(Pair(mine, other), claim)
    return found


def _judged(
    measured: Measured, cells: Mapping[str, Cell], pair: Pair, metric: str, unnoticed: float
) -> Compare:
    mine, other = cells[pair.reference], cells[pair.cell]
    axes = [
        axis
        for axis, level in levels_of(other)
        if dict[str, Level](levels_of(mine)).get(axis) != level
    ]
    have, to = (
        Arm(tuple((axis, level) for axis, level in levels_of(cell) if axis in axes))
        for cell in (mine, other)
    )
    rest = tuple((axis, level) for axis, level in levels_of(other) if axis not in axes)
    claim = judged(
        unjudged(metric, Place(rest, {have: mine, to: other}), have, to),
        measured.analysis,
        pair,
        unnoticed,
        lambda: tied(measured, pair, metric),
    )
    return by_frames(claim, measured.testbed)
