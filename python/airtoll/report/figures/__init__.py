"""Figures: interactive in the page, static twins fit for a paper.

Takes a summary; gives pictures, each of one question. Never analyses.

    answer.py      the first answer to the study's question
    cost.py        overhead and throughput by policy, sweeps
    jitter.py      jitter by traffic and policy
    why.py         waterfalls from the ledger, the staircase of symbols
    agreement.py   printed against ours
    spread.py      trials, course of a trial, authentication, hand-overs
"""

from attrs import evolve

from airtoll.drawing import Picture
from airtoll.report.figures.agreement import agreement
from airtoll.report.figures.answer import answer
from airtoll.report.figures.cost import pictures as cost_pictures
from airtoll.report.figures.jitter import jitter
from airtoll.report.figures.spread import authentication, handovers, time_series, trial_dots
from airtoll.report.figures.why import staircase, waterfalls
from airtoll.report.summary import RunSummary


def pictures(summary: RunSummary) -> list[Picture]:
    """The pictures that a run supports, in the order of the report."""
    makers = (
        answer,
        cost_pictures,
        jitter,
        agreement,
        waterfalls,
        staircase,
        trial_dots,
        time_series,
        authentication,
        handovers,
    )
    found = [picture for maker in makers for picture in maker(summary)]
    return _like_the_paper(found) if _has_printed_overheads(summary) else found


def _has_printed_overheads(summary: RunSummary) -> bool:
    return any(
        one.quantity == "overhead" and one.published.unit == "1" for one in summary.comparisons
    )


def _like_the_paper(found: list[Picture]) -> list[Picture]:
    """The bars by policy with the printed values, which a paper has, come first."""
    bars = [picture for picture in found if picture.name == "overhead"]
    first = [evolve(picture, section="answer") for picture in bars]
    return [*first, *(picture for picture in found if picture not in bars)]


__all__ = ["pictures"]
