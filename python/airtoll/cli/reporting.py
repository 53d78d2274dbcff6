"""``airtoll report|compare``: the results of a run, and their comparison with printed figures.

Takes run folders; gives tables, JSON and files. Never measures.
"""

from __future__ import annotations

import json as jsonlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from attrs import evolve

from airtoll.analyse.published import Comparison
from airtoll.analyse.quantities import show_estimate, show_overhead
from airtoll.answer import printed
from airtoll.cli.output import JsonOption, emit_json, err, out, table
from airtoll.cli.places import STANDARD_OUTPUT, named
from airtoll.cli.what_if import WhatIfOption, panel_of
from airtoll.errors import DatasetError, UsageError
from airtoll.observe.datasets import load_dataset
from airtoll.observe.tables import read_trials
from airtoll.present.names import policy_name
from airtoll.present.words import reproduced
from airtoll.report import FORMATS, report_text, write_report
from airtoll.report.closing import closing
from airtoll.report.printed_overheads import PrintedCombined, printed_combined
from airtoll.report.summary import RunSummary, summarise
from airtoll.report.text import as_json, published_row
from airtoll.report.views import VIEWS
from airtoll.run import Run, open_run
from airtoll.run.outcome import refuse_no_result

#: testbed -> origin of its values
_KINDS = {"simulator": "simulated", "analytic": "closed forms", "linux": "measured on Linux"}

RunArgument = Annotated[list[Path], typer.Argument(parser=named("RUNS"), help="Run folders.")]


