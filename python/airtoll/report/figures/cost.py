"""Overhead and throughput by policy, one panel per scenario; overhead along a swept factor.

Takes a summary; gives pictures. Printed figures are drawn next to ours. Printed figures above the
capacity of the PHY have their own mark.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from functools import partial
from typing import Any

import polars as pl

from airtoll.analyse import Comparison, Estimate
from airtoll.analyse.analysis import THROUGHPUT, rows_by
from airtoll.analyse.estimate import without_interval
from airtoll.analyse.quantities import scale_of, show_estimate, show_overhead, show_value
from airtoll.drawing import Axes
from airtoll.drawing.plate import (
    INK,
    Panel,
    Picture,
    Plate,
    label,
    left_out,
    legend_below,
    new_plate,
    reach_of,
)
from airtoll.observe.metrics import OVERHEAD
from airtoll.present.names import axis_name, level_name, policy_name
from airtoll.report.answer import quantities, readings, swept_factor
from airtoll.report.palette import colour, course
from airtoll.report.summary import RunSummary

#: Most policies on one axis without overlapping labels.
_MOST_POLICIES = 16
#: Most bars of one panel, for a readable length.
_MOST_BARS = 96
#: Most levels of a swept factor without overlapping dots.
_MOST_LEVELS = 60
#: Most panels of a picture; the table has the rest.
MOST_PANELS = 12
#: Most bars, panels and lines of the answer's figure; beyond, it is a heat map.
_FEW_BARS = 40
_FEW_PANELS = 4
_FEW_LINES = 7
_IN_WORDS = {
    "of_baseline": "as a share of the baseline's",
    "of_secured": "as a share of the policy's own",
    "difference_bps": "as a difference of rates",
}
_TABLE = "the table, or the CSV file next to the page"


def pictures(summary: RunSummary) -> Iterator[Picture]:
    """Overhead and throughput, unless they are the figure of the answer."""
    swept = swept_factor(summary)
    if not answers_by_overhead(summary):
        yield from overhead_pictures(summary, "costs")
    if swept:
        return
    shown, left = _groups(summary, whole_cells(summary))
    level = f"{100 * summary.analysis.level:.0f} %"
    if shown:
        values = [v for _, part in shown for v in part["value"]]
        ends = [v for _, part in shown for v in part["high"].drop_nulls()]
        end = reach_of(values, [*values, *ends])
        yield Picture(
            "throughput",
            "throughput",
            "How much throughput is left?",
            f"Throughput with {level} intervals (dots); ticks: closed form."
            + (" Diamonds: printed; crosses: printed, above what the PHY can carry."
               if summary.comparisons else "")
            + left_out(left, "scenarios", _TABLE)
            + _bars_left_out(part for _, part in shown),
            tuple(
                _panel(title, partial(_throughputs, summary, part, title, end), len(shown) == 1)
                for title, part in shown
            ),
            open_panels=4,
            wide=len(shown) == 1,
        )  # fmt: skip


def answers_by_overhead(summary: RunSummary) -> bool:
    """Whether the overhead is the answer and its bars or lines are few enough for one look."""
    if quantities(summary)[:1] != (OVERHEAD,):
        return False
    found = readings(summary, OVERHEAD)
    policies = {reading.cell.policy for reading in found}
    swept = swept_factor(summary)
    places = {
        summary.names.place(
            r.cell.scenario, r.cell.traffic, r.cell.factors_json, (swept,) if swept else ()
        )
        for r in found
    }
    if swept:
        return len(places) <= _FEW_PANELS and len(policies) <= _FEW_LINES
    return len(found) <= _FEW_BARS


def overhead_pictures(summary: RunSummary, section: str) -> Iterator[Picture]:
    """Overhead along the swept factor, or by policy."""
    swept = swept_factor(summary)
    if summary.analysis.overheads.is_empty():
        return
    if swept:
        yield _sweep_picture(summary, swept, section)
        return
    known = summary.analysis.overheads["cell"].unique().implode()
    # A scenario without a measured baseline has no overhead to draw.
    rows = whole_cells(summary)
    secured = rows.filter(pl.col("cell").is_in(known)).select("scenario", "factors").unique()
    shown, left = _groups(
        summary, rows.join(secured, on=["scenario", "factors"], how="semi", maintain_order="left")
    )
    if not shown:
        return
    printed = any(c.quantity == "overhead" for c in summary.comparisons)
    level = f"{100 * summary.analysis.level:.0f} %"
    limits = _limits(summary, [part for _, part in shown])
    yield Picture(
        "overhead",
        section,
        "What does each policy cost?",
        f"Throughput overhead against {summary.reference}, "
        f"{_IN_WORDS[summary.analysis.definition]}; bars with {level} intervals."
        + (" Diamonds: the printed overhead." if printed else "")
        + left_out(left, "scenarios", _TABLE)
        + _bars_left_out(part for _, part in shown),
        tuple(
            _panel(title, partial(_overheads, summary, part, title, limits), len(shown) == 1)
            for title, part in shown
        ),
        wide=len(shown) == 1,
    )


def _panel(title: str, draw: Callable[..., Plate], wide: bool) -> Panel:
    """A panel of the page's width, with its form for a phone, or a narrow one."""
    slim = (lambda: (draw(wide=False),)) if wide else None
    return Panel(title, partial(draw, wide=wide), slim)


