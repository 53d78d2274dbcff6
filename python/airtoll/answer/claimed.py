"""Every claim about the questions of a run."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from airtoll.answer.apart import apart
from airtoll.answer.claims import (
    Apart,
    Compare,
    Crossing,
    Fallback,
    Limit,
    Parts,
    Possible,
    Reproduces,
    Trend,
    Verdict,
)
from airtoll.answer.compared import NO_TRIAL, compared
from airtoll.answer.crossings import crossings
from airtoll.answer.limits import limits
from airtoll.answer.measured import Measured
from airtoll.answer.possible import fallbacks, impossible
from airtoll.answer.reproduced import Readings, reproduced
from airtoll.answer.taken_apart import parts
from airtoll.answer.trends import trends
from airtoll.question import Asked, asked


@frozen
class Answered:
    """One question with its claims. ``parts``: of its largest noticed change. ``apart``: between
    two places, where the study asks nothing itself.
    """

    question: Asked
    compares: tuple[Compare, ...]
    crossings: tuple[Crossing, ...]
    limits: tuple[Limit, ...]
    impossible: tuple[Possible, ...]
    fallbacks: tuple[Fallback, ...]
    parts: Parts | None
    trends: tuple[Trend, ...] = ()
    apart: tuple[Apart, ...] = ()

    @property
    def is_unmeasured(self) -> bool:
        """Whether no trial measured the metric before any of the changes."""
        return bool(self.compares) and all(
            claim.reason == NO_TRIAL and claim.before is None for claim in self.compares
        )


def answered(measured: Measured) -> tuple[Answered, ...]:
    """The questions of a run, most important first, with what the estimates say about them.

    A question that no trial measured a value for is left out, unless none has one.
    """
    found = answered_about(asked(measured.plan), measured)
    known = [one for one in found if any(claim.change is not None for claim in one.compares)]
    return tuple(known or found)


def answered_about(questions: Iterable[Asked], measured: Measured) -> list[Answered]:
    """Some questions with what the estimates say about them."""
    found = []
    asks_nothing = not measured.plan.study.question
    for question in questions:
        claims = compared(question, measured)
        found.append(
            Answered(
                question,
                tuple(claims),
                tuple(crossings(question, claims)),
                tuple(limits(question, measured)),
                tuple(impossible(question, measured)),
                tuple(fallbacks(question, measured)),
                _largest(claims, measured),
                tuple(trends(question, claims)),
                tuple(apart(question, claims)) if asks_nothing else (),
            )
        )
    return found


def printed(measured: Measured, readings: Readings) -> tuple[Reproduces, ...]:
    """How many printed values are met."""
    cells = {cell.name: cell for cell in measured.plan.cells}
    return tuple(reproduced(measured.comparisons, cells, readings, measured.plan.study))


def _largest(claims: list[Compare], measured: Measured) -> Parts | None:
    noticed = [claim for claim in claims if claim.verdict in (Verdict.COSTS, Verdict.GAINS)]
    if not noticed:
        return None
    return parts(max(noticed, key=lambda claim: abs(claim.change.value)), measured)  # type: ignore[union-attr]
