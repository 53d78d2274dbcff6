"""From axes to a sheet: where everything stands, once for all forms of a figure.

Takes axes, a title and a size; gives shapes at points. A figure that needs more room for its title
or its legend than a line each is taller than asked for, so that its data keep their height.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from attrs import evolve, frozen

from airtoll.drawing import ticks
from airtoll.drawing.axes import INK, Axes, Axis, Band, Box, Line, Mark, Note, Rule
from airtoll.drawing.lettering import CAPITAL, LEADING, fitted, width
from airtoll.drawing.sheet import Disc, Shape, Sheet, Stroke, Words

_TITLE: Final = 9.0
_TEXT: Final = 8.5
_LEGEND: Final = 8.5
_PAD: Final = 3.0
#: Length of a tick, and its distance from its text.
_TICK: Final = 3.5
#: Width of a sample in the legend, and the space after it and after an entry.
_SAMPLE: Final = 16.0
_GAP: Final = 5.0
_GRID: Final = "#b0b0b0"
_GRID_ALPHA: Final = 0.25
#: Least room for a tick's text along x and y.
_ROOM_X: Final = 46.0
_ROOM_Y: Final = 24.0

Ticks = Sequence[tuple[float, str]]


@frozen
class _Frame:
    """The rectangle of the data on the sheet, and both scales."""

    left: float
    right: float
    top: float
    bottom: float
    x_ends: tuple[float, float]
    y_ends: tuple[float, float]
    axes: Axes

    def x(self, value: float) -> float:
        share = _share(self.axes.x, value, self.x_ends)
        return self.left + share * (self.right - self.left)

    def y(self, value: float) -> float:
        share = _share(self.axes.y, value, self.y_ends)
        return self.bottom - share * (self.bottom - self.top)

    def holds(self, x: float, y: float) -> bool:
        near = 0.01
        return (
            self.left - near <= x <= self.right + near
            and self.top - near <= y <= self.bottom + near
        )


def layout(axes: Axes, title: str, width_pt: float, height_pt: float) -> Sheet:
    """The sheet of one panel, ``width_pt`` wide."""
    legend, legend_rows = _legend(axes, width_pt - 2 * _PAD)
    titles = title.splitlines()
    top = _PAD + (len(titles) * _TITLE * LEADING + _PAD if titles else _PAD)
    label_x = _TEXT * LEADING + 2 if axes.x.label else 0.0
    legend_height = legend_rows * _LEGEND * 1.5
    # A sheet of the height that was asked for has one line of title and one row of legend.
    extra = max(0, len(titles) - 1) * _TITLE * LEADING + max(0, legend_rows - 1) * _LEGEND * 1.5
    bounds = axes.reach(upright=False), axes.reach(upright=True)
    left, right, below = 40.0, _PAD, 20.0
    for _ in range(3):
        bottom = height_pt + extra - (_PAD + legend_height + label_x + below)
        frame = _Frame(left, width_pt - right, top, max(bottom, top + 20), *bounds, axes)
        x_ticks, y_ticks = _ticks(frame)
        before = (left, right, below)
        left, right, below = _margins(frame, x_ticks, y_ticks, width_pt)
        if (left, right, below) == before:
            break
    total = frame.bottom + below + label_x + legend_height + _PAD
    sheet = Sheet(width_pt, round(total, 2))
    if titles:
        sheet.put(*_lines(titles, _PAD, _PAD + _TITLE * 0.95, _TITLE))
    _put_grid(sheet, frame, x_ticks, y_ticks)
    for mark in sorted(axes.marks, key=lambda mark: mark.order):
        sheet.put(*_shapes(frame, mark), say=mark.say)
    _put_ticks(sheet, frame, x_ticks, y_ticks)
    for note in axes.notes:
        if words := _noted(frame, note):
            sheet.put(words)
    middle = (frame.left + frame.right) / 2
    if axes.x.label:
        wide = min(middle, width_pt - middle) * 2
        text = fitted(axes.x.label, _TEXT, max(wide, 60.0)).replace("\n", " ")
        half = min(width(text, _TEXT) / 2, width_pt / 2 - _PAD)
        at = min(max(middle, half + _PAD), width_pt - half - _PAD)
        sheet.put(Words(text, at, frame.bottom + below + _TEXT, _TEXT, "middle"))
    if axes.y.label:
        at = (frame.top + frame.bottom) / 2
        sheet.put(Words(axes.y.label, _PAD + _TEXT * 0.8, at, _TEXT, "middle", upward=True))
    first = frame.bottom + below + label_x + _LEGEND * 1.25
    for shapes in legend:
        sheet.put(*(_moved(shape, _PAD, first) for shape in shapes))
    return sheet


def _share(axis: Axis, value: float, ends: tuple[float, float]) -> float:
    low, high = ends
    if axis.log:
        if value <= 0:
            return -math.inf
        low, high, value = math.log10(low), math.log10(high), math.log10(value)
    share = (value - low) / (high - low) if high > low else 0.5
    return 1 - share if axis.inverted else share


def _ticks(frame: _Frame) -> tuple[Ticks, Ticks]:
    found = []
    for axis, ends, length, room in (
        (frame.axes.x, frame.x_ends, frame.right - frame.left, _ROOM_X),
        (frame.axes.y, frame.y_ends, frame.bottom - frame.top, _ROOM_Y),
    ):
        most = min(9, max(1, int(length / room)))
        if axis.names is not None:
            low, high = ends
            found.append([pair for pair in axis.names if low <= pair[0] <= high])
        else:
            make = ticks.logarithmic if axis.log else ticks.linear
            found.append(make(*ends, most))
    x_ticks = found[0]
    if frame.axes.x.names:
        room = (frame.right - frame.left) / len(frame.axes.x.names) - 4
        x_ticks = [(at, fitted(name, frame.axes.x.size, room)) for at, name in x_ticks]
    return x_ticks, found[1]


def _margins(
    frame: _Frame, x_ticks: Ticks, y_ticks: Ticks, width_pt: float
) -> tuple[float, float, float]:
    """Room left of, right of and below the data, up to the axes' labels."""
    axes = frame.axes
    space = 2 * _PAD if axes.bare else _TICK + _PAD
    widest = max((_width(text, axes.y.size) for _, text in y_ticks), default=0.0)
    left = _PAD + space + widest + (_TEXT * 1.4 if axes.y.label else 0.0)
    right, size = 2 * _PAD, axes.x.size
    for at, text in x_ticks:
        half, x = _width(text, size) / 2, frame.x(at)
        right = max(right, x + half + _PAD - frame.right)
        left = max(left, frame.left - (x - half) + _PAD)
    for note in axes.notes:
        words = _noted(frame, note)
        if words is not None:
            start = words.x - {"start": 0.0, "middle": 0.5, "end": 1.0}[words.anchor] * width(
                words.text, words.size
            )
            over = start + width(words.text, words.size) - frame.right
            right = max(right, over + _PAD)
            left = max(left, frame.left - start + _PAD) if start < _PAD else left
    lines = max((text.count("\n") + 1 for _, text in x_ticks), default=1)
    below = space + lines * size * LEADING
    # The data keep a third of the sheet.
    left = min(left, 0.6 * width_pt)
    return left, min(right, 0.9 * width_pt - left), below


