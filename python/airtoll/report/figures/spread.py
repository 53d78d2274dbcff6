"""Trials in detail: readings as dots, the course of a trial, authentication, hand-overs.

Takes a summary; gives pictures. Readings that a selection rule excluded are drawn hollow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np
import polars as pl

from airtoll.analyse.analysis import THROUGHPUT
from airtoll.analyse.quantities import scale_of, show_value
from airtoll.analyse.series import summarise_series
from airtoll.drawing.plate import (
    INK,
    Panel,
    Picture,
    Plate,
    label,
    left_out,
    legend_below,
    new_plate,
)
from airtoll.present.names import policy_name
from airtoll.report.authentication import STAGES, NegotiationStages, negotiation_stages
from airtoll.report.figures.cost import whole_cells
from airtoll.report.handover import PARTS, gaps
from airtoll.report.palette import colour
from airtoll.report.summary import RunSummary

_MOST_PANELS = 8
_MOST_ROWS = 40
#: Most curves in one panel that stay distinguishable.
_MOST_CURVES = 16
_FILE = "observations.parquet"


def trial_dots(summary: RunSummary) -> Iterator[Picture]:
    """Each trial's throughput against the mean of its cell."""
    readings = summary.readings(THROUGHPUT)
    if readings.is_empty():
        return
    panels: list[Panel] = []
    shown: list[int] = []
    whole = whole_cells(summary)
    # The colours of the traffics in the other figures.
    traffics = list(dict.fromkeys(cell.traffic for cell in summary.plan.cells))
    for (scenario, factors), rows in whole.group_by(["scenario", "factors"], maintain_order=True):
        title = summary.names.place(str(scenario), "", str(factors), ("traffic",))
        cells = (
            rows.with_columns(
                kind=pl.col("traffic").replace_strict(
                    traffics, range(len(traffics)), return_dtype=pl.Int64
                )
            )
            .sort("kind", "order")
            .select("cell", "policy", "traffic", "value", "kind")
        )
        cells = cells.head(_MOST_ROWS)
        shown.append(cells.height)
        if len(panels) < _MOST_PANELS:
            here = readings.filter(pl.col("cell").is_in(cells["cell"].implode()))
            panels.append(Panel(title, partial(_dots, here, cells, title)))
    yield Picture(
        "trials",
        "trials",
        "How far do the trials scatter?",
        f"Every trial against the mean of the selected ones ({summary.analysis.selection}), per "
        "cell. Hollow: set aside by that rule."
        + left_out(whole.height - sum(shown[:_MOST_PANELS]), "cells", _FILE),
        tuple(panels),
        open_panels=2,
    )


def time_series(summary: RunSummary) -> Iterator[Picture]:
    """Throughput by second, if the run has series."""
    rows = summary.observations.filter(
        (pl.col("metric") == THROUGHPUT) & pl.col("second").is_not_null()
    )
    if rows.is_empty():
        return
    places = {
        (c.scenario, c.factors_json, c.traffic, c.policy): index
        for index, c in enumerate(summary.plan.cells)
    }
    # A cell's flows add up; then the mean over trials.
    seconds = (
        rows.group_by("scenario", "factors", "traffic", "policy", "trial", "attempt", "second")
        .agg(
            whole=pl.col("value").filter(pl.col("flow").is_null()).sum(),
            flows=pl.col("value").filter(pl.col("flow").is_not_null()).sum(),
            has_whole=pl.col("flow").is_null().any(),
        )
        .with_columns(value=pl.when("has_whole").then("whole").otherwise("flows"))
        .group_by("scenario", "factors", "traffic", "policy", "second")
        .agg(value=pl.col("value").mean(), low=pl.col("value").min(), high=pl.col("value").max())
        .with_columns(
            place=pl.struct("scenario", "factors", "traffic", "policy").map_elements(
                lambda row: places[tuple(row.values())], return_dtype=pl.Int64
            )
        )
        .sort("place", "second")
    )
    panels = []
    for (scenario, factors, traffic), part in seconds.group_by(
        ["scenario", "factors", "traffic"], maintain_order=True
    ):
        title = summary.names.place(str(scenario), str(traffic), str(factors))
        panels.append(Panel(title, partial(_course, part, title)))
    yield Picture(
        "series",
        "series",
        "How does throughput change within a trial?",
        "Throughput by second: mean over the trials, shaded from the least to the most. Readings "
        f"of one trial are not independent of one another. {_warm_up(rows)}"
        + left_out(len(panels) - _MOST_PANELS, "panels", _FILE)
        + left_out(seconds["policy"].n_unique() - _MOST_CURVES, "policies", _FILE),
        tuple(panels[:_MOST_PANELS]),
        open_panels=2,
    )


def _warm_up(rows: pl.DataFrame) -> str:
    """The warm-up that MSER-5 (White 1997) finds in the series, in words."""
    series = summarise_series(rows)
    cut = series.filter(pl.col("cut") > 0)
    if cut.is_empty():
        return f"MSER-5 finds no warm-up in any of {series.height} series."
    longest: int = cut["cut"].max()  # type: ignore[assignment]
    return (
        f"MSER-5 finds a warm-up in {cut.height} of {series.height} series, at most {longest} s "
        "long; the means here leave nothing out but what the study says."
    )


