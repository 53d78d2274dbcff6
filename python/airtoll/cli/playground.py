"""``airtoll playground``: one page of lessons that simulate in the browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from airtoll.cli.output import err
from airtoll.cli.places import STANDARD_OUTPUT, named
from airtoll.report.playground import render, write_playground
from airtoll.run.lessons import lessons

#: Largest integer that a script in a page holds exactly.
MOST_SEED: Final = 2**53 - 1


def playground(
    out_: Annotated[
        Path,
        typer.Option(
            "--out",
            parser=named("--out", standard_output=True),
            help="File to write; - is standard output.",
        ),
    ] = Path("playground.html"),
    seed: Annotated[
        int, typer.Option(min=0, max=MOST_SEED, help="Seed of every trial in the page.")
    ] = 1,
    answers: Annotated[
        bool,
        typer.Option("--answers/--no-answers", help='With "What to notice", or without it.'),
    ] = True,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a file that airtoll did not write.")
    ] = False,
) -> None:
    """Write a page of lessons for a class hour; it opens offline and simulates in the browser."""
    if out_ == STANDARD_OUTPUT:
        sys.stdout.write(render(lessons(seed), answers=answers))
        return
    page = write_playground(lessons(seed), out_, answers=answers, force=force)
    err().print(f"playground: {page}", soft_wrap=True)
