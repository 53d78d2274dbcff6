"""Whether a change grows or shrinks along the levels of an axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from airtoll.answer.claims import Compare, Trend, Verdict, Way
from airtoll.question import Arm, Asked

_DECIDED = (Verdict.GAINS, Verdict.COSTS, Verdict.CHANGES, Verdict.UNNOTICED)


def trends(question: Asked, claims: Sequence[Compare]) -> list[Trend]:
    """The way of each candidate's change along the question's axis, place by place.

    Only where the change is decided at every level, and told in one unit. Numbers along which the
    verdict turns have a :class:`Crossing` instead.
    """
    if question.along is None or question.along in question.axes:
        return []
    series: dict[tuple[Arm, Any], list[Compare]] = {}
    for claim in claims:
        rest = tuple((a, str(v)) for a, v in claim.place.levels if a != question.along)
        series.setdefault((claim.to, rest), []).append(claim)
    found = []
    for (arm, _), along in series.items():
        levels = [dict(claim.place.levels)[question.along] for claim in along]
        if all(isinstance(level, int | float) for level in levels):
            along = [claim for _, claim in sorted(zip(levels, along, strict=True), key=_number)]
            if len({claim.verdict for claim in along}) > 1:
                continue
        alike = len({claim.is_share for claim in along}) == 1
        if len(along) > 1 and alike and all(claim.verdict in _DECIDED for claim in along):
            turn = _turn(along)
            way = _way(along[0], along[-1] if turn is None else along[turn])
            found.append(Trend(question.along, arm, tuple(along), way, turn))
    return found


def _number(pair: tuple[Any, Compare]) -> float:
    return float(pair[0])


def _turn(along: Sequence[Compare]) -> int | None:
    """The inner level up to which the amount goes one way, and from which on the other.

    Among all, that with the largest or the smallest amount: beyond both ends by more than chance.
    """
    inner = range(1, len(along) - 1)
    for sign, way, back in ((1, Way.GROWS, Way.SHRINKS), (-1, Way.SHRINKS, Way.GROWS)):
        if not inner:
            break
        at = max(inner, key=lambda n: sign * _amount(along[n]))
        if _way(along[0], along[at]) is way and _way(along[at], along[-1]) is back:
            return at
    return None


def _amount(claim: Compare) -> float:
    assert claim.change is not None
    return abs(claim.change.value)


def _way(one: Compare, other: Compare) -> Way:
    """By the difference of two independent changes, whose half widths add as their squares."""
    first, last = one.change, other.change
    assert first is not None
    assert last is not None
    larger = max(first.value, last.value, key=abs)
    moved = math.copysign(1.0, larger) * (last.value - first.value)
    halves = (one.half_width if one.has_interval else 0.0 for one in (first, last))
    half = math.hypot(*halves)
    if moved > half:
        return Way.GROWS
    return Way.SHRINKS if moved < -half else Way.STEADY
