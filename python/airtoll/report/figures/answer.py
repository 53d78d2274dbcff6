"""The figure that carries the answer to the study's question.

A summary gives one picture of the first answer: bars or lines where they are few, else a heat map
with its numbers. All panels of a picture have one scale.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from textwrap import fill
from typing import Any, Final

import polars as pl
from attrs import frozen

from airtoll.analyse import Estimate
from airtoll.analyse.analysis import THROUGHPUT
from airtoll.analyse.quantities import scale_of
from airtoll.drawing.plate import (
    INK,
    Panel,
    Picture,
    Plate,
    end_of,
    label,
    left_out,
    legend_below,
    new_plate,
    reach_of,
)
from airtoll.observe.metrics import OVERHEAD
from airtoll.plan import Cell
from airtoll.present.digits import places_of
from airtoll.present.names import axis_name, short_level
from airtoll.report.answer import (
    Reading,
    quantities,
    quantity_name,
    readings,
    shown,
    swept_factor,
)
from airtoll.report.figures.cost import answers_by_overhead, overhead_pictures
from airtoll.report.palette import colour, course
from airtoll.report.summary import RunSummary

#: A number of so many of a unit is drawn in a larger one.
_LONG: Final = 10_000
#: Most marks of a picture of bars, most lines and panels of one of lines.
_FEW_BARS: Final = 32
_FEW_LINES: Final = 7
_FEW_PANELS: Final = 4
_MOST_ROWS: Final = 24
_MOST_COLUMNS: Final = 12
_MOST_PANELS: Final = 12
#: Columns of a map side by side on a phone.
_SLIM_COLUMNS: Final = 3
#: A word of more letters needs wider columns there.
_SLIM_LETTERS: Final = 9
#: Opacity of the least value of a map.
_TINT: Final = 0.08
#: Opacity of the greatest value, through which its number is read: its contrast is 4.5 or more
#: (WCAG 2.2, 1.4.3) on a light and on a dark page.
_FULL: Final = 0.78
_NO_DATA: Final = "no data arrived"
_TABLE: Final = "the table, or observations.parquet"


@frozen
class _Place:
    """Where a reading is drawn."""

    panel: str
    row: str
    column: str
    reading: Reading


@frozen
class _Empty:
    """A cell without a number: its text, and why."""

    cell: str
    row: str
    column: str
    text: str
    why: str


def answer(summary: RunSummary) -> Iterator[Picture]:
    """One picture of the first answer; none where the run did not measure it."""
    found = quantities(summary)
    if not found:
        return
    quantity = found[0]
    key = swept_factor(summary)
    along = _asks_along(summary, key)
    if along and quantity == OVERHEAD:
        # The factor changes: the answer is the throughput along it, not the cost of the policies.
        quantity = THROUGHPUT
    if quantity == OVERHEAD and answers_by_overhead(summary):
        yield from overhead_pictures(summary, "answer")
        return
    values = readings(summary, quantity)
    places = _placed(summary, values, key)
    rows = {place.row for place in places}
    panels, without = _that_differ(_panels(places), quantity)
    few = _MOST_PANELS if along else _FEW_PANELS
    if key and len(rows) <= _FEW_LINES and len(panels) <= few:
        draw: Any = partial(_lines, summary, quantity, key)
        how = f"Lines by {axis_name(key)}, with {_level(summary)} intervals."
    elif not key and len(values) <= _FEW_BARS:
        draw = partial(_bars, summary, quantity)
        how = f"Bars with {_level(summary)} intervals."
    else:
        draw = partial(_map, summary, quantity)
        how = (
            f"One number per cell with its {_level(summary)} interval; stronger colour for more, "
            "orange below zero"
        )
        estimates = [value.estimate for value in values]
        if quantity == OVERHEAD and any(map(_may_be_none, estimates)):
            how += ", hardly any where the interval includes zero"
        if any(_is_told(one) for one in estimates) and not all(map(_is_told, estimates)):
            how += "; no ± where all trials agree or have not settled"
        how += "."
    end = end_of([abs(value.estimate.value) for value in values])
    if draw.func is not _map:
        ends = [value.estimate for value in values if value.estimate.has_interval]
        end = max(end, reach_of([end], [e for one in ends for e in (abs(one.value), one.high)]))
    factor, unit = scale(quantity, values)
    most = max(len({place.row for place in part}) for _, part in panels)
    columns = max(len({place.column for place in part}) for _, part in panels)
    name = f"{quantity_name(quantity)[:1].upper()}{quantity_name(quantity)[1:]}"
    # The sentences may count from another policy.
    against = f" against {summary.reference}" if quantity == OVERHEAD else ""
    yield Picture(
        "answer",
        "answer",
        f"{name}{against}" + (f", {unit}" if unit else ""),
        how
        + (f" Without any cost, and left out: {'; '.join(without)}." if without else "")
        + left_out(len(panels) - _MOST_PANELS, "panels", _TABLE)
        + left_out(most - _MOST_ROWS, "rows", _TABLE)
        + left_out(columns - _MOST_COLUMNS, "columns", _TABLE),
        tuple(
            Panel(
                title,
                partial(draw, part, title, end / factor),
                partial(_slim, draw, part, title, end / factor),
            )
            for title, part in panels[:_MOST_PANELS]
        ),
        open_panels=2 if draw.func is _map else _FEW_PANELS,
        wide=True,
    )


def _asks_along(summary: RunSummary, key: str | None) -> bool:
    """Whether the first question is about the throughput along the swept factor."""
    if key is None or not summary.answered:
        return False
    question = summary.answered[0].question
    return question.metric == THROUGHPUT and question.axes == (key,)


def _placed(summary: RunSummary, values: Sequence[Reading], key: str | None) -> list[_Place]:
    """Rows are policies with their variants; columns the axis with most levels."""
    names = summary.names
    axis = key or _widest_axis(summary)
    places = []
    for reading in values:
        cell = reading.cell
        row = names.variant(cell.policy, cell.factors_json)
        panel = names.place(cell.scenario, cell.traffic, cell.factors_json, ("policy", axis))
        places.append(_Place(panel, row, _column(summary, cell, axis), reading))
    if axis == "scenario":
        return places
    # A scenario with a single level of the axis has no columns: such scenarios become columns.
    of_scenario: dict[str, set[str]] = {}
    for place in places:
        of_scenario.setdefault(place.reading.cell.scenario, set()).add(place.column)
    single = {name for name, columns in of_scenario.items() if len(columns) == 1}
    if len(single) < 2:
        return places
    return [_by_scenario(summary, p) if p.reading.cell.scenario in single else p for p in places]


def _by_scenario(summary: RunSummary, place: _Place) -> _Place:
    cell = place.reading.cell
    panel = summary.names.place("", cell.traffic, "{}", ("scenario",))
    return _Place(f"other scenarios{', ' + panel if panel else ''}", place.row,
                  summary.names.level("scenario", cell.scenario), place.reading)  # fmt: skip


def _widest_axis(summary: RunSummary) -> str:
    names = summary.names
    axes = {k: len(v) for k, v in names.levels.items() if k not in names.of_policies}
    axes |= {"traffic": len(names.traffics), "scenario": len(names.scenarios)}
    return max(axes, key=lambda name: axes[name])


def _column(summary: RunSummary, cell: Cell, axis: str) -> str:
    if axis in ("scenario", "traffic"):
        return summary.names.level(axis, getattr(cell, axis))
    if axis == "profile_set":
        return summary.names.level(axis, dict(cell.factors)[axis])
    return short_level(axis, dict(cell.factors)[axis])


def _that_differ(
    panels: list[tuple[str, list[_Place]]], quantity: str
) -> tuple[list[tuple[str, list[_Place]]], list[str]]:
    """The panels with an overhead above or below zero, and the titles of the others.

    Without any such panel all stay.
    """
    if quantity != OVERHEAD:
        return panels, []
    kept = [entry for entry in panels if any(p.reading.estimate.value != 0 for p in entry[1])]
    if not kept:
        return panels, []
    titles = {title for title, _ in kept}
    return kept, [title for title, _ in panels if title not in titles]


def _panels(places: Sequence[_Place]) -> list[tuple[str, list[_Place]]]:
    found: dict[str, list[_Place]] = {}
    for place in places:
        found.setdefault(place.panel, []).append(place)
    return list(found.items())


def scale(quantity: str, values: Sequence[Reading]) -> tuple[float, str]:
    """Factor and unit in which every value of the picture is drawn: those of its median value,
    unless the largest would be a long number in them.
    """
    unit = values[0].estimate.unit
    if unit == "1" and shown(quantity, values[0].estimate).endswith("%"):
        return 0.01, "%"
    sizes = sorted(abs(value.estimate.value) for value in values)
    usual = scale_of(sizes[len(sizes) // 2], unit)
    return usual if 0 < sizes[-1] < _LONG * usual[0] else scale_of(sizes[-1], unit)


def three_digits(value: float) -> str:
    """Three significant digits; more before the point, where there are more."""
    return f"{value:.3g}" if abs(value) < 999.5 else f"{value:.0f}"


def _level(summary: RunSummary) -> str:
    return f"{100 * summary.analysis.level:.0f} %"


def _says(quantity: str, place: _Place) -> str:
    words = ", ".join(filter(None, (place.panel, place.column)))
    tail = f" ({words})" if words else ""
    return f"{place.row}{tail}: {shown(quantity, place.reading.estimate)}"


def _bars(
    summary: RunSummary, quantity: str, places: Sequence[_Place], title: str, end: float,
    *, wide: bool = True,
) -> Plate:  # fmt: skip
    factor, unit = scale(quantity, readings(summary, quantity))
    rows = list(dict.fromkeys(place.row for place in places))
    columns = list(dict.fromkeys(place.column for place in places))
    plate, axes = new_plate(0.9 + 0.16 * len(rows) * max(2, len(columns)), title, wide=wide)
    thick = 0.84 / len(columns)
    labelled = set()
    for place in places:
        column = columns.index(place.column)
        at = rows.index(place.row) + (column - (len(columns) - 1) / 2) * thick
        estimate = place.reading.estimate
        value = estimate.value / factor
        bar = axes.barh(
            at, value, 0.9 * thick, color=colour(column),
            label=None if place.column in labelled or len(columns) == 1 else place.column,
        )  # fmt: skip
        labelled.add(place.column)
        if estimate.has_interval and math.isfinite(estimate.half_width):
            ends = [estimate.low / factor, estimate.high / factor]
            axes.plot(ends, [at, at], "|-", ms=3.6, mew=0.9, lw=0.9, color=INK)
        plate.say(bar, _says(quantity, place))
        if abs(value) > 1.12 * end:
            # Cut off by the axis: the number is written instead.
            axes.annotate(
                f"{value:.4g}", (1.08 * end, at), xytext=(-3, 0),
                ha="right", va="center", fontsize=8.5,
            )  # fmt: skip
    axes.set_yticks(range(len(rows)), [label(row, wide=wide) for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    low = min(0.0, *(place.reading.estimate.value / factor for place in places))
    if end > 0:
        axes.set_xlim(1.12 * low, 1.12 * end)
    axes.axvline(0, color=INK, lw=0.8)
    name = quantity_name(quantity)
    axes.set_xlabel(f"{name}, {unit}" if unit else name)
    legend_below(plate)
    return plate


def _lines(
    summary: RunSummary,
    quantity: str,
    key: str,
    places: Sequence[_Place],
    title: str,
    end: float,
    *,
    wide: bool = True,
) -> Plate:
    factor, unit = scale(quantity, readings(summary, quantity))
    plate, axes = new_plate(3.2, title, wide=wide)
    of_row: dict[str, list[_Place]] = {}
    for place in places:
        of_row.setdefault(place.row, []).append(place)
    for index, (row, found) in enumerate(of_row.items()):
        found.sort(key=lambda place: float(dict(place.reading.cell.factors)[key]))
        levels = [float(dict(place.reading.cell.factors)[key]) for place in found]
        values = [place.reading.estimate.value / factor for place in found]
        axes.plot(levels, values, label=row, **course(index))
        for x, y, place in zip(levels, values, found, strict=True):
            estimate = place.reading.estimate
            if estimate.has_interval and math.isfinite(estimate.half_width):
                ends = [estimate.low / factor, estimate.high / factor]
                axes.plot([x, x], ends, "_-", ms=3.6, lw=0.9, color=colour(index))
            dot = axes.plot(x, y, "o", ms=2.5, color=colour(index))
            plate.say(dot, _says(quantity, place))
            if 0 < 1.1 * end < y:
                # Cut off by the axis: the number is written instead.
                axes.annotate(
                    f"{three_digits(y)} ↑", (x, 1.1 * end), xytext=(0, -4), ha="right", va="top"
                )
    if end > 0:
        low = min(0.0, *(place.reading.estimate.value / factor for place in places))
        axes.set_ylim(1.1 * low, 1.1 * end)
    axes.set_xlabel(axis_name(key))
    axes.set_ylabel(f"{quantity_name(quantity)}, {unit}" if unit else quantity_name(quantity))
    legend_below(plate, columns=2)
    return plate


def _slim(draw: Any, places: Sequence[_Place], title: str, end: float) -> Iterator[Plate]:
    """The plates of a phone: a map in blocks of a few columns, below one another."""
    if draw.func is not _map:
        yield draw(places, title, end, wide=False)
        return
    columns = _columns(draw.args[0], draw.args[1], places)
    longest = max((len(word) for column in columns for word in column.split()), default=0)
    side_by_side = _SLIM_COLUMNS - (longest > _SLIM_LETTERS)
    for first in range(0, len(columns), side_by_side):
        some = columns[first : first + side_by_side]
        yield draw(places, title if first == 0 else "", end, wide=False, columns=some)


def _columns(summary: RunSummary, quantity: str, places: Sequence[_Place]) -> list[str]:
    """The columns of a panel in the order of the plan, those without any number, too."""
    found = [
        *((place.reading.cell.name, place.column) for place in places),
        *((one.cell, one.column) for one in _empty(summary, quantity, places)),
    ]
    order = {cell.name: at for at, cell in enumerate(summary.plan.cells)}
    found.sort(key=lambda pair: order[pair[0]])
    return list(dict.fromkeys(column for _, column in found))[:_MOST_COLUMNS]


def _map(
    summary: RunSummary, quantity: str, places: Sequence[_Place], title: str, end: float,
    *, wide: bool = True, columns: Sequence[str] = (),
) -> Plate:  # fmt: skip
    factor, unit = scale(quantity, readings(summary, quantity))
    columns = columns or _columns(summary, quantity, places)
    empty = [one for one in _empty(summary, quantity, places) if one.column in columns]
    measured = (place.row for place in places if place.column in columns)
    rows = list(dict.fromkeys((*measured, *(one.row for one in empty))))[:_MOST_ROWS]
    intervals = any(place.reading.estimate.has_interval for place in places)
    # All rows are as high as the one with most lines.
    lines = max(1 + label(row, wide=wide).count("\n") for row in rows)
    tall = len(rows) * max(0.34 if intervals else 0.24, 0.15 * lines)
    # Names below the columns take as many lines as their width asks for.
    letters = max(6, int((70 if wide else 22) / len(columns)))
    below = max(fill(column, letters).count("\n") for column in columns)
    tall += 0.14 * below
    plate, axes = new_plate(0.95 + tall, title, wide=wide)
    # Times over several powers of ten: equal steps of the colour are equal ratios.
    values = [abs(reading.estimate.value) / factor for reading in readings(summary, quantity)]
    least = min((value for value in values if value > 0), default=0.0)
    wide_range = least > 0 and end > 30 * least
    tiles: list[tuple[float, Any]] = []
    silent = _silent(summary) if quantity == OVERHEAD else set()
    for place in places:
        if place.row not in rows or place.column not in columns:
            continue
        if place.reading.cell.name in silent:
            continue
        x, y = columns.index(place.column), rows.index(place.row)
        estimate = place.reading.estimate
        value = estimate.value / factor
        share = abs(value) / end if end else 0.0
        if wide_range:
            share = math.log(max(abs(value), least) / least) / math.log(end / least)
        if quantity == OVERHEAD and _may_be_none(estimate):
            # A strong colour would call chance a cost or a gain.
            share = 0.0
        # The sign has a colour of its own, which is the same on a dark page.
        # The least has a tint, too: on a dark page it would be none of the map.
        tone, alpha = tint(share, below_zero=value < 0)
        tile = axes.tile(x, y, 0.96, 0.92, color=tone, alpha=alpha)
        tiles.append((value, tile))
        plate.say(tile, _says(quantity, place))
        half = estimate.half_width / factor
        told = _is_told(estimate)
        up = 5.0 if told else 0.0
        decimals = places_of(half, value) if told else 0
        text = f"{value:.{decimals}f}" if told else three_digits(value)
        axes.annotate(text, (x, y), xytext=(0, up), ha="center", va="center")
        if told:
            # An interval far below its value is told by its order alone.
            words = f"{half:.{decimals}f}"
            words = f"± {words if float(words) else format(half, '.1g')}"
            axes.annotate(words, (x, y), xytext=(0, -up), ha="center", va="center")
    for one in empty:
        if one.row in rows:
            x, y = columns.index(one.column), rows.index(one.row)
            tile = axes.tile(x, y, 0.96, 0.92, color=INK, alpha=0.08)
            plate.say(tile, f"{one.row} ({one.column}): {one.why}")
            axes.annotate(one.text, (x, y), ha="center", va="center")
    # The legend: the ends of the colours that are drawn.
    tiles.sort(key=lambda pair: pair[0])
    for value, tile in {id(one[1]): one for one in (*tiles[:1], *tiles[-1:])}.values():
        tile.label = f"{three_digits(value)} {unit}".rstrip()
    axes.set_xticks(range(len(columns)), [label(column) for column in columns])
    axes.set_yticks(range(len(rows)), [label(row, wide=wide) for row in rows])
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.bare = True
    axis = swept_factor(summary)
    if axis:
        axes.set_xlabel(axis_name(axis))
    legend_below(plate, columns=2)
    return plate


def _is_told(estimate: Estimate) -> bool:
    """Whether a number has its interval beside it."""
    return estimate.has_interval and math.isfinite(estimate.half_width)


def _may_be_none(estimate: Estimate) -> bool:
    """Whether the interval of a change includes none."""
    return _is_told(estimate) and estimate.contains(0.0)


def tint(share: float, *, below_zero: bool) -> tuple[str, float]:
    """Colour and opacity of a cell whose value is a share (0 to 1) of the greatest of its map."""
    return colour(3 if below_zero else 0), _TINT + (_FULL - _TINT) * min(1.0, share)


def _silent(summary: RunSummary) -> set[str]:
    """The cells in none of whose trials data arrived."""
    return {one.cell.name for one in readings(summary, THROUGHPUT) if one.estimate.value == 0}


def _empty(summary: RunSummary, quantity: str, places: Sequence[_Place]) -> Iterator[_Empty]:
    """The cells of a panel that were not run, and of overheads those in which nothing arrived:
    an overhead of 100 % is no cost of a policy, and without data of the baseline there is none.
    """
    if not places:
        return
    axis = swept_factor(summary) or _widest_axis(summary)
    panel = places[0].panel
    names = summary.names
    skipped = summary.trials.filter(pl.col("status") == "skipped").select("cell", "reason")
    reasons = dict(skipped.unique().iter_rows())
    silent = _silent(summary) - set(summary.analysis.references) if quantity == OVERHEAD else set()
    for cell in summary.plan.cells:
        if cell.name not in reasons and cell.name not in silent:
            continue
        without = ("policy", axis)
        if names.place(cell.scenario, cell.traffic, cell.factors_json, without) != panel:
            continue
        row, column = names.variant(cell.policy, cell.factors_json), _column(summary, cell, axis)
        if cell.name in silent:
            yield _Empty(cell.name, row, column, "no data", _NO_DATA)
        else:
            yield _Empty(cell.name, row, column, "not run", f"not run: {reasons[cell.name]}")
