"""The report as text for other programs and papers: Markdown, CSV, JSON, LaTeX of readings.

Takes a summary, or imported readings; gives text with the numbers of the page, without its
pictures.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from airtoll.analyse.analysis import THROUGHPUT, repeats_its_cell
from airtoll.answer import of_row
from airtoll.errors import UsageError
from airtoll.observe.spreadsheet import cell, cells
from airtoll.present.words import stated
from airtoll.report.answer import table, titles
from airtoll.report.changed import changed, changes
from airtoll.report.compared_runs import Against, rows, shown, words
from airtoll.report.every_metric import every_metric
from airtoll.report.headline import headline
from airtoll.report.latex import CONTROLS, LAYOUTS, Grid, Group, typeset
from airtoll.report.own import MARK
from airtoll.report.printed_rows import levels_of
from airtoll.report.summary import RunSummary
from airtoll.report.where import Where

if TYPE_CHECKING:
    from airtoll.report.imported import Imported


def markdown(summary: RunSummary, where: Where) -> str:
    """Question, answer and the table of answers, of chosen rows."""
    head = summary.study.study
    lines = [f"# {escape_markdown(head.title)}", ""]
    lines += [escape_markdown(head.question), ""] if head.question else []
    if told := changed(summary):
        lines += [escape_markdown(f"Changed: {told}."), ""]
    said = _answers(summary, where) if where else headline(summary)
    lines += [*map(escape_markdown, said), ""]
    lines += _marked(*_table(summary, where))
    return "\n".join([*lines, "", _MARK_OF_MARKDOWN]) + "\n"


def comma_separated(summary: RunSummary, where: Where) -> str:
    """Every estimate of the chosen cells, in SI units and full precision."""
    cells = summary.plan.cells
    chosen = [cells[at].name for at in where.rows([levels_of(cell) for cell in cells])]
    return _every_estimate(summary.analysis.estimates.filter(pl.col("cell").is_in(chosen)))


def _answers(summary: RunSummary, where: Where) -> list[str]:
    """The answers about the study's metrics at the chosen places, to the chosen candidates.

    None where no candidate is among the chosen levels.
    """
    there = set(summary.analysis.estimates["metric"].unique().to_list())
    metrics = [one for one in summary.study.answers if one in there]
    try:
        found = every_metric(summary, metrics, where)
    except UsageError:
        return []
    return [line for one in found for line in one.sentences(summary.names)]


def as_json(summary: RunSummary) -> str:
    """Estimates, overheads, comparisons and printed figures."""
    value = {
        "study": summary.study.study.name,
        "headline": headline(summary),
        "unfinished": _unfinished(summary),
        "caveats": [{"says": text, "trials": n} for text, n in summary.caveats.items()],
        "estimates": summary.analysis.estimates.to_dicts(),
        "overheads": summary.analysis.overheads.to_dicts(),
        "comparisons": _comparisons(summary),
        "times": summary.analysis.times.to_dicts(),
        "selection": summary.analysis.selection,
        "answers": list(summary.analysis.answers),
        "question": summary.study.study.question,
        "changed": dict(changes(summary)),
        "published": [published_row(summary, c) for c in summary.comparisons],
    }
    return json.dumps(_finite(value), indent=2, ensure_ascii=False) + "\n"


def _unfinished(summary: RunSummary) -> dict[str, Any] | None:
    left = summary.unfinished
    if left is None:
        return None
    return {"trials": left.done, "trials_planned": left.planned, "command": left.command}


def several(pairs: Sequence[Against], form: str) -> str:
    """Several runs compared: ``markdown``, ``csv``, ``latex`` or ``json``."""
    if form == "json":
        value = {
            "headline": [line for pair in pairs for line in words(pair)],
            "changes": [row for pair in pairs for row in rows(pair)],
        }
        return json.dumps(_finite(value), indent=2, ensure_ascii=False) + "\n"
    columns = ("cell", "metric", "first", "second", "difference", "p", "verdict")
    table = [shown(pair, change) for pair in pairs for change in pair.changes]
    if form == "csv":
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([cell(row[c]) for c in columns] for row in table)
        return buffer.getvalue()
    if form == "latex":
        return _fitting(columns, columns[2:6], [[row[c] for c in columns] for row in table])
    lines = [*(escape_markdown(line) for pair in pairs for line in words(pair)), ""]
    lines += _marked(columns, [[row[c] for c in columns] for row in table])
    return "\n".join([*lines, "", _MARK_OF_MARKDOWN]) + "\n"


def imported(readings: Imported, form: str) -> str:
    """Imported readings as ``markdown``, ``csv``, ``latex`` or ``json``."""
    # Runs are not imported readings: a run does not load what these need.
    from airtoll.report.imported import headline as imported_headline
    from airtoll.report.imported_rows import beside, costs, estimates

    analysis = readings.analysis
    if form == "csv":
        return _every_estimate(analysis.estimates)
    if form == "json":
        value = {
            "readings": readings.path.name,
            "headline": imported_headline(readings),
            "baseline": analysis.baseline,
            "definition": analysis.definition,
            "estimates": analysis.estimates.to_dicts(),
            "overheads": analysis.overheads.to_dicts(),
            "comparisons": _comparisons_of(readings),
            "published": [beside(c) for c in readings.comparisons],
            "findings": [finding.to_json() for finding in readings.findings],
            "caveats": [{"says": text, "trials": n} for text, n in readings.caveats.items()],
            "left_out": list(readings.manifest.left_out),
            "refused": dict(readings.manifest.refused),
        }
        return json.dumps(_finite(value), indent=2, ensure_ascii=False) + "\n"
    # The costs of the secured cells are the answer; without a secured cell the readings are.
    columns: tuple[str, ...] = ("cell", "overhead", "verdict", "p", "n")
    rows = costs(readings)
    if not rows:
        rows, columns = estimates(analysis), ("cell", "metric", "value", "n", "method")
    cut = [[row[column] for column in columns] for row in rows]
    if form == "latex":
        return _fitting(columns, ("overhead", "value", "p", "n"), cut)
    lines = [f"# Imported readings: {escape_markdown(readings.path.name)}", ""]
    lines += [*map(escape_markdown, imported_headline(readings)), "", *_marked(columns, cut)]
    return "\n".join([*lines, "", _MARK_OF_MARKDOWN]) + "\n"


def _comparisons(summary: RunSummary) -> list[dict[str, Any]]:
    """The compared rows as JSON values; those that the study answers with have their verdict in
    words, the others their evidence alone.
    """
    told = {*summary.study.answers, THROUGHPUT}
    found = []
    for row in summary.analysis.comparisons.iter_rows(named=True):
        key = (row["cell"], row["flow"], row["station"])
        words = stated(summary.stated(row["metric"])[key]) if row["metric"] in told else None
        found.append(row | ({} if words is None else {"verdict": words}))
    return found


def _comparisons_of(readings: Imported) -> list[dict[str, Any]]:
    claims = {
        (one.cell, one.flow, one.station, one.claim.metric): one.claim for one in readings.claims
    }
    found = []
    for row in readings.analysis.comparisons.iter_rows(named=True):
        claim = claims.get((row["cell"], row["flow"], row["station"], row["metric"]))
        words = {} if claim is None else {"verdict": stated(of_row(claim, row))}
        found.append(row | words)
    return found


def published_row(summary: RunSummary, comparison: Any) -> dict[str, Any]:
    """One comparison with a printed figure, as JSON values."""
    return {
        "dataset": comparison.dataset,
        "table": comparison.table,
        "cell": comparison.cell,
        "client": comparison.client,
        "quantity": comparison.quantity,
        "published": comparison.published.to_json(),
        "ours": comparison.ours.to_json(),
        "relative_error": comparison.relative_error,
        "absolute_error": comparison.absolute_error,
        "standing": summary.standing(comparison).name or "unfitted",
        "note": summary.note(comparison),
    }


def _table(summary: RunSummary, where: Where) -> tuple[list[str], list[list[str]]]:
    """The table of answers as text; columns that would be empty in every row are left out."""
    rows = table(summary)
    levels = [levels_of(summary.cells[row.cell], station=row.station or "all") for row in rows]
    rows = [rows[at] for at in where.rows(levels)]
    placed = any(row.place for row in rows)
    parted = any(row.station for row in rows)
    columns = ["policy", *["where"] * placed, *["station"] * parted, *titles(summary), "verdict"]
    return columns, [
        [
            row.policy,
            *[row.place] * placed,
            *[row.station or "all"] * parted,
            *row.values,
            row.verdict,
        ]
        for row in rows
    ]


def _every_estimate(estimates_: pl.DataFrame) -> str:
    buffer = io.StringIO()
    # The only flow of a cell says again what the cell says.
    frame = cells(estimates_.filter(~repeats_its_cell()))
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(frame.columns)
    writer.writerows(frame.iter_rows())
    return buffer.getvalue()


def _fitting(columns: Sequence[str], numbers: Sequence[str], rows: Sequence[list[str]]) -> str:
    """A LaTeX ``tabular`` of the text width of an article."""
    group = Group("", tuple(map(tuple, rows)))
    grid = Grid(tuple(columns), frozenset(numbers), (group,))
    return typeset(grid, LAYOUTS["table"]).text


def _marked(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a Markdown table."""
    head, *body = [[escape_markdown(text) for text in row] for row in (columns, *rows)]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(columns)]
    return lines + ["| " + " | ".join(row) + " |" for row in body]


#: Last line of Markdown: what wrote it, unseen on a page.
_MARK_OF_MARKDOWN: Final = f"<!-- {MARK} -->"

#: Signs with a meaning in Markdown; a backslash takes it (CommonMark 0.31.2, section 2.4).
_MARKDOWN: Final = re.compile(
    r"[\\`*<>|~$&]|\](?=[(\[:])|(?<!\w)_|_(?!\w)|^(?:#|[+-](?=\s)|=(?==*$)|\d+(?=[.)](?:\s|$)))"
)


def escape_markdown(text: str) -> str:
    """One line of text that Markdown shows as it is; control characters are spaces."""
    plain = CONTROLS.sub(" ", text)
    return _MARKDOWN.sub(lambda found: _backslashed(found[0]), plain)


def _backslashed(found: str) -> str:
    # A number at the beginning of a line is a list's with the sign behind it.
    return found + "\\" if found.isdigit() else "\\" + found


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_finite(inner) for inner in value]
    return value
