"""Rows of imported readings for people: costs, estimates, printed figures beside them.

Takes an analysis; gives rows of text, the same for the page and for every text format.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airtoll.analyse import Analysis, Comparison
from airtoll.analyse.analysis import THROUGHPUT, estimate_of_row, repeats_its_cell
from airtoll.analyse.quantities import NOTHING, show_estimate, show_overhead
from airtoll.answer import of_row
from airtoll.observe.metrics import name_of
from airtoll.present.words import stated
from airtoll.report.imported import Imported, whole_cells


def costs(readings: Imported, most: int | None = None) -> list[dict[str, str]]:
    """The overhead of each secured cell, or of the first ones: cell, overhead, verdict, p, n."""
    overheads = readings.analysis.overheads
    rows = whole_cells(overheads).head(overheads.height if most is None else most)
    return [_cost(readings, row) for row in rows.iter_rows(named=True)]


def estimates(analysis: Analysis, most: int | None = None) -> list[dict[str, str]]:
    """Every estimate, or the first ones: cell, metric, value, n, method."""
    rows = analysis.estimates.filter(~repeats_its_cell())
    rows = rows if most is None else rows.head(most)
    return [_estimate(row, analysis.level) for row in rows.iter_rows(named=True)]


def _cost(readings: Imported, row: Mapping[str, Any]) -> dict[str, str]:
    analysis = readings.analysis
    key = (row["cell"], row["flow"], row["station"])
    hit = analysis.comparison(key[0], THROUGHPUT, *key[1:])
    assert hit is not None
    claims = (
        one.claim
        for one in readings.claims
        if one.claim.metric == THROUGHPUT and (one.cell, one.flow, one.station) == key
    )
    claim = next(claims, None)
    return {
        "cell": _named(row),
        "overhead": show_overhead(estimate_of_row(dict(row), analysis.level)),
        "verdict": NOTHING if claim is None else stated(of_row(claim, hit)),
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
        "metric": name_of(row["metric"]),
        "value": show_estimate(estimate_of_row(dict(row), level)),
        "n": str(row["n"]),
        "method": row["method"],
    }


def beside(c: Comparison) -> dict[str, str]:
    """A reading beside a printed figure: cell, quantity, table, both values, error."""
    overhead = c.quantity == "overhead"
    return {
        "cell": c.cell,
        "quantity": name_of(c.quantity),
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
