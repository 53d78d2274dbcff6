"""The page of imported readings.

Takes readings, analysed; gives their drawings and the page that holds them. Never reads a folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import polars as pl

from airtoll.analyse.analysis import THROUGHPUT, estimate_of_row
from airtoll.analyse.quantities import NOTHING, scale_of, show_estimate, show_value
from airtoll.drawing import Developed, Panel, Picture, Plate, develop
from airtoll.drawing.plate import INK, new_plate
from airtoll.report.html import placed
from airtoll.report.imported import Imported, headline, whole_cells
from airtoll.report.imported_rows import beside, costs, estimates
from airtoll.report.palette import colour
from airtoll.report.templates import page

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


def render(imported: Imported, drawings: Sequence[Developed], *, prefix: str = "") -> str:
    """The page; ``prefix`` begins the name of its figures' folder."""
    analysis = imported.analysis
    return page(
        "imported.html.j2",
        {
            "title": f"Imported readings: {imported.path.name}",
            "headline": [line.replace(" %", "\u00a0%") for line in headline(imported)],
            "pictures": placed(drawings, prefix),
            "level": f"{100 * analysis.level:.0f} %",
            "definition": analysis.definition,
            "baseline": analysis.baseline,
            "costs": costs(analysis),
            "estimates": estimates(analysis),
            "against": imported.manifest.get("against"),
            "comparisons": [beside(c) for c in imported.comparisons],
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
            dot = axes.plot(value / factor, place, "o", ms=4, alpha=0.6, color=ink)
            plate.say(dot, f"{cell}: {show_value(value, 'bit/s')}")
        for row in estimates.filter(cell=cell).head(1).iter_rows(named=True):
            found = estimate_of_row(row, imported.analysis.level)
            if found.has_interval:
                ends = [found.low / factor, found.high / factor]
                axes.plot(ends, [place + 0.25] * 2, color=INK, lw=1.2)
            mean = axes.plot(found.value / factor, place + 0.25, "|", ms=8, color=INK)
            plate.say(mean, f"{cell}: {show_estimate(found)}")
    axes.set_yticks(range(len(cells)), cells)
    axes.invert_yaxis()
    axes.set_xlabel(f"throughput, {unit}")
    return plate
