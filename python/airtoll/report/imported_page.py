"""The page of imported readings.

Takes readings, analysed; gives their drawings and the page that holds them. Never reads a folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import polars as pl

from airtoll.analyse import Analysis, Comparison
from airtoll.analyse.analysis import THROUGHPUT, estimate_of_row
from airtoll.analyse.quantities import NOTHING, scale_of, show_estimate, show_overhead, show_value
from airtoll.drawing import Developed, Panel, Picture, Plate, develop
from airtoll.drawing.plate import INK, new_plate
from airtoll.report.html import page, placed
from airtoll.report.imported import Imported, headline, whole_cells
from airtoll.report.palette import colour

_MOST_ROWS: Final = 40


def pictures(imported: Imported) -> list[Picture]:
    """Every reading of the throughput, by cell."""
    rows = whole_cells(
        imported.observations.filter((pl.col("metric") == THROUGHPUT) & pl.col("second").is_null())
    )
    if rows.is_empty():
        return []
    draw = partial(_dots, imported, rows)
    return [
        Picture(
            "throughput",
            "throughput",
            "Imported readings by trial",
            "Every trial's throughput, and the mean of its cell with its interval.",
            (Panel("throughput", draw),),
        )
    ]


def render(imported: Imported, drawings: Sequence[Developed]) -> str:
    """The page."""
    analysis = imported.analysis
    return page(
        "imported.html.j2",
        {
            "title": f"Imported readings: {imported.path.name}",
            "headline": [line.replace(" %", "\u00a0%") for line in headline(imported)],
            "pictures": placed(drawings),
            "level": f"{100 * analysis.level:.0f} %",
            "definition": analysis.definition,
            "baseline": analysis.baseline,
            "costs": [
                _cost(analysis, row)
                for row in whole_cells(analysis.overheads).iter_rows(named=True)
            ],
            "estimates": [
                _estimate(row, analysis.level) for row in analysis.estimates.iter_rows(named=True)
            ],
            "against": imported.manifest.get("against"),
            "comparisons": [_beside(c) for c in imported.comparisons],
            "findings": imported.findings,
            "format": imported.manifest.get("format", NOTHING),
            "files": [
                {"name": name, "sha256": digest}
                for digest, name in imported.manifest["files"].items()
            ],
        },
    )


def developed(imported: Imported, forms: Sequence[str]) -> list[Developed]:
    """The pictures, drawn."""
    return develop(pictures(imported), forms)


def _cost(analysis: Analysis, row: Mapping[str, Any]) -> dict[str, str]:
    hit = analysis.comparisons.filter(
        (pl.col("cell") == row["cell"])
        & (pl.col("metric") == THROUGHPUT)
        & pl.col("flow").eq_missing(row["flow"])
        & pl.col("station").eq_missing(row["station"])
    ).row(0, named=True)
    return {
        "cell": _named(row),
        "overhead": show_overhead(estimate_of_row(dict(row), analysis.level)),
        "verdict": hit["verdict"],
        "p": NOTHING if hit["p_adjusted"] != hit["p_adjusted"] else f"{hit['p_adjusted']:.3g}",
        "n": _both(analysis, row),
    }


def _both(analysis: Analysis, row: Mapping[str, Any]) -> str:
    """The readings of the secured cell and of its baseline: ``8 + 8``."""
    part = (THROUGHPUT, row["flow"], row["station"])
    found = [analysis.estimate(row[name], *part) for name in ("cell", "baseline_cell")]
    return " + ".join(str(estimate.n) for estimate in found if estimate is not None)


def _estimate(row: Mapping[str, Any], level: float) -> dict[str, str]:
    return {
        "cell": _named(row),
        "metric": row["metric"].rsplit("_", 1)[0].replace("_", " "),
        "value": show_estimate(estimate_of_row(dict(row), level)),
        "n": str(row["n"]),
        "method": row["method"],
    }


def _beside(c: Comparison) -> dict[str, str]:
    overhead = c.quantity == "overhead"
    return {
        "cell": c.cell,
        "quantity": c.quantity.rsplit("_", 1)[0],
        "table": c.table,
        "published": (show_overhead if overhead else show_estimate)(c.published),
        "ours": (show_overhead if overhead else show_estimate)(c.ours),
        "error": f"{100 * c.absolute_error:+.2f} points"
        if overhead
        else f"{100 * c.relative_error:+.1f} %",
    }


def _named(row: Mapping[str, Any]) -> str:
    part = row["station"] or row["flow"]
    return str(row["cell"]) + (f" {part}" if part else "")


def _dots(imported: Imported, rows: pl.DataFrame) -> Plate:
    cells = rows["cell"].unique(maintain_order=True).to_list()[:_MOST_ROWS]
    policies = list(dict.fromkeys(rows["policy"]))
    plate, axes = new_plate(0.7 + 0.3 * len(cells), "")
    factor, unit = scale_of(float(rows["value"].max() or 0.0), "bit/s")  # type: ignore[arg-type]
    estimates = whole_cells(imported.analysis.estimates.filter(metric=THROUGHPUT))
    for place, cell in enumerate(cells):
        here = rows.filter(cell=cell)
        for value in here["value"]:
            ink = colour(policies.index(here["policy"][0]))
            (dot,) = axes.plot(value / factor, place, "o", ms=4, alpha=0.6, color=ink)
            plate.say(dot, f"{cell}: {show_value(value, 'bit/s')}")
        for row in estimates.filter(cell=cell).head(1).iter_rows(named=True):
            found = estimate_of_row(row, imported.analysis.level)
            if found.has_interval:
                ends = [found.low / factor, found.high / factor]
                axes.plot(ends, [place + 0.25] * 2, color=INK, lw=1.2)
            (mean,) = axes.plot(found.value / factor, place + 0.25, "|", ms=8, color=INK)
            plate.say(mean, f"{cell}: {show_estimate(found)}")
    axes.set_yticks(range(len(cells)), cells)
    axes.invert_yaxis()
    axes.set_xlabel(f"throughput, {unit}")
    return plate
