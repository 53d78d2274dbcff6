"""Static figures, fit for a paper: throughput and overhead with intervals, printed values beside.

Takes a summary; gives matplotlib figures and their files (PNG, SVG, PDF). Never analyses.
Files carry no date, so equal runs give equal figures.
"""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import polars as pl
from attrs import frozen
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from airtoll.analyse import Comparison
from airtoll.analyse.analysis import THROUGHPUT
from airtoll.observe.journal import storage_error
from airtoll.report.palette import CLOSED_FORM, OURS, PUBLISHED, colour
from airtoll.report.quantities import scale_of
from airtoll.report.summary import RunSummary, factors_text

#: Policies or levels on one axis beyond which labels would overlap.
_MAX_ROWS = 14
_STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "svg.hashsalt": "airtoll",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "figure.constrained_layout.use": True,
}
_METADATA: dict[str, dict[str, str | None]] = {
    "png": {"Software": "airtoll"},
    "svg": {"Date": None, "Creator": "airtoll"},
    "pdf": {"CreationDate": None, "Creator": "airtoll"},
}


@frozen
class Picture:
    """One figure: file stem, what it shows, and how to draw it."""

    name: str
    caption: str
    draw: Callable[[], Figure]


def pictures(summary: RunSummary) -> Iterator[Picture]:
    """The figures that a run supports, in the order of the report."""
    groups = _groups(summary)
    for number, (title, rows) in enumerate(groups, start=1):
        tail = f"-{number}" if len(groups) > 1 else ""
        if rows.filter(pl.col("policy") != summary.analysis.baseline).height:
            yield Picture(
                f"overhead{tail}",
                f"Throughput overhead against {summary.analysis.baseline}, {title}. Bars: airtoll "
                f"with {100 * summary.analysis.level:.0f} % intervals; diamonds: printed.",
                partial(_overheads, summary, rows, title),
            )
        yield Picture(
            f"throughput{tail}",
            f"Throughput, {title}. Dots: airtoll with intervals; diamonds: printed; "
            "dashes: closed form.",
            partial(_throughputs, summary, rows, title),
        )
    sweep = _sweep_factor(summary)
    if sweep:
        yield Picture(
            "sweep",
            f"Overhead by {sweep}.",
            lambda: _sweep(summary, sweep),
        )


def svg(figure: Figure) -> str:
    """A figure as an SVG element, and close it."""
    buffer = io.StringIO()
    with mpl.rc_context(_STYLE):
        figure.savefig(buffer, format="svg", metadata=_METADATA["svg"], transparent=True)
    plt.close(figure)
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def save(figure: Figure, folder: Path, name: str, forms: Sequence[str]) -> list[Path]:
    """Write a figure in several formats. Raises ``StorageError`` if the disk refuses."""
    paths = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for form in forms:
            path = folder / f"{name}.{form}"
            scratch = path.with_suffix(f".{form}.tmp")
            with mpl.rc_context(_STYLE):
                figure.savefig(scratch, format=form, dpi=160, metadata=_METADATA[form])
            os.replace(scratch, path)  # noqa: PTH105 - one atomic step
            paths.append(path)
    except OSError as error:
        raise storage_error(folder, error) from error
    return paths


def _groups(summary: RunSummary) -> list[tuple[str, pl.DataFrame]]:
    """Whole-cell throughput rows by scenario and traffic; too many cells give the first ones."""
    frame = summary.analysis.estimates.filter(
        (pl.col("metric") == THROUGHPUT) & pl.col("flow").is_null() & pl.col("station").is_null()
    )
    order = {cell.name: index for index, cell in enumerate(summary.plan.cells)}
    frame = frame.with_columns(
        order=pl.col("cell").replace_strict(order, return_dtype=pl.Int64)
    ).sort("order")
    groups = []
    for (scenario, factors), rows in frame.group_by(["scenario", "factors"], maintain_order=True):
        level = factors_text(str(factors))
        groups.append((f"{scenario}{', ' + level if level else ''}", rows))
    return groups[:12]


def _overheads(summary: RunSummary, rows: pl.DataFrame, title: str) -> Figure:
    traffics = rows["traffic"].unique(maintain_order=True).to_list()
    policies = [
        name
        for name in rows["policy"].unique(maintain_order=True)
        if name != summary.analysis.baseline
    ][:_MAX_ROWS]
    percent = summary.analysis.definition != "difference_bps"
    factor = 100.0 if percent else 1e-6
    with mpl.rc_context(_STYLE):
        height = 1.2 + 0.32 * len(policies) * max(1, len(traffics)) * 0.75
        figure, axes = plt.subplots(figsize=(6.4, height))
        thick = 0.8 / max(1, len(traffics))
        for index, traffic in enumerate(traffics):
            places, values, errors = [], [], []
            for place, policy in enumerate(policies):
                cell = _cell_of(rows, policy, traffic)
                estimate = summary.analysis.overhead(cell) if cell else None
                if estimate is None:
                    continue
                at = place + (index - (len(traffics) - 1) / 2) * thick
                places.append(at)
                values.append(factor * estimate.value)
                half = estimate.half_width if estimate.has_interval else math.nan
                errors.append(factor * half if math.isfinite(half) else 0.0)
                printed = _printed(summary, cell, "overhead")
                if printed is not None:
                    axes.plot(
                        factor * printed.published.value, at, "D", color=PUBLISHED, ms=5, zorder=3
                    )
            axes.barh(places, values, thick * 0.9, color=colour(index * 2), label=traffic)
            axes.errorbar(values, places, xerr=errors, fmt="none", ecolor="black", capsize=2, lw=1)
        axes.plot([], [], "D", color=PUBLISHED, ms=5, label="printed")
        axes.set_yticks(range(len(policies)), policies)
        axes.invert_yaxis()
        axes.axvline(0, color="black", lw=0.8)
        axes.set_xlabel(f"overhead, {'%' if percent else 'Mb/s'} ({summary.analysis.definition})")
        axes.set_title(title, loc="left", fontsize=9)
        _legend(axes, drop_printed=not summary.comparisons)
    return figure


