"""``airtoll playground``: one page of lessons that simulate in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from airtoll.cli.output import err
from airtoll.report.playground import write_playground
from airtoll.testbeds.lessons import lessons


def playground(
    out_: Annotated[Path, typer.Option("--out", help="File to write.")] = Path("playground.html"),
) -> None:
    """Write a page of lessons for a class hour; it opens offline and simulates in the browser."""
    err().print(f"playground: {write_playground(lessons(), out_)}", soft_wrap=True)