def _width(text: str, size: float) -> float:
    return max((width(line, size) for line in text.splitlines()), default=0.0)


def _lines(
    texts: Sequence[str], x: float, y: float, size: float, anchor: str = "start"
) -> list[Words]:
    return [Words(text, x, y + n * size * LEADING, size, anchor) for n, text in enumerate(texts)]


def _put_grid(sheet: Sheet, frame: _Frame, x_ticks: Ticks, y_ticks: Ticks) -> None:
    if frame.axes.bare:
        return

    def line(*ends: tuple[float, float]) -> Stroke:
        return Stroke(ends, stroke=_GRID, width=0.8, alpha=_GRID_ALPHA)

    xs = [frame.x(at) for at, _ in x_ticks]
    ys = [frame.y(at) for at, _ in y_ticks]
    sheet.put(
        *(line((x, frame.top), (x, frame.bottom)) for x in xs),
        *(line((frame.left, y), (frame.right, y)) for y in ys),
    )


def _put_ticks(sheet: Sheet, frame: _Frame, x_ticks: Ticks, y_ticks: Ticks) -> None:
    shapes: list[Shape] = []
    axes = frame.axes
    if not axes.bare:
        corner = ((frame.left, frame.top), (frame.left, frame.bottom), (frame.right, frame.bottom))
        shapes.append(Stroke(corner, stroke=INK, width=0.8))
    space = 2 * _PAD if axes.bare else _TICK + _PAD
    for at, text in x_ticks:
        x = frame.x(at)
        if not axes.bare:
            ends = ((x, frame.bottom), (x, frame.bottom + _TICK))
            shapes.append(Stroke(ends, stroke=INK, width=0.8))
        first = frame.bottom + space + CAPITAL * axes.x.size
        shapes += _lines(text.splitlines(), x, first, axes.x.size, "middle")
    for at, text in y_ticks:
        y = frame.y(at)
        if not axes.bare:
            ends = ((frame.left - _TICK, y), (frame.left, y))
            shapes.append(Stroke(ends, stroke=INK, width=0.8))
        lines, size = text.splitlines(), axes.y.size
        first = y + CAPITAL * size / 2 - (len(lines) - 1) * size * LEADING / 2
        shapes += _lines(lines, frame.left - space, first, size, "end")
    sheet.put(*shapes)


