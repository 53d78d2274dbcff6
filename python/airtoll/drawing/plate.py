"""Common parts of every figure: style, texts of marks, files, form inside the page.

A matplotlib figure becomes files fit for a paper (PNG, SVG, PDF) and SVG elements that take the
page's ink, in light and dark. Files carry no date, so equal runs give equal figures.
"""

from __future__ import annotations

import io
import math
import os
import re
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
from attrs import define, field, frozen
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from airtoll.drawing.font import cut_fonts
from airtoll.observe.journal import storage_error

#: Width of a panel, inches: narrow enough for a phone and for a column of a paper.
WIDTH = 4.3
#: Width of a picture's only panel, inches: that of the page.
WHOLE_WIDTH = 8.8
#: The colour that becomes the page's ink. Not quite black: what is black needs no name in SVG.
INK = "#010101"
STYLE: Any = {
    "font.size": 8.5,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "figure.dpi": 160,
    "savefig.dpi": "figure",
}
_METADATA: dict[str, dict[str, str | None]] = {
    "png": {"Software": "airtoll"},
    "svg": {"Date": None, "Creator": "airtoll"},
    "pdf": {"CreationDate": None, "Creator": "airtoll"},
}


@define
class Plate:
    """One drawn panel: the figure, and what its marks say when pointed at."""

    figure: Figure
    texts: list[str] = field(factory=list)

    def say(self, artist: Any, text: str) -> None:
        """Give a mark its text."""
        artist.set_gid(f"say-{len(self.texts)}")
        self.texts.append(text)


@frozen
class Panel:
    """One plate of a picture; ``draw`` makes it afresh each time."""

    title: str
    draw: Callable[[], Plate]


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
    figure, axes = plt.subplots(figsize=(WHOLE_WIDTH if wide else WIDTH, height))
    if title:
        lines = [fill(line, 120 if wide else 56) for line in title.splitlines()]
        figure.suptitle("\n".join(lines), x=0.01, ha="left", fontsize=9)
    return Plate(figure), axes


def label(name: str, *, wide: bool = False) -> str:
    """A name as the label of a row: in lines that leave most of the panel to the data."""
    return fill(name, 44 if wide else 24, break_long_words=False)


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


def drawn(picture: Picture, index: int) -> Plate:
    """A panel, drawn and not yet laid out."""
    with mpl.rc_context(STYLE):
        plate = picture.panels[index].draw()
        plt.close(plate.figure)
    return plate


def printed(plate: Plate, stem: str, forms: Sequence[str]) -> tuple[str, dict[str, bytes]]:
    """A drawn panel as an element of the page, and as the contents of its files by name."""
    cut_fonts()
    with mpl.rc_context({**STYLE, "svg.hashsalt": f"airtoll-{stem}"}):
        # A figure that owns a layout engine is drawn twice for each of its files.
        ConstrainedLayoutEngine().execute(plate.figure)
        drawing = _written(plate.figure, "svg")
        files = {
            f"{stem}.{form}": drawing if form == "svg" else _written(plate.figure, form)
            for form in forms
        }
    return _for_page(drawing.decode(), plate.texts), files


def save(developed: Developed, folder: Path) -> None:
    """Write a picture's files. Raises ``StorageError`` if the disk refuses."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in developed.files.items():
            scratch = folder / f".{name}.tmp"
            scratch.write_bytes(content)
            os.replace(scratch, folder / name)  # noqa: PTH105 - one atomic step
    except OSError as error:
        raise storage_error(folder, error) from error


def legend_below(plate: Plate, axes: Axes, columns: int = 3) -> None:
    """The legend outside of the data, where there is anything to tell apart."""
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) > 0:
        plate.figure.legend(handles, labels, loc="outside lower left", ncols=columns)


def _written(figure: Figure, form: str) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format=form, metadata=_METADATA[form], transparent=form == "svg")
    return buffer.getvalue()


def _for_page(text: str, says: Sequence[str]) -> str:
    """An SVG file as an element of the page: its ink, its marks' texts, no needless names."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)

    def mark(match: re.Match[str]) -> str:
        return f'class="mark" data-say="{escape(says[int(match[1])], quote=True)}"'

    text = re.sub(r'id="say-(\d+)"', mark, text)
    text = re.sub(r' id="[a-zA-Z.]+\d*_\d+"', "", text)
    text = re.sub(r"<g>\s*</g>", "", text)
    text = text.replace(INK, "var(--ink)").replace("#ffffff", "var(--back)")
    text = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", text)
    text = re.sub(r"font-family: [^;\"]*;?", "", text)
    text = re.sub(r"\s*\n\s*", "\n", text)
    return text.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)
