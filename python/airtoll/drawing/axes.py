"""One pair of axes: marks, limits and labels as plain data.

Takes data in the units of its axes; gives marks that ``layout`` places on a sheet. Calls have the
names and the parameters of matplotlib's, where one of that name exists. Sizes are points.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

from attrs import define, field, frozen

#: The colour that becomes the page's ink. Not quite black: what is black needs no name in SVG.
INK: Final = "#010101"
#: Letters of a format: markers, and lines.
_MARKERS: Final = "o|_xDsX"
#: Share of the data's range that stays free on both sides.
_MARGIN: Final = 0.05

Numbers = float | Iterable[float]


@define
class Mark:
    """Anything drawn; ``say`` is its text when pointed at. ``order``: later marks cover earlier."""

    color: str
    alpha: float
    order: float
    label: str | None = field(kw_only=True, default=None)
    say: str | None = field(kw_only=True, default=None)


@define
class Line(Mark):
    """Points, joined by a line, drawn as markers, or both."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    marker: str
    ms: float
    mew: float
    lw: float
    ls: str
    face: str


@define
class Box(Mark):
    """A filled rectangle between two corners."""

    left: float
    right: float
    bottom: float
    top: float


@define
class Band(Mark):
    """The area between two courses."""

    xs: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@define
class Rule(Mark):
    """A line across the axes at a value of x (``upright``) or of y."""

    at: float
    upright: bool
    lw: float


@frozen
class Note:
    """Text at a point of the data, moved by ``offset`` points; ``ha``, ``va``: matplotlib's."""

    text: str
    at: tuple[float, float]
    offset: tuple[float, float]
    ha: str
    va: str
    size: float


@define
class Axis:
    """One direction: limits in data units, scale, ticks by name, label."""

    low: float | None = None
    high: float | None = None
    inverted: bool = False
    log: bool = False
    names: tuple[tuple[float, str], ...] | None = None
    size: float = 8.5
    label: str = ""
    margin: float = _MARGIN


