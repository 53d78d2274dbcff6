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

from airtoll.analyse.quantities import show_estimate, show_overhead
from airtoll.cli.answers import fitted
from airtoll.cli.output import JsonOption, emit_json, err, out, say_rest, shown_rows, table
from airtoll.cli.places import STANDARD_OUTPUT, named
from airtoll.cli.what_if import WhatIfOption, panel_of
from airtoll.errors import DatasetError, UsageError
from airtoll.observe.datasets import load_dataset
from airtoll.observe.tables import read_trials
from airtoll.report import FORMATS, report_text, write_report
from airtoll.report.answer import headline, not_covered, titles
from airtoll.report.answer import table as answer_table
from airtoll.report.combined import PrintedCombined, printed_combined
from airtoll.report.names import policy_name
from airtoll.report.summary import RunSummary, summarise
from airtoll.report.text import as_json, published_row
from airtoll.report.times import time_rows
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
    json: JsonOption = False,
) -> None:
    """Compare a run with printed figures, cell by cell."""
    summary = summarise(run, dataset=dataset)
    refuse_no_result(run, summary.trials)
    combined = printed_combined(summary, load_dataset(dataset))
    if not summary.comparisons and not combined:
        study = summary.study.study
        tables = ", ".join(sorted({c.dataset for c in summary.study.compare})) or "none"
        raise DatasetError(
            f"{run}: no reading of {dataset} corresponds to a cell of {study.name}; "
            f"data sets of its [[compare]] tables: {tables}"
        )
    if json:
        emit_json(
            [published_row(summary, c) for c in summary.comparisons]
            + [_combined_row(dataset, row) for row in combined]
        )
        return
    _print_comparisons(summary)
    if combined:
        _print_combined(summary, combined, _against(summary))


def print_run(run: Run, *, json: bool, summary: RunSummary | None = None) -> None:
    """Print the results of a run: question, answer, and the comparison with printed figures.

    ``summary``: the run, if it has been read already.
    """
    summary = summary or summarise(run.path)
    if json:
        emit_json(jsonlib.loads(as_json(summary)))
        return
    console = out()
    question = summary.study.study.question
    if question:
        console.print(question, style="bold")
    for sentence in headline(summary):
        console.print(sentence)
    console.print()
    _print_answers(summary)
    if summary.comparisons:
        _print_comparisons(summary)
    _print_times(summary)
    for line in not_covered(summary):
        console.print(f"Not covered: {line}")


def _against(summary: RunSummary) -> str:
    """The heading of printed figures and a testbed's values."""
    testbed = summary.manifest["testbed"]
    return f"published against {_KINDS.get(testbed, testbed)}"


def _print_comparisons(summary: RunSummary) -> None:
    console = out()
    columns = ["cell", "quantity", "published", "airtoll", "error", "note"]
    view = table(_against(summary), columns, right=columns[2:5])
    for c in summary.comparisons[: shown_rows(len(summary.comparisons))]:
        note = summary.note(c)
        error = (
            f"{100 * c.absolute_error:+.1f} points"
            if c.quantity == "overhead"
            else f"{100 * c.relative_error:+.1f} %"
        )
        show = show_overhead if c.quantity == "overhead" else show_estimate
        client = f" {c.client}" if c.client else ""
        view.add_row(
            summary.names.cell(c.cell) + client,
            c.quantity.removesuffix("_bps"),
            show(c.published),
            show(c.ours),
            error,
            note,
        )
    console.print(view)
    say_rest(
        len(summary.comparisons),
        f"all of them: `airtoll report {summary.path}` (page), the same with --json.",
    )


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


def _print_times(summary: RunSummary) -> None:
    """Medians, retries and means of join and hand-over times."""
    rows = time_rows(summary, answers_only=True)
    if not rows:
        return
    columns = ["time", "cell", "median [exact] (coverage)", "retried [Wilson]", "mean [BCa]"]
    view = table("times of joins and hand-overs", [*columns, "mind"], right=columns[2:])
    for row in rows[: shown_rows(len(rows))]:
        cell = summary.names.cell(row["cell"])
        names = ("median", "retried", "mean", "warning")
        view.add_row(row["metric"], cell, *(row[name] for name in names))
    out().print(view)
    say_rest(len(rows), f"the rest: `airtoll report {summary.path}` (page), the same with --json.")


def _print_answers(summary: RunSummary) -> None:
    """The table of answers, as narrow as the terminal."""
    rows = answer_table(summary)
    if not rows:
        return
    analysis = summary.analysis
    console = out()
    head = f"verdicts against {summary.reference}" + (
        f"; rule {analysis.selection}, intervals from all trials" if analysis.by_rule else ""
    )
    view, left_out = fitted(head, rows, titles(summary), console.width)
    console.print(view)
    if left_out:
        names = ", ".join(left_out)
        console.print(f"Left out at this width: {names}. A pipe, the page and --json have all.")
    say_rest(
        len(rows),
        f"the rest: `airtoll report {summary.path}` (page), with --format csv (every estimate) or "
        "--json.",
    )
