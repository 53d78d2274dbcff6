"""The report in the making: the page of a run whose trials are still under way.

Takes a run folder that is being written; gives the page of what its journal holds so far, by the
analysis and the templates of the finished report. Writes nothing into the run folder.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from airtoll.drawing import develop
from airtoll.observe.folder import MANIFEST, RunFolder
from airtoll.report.figures import pictures
from airtoll.report.figures.narrowing import Look, look, narrowing
from airtoll.report.html import render
from airtoll.report.summary import summarise
from airtoll.report.templates import page
from airtoll.report.write import command_of

#: Writes the tables of a run from its journal into a folder: (run, folder).
WriteTables = Callable[[RunFolder, Path], None]


def unfinished(
    run: RunFolder, looks: Sequence[Look], write_tables: WriteTables
) -> tuple[str, Look | None]:
    """The page of the trials in the journal, and the look that was taken for it.

    ``looks``: the earlier ones, oldest first. Raises the errors of ``summarise``.
    """
    with tempfile.TemporaryDirectory(prefix="airtoll-") as scratch:
        place = Path(scratch)
        shutil.copyfile(run.path / MANIFEST, place / MANIFEST)
        write_tables(run, place)
        summary = summarise(place)
    now = look(summary)
    seen = [*looks, now] if now is not None else list(looks)
    drawings = develop([*narrowing(summary, seen), *pictures(summary)])
    return render(summary, drawings, command=command_of(summary, run.path), form="live"), now


def waiting(title: str) -> str:
    """The page before the first trial has ended."""
    return page("waiting.html.j2", {"title": title})
