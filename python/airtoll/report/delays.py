"""Percentiles of delays and response times by flow.

A summary gives rows of text for the page. Cells all of whose flows are saturated are left out:
their delay is the length of the queue.
"""

from __future__ import annotations

from typing import Any, Final

import polars as pl
from attrs import frozen

from airtoll.analyse.analysis import estimate_of_row, repeats_its_cell
from airtoll.analyse.quantities import show_estimate
from airtoll.report.summary import RunSummary
from airtoll.study import Traffic

#: Kind of delay -> its percentiles.
_SHOWN: Final = {
    "delay": ("delay_p50_s", "delay_p95_s", "delay_p99_s"),
    "response": ("response_p50_s", "response_p95_s", "response_p99_s"),
}
#: Most rows of a table, so that a report stays readable and small for any study.
_MOST_ROWS: Final = 400
_COLUMNS: Final = ("cell", "flow", "station", "metric")
#: Number of the cell in the plan, flow, station, kind of delay.
_Key = tuple[int, str, str, str]


@frozen
class DelayTable:
    """The first rows of a table of percentiles; ``height``: number of rows of the whole table."""

    rows: list[dict[str, Any]]
    height: int


def delay_tables(summary: RunSummary) -> dict[str, DelayTable]:
    """``whole``: a row per cell and kind of delay, in the order of the plan; ``parts``: its flows.

    The flows of a cell without a row as a whole are in ``whole``.
    """
    order = {cell.name: index for index, cell in enumerate(summary.plan.cells) if _paced(cell.load)}
    every = [metric for metrics in _SHOWN.values() for metric in metrics]
    frame = summary.analysis.estimates.filter(
        pl.col("metric").is_in(every) & pl.col("cell").is_in(list(order))
    )
    frame = frame.filter(~repeats_its_cell())

    def key(cell: str, flow: str | None, station: str | None, metric: str) -> _Key:
        return order[cell], flow or "", station or "", metric.partition("_")[0]

    keys = sorted({key(*row) for row in frame.select(_COLUMNS).iter_rows()})
    whole = {(cell, kind) for cell, flow, station, kind in keys if not flow and not station}
    parts = [k for k in keys if (k[1] or k[2]) and (k[0], k[3]) in whole]
    tables = {"whole": sorted(set(keys) - set(parts)), "parts": parts}
    shown: dict[_Key, dict[str, Any]] = {k: {} for of in tables.values() for k in of[:_MOST_ROWS]}
    cells = {order[name]: name for name in order}
    near = pl.col("cell").is_in(list({cells[k[0]] for k in shown}))
    for row in frame.filter(near).iter_rows(named=True):
        found = shown.get(key(*(row[name] for name in _COLUMNS)))
        if found is None:
            continue
        kind, _, _ = row["metric"].partition("_")
        if not found:
            found |= _row(summary, row) | {"kind": kind, "values": [""] * len(_SHOWN[kind])}
        estimate = estimate_of_row(row, summary.analysis.level)
        found["values"][_SHOWN[kind].index(row["metric"])] = show_estimate(estimate)
    return {
        name: DelayTable([shown[k] for k in of[:_MOST_ROWS]], len(of))
        for name, of in tables.items()
    }


def _paced(load: Traffic) -> bool:
    return any(
        (one.application != "stream" or one.offered_mbps is not None) and one.transfer_bytes is None
        for one in load.loads
    )


def _row(summary: RunSummary, row: dict[str, Any]) -> dict[str, Any]:
    place = (row["scenario"], row["traffic"], row["factors"], ("policy",))
    return {
        "cell": row["cell"],
        "policy": summary.names.variant(row["policy"], row["factors"]),
        "place": summary.names.place(*place),
        "flow": row["flow"] or "all",
        "method": row["method"],
    }