def _noted(frame: _Frame, note: Note) -> Words | None:
    x, y = frame.x(note.at[0]) + note.offset[0], frame.y(note.at[1]) - note.offset[1]
    if not (math.isfinite(x) and math.isfinite(y)):
        return None
    drop = {"center": CAPITAL / 2, "top": CAPITAL}.get(note.va, 0.0)
    anchor = {"left": "start", "center": "middle", "right": "end"}[note.ha]
    return Words(note.text, x, y + drop * note.size, note.size, anchor)


def _shapes(frame: _Frame, mark: Mark) -> list[Shape]:
    match mark:
        case Rule(at=at, upright=upright):
            x, y = frame.x(at), frame.y(at)
            if upright and frame.left <= x <= frame.right:
                ends = ((x, frame.top), (x, frame.bottom))
            elif not upright and frame.top <= y <= frame.bottom:
                ends = ((frame.left, y), (frame.right, y))
            else:
                return []
            return [Stroke(ends, stroke=mark.color, width=mark.lw)]
        case Box():
            return _box(frame, mark)
        case Band():
            return _band(frame, mark)
        case Line():
            return _line(frame, mark)
    return []


def _box(frame: _Frame, box: Box) -> list[Shape]:
    xs = sorted(_within(frame.x(v), frame.left, frame.right) for v in (box.left, box.right))
    ys = sorted(_within(frame.y(v), frame.top, frame.bottom) for v in (box.bottom, box.top))
    corners = ((xs[0], ys[0]), (xs[1], ys[0]), (xs[1], ys[1]), (xs[0], ys[1]))
    return [Stroke(corners, closed=True, fill=box.color, alpha=box.alpha)]


def _band(frame: _Frame, band: Band) -> list[Shape]:
    def course(values: Sequence[float]) -> list[tuple[float, float]]:
        return [
            (_within(frame.x(x), frame.left, frame.right),
             _within(frame.y(y), frame.top, frame.bottom))
            for x, y in zip(band.xs, values, strict=True)
            if math.isfinite(x) and math.isfinite(y)
        ]  # fmt: skip

    around = tuple(course(band.low) + course(band.high)[::-1])
    return [Stroke(around, closed=True, fill=band.color, alpha=band.alpha)] if around else []


#: Markers that end an interval.
_CAPS = ("|", "_")


def _line(frame: _Frame, line: Line) -> list[Shape]:
    points = [(frame.x(x), frame.y(y)) for x, y in zip(line.xs, line.ys, strict=True)]
    shapes: list[Shape] = []
    if line.ls != "none":
        dash = (line.lw, 1.65 * line.lw) if line.ls == ":" else None
        runs = _inside(frame, points)
        shapes += [
            Stroke(tuple(run), stroke=line.color, width=line.lw, alpha=line.alpha, dash=dash)
            for run in runs
        ]
        if line.marker in _CAPS:
            shapes += [
                _arrow(line, tip, before)
                for run in runs
                for tip, before in ((run[0], run[1]), (run[-1], run[-2]))
                if tip not in points
            ]
    if line.marker:
        for x, y in points:
            if frame.holds(x, y):
                shapes += _marker(line, x, y)
    return shapes


def _arrow(line: Line, tip: tuple[float, float], before: tuple[float, float]) -> Stroke:
    """The head at the end of an interval that the axis cuts."""
    size, angle = 1.2 * line.ms, math.atan2(before[1] - tip[1], before[0] - tip[0])
    sides = [
        (tip[0] + size * math.cos(angle + turn), tip[1] + size * math.sin(angle + turn))
        for turn in (0.45, -0.45)
    ]
    return Stroke((sides[0], tip, sides[1]), True, line.color, 0.0, line.color, line.alpha)


def _inside(
    frame: _Frame, points: Sequence[tuple[float, float]]
) -> list[list[tuple[float, float]]]:
    """The runs of a line through points that lie inside the frame."""
    runs: list[list[tuple[float, float]]] = []
    for one, other in pairwise(points):
        piece = _clipped(frame, one, other)
        if piece is None:
            continue
        if runs and runs[-1][-1] == piece[0]:
            runs[-1].append(piece[1])
        else:
            runs.append(list(piece))
    return runs


