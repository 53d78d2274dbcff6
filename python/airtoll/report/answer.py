"""The answer to the study's question: its readings, one sentence, its gaps.

A summary gives the readings of the metrics that the study answers with (``[study] answers``), the
most important first. Of throughput the answer is the overhead, where a baseline was measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import polars as pl
from attrs import evolve, frozen

from airtoll.analyse import Estimate
from airtoll.analyse.analysis import THROUGHPUT, estimate_of_row
from airtoll.analyse.estimate import without_interval
from airtoll.analyse.fairness import jain
from airtoll.analyse.quantities import NOTHING, show_estimate, show_overhead
from airtoll.analyse.settling import in_words
from airtoll.answer import Held
from airtoll.observe.metrics import LIMIT, METRICS, NOT_RADIO, OVERHEAD, RATE, name_of
from airtoll.observe.metrics import quantity as known
from airtoll.plan import Cell
from airtoll.present.words import Teller, reproduced
from airtoll.report.summary import RunSummary

#: Jain's index of the throughputs of a cell's stations.
FAIRNESS: Final = "fairness_ratio"

#: Delay under load, shown beside the answers where it is measured.
_DELAYS: Final = ("delay_s", "delay_p95_s")


@frozen
class Reading:
    """One cell's value of one quantity."""

    cell: Cell
    estimate: Estimate


def quantity_name(quantity: str) -> str:
    """A metric, or the overhead, for people."""
    return name_of(quantity)


def shown(quantity: str, estimate: Estimate | None) -> str:
    """A value of a quantity with its interval; shares in percent."""
    if estimate is None:
        return NOTHING
    return show_overhead(estimate) if known(quantity).percent else show_estimate(estimate)


def quantities(summary: RunSummary) -> tuple[str, ...]:
    """The quantities that answer the study and were measured, most important first."""
    found = []
    for metric in summary.study.answers:
        if metric == THROUGHPUT and readings(summary, OVERHEAD):
            found.append(OVERHEAD)
        elif readings(summary, metric):
            found.append(metric)
    return tuple(found)


def columns(summary: RunSummary) -> tuple[str, ...]:
    """The columns of the table of answers: throughput with its overhead, and delay under load."""
    found: list[str] = []
    for metric in (*summary.study.answers, *_DELAYS):
        if metric in found or not readings(summary, metric):
            continue
        found.append(metric)
        if metric == THROUGHPUT and readings(summary, OVERHEAD):
            found.append(OVERHEAD)
    return tuple(found)


def readings(summary: RunSummary, quantity: str) -> list[Reading]:
    """The readings of every cell as a whole, in the order of the plan."""
    if quantity == OVERHEAD:
        frame = summary.analysis.overheads
    else:
        frame = summary.analysis.estimates.filter(metric=quantity)
    frame = frame.filter(pl.col("value").is_finite())
    whole = pl.col("flow").is_null() & pl.col("station").is_null()
    by_cell: dict[str, Estimate] = {
        row["cell"]: estimate_of_row(row, summary.analysis.level)
        for row in frame.filter(whole).iter_rows(named=True)
    }
    return [
        Reading(cell, by_cell[cell.name]) for cell in summary.plan.cells if cell.name in by_cell
    ]


def swept_factor(summary: RunSummary) -> str | None:
    """The numeric factor with most levels (three at least), if there is one."""
    found = [
        (len(levels), key)
        for key, levels in summary.study.grid.items()
        if "." in key
        and len(levels) >= 3
        and all(isinstance(v, int | float) and not isinstance(v, bool) for v in levels)
    ]
    return max(found)[1] if found else None


def verdicts(summary: RunSummary, metric: str) -> dict[tuple[str, Any], str]:
    """(cell, None) -> verdict on the whole or on its only part; (cell, (flow, station)): a part."""
    found: dict[tuple[str, Any], str] = {}
    parts: dict[str, list[str]] = {}
    rows = summary.analysis.comparisons.filter(metric=metric)
    for cell, flow, station, verdict in rows.select(
        "cell", "flow", "station", "verdict"
    ).iter_rows():
        whole = flow is None and station is None
        found[cell, None if whole else (flow, station)] = verdict
        if not whole:
            parts.setdefault(cell, []).append(verdict)
    for cell, words in parts.items():
        if len(words) == 1:
            found.setdefault((cell, None), words[0])
    return found


