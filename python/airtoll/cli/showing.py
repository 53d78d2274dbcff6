"""``airtoll show``: the answer of a run again, or one of its tables."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Annotated

import typer

from airtoll.cli.importing import print_imported
from airtoll.cli.output import JsonOption, emit_json, out, table
from airtoll.cli.reporting import print_closing
from airtoll.errors import UsageError
from airtoll.observe.spreadsheet import cell
from airtoll.report.imported import is_imported, read_imported
from airtoll.report.setting import setting
from airtoll.report.summary import RunSummary, summarise
from airtoll.report.text import tabular
from airtoll.report.views import VIEWS
from airtoll.run.outcome import refuse_no_result


def show(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    view: Annotated[
        str | None,
        typer.Argument(help=f"One of {', '.join(VIEWS)}; default: the answer in twelve lines."),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", help="KEY=VALUE: rows of this level, e.g. policy=open; repeat."),
    ] = None,
    columns: Annotated[
        str | None, typer.Option("--columns", help="Columns, comma between; default: all.")
    ] = None,
    csv_: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    latex: Annotated[
        bool, typer.Option("--latex", help="Print a LaTeX table (booktabs) with caption and label.")
    ] = False,
    caption: Annotated[
        str | None,
        typer.Option("--caption", help="With --latex: default: the study's title and setting."),
    ] = None,
    label: Annotated[
        str | None, typer.Option("--label", help="With --latex: default: tab:STUDY-VIEW.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show the answer of a run again, or one of its tables."""
    if csv_ + latex + json > 1:
        raise UsageError("--csv, --latex and --json exclude one another: choose one")
    if not latex and (caption is not None or label is not None):
        raise UsageError("--caption and --label go with --latex")
    if is_imported(run):
        if view is not None or json or csv_ or latex or where or columns:
            raise UsageError(
                f"{run}: holds imported readings, which have no tables by name; "
                f"`airtoll report {run} --format csv|json|latex|markdown` has their values"
            )
        print_imported(run, read_imported(run))
        return
    summary = summarise(run)
    if view is None:
        if where or columns or csv_ or latex:
            raise UsageError(
                f"name a table for --where, --columns, --csv and --latex: {', '.join(VIEWS)}"
            )
        print_closing(summary, json=json)
        refuse_no_result(run, summary.trials)
        return
    if view not in VIEWS:
        raise UsageError(f"{view}: no such table; choose from {', '.join(VIEWS)}")
    wanted = {}
    for text in where or []:
        key, sign, value = text.partition("=")
        if not sign or not key:
            raise UsageError(f"--where {text}: write KEY=VALUE, e.g. policy=open")
        wanted[key] = value
    found = VIEWS[view](summary).where(wanted)
    if columns is not None:
        found = found.only([name.strip() for name in columns.split(",")])
    if not found.rows:
        raise UsageError(f"{run}: the run has nothing to show as {view}")
    if json:
        emit_json([dict(zip(found.columns, row, strict=True)) for row in found.rows])
    elif csv_:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(found.columns)
        writer.writerows([cell(value) for value in row] for row in found.rows)
    elif latex:
        name = summary.study.study.name
        sys.stdout.write(
            tabular(
                found.columns,
                found.rows,
                numbers=found.numbers,
                caption=caption or _caption(summary),
                label=label or f"tab:{name}-{view}",
            )
        )
    else:
        sheet = table(None, found.columns, right=found.numbers)
        for row in found.rows:
            sheet.add_row(*row)
        out().print(sheet)
    refuse_no_result(run, summary.trials)


def _caption(summary: RunSummary) -> str:
    """The study's title, and PHY, width, rate, clients and length of a trial."""
    return f"{summary.study.study.title.rstrip('.')}. {setting(summary.plan.cells)}"