def _limits(summary: RunSummary, parts: Iterable[pl.DataFrame]) -> tuple[float, float]:
    """Ends of the axis that all panels share, as drawn: percent, or Mb/s of a difference."""
    factor, _unit = _overhead_scale(summary)
    lows, highs, values = [0.0], [0.0], []
    for part in parts:
        for cell in part["cell"]:
            estimate = summary.analysis.overhead(cell)
            if estimate is None or not math.isfinite(estimate.value):
                continue
            values.append(factor * abs(estimate.value))
            ends = (estimate.low, estimate.high) if estimate.has_interval else (estimate.value,) * 2
            lows.append(factor * min(e for e in (*ends, estimate.value) if math.isfinite(e)))
            highs.append(factor * max(e for e in (*ends, estimate.value) if math.isfinite(e)))
            printed = printed_beside(summary, cell, "overhead")
            if printed is not None:
                highs.append(factor * printed.published.value)
                lows.append(factor * printed.published.value)
    low, high = -reach_of(values, [-low for low in lows]), reach_of(values, highs)
    room = 0.04 * (high - low)
    return (low - room if low < 0 else 0.0), high + room


def whole_cells(summary: RunSummary) -> pl.DataFrame:
    """Whole-cell throughput rows in the order of the plan."""
    frame = summary.analysis.estimates.filter(
        (pl.col("metric") == THROUGHPUT) & pl.col("flow").is_null() & pl.col("station").is_null()
    )
    order = {cell.name: index for index, cell in enumerate(summary.plan.cells)}
    return frame.with_columns(
        order=pl.col("cell").replace_strict(order, return_dtype=pl.Int64)
    ).sort("order")


def printed_beside(summary: RunSummary, cell: str, quantity: str) -> Comparison | None:
    """The printed figure for a whole cell."""
    for comparison in summary.comparisons:
        if comparison.cell != cell or comparison.quantity != quantity:
            continue
        stations = summary.cells[comparison.cell].settings.stations
        if comparison.client in ("", "total") or len(stations) == 1:
            return comparison
    return None


def _groups(summary: RunSummary, rows: pl.DataFrame) -> tuple[list[tuple[str, pl.DataFrame]], int]:
    """The first panels' titles and rows, by scenario and factors; the number of panels left out.

    A frame for each of five thousand panels would take 30 MB.
    """
    places = rows.select("scenario", "factors").unique(maintain_order=True)
    groups = [
        (
            summary.names.place(scenario, "", factors, ("traffic",)),
            rows.filter(scenario=scenario, factors=factors),
        )
        for scenario, factors in places.head(MOST_PANELS).iter_rows()
    ]
    return groups, places.height - MOST_PANELS


