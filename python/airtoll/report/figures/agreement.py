"""Printed against ours, every quantity in one square.

Takes a summary; gives a picture in which the diagonal is agreement.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from airtoll.analyse import Comparison
from airtoll.analyse.quantities import scale_of, show_value
from airtoll.drawing.plate import INK, Panel, Picture, Plate, legend_below, new_plate
from airtoll.observe.metrics import name_of
from airtoll.report.palette import colour
from airtoll.report.summary import RunSummary

#: standing -> (legend, marker, colour index)
_STANDINGS = {
    "": ("nothing fitted", "o", 0),
    "predicted": ("predicted", "s", 1),
    "fitted": ("fitted to this printed value", "o", 6),
    "related": ("not predicted: another quantity of it was fitted", "^", 6),
    "above": ("printed above the ceiling", "X", 3),
}


def agreement(summary: RunSummary) -> Iterator[Picture]:
    """One panel per quantity and unit that both sides have."""
    groups: dict[tuple[str, str], list[Comparison]] = {}
    for comparison in summary.comparisons:
        if comparison.quantity != "overhead" and not comparison.differs:
            key = (comparison.quantity, comparison.published.unit)
            groups.setdefault(key, []).append(comparison)
    if not groups:
        return
    yield Picture(
        "agreement",
        "published",
        "How near do we come to the printed figures?",
        "Each mark is one printed mean and ours; on the diagonal they agree, within the dotted "
        "lines to a tenth.",
        tuple(
            Panel(quantity, partial(_square, summary, found, quantity, unit))
            for (quantity, unit), found in groups.items()
        ),
    )


def _square(summary: RunSummary, found: list[Comparison], quantity: str, unit: str) -> Plate:
    plate, axes = new_plate(4.0, "")
    values = [v for c in found for v in (c.published.value, c.ours.value) if v > 0]
    factor, name = scale_of(max(values, default=1.0), unit)
    ends = (0.85 * min(values, default=1.0) / factor, 1.15 * max(values, default=1.0) / factor)
    axes.plot(ends, ends, color=INK, lw=0.8)
    for share in (0.9, 1.1):
        axes.plot(ends, [share * e for e in ends], color=INK, lw=0.6, ls=":")
    drawn = set()
    for c in found:
        standing = "above" if summary.above_ceiling(c) else summary.standing(c).name
        words, marker, index = _STANDINGS[standing]
        mark = axes.plot(
            c.published.value / factor, c.ours.value / factor, marker, ms=4.5,
            color=colour(index), alpha=0.85, label=None if standing in drawn else words,
        )  # fmt: skip
        drawn.add(standing)
        plate.say(
            mark,
            f"{c.cell} {c.client}: printed {show_value(c.published.value, unit)}, airtoll "
            f"{show_value(c.ours.value, unit)}, {words}",
        )
    if ends[1] > 20 * ends[0]:
        axes.set_log()
    axes.set_xlim(*ends)
    axes.set_ylim(*ends)
    label = name_of(quantity)
    axes.set_xlabel(f"printed {label}, {name}")
    axes.set_ylabel(f"airtoll {label}, {name}")
    legend_below(plate, columns=2)
    return plate
