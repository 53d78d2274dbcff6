"""Sentences about several quantities of one change, as one sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from attrs import frozen

from airtoll.observe.spoken import NOTHING_NOTICED, spoken

#: Characters of a sentence that tells of several quantities.
_LONGEST: Final = 225
_NOTHING: Final = f": {NOTHING_NOTICED}"
#: The same of one quantity beside others that are noticed.
_UNNOTICED: Final = ", too little to notice"
_VERBS: Final = ("rises", "falls", "changes")
#: Where a change holds, at the end of a clause.
_PLACES: Final = re.compile(r"( \([^()]*\)| at (all \d+|\d+ of \d+) places)$")


@frozen
class Lead:
    """A sentence that answers a question. ``metric``: the question's; empty without one."""

    text: str
    metric: str = ""


@frozen
class _Clause:
    """The change of a quantity: ``the mean delay`` and ``rises by 3 ms``."""

    metric: str
    said: str

    def after(self, other: _Clause) -> str:
        """The clause without a verb that the one before has, too."""
        verb, _, rest = self.said.partition(" ")
        is_same = verb in _VERBS and other.said.startswith(f"{verb} ")
        return f"{spoken(self.metric).words} {rest if is_same else self.said}"

    def before(self, other: _Clause) -> _Clause:
        """The clause without the verdict and the places that the next one has, too."""
        said, following = self.said, other.said
        if following.endswith(_NOTHING):
            said, following = said.removesuffix(_NOTHING), following.removesuffix(_NOTHING)
        mine, others = _PLACES.search(said), _PLACES.search(following)
        if mine and others and mine[0] == others[0] and said.count("(") <= 1:
            said = said.removesuffix(mine[0])
        return _Clause(self.metric, said)


@frozen
class _Told:
    """Clauses of one opening (``From A to B``), each about another quantity."""

    opening: str
    clauses: tuple[_Clause, ...]

    @property
    def text(self) -> str:
        first, *others = self.clauses
        said = [f"{spoken(first.metric).words} {self._shown(0).said}"]
        said += [self._shown(n).after(self.clauses[n - 1]) for n in range(1, len(others) + 1)]
        if not all(one.said.endswith(_NOTHING) for one in self.clauses):
            said = [one.replace(_NOTHING, _UNNOTICED) for one in said]
        apart = any(sign in clause for clause in said[:-1] for sign in (": ", "; "))
        between = "; " if apart else ", and "
        told = said[0]
        if len(said) > 1:
            told = f"{'; '.join(said[:-1])}{between}{said[-1]}"
        return f"{self.opening}, {told}."

    def _shown(self, number: int) -> _Clause:
        clause = self.clauses[number]
        later = self.clauses[number + 1 :]
        return clause.before(later[0]) if later else clause

    def with_next(self, other: _Told) -> _Told | None:
        """Both as one; None where they do not go together."""
        if self.opening != other.opening:
            return None
        if {one.metric for one in self.clauses} & {one.metric for one in other.clauses}:
            return None
        both = _Told(self.opening, self.clauses + other.clauses)
        return both if len(both.text) <= _LONGEST else None


def joined(leads: Sequence[Lead]) -> list[str]:
    """The sentences in their order; neighbours about other quantities of one change are one.

    ``From A to B, throughput falls by 5 %, and the mean delay rises from 2 to 3 ms.``
    """
    found: list[_Told | str] = []
    for lead in leads:
        told = _split(lead)
        last = found[-1] if found else ""
        both = None
        if told is not None and isinstance(last, _Told):
            both = last.with_next(told)
        if both is not None:
            found[-1] = both
        else:
            found.append(lead.text if told is None else told)
    return [one if isinstance(one, str) else one.text for one in found]


def _split(lead: Lead) -> _Told | None:
    """A sentence as opening and clause: the clause begins with the words of the metric.

    None for a sentence of another form.
    """
    if not lead.metric:
        return None
    opening, comma, rest = lead.text.partition(f", {spoken(lead.metric).words} ")
    if not comma or not rest.endswith("."):
        return None
    return _Told(opening, (_Clause(lead.metric, rest.removesuffix(".")),))
