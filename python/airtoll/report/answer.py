"""The answer to the study's question: its readings, and the table of all cells.

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
from airtoll.answer import unnoticed_of
from airtoll.observe.metrics import OVERHEAD, name_of
from airtoll.observe.metrics import quantity as known
from airtoll.plan import Cell
from airtoll.present.words import rule, stated
from airtoll.report.summary import RunSummary

#: Jain's index of the throughputs of a cell's stations.
FAIRNESS: Final = "fairness_ratio"

#: Ends of the titles of two columns of one quantity: of the trials that a rule keeps, and of all.
BY_RULE: Final = " by rule"
OF_ALL: Final = " of all trials"

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
    for (cell, flow, station), row in summary.stated(metric).items():
        whole = flow is None and station is None
        verdict = stated(row)
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
            found += [f"{name}{BY_RULE}", f"{name}{OF_ALL}"]
        else:
            found.append(quantity_name(quantity))
    return [*found, "fairness"] if has_fairness(summary) else found


def verdict_words(summary: RunSummary) -> str:
    """The metric of the verdicts of the table, the reference, and the rule."""
    wanted = columns(summary)
    first = wanted[0] if wanted else THROUGHPUT
    limits = dict.fromkeys(
        answered.question.unnoticed
        for answered in summary.answered
        if answered.question.metric == first
    )
    limit = next(iter(limits)) if len(limits) == 1 else unnoticed_of(summary.plan, first)
    words = f"Verdicts are on the {quantity_name(first)}, against {summary.reference}."
    return f"{words} {rule(first, limit)}".rstrip()


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
