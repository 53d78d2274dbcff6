"""Several levels of an office: the answer at each, and the level at which it turns.

Takes decisions of situations that differ in clients or in requests of the RADIUS server; gives
turns, and a screen. Measures the turns alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

from attrs import evolve, frozen

from airtoll.advising.decision import Choice, Decision
from airtoll.advising.measure import turning
from airtoll.advising.screen import Screen, Section
from airtoll.advising.situation import Situation
from airtoll.policies import resolve
from airtoll.policies.standing import strength
from airtoll.present.digits import rate
from airtoll.present.names import policy_name

Axis = Literal["clients", "requests_per_s"]


@frozen
class Turn:
    """The answer turns between two levels of one axis, from ``below`` to ``above``, policies.

    ``clients``, ``requests_per_s``: the level of the axis that stays. ``last``, ``first``: levels
    on both sides, as near as trials tell them apart. ``policy``: the one that the RADIUS server is
    too slow for on one side; None where another reason turns the answer, and nothing is nearer than
    the levels that were asked about.
    """

    axis: Axis
    clients: int
    requests_per_s: float
    last: float
    first: float
    below: str | None
    above: str | None
    policy: str | None


def turned(
    decisions: Sequence[Decision],
    *,
    trials: int | None = None,
    phase: Callable[[str], None] | None = None,
) -> tuple[Turn, ...]:
    """The turns between neighbouring levels: first of the requests, then of the clients.

    ``trials``: of each level between them.
    """
    axes: tuple[Axis, Axis] = ("requests_per_s", "clients")
    found = []
    for axis in axes:
        for low in decisions:
            others = [
                one
                for one in decisions
                if getattr(one.situation, axis) > getattr(low.situation, axis)
                and _but(one.situation, axis) == _but(low.situation, axis)
            ]
            high = min(others, key=lambda one: float(getattr(one.situation, axis)), default=None)
            if high is not None and _chosen(low) != _chosen(high):
                found.append(_turn(axis, low, high, trials, phase))
    return tuple(found)


def _but(situation: Situation, axis: Axis) -> Situation:
    """The situation without the level of an axis, and without what was assumed for lack of it."""
    level = {"clients": 1} if axis == "clients" else {"requests_per_s": 1.0}
    return evolve(situation, assumed=(), **level)


def _chosen(decision: Decision) -> tuple[str | None, tuple[str, ...]]:
    return decision.policy, tuple(sorted(decision.too_slow))


def _turn(
    axis: Axis,
    low: Decision,
    high: Decision,
    trials: int | None,
    phase: Callable[[str], None] | None,
) -> Turn:
    differ = {*low.too_slow} ^ {*high.too_slow}
    strongest = sorted(differ, key=lambda name: strength(resolve(name)), reverse=True)
    policy = next(iter(strongest), None)
    ends = low.situation, high.situation
    if policy is not None:
        ends = turning(*ends, policy, trials=trials, phase=phase)
    last, first = (float(getattr(one, axis)) for one in ends)
    own = low.situation
    return Turn(axis, own.clients, own.requests_per_s, last, first, low.policy, high.policy, policy)


def detailed(decisions: Sequence[Decision], turns: Sequence[Turn]) -> int:
    """Index of the level that is told in detail: the one nearest the first turn at which its policy
    joins every client, or at which a change is the answer; without such a level the first.
    """
    if not turns:
        return 0
    turn = turns[0]
    middle = math.sqrt(turn.last * turn.first)

    def away(at: int) -> tuple[bool, float]:
        own = decisions[at].situation
        beside = own.clients == turn.clients
        if turn.axis == "clients":
            beside = own.requests_per_s == turn.requests_per_s
        return not beside, abs(math.log(getattr(own, turn.axis) / middle))

    held = [
        at
        for at, one in enumerate(decisions)
        if (one.choice is Choice.CHANGE if turn.policy is None else turn.policy not in one.too_slow)
    ]
    return min(held, key=away, default=0)


def by_level(
    decisions: Sequence[Decision], screens: Sequence[Screen], turns: Sequence[Turn]
) -> Screen:
    """The screen of the level in detail, under the answers at all levels and their turns."""
    lines = level_lines(decisions, screens)
    at = detailed(decisions, turns)
    if not turns:
        answer = f"{_short(decisions[at])} At all of these levels."
    else:
        answer = " ".join(map(_words, turns))
    common = _common(screens)
    if common:
        lines = (f"At every level {'; '.join(common)}.", *lines)
    levels = Section("By level", lines)
    shown = screens[at]
    about = "" if decisions[at].asked is None else f"{shown.answer.partition(': ')[0]}. "
    where = _level(decisions[at].situation)
    rest = f"All that follows is at {where}"
    others = [one.situation for number, one in enumerate(decisions) if number != at]
    if others:
        rest += f"; for another level ask about it alone, as with {_alone(others[0])}"
    heading = Section("In detail", (f"{about}{rest}.",))
    return Screen(answer, (levels, heading, *shown.sections))


def level_lines(decisions: Sequence[Decision], screens: Sequence[Screen]) -> tuple[str, ...]:
    """The answer of each level in a line, without what all levels share."""
    common = _common(screens)
    return tuple(
        f"{_level(one.situation)}: {_sentence(_own(one, shown, common))}"
        for one, shown in zip(decisions, screens, strict=True)
    )


def _common(screens: Sequence[Screen]) -> tuple[str, ...]:
    """The clauses that the answers of all levels have, in their order."""
    first, *others = [one.clauses for one in screens]
    if not others:
        return ()
    return tuple(one for one in first if all(one in clauses for clauses in others))


def _own(decision: Decision, shown: Screen, common: Sequence[str]) -> str:
    """The answer of a level, without the policies where all levels have the same."""
    if not shown.clauses:
        return shown.answer
    clauses = "; ".join(one for one in shown.clauses if one not in common)
    told = [clauses] if clauses else []
    if decision.asked is None:
        return f"{': '.join([shown.way, *told])}."
    return " ".join([*(f"{one}." for one in told), shown.end]).strip()


def _alone(situation: Situation) -> str:
    """The options of one level."""
    rate = f" --requests {situation.requests_per_s:g}" if situation.radius else ""
    return f"--clients {situation.clients}{rate}"


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _short(decision: Decision) -> str:
    have = decision.situation.have
    if decision.choice is Choice.CHANGE and decision.to is not None:
        return f"Change from {policy_name(have)} to {_named(decision.policy)}."
    return f"Keep {_named(decision.policy)}." if decision.policy else "No policy is recommended."


def _level(situation: Situation) -> str:
    rate = f", {situation.requests_per_s:g} requests/s" if situation.radius else ""
    return f"{situation.clients} laptops{rate}"


def _words(turn: Turn) -> str:
    if turn.axis == "clients":
        ends = f"{turn.last:g} and {turn.first:g} laptops (at {turn.requests_per_s:g} requests/s)"
    else:
        ends = f"{rate(turn.last)} and {rate(turn.first)} requests/s (of {turn.clients} laptops)"
    between = f"between {ends}"
    low, high = _named(turn.below), _named(turn.above)
    words = f"The answer turns {between}: {low} below, {high} above."
    if turn.below == turn.above:
        assert turn.policy is not None
        words = f"The answer is {low} on both sides, but {_named(turn.policy)} turns {between}:"
        words += " after a power cut every client joins with it on one side alone."
    return words


def _named(policy: str | None) -> str:
    return "none" if policy is None else f"{policy_name(policy)} ({policy})"