@frozen
class Row:
    """One row of the table of answers.

    ``cell`` is the machine's name. ``station``: a named station of the cell; None: the whole cell.
    """

    cell: str
    policy: str
    place: str
    station: str | None
    values: tuple[str, ...]
    verdict: str


def titles(summary: RunSummary) -> list[str]:
    """The titles of the columns with values."""
    found = []
    for quantity in columns(summary):
        if quantity in (THROUGHPUT, OVERHEAD) and summary.analysis.by_rule:
            name = quantity_name(quantity)
            found += [f"{name} by rule", f"{name} of all trials"]
        else:
            found.append(quantity_name(quantity))
    return [*found, "fairness"] if has_fairness(summary) else found


def table(summary: RunSummary) -> list[Row]:
    """The table of answers: one row per cell, and one per station where the study names several.

    The verdict is that on the first answer.
    """
    wanted = columns(summary)
    values = {
        quantity: {r.cell.name: r.estimate for r in readings(summary, quantity)}
        for quantity in wanted
    }
    first = wanted[0] if wanted else THROUGHPUT
    judged = verdicts(summary, first)
    of_throughput = verdicts(summary, THROUGHPUT)
    shares = has_fairness(summary)
    fair = fairness(summary) if shares else {}
    rows = []
    for cell in in_reading_order(summary):
        here = [values[quantity].get(cell.name) for quantity in wanted]
        if not any(estimate is not None for estimate in here):
            continue
        texts: list[str] = []
        for quantity, estimate in zip(wanted, here, strict=True):
            texts += _texts(summary, cell.name, quantity, estimate)
        if shares:
            texts.append(f"{fair[cell.name]:.3f}" if cell.name in fair else NOTHING)
        policy = summary.names.variant(cell.policy, cell.factors_json)
        place = summary.names.place(cell.scenario, cell.traffic, cell.factors_json, ("policy",))
        verdict = _judged(summary, cell, first, judged.get((cell.name, None), ""))
        rows.append(Row(cell.name, policy, place, None, tuple(texts), verdict))
        if first in (THROUGHPUT, FAIRNESS) and not cell.settings.clients:
            place_of = (cell, policy, place)
            rows += _rows_of_stations(summary, place_of, wanted, shares, of_throughput)
    return rows


def _rows_of_stations(
    summary: RunSummary,
    place_of: tuple[Cell, str, str],
    wanted: Sequence[str],
    shares: bool,
    judged: dict[Any, str],
) -> list[Row]:
    """Rows of the stations that the study names, where there are several."""
    cell, policy, place = place_of
    names = [station.name for station in cell.settings.stations]
    if len(names) < 2:
        return []
    parts = summary.analysis.estimates.filter(
        (pl.col("cell") == cell.name)
        & (pl.col("metric") == THROUGHPUT)
        & pl.col("station").is_in(names)
    )
    rows = []
    for part in parts.iter_rows(named=True):
        key = (part["flow"], part["station"])
        texts: list[str] = []
        for quantity in wanted:
            of_part = (
                summary.analysis.overhead(cell.name, *key)
                if quantity == OVERHEAD
                else summary.analysis.estimate(cell.name, quantity, *key)
            )
            texts += _texts(summary, cell.name, quantity, of_part, *key)
        if shares:
            texts.append("")
        verdict = _judged(summary, cell, THROUGHPUT, judged.get((cell.name, key), ""))
        several = parts.filter(station=part["station"]).height > 1
        station = part["flow"] if several else part["station"]
        rows.append(Row(cell.name, policy, place, station, tuple(texts), verdict))
    return rows


def _judged(summary: RunSummary, cell: Cell, metric: str, verdict: str) -> str:
    words = "baseline" if cell.name in summary.analysis.references else verdict
    return summary.verdict(cell.name, words) if metric == THROUGHPUT else words


