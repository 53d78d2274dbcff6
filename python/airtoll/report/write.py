"""Reports on disk.

Takes run folders and a form; gives the file. Writes nothing outside the run folder unless told to.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from airtoll.drawing import Developed, develop, forms_here, save
from airtoll.drawing.printing import available
from airtoll.errors import EnvironmentProblem
from airtoll.observe.journal import storage_error
from airtoll.observe.spreadsheet import cells
from airtoll.report import imported, imported_page, several, several_page, text
from airtoll.report.costs import MAX_ROWS, cost_table
from airtoll.report.figures import pictures
from airtoll.report.html import MOST_CELLS_TAKEN_APART, render
from airtoll.report.summary import RunSummary, summarise
from airtoll.report.what_if import Panel
from airtoll.study import shipped

#: The folder of the figures, beside the page.
FIGURES = "figures"
#: Rows of a long table that are text in memory at a time.
_ROWS_OF_TEXT = 10_000
_SUFFIX = {"html": "html", "markdown": "md", "csv": "csv", "latex": "tex", "json": "json"}


def write(
    runs: Sequence[Path],
    form: str,
    out: Path | None,
    panel: Panel | None = None,
    *,
    for_print: bool = False,
    summary: RunSummary | None = None,
) -> Path:
    """Write the report of one run, or of several compared with the first; see ``write_report``."""
    if len(runs) > 1:
        return _write_several(runs, form, out, for_print=for_print)
    if imported.is_imported(runs[0]):
        return _write_imported(runs[0], form, out, for_print=for_print)
    summary = summary or summarise(runs[0])
    target = out or runs[0] / f"report.{_SUFFIX[form]}"
    drawings: list[Developed] = []
    if form == "html":
        drawings = develop(list(pictures(summary)), _forms(target, for_print=for_print))
    page = _page(summary, form, drawings, panel)
    _put(page, target, drawings)
    if form == "html":
        _put_long_tables(summary, target.parent)
    return target


def _forms(target: Path, *, for_print: bool) -> tuple[str, ...]:
    """Forms of the figures beside a page: those for print on request, and where there are some.

    Figures for print take half of a report's time, and those of an older page would be stale.
    """
    there = any((target.parent / FIGURES).glob("*.pdf"))
    if for_print and not available():
        raise EnvironmentProblem(
            "--print: PNG and PDF need matplotlib and fontTools; pip install 'airtoll[print]'"
        )
    return forms_here() if for_print or there else ("svg",)


def page_of(run: Path) -> str:
    """The HTML report of one run as text; nothing is written."""
    summary = summarise(run)
    return _page(summary, "html", develop(list(pictures(summary))))


def command_of(summary: RunSummary) -> str:
    """The command that repeats a run."""
    manifest = summary.manifest
    parts = ["airtoll", "run", _study_named(manifest["study"])]
    if manifest["testbed"] != "simulator":
        parts += ["--on", manifest["testbed"]]
    parts += ["--seed", str(manifest["seed"]), "--trials", str(manifest["repetitions"])]
    printed = summary.study.as_printed if manifest["options"].get("as_printed") else {}
    if printed:
        parts.append("--as-printed")
    for key, value in manifest["study"]["values"].items():
        if key not in printed:
            # JSON of a number, a text, a truth value or a list is TOML, too.
            parts += ["--set", f"{key}={json.dumps(value)}"]
    return shlex.join(parts)


def _study_named(study: dict[str, Any]) -> str:
    """The name of a shipped study, or the file of another one."""
    own = shipped().get(study["name"])
    if own is not None and hashlib.sha256(own.read_bytes()).hexdigest() == study["sha256"]:
        return str(study["name"])
    return str(study["path"])


def _page(
    summary: RunSummary, form: str, drawings: Sequence[Developed], panel: Panel | None = None
) -> str:
    if form == "html":
        return render(summary, drawings, command=command_of(summary), panel=panel)
    makers = {
        "markdown": text.markdown,
        "csv": text.comma_separated,
        "latex": text.latex,
        "json": text.as_json,
    }
    return makers[form](summary)


def _write_imported(folder: Path, form: str, out: Path | None, *, for_print: bool) -> Path:
    readings = imported.read_imported(folder)
    target = out or folder / f"report.{_SUFFIX[form]}"
    if form != "html":
        _put(text.imported(readings, form), target, [])
        return target
    drawings = imported_page.developed(readings, _forms(target, for_print=for_print))
    _put(imported_page.render(readings, drawings), target, drawings)
    return target


def _write_several(runs: Sequence[Path], form: str, out: Path | None, *, for_print: bool) -> Path:
    summaries = [summarise(path) for path in runs]
    pairs = several.against_first(summaries)
    target = out or runs[0] / f"comparison.{_SUFFIX[form]}"
    drawings: list[Developed] = []
    if form == "html":
        drawings = several_page.develop_all(pairs, _forms(target, for_print=for_print))
        commands = [command_of(summary) for summary in summaries]
        page = several_page.render(pairs, drawings, commands=commands)
    else:
        page = text.several(pairs, form)
    _put(page, target, drawings)
    return target


def _put_long_tables(summary: RunSummary, folder: Path) -> None:
    """Write the whole of each table that the page cuts; remove those of an older page."""
    costs, parts = cost_table(summary), summary.decomposition
    tables = {
        "costs.csv": costs if costs.height > MAX_ROWS else None,
        "decomposition.csv": parts if parts["cell"].n_unique() > MOST_CELLS_TAKEN_APART else None,
    }
    for name, table in tables.items():
        path = folder / name
        try:
            if table is None:
                path.unlink(missing_ok=True)
            else:
                scratch = folder / f".{name}.tmp"
                with scratch.open("wb") as file:
                    for part in table.iter_slices(_ROWS_OF_TEXT):
                        cells(part).write_csv(file, include_header=not file.tell())
                scratch.replace(path)
        except OSError as error:
            raise storage_error(path, error) from error


def _put(page: str, target: Path, drawings: Sequence[Developed]) -> None:
    try:
        scratch = target.with_name(f".{target.name}.tmp")
        scratch.write_text(page, "utf-8")
        scratch.replace(target)
    except OSError as error:
        raise storage_error(target, error) from error
    for drawing in drawings:
        save(drawing, target.parent / FIGURES)
