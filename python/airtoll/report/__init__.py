"""Reports and figures made from an analysed run.

Takes a run folder; gives HTML, figures and tables. Never measures anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from airtoll.errors import UsageError

if TYPE_CHECKING:
    from airtoll.report.summary import RunSummary
    from airtoll.report.what_if import Panel
    from airtoll.report.where import Where

FORMATS = ("html", "markdown", "csv", "latex", "json")


def write_report(
    runs: Sequence[Path],
    *,
    form: str = "html",
    out: Path | None = None,
    panel: Panel | None = None,
    for_print: bool = False,
    summary: RunSummary | None = None,
    force: bool = False,
    where: Where | None = None,
) -> Path:
    """Write the report of a run; HTML includes its figures, and CSV files for its cut tables.

    With a ``panel`` (``airtoll.run.what_if``) the page of one run simulates changes.
    ``for_print``: its figures also as PNG and PDF (``airtoll[print]``). Where these are in the
    folder already, they are always written anew.
    ``summary``: the first run, if it has been read already.
    Several runs give one page (``comparison.*`` in the first folder) that compares them.
    ``where``: the rows of CSV, Markdown and LaTeX of one run.
    Files at ``out`` that airtoll did not write are replaced only with ``force``.

    Raises ``UsageError`` for an unknown form and for a file that it would replace, ``StorageError``
    if the disk refuses, ``EnvironmentProblem`` without what ``for_print`` needs.
    """
    # The drawing modules take longer to load than most commands run; most commands draw nothing.
    from airtoll.report.write import write

    _refuse(runs, form)
    return write(
        runs, form, out, panel, for_print=for_print, summary=summary, force=force, where=where
    )


def report_text(
    runs: Sequence[Path],
    *,
    form: str = "html",
    panel: Panel | None = None,
    where: Where | None = None,
) -> str:
    """The same report as text; nothing is written. Raises what :func:`write_report` does."""
    from airtoll.report.write import make

    _refuse(runs, form)
    return make(runs, form, panel, where=where).text


def _refuse(runs: Sequence[Path], form: str) -> None:
    if form not in FORMATS:
        raise UsageError(f"--format {form}: choose from {', '.join(FORMATS)}")
    if not runs:
        raise UsageError("report: name at least one run folder")


def page_of(run: Path) -> str:
    """The HTML report of one run as text; nothing is written. Raises what ``write_report`` does."""
    from airtoll.report.write import page_of

    return page_of(run)
