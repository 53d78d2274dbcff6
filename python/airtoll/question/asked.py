"""A study's questions resolved to cells: what one has, the candidates, and the places.

Two cells belong to one place of a question if they differ only in the axes that the question
changes. Cells of different places are never averaged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

from attrs import field, frozen

from airtoll.errors import StudyError
from airtoll.observe.metrics import METRICS
from airtoll.observe.spoken import UNNOTICED_SHARE, spoken, unnoticed_among
from airtoll.plan import Cell, Plan
from airtoll.policies import resolve
from airtoll.study import Level, Question, Study

#: The policy of most networks of today: what one has unless a study says otherwise.
TODAY: Final = "wpa2-psk-ccmp"

_PATTERNS: Final = ("scenario", "traffic")
Levels = tuple[tuple[str, Level], ...]


@frozen
class Arm:
    """Levels of the axes that a question changes, in the order of the question."""

    levels: Levels

    def __getitem__(self, axis: str) -> Level:
        return dict(self.levels)[axis]


@frozen
class Place:
    """The levels that all cells of a place share, and the cell of each arm that the plan has."""

    levels: Levels
    cells: Mapping[Arm, Cell] = field(eq=False, repr=False)


@frozen
class Asked:
    """One question with its cells.

    ``places`` are in the order of the study; each has the cell of ``have`` and of a candidate or
    more. ``as_share``: changes are told as shares of what was, though those of the metric are not.
    ``unnoticed``: a share where changes are told as one, else in the metric's unit.
    """

    text: str
    metric: str
    have: Arm
    to: tuple[Arm, ...]
    places: tuple[Place, ...] = field(repr=False)
    unnoticed: float
    along: str | None = None
    station: str | None = None
    others_than: str | None = None
    as_share: bool = False

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes that the question changes."""
        return tuple(axis for axis, _ in self.have.levels)


def today_of(study: Study) -> str:
    """The policy that one has, by the study."""
    head = study.study
    if head.today is not None:
        return head.today
    if head.baseline != "open" or study.compare or TODAY not in study.grid["policy"]:
        return head.baseline
    return TODAY


def asked(plan: Plan) -> tuple[Asked, ...]:
    """The questions of a plan, most important first; those without cells are left out."""
    study = plan.study
    found = [resolved(plan, question) for question in study.question]
    there = tuple(one for one in found if one.places)
    if there or not plan.cells:
        return there
    return _resolved(plan, _defaults(study, study.answers))


def asked_of(plan: Plan, metric: str) -> tuple[Asked, ...]:
    """The questions of a plan about one metric.

    Those of the study; where it has none about this metric, its other questions asked of it.
    """
    study = plan.study
    own = [one for one in study.question if one.metric == metric]
    change = {"metric": metric, "unnoticed": None, "station": None, "others_than": None, "ask": ""}
    others = [one.model_copy(update=change) for one in study.question]
    distinct = {one.model_dump_json(): one for one in others}
    found = _resolved(plan, own or distinct.values())
    return found or _resolved(plan, _defaults(study, [metric]))


def _resolved(plan: Plan, questions: Iterable[Question]) -> tuple[Asked, ...]:
    return tuple(one for question in questions if (one := resolved(plan, question)).places)


def _defaults(study: Study, answers: Sequence[str]) -> Iterator[Question]:
    """From what one has to every other level; from the baseline to what one has, for scale.

    A policy that no one would move to (an open network, a broken cipher) is no candidate of a
    network that has a better one.
    """
    metrics = [metric for metric in answers if metric in METRICS]
    if study.study.against:
        for metric in metrics:
            yield Question(metric=metric, have=dict(study.study.against))
        return
    today = today_of(study)
    policies = [str(name) for name in study.grid["policy"] if name != today]
    worth = [name for name in policies if not _is_worse(name)]
    if not worth and not _is_worse(today) and study.study.baseline in policies:
        # The policy of today is the best of the grid: its cost against the baseline is left to ask.
        for metric in metrics:
            yield Question(
                metric=metric, have={"policy": study.study.baseline}, to=({"policy": today},)
            )
        return
    candidates = worth if worth and not _is_worse(today) else policies
    to = tuple({"policy": name} for name in candidates)
    for number, metric in enumerate(metrics):
        yield Question(metric=metric, have={"policy": today}, to=to)
        if number == 0 and today != study.study.baseline and study.study.baseline in policies:
            yield Question(
                metric=metric, have={"policy": study.study.baseline}, to=({"policy": today},)
            )


def _is_worse(name: str) -> bool:
    policy = resolve(name)
    return policy.is_baseline or bool(policy.broken)


