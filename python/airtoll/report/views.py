"""The tables of a run by name, for the terminal and for papers.

A summary gives a :class:`View`: columns and rows of text, each with the levels of its cell, so that
rows can be chosen.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import polars as pl
from attrs import evolve, frozen

from airtoll.analyse.decomposition import PARTS, REMAINDER
from airtoll.analyse.quantities import show_estimate, show_overhead
from airtoll.errors import UsageError
from airtoll.observe.datasets import load_dataset
from airtoll.observe.metrics import METRICS
from airtoll.plan import Cell
from airtoll.present.names import policy_name
from airtoll.report.answer import table, titles
from airtoll.report.delays import delay_tables
from airtoll.report.handover import LAYERS, OFTEN_ABSENT
from airtoll.report.join_times import time_rows
from airtoll.report.printed_overheads import printed_combined
from airtoll.report.summary import RunSummary


@frozen
class View:
    """One table. ``levels``: of each row the levels by which rows are chosen.

    ``numbers``: the columns of numbers.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    levels: tuple[Mapping[str, str], ...]
    numbers: tuple[str, ...]

    def where(self, wanted: Mapping[str, str]) -> View:
        """The rows with these levels. Raises ``UsageError`` for one that no row has."""
        chosen = list(range(len(self.rows)))
        for key, value in wanted.items():
            there = sorted({of[key] for of in self.levels if key in of})
            if not there:
                keys = sorted({name for of in self.levels for name in of})
                raise UsageError(f"--where {key}={value}: keys are {', '.join(keys) or 'none'}")
            if value not in there:
                raise UsageError(f"--where {key}={value}: there are {', '.join(there)}")
            chosen = [at for at in chosen if self.levels[at].get(key) == value]
        return evolve(
            self,
            rows=tuple(self.rows[at] for at in chosen),
            levels=tuple(self.levels[at] for at in chosen),
        )

    def only(self, columns: Sequence[str]) -> View:
        """These columns, in this order. Raises ``UsageError`` for one that is not there."""
        for name in columns:
            if name not in self.columns:
                raise UsageError(f"--columns {name}: columns are {', '.join(self.columns)}")
        at = [self.columns.index(name) for name in columns]
        return evolve(
            self,
            columns=tuple(columns),
            rows=tuple(tuple(row[index] for index in at) for row in self.rows),
        )


def costs(summary: RunSummary) -> View:
    """The value of every answer in every cell and of every named station, with verdicts."""
    rows = table(summary)
    values = titles(summary)
    columns = ("policy", "where", "station", *values, "verdict")
    return _filled(
        columns,
        [(row.policy, row.place, row.station or "", *row.values, row.verdict) for row in rows],
        [_levels(summary.cells[row.cell], station=row.station or "all") for row in rows],
        tuple(values),
    )


def printed(summary: RunSummary) -> View:
    """Every printed value beside ours."""
    columns = ("table", "policy", "where", "client", "quantity", "printed", "ours", "error", "note")
    rows, levels = [], []
    for one in summary.comparisons:
        cell = summary.cells[one.cell]
        points = one.quantity == "overhead" and one.published.unit == "1"
        show: Callable[[Any], str] = show_overhead if points else show_estimate
        rows.append(
            (
                one.table,
                policy_name(one.policy),
                summary.names.place(cell.scenario, cell.traffic, cell.factors_json, ("policy",)),
                one.client,
                one.quantity.removesuffix("_bps"),
                show(one.published),
                show(one.ours),
                f"{100 * one.absolute_error:+.1f} points"
                if points
                else f"{100 * one.relative_error:+.1f} %",
                summary.note(one),
            )
        )
        levels.append(
            _levels(
                cell,
                table=one.table,
                client=one.client or "all",
                quantity=one.quantity.removesuffix("_bps"),
                dataset=one.dataset,
            )
        )
    for name in dict.fromkeys(entry.dataset for entry in summary.study.compare):
        for row in printed_combined(summary.combined, load_dataset(name)):
            place = summary.names.place(row.scenario, "", row.factors, ("traffic",))
            error = f"{100 * row.absolute_error:+.1f} points"
            values = (f"{row.printed} %", show_overhead(row.ours), error)
            where = f"{place or row.scenario}, {row.group}"
            rows.append((row.table, policy_name(row.policy), where, "", "overhead", *values, ""))
            levels.append(
                {
                    "table": row.table,
                    "scenario": row.scenario,
                    "policy": row.policy,
                    "quantity": "overhead",
                    "dataset": name,
                }
            )
    return _filled(columns, rows, levels, ("printed", "ours", "error"))


