"""The first sentences of a report: the answer, what limits it, and its gaps.

A summary gives sentences. Those of the study's questions come first, then what the values leave
out, then what limits them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl

from airtoll.analyse.analysis import THROUGHPUT
from airtoll.analyse.settling import in_words
from airtoll.answer import Held, ordered
from airtoll.observe.metrics import LIMIT, METRICS, NOT_RADIO, RATE
from airtoll.present.joined import Lead, joined
from airtoll.present.words import Teller, reproduced
from airtoll.report.answer import columns, quantity_name, readings, shown
from airtoll.report.assumed import assumptions
from airtoll.report.summary import RunSummary

#: Sentences that answer a study, before those of cells without a figure.
_FIRST: Final = 2
#: Sentences that answer a study, before those of its assumptions.
_BEFORE_ASSUMPTIONS: Final = 3


def headline(summary: RunSummary) -> list[str]:
    """The verdict on printed values; the answers to the study's questions in sentences, the first
    question first; then what limits them.

    Before the answer go a line that the run was interrupted, and a warning that the throughputs are
    no radio's.
    """
    teller = Teller(summary.names)
    told = [teller.answer(one) for one in summary.answered]
    printed = reproduced(summary.reproduced, summary.names)
    orders = [line for one in ordered(summary.measured) for line in teller.ordered(one)]
    answers = [
        Lead(line, answered.question.metric)
        for answered, one in zip(summary.answered, told, strict=True)
        for line in one.leads
    ]
    leads = [*printed.leads, *orders, *joined(answers)]
    lines = [
        *_of_limits(summary),
        *leads[:_FIRST],
        *_of_silence(summary),
        *leads[_FIRST:],
        *_of_drifts(summary, THROUGHPUT),
        *_of_unknown_costs(summary),
        *(line for one in told for line in one.reasons),
        *_of_queues(summary),
        *_of_rates(summary),
        *_of_fragments(summary),
        *_of_drifts(summary, "delay_s"),
        *_of_joins(summary),
        *printed.extras,
        *(line for one in told for line in one.extras),
        *([] if any(one.leads for one in told) else _without_an_answer(summary)),
    ]
    found = list(dict.fromkeys(lines))
    first = max(_FIRST, min(len(leads), _BEFORE_ASSUMPTIONS))
    return [*_of_the_end(summary), *found[:first], *assumptions(summary), *found[first:]]


def _of_the_end(summary: RunSummary) -> list[str]:
    """That a run was interrupted; of one that is under way its live page says it."""
    left = summary.unfinished
    if left is None or not left.was_stopped:
        return []
    return [f"This run was {left.words}, and more trials may change every figure below."]


def not_covered(summary: RunSummary) -> list[str]:
    """Gaps of the answer: cells that were skipped or failed, and the study's own list."""
    trials = summary.trials
    counted = trials.filter(status="ok")["cell"].unique()
    failed = trials.filter(status="failed")
    in_part = pl.col("cell").is_in(counted.implode())
    found = [
        *_gaps(trials.filter(status="skipped"), "not run"),
        *_gaps(failed.filter(~in_part), "without a result"),
        *_gaps(failed.filter(in_part), "without {failed} of their trials"),
    ]
    return [*found, *summary.study.study.leaves_out]


#: Reasons of a kind of gap that are listed; a page and --json have all.
_MOST_REASONS = 3


def _gaps(rows: pl.DataFrame, words: str) -> list[str]:
    """The cells of some rows by their reasons, most cells first."""
    reasons = (
        rows.group_by(pl.col("reason").fill_null("no reason stated"), maintain_order=True)
        .agg(pl.col("cell").n_unique().alias("cells"), pl.len().alias("failed"))
        .sort("cells", descending=True, maintain_order=True)
    )
    found = [
        f"{cells} cell{'s' if cells > 1 else ''} {words.format(failed=failed)}: {reason}"
        for reason, cells, failed in reasons.head(_MOST_REASONS).iter_rows()
    ]
    rest = reasons.height - len(found)
    if rest > 0:
        found[-1] += f" (and {rest} more reason{'s' if rest > 1 else ''})"
    return found