def _clipped(
    frame: _Frame, one: tuple[float, float], other: tuple[float, float]
) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """The part of a segment inside the frame (Liang and Barsky 1984)."""
    if not all(math.isfinite(v) for v in (*one, *other)):
        return None
    (x, y), dx, dy = one, other[0] - one[0], other[1] - one[1]
    start, end = 0.0, 1.0
    for p, q in ((-dx, x - frame.left), (dx, frame.right - x), (-dy, y - frame.top),
                 (dy, frame.bottom - y)):  # fmt: skip
        if p == 0:
            if q < -1e-6:
                return None
        elif p < 0:
            start = max(start, q / p)
        else:
            end = min(end, q / p)
    if start > end:
        return None
    # Ends inside stay exactly where they are, so that pieces join.
    first = one if start == 0 else (x + start * dx, y + start * dy)
    last = other if end == 1 else (x + end * dx, y + end * dy)
    return first, last


def _within(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def _marker(line: Line, x: float, y: float) -> list[Shape]:
    half, diagonal = line.ms / 2, line.ms / math.sqrt(2)

    def area(points: Sequence[tuple[float, float]]) -> Stroke:
        return Stroke(
            tuple((x + a, y + b) for a, b in points), True, line.color, line.mew, line.face,
            line.alpha,
        )  # fmt: skip

    def bar(a: float, b: float) -> Stroke:
        return Stroke(
            ((x - a, y - b), (x + a, y + b)), stroke=line.color, width=line.mew, alpha=line.alpha
        )

    makers: dict[str, Callable[[], list[Shape]]] = {
        "o": lambda: [Disc(x, y, half, line.color, line.mew, line.face, line.alpha)],
        "|": lambda: [bar(0.0, half)],
        "_": lambda: [bar(half, 0.0)],
        "x": lambda: [bar(half, half), bar(half, -half)],
        "s": lambda: [area([(-half, -half), (half, -half), (half, half), (-half, half)])],
        "D": lambda: [area([(-diagonal, 0), (0, -diagonal), (diagonal, 0), (0, diagonal)])],
        "X": lambda: [area(_cross(half))],
    }
    return makers[line.marker]()


def _cross(half: float) -> list[tuple[float, float]]:
    """A filled x of three bars' width."""
    quarter = half / 2
    return [
        (-half, -quarter), (-quarter, -half), (0, -quarter), (quarter, -half), (half, -quarter),
        (quarter, 0), (half, quarter), (quarter, half), (0, quarter), (-quarter, half),
        (-half, quarter), (-quarter, 0),
    ]  # fmt: skip


def _legend(axes: Axes, room: float) -> tuple[list[list[Shape]], int]:
    """Entries of the legend from its upper left corner on, and how many rows they take."""
    named = [mark for mark in axes.marks if mark.label]
    if not named or not axes.legend_columns:
        return [], 0
    before = _SAMPLE + _GAP
    for columns in range(min(axes.legend_columns, len(named)), 0, -1):
        texts = [fitted(mark.label or "", _LEGEND, room - before) for mark in named]
        wide = [
            before + max(_width(text, _LEGEND) for text in texts[column::columns]) + 2 * _GAP
            for column in range(columns)
        ]
        if columns == 1 or sum(wide) - 2 * _GAP <= room:
            break
    entries: list[list[Shape]] = []
    row = 0.0
    for start in range(0, len(named), columns):
        lines = 1
        for column, mark in enumerate(named[start : start + columns]):
            x, y = sum(wide[:column]), row * _LEGEND * 1.5
            text = texts[start + column].splitlines()
            lines = max(lines, len(text))
            words = _lines(text, x + before, y, _LEGEND)
            entries.append([*_sample(mark, x, y - CAPITAL * _LEGEND / 2), *words])
        row += 1 + (lines - 1) * LEADING / 1.5
    return entries, math.ceil(row)


def _sample(mark: Mark, x: float, y: float) -> list[Shape]:
    if isinstance(mark, Line):
        shapes: list[Shape] = []
        if mark.ls != "none":
            ends = ((x, y), (x + _SAMPLE, y))
            shapes.append(Stroke(ends, stroke=mark.color, width=mark.lw, alpha=mark.alpha))
        if mark.marker:
            shapes += _marker(mark, x + _SAMPLE / 2, y)
        return shapes
    tall = _LEGEND * 0.35
    corners = ((x, y - tall), (x + _SAMPLE, y - tall), (x + _SAMPLE, y + tall), (x, y + tall))
    return [Stroke(corners, closed=True, fill=mark.color, alpha=mark.alpha)]


def _moved(shape: Shape, x: float, y: float) -> Shape:
    if isinstance(shape, Stroke):
        return evolve(shape, points=tuple((a + x, b + y) for a, b in shape.points))
    return evolve(shape, x=shape.x + x, y=shape.y + y)
