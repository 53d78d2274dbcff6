"""Output of the command line: data to stdout, everything else to stderr.

Takes tables and JSON values; gives text. The callers decide the content.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

#: A table with more rows than this is cut to
_MOST_ROWS = 200
#: this number of first rows, about two screens.
_SHOWN_ROWS = 60

#: DEL and the C1 controls, which JSON texts may hold as they are, as escapes of JSON.
_CONTROLS = {code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)}

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on stdout instead of tables.")]


def out() -> Console:
    """The console for data. Wide when piped, so that no table is cut."""
    return Console(width=None if sys.stdout.isatty() else 160, highlight=False, markup=False)


def err() -> Console:
    """The console for everything else."""
    return Console(stderr=True, highlight=False, markup=False)


def emit_json(value: Any) -> None:
    """Print a JSON value; NaN and infinities become null, since JSON has none.

    Control characters are written as escapes: a terminal would obey them.
    """
    text = json.dumps(_finite(value), indent=2, ensure_ascii=False)
    sys.stdout.write(text.translate(_CONTROLS) + "\n")


def table(title: str | None, columns: Sequence[str], *, right: Sequence[str] = ()) -> Table:
    """A plain table; ``right`` names the columns of numbers."""
    result = Table(title=title, title_justify="left", header_style="bold", box=None, pad_edge=False)
    for column in columns:
        result.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return result


def shown_rows(rows: int) -> int:
    """How many rows of a table are printed."""
    return rows if rows <= _MOST_ROWS else _SHOWN_ROWS


def say_rest(rows: int, rest: str) -> None:
    """Print below a cut table the number of rows and the place of the rest."""
    if rows > shown_rows(rows):
        text = f"The first {shown_rows(rows)} of {rows} rows; {rest}"
        out().print(text, markup=False, soft_wrap=True)


def progress_bar() -> Progress:
    """A bar on stderr: trials done, rate, time left, current cell."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
        console=err(),
        transient=True,
        disable=not sys.stderr.isatty(),
    )


class _Rate(ProgressColumn):
    """Trials per second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:.1f} trials/s" if speed else "", style="dim")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return value