def trials(summary: RunSummary) -> View:
    """Every attempt with its status and its values of the study's answers."""
    answers = [m for m in summary.study.answers if (summary.observations["metric"] == m).any()]
    whole = summary.observations.filter(
        pl.col("metric").is_in(answers)
        & pl.col("flow").is_null()
        & pl.col("station").is_null()
        & pl.col("second").is_null()
    )
    values = {
        (str(cell), trial, attempt, str(metric)): f"{value:.6g}"
        for cell, trial, attempt, metric, value in whole.select(
            "cell", "trial", "attempt", "metric", "value"
        ).iter_rows()
    }
    columns = ("policy", "where", "trial", "attempt", "seed", "status", "reason", *answers)
    rows, levels = [], []
    for row in summary.trials.iter_rows(named=True):
        cell = summary.cells.get(str(row["cell"]))
        if cell is None:
            continue
        key = (cell.name, row["trial"], row["attempt"])
        rows.append(
            (
                policy_name(cell.policy),
                summary.names.place(cell.scenario, cell.traffic, cell.factors_json, ("policy",)),
                *(_text(row.get(name)) for name in ("trial", "attempt", "seed", "status")),
                _text(row.get("reason")),
                *(values.get((*key, metric), "") for metric in answers),
            )
        )
        levels.append(_levels(cell, status=str(row["status"]), trial=str(row["trial"])))
    return _filled(columns, rows, levels, ("trial", "attempt", "seed", *answers))


def delays(summary: RunSummary) -> View:
    """Percentiles of delays and response times, and medians of joins and hand-overs."""
    columns = ("what", "policy", "where", "median", "95 %", "99 %", "mean", "retried", "mind")
    rows, levels = [], []
    for row in delay_tables(summary)["whole"].rows:
        values = (*row["values"], "", "", "")
        rows.append((row["kind"], row["policy"], row["place"], *values))
        levels.append({"what": row["kind"], "policy": row["policy"]})
    for row in time_rows(summary):
        cell = summary.cells[row["cell"]]
        values = (row["median"], "", "", row["mean"], row["retried"], row["warning"])
        rows.append((row["metric"], row["policy"], row["place"], *values))
        levels.append(_levels(cell, what=row["metric"]))
    return _filled(columns, rows, levels, ("median", "95 %", "99 %", "mean"))


def parts(summary: RunSummary) -> View:
    """Where each overhead goes: parts of the airtime, in points; of hand-overs the gap by layer."""
    frame = summary.decomposition
    columns = ("policy", "where", "part", "ms", "points", "meaning")
    rows, levels = _layers(summary)
    for row in frame.iter_rows(named=True):
        if abs(row["value"]) < 5e-5:
            continue
        cell = summary.cells[str(row["cell"])]
        part = str(row["part"])
        rows.append(
            (
                policy_name(cell.policy),
                summary.names.place(cell.scenario, cell.traffic, cell.factors_json, ("policy",)),
                part.removesuffix("_s").removeprefix("airtime_").replace("_", " "),
                "",
                f"{100 * row['value']:.2f}",
                PARTS.get(part, REMAINDER),
            )
        )
        levels.append(_levels(cell, part=part))
    return _filled(columns, rows, levels, ("ms", "points"))


def _layers(summary: RunSummary) -> tuple[list[tuple[str, ...]], list[dict[str, str]]]:
    """The gap of every cell's hand-overs by layer, with their levels; the mean of several stations.

    Methods of hand-overs are levels of the grid, so that ``where`` names them.
    """
    estimates = summary.analysis.estimates.filter(
        pl.col("metric").is_in(list(LAYERS)) & pl.col("flow").is_null()
    )
    values: dict[tuple[str, str], float] = {}
    for row in estimates.sort("station", nulls_last=False).iter_rows(named=True):
        values.setdefault((str(row["cell"]), str(row["metric"])), float(row["value"]))
    rows: list[tuple[str, ...]] = []
    levels: list[dict[str, str]] = []
    for name, cell in summary.cells.items():
        place = summary.names.place(cell.scenario, cell.traffic, cell.factors_json, ("policy",))
        for metric, layer in LAYERS.items():
            value = values.get((name, metric))
            if value is None or (value == 0 and metric in OFTEN_ABSENT):
                continue
            shown = f"{1000 * value:.2f}"
            rows.append(
                (policy_name(cell.policy), place, layer, shown, "", METRICS[metric].meaning)
            )
            levels.append(_levels(cell, part=layer))
    return rows, levels


#: Name of a view -> what makes it.
VIEWS: Final[dict[str, Callable[[RunSummary], View]]] = {
    "costs": costs,
    "printed": printed,
    "trials": trials,
    "delays": delays,
    "parts": parts,
}


def _filled(
    columns: Sequence[str],
    rows: Sequence[tuple[str, ...]],
    levels: Sequence[Mapping[str, str]],
    numbers: Sequence[str],
) -> View:
    """A view without the columns that are empty in every row."""
    kept = [at for at in range(len(columns)) if any(row[at] for row in rows)]
    return View(
        tuple(columns[at] for at in kept),
        tuple(tuple(row[at] for at in kept) for row in rows),
        tuple(levels),
        tuple(name for name in numbers if name in columns),
    )


def _levels(cell: Cell, **further: str) -> dict[str, str]:
    factors = json.loads(cell.factors_json)
    axes = {"scenario": cell.scenario, "policy": cell.policy, "traffic": cell.traffic}
    return axes | {key: str(value) for key, value in factors.items()} | further


def _text(value: Any) -> str:
    return "" if value is None else str(value)