def report(
    runs: RunArgument,
    format_: Annotated[
        str, typer.Option("--format", help=f"One of {', '.join(FORMATS)}.")
    ] = "html",
    out_: Annotated[
        Path | None,
        typer.Option(
            "--out",
            parser=named("--out", standard_output=True),
            help="File to write, - for standard output; default in the first run folder.",
        ),
    ] = None,
    what_if: WhatIfOption = True,
    print_: Annotated[
        bool, typer.Option("--print", help="Figures also as PNG and PDF (airtoll[print]).")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a file of --out that airtoll did not write.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Write the report of a run, or one report that compares several runs."""
    panel = panel_of(runs, wanted=what_if and format_ == "html")
    if print_ and format_ != "html":
        raise UsageError(f"--print goes with --format html, not with --format {format_}")
    if out_ == STANDARD_OUTPUT:
        if json or print_:
            raise UsageError("--out -: --json and --print go with a file; leave them out")
        sys.stdout.write(report_text(runs, form=format_, panel=panel))
    else:
        page = write_report(
            runs, form=format_, out=out_, panel=panel, for_print=print_, force=force
        )
        err().print(f"report: {page}", markup=False, soft_wrap=True)
    if json:
        print_run(open_run(runs[0]), json=True)
    for run in runs:
        # The page names every reason; the exit code says that there is no result in it.
        refuse_no_result(run, read_trials(run))


def compare(
    run: Annotated[Path, typer.Argument(parser=named("RUN"), help="Run folder.")],
    dataset: Annotated[str, typer.Argument(help="Data set, see `airtoll datasets list`.")],
    only: Annotated[
        list[str] | None,
        typer.Option("--table", help="Only readings of this table of the paper; may be repeated."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Compare a run with printed figures, cell by cell: every row, or those of some tables."""
    summary = summarise(run, dataset=dataset)
    refuse_no_result(run, summary.trials)
    combined = printed_combined(summary.combined, load_dataset(dataset))
    if not summary.comparisons and not combined:
        study = summary.study.study
        tables = ", ".join(sorted({c.dataset for c in summary.study.compare})) or "none"
        raise DatasetError(
            f"{run}: no reading of {dataset} corresponds to a cell of {study.name}; "
            f"data sets of its [[compare]] tables: {tables}"
        )
    known = sorted({c.table for c in summary.comparisons} | {row.table for row in combined})
    for name in only or ():
        if name not in known:
            raise UsageError(
                f"--table {name}: {run} corresponds to no reading of that table; "
                f"tables with readings: {', '.join(known)}"
            )
    wanted = set(only or known)
    compared = [c for c in summary.comparisons if c.table in wanted]
    combined = [row for row in combined if row.table in wanted]
    if json:
        emit_json(
            [published_row(summary, c) for c in compared]
            + [_combined_row(dataset, row) for row in combined]
        )
        return
    for line in _in_short(summary, dataset, compared, every=wanted == set(known)):
        out().print(line, markup=False, highlight=False, soft_wrap=True)
    if compared:
        _print_comparisons(summary, compared, table_column=len(known) > 1)
    if combined:
        _print_combined(summary, combined, _against(summary))


def _in_short(
    summary: RunSummary, dataset: str, compared: list[Comparison], *, every: bool
) -> Sequence[str]:
    """How many of the printed values that are shown are met, in sentences."""
    claims = (
        [one for one in summary.reproduced if one.dataset == dataset]
        if every
        else printed(evolve(summary.measured, comparisons=tuple(compared)), summary)
    )
    told = reproduced(claims, summary.names)
    return (*told.leads, *told.extras)


def print_run(run: Run, *, json: bool, summary: RunSummary | None = None) -> None:
    """Print the results of a run: question, answer, and the comparison with printed figures.

    ``summary``: the run, if it has been read already.
    """
    summary = summary or summarise(run.path)
    if json:
        emit_json(jsonlib.loads(as_json(summary)))
        return
    print_closing(summary, json=False)


def print_closing(summary: RunSummary, *, json: bool) -> None:
    """The answer of a run in twelve lines, or all of it as JSON."""
    if json:
        emit_json(jsonlib.loads(as_json(summary)))
        return
    console = out()
    width = console.width if console.is_terminal else None
    first, *rest = closing(summary, width, after=2)
    console.print(first, style="bold", soft_wrap=True)
    for line in rest:
        console.print(line, soft_wrap=True)
    views = "|".join(VIEWS)
    console.print(f"Tables: airtoll show {summary.path} [{views}]", soft_wrap=True)


def _against(summary: RunSummary) -> str:
    """The heading of printed figures and a testbed's values."""
    testbed = summary.manifest["testbed"]
    return f"published against {_KINDS.get(testbed, testbed)}"


def _print_comparisons(
    summary: RunSummary, rows: Sequence[Comparison], *, table_column: bool = False
) -> None:
    """Rows of the comparison, on request with the paper's table of each."""
    console = out()
    columns = ["cell", "quantity", "published", "airtoll", "error", "note"]
    view = table(_against(summary), ["table"] * table_column + columns, right=columns[2:5])
    for c in rows:
        note = summary.note(c)
        error = (
            f"{100 * c.absolute_error:+.1f} points"
            if c.quantity == "overhead"
            else f"{100 * c.relative_error:+.1f} %"
        )
        show = show_overhead if c.quantity == "overhead" else show_estimate
        client = f" {c.client}" if c.client else ""
        view.add_row(
            *[c.table] * table_column,
            summary.names.cell(c.cell) + client,
            c.quantity.removesuffix("_bps"),
            show(c.published),
            show(c.ours),
            error,
            note,
        )
    console.print(view)


def _combined_row(dataset: str, row: PrintedCombined) -> dict[str, Any]:
    return {
        "dataset": dataset,
        "table": row.table,
        "scenario": row.scenario,
        "policy": row.policy,
        "factors": jsonlib.loads(row.factors),
        "quantity": "combined_overhead",
        "group": row.group,
        "published": row.published,
        "ours": row.ours.to_json(),
        "absolute_error": row.absolute_error,
    }


def _print_combined(summary: RunSummary, rows: Sequence[PrintedCombined], against: str) -> None:
    columns = ["table", "scenario", "policy", "over", "published", "airtoll", "error"]
    view = table(f"combined overheads, {against}", columns, right=columns[4:])
    for row in rows:
        place = summary.names.place(row.scenario, "", row.factors, ("traffic",)) or row.scenario
        view.add_row(
            row.table,
            place,
            policy_name(row.policy),
            row.group,
            f"{row.printed} %",
            show_overhead(row.ours),
            f"{100 * row.absolute_error:+.1f} points",
        )
    out().print(view)
