"""``airtoll show``: the answer of a run again, or one of its tables."""

from __future__ import annotations

import csv
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from attrs import frozen

from airtoll.cli.importing import TABLE, print_imported
from airtoll.cli.options import command
from airtoll.cli.output import emit_json, out, piped_width, table
from airtoll.cli.reporting import (
    FormOptions,
    WhereOption,
    note_unfinished,
    print_closing,
    print_latex,
)
from airtoll.errors import UsageError
from airtoll.observe.spreadsheet import cell
from airtoll.report.every_metric import every_metric
from airtoll.report.imported import is_imported, read_imported
from airtoll.report.latex import Grid, Group, escape_latex, typeset
from airtoll.report.number_columns import for_programs
from airtoll.report.paper_tables import label_of
from airtoll.report.readings import readings
from airtoll.report.summary import RunSummary, summarise
from airtoll.report.view_tables import ViewTables
from airtoll.report.views import VIEWS, View, answers
from airtoll.report.where import Where
from airtoll.run.outcome import refuse_no_result

_ANSWERS = "answers"


@frozen(kw_only=True)
class ShowOptions:
    """Options of ``airtoll show``."""

    run: Annotated[Path, typer.Argument(help="Run folder.")]
    view: Annotated[
        str | None,
        typer.Argument(
            help=f"One of {', '.join(VIEWS)}; of imported readings: {TABLE}. Default: the "
            "answer in twelve lines."
        ),
    ] = None
    where: WhereOption = None
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            help="With answers: this metric alone; repeat. Default: all that were measured.",
        ),
    ] = None
    form: FormOptions


@command
def show(options: ShowOptions) -> None:
    """Show the answer of a run again, or one of its tables."""
    run, view, form = options.run, options.view, options.form
    if is_imported(run):
        _show_imported(options)
        return
    summary = summarise(run)
    left = summary.unfinished
    if left and (view or form.json or not left.was_stopped):
        # Of a run that was stopped the answer itself says so.
        note_unfinished(run)
    if view is None:
        if options.where or form.columns or form.csv_ or form.latex or options.metric:
            raise UsageError(
                "name a table for --where, --metric, --columns, --csv and --latex: "
                f"{', '.join(VIEWS)}"
            )
        print_closing(summary, json=form.json)
        refuse_no_result(run, summary.trials)
        return
    if view not in VIEWS:
        raise UsageError(f"{view}: no such table; choose from {', '.join(VIEWS)}")
    if options.metric and view != _ANSWERS:
        raise UsageError(f"--metric goes with {_ANSWERS}; {view} has every metric of its kind")
    wanted = Where.of(options.where or ())
    if view == _ANSWERS and not (form.csv_ or form.latex or form.json or form.columns):
        _print_answers(summary, options.metric or (), wanted)
        refuse_no_result(run, summary.trials)
        return
    whole = answers(summary, options.metric or ()) if view == _ANSWERS else VIEWS[view](summary)
    found = whole.where(wanted)
    if form.wanted is not None:
        found = found.only(form.wanted)
    if not found.rows:
        raise UsageError(f"{run}: the run has nothing to show as {view}")
    if form.latex:
        tables = ViewTables(summary, view, whole, wanted, form.wanted, form.paper)
        print_latex(tables.typeset(), form)
    else:
        _print(found, form)
    refuse_no_result(run, summary.trials)


def _show_imported(options: ShowOptions) -> None:
    """Imported readings: the answer, or the table of the readings."""
    run, view, form = options.run, options.view, options.form
    imported = read_imported(run)
    if view is None:
        if options.where or form.columns or form.csv_ or form.latex or form.json or options.metric:
            raise UsageError(
                f"name the table for --where, --columns, --csv, --latex and --json: {TABLE}"
            )
        print_imported(run, imported)
        return
    if view != TABLE:
        raise UsageError(
            f"{view}: no such table of imported readings; there is {TABLE}, and `airtoll report "
            f"{run} --format csv|json|latex|markdown` has the estimates"
        )
    if options.metric:
        raise UsageError(f"--metric goes with {_ANSWERS} of a run")
    found = readings(imported).where(Where.of(options.where or ()))
    if form.wanted is not None:
        found = found.only(form.wanted)
    if form.latex:
        title = form.caption or f"Readings of {run.name}: throughput of each trial."
        label = form.label or label_of(run.name, TABLE)
        grid = Grid(found.columns, frozenset(found.numbers), (Group("", found.rows),))
        layout = form.paper.layout
        print_latex([typeset(grid, layout, caption=escape_latex(title), label=label)], form)
        return
    _print(found, form)


def _print(found: View, form: FormOptions) -> None:
    """A table as JSON, CSV or for a terminal."""
    if form.json:
        emit_json([dict(zip(found.columns, row, strict=True)) for row in found.rows])
        return
    if form.csv_:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        heads, rows = for_programs(found)
        writer.writerow(heads)
        writer.writerows([cell(value) for value in row] for row in rows)
        return
    sheet = table(None, found.columns, right=found.numbers)
    for row in found.rows:
        sheet.add_row(*row)
    out().print(sheet)
    if found.note and (form.columns is None or "verdict" in found.columns):
        # As wide as the table above it, in a pipe, too.
        width = out().width if sys.stdout.isatty() else piped_width()
        out().print(textwrap.fill(found.note, width))


def _print_answers(summary: RunSummary, metrics: Sequence[str], where: Where) -> None:
    """The sentences about each metric below its name, then what cannot be had."""
    found = every_metric(summary, metrics, where)
    if not found:
        raise UsageError(f"{summary.path}: the run has nothing to show as {_ANSWERS}")
    console = out()
    reasons: dict[str, None] = {}
    for one in found:
        console.print(f"{one.name} ({one.metric})", style="bold", soft_wrap=True)
        for line in one.sentences(summary.names):
            console.print(f"  {line}", soft_wrap=True)
        reasons |= dict.fromkeys(one.reasons(summary.names))
    for line in reasons:
        console.print(line, soft_wrap=True)