def _throughputs(summary: RunSummary, rows: pl.DataFrame, title: str) -> Figure:
    traffics = rows["traffic"].unique(maintain_order=True).to_list()
    policies = rows["policy"].unique(maintain_order=True).to_list()[:_MAX_ROWS]
    factor, unit = scale_of(float(rows["value"].max() or 0.0), "bit/s")  # type: ignore[arg-type]
    with mpl.rc_context(_STYLE):
        height = 1.3 + 0.24 * len(policies) * max(1, len(traffics))
        figure, axes = plt.subplots(figsize=(6.4, height))
        step = 0.7 / max(1, len(traffics))
        for index, traffic in enumerate(traffics):
            for place, policy in enumerate(policies):
                cell = _cell_of(rows, policy, traffic)
                estimate = summary.analysis.estimate(cell, THROUGHPUT) if cell else None
                if estimate is None or cell is None:
                    continue
                at = place + (index - (len(traffics) - 1) / 2) * step
                half = estimate.half_width / factor
                axes.errorbar(
                    estimate.value / factor,
                    at,
                    xerr=half if math.isfinite(half) else None,
                    fmt="o",
                    ms=4,
                    capsize=2,
                    color=colour(index * 2),
                    label=traffic if place == 0 else None,
                )
                printed = _printed(summary, cell, THROUGHPUT)
                if printed is not None:
                    axes.plot(printed.published.value / factor, at, "D", color=PUBLISHED, ms=5)
                closed = summary.closed_form(cell)
                if closed is not None:
                    axes.plot(closed / factor, at, "|", color=CLOSED_FORM, ms=11, mew=1.6)
        axes.plot([], [], "D", color=PUBLISHED, ms=5, label="printed")
        if summary.theory.height:
            axes.plot([], [], "|", color=CLOSED_FORM, ms=11, mew=1.6, label="closed form")
        axes.set_yticks(range(len(policies)), policies)
        axes.invert_yaxis()
        axes.set_xlim(left=0)
        axes.set_xlabel(f"throughput, {unit}")
        axes.set_title(title, loc="left", fontsize=9)
        _legend(axes, drop_printed=not summary.comparisons)
    return figure


def _sweep(summary: RunSummary, factor: str) -> Figure:
    frame = summary.analysis.overheads.filter(
        pl.col("flow").is_null() & pl.col("station").is_null()
    ).with_columns(
        level=pl.col("factors").map_elements(
            lambda text: float(_level(text, factor)), return_dtype=pl.Float64
        )
    )
    percent = summary.analysis.definition != "difference_bps"
    scale = 100.0 if percent else 1e-6
    traffics = frame["traffic"].unique(maintain_order=True).to_list()
    with mpl.rc_context(_STYLE):
        figure, all_axes = plt.subplots(
            1, len(traffics), figsize=(6.4, 3.2), sharey=True, squeeze=False
        )
        for axes, traffic in zip(all_axes[0], traffics, strict=True):
            here = frame.filter(traffic=traffic)
            for index, (key, rows) in enumerate(here.group_by("policy", maintain_order=True)):
                rows = rows.sort("level")
                value = scale * rows["value"].to_numpy()
                low, high = scale * rows["low"].to_numpy(), scale * rows["high"].to_numpy()
                axes.errorbar(
                    rows["level"],
                    value,
                    yerr=[value - low, high - value],
                    marker="o",
                    ms=3,
                    lw=1,
                    capsize=2,
                    color=colour(index),
                    label=str(key[0]),
                )
            axes.axhline(0, color="black", lw=0.8)
            axes.set_xlabel(factor)
            axes.set_title(traffic, loc="left", fontsize=9)
        all_axes[0][0].set_ylabel(f"overhead, {'%' if percent else 'Mb/s'}")
        _legend(all_axes[0][-1], drop_printed=True)
    return figure


def _sweep_factor(summary: RunSummary) -> str | None:
    """The one numeric factor with at least three levels, if there is one."""
    found = [
        key
        for key, levels in summary.study.grid.items()
        if "." in key
        and len(levels) >= 3
        and all(isinstance(v, int | float) and not isinstance(v, bool) for v in levels)
    ]
    return found[0] if len(found) == 1 and summary.analysis.overheads.height else None


def _level(factors: str, key: str) -> str:
    return str(json.loads(factors)[key])


def _cell_of(rows: pl.DataFrame, policy: str, traffic: str) -> str | None:
    hit = rows.filter(policy=policy, traffic=traffic)
    return str(hit["cell"][0]) if hit.height else None


def _printed(summary: RunSummary, cell: str | None, quantity: str) -> Comparison | None:
    for comparison in summary.comparisons:
        if comparison.cell != cell or comparison.quantity != quantity:
            continue
        stations = summary.cells[comparison.cell].settings.stations
        if comparison.client in ("", "total") or len(stations) == 1:
            return comparison
    return None


def _legend(axes: Axes, *, drop_printed: bool) -> None:
    handles, labels = axes.get_legend_handles_labels()
    kept = [
        (handle, label)
        for handle, label in zip(handles, labels, strict=True)
        if not (drop_printed and label == "printed")
    ]
    if kept:
        axes.legend([h for h, _ in kept], [label for _, label in kept], frameon=False, fontsize=8)


__all__ = ["OURS", "Picture", "pictures", "save", "svg"]
