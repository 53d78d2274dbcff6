"""Several runs on one page: before and after, simulator and closed form, simulator and Linux.

Takes summaries; gives the page. The first run is the one that the others are compared with. Cells
are paired by name; those that only one run has are listed, never guessed.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from functools import partial
from typing import Any

from attrs import evolve, frozen

from airtoll.analyse.analysis import THROUGHPUT
from airtoll.analyse.between import Change, changes
from airtoll.analyse.quantities import NOTHING, show_estimate, show_overhead, show_value
from airtoll.drawing import Developed, Panel, Picture, Plate, develop
from airtoll.drawing.plate import INK, new_plate
from airtoll.report.html import page, placed
from airtoll.report.palette import colour
from airtoll.report.summary import RunSummary

_MOST_ROWS = 1500
_MOST_DOTS = 40


@frozen
class Against:
    """One later run against the first."""

    first: RunSummary
    second: RunSummary
    changes: tuple[Change, ...]

    @property
    def title(self) -> str:
        """What is compared with what."""
        return f"{run_name(self.second)} against {run_name(self.first)}"

    def throughputs(self) -> list[Change]:
        """Changes of whole-cell throughput."""
        return [
            c
            for c in self.changes
            if c.metric == THROUGHPUT and c.flow is None and c.station is None
        ]


def run_name(summary: RunSummary) -> str:
    """Folder and testbed."""
    return f"{summary.path.name} ({summary.manifest['testbed']})"


def against_first(summaries: Sequence[RunSummary]) -> list[Against]:
    """Every later run against the first."""
    first = summaries[0]
    return [
        Against(
            first,
            other,
            tuple(_judged(first, other, c) for c in changes(first.analysis, other.analysis)),
        )
        for other in summaries[1:]
    ]


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
    pairs: Sequence[Against], drawings: Sequence[Developed], *, commands: Sequence[str]
) -> str:
    """The page of several runs."""
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
                }
                for summary, command in zip(summaries, commands, strict=True)
            ],
            "headline": [line.replace(" %", "\u00a0%") for pair in pairs for line in words(pair)],
            "pictures": placed(drawings),
            "blocks": [_block(pair) for pair in pairs],
            "level": f"{100 * pairs[0].first.analysis.level:.0f} %",
        },
    )


def words(pair: Against) -> list[str]:
    """What the comparison says, in two sentences."""
    found = pair.throughputs()
    if not found:
        return [f"{pair.title}: no cell with a throughput is in both runs."]
    differing = [c for c in found if c.differs]
    relative = [c.relative for c in found if math.isfinite(c.relative)]
    worst = max(found, key=lambda c: abs(c.relative) if math.isfinite(c.relative) else 0.0)
    lines = [
        f"{pair.title}: {len(differing)} of {len(found)} throughputs differ; the median "
        f"difference is {100 * statistics.median(relative):+.2f} %."
    ]
    lines.append(
        f"The largest is {100 * worst.relative:+.2f} % in {worst.cell}: "
        f"{show_value(worst.first.value, worst.first.unit)} became "
        f"{show_value(worst.second.value, worst.second.unit)}."
    )
    return lines


def rows(pair: Against) -> list[dict[str, Any]]:
    """Every change as plain values."""
    return [
        {
            "first": pair.first.path.name,
            "second": pair.second.path.name,
            "cell": c.cell,
            "flow": c.flow,
            "station": c.station,
            "metric": c.metric,
            "value_first": c.first.to_json(),
            "value_second": c.second.to_json(),
            "difference": c.difference.to_json(),
            "relative": c.relative if math.isfinite(c.relative) else None,
            "p_holm": c.p_holm if math.isfinite(c.p_holm) else None,
            "verdict": c.verdict,
        }
        for c in pair.changes
    ]


def develop_all(pairs: Sequence[Against], forms: Sequence[str]) -> list[Developed]:
    """The pictures, drawn."""
    return develop(list(pictures(pairs)), forms)


def shown(change: Change) -> dict[str, str]:
    """A change as text."""
    relative = f" ({100 * change.relative:+.2f} %)" if math.isfinite(change.relative) else ""
    part = change.station or change.flow
    return {
        "cell": change.cell + (f" {part}" if part else ""),
        "metric": change.metric.rsplit("_", 1)[0].replace("_", " "),
        "first": show_estimate(change.first),
        "second": show_estimate(change.second),
        "difference": show_estimate(change.difference) + relative,
        "p": NOTHING if math.isnan(change.p_holm) else f"{change.p_holm:.3g}",
        "verdict": change.verdict,
    }


def _judged(first: RunSummary, second: RunSummary, change: Change) -> Change:
    """A change of throughput whose one side is no radio's says so."""
    if change.metric != THROUGHPUT:
        return change
    for summary in (first, second):
        if change.cell in summary.not_radio:
            verdict = f"no radio throughput in {run_name(summary)}; {change.verdict}"
            return evolve(change, verdict=verdict)
    return change


def _block(pair: Against) -> dict[str, Any]:
    ours = {cell.name for cell in pair.first.plan.cells}
    theirs = {cell.name for cell in pair.second.plan.cells}
    groups: dict[str, list[dict[str, str]]] = {}
    for change in pair.changes[:_MOST_ROWS]:
        groups.setdefault(change.metric, []).append(shown(change))
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
                "name": name.rsplit("_", 1)[0].replace("_", " "),
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
        (dot,) = axes.plot(
            100 * c.relative, place, "o", ms=4.5, color=colour(3 if c.differs else 0)
        )
        plate.say(
            dot, f"{c.cell}: {show_estimate(c.first)} to {show_estimate(c.second)}, {c.verdict}"
        )
    for place, label in ((0, "no difference found"), (3, "differs")):
        axes.plot([], [], "o", ms=4.5, color=colour(place), label=label)
    axes.axvline(0, color=INK, lw=0.8)
    axes.set_yticks(range(len(found)), [c.cell for c in found], fontsize=7.5)
    axes.invert_yaxis()
    axes.set_xlabel("throughput against the first run, %")
    plate.figure.legend(*axes.get_legend_handles_labels(), loc="outside lower left", ncols=2)
    return plate
