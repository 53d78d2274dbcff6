"""How the intervals of a running study narrow: the first answer at each look at the journal.

Takes looks at one run, oldest first; gives one picture. Never analyses.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from attrs import frozen

from airtoll.analyse import Estimate
from airtoll.drawing.plate import Panel, Picture, Plate, left_out, new_plate
from airtoll.report.answer import quantities, quantity_name, readings, shown
from airtoll.report.figures.answer import scale
from airtoll.report.palette import colour
from airtoll.report.summary import RunSummary

#: Most panels of the picture: the cells with the widest intervals.
_MOST_PANELS: Final = 6


@frozen
class Look:
    """The first answer of a run after ``trials`` counted trials; its readings by cell."""

    trials: int
    quantity: str
    readings: dict[str, Estimate]


def look(summary: RunSummary) -> Look | None:
    """The first answer of a run as it is now; ``None`` where nothing of it is measured yet."""
    found = quantities(summary)
    if not found:
        return None
    return Look(
        summary.outcomes.get("ok", 0),
        found[0],
        {r.cell.name: r.estimate for r in readings(summary, found[0])},
    )


def narrowing(summary: RunSummary, looks: Sequence[Look]) -> Iterator[Picture]:
    """One picture of the looks at the present first answer; none before the second look."""
    if not looks:
        return
    quantity = looks[-1].quantity
    same = [each for each in looks if each.quantity == quantity]
    known = {
        cell: estimate.half_width
        for cell, estimate in looks[-1].readings.items()
        if _has_ends(estimate) and estimate.half_width > 0
    }
    if len(same) < 2 or not known:
        return
    widest = sorted(known, key=lambda cell: -known[cell])
    factor, unit = scale(quantity, readings(summary, quantity))
    level = f"{100 * summary.analysis.level:.0f} %"
    yield Picture(
        "narrowing",
        "making",
        "How fast do the intervals narrow?",
        f"{quantity_name(quantity)[:1].upper()}{quantity_name(quantity)[1:]} with its {level} "
        "interval over the trials of the run that count; the cells with the widest intervals."
        + left_out(len(widest) - _MOST_PANELS, "cells", "the tables below"),
        tuple(
            Panel(name, partial(_course, same, cell, name, factor, unit))
            for cell in widest[:_MOST_PANELS]
            for name in [summary.names.cell(cell)]
        ),
    )


def _course(looks: Sequence[Look], cell: str, title: str, factor: float, unit: str) -> Plate:
    plate, axes = new_plate(1.9, title)
    found: list[tuple[int, Any]] = [
        (each.trials, each.readings[cell]) for each in looks if cell in each.readings
    ]
    axes.plot([n for n, _ in found], [e.value / factor for _, e in found], lw=1, color=colour(0))
    closed = [(n, e) for n, e in found if _has_ends(e)]
    axes.fill_between(
        [n for n, _ in closed],
        [e.low / factor for _, e in closed],
        [e.high / factor for _, e in closed],
        color=colour(0),
        alpha=0.25,
    )
    last = found[-1]
    dot = axes.plot(last[0], last[1].value / factor, "o", ms=4, color=colour(0))
    plate.say(dot, f"{title}: {shown(looks[-1].quantity, last[1])} after {last[0]} trials")
    axes.set_xlabel("trials that count")
    axes.set_ylabel(unit or "value")
    return plate


def _has_ends(estimate: Estimate) -> bool:
    return estimate.has_interval and math.isfinite(estimate.half_width)
