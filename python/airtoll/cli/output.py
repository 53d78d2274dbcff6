"""Output of the command line: data to stdout, everything else to stderr.

Takes tables and JSON values; gives text. The callers decide the content.
"""

from __future__ import annotations

import json
import math
import os
import sys
import textwrap
from collections.abc import Sequence
from typing import Annotated, Any, Final, TextIO

import typer
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
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
from rich.table import Column, Table
from rich.text import Text

from airtoll.analyse.quantities import NOTHING_KEY, lacks_value
from airtoll.cli.streams import holds_unicode

#: A table with more rows than this is cut to
_MOST_ROWS = 200
#: this number of first rows, about two screens.
_SHOWN_ROWS = 60

#: Width of a pipe or a file for sentences, which stay one line each.
_NO_LIMIT: Final = 100_000
#: Width of a table in a pipe or a file, unless COLUMNS says another.
_PIPED: Final = 100
#: Columns between two columns of a table.
GAP: Final = 2
#: A column of words may be wrapped to its longest word, or to this width where that is longer.
NARROWEST_WORDS: Final = 20
#: A table becomes blocks where words in a column of at most that width need more lines in a row.
_MOST_LINES: Final = 3

#: DEL and the C1 controls, which JSON texts may hold as they are, as escapes of JSON.
_CONTROLS = {code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)}

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on stdout instead of tables.")]


def out() -> Console:
    """The console for data: as wide as the terminal; in a pipe tables alone have a width."""
    return _console(sys.stdout)


def err() -> Console:
    """The console for everything else, with the same widths."""
    return _console(sys.stderr)


def _console(stream: TextIO) -> Console:
    """A terminal of unknown width counts as 80 columns wide (``rich``'s default)."""
    width = None if stream.isatty() else _NO_LIMIT
    return Console(file=stream, width=width, highlight=False, markup=False)


def emit_json(value: Any) -> None:
    """Print a JSON value; NaN and infinities become null, since JSON has none.

    Control characters are written as escapes: a terminal would obey them.
    """
    sys.stdout.write(json_text(_finite(value), indent=2) + "\n")


def json_text(value: Any, *, indent: int | None = None) -> str:
    """A JSON value as text that standard output can hold; other characters become escapes."""
    text = json.dumps(value, indent=indent, ensure_ascii=not holds_unicode())
    return text.translate(_CONTROLS)


def piped_width() -> int:
    """The width of a table that goes to a pipe or a file: COLUMNS, or 100."""
    stated = os.environ.get("COLUMNS", "")
    return int(stated) if stated.isdecimal() and int(stated) > 0 else _PIPED


