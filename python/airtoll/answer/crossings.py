"""The level of a factor at which an answer turns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from attrs import frozen

from airtoll.answer.claims import Compare, Crossing, Verdict
from airtoll.question import Arm, Asked, Place

_DECIDED = (Verdict.GAINS, Verdict.COSTS, Verdict.UNNOTICED)
_KNOWN = (*_DECIDED, Verdict.TOO_FEW)


def crossings(question: Asked, claims: Sequence[Compare]) -> list[Crossing]:
    """Where the verdict on a candidate changes along the question's factor, place by place.

    The factor is one of the places, or the one that the question changes.
    """
    if question.along is None:
        return []
    if question.along in question.axes:
        return _of_candidates(question, question.along, claims)
    series: dict[tuple[Arm, Any], list[tuple[float, Compare]]] = {}
    for claim in claims:
        if claim.verdict not in _KNOWN:
            continue
        levels = dict(claim.place.levels)
        level = levels.pop(question.along, None)
        if isinstance(level, int | float) and not isinstance(level, bool):
            key = (claim.to, tuple((axis, str(one)) for axis, one in levels.items()))
            series.setdefault(key, []).append((float(level), claim))
    found = []
    for (arm, _), points in series.items():
        points.sort(key=lambda point: point[0])
        turn = _only_turn(points)
        if turn is not None:
            below = turn.below[1]
            place = Place(tuple((a, v) for a, v in below.place.levels if a != question.along), {})
            found.append(turn.crossing(question.along, arm, place))
    return found


def _of_candidates(question: Asked, factor: str, claims: Sequence[Compare]) -> list[Crossing]:
    """Where the verdict changes with the distance of a candidate's level from what one has."""
    mine = question.have[factor]
    by_place: dict[int, list[tuple[float, Compare]]] = {}
    for claim in claims:
        level = claim.to[factor]
        if claim.verdict in _KNOWN and _is_number(level) and _is_number(mine):
            by_place.setdefault(id(claim.place), []).append((float(level), claim))
    found = []
    for points in by_place.values():
        points.sort(key=lambda point: abs(point[0] - float(mine)))
        if len({level > float(mine) for level, _ in points}) != 1:
            continue  # levels on both sides of what one has have no order
        turn = _only_turn(points)
        if turn is not None:
            above = turn.above[1]
            found.append(turn.crossing(factor, above.to, above.place))
    return found


@frozen
class _Turn:
    """Two neighbouring decided levels with another verdict, and the undecided ones between."""

    below: tuple[float, Compare]
    above: tuple[float, Compare]
    between: tuple[float, ...]

    def crossing(self, factor: str, arm: Arm, place: Place) -> Crossing:
        (last, below), (first, above) = self.below, self.above
        return Crossing(factor, arm, place, last, first, below, above, self.between)


def _only_turn(points: Sequence[tuple[float, Compare]]) -> _Turn | None:
    """The turn of levels in their order.

    With several turns there is no level below and above which the answer is one.
    """
    decided = [n for n, (_, claim) in enumerate(points) if claim.verdict in _DECIDED]
    turns = [
        (a, b) for a, b in pairwise(decided) if points[a][1].verdict is not points[b][1].verdict
    ]
    if len(turns) != 1:
        return None
    ((last, first),) = turns
    between = tuple(level for level, _ in points[last + 1 : first])
    return _Turn(points[last], points[first], between)


def _is_number(level: object) -> bool:
    return isinstance(level, int | float) and not isinstance(level, bool)
