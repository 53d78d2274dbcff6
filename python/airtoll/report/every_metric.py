"""The answers about every metric that a run measured, not about the study's own alone.

A summary gives the study's questions asked of each metric, with their claims. Levels choose places
and candidates before anything is computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import evolve, frozen

from airtoll.analyse.quantities import NOTHING, show_overhead
from airtoll.answer import Answered, Compare, Verdict, answered_about
from airtoll.errors import UsageError
from airtoll.observe.metrics import METRICS, meant, name_of
from airtoll.observe.spoken import SPOKEN
from airtoll.present.names import Names
from airtoll.present.words import Teller, verdict
from airtoll.question import Arm, Asked, Place, asked_of
from airtoll.report.answer import shown
from airtoll.report.summary import RunSummary
from airtoll.report.where import Where

#: Texts of a row, its levels and its cells.
Row = tuple[tuple[str, ...], dict[str, str], tuple[str, ...]]


@frozen
class OfMetric:
    """The questions of a run about one metric, with their claims."""

    metric: str
    answered: tuple[Answered, ...]

    @property
    def name(self) -> str:
        """The metric for people."""
        return name_of(self.metric)

    @property
    def is_measured(self) -> bool:
        """Whether a change of it is known."""
        return any(claim.change is not None for one in self.answered for claim in one.compares)

    def sentences(self, names: Names) -> list[str]:
        """The answers in words; the reason where no change of the metric is known."""
        measured = [one for one in self.answered if not one.is_unmeasured]
        told = [Teller(names).answer(one) for one in measured or self.answered]
        lines = [line for one in told for line in (*one.leads, *one.extras)]
        return list(dict.fromkeys(lines)) or self._unmeasured()

    def reasons(self, names: Names) -> list[str]:
        """The candidates that cannot be had, in words."""
        return [line for one in self.answered for line in Teller(names).answer(one).reasons]

    def rows(self, names: Names) -> Iterator[Row]:
        """A row for each claim: the columns of ``views.answers``."""
        for one in self.answered:
            for claim in one.compares:
                cells = (claim.place.cells[claim.have], claim.place.cells[claim.to])
                cell = cells[1]
                place = names.place(
                    cell.scenario,
                    cell.traffic,
                    cell.factors_json,
                    (*one.question.axes, *(("policy",) if "policy" in one.question.axes else ())),
                )
                texts = (
                    self.name,
                    _arm(names, claim.have),
                    _arm(names, claim.to),
                    place,
                    _stations(one.question),
                    shown(self.metric, claim.before),
                    shown(self.metric, claim.after),
                    _change(claim),
                    verdict(claim),
                )
                levels = {"metric": self.metric, **_levels(claim.place, claim.to)}
                yield texts, levels, tuple(cell.name for cell in cells)

    def _unmeasured(self) -> list[str]:
        reasons = {
            claim.reason: None
            for one in self.answered
            for claim in one.compares
            if claim.verdict in (Verdict.UNMEASURED, Verdict.UNSETTLED) and claim.reason
        }
        return [f"No change of it is known: {reason}." for reason in reasons]


def every_metric(
    summary: RunSummary, metrics: Sequence[str] = (), where: Where | None = None
) -> list[OfMetric]:
    """The answers about metrics: the study's first, then the others that were measured.

    ``metrics``: these alone; without them, those of the traffic of a trial are left out where all
    cells have a day (``duty``). Raises ``UsageError`` for a metric that the run did not measure,
    for one that no question of it is about, and for levels that no place or candidate has.
    """
    wanted = _named(summary, metrics) if metrics else _measured(summary)
    questions = [one for metric in wanted for one in asked_of(summary.plan, metric)]
    if where:
        questions = _chosen(questions, where)
    found = []
    for metric in wanted:
        answered = answered_about([q for q in questions if q.metric == metric], summary.measured)
        one = OfMetric(metric, tuple(answered))
        claims = [claim for each in answered for claim in each.compares]
        own = metric in metrics or metric in summary.study.answers
        if claims and not own and all(claim.is_of_trial for claim in claims):
            continue
        if one.is_measured or (answered and metric in metrics):
            found.append(one)
    if metrics and not found:
        raise UsageError(
            f"{summary.path}: every cell has the same policy and levels, so no {metrics[0]} is "
            "compared; `airtoll show RUN costs` has its values"
        )
    return found


def _measured(summary: RunSummary) -> list[str]:
    """The metrics that the run measured and a sentence can name, the study's answers first."""
    there = set(summary.analysis.estimates["metric"].unique().to_list())
    return [one for one in dict.fromkeys([*summary.study.answers, *SPOKEN]) if one in there]


def _named(summary: RunSummary, metrics: Sequence[str]) -> list[str]:
    there = set(summary.analysis.estimates["metric"].unique().to_list())
    measured = [name for name in METRICS if name in there]
    for name in metrics:
        if name not in METRICS:
            raise UsageError(f"--metric {name}: no such metric; {meant(name, measured)}")
        if name not in there:
            raise UsageError(
                f"--metric {name}: {summary.path} measured none; {meant(name, measured)}"
            )
    return list(dict.fromkeys(metrics))


def _chosen(questions: Sequence[Asked], where: Where) -> list[Asked]:
    """The questions with the chosen places and candidates alone."""
    pairs = [
        (number, place, arm)
        for number, question in enumerate(questions)
        for place in question.places
        for arm in question.to
        if arm in place.cells
    ]
    levels = [
        {"metric": questions[number].metric, **_levels(place, arm)} for number, place, arm in pairs
    ]
    kept = [pairs[at] for at in where.rows(levels)]
    found = []
    for number, question in enumerate(questions):
        places = []
        for place in question.places:
            mine = {arm for n, at, arm in kept if n == number and at is place}
            if mine:
                own = {arm: cell for arm, cell in place.cells.items() if arm in mine}
                have = {question.have: place.cells[question.have]}
                places.append(evolve(place, cells=have | own))
        if places:
            there = {arm for place in places for arm in place.cells}
            to = tuple(arm for arm in question.to if arm in there)
            found.append(evolve(question, places=tuple(places), to=to))
    return found


def _levels(place: Place, to: Arm) -> dict[str, str]:
    return {axis: str(level) for axis, level in (*place.levels, *to.levels)}


def _stations(question: Asked) -> str:
    """The stations whose values a question is about; empty for the whole cell."""
    if question.others_than is not None:
        return f"all but {question.others_than}"
    return question.station or ""


def _arm(names: Names, arm: Arm) -> str:
    return ", ".join(names.level(axis, level) for axis, level in arm.levels)


def _change(claim: Compare) -> str:
    if claim.change is None:
        return NOTHING
    return show_overhead(claim.change) if claim.is_share else shown(claim.metric, claim.change)