def _without_an_answer(summary: RunSummary) -> list[str]:
    """The reason for which no metric of the question was measured."""
    if not summary.outcomes.get("ok"):
        counts = ", ".join(f"{n} {status}" for status, n in summary.outcomes.items())
        reasons = summary.trials["reason"].drop_nulls()
        first = f" The first reason: {reasons[0]}." if len(reasons) else ""
        return [f"No trial was carried out to its end ({counts or 'none tried'}).{first}"]
    if summary.silent:
        return []
    wanted = [name for name in summary.study.answers if name in METRICS]
    there = [name for name in wanted if readings(summary, name)]
    if there:
        # There is nothing to compare with.
        settled = [name for name in there if not summary.unsettled(name)]
        return [_alone(summary, name) for name in settled]
    names = " and ".join(quantity_name(name) for name in wanted)
    return [f"These trials measured no {names}, which the study asks for."]


def _alone(summary: RunSummary, metric: str) -> str:
    """The values of a metric without a comparison: of the one cell, or the smallest and largest."""
    found = sorted(readings(summary, metric), key=lambda reading: reading.estimate.value)
    words = f"The {quantity_name(metric)} is"
    if len(found) == 1:
        where = summary.names.cell(found[0].cell.name)
        return f"{words} {shown(metric, found[0].estimate)} ({where})."
    least, most = (shown(metric, found[at].estimate) for at in (0, -1))
    if least == most:
        return f"{words} {least} in all {len(found)} cells."
    return (
        f"{words} from {least} ({summary.names.cell(found[0].cell.name)}) to {most} "
        f"({summary.names.cell(found[-1].cell.name)}) in {len(found)} cells."
    )


def _of_silence(summary: RunSummary) -> list[str]:
    """The cells without throughput, in one sentence."""
    count = len(summary.silent)
    if not count:
        return []
    first = next(cell.name for cell in summary.plan.cells if cell.name in summary.silent)
    others = "" if count == len(summary.plan.cells) else " The figures are those of the others."
    causes = _causes_of_silence(summary)
    cause = causes.get(first) or next(iter(causes.values()), None)
    unknown = count - len(causes)
    words = [cause] if cause else []
    if unknown:
        words.append(
            f"{f'in {unknown} of them ' if cause else ''}the level is too low for the rate, or the "
            "traffic is too short (`airtoll check` shows the level)"
        )
    return [
        f"{count} cell{'s' if count > 1 else ''} carried no data (first: "
        f"{summary.names.cell(first)}): {'; '.join(words)}.{others}"
    ]


def _causes_of_silence(summary: RunSummary) -> dict[str, str]:
    """Silent cell -> its first caveat that no cell with data has."""
    counted = summary.trials.filter(status="ok").explode("caveats").drop_nulls("caveats")
    is_silent = pl.col("cell").is_in(list(summary.silent))
    heard = set(counted.filter(~is_silent)["caveats"])
    found: dict[str, str] = {}
    for cell, caveat in counted.filter(is_silent).select("cell", "caveats").iter_rows():
        if caveat not in heard and not caveat.startswith((LIMIT, RATE, NOT_RADIO)):
            found.setdefault(cell, caveat)
    return found


def _of_drifts(summary: RunSummary, metric: str) -> list[str]:
    """The cells whose readings of a metric have not settled, in one sentence, with the cause."""
    found = summary.unsettled(metric) if metric in columns(summary) else {}
    if not found:
        return []
    first, relative = next(iter(found.items()))
    of = len(readings(summary, metric))
    where = summary.names.cell(first)
    cells = f"in {len(found)} of {of} cells (first: {where})" if of > 1 else f"in {where}"
    words = f"The {quantity_name(metric)} has not settled {cells}: in the second half of a trial "
    words += f"it is {in_words(relative)} than in the first, so that it depends on how long a trial"
    words = words.replace("high than in the first", "high as in the first")
    words += " lasts, and has no interval."
    known = next((cell for cell in found if cell in summary.causes), None)
    if known is None:
        return [words]
    at = "" if known == first else f" in {summary.names.cell(known)}"
    return [f"{words} Cause{at}: {summary.causes[known]}."]


