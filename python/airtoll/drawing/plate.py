"""Panels and pictures: what a report wants drawn, and what becomes of it.

A panel becomes an SVG element of the page, in the page's ink, and files fit for a paper: SVG, and
PNG and PDF on request (``airtoll[print]``). Files carry no date: equal runs, equal figures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from textwrap import fill
from typing import Final

from attrs import define, frozen

from airtoll.drawing import svg
from airtoll.drawing.axes import INK, Axes, Mark
from airtoll.drawing.layout import layout
from airtoll.drawing.printing import FORMS, available, printed
from airtoll.observe.replacing import replacing, storage_error

__all__ = ["INK", "Developed", "Panel", "Picture", "Plate", "new_plate"]

#: Width of a panel, inches: on a phone its smallest text is 12 px high, and it fits a column of a
#: paper.
WIDTH: Final = 3.55
#: Width of a picture's only panel, inches: that of the page.
WHOLE_WIDTH: Final = 8.8


@define
class Plate:
    """One drawn panel: axes with their marks, title, width and height in inches."""

    axes: Axes
    title: str
    width: float
    height: float

    def say(self, mark: Mark, text: str) -> None:
        """Give a mark the text that it says when pointed at."""
        mark.say = text


@frozen
class Panel:
    """One plate of a picture; ``draw`` makes it afresh each time.

    ``slim``: the same as plates for a phone, where ``draw`` makes one of the page's width.
    """

    title: str
    draw: Callable[[], Plate]
    slim: Callable[[], Iterable[Plate]] | None = None


@frozen
class Picture:
    """One question and the panels that answer it.

    ``name`` is the stem of its files, ``section`` its part of the report.
    ``open_panels`` are open in the page and have files of their own; the others are folded.
    ``wide``: the panels take the page's width.
    """

    name: str
    section: str
    question: str
    caption: str
    panels: tuple[Panel, ...]
    open_panels: int = 6
    wide: bool = False

    def stem(self, index: int) -> str:
        """File stem of a panel."""
        return self.name if len(self.panels) == 1 else f"{self.name}-{index + 1}"

    @property
    def stems(self) -> str:
        """Stems of all files, in words."""
        last = min(len(self.panels), self.open_panels)
        return self.name if len(self.panels) == 1 else f"{self.name}-1 to -{last}"


def new_plate(height: float, title: str, *, wide: bool = False) -> tuple[Plate, Axes]:
    """An empty panel of that height in inches."""
    axes = Axes()
    lines = [fill(line, 120 if wide else 44) for line in title.splitlines()]
    return Plate(axes, "\n".join(lines), WHOLE_WIDTH if wide else WIDTH, height), axes


def label(name: str, *, wide: bool = False) -> str:
    """A name as the label of a row: in lines that leave most of the panel to the data."""
    return fill(name, 44 if wide else 20, break_long_words=False)


def end_of(values: Sequence[float]) -> float:
    """The largest value that an axis shows: an outlier beyond three times the rest is cut off.

    The rest is 90 % of the values, and at least eight of them tell an outlier.
    """
    known = sorted(value for value in values if math.isfinite(value))
    if not known:
        return 0.0
    high = known[-1]
    bulk = known[math.ceil(0.9 * len(known)) - 1]
    return 1.1 * bulk if len(known) >= 8 and bulk > 0 and high > 3 * bulk else high


#: Intervals reach this many times as far as the values before an axis cuts them.
_REACH = 8.0


def reach_of(values: Sequence[float], ends: Sequence[float]) -> float:
    """How far an axis goes from zero on one side: all values and the ends of their intervals.

    An outlier among the ends is cut off as one among the values is.
    """
    known = [end for end in ends if end > 0]
    return min(end_of(known), _REACH * end_of(values)) if known else 0.0


@frozen
class Developed:
    """A picture, drawn: its panels for the page, and its files' contents by name.

    Only panels that are open in the page have files of their own.
    """

    picture: Picture
    in_page: tuple[str, ...]
    files: dict[str, bytes]


def left_out(count: int, what: str, where: str) -> str:
    """A caption's last sentence: what is not drawn, and where it stands; empty if all is drawn."""
    if count <= 0:
        return ""
    many = "is" if count == 1 else "are"
    return f" Not drawn: {count} more {what}, which {many} in {where}."


def forms_here() -> tuple[str, ...]:
    """Forms of files that this installation writes."""
    return ("svg", *FORMS) if available() else ("svg",)


def forms_in_words(files: Iterable[str]) -> str:
    """Suffixes of the files of a picture, and the command that adds the missing ones."""
    if any(name.endswith(form) for name in files for form in FORMS):
        return ".svg, .png, .pdf"
    command = "airtoll report RUN --print" if available() else "pip install 'airtoll[print]'"
    return f".svg ({' and '.join(map(str.upper, FORMS))}: {command})"


def develop_panel(plate: Plate, stem: str, forms: Sequence[str]) -> tuple[str, dict[str, bytes]]:
    """A drawn panel as an element of the page, and as the contents of its files by name."""
    sheet = layout(plate.axes, plate.title, 72 * plate.width, 72 * plate.height)
    contents = {"svg": svg.file(sheet).encode()} if "svg" in forms else {}
    if on_paper := tuple(form for form in forms if form in FORMS):
        contents |= printed(sheet, on_paper)
    return svg.element(sheet), {f"{stem}.{form}": contents[form] for form in forms}


def save(developed: Developed, folder: Path) -> None:
    """Write a picture's files. Raises ``StorageError`` if the disk refuses."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error(folder, error) from error
    for name, content in developed.files.items():
        with replacing(folder / name) as scratch:
            scratch.write_bytes(content)


def legend_below(plate: Plate, columns: int = 3) -> None:
    """The legend outside of the data, where there is anything to tell apart."""
    plate.axes.legend_columns = columns
