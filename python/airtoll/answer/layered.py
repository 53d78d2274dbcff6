"""A tunnel over a protected link: its addition, and the whole against the sum of its parts."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attrs import evolve

from airtoll.analyse import Estimate
from airtoll.answer.claimed import Answered
from airtoll.answer.claims import Compare, Layered, Limit, Sum
from airtoll.policies import Policy


def layered(
    from_open: Answered, from_link: Answered, link: Policy, tunnel: Policy, whole: Policy
) -> Layered | None:
    """The claim about one link and one tunnel at the first place; None where a cell is missing.

    ``from_open`` and ``from_link``: questions about throughput from an open network and from
    the link.
    """
    added = _of(from_link.compares, whole.name)
    of_link, alone, both = (
        _of(from_open.compares, name) for name in (link.name, tunnel.name, whole.name)
    )
    if added is None or of_link is None or alone is None or both is None:
        return None
    parts = _added_up(of_link.change, alone.change)
    own = link.services.names()
    return Layered(
        link=link.name,
        tunnel=tunnel.name,
        added=added,
        alone=alone,
        whole=both,
        parts=parts,
        sum=_judged(parts, both.change, from_open.question.unnoticed),
        services=tuple(name for name in whole.services.names() if name not in own),
        limit=_limit(from_link.limits, whole.name),
    )


def _of(claims: Sequence[Compare], policy: str) -> Compare | None:
    return next((claim for claim in claims if claim.to["policy"] == policy), None)


def _limit(limits: Sequence[Limit], policy: str) -> Limit | None:
    return next((one for one in limits if one.cell.policy == policy), None)


def _added_up(first: Estimate | None, second: Estimate | None) -> Estimate | None:
    """The sum of two changes, their intervals as those of independent values."""
    if first is None or second is None:
        return None
    value = first.value + second.value
    halves = [one.half_width for one in (first, second)]
    half = math.hypot(*(half if math.isfinite(half) else 0.0 for half in halves))
    return evolve(first, value=value, low=value - half, high=value + half)


def _judged(parts: Estimate | None, whole: Estimate | None, unnoticed: float) -> Sum:
    """The loss of the whole against that of the parts; less than ``unnoticed`` is no difference."""
    if parts is None or whole is None:
        return Sum.UNKNOWN
    more = parts.value - whole.value
    halves = [one.half_width for one in (parts, whole)]
    half = math.hypot(*(half if math.isfinite(half) else 0.0 for half in halves))
    if abs(more) <= max(half, unnoticed):
        return Sum.EQUAL
    return Sum.MORE if more > 0 else Sum.LESS