def _texts(
    summary: RunSummary, cell: str, quantity: str, estimate: Estimate | None, *part: str | None
) -> list[str]:
    """A value in its column; where a rule selects trials, that of all trials in a second one."""
    if quantity not in (THROUGHPUT, OVERHEAD) or not summary.analysis.by_rule:
        return [shown(quantity, estimate)]
    if estimate is None:
        return [NOTHING, NOTHING]
    if quantity == OVERHEAD:
        of_all = summary.analysis.overhead_of_all(cell, *part)
    else:
        row = summary.analysis.estimates.row(
            summary.analysis.row_of(cell, quantity, *part), named=True
        )
        of_all = evolve(estimate, value=row["value_all"], n=row["n_all"])
    return [shown(quantity, without_interval(estimate)), shown(quantity, of_all)]


def fairness(summary: RunSummary) -> dict[str, float]:
    """Jain's index of the stations' throughputs, of each cell with several stations.

    The mean of the trials; where they have none (imported readings), that of the mean throughputs.
    """
    found = {}
    for (cell,), rows in _of_stations(summary).group_by(["cell"], maintain_order=True):
        of_stations = rows.group_by("station").agg(pl.col("value").sum())["value"]
        if len(of_stations) > 1:
            found[str(cell)] = jain(of_stations.to_numpy())
    return found | {r.cell.name: r.estimate.value for r in readings(summary, FAIRNESS)}


def has_fairness(summary: RunSummary) -> bool:
    """Whether the table has a column for it beside the answers: throughput is one, and stations
    share a cell.
    """
    if THROUGHPUT not in summary.study.answers or FAIRNESS in summary.study.answers:
        return False
    per_cell = _of_stations(summary).group_by("cell").agg(pl.col("station").n_unique())
    return bool((per_cell["station"] > 1).any())


def _of_stations(summary: RunSummary) -> pl.DataFrame:
    """The estimates of the throughputs of single stations."""
    return summary.analysis.estimates.filter(
        (pl.col("metric") == THROUGHPUT) & pl.col("station").is_not_null()
    )


def in_reading_order(summary: RunSummary) -> list[Cell]:
    """The cells by place, the policies of one place adjacent, both in the order of the study."""
    names = summary.names
    variants = names.of_policies
    places: dict[Any, list[Cell]] = {}
    for cell in summary.plan.cells:
        levels = tuple((k, v) for k, v in cell.factors if k not in variants)
        places.setdefault((cell.scenario, levels, cell.traffic), []).append(cell)
    return [cell for cells in places.values() for cell in cells]


#: Sentences that answer a study, before those of cells without a figure.
_FIRST: Final = 2


def headline(summary: RunSummary) -> list[str]:
    """The verdict on printed values; the answers to the study's questions in sentences, the first
    question first; then what limits them.

    A warning that the throughputs are no radio's goes before the answer.
    """
    teller = Teller(summary.names)
    told = [teller.answer(one) for one in summary.answered]
    printed = reproduced(summary.reproduced, summary.names)
    leads = [*printed.leads, *(line for one in told for line in one.leads)]
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
    return list(dict.fromkeys(lines))


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
    return [
        f"{count} cell{'s' if count > 1 else ''} carried no data (first: "
        f"{summary.names.cell(first)}): the level is too low for the rate, or the traffic is too "
        f"short; `airtoll check` shows the level.{others}"
    ]


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
    more = f" ({len(said) - 1} more such notes below)" if len(said) > 1 else ""
    return [f"Not the air alone limits: {said[0]}{more}."]


def _of_rates(summary: RunSummary) -> list[str]:
    """The rates that the study does not state, in one sentence."""
    said = [text.removeprefix(RATE) for text in summary.caveats if text.startswith(RATE)]
    if not said:
        return []
    more = f" ({len(said) - 1} more such notes below)" if len(said) > 1 else ""
    return [f"Rates: {said[0]}{more}."]


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
