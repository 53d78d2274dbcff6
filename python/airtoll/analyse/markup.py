"""Estimates and analyses as HTML fragments, for notebooks.

Names of cells come from study files: they are escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from airtoll.analyse.quantities import show_estimate, show_overhead

if TYPE_CHECKING:
    from airtoll.analyse.analysis import Analysis
    from airtoll.analyse.estimate import Estimate


def estimate_html(estimate: Estimate) -> str:
    """Value with its interval; readings and method behind it."""
    shown = show_overhead(estimate) if estimate.unit == "1" else show_estimate(estimate)
    how = f"{100 * estimate.level:.0f} % interval, n = {estimate.n}, {estimate.method}"
    return f'<span title="{escape(how)}">{escape(shown)}</span> <small>{escape(how)}</small>'


def overheads_html(analysis: Analysis) -> str:
    """One row for every whole cell with an overhead, in the order of the analysis."""
    rows = []
    for row in analysis.overheads.iter_rows(named=True):
        if row["flow"] is not None or row["station"] is not None:
            continue
        found = analysis.overhead(row["cell"])
        if found is not None:
            rows.append([row["cell"], row["baseline_cell"], show_overhead(found), str(found.n)])
    title = (
        f"Overhead against {analysis.baseline} ({analysis.definition}), "
        f"{100 * analysis.level:.0f} % intervals"
    )
    return _table(title, ["cell", "baseline", "overhead", "n"], rows)


def _table(title: str, names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(value)}</td>" for value in row) + "</tr>" for row in rows
    )
    return (
        f"<table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )
