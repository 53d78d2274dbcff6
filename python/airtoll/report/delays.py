"""Percentiles of delays and response times by flow.

A summary gives rows of text for the page. Cells all of whose flows are saturated are left out:
their delay is the length of the queue.
"""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from airtoll.analyse.analysis import estimate_of_row, repeats_its_cell
from airtoll.analyse.quantities import show_estimate
from airtoll.report.summary import RunSummary
from airtoll.study import Traffic

#: Kind of delay -> its percentiles.
_SHOWN: Final = {
    "delay": ("delay_p50_s", "delay_p95_s", "delay_p99_s"),
    "response": ("response_p50_s", "response_p95_s", "response_p99_s"),
}


def delay_rows(summary: RunSummary) -> list[dict[str, Any]]:
    """One row per cell and kind of delay in the order of the plan, then one for each of its flows.

    ``part``: a flow of a cell that has a row as a whole.
    """
    order = {cell.name: index for index, cell in enumerate(summary.plan.cells) if _paced(cell.load)}
    every = [metric for metrics in _SHOWN.values() for metric in metrics]
    frame = summary.analysis.estimates.filter(
        pl.col("metric").is_in(every) & pl.col("cell").is_in(list(order))
    )
    frame = frame.filter(~repeats_its_cell())
    found: dict[tuple[int, str, str, str], dict[str, dict[str, Any]]] = {}
    for row in frame.iter_rows(named=True):
        kind = row["metric"].partition("_")[0]
        key = (order[row["cell"]], row["flow"] or "", row["station"] or "", kind)
        found.setdefault(key, {})[row["metric"]] = row
    whole = {(cell, kind) for cell, flow, station, kind in found if not flow and not station}
    return [
        _row(summary, kind, row) | {"part": bool(flow or station) and (cell, kind) in whole}
        for (cell, flow, station, kind), row in sorted(found.items())
    ]


def _paced(load: Traffic) -> bool:
    return any(
        (one.application != "stream" or one.offered_mbps is not None) and one.transfer_bytes is None
        for one in load.loads
    )


def _row(summary: RunSummary, kind: str, percentiles: dict[str, dict[str, Any]]) -> dict[str, Any]:
    first = next(iter(percentiles.values()))
    place = (first["scenario"], first["traffic"], first["factors"], ("policy",))
    return {
        "policy": summary.names.variant(first["policy"], first["factors"]),
        "kind": kind,
        "place": summary.names.place(*place),
        "flow": first["flow"] or "all",
        "values": [
            show_estimate(estimate_of_row(percentiles[metric], summary.analysis.level))
            if metric in percentiles
            else ""
            for metric in _SHOWN[kind]
        ],
        "method": first["method"],
    }
