"""Jitter by traffic and policy, one panel per scenario and level of the factors.

Takes a summary; gives pictures, none where the study does not ask for jitter or no trial has it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial

from airtoll.analyse import Estimate
from airtoll.analyse.quantities import scale_of, show_estimate
from airtoll.drawing.plate import (
    Panel,
    Picture,
    Plate,
    label,
    left_out,
    legend_below,
    new_plate,
    reach_of,
)
from airtoll.present.names import policy_name
from airtoll.report.palette import colour
from airtoll.report.summary import RunSummary

_JITTER = "jitter_s"
#: Most policies and traffics of a panel, and most panels, for a readable length.
_MOST_POLICIES = 8
_MOST_TRAFFICS = 16
_MOST_PANELS = 12


def jitter(summary: RunSummary) -> Iterator[Picture]:
    """Jitter of every cell that has it, if the study asks for it."""
    if _JITTER not in summary.study.study.answers:
        return
    groups: dict[str, list[tuple[str, str, str]]] = {}
    for cell in summary.plan.cells:
        if summary.analysis.estimate(cell.name, _JITTER) is not None:
            place = summary.names.place(cell.scenario, "", cell.factors_json, ("traffic",))
            groups.setdefault(place, []).append((cell.policy, cell.traffic, cell.name))
    if not groups:
        return
    shown = list(groups.items())[:_MOST_PANELS]
    found = [e for _, rows in shown for _, _, name in rows if (e := _of(summary, name))]
    values = [e.value for e in found]
    end = reach_of(values, [*values, *(e.high for e in found if e.has_interval)])
    policies = {policy for _, rows in shown for policy, _, _ in rows}
    traffics = {traffic for _, rows in shown for _, traffic, _ in rows}
    yield Picture(
        "jitter",
        "throughput",
        "How much does the delay vary?",
        f"Jitter (RFC 3550) with {100 * summary.analysis.level:.0f} % intervals."
        + left_out(len(groups) - _MOST_PANELS, "scenarios", "the table")
        + left_out(len(policies) - _MOST_POLICIES, "policies", "the table")
        + left_out(len(traffics) - _MOST_TRAFFICS, "traffics", "the table"),
        tuple(
            Panel(title, partial(_dots, summary, rows, title, end, wide=len(shown) == 1))
            for title, rows in shown
        ),
        open_panels=4,
        wide=len(shown) == 1,
    )


def _of(summary: RunSummary, cell: str) -> Estimate | None:
    return summary.analysis.estimate(cell, _JITTER)


def _dots(
    summary: RunSummary,
    rows: Sequence[tuple[str, str, str]],
    title: str,
    end: float,
    *,
    wide: bool,
) -> Plate:
    policies = list(dict.fromkeys(policy for policy, _, _ in rows))[:_MOST_POLICIES]
    traffics = list(dict.fromkeys(traffic for _, traffic, _ in rows))[:_MOST_TRAFFICS]
    factor, unit = scale_of(end, "s")
    plate, axes = new_plate(0.9 + 0.15 * len(traffics) * max(2, len(policies)), title, wide=wide)
    step = 0.8 / len(policies)
    named: set[str] = set()
    for policy, traffic, cell in rows:
        estimate = _of(summary, cell)
        if estimate is None or policy not in policies or traffic not in traffics:
            continue
        index = policies.index(policy)
        at = traffics.index(traffic) + (index - (len(policies) - 1) / 2) * step
        if estimate.has_interval and math.isfinite(estimate.half_width):
            ends = [estimate.low / factor, estimate.high / factor]
            axes.plot(ends, [at, at], "|-", ms=3.6, mew=0.9, lw=0.9, color=colour(index))
        dot = axes.plot(
            estimate.value / factor,
            at,
            "o",
            ms=4.5,
            color=colour(index),
            label=None if policy in named else policy_name(policy),
        )
        named.add(policy)
        plate.say(dot, f"{policy_name(policy)}, {traffic}: {show_estimate(estimate)}")
    axes.set_yticks(range(len(traffics)), [label(traffic, wide=wide) for traffic in traffics])
    axes.set_ylim(len(traffics) - 0.4, -0.6)
    axes.set_xlim(0, 1.08 * end / factor if end else 1.0)
    axes.set_xlabel(f"jitter, {unit}")
    legend_below(plate)
    return plate
