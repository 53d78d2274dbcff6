"""``airtoll playground``: one page of lessons that simulate in the browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from airtoll.cli.output import err
from airtoll.cli.places import STANDARD_OUTPUT, named
from airtoll.report.playground import render, write_playground
from airtoll.testbeds.lessons import lessons


def playground(
    out_: Annotated[
        Path,
        typer.Option(
            "--out",
            parser=named("--out", standard_output=True),
            help="File to write; - is standard output.",
        ),
    ] = Path("playground.html"),
    force: Annotated[
        bool, typer.Option("--force", help="Replace a file that airtoll did not write.")
    ] = False,
) -> None:
    """Write a page of lessons for a class hour; it opens offline and simulates in the browser."""
    if out_ == STANDARD_OUTPUT:
        sys.stdout.write(render(lessons()))
        return
    page = write_playground(lessons(), out_, force=force)
    err().print(f"playground: {page}", soft_wrap=True)
