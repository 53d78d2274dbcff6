"""``airtoll cite``: BibTeX of airtoll, of a study or run, and of the papers behind it."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from airtoll.cli.output import JsonOption, emit_json
from airtoll.report.citation import cited


def cite(
    subject: Annotated[
        str | None,
        typer.Argument(help="Study, data set or run folder; default: airtoll alone."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Print BibTeX of airtoll, of a study or run, and of the papers behind its readings."""
    entries = cited(subject)
    if json:
        emit_json([{"key": entry.key, **dict(entry.fields)} for entry in entries])
        return
    sys.stdout.write("\n".join(entry.text() for entry in entries))
