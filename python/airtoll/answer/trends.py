"""Whether a cost or a gain grows or fades along a factor."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from airtoll.answer.claims import Compare, Trend, Trending, Verdict
from airtoll.question import Arm, Asked, Place

_DECIDED = (Verdict.GAINS, Verdict.COSTS)


def trends(question: Asked, claims: Sequence[Compare]) -> list[Trend]:
    """Changes at the least and the greatest level of the question's factor, place by place.

    Of candidates whose changes are costs, or gains, at both levels of every place, and differ
    enough or little enough to tell.
    """
    if question.along is None or question.along in question.axes:
        return []
    series: dict[Arm, dict[Any, list[tuple[float, Compare]]]] = {}
    for claim in claims:
        levels = dict(claim.place.levels)
        level = levels.pop(question.along, None)
        if isinstance(level, int | float) and not isinstance(level, bool):
            rest = tuple((axis, str(one)) for axis, one in levels.items())
            series.setdefault(claim.to, {}).setdefault(rest, []).append((float(level), claim))
    found: list[Trend] = []
    for of_arm in series.values():
        told = list(_of_arm(question, question.along, of_arm.values()))
        if len(told) == len(of_arm):
            found += told
    return found


def _of_arm(
    question: Asked, factor: str, series: Iterable[list[tuple[float, Compare]]]
) -> Iterator[Trend]:
    for points in series:
        (least, first), *_, (most, last) = sorted(points, key=lambda point: point[0])
        trending = _trending(question, first, last)
        if least < most and trending is not None:
            levels = tuple((a, v) for a, v in first.place.levels if a != factor)
            yield Trend(factor, first.to, Place(levels, {}), least, most, first, last, trending)


def _trending(question: Asked, first: Compare, last: Compare) -> Trending | None:
    """The verdict on the difference of two changes; None where it is none.

    The cells of two levels are independent, so that the squares of their half widths add up.
    """
    if first.verdict not in _DECIDED or last.verdict is not first.verdict:
        return None
    if first.change is None or last.change is None or first.is_share != last.is_share:
        return None
    grown = abs(last.change.value) - abs(first.change.value)
    half = math.hypot(*(_half(claim) for claim in (first, last)))
    if abs(grown) > half:
        return Trending.GROWS if grown > 0 else Trending.FADES
    return Trending.STAYS if abs(grown) + half <= question.unnoticed else None


def _half(claim: Compare) -> float:
    """Half the interval of a change; endless without one."""
    assert claim.change is not None
    if claim.change.is_deterministic:
        return 0.0
    half = claim.change.half_width
    return half if math.isfinite(half) else math.inf
