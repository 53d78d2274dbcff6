"""Limits of throughput, of a join and of a hand-over, against what the trials of a place measured.

Takes needs and outcomes; gives a :class:`Checked` for each limit and policy. Measures nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final, Protocol

from attrs import frozen

from airtoll.advising.situation import Situation
from airtoll.analyse import Estimate
from airtoll.analyse.advice import Needs
from airtoll.answer import Compare
from airtoll.errors import UsageError

_DELAY: Final = (
    "no place of --from measures delay; `airtoll advise --scenario NAME --max-delay 5ms` does "
    "(`airtoll scenarios list`)"
)
_SENSOR: Final = "a sensor is judged by its battery: --max-overhead is the share of its days"


class Rule(Enum):
    """Whether a policy keeps a limit. Only ``MET`` is recommended."""

    MET = "met"
    BROKEN = "not met"
    #: The interval holds the limit.
    UNDECIDED = "too few trials to tell"
    #: A part of the value has no price.
    UNKNOWN = "unknown"


@frozen
class Limit:
    """``value``: in the unit of the metric. ``least``: it is a least value, else a largest one."""

    option: str
    metric: str
    value: float
    least: bool = False


@frozen
class Checked:
    """One limit under one policy. ``value``: measured, None where nothing was."""

    limit: Limit
    policy: str
    value: Estimate | None
    rule: Rule


class Measured(Protocol):
    """A candidate with its claims."""

    @property
    def policy(self) -> str:
        """Its name."""

    @property
    def claims(self) -> tuple[Compare, ...]:
        """The changes that it brings."""

    def unknown_part(self, claim: Compare) -> str:
        """The part of a change without a price; empty where there is none."""


def limits_of(situation: Situation, needs: Needs) -> tuple[Limit, ...]:
    """The limits at a place. Raises ``UsageError`` for one that its trials do not judge."""
    place = situation.place
    if needs.max_delay_s is not None:
        raise UsageError(f"--max-delay: {_DELAY}")
    found = []
    for option, metric, value, where, instead in (
        ("--min-throughput", "throughput_bps", needs.min_throughput_bps, ("home", "office"), ""),
        ("--max-negotiation", "negotiation_time_s", needs.max_negotiation_s, ("home",),
         "an office is judged by the time until every client has joined after a power cut; "
         "`airtoll advise --scenario NAME --max-negotiation 300ms` measures one join "
         "(`airtoll scenarios list`)"),
        ("--max-handover", "handover_join_s", needs.max_handover_s, ("office",),
         "a home has one access point here, and no hand-over; say --place office"),
    ):  # fmt: skip
        if value is None:
            continue
        if place not in where:
            raise UsageError(f"{option}: {_SENSOR if place == 'sensor' else instead}")
        found.append(Limit(option, metric, value, least=option.startswith("--min")))
    return tuple(found)


def checked(
    limits: Sequence[Limit], have: str, outcomes: Sequence[Measured]
) -> tuple[Checked, ...]:
    """Each limit under the policy that one has and under each candidate, as far as measured."""
    found: list[Checked] = []
    for limit in limits:
        known: dict[str, Checked] = {}
        for outcome in outcomes:
            for claim in outcome.claims:
                if claim.metric != limit.metric:
                    continue
                unknown = bool(outcome.unknown_part(claim))
                ends = ((have, claim.before), (outcome.policy, claim.after))
                for policy, value in ends:
                    part = unknown and policy != have
                    known.setdefault(
                        policy, Checked(limit, policy, value, _rule(limit, value, part))
                    )
        found += known.values()
    return tuple(found)


def _rule(limit: Limit, value: Estimate | None, unknown: bool) -> Rule:
    """``unknown``: more time is to be added to the value."""
    if value is None:
        return Rule.UNKNOWN
    low, high = (value.low, value.high) if value.has_interval else (value.value, value.value)
    if limit.least:
        low, high = -high, -low
    bound = -limit.value if limit.least else limit.value
    if low > bound:
        return Rule.BROKEN
    if unknown:
        return Rule.UNKNOWN
    return Rule.MET if high <= bound else Rule.UNDECIDED
