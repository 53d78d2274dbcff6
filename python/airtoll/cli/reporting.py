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
from attrs import evolve, frozen

from airtoll.answer import printed
from airtoll.cli.options import command
from airtoll.cli.output import JsonOption, emit_json, err, out, table
from airtoll.cli.places import STANDARD_OUTPUT, named
from airtoll.cli.what_if import WhatIfOption, panel_of
from airtoll.errors import DatasetError, UsageError
from airtoll.observe.folder import RunFolder
from airtoll.observe.tables import read_trials
from airtoll.observe.unfinished import unfinished
from airtoll.present.names import policy_name
from airtoll.present.words import reproduced
from airtoll.report import FORMATS, report_text, write_report
from airtoll.report.closing import closing
from airtoll.report.imported import is_imported
from airtoll.report.latex import LAYOUTS, Typeset
from airtoll.report.paper_tables import PaperForm, PaperTable, as_csv, as_latex, paper_tables
from airtoll.report.printed_rows import (
    COLUMNS,
    ERROR,
    OURS,
    POLICY,
    PRINTED,
    PrintedRow,
    printed_rows,
)
from airtoll.report.summary import RunSummary, summarise
from airtoll.report.text import as_json, published_row
from airtoll.report.views import VIEWS
from airtoll.report.where import Where
from airtoll.run import Run, open_run
from airtoll.run.outcome import refuse_no_result

#: testbed -> origin of its values
_KINDS = {"simulator": "simulated", "analytic": "closed forms", "linux": "measured on Linux"}

#: LaTeX holds few tables back until there is a page for them.
_MANY_TABLES = 12

#: Options of the commands that print a table of a run.
WhereOption = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        help="KEY=VALUE[,VALUE...]: rows of these levels, e.g. policy=open,wpa2-psk-ccmp; repeat.",
    ),
]


@frozen(kw_only=True)
class FormOptions:
    """The form of the tables of ``show`` and ``compare``: two forms at a time are refused."""

    columns: Annotated[
        str | None, typer.Option("--columns", help="Columns, comma between; default: all.")
    ] = None
    csv_: Annotated[
        bool,
        typer.Option(
            "--csv",
            help="Print CSV for programs: of each number the columns _value, _low, _high and "
            "_unit, in SI units.",
        ),
    ] = False
    latex: Annotated[
        bool, typer.Option("--latex", help="Print LaTeX tables (booktabs) with caption and label.")
    ] = False
    caption: Annotated[
        str | None,
        typer.Option(
            "--caption", help="With --latex: default: setting, trials, intervals and formula."
        ),
    ] = None
    label: Annotated[
        str | None, typer.Option("--label", help="With --latex: default: by study and table.")
    ] = None
    layout: Annotated[
        str | None,
        typer.Option(
            "--layout",
            help="With --latex: table (345 pt, an article), column (252 pt of IEEEtran), wide "
            "(table*), landscape (a turned page) or long (longtable); default: table.",
        ),
    ] = None
    text_width: Annotated[
        float | None,
        typer.Option(
            "--text-width", min=100, help="With --latex: width to fit, pt; default: by --layout."
        ),
    ] = None
    json: JsonOption = False

    def __attrs_post_init__(self) -> None:
        if self.csv_ + self.latex + self.json > 1:
            raise UsageError("--csv, --latex and --json exclude one another: choose one")
        if not self.latex and (self.caption is not None or self.label is not None):
            raise UsageError("--caption and --label go with --latex")
        if not self.latex and (self.layout is not None or self.text_width is not None):
            raise UsageError("--layout and --text-width go with --latex")
        if self.layout not in (None, *LAYOUTS):
            raise UsageError(f"--layout {self.layout}: choose from {', '.join(LAYOUTS)}")

    @property
    def wanted(self) -> list[str] | None:
        """The columns by name, or ``None`` for all."""
        return None if self.columns is None else [one.strip() for one in self.columns.split(",")]

    @property
    def paper(self) -> PaperForm:
        """The place of LaTeX tables, their caption and label."""
        layout = LAYOUTS[self.layout or "table"]
        if self.text_width is not None:
            layout = evolve(layout, width_pt=self.text_width)
        return PaperForm(layout, self.caption, self.label)


