"""The tables of a run by name, for the terminal and for papers.

A summary gives a :class:`View`: columns and rows of text, each with the levels of its cell, so that
rows can be chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import polars as pl
from attrs import define, evolve, field, frozen

from airtoll.analyse.decomposition import PARTS, REMAINDER
from airtoll.analyse.quantities import NOTHING
from airtoll.errors import UsageError
from airtoll.observe.metrics import METRICS, OVERHEAD
from airtoll.plan import Cell
from airtoll.present.names import policy_name
from airtoll.report.answer import quantity_name, table, titles, verdict_words
from airtoll.report.delays import delay_tables
from airtoll.report.every_metric import every_metric
from airtoll.report.handover import LAYERS, OFTEN_ABSENT
from airtoll.report.join_times import time_rows
from airtoll.report.printed_rows import levels_of, printed_rows
from airtoll.report.summary import RunSummary
from airtoll.report.where import Where


@frozen
class View:
    """One table.

    ``levels``: of each row the levels by which rows are chosen; ``cells``: the cells that it is
    about. ``numbers``: the columns of numbers. ``note``: a sentence about the columns. ``places``:
    the columns that say where a row is. ``minor``: columns that a narrow page leaves out first.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    levels: tuple[Mapping[str, str], ...]
    numbers: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    note: str = ""
    places: tuple[str, ...] = ("where",)
    minor: tuple[str, ...] = ()

    def where(self, wanted: Where) -> View:
        """The rows with these levels. Raises ``UsageError`` for levels that no row has."""
        chosen = wanted.rows(self.levels)
        rows = [self.rows[at] for at in chosen]
        # Without the other rows a column may say nothing.
        kept = [
            at
            for at in range(len(self.columns))
            if not wanted or any(row[at] not in ("", NOTHING) for row in rows)
        ]
        return evolve(
            self,
            columns=tuple(self.columns[at] for at in kept),
            rows=tuple(tuple(row[at] for at in kept) for row in rows),
            levels=tuple(self.levels[at] for at in chosen),
            cells=tuple(self.cells[at] for at in chosen),
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


@define
class _Rows:
    """Rows while they are gathered."""

    columns: Sequence[str]
    numbers: Sequence[str]
    rows: list[tuple[str, ...]] = field(factory=list)
    levels: list[Mapping[str, str]] = field(factory=list)
    cells: list[tuple[str, ...]] = field(factory=list)

    def add(self, cell: Cell, values: Sequence[str], **further: str) -> None:
        """A row about one cell."""
        self.put((cell.name,), values, levels_of(cell, **further))

    def put(self, cells: Sequence[str], values: Sequence[str], levels: Mapping[str, str]) -> None:
        """A row about some cells."""
        self.rows.append(tuple(values))
        self.levels.append(levels)
        self.cells.append(tuple(cells))

    def view(self) -> View:
        """The table, without the columns that are empty in every row."""
        kept = [at for at in range(len(self.columns)) if any(row[at] for row in self.rows)]
        return View(
            tuple(self.columns[at] for at in kept),
            tuple(tuple(row[at] for at in kept) for row in self.rows),
            tuple(self.levels),
            tuple(name for name in self.numbers if name in self.columns),
            tuple(self.cells),
        )


def costs(summary: RunSummary) -> View:
    """The value of every answer in every cell and of every named station, with verdicts."""
    values = titles(summary)
    found = _Rows(("policy", "where", "station", *values, "verdict"), tuple(values))
    for row in table(summary):
        texts = (row.policy, row.place, row.station or "", *row.values, row.verdict)
        found.add(summary.cells[row.cell], texts, station=row.station or "all")
    view = evolve(found.view(), minor=_minor(values))
    return evolve(view, note=verdict_words(summary)) if "verdict" in view.columns else view


def _minor(values: Sequence[str]) -> tuple[str, ...]:
    """The values that a narrow page leaves out before an overhead, the last first: all but the
    first one, among them the throughputs of all trials beside those by a rule.
    """
    overhead = quantity_name(OVERHEAD)
    return tuple(name for name in reversed(values[1:]) if not name.startswith(overhead))


def answers(summary: RunSummary, metrics: Sequence[str] = ()) -> View:
    """The change of every metric that the run measured, or of some, at every place, with its
    verdict.
    """
    columns = ("metric", "from", "to", "where", "station", "before", "after", "change", "verdict")
    found = _Rows(columns, ("before", "after", "change"))
    for one in every_metric(summary, metrics):
        for texts, levels, cells in one.rows(summary.names):
            found.put(cells, texts, levels)
    return evolve(found.view(), places=("metric", "where", "station"), minor=("before", "after"))


def printed(summary: RunSummary) -> View:
    """Every printed value beside ours."""
    columns = (
        "table", "policy", "where", "client", "quantity", "printed", "ours", "error", "n", "note"
    )  # fmt: skip
    found = _Rows(columns, ("printed", "ours", "error", "n"))
    for row in printed_rows(summary):
        where = ", ".join(filter(None, (row.place, row.variant)))
        texts = (row.table, policy_name(row.policy), where, row.client, row.quantity, row.printed)
        cells = [cell.name for cell in row.cells]
        found.put(cells, (*texts, row.shown, row.error, row.n, row.note), row.levels)
    return evolve(found.view(), places=("table", "quantity", "where", "client"), minor=("n",))


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
    found = _Rows(columns, ("trial", "attempt", "seed", *answers))
    for row in summary.trials.iter_rows(named=True):
        cell = summary.cells.get(str(row["cell"]))
        if cell is None:
            continue
        key = (cell.name, row["trial"], row["attempt"])
        texts = (
            policy_name(cell.policy),
            summary.names.place(cell.scenario, cell.traffic, cell.factors_json, ("policy",)),
            *(_text(row.get(name)) for name in ("trial", "attempt", "seed", "status")),
            _text(row.get("reason")),
            *(values.get((*key, metric), "") for metric in answers),
        )
        found.add(cell, texts, status=str(row["status"]), trial=str(row["trial"]))
    return evolve(found.view(), places=("where", "policy"))


def delays(summary: RunSummary) -> View:
    """Percentiles of delays and response times, and medians of joins and hand-overs."""
    columns = ("what", "policy", "where", "median", "95 %", "99 %", "mean", "retried", "mind")
    found = _Rows(columns, ("median", "95 %", "99 %", "mean"))
    for row in delay_tables(summary)["whole"].rows:
        texts = (row["kind"], row["policy"], row["place"], *row["values"], "", "", "")
        found.add(summary.cells[row["cell"]], texts, what=row["kind"])
    for row in time_rows(summary):
        values = (row["median"], "", "", row["mean"], row["retried"], row["warning"])
        texts = (row["metric"], row["policy"], row["place"], *values)
        found.add(summary.cells[row["cell"]], texts, what=row["metric"])
    return evolve(found.view(), places=("what", "where"))


def parts(summary: RunSummary) -> View:
    """Where each overhead goes: parts of the airtime, in points; of hand-overs the gap by layer."""
    found = _Rows(("policy", "where", "part", "ms", "points", "meaning"), ("ms", "points"))
    _add_layers(summary, found)
    for row in summary.decomposition.iter_rows(named=True):
        if abs(row["value"]) < 5e-5:
            continue
        cell = summary.cells[str(row["cell"])]
        part = str(row["part"])
        texts = (
            policy_name(cell.policy),
            summary.names.place(cell.scenario, cell.traffic, cell.factors_json, ("policy",)),
            part.removesuffix("_s").removeprefix("airtime_").replace("_", " "),
            "",
            f"{100 * row['value']:.2f}",
            PARTS.get(part, REMAINDER),
        )
        found.add(cell, texts, part=part)
    return evolve(found.view(), places=("where", "policy"))


def _add_layers(summary: RunSummary, found: _Rows) -> None:
    """The gap of every cell's hand-overs by layer; the mean of several stations.

    Methods of hand-overs are levels of the grid, so that ``where`` names them.
    """
    estimates = summary.analysis.estimates.filter(
        pl.col("metric").is_in(list(LAYERS)) & pl.col("flow").is_null()
    )
    values: dict[tuple[str, str], float] = {}
    for row in estimates.sort("station", nulls_last=False).iter_rows(named=True):
        values.setdefault((str(row["cell"]), str(row["metric"])), float(row["value"]))
    for name, cell in summary.cells.items():
        place = summary.names.place(cell.scenario, cell.traffic, cell.factors_json, ("policy",))
        for metric, layer in LAYERS.items():
            value = values.get((name, metric))
            if value is None or (value == 0 and metric in OFTEN_ABSENT):
                continue
            shown = f"{1000 * value:.2f}"
            texts = (policy_name(cell.policy), place, layer, shown, "", METRICS[metric].meaning)
            found.add(cell, texts, part=layer)


#: Name of a view -> what makes it.
VIEWS: Final[dict[str, Callable[[RunSummary], View]]] = {
    "answers": answers,
    "costs": costs,
    "printed": printed,
    "trials": trials,
    "delays": delays,
    "parts": parts,
}


def _text(value: Any) -> str:
    return "" if value is None else str(value)
