"""Kinds of flow of a cell: which stations they name, and which testbeds carry them out."""

from __future__ import annotations

from typing import Final

from airtoll.plan import Cell
from airtoll.testbeds.domains import DOMAINS
from airtoll.testbeds.resolve import station_list

#: Most flows of a trial: each takes 80 us and 3 kB before the first packet.
MOST_FLOWS: Final = 10_000


def why_not(cell: Cell) -> str | None:
    """Why the kinds of flow of a cell do not fit its scenario, or None."""
    if cell.settings.topology in DOMAINS and cell.load.beside:
        return "beside: a two-domain topology carries one kind of flow"
    names = [station.name for station in station_list(cell.settings)]
    flows = sum(
        load.flows_per_station
        * (len(names) if load.stations is None else len(load.stations))
        * (2 if load.direction == "both" or load.application == "voip" else 1)
        for load in cell.load.loads
    )
    if flows > MOST_FLOWS:
        return (
            f"traffic.{cell.traffic}.flows_per_station: {flows} flows of {len(names)} stations; a "
            f"trial has at most {MOST_FLOWS}"
        )
    for load in cell.load.loads:
        for name in load.stations or ():
            if name not in names:
                return f"traffic stations: no station {name!r}; there are {', '.join(names)}"
    return None


def one_kind(cell: Cell) -> str | None:
    """Why a testbed of one kind of flow skips the cell, or None."""
    return "beside: this testbed carries one kind of flow at a time" if cell.load.beside else None