def print_latex(tables: Sequence[Typeset], form: FormOptions) -> None:
    """Print LaTeX tables; say which columns the width leaves out, and which tables are wider."""
    sys.stdout.write("\n".join(one.text for one in tables))
    available = form.paper.layout.width_pt
    out_of = list(dict.fromkeys(name for one in tables for name in one.left_out))
    if out_of:
        err().print(
            f"note: {available:g} pt have no room for {', '.join(out_of)}; --columns names the "
            "columns, --layout wide, landscape or long another place",
            soft_wrap=True,
        )
    widest = max((one.width_pt for one in tables if not one.fits), default=None)
    if widest is not None:
        err().print(
            f"note: about {widest:.0f} pt wide in letters of 8 pt, and {available:g} pt are there; "
            "fewer --columns, or --layout wide or landscape",
            soft_wrap=True,
        )
    if len(tables) > _MANY_TABLES:
        err().print(
            f"note: {len(tables)} tables; choose rows with --where, or --layout long",
            soft_wrap=True,
        )
    if any(one.is_long for one in tables):
        err().print(
            "note: longer than a page; choose rows with --where, or --layout long", soft_wrap=True
        )


def note_unfinished(run: Path) -> None:
    """That a run has not come to its end, on stderr: tables and pages go elsewhere."""
    left = None if is_imported(run) else unfinished(RunFolder(run), read_trials(run))
    if left is not None:
        err().print(f"note: {run}: {left.words}", markup=False, highlight=False, soft_wrap=True)


RunArgument = Annotated[list[Path], typer.Argument(parser=named("RUNS"), help="Run folders.")]


@frozen(kw_only=True)
class ReportOptions:
    """Options of ``airtoll report``."""

    runs: RunArgument
    format_: Annotated[str, typer.Option("--format", help=f"One of {', '.join(FORMATS)}.")] = "html"
    out_: Annotated[
        Path | None,
        typer.Option(
            "--out",
            parser=named("--out", standard_output=True),
            help="File to write, - for standard output; default in the first run folder.",
        ),
    ] = None
    where: WhereOption = None
    what_if: WhatIfOption = True
    print_: Annotated[
        bool, typer.Option("--print", help="Figures also as PNG and PDF (airtoll[print]).")
    ] = False
    force: Annotated[
        bool, typer.Option("--force", help="Replace a file of --out that airtoll did not write.")
    ] = False
    json: JsonOption = False


@command
def report(options: ReportOptions) -> None:
    """Write the report of a run, or one report that compares several runs."""
    panel = panel_of(options.runs, wanted=options.what_if and options.format_ == "html")
    if options.print_ and options.format_ != "html":
        raise UsageError(f"--print goes with --format html, not with --format {options.format_}")
    where = _where_of_report(options)
    if options.out_ == STANDARD_OUTPUT:
        if options.json or options.print_:
            raise UsageError("--out -: --json and --print go with a file; leave them out")
        text = report_text(options.runs, form=options.format_, panel=panel, where=where)
        sys.stdout.write(text)
    else:
        page = write_report(
            options.runs,
            form=options.format_,
            out=options.out_,
            panel=panel,
            for_print=options.print_,
            force=options.force,
            where=where,
        )
        err().print(f"report: {page}", markup=False, soft_wrap=True)
    for run in options.runs:
        note_unfinished(run)
    if options.json:
        print_run(open_run(options.runs[0]), json=True)
    for run in options.runs:
        # The page names every reason; the exit code says that there is no result in it.
        refuse_no_result(run, read_trials(run))


def _where_of_report(options: ReportOptions) -> Where:
    """The levels of the rows. Raises ``UsageError`` where the report would not follow them."""
    where = Where.of(options.where or ())
    if not where:
        return where
    if options.format_ not in ("csv", "markdown", "latex"):
        raise UsageError(
            f"--where goes with --format csv, latex or markdown; {options.format_} is about the "
            "whole run, and `airtoll show RUN costs|answers --where ...` has chosen rows"
        )
    if len(options.runs) > 1 or is_imported(options.runs[0]):
        raise UsageError("--where goes with one run that airtoll measured")
    return where


@frozen(kw_only=True)
class CompareOptions:
    """Options of ``airtoll compare``."""

    run: Annotated[Path, typer.Argument(parser=named("RUN"), help="Run folder.")]
    dataset: Annotated[str, typer.Argument(help="Data set, see `airtoll datasets list`.")]
    only: Annotated[
        list[str] | None,
        typer.Option("--table", help="Only readings of this table of the paper; may be repeated."),
    ] = None
    where: WhereOption = None
    form: FormOptions