def _bars_left_out(parts: Iterable[pl.DataFrame]) -> str:
    """The parts that the largest panel leaves out, in words."""
    policies = traffics = 0
    for part in parts:
        count = part["policy"].n_unique()
        policies = max(policies, count - _MOST_POLICIES)
        traffics = max(traffics, part["traffic"].n_unique() - _most_traffics(count))
    return left_out(policies, "policies", _TABLE) + left_out(traffics, "traffics", _TABLE)


def _most_traffics(policies: int) -> int:
    return max(2, _MOST_BARS // max(1, min(policies, _MOST_POLICIES)))


def _overheads(
    summary: RunSummary,
    rows: pl.DataFrame,
    title: str,
    limits: tuple[float, float],
    *,
    wide: bool,
) -> Plate:
    secured = rows.filter(~pl.col("cell").is_in(list(summary.analysis.references)))
    policies = secured["policy"].unique(maintain_order=True).to_list()[:_MOST_POLICIES]
    traffics = secured["traffic"].unique(maintain_order=True).to_list()
    traffics = traffics[: _most_traffics(len(policies))]
    factor, unit = _overhead_scale(summary)
    plate, axes = new_plate(0.9 + 0.15 * len(policies) * max(2, len(traffics)), title, wide=wide)
    thick = 0.84 / max(1, len(traffics))
    names = _cells(secured)
    for index, traffic in enumerate(traffics):
        first = True
        for place, policy in enumerate(policies):
            cell = names.get((policy, traffic))
            estimate = summary.analysis.overhead(cell) if cell else None
            if estimate is None or cell is None or not math.isfinite(estimate.value):
                continue
            at = place + (index - (len(traffics) - 1) / 2) * thick
            bar = axes.barh(
                at,
                factor * estimate.value,
                thick * 0.9,
                color=colour(index),
                label=summary.names.level("traffic", traffic) if first else None,
            )
            first = False
            text = f"{policy_name(policy)}, {traffic}: overhead {show_overhead(estimate)}"
            _interval(axes, estimate, factor, at)
            printed = printed_beside(summary, cell, "overhead")
            if printed is not None:
                text += f"; printed {show_overhead(printed.published)}"
                mark = axes.plot(factor * printed.published.value, at, **_printed_style(False))
                plate.say(mark, text)
            plate.say(bar, text)
            if factor * estimate.value > limits[1]:
                # Cut off by the axis: the number is written instead.
                axes.annotate(
                    show_overhead(without_interval(estimate)), (limits[1], at), xytext=(-3, 0),
                    ha="right", va="center", fontsize=8.5,
                )  # fmt: skip
    if any(c.quantity == "overhead" for c in summary.comparisons):
        axes.plot([], [], **_printed_style(False), label="printed")
    axes.set_yticks(
        range(len(policies)), [label(policy_name(policy), wide=wide) for policy in policies]
    )
    axes.invert_yaxis()
    axes.axvline(0, color=INK, lw=0.8)
    if limits[1] > limits[0]:
        axes.set_xlim(*limits)
    axes.set_xlabel(f"overhead, {unit}")
    legend_below(plate)
    return plate


def _throughputs(
    summary: RunSummary, rows: pl.DataFrame, title: str, end: float, *, wide: bool
) -> Plate:
    policies = rows["policy"].unique(maintain_order=True).to_list()[:_MOST_POLICIES]
    traffics = rows["traffic"].unique(maintain_order=True).to_list()
    traffics = traffics[: _most_traffics(len(policies))]
    factor, unit = scale_of(end, "bit/s")
    plate, axes = new_plate(0.9 + 0.15 * len(policies) * max(2, len(traffics)), title, wide=wide)
    step = 0.8 / max(1, len(traffics))
    names = _cells(rows)
    kinds = set()
    for index, traffic in enumerate(traffics):
        first = True
        for place, policy in enumerate(policies):
            cell = names.get((policy, traffic))
            estimate = summary.analysis.estimate(cell, THROUGHPUT) if cell else None
            if estimate is None or cell is None:
                continue
            at = place + (index - (len(traffics) - 1) / 2) * step
            text = f"{policy_name(policy)}, {traffic}: {show_estimate(estimate)}"
            closed = summary.closed_form(cell)
            if closed is not None:
                kinds.add("closed")
                axes.plot(closed / factor, at, "|", color=INK, ms=9, mew=1.2)
                text += f"; closed form {show_value(closed, 'bit/s')}"
            printed = printed_beside(summary, cell, THROUGHPUT)
            if printed is not None:
                above = summary.above_ceiling(printed)
                kinds.add("above" if above else "printed")
                text += f"; printed {show_estimate(printed.published)}"
                text += ", above the ceiling" if above else ""
                mark = axes.plot(printed.published.value / factor, at, **_printed_style(above))
                plate.say(mark, text)
            _interval(axes, estimate, 1 / factor, at, colour(index))
            dot = axes.plot(
                estimate.value / factor,
                at,
                "o",
                ms=4.5,
                color=colour(index),
                label=summary.names.level("traffic", traffic) if first else None,
            )
            first = False
            plate.say(dot, text)
    for kind, words in (("printed", "printed"), ("above", "printed, above the ceiling")):
        if kind in kinds:
            axes.plot([], [], **_printed_style(kind == "above"), label=words)
    if "closed" in kinds:
        axes.plot([], [], "|", color=INK, ms=9, mew=1.2, label="closed form")
    axes.set_yticks(
        range(len(policies)), [label(policy_name(policy), wide=wide) for policy in policies]
    )
    axes.set_ylim(len(policies) - 0.4, -0.6)
    axes.set_xlim(0, 1.08 * end / factor if end else 1.0)
    axes.set_xlabel(f"throughput, {unit}")
    legend_below(plate)
    return plate


def _sweep_picture(summary: RunSummary, factor: str, section: str) -> Picture:
    frame = summary.analysis.overheads.filter(
        pl.col("flow").is_null() & pl.col("station").is_null()
    ).with_columns(
        level=pl.col("factors").map_elements(
            lambda text: float(json.loads(text)[factor]), return_dtype=pl.Float64
        ),
        others=pl.col("factors").map_elements(
            lambda text: json.dumps({k: v for k, v in json.loads(text).items() if k != factor}),
            return_dtype=pl.String,
        ),
    )
    groups = list(frame.group_by(["scenario", "traffic", "others"], maintain_order=True))
    left = len(groups) - MOST_PANELS
    shown = groups[:MOST_PANELS]
    limits = _limits(summary, [rows for _, rows in shown])
    panels = []
    for (scenario, traffic, others), rows in shown:
        title = summary.names.place(str(scenario), str(traffic), str(others))
        panels.append(
            _panel(title, partial(_sweep, summary, rows, factor, title, limits), len(shown) == 1)
        )
    return Picture(
        "sweep",
        section,
        f"How does the cost change with {axis_name(factor)}?",
        f"Throughput overhead against {summary.reference}, with "
        f"{100 * summary.analysis.level:.0f} % intervals."
        + left_out(left, "panels", _TABLE)
        + left_out(frame["policy"].n_unique() - _MOST_POLICIES, "policies", _TABLE)
        + left_out(
            frame["level"].n_unique() - _MOST_LEVELS,
            f"levels of {axis_name(factor)} between these",
            _TABLE,
        ),
        tuple(panels),
        open_panels=4,
        wide=len(panels) == 1,
    )


def _sweep(
    summary: RunSummary,
    frame: pl.DataFrame,
    factor: str,
    title: str,
    limits: tuple[float, float],
    *,
    wide: bool,
) -> Plate:
    scale, unit = _overhead_scale(summary)
    plate, axes = new_plate(2.9, title, wide=wide)
    policies = frame["policy"].unique(maintain_order=True).head(_MOST_POLICIES)
    drawn = frame.filter(
        pl.col("policy").is_in(policies.implode()) & pl.col("level").is_in(_levels(frame).implode())
    )
    # A policy looks the same in every panel.
    every = summary.analysis.overheads["policy"].unique(maintain_order=True).to_list()
    for key, rows in drawn.group_by("policy", maintain_order=True):
        index = every.index(key[0])
        rows = rows.sort("level")
        value = scale * rows["value"].to_numpy()
        low, high = scale * rows["low"].to_numpy(), scale * rows["high"].to_numpy()
        axes.plot(
            rows["level"],
            value,
            label=policy_name(str(key[0])),
            **course(index),
        )
        for x, y, *ends in zip(rows["level"], value, low, high, strict=True):
            axes.plot([x, x], ends, "_-", ms=4, lw=1, color=colour(index))
            dot = axes.plot(x, y, "o", ms=2.5, color=colour(index))
            plate.say(dot, f"{policy_name(str(key[0]))}, {level_name(factor, x)}: {y:.2f} {unit}")
    for policy in _refused(summary, title, factor, drawn["policy"].unique().to_list()):
        axes.plot([], [], "x", color=INK, label=f"not run: {policy_name(policy)}")
    axes.axhline(0, color=INK, lw=0.8)
    if limits[1] > limits[0]:
        axes.set_ylim(*limits)
    axes.set_xlabel(axis_name(factor))
    axes.set_ylabel(f"overhead, {unit}")
    legend_below(plate, columns=2)
    return plate


def _refused(summary: RunSummary, title: str, factor: str, drawn: Collection[str]) -> Iterator[str]:
    """Policies none of whose cells in a panel was run."""
    trials = summary.trials.filter(pl.col("status") == "skipped")
    skipped = trials.select("scenario", "traffic", "factors", "policy").unique(maintain_order=True)
    told: set[str] = set()
    for scenario, traffic, factors, policy in skipped.iter_rows():
        if policy in drawn or policy in told:
            continue
        others = json.dumps({k: v for k, v in json.loads(factors).items() if k != factor})
        if summary.names.place(scenario, traffic, others) == title:
            told.add(policy)
            yield policy


def _levels(frame: pl.DataFrame) -> pl.Series:
    """The levels that are drawn: the first, the last, and others evenly between."""
    levels = frame["level"].unique().sort()
    if len(levels) <= _MOST_LEVELS:
        return levels
    last = len(levels) - 1
    return levels.gather([round(k * last / (_MOST_LEVELS - 1)) for k in range(_MOST_LEVELS)])


def _interval(axes: Axes, estimate: Estimate, factor: float, at: float, ink: str = INK) -> None:
    if estimate.has_interval and math.isfinite(estimate.half_width):
        ends = [factor * estimate.low, factor * estimate.high]
        # One line whose marks are the caps: an error bar is a container of three artists.
        axes.plot(ends, [at, at], "|-", ms=3.6, mew=0.9, lw=0.9, color=ink)


def _printed_style(above: bool) -> dict[str, Any]:
    return {
        "marker": "x" if above else "D",
        "color": INK,
        "markerfacecolor": "none",
        "ms": 5.5 if above else 4.5,
        "mew": 1.0,
        "ls": "none",
        "zorder": 4,
    }


def _overhead_scale(summary: RunSummary) -> tuple[float, str]:
    return (1e-6, "Mb/s") if summary.analysis.definition == "difference_bps" else (100.0, "%")


def _cells(rows: pl.DataFrame) -> dict[Hashable, str]:
    """The first cell of each policy and traffic."""
    return {key: rows["cell"][row] for key, row in rows_by(rows, "policy", "traffic").items()}