def authentication(summary: RunSummary) -> Iterator[Picture]:
    """The time before a client's first packet, by stage."""
    groups: dict[str, list[NegotiationStages]] = {}
    for exchange in negotiation_stages(summary):
        groups.setdefault(exchange.place, []).append(exchange)
    if not groups:
        return
    yield Picture(
        "authentication",
        "authentication",
        "How long does a client wait before its first packet?",
        "Mean times of association, EAP and key handshake, one after the other; black tick: first "
        "to last packet of all that the policy negotiates."
        + left_out(len(groups) - _MOST_PANELS, "places", "the table")
        + left_out(max(map(len, groups.values())) - _MOST_ROWS, "policies", "the table"),
        tuple(
            Panel(place, partial(_stages, STAGES, found[:_MOST_ROWS], place))
            for place, found in list(groups.items())[:_MOST_PANELS]
        ),
        open_panels=2,
    )


def handovers(summary: RunSummary) -> Iterator[Picture]:
    """The gap in the traffic at a hand-over, by part."""
    groups: dict[str, list[NegotiationStages]] = {}
    for gap in gaps(summary):
        groups.setdefault(gap.exchange.place, []).append(gap.exchange)
    if not groups:
        return
    yield Picture(
        "handover",
        "handover",
        "How long is the gap in the traffic?",
        "Mean times of the parts of a hand-over, one after the other, and the wait for the next "
        "packet; black tick: the gap, last delivery by the old access point to first by the new."
        + left_out(len(groups) - _MOST_PANELS, "places", "the table")
        + left_out(max(map(len, groups.values())) - _MOST_ROWS, "policies", "the table"),
        tuple(
            Panel(place, partial(_stages, PARTS, found[:_MOST_ROWS], place))
            for place, found in list(groups.items())[:_MOST_PANELS]
        ),
        open_panels=2,
    )


def _dots(readings: pl.DataFrame, cells: pl.DataFrame, title: str) -> Plate:
    plate, axes = new_plate(0.9 + 0.26 * max(3, cells.height), title)
    labels = []
    by_cell = readings.partition_by("cell", as_dict=True)
    for place, (cell, policy, traffic, mean, index) in enumerate(cells.iter_rows()):
        rows = by_cell[cell,]
        value = 100 * (rows["value"].to_numpy() / mean - 1) if mean else rows["value"].to_numpy()
        kept = rows["kept"].to_numpy()
        # Trials in their order from top to bottom within the row, so that a drift is visible.
        at = place + (np.linspace(-0.32, 0.32, value.size) if value.size > 1 else np.zeros(1))
        for chosen, face in ((kept, colour(index)), (~kept, "none")):
            marks = axes.plot(
                value[chosen], at[chosen], "o", ms=3, color=colour(index), markerfacecolor=face,
                mew=0.7,
            )  # fmt: skip
            if chosen.any():
                low, high = (
                    rows["value"].to_numpy()[chosen].min(),
                    rows["value"].to_numpy()[chosen].max(),
                )
                plate.say(
                    marks,
                    f"{policy_name(policy)}, {traffic}: {int(chosen.sum())} trials "
                    f"{'kept' if face != 'none' else 'set aside'}, {show_value(low, 'bit/s')} to "
                    f"{show_value(high, 'bit/s')}",
                )
        labels.append(label(f"{policy_name(policy)}, {traffic}"))
    axes.axvline(0, color=INK, lw=0.8)
    axes.set_yticks(range(len(labels)), labels, fontsize=8.5)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.set_xlabel("throughput against the cell's mean, %")
    return plate


def _course(rows: pl.DataFrame, title: str) -> Plate:
    plate, axes = new_plate(2.7, title)
    factor, unit = scale_of(float(rows["value"].max() or 0.0), "bit/s")  # type: ignore[arg-type]
    policies = rows["policy"].unique(maintain_order=True).head(_MOST_CURVES)
    rows = rows.filter(pl.col("policy").is_in(policies.implode()))
    for index, (key, part) in enumerate(rows.group_by("policy", maintain_order=True)):
        second = part["second"].to_numpy()
        line = axes.plot(
            second, part["value"].to_numpy() / factor, lw=1.2, color=colour(index),
            label=policy_name(str(key[0])),
        )  # fmt: skip
        plate.say(line, f"{policy_name(str(key[0]))}: mean by second, {title}")
        axes.fill_between(
            second, part["low"].to_numpy() / factor, part["high"].to_numpy() / factor,
            color=colour(index), alpha=0.15,
        )  # fmt: skip
    axes.set_ylim(bottom=0)
    axes.set_xlabel("second of the trial")
    axes.set_ylabel(f"throughput, {unit}")
    legend_below(plate, columns=2)
    return plate


def _stages(names: Mapping[str, str], found: list[NegotiationStages], title: str) -> Plate:
    plate, axes = new_plate(1.1 + 0.3 * len(found), title)
    longest = max(max(e.reached_s, e.negotiation_s or 0.0) for e in found)
    factor, unit = scale_of(longest, "s")
    drawn = set()
    for place, exchange in enumerate(found):
        reached = 0.0
        for index, (metric, words) in enumerate(names.items()):
            estimate = exchange.stages.get(metric)
            if estimate is None:
                continue
            bar = axes.barh(
                place, estimate.value / factor, 0.62, left=reached / factor,
                color=colour(index), label=None if metric in drawn else words,
            )  # fmt: skip
            drawn.add(metric)
            plate.say(bar, f"{exchange.policy}: {words} {show_value(estimate.value, 's')}")
            reached += estimate.value
        if exchange.negotiation_s is not None:
            axes.plot(exchange.negotiation_s / factor, place, "|", color=INK, ms=13, mew=1.6)
    axes.set_yticks(range(len(found)), [label(e.policy) for e in found])
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel(f"time, {unit}")
    legend_below(plate)
    return plate
