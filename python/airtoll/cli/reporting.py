"""``airtoll report|compare``: the results of a run, and their comparison with printed figures.

Takes run folders; gives tables, JSON and files. Never measures.
"""

from __future__ import annotations

import json as jsonlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer
from attrs import evolve

from airtoll.analyse.analysis import Analysis, estimate_of_row
from airtoll.analyse.estimate import without_interval
from airtoll.analyse.quantities import show_estimate, show_overhead, show_value
from airtoll.cli.output import JsonOption, emit_json, err, out, say_rest, shown_rows, table
from airtoll.errors import DatasetError
from airtoll.observe.datasets import load_dataset
from airtoll.report import FORMATS, write_report
from airtoll.report.combined import PrintedCombined, printed_combined
from airtoll.report.costs import cost_table, without_repeated_parts
from airtoll.report.summary import RunSummary, factors_text, headline, summarise
from airtoll.report.text import as_json, published_row
from airtoll.report.times import time_rows
from airtoll.run import Run, open_run

#: testbed -> origin of its values
_KINDS = {"simulator": "simulated", "analytic": "closed forms", "linux": "measured on Linux"}

RunArgument = Annotated[list[Path], typer.Argument(help="Run folders.")]


def report(
    runs: RunArgument,
    format_: Annotated[
        str, typer.Option("--format", help=f"One of {', '.join(FORMATS)}.")
    ] = "html",
    out_: Annotated[
        Path | None, typer.Option("--out", help="File to write; default in the first run folder.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Write the report of a run, or one report that compares several runs."""
    page = write_report(runs, form=format_, out=out_)
    err().print(f"report: {page}", markup=False, soft_wrap=True)
    if json:
        print_run(open_run(runs[0]), json=True)


def compare(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    dataset: Annotated[str, typer.Argument(help="Data set, see `airtoll datasets list`.")],
    json: JsonOption = False,
) -> None:
    """Compare a run with printed figures, cell by cell."""
    summary = summarise(run, dataset=dataset)
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
        _print_combined(combined, _against(summary))


def print_run(run: Run, *, json: bool) -> None:
    """Print the results of a run: headline, costs, and the comparison with printed figures."""
    summary = summarise(run.path)
    if json:
        emit_json(jsonlib.loads(as_json(summary)))
        return
    console = out()
    for sentence in headline(summary):
        console.print(sentence, markup=False, soft_wrap=True)
    console.print()
    if summary.comparisons:
        _print_comparisons(summary)
    else:
        # In the page's order: compared policies are adjacent, the baseline first.
        cells = dict.fromkeys(cost_table(summary)["cell"])
        _print_costs(summary.analysis, list(cells), summary.path, summary.verdict)
    _print_times(summary)


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
            c.cell + client,
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


def _print_combined(rows: Sequence[PrintedCombined], against: str) -> None:
    columns = ["table", "scenario", "policy", "over", "published", "airtoll", "error"]
    view = table(f"combined overheads, {against}", columns, right=columns[4:])
    for row in rows:
        place = ", ".join(filter(None, (row.scenario, factors_text(row.factors))))
        view.add_row(
            row.table,
            place,
            row.policy,
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
        names = ("metric", "cell", "median", "retried", "mean", "warning")
        view.add_row(*(row[name] for name in names))
    out().print(view)
    say_rest(len(rows), f"the rest: `airtoll report {summary.path}` (page), the same with --json.")


def _print_costs(
    analysis: Analysis, cells: Sequence[str], path: Path, judged: Callable[[str, str], str]
) -> None:
    columns = ["cell", "throughput", "overhead", "verdict"]
    if analysis.by_rule:
        columns[1:3] = ["throughput by rule", "all trials", "overhead by rule", "all trials "]
    view = table(
        "cost against "
        + analysis.baseline
        + (f"; rule {analysis.selection}, intervals from all trials" if analysis.by_rule else ""),
        columns,
        right=columns[1:-1],
    )
    rows = without_repeated_parts(analysis.estimates.filter(metric="throughput_bps"))
    rows = rows.sort(pl.col("cell").cast(pl.Enum(cells)), maintain_order=True)
    keys = ("cell", "flow", "station")
    verdicts = {
        tuple(row[key] for key in keys): row["verdict"]
        for row in analysis.comparisons.filter(metric="throughput_bps").iter_rows(named=True)
    }
    for row in rows.head(shown_rows(rows.height)).iter_rows(named=True):
        overhead = analysis.overhead(row["cell"], row["flow"], row["station"])
        part = row["flow"] or row["station"]
        cost = show_overhead(overhead) if overhead else ""
        figures = [show_value(row["value"], "bit/s"), cost]
        if analysis.by_rule:
            whole = evolve(
                estimate_of_row(row, analysis.level), value=row["value_all"], n=row["n_all"]
            )
            all_trials = analysis.overhead_of_all(row["cell"], row["flow"], row["station"])
            figures = [
                show_value(row["value"], "bit/s"),
                show_estimate(whole),
                show_overhead(overhead and without_interval(overhead)),
                show_overhead(all_trials),
            ]
        view.add_row(
            f"{row['cell']} {part}" if part else row["cell"],
            *figures,
            judged(
                row["cell"],
                verdicts.get(tuple(row[key] for key in keys)) or "" if overhead else "",
            ),
        )
    out().print(view)
    say_rest(
        rows.height,
        f"the rest: `airtoll report {path}` (page), with --format csv (every estimate) or --json.",
    )
