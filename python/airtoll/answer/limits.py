"""The limit of a throughput: the air, the CPU of a device, the wire, or the offered load."""

from __future__ import annotations

from typing import Final

import polars as pl

from airtoll.analyse.analysis import THROUGHPUT
from airtoll.analyse.wire import fills_the_wire, is_saturated
from airtoll.answer.claims import Held, Limit
from airtoll.answer.measured import Measured
from airtoll.plan import Cell
from airtoll.question import Arm, Asked, Place

#: A CPU that is busy for this share of the time holds back what it works for.
_BUSY: Final = 0.97


def limits(question: Asked, measured: Measured) -> list[Limit]:
    """The limit of every cell of a question about throughput."""
    if question.metric != THROUGHPUT:
        return []
    busy = _busiest(measured)
    return [
        found
        for place in question.places
        for arm, cell in place.cells.items()
        if (found := _limit(measured, cell, place, arm, busy)) is not None
    ]


def _busiest(measured: Measured) -> dict[str, tuple[str, float]]:
    """Cell -> the device with the busiest CPU and its share."""
    rows = (
        measured.observations.filter(
            (pl.col("metric") == "cpu_share") & pl.col("station").is_not_null()
        )
        .group_by("cell", "station")
        .agg(pl.col("value").mean())
        .sort("value")
        .group_by("cell")
        .last()
    )
    return {str(cell): (str(host), float(share)) for cell, host, share in rows.iter_rows()}


def _limit(
    measured: Measured, cell: Cell, place: Place, arm: Arm, busy: dict[str, tuple[str, float]]
) -> Limit | None:
    found = measured.analysis.estimate(cell.name, THROUGHPUT)
    if found is None:
        return None
    if fills_the_wire(cell, found.value):
        return Limit(cell, place, arm, Held.WIRE)
    host, share = busy.get(cell.name, ("", 0.0))
    if share >= _BUSY:
        return Limit(cell, place, arm, Held.CPU, host, share)
    if not is_saturated(cell):
        return Limit(cell, place, arm, Held.OFFERED)
    return Limit(cell, place, arm, Held.AIR)
