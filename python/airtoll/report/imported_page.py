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
#: Most dots of a cell in the figure, and most rows of each table.
_MOST_DOTS: Final = 200
_MOST_LINES: Final = 1000
#: Most sentences of each kind, and most files, on the page.
_MOST_CAVEATS: Final = 50
_MOST_FILES: Final = 1000


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
            f"Throughput by trial, at most {_MOST_DOTS} of a cell, and the mean of the cell with "
            "its interval."
            if rows["cell"].value_counts()["count"].max() > _MOST_DOTS  # type: ignore[operator]
            else "Every trial's throughput, and the mean of its cell with its interval.",
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
            "costs": costs(imported, _MOST_LINES),
            "estimates": estimates(analysis, _MOST_LINES),
            "lines": max(analysis.overheads.height, analysis.estimates.height),
            "most_lines": _MOST_LINES,
            "against": imported.manifest.against,
            "comparisons": [beside(c) for c in imported.comparisons],
            "findings": imported.findings,
            "format": " and ".join(imported.manifest.formats) or NOTHING,
            "caveats": list(imported.caveats.items())[:_MOST_CAVEATS],
            "left_out": imported.manifest.left_out[:_MOST_CAVEATS],
            "refused": list(imported.manifest.refused.items())[:_MOST_CAVEATS],
            "unsaid": max(0, len(imported.caveats) - _MOST_CAVEATS)
            + max(0, len(imported.manifest.left_out) - _MOST_CAVEATS)
            + max(0, len(imported.manifest.refused) - _MOST_CAVEATS),
            "files": [
                {"name": name, "sha256": digest}
                for digest, name in list(imported.manifest.files.items())[:_MOST_FILES]
            ],
            "more_files": max(0, len(imported.manifest.files) - _MOST_FILES),
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
        # Of many trials these are spread over the order in which they were taken.
        for value in here["value"].gather_every(-(-here.height // _MOST_DOTS)):
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