@define
class Axes:
    """Marks in the order of their calls."""

    marks: list[Mark] = field(factory=list)
    notes: list[Note] = field(factory=list)
    x: Axis = field(factory=Axis)
    y: Axis = field(factory=Axis)
    #: Neither grid, spines nor tick marks.
    bare: bool = False
    legend_columns: int = 0

    def plot(  # noqa: PLR0913 - keywords of the library
        self,
        x: Numbers,
        y: Numbers,
        form: str = "",
        *,
        marker: str = "",
        ms: float = 6.0,
        mew: float = 1.0,
        lw: float = 1.5,
        ls: str = "",
        color: str = INK,
        markerfacecolor: str = "",
        alpha: float = 1.0,
        label: str | None = None,
        zorder: float = 2.0,
        drawstyle: str = "default",
    ) -> Line:
        """Points as a line, markers or both; ``drawstyle`` "steps-post" holds each value."""
        xs, ys = _numbers(x), _numbers(y)
        chosen = marker or "".join(c for c in form if c in _MARKERS)
        solid = ls or ("-" if not chosen or "-" in form else "none")
        if drawstyle == "steps-post":
            xs, ys = _held(xs, ys)
        line = Line(
            color, alpha, zorder, xs, ys, chosen, ms, mew, lw, solid,
            markerfacecolor or color, label=label,
        )  # fmt: skip
        self.marks.append(line)
        return line

    def barh(
        self, y: float, width: float, height: float, *, color: str, left: float = 0.0,
        label: str | None = None,
    ) -> Box:  # fmt: skip
        """A horizontal bar, ``height`` thick around ``y``."""
        ends = sorted((left, left + width))
        bar = Box(color, 1.0, 1.0, ends[0], ends[1], y - height / 2, y + height / 2, label=label)
        self.marks.append(bar)
        return bar

    def tile(
        self, x: float, y: float, width: float, height: float, *, color: str, alpha: float
    ) -> Box:
        """A rectangle around a point."""
        box = Box(
            color, alpha, 1.0, x - width / 2, x + width / 2, y - height / 2, y + height / 2
        )  # fmt: skip
        self.marks.append(box)
        return box

    def fill_between(
        self, x: Numbers, low: Numbers, high: Numbers, *, color: str, alpha: float
    ) -> Band:
        """The area between two courses over the same x."""
        band = Band(color, alpha, 1.0, _numbers(x), _numbers(low), _numbers(high))
        self.marks.append(band)
        return band

    def axvline(self, x: float, *, color: str = INK, lw: float = 0.8) -> None:
        """A line from bottom to top."""
        self.marks.append(Rule(color, 1.0, 2.0, x, True, lw))

    def axhline(self, y: float, *, color: str = INK, lw: float = 0.8) -> None:
        """A line from left to right."""
        self.marks.append(Rule(color, 1.0, 2.0, y, False, lw))

    def annotate(
        self, text: str, xy: tuple[float, float], *, xytext: tuple[float, float] = (0.0, 0.0),
        ha: str = "left", va: str = "baseline", fontsize: float = 8.5,
    ) -> None:  # fmt: skip
        """Text at a point, moved by ``xytext`` points."""
        self.notes.append(Note(text, xy, xytext, ha, va, fontsize))

    def set_xticks(self, at: Iterable[float], names: Sequence[str], fontsize: float = 8.5) -> None:
        """Ticks of x by name."""
        self.x.names, self.x.size = tuple(zip(map(float, at), names, strict=True)), fontsize

    def set_yticks(self, at: Iterable[float], names: Sequence[str], fontsize: float = 8.5) -> None:
        """Ticks of y by name."""
        self.y.names, self.y.size = tuple(zip(map(float, at), names, strict=True)), fontsize

    def set_xlim(self, left: float | None = None, right: float | None = None) -> None:
        """Ends of x; what is None follows the data."""
        _limit(self.x, left, right)

    def set_ylim(self, bottom: float | None = None, top: float | None = None) -> None:
        """Ends of y, the first at the bottom; what is None follows the data."""
        _limit(self.y, bottom, top)

    def invert_yaxis(self) -> None:
        """Values of y grow downward."""
        self.y.inverted = True

    def margins(self, *, x: float | None = None, y: float | None = None) -> None:
        """Shares of the data's range that stay free on both sides."""
        if x is not None:
            self.x.margin = x
        if y is not None:
            self.y.margin = y

    def set_log(self) -> None:
        """Equal steps are equal ratios, on both axes."""
        self.x.log = self.y.log = True

    def set_xlabel(self, text: str) -> None:
        """Name x, with its unit."""
        self.x.label = text

    def set_ylabel(self, text: str) -> None:
        """Name y, with its unit."""
        self.y.label = text

    def reach(self, *, upright: bool) -> tuple[float, float]:
        """Ends of y (``upright``) or of x in data units, the low one first."""
        axis = self.y if upright else self.x
        values: list[float] = []
        bases: set[float] = set()
        for mark in self.marks:
            values += _values(mark, upright)
            if isinstance(mark, Box) and not upright:
                bases |= {mark.left, mark.right} & {0.0}
        known = [v for v in values if math.isfinite(v) and (v > 0 or not axis.log)]
        low, high = min(known, default=0.0), max(known, default=1.0)
        if axis.log:
            low, high = math.log10(low if known else 1.0), math.log10(high if known else 10.0)
        if low == high:
            low, high = low - (0.5 if low else 0.05), high + (0.5 if high else 0.05)
        room = axis.margin * (high - low)
        # Bars stand on their axis.
        ends = [low if low in bases else low - room, high if high in bases else high + room]
        if axis.log:
            ends = [10.0**end for end in ends]
        given = (axis.low, axis.high)
        return (
            ends[0] if given[0] is None else given[0],
            ends[1] if given[1] is None else given[1],
        )


def _limit(axis: Axis, first: float | None, last: float | None) -> None:
    if first is not None and last is not None and first > last:
        axis.inverted = True
        first, last = last, first
    if first is not None:
        axis.low = float(first)
    if last is not None:
        axis.high = float(last)


def _numbers(value: Any) -> tuple[float, ...]:
    if isinstance(value, Iterable):
        return tuple(float(v) for v in value)
    return (float(value),)


def _held(xs: Sequence[float], ys: Sequence[float]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The corners of a course that holds each value up to the next x."""
    across, up = list(xs[:1]), list(ys[:1])
    for x, y in zip(xs[1:], ys[1:], strict=True):
        across += [x, x]
        up += [up[-1], y]
    return tuple(across), tuple(up)


def _values(mark: Mark, upright: bool) -> Sequence[float]:
    """Values of y (``upright``) or of x that a mark covers."""
    match mark:
        case Line():
            return mark.ys if upright else mark.xs
        case Box():
            return (mark.bottom, mark.top) if upright else (mark.left, mark.right)
        case Band():
            return (*mark.low, *mark.high) if upright else mark.xs
        case Rule():
            return (mark.at,) if mark.upright != upright else ()
    return ()
