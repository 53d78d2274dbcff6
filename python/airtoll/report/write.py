"""Reports on disk.

Takes run folders and a form; gives the file. Writes nothing outside the run folder unless told to.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

import polars as pl
from attrs import field, frozen

from airtoll.drawing import Developed, develop, forms_here, save
from airtoll.drawing.printing import available
from airtoll.errors import EnvironmentProblem
from airtoll.observe.folder import precision_of, study_named
from airtoll.observe.replacing import put, put_text, remove
from airtoll.observe.spreadsheet import cells
from airtoll.report import (
    compared_runs,
    compared_runs_page,
    imported,
    imported_page,
    text,
    view_tables,
)
from airtoll.report.changed import values_set
from airtoll.report.costs import MAX_ROWS, cost_table
from airtoll.report.figures import pictures
from airtoll.report.html import MOST_CELLS_TAKEN_APART, render
from airtoll.report.own import is_own, refuse_foreign
from airtoll.report.summary import RunSummary, summarise
from airtoll.report.what_if import Panel
from airtoll.report.where import Where

#: The folder of the figures and the long tables, beside the page.
FIGURES = "figures"
COSTS, DECOMPOSITION = "costs.csv", "decomposition.csv"
#: Names of pages in run folders: of one run, of several.
_DEFAULT_STEMS = ("report", "comparison")
#: Rows of a long table that are text in memory at a time.
_ROWS_OF_TEXT = 10_000
_SUFFIX = {"html": "html", "markdown": "md", "csv": "csv", "latex": "tex", "json": "json"}


@frozen
class Made:
    """A report before it is written: its text, its figures, and its long tables.

    ``tables``: name -> table, and whether the page cuts it.
    """

    text: str
    drawings: Sequence[Developed] = ()
    tables: Mapping[str, tuple[pl.DataFrame, bool]] = field(factory=dict)


def write(
    runs: Sequence[Path],
    form: str,
    out: Path | None,
    panel: Panel | None = None,
    *,
    for_print: bool = False,
    summary: RunSummary | None = None,
    force: bool = False,
    where: Where | None = None,
) -> Path:
    """Write the report of one run, or of several compared with the first; see ``write_report``."""
    target = out or runs[0] / _default_name(runs, form)
    beside = prefix_of(target)
    made = make(runs, form, panel, summary=summary, beside=beside, where=where,
                forms=_forms(target, for_print=for_print) if form == "html" else ())  # fmt: skip
    figures = target.parent / f"{beside}{FIGURES}"
    if out is not None and not force:
        refuse_foreign(target, _heading(made.text) if form == "csv" else None)
        for drawing in made.drawings:
            for name in drawing.files:
                refuse_foreign(figures / name)
        for name, (table, cut) in made.tables.items():
            if cut:
                refuse_foreign(target.parent / f"{beside}{name}", _heading(table))
    put_text(target, made.text)
    for drawing in made.drawings:
        save(drawing, figures)
    for name, (table, cut) in made.tables.items():
        path = target.parent / f"{beside}{name}"
        if cut:
            put(path, partial(_write_rows, table))
        elif is_own(path, _heading(table)):
            # That of an older page; this one holds all of it.
            remove(path)
    return target


def _heading(table: pl.DataFrame | str) -> str:
    """The first line of a table in CSV."""
    return table.partition("\n")[0] if isinstance(table, str) else ",".join(table.columns)


def make(
    runs: Sequence[Path],
    form: str,
    panel: Panel | None = None,
    *,
    summary: RunSummary | None = None,
    beside: str = "",
    forms: Sequence[str] = (),
    where: Where | None = None,
) -> Made:
    """The report of one run, or of several compared with the first; nothing is written.

    ``beside`` begins the names of the files that the page names; ``forms``: those of its figures.
    """
    if len(runs) > 1:
        return _of_several(runs, form, beside, forms)
    if imported.is_imported(runs[0]):
        return _of_imported(runs[0], form, beside, forms)
    summary = summary or summarise(runs[0])
    if form != "html":
        return Made(_rows(summary, form, where or Where()))
    drawings = develop(list(pictures(summary)), forms)
    costs, parts = cost_table(summary), summary.decomposition
    return Made(
        _page(summary, drawings, panel, beside),
        drawings,
        {
            COSTS: (costs, costs.height > MAX_ROWS),
            DECOMPOSITION: (parts, parts["cell"].n_unique() > MOST_CELLS_TAKEN_APART),
        },
    )


def prefix_of(target: Path) -> str:
    """The beginning of the names of the files beside a page: two pages of a folder share none."""
    return "" if target.stem in _DEFAULT_STEMS else f"{target.stem}-"


def _default_name(runs: Sequence[Path], form: str) -> str:
    return f"{_DEFAULT_STEMS[len(runs) > 1]}.{_SUFFIX[form]}"


def _forms(target: Path, *, for_print: bool) -> tuple[str, ...]:
    """Forms of the figures beside a page: those for print on request, and where there are some.

    Figures for print take half of a report's time, and those of an older page would be stale.
    """
    there = any((target.parent / f"{prefix_of(target)}{FIGURES}").glob("*.pdf"))
    if for_print and not available():
        raise EnvironmentProblem(
            "--print: PNG and PDF need matplotlib and fontTools; pip install 'airtoll[print]'"
        )
    return forms_here() if for_print or there else ("svg",)


def page_of(run: Path) -> str:
    """The HTML report of one run as text; nothing is written."""
    summary = summarise(run)
    return _page(summary, develop(list(pictures(summary))))


def command_of(summary: RunSummary, folder: Path | None = None) -> str:
    """The command that repeats a run.

    ``folder``: where the run is, if the summary is of a copy.
    """
    manifest = summary.manifest
    parts = ["airtoll", "run", study_named(manifest, folder or summary.path)]
    if manifest["testbed"] != "simulator":
        parts += ["--on", manifest["testbed"]]
    parts += ["--seed", str(manifest["seed"]), *_trials(manifest, summary)]
    if manifest["options"].get("as_printed") and summary.study.as_printed:
        parts.append("--as-printed")
    for key, value in values_set(summary).items():
        # JSON of a number, a text, a truth value or a list is TOML, too.
        parts += ["--set", f"{key}={json.dumps(value)}"]
    return shlex.join(parts)


def _trials(manifest: Mapping[str, Any], summary: RunSummary) -> list[str]:
    """The options that give each cell its trials again: their number, or the rule that found it."""
    options = manifest["options"]
    if precision_of(options, summary.study) is None:
        return ["--trials", str(manifest["repetitions"])]
    asked = {"--trials": "trials", "--until-precision": "until_precision",
             "--most-trials": "most_trials"}  # fmt: skip
    return [
        word
        for option, key in asked.items()
        if options.get(key) is not None
        for word in (option, str(options[key]))
    ]


def _page(
    summary: RunSummary,
    drawings: Sequence[Developed],
    panel: Panel | None = None,
    beside: str = "",
) -> str:
    command = command_of(summary)
    return render(summary, drawings, command=command, panel=panel, beside=beside)


def _rows(summary: RunSummary, form: str, where: Where) -> str:
    """A report without pictures, of the chosen rows."""
    if form == "json":
        return text.as_json(summary)
    makers = {
        "markdown": text.markdown,
        "csv": text.comma_separated,
        "latex": view_tables.latex,
    }
    return makers[form](summary, where)


def _of_imported(folder: Path, form: str, beside: str, forms: Sequence[str]) -> Made:
    readings = imported.read_imported(folder)
    if form != "html":
        return Made(text.imported(readings, form))
    drawings = imported_page.developed(readings, forms)
    return Made(imported_page.render(readings, drawings, prefix=beside), drawings)


def _of_several(runs: Sequence[Path], form: str, beside: str, forms: Sequence[str]) -> Made:
    summaries = [summarise(path) for path in runs]
    pairs = compared_runs.against_first(summaries)
    if form != "html":
        return Made(text.several(pairs, form))
    drawings = compared_runs_page.develop_all(pairs, forms)
    commands = [command_of(summary) for summary in summaries]
    page = compared_runs_page.render(pairs, drawings, commands=commands, beside=beside)
    return Made(page, drawings)


def _write_rows(table: pl.DataFrame, file: IO[bytes]) -> None:
    """A long table as CSV, few rows in memory at a time."""
    for part in table.iter_slices(_ROWS_OF_TEXT):
        cells(part).write_csv(file, include_header=not file.tell())