def refuse_questions(study: Study) -> None:
    """Raise ``StudyError`` for a question about a metric that does not exist, about others than a
    station that does not, or about a sum or a share that has no sense.
    """
    names = {one.name for scenario in study.scenario.values() for one in scenario.stations}
    for index, question in enumerate(study.question):
        place = f"{study.study.name}: question[{index}]"
        if question.others_than is not None:
            if question.metric != "throughput_bps":
                raise StudyError(
                    f"{place}.others_than: only throughput_bps has a sum over stations"
                )
            if question.station is not None:
                raise StudyError(f"{place}.others_than: leave it out, or station")
            if question.others_than not in names:
                known = ", ".join(sorted(names))
                raise StudyError(f"{place}.others_than: no station of the study; there: {known}")
        if question.metric not in METRICS:
            raise StudyError(
                f"{place}.metric: {question.metric!r} is no metric; "
                "docs/reference/observations.md lists them"
            )
        if not question.as_share:
            continue
        if spoken(question.metric).told != "difference":
            raise StudyError(
                f"{place}.as_share: a change of {question.metric} is told as a share already, or "
                "is one of a share or of packets; leave as_share out"
            )
        if question.unnoticed is not None:
            raise StudyError(f"{place}.unnoticed: with as_share it is 1 %; leave it out")


def resolved(plan: Plan, question: Question) -> Asked:
    """A question with its cells; it has no place where the plan lacks them."""
    have: dict[str, Level] = dict(question.have)
    if not have or (any("policy" in table for table in question.to) and "policy" not in have):
        have = {"policy": today_of(plan.study), **have}
    axes = tuple(have)
    cells = [cell for cell in plan.cells if is_at(cell, question.where)]
    candidates = [tuple({**have, **table}.items()) for table in question.to]
    if not candidates:
        mine = tuple(have.items())
        candidates = [
            levels
            for levels in dict.fromkeys(
                tuple((axis, level_of(cell, axis)) for axis in axes) for cell in cells
            )
            if _same(levels) != _same(mine)
        ]
    arms = {_same(levels): Arm(levels) for levels in [tuple(have.items()), *candidates]}
    places: dict[Any, tuple[Levels, dict[Arm, Cell]]] = {}
    for cell in cells:
        arm = arms.get(_same(tuple((axis, level_of(cell, axis)) for axis in axes)))
        if arm is None:
            continue
        rest = tuple((axis, level) for axis, level in levels_of(cell) if axis not in axes)
        places.setdefault(_same(rest), (rest, {}))[1][arm] = cell
    mine_arm = arms[_same(tuple(have.items()))]
    there = [Place(levels, of) for levels, of in places.values() if mine_arm in of and len(of) > 1]
    limit = question.unnoticed
    if limit is None and question.as_share:
        limit = UNNOTICED_SHARE
    if limit is None:
        limit = unnoticed_in(question.metric, [c for at in there for c in at.cells.values()])
    return Asked(
        text=question.ask or plan.study.study.question,
        metric=question.metric,
        have=mine_arm,
        to=tuple(arm for arm in arms.values() if arm is not mine_arm),
        places=tuple(there),
        unnoticed=limit,
        along=question.along,
        station=question.station,
        others_than=question.others_than,
        as_share=question.as_share,
    )


def unnoticed_in(metric: str, cells: Iterable[Cell]) -> float:
    """The largest unnoticed change of a metric in some cells: by the most clients of one."""
    clients = [cell.settings.clients or len(cell.settings.stations) for cell in cells]
    return unnoticed_among(metric, max(clients, default=0))


def levels_of(cell: Cell) -> Iterator[tuple[str, Level]]:
    """The axes and factors of a cell with their levels."""
    yield "scenario", cell.scenario
    yield "traffic", cell.traffic
    yield "policy", cell.policy
    yield from cell.factors


def level_of(cell: Cell, axis: str) -> Level:
    """The level of a cell on an axis; empty where it lacks the factor."""
    # A cell without the factor equals no level of it.
    return dict(levels_of(cell)).get(axis, "")


def _same(levels: Sequence[tuple[str, Any]]) -> tuple[Any, ...]:
    """Levels as they are compared: 1, 1.0 and true are equal, and different levels."""
    return tuple((axis, str(level)) for axis, level in levels)


def is_at(cell: Cell, where: Mapping[str, Sequence[Level]]) -> bool:
    """Whether a cell has the levels of ``where``; scenarios and traffics may be patterns."""
    own = dict(levels_of(cell))
    return all(
        axis in own
        and any(
            fnmatchcase(str(own[axis]), str(one))
            if axis in _PATTERNS
            else str(own[axis]) == str(one)
            for one in levels
        )
        for axis, levels in where.items()
    )