class FittingTable(Table):
    """A table that never cuts a cell, as wide as the terminal; in a pipe as ``piped_width``.

    Columns of words wrap, columns of numbers do not, but an interval may be below its value. Where
    even this is too wide, each row becomes a block: its first cell as the heading, the others
    below, one a line. A key follows where a cell has no value.
    """

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render as columns or as blocks (a method of rich's protocol)."""
        yield from self._fitted(console, options)
        if any(lacks_value(str(cell)) for column in self.columns for cell in column.cells):
            yield Text(NOTHING_KEY, style="dim")

    def _fitted(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if options.max_width >= _NO_LIMIT:
            options = options.update(max_width=piped_width())
        gaps = GAP * (len(self.columns) - 1)
        if sum(map(_widest, self.columns)) + gaps > options.max_width:
            if sum(map(_narrowest, self.columns)) + gaps > options.max_width:
                for sign in (" [", " ±"):
                    broken = self._broken(sign)
                    if sum(map(_narrowest, broken.columns)) + gaps <= options.max_width:
                        yield from broken._fitted(console, options)
                        return
                yield from self._blocks(options.max_width)
                return
            for column in self.columns:
                if column.no_wrap:
                    column.header = textwrap.fill(str(column.header), _narrowest(column))
            _share(self.columns, options.max_width - gaps)
            if max(map(_lines, self.columns)) > _MOST_LINES:
                yield from self._blocks(options.max_width)
                return
        yield from super().__rich_console__(console, options)

    def _broken(self, sign: str) -> FittingTable:
        """The same with the intervals of numbers below their values, from this sign on."""
        found = FittingTable(
            title=self.title, title_justify="left", header_style="bold", box=None, pad_edge=False
        )
        for column in self.columns:
            found.add_column(
                column.header,
                justify=column.justify,
                overflow=column.overflow,
                no_wrap=column.no_wrap,
            )
        numbers = [column.no_wrap for column in self.columns]
        for row in zip(*(column.cells for column in self.columns), strict=True):
            texts = zip(map(str, row), numbers, strict=True)
            found.add_row(*(_below(t, sign) if is_number else t for t, is_number in texts))
        return found

    def _blocks(self, width: int) -> RenderResult:
        if self.title:
            yield Text(str(self.title), style="italic")
        columns = [list(column.cells) for column in self.columns]
        for row in zip(*columns, strict=True):
            head, *others = map(str, row)
            yield Text(_filled(head, width), style="bold")
            for column, cell in zip(self.columns[1:], others, strict=True):
                if cell:
                    yield Text(_filled(f"  {str(column.header).strip()}: {cell}", width))


def _share(columns: Sequence[Column], width: int) -> None:
    """Give the columns of words what those of numbers leave: none is narrower than its longest
    word while another one has more than it needs.
    """
    words = [column for column in columns if not column.no_wrap]
    free = width - sum(_narrowest(column) for column in columns if column.no_wrap)
    cap = max(map(_widest, words), default=0)
    while cap and sum(max(_narrowest(one), min(_widest(one), cap)) for one in words) > free:
        cap -= 1
    for column in words:
        column.width = max(_narrowest(column), min(_widest(column), cap))


def _lines(column: Column) -> int:
    """Lines of the tallest cell of a narrow column; a wide one is read as text."""
    if column.width is None or column.width > NARROWEST_WORDS:
        return 1
    wrapped = (textwrap.wrap(str(cell), max(1, column.width)) for cell in column.cells)
    return max(map(len, wrapped), default=1)


def _below(number: str, sign: str) -> str:
    number = number.replace(" [", "\n[")
    return number.replace(" ±", "\n±") if "±" in sign else number


def _filled(text: str, width: int) -> str:
    return textwrap.fill(text, width, subsequent_indent="    ", break_on_hyphens=False)


def _widest(column: Column) -> int:
    """The width of a column in which nothing wraps."""
    texts = map(str, [column.header, *column.cells])
    return max((cell_len(line) for text in texts for line in text.split("\n")), default=0)


def _narrowest(column: Column) -> int:
    """The least width that a column can be shown in."""
    words = str(column.header).split()
    cells = [str(cell) for cell in column.cells]
    if column.no_wrap:
        lines = [line for cell in cells for line in cell.split("\n")]
        return max(map(cell_len, [*words, *lines]), default=0)
    words += [word for cell in cells for word in cell.split()]
    return min(max(map(cell_len, words), default=0), NARROWEST_WORDS)


def table(title: str | None, columns: Sequence[str], *, right: Sequence[str] = ()) -> Table:
    """A plain table; ``right`` names the columns of numbers, which are not wrapped."""
    result = FittingTable(
        title=title, title_justify="left", header_style="bold", box=None, pad_edge=False
    )
    for column in columns:
        number = column in right
        result.add_column(
            column,
            justify="right" if number else "left",
            overflow="fold",
            no_wrap=number,
        )
    return result


def shown_rows(rows: int) -> int:
    """How many rows of a table are printed."""
    return rows if rows <= _MOST_ROWS else _SHOWN_ROWS


def say_rest(rows: int, rest: str) -> None:
    """Print below a cut table the number of rows and the place of the rest."""
    if rows > shown_rows(rows):
        out().print(f"The first {shown_rows(rows)} of {rows} rows; {rest}")


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
