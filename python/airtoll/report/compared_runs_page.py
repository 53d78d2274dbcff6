"""The page of several runs.

Takes runs compared with the first; gives their drawings and the page that holds them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from airtoll.analyse.analysis import THROUGHPUT
from airtoll.analyse.quantities import NOTHING, show_estimate, show_overhead
from airtoll.drawing import Developed, Panel, Picture, Plate, develop
from airtoll.drawing.plate import INK, legend_below, new_plate
from airtoll.observe.metrics import name_of
from airtoll.report.compared_runs import Against, run_name, shown, words
from airtoll.report.html import placed
from airtoll.report.palette import colour
from airtoll.report.setting import setting
from airtoll.report.templates import page

_MOST_ROWS = 1500
_MOST_DOTS = 40


def pictures(pairs: Sequence[Against]) -> list[Picture]:
    """Where the runs differ."""
    panels = tuple(Panel(pair.title, partial(_dots, pair)) for pair in pairs if pair.throughputs())
    if not panels:
        return []
    level = f"{100 * pairs[0].first.analysis.level:.0f} %"
    return [
        Picture(
            "difference",
            "costs",
            "Where do the runs differ?",
            f"Throughput against the first run, in percent, with {level} intervals"
            f" (the {_MOST_DOTS} largest differences).",
            panels,
        )
    ]


def render(
    pairs: Sequence[Against],
    drawings: Sequence[Developed],
    *,
    commands: Sequence[str],
    beside: str = "",
) -> str:
    """The page of several runs; ``beside`` begins the names of its figures' folder."""
    summaries = [pairs[0].first, *(pair.second for pair in pairs)]
    return page(
        "several.html.j2",
        {
            "title": " · ".join(run_name(summary) for summary in summaries),
            "runs": [
                {
                    "name": run_name(summary),
                    "study": summary.study.study.name,
                    "sha256": summary.manifest["study"]["sha256"],
                    "cells": len(summary.plan.cells),
                    "trials": summary.outcomes.get("ok", 0),
                    "airtoll": summary.manifest["airtoll"],
                    "kernel": summary.manifest["machine"].get("kernel", NOTHING),
                    "command": command,
                    "setting": setting(summary.plan.cells, str(summary.manifest["testbed"])),
                }
                for summary, command in zip(summaries, commands, strict=True)
            ],
            "headline": [line.replace(" %", "\u00a0%") for pair in pairs for line in words(pair)],
            "pictures": placed(drawings, beside),
            "blocks": [_block(pair) for pair in pairs],
            "level": f"{100 * pairs[0].first.analysis.level:.0f} %",
        },
    )


def develop_all(pairs: Sequence[Against], forms: Sequence[str]) -> list[Developed]:
    """The pictures, drawn."""
    return develop(list(pictures(pairs)), forms)


def _block(pair: Against) -> dict[str, Any]:
    ours = {cell.name for cell in pair.first.plan.cells}
    theirs = {cell.name for cell in pair.second.plan.cells}
    groups: dict[str, list[dict[str, str]]] = {}
    for change in pair.changes[:_MOST_ROWS]:
        groups.setdefault(change.metric, []).append(shown(pair, change))
    overheads = []
    for change in pair.throughputs():
        before = pair.first.analysis.overhead(change.cell)
        after = pair.second.analysis.overhead(change.cell)
        if before is not None and after is not None:
            overheads.append(
                {
                    "cell": change.cell,
                    "first": show_overhead(before),
                    "second": show_overhead(after),
                    "agree": "intervals overlap"
                    if before.low <= after.high and after.low <= before.high
                    else "intervals do not overlap"
                    if before.has_interval and after.has_interval
                    else "no interval",
                }
            )
    return {
        "title": pair.title,
        "first": run_name(pair.first),
        "second": run_name(pair.second),
        "definitions": (pair.first.analysis.definition, pair.second.analysis.definition),
        "metrics": [
            {
                "name": name_of(name),
                "rows": part,
                "open": name == THROUGHPUT,
            }
            for name, part in groups.items()
        ],
        "left_out": max(0, len(pair.changes) - _MOST_ROWS),
        "overheads": overheads,
        "only_first": sorted(ours - theirs)[:50],
        "only_second": sorted(theirs - ours)[:50],
    }


def _dots(pair: Against) -> Plate:
    known = [c for c in pair.throughputs() if math.isfinite(c.relative)]
    found = sorted(known, key=lambda c: -abs(c.relative))[:_MOST_DOTS]
    plate, axes = new_plate(1.0 + 0.18 * max(3, len(found)), pair.title)
    for place, c in enumerate(found):
        base = c.first.value
        if c.difference.has_interval:
            low, high = 100 * c.difference.low / base, 100 * c.difference.high / base
            axes.plot([low, high], [place, place], color=INK, lw=0.9)
        dot = axes.plot(100 * c.relative, place, "o", ms=4.5, color=colour(3 if c.differs else 0))
        plate.say(
            dot,
            f"{c.cell}: {show_estimate(c.first)} to {show_estimate(c.second)}, {pair.verdict(c)}",
        )
    for place, label in ((0, "no difference found"), (3, "differs")):
        axes.plot([], [], "o", ms=4.5, color=colour(place), label=label)
    axes.axvline(0, color=INK, lw=0.8)
    axes.set_yticks(range(len(found)), [c.cell for c in found], fontsize=8.5)
    axes.invert_yaxis()
    axes.set_xlabel("throughput against the first run, %")
    legend_below(plate, columns=2)
    return plate
