"""Sentences about several quantities of one change, as one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from attrs import frozen

from airtoll.observe.spoken import NOTHING_NOTICED, spoken

#: Characters of a sentence that tells of several quantities.
_LONGEST: Final = 220
_NOTHING: Final = f": {NOTHING_NOTICED}"


@frozen
class Lead:
    """A sentence that answers a question. ``metric``: the question's; empty without one."""

    text: str
    metric: str = ""


@frozen
class _Told:
    """Clauses of one opening (``From A to B``), each about another quantity."""

    opening: str
    clauses: tuple[str, ...]
    metrics: tuple[str, ...]

    @property
    def text(self) -> str:
        if not self.opening:
            return self.clauses[0]
        *others, last = self.clauses
        if last.endswith(_NOTHING):
            others = [clause.removesuffix(_NOTHING) for clause in others]
        apart = any(sign in clause for clause in others for sign in (": ", "; "))
        between = "; " if apart or len(others) > 1 else ", and "
        return f"{self.opening}, {between.join([*others, last])}."

    def with_next(self, other: _Told) -> _Told | None:
        """Both as one; None where they do not go together."""
        if not self.opening or self.opening != other.opening:
            return None
        if set(self.metrics) & set(other.metrics):
            return None
        both = _Told(self.opening, self.clauses + other.clauses, self.metrics + other.metrics)
        return both if len(both.text) <= _LONGEST else None


def joined(leads: Sequence[Lead]) -> list[str]:
    """The sentences in their order; neighbours about other quantities of one change are one.

    ``From A to B, throughput falls by 5 %, and the mean delay rises from 2 to 3 ms.``
    """
    found: list[_Told] = []
    for lead in leads:
        told = _split(lead)
        both = found[-1].with_next(told) if found else None
        if both is not None:
            found[-1] = both
        else:
            found.append(told)
    return [one.text for one in found]


def _split(lead: Lead) -> _Told:
    """A sentence as opening and clause: the clause begins with the words of the metric."""
    words = spoken(lead.metric).words if lead.metric else ""
    opening, comma, rest = lead.text.partition(f", {words} ") if words else (lead.text, "", "")
    if not comma:
        return _Told("", (lead.text,), (lead.metric,))
    return _Told(opening, (f"{words} {rest.removesuffix('.')}",), (lead.metric,))