@command
def compare(options: CompareOptions) -> None:
    """Compare a run with printed figures, cell by cell: every row, or those of some tables.

    With --latex and --csv one row per policy. Columns of --latex: policy, printed, ours, error and
    n (trials). Where a study has variants of devices, each has a column, and there is no error.
    """
    form = options.form
    if form.columns is not None and not form.latex:
        raise UsageError(
            f"--columns chooses columns of --latex ({', '.join(COLUMNS)}): add --latex; or leave "
            "--columns out: the printed table, --csv and --json have every column"
        )
    summary = summarise(options.run, dataset=options.dataset)
    note_unfinished(options.run)
    refuse_no_result(options.run, summary.trials)
    rows = printed_rows(summary, options.dataset)
    if not rows:
        study = summary.study.study
        tables = ", ".join(sorted({c.dataset for c in summary.study.compare})) or "none"
        raise DatasetError(
            f"{options.run}: no reading of {options.dataset} corresponds to a cell of "
            f"{study.name}; data sets of its [[compare]] tables: {tables}"
        )
    known = sorted({row.table for row in rows})
    for name in options.only or ():
        if name not in known:
            raise UsageError(
                f"--table {name}: {options.run} corresponds to no reading of that table; "
                f"tables with readings: {', '.join(known)}"
            )
    of_tables = [row for row in rows if row.table in (options.only or known)]
    wanted = Where.of(options.where or ())
    levels = [row.levels for row in of_tables]
    shown = [of_tables[at] for at in wanted.rows(levels)]
    if form.json:
        emit_json([_json_row(summary, row) for row in shown])
    elif form.csv_:
        sys.stdout.write(as_csv(paper_tables(shown)))
    elif form.latex:
        chosen = wanted.chosen(levels)
        found = as_latex(summary, paper_tables(shown), chosen, form.paper, form.wanted)
        print_latex(found, form)
    else:
        _print_rows(summary, options.dataset, shown, every=len(shown) == len(rows))


def _print_rows(
    summary: RunSummary, dataset: str, rows: Sequence[PrintedRow], *, every: bool
) -> None:
    """How many printed values are met, and a line for each."""
    compared = [row for row in rows if row.comparison is not None]
    for line in _in_short(summary, dataset, compared, every=every):
        out().print(line, markup=False, highlight=False, soft_wrap=True)
    for paper in paper_tables(compared):
        _print_paper_table(paper, _against(summary))
    combined = [row for row in rows if row.comparison is None]
    if combined:
        _print_combined(combined, _against(summary))


def _in_short(
    summary: RunSummary, dataset: str, rows: Sequence[PrintedRow], *, every: bool
) -> Sequence[str]:
    """How many of the printed values that are shown are met, in sentences."""
    comparisons = tuple(row.comparison for row in rows if row.comparison is not None)
    claims = (
        [one for one in summary.reproduced if one.dataset == dataset]
        if every
        else printed(evolve(summary.measured, comparisons=comparisons), summary)
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
    return f"printed against {_KINDS.get(testbed, testbed)}"


def _print_paper_table(paper: PaperTable, against: str) -> None:
    """A table of the paper with ours beside it, and its notes by letters."""
    notes = paper.notes(paper.columns)
    ours = [name for name in paper.columns if name != POLICY]
    groups = zip(paper.texts(), paper.marks(notes), strict=True)
    for (title, rows), marks in groups:
        place = f" ({title or paper.place})" if title or paper.place else ""
        head = f"table {paper.table}, {paper.quantity}{place}: {against}"
        view = table(head, list(paper.columns), right=ours)
        for row, letters in zip(rows, marks, strict=True):
            marked = [f" ({one})" if one else "" for one in letters]
            ends = dict(enumerate(marked, 2))
            view.add_row(*(text + ends.get(at, "") for at, text in enumerate(row)))
        out().print(view)
    for note, letter in notes.items():
        out().print(f"({letter}) {note}", markup=False, highlight=False, soft_wrap=True)


def _json_row(summary: RunSummary, row: PrintedRow) -> dict[str, Any]:
    if row.comparison is not None:
        return published_row(summary, row.comparison)
    cell = row.cells[0]
    return {
        "dataset": row.dataset,
        "table": row.table,
        "scenario": cell.scenario,
        "policy": row.policy,
        "factors": dict(cell.factors),
        "quantity": "combined_overhead",
        "group": row.group,
        "published": row.published.value,
        "ours": row.ours.to_json(),
        "absolute_error": row.ours.value - row.published.value,
    }


def _print_combined(rows: Sequence[PrintedRow], against: str) -> None:
    columns = ["table", "scenario", POLICY, PRINTED, OURS, ERROR]
    view = table(f"combined overheads, {against}", columns, right=columns[3:])
    for row in rows:
        where = ", ".join(filter(None, (row.place, row.variant)))
        name = policy_name(row.policy)
        view.add_row(row.table, where, name, row.printed, row.shown, row.error)
    out().print(view)