def _of_fragments(summary: RunSummary) -> list[str]:
    """The cells whose costs hold that of fragments, in one sentence, with the cure."""
    told = summary.unsettled(THROUGHPUT)
    found = {cell: text for cell, text in summary.fragments.items() if cell not in told}
    if not found or THROUGHPUT not in columns(summary):
        return []
    first, text = next(iter(found.items()))
    where = summary.names.cell(first)
    cells = where if len(found) == 1 else f"{len(found)} cells (first: {where})"
    return [f"Fragments are a part of the cost in {cells}: {text}."]


def _of_unknown_costs(summary: RunSummary) -> list[str]:
    """The cells whose throughput leaves out a cipher's cost that no profile knows."""
    found = summary.unpriced
    if not found:
        return []
    first, why = next(iter(found.items()))
    cells = "1 cell" if len(found) == 1 else f"{len(found)} cells"
    return [
        f"The cost of security is unknown in {cells} (first: {summary.names.cell(first)}): {why}; "
        "the throughput there leaves it out."
    ]


def _of_queues(summary: RunSummary) -> list[str]:
    """The queues and windows that limit, in one sentence; a wire that an answer names is told."""
    of_wires = any(
        one.held is Held.WIRE for answered in summary.answered for one in answered.limits
    )
    said = [
        text.removeprefix(LIMIT)
        for text in summary.caveats
        if text.startswith(LIMIT) and not (of_wires and "wired.rate_mbps" in text)
    ]
    if not said:
        return []
    return [f"Not the air alone limits: {said[0]}{_others(said, 'limit', 'limits')}."]


def _others(said: Sequence[str], one: str, several: str) -> str:
    """How many notes of a kind are told elsewhere, and where."""
    rest = len(said) - 1
    if not rest:
        return ""
    told = f"1 other {one} is" if rest == 1 else f"{rest} other {several} are"
    return f" ({told} in the report under Trials)"


def _of_rates(summary: RunSummary) -> list[str]:
    """The rates that the study does not state, in one sentence."""
    said = [text.removeprefix(RATE) for text in summary.caveats if text.startswith(RATE)]
    if not said:
        return []
    return [f"Rates: {said[0]}{_others(said, 'note on rates', 'notes on rates')}."]


def _of_joins(summary: RunSummary) -> list[str]:
    """The cells in which not every client joined: fewest clients, and how many cells."""
    found = [r for r in readings(summary, "joined_ratio") if r.estimate.value < 1]
    if not found:
        return []
    worst = min(found, key=lambda reading: reading.estimate.value)
    count = summary.analysis.estimate(worst.cell.name, "stations_joined")
    joined = count.value if count else 0.0
    share = worst.estimate.value
    settings = worst.cell.settings
    of = round(joined / share) if share else settings.clients or len(settings.stations)
    # A mean of trials that are not alike is a fraction of a client.
    told = f"{joined:.0f} of {of}" if joined.is_integer() else f"{joined:.3g} of {of}, on average,"
    name = summary.names.cell(worst.cell.name)
    if len(found) == 1:
        return [f"Not every client joined: {told} did ({name})."]
    return [f"Not every client joined in {len(found)} cells; in the worst, {told} did ({name})."]


def _of_limits(summary: RunSummary) -> list[str]:
    measured = summary.analysis.estimates.filter(metric=THROUGHPUT)["cell"].n_unique()
    bound = len(summary.not_radio)
    if not bound:
        return []
    reason = next(text for text in summary.caveats if text.startswith(NOT_RADIO))
    some = f"{bound} of {measured} throughputs {'is' if bound == 1 else 'are'} not"
    which = "None of these throughputs is" if bound == measured else some
    return [
        f"{which} a radio's, and what is said of them holds for this computer alone: "
        f"{reason.removeprefix(NOT_RADIO)}."
    ]
