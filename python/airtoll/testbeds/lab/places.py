"""Places of stations: a study's statements, as words for the person who carries them there.

Takes a cell; gives a place per station that the cell has. A place is the walls between the station
and the access point and its position; the level is the one that the paper printed, and a place of
its own only where nothing else is stated. Cells with equal places need no move between them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from attrs import frozen

from airtoll.plan import Cell
from airtoll.study import Station
from airtoll.testbeds.domains import DOMAINS
from airtoll.testbeds.resolve import station_list

#: Levels that differ by less are one place, dB.
_STEP_DB: Final = 6.0
_COUNTS: Final = {1: "one wall", 2: "two walls", 3: "three walls"}


@frozen
class Place:
    """Where a station stands. ``level``: class of its level, where nothing else tells the place."""

    walls: int | None = None
    position_m: tuple[float, float] | None = None
    level: int | None = None
    apart_from: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Where that is, after the name of the station."""
        parts = []
        if self.walls == 0:
            parts.append("in the same room as the access point")
        elif self.walls is not None:
            parts.append(f"behind {_COUNTS.get(self.walls, f'{self.walls} walls')}")
        if self.position_m is not None:
            x, y = self.position_m
            parts.append(f"at ({x:g} m, {y:g} m), the access point being at the study's position")
        if self.level is not None:
            parts.append(
                f"where it hears the access point at {_STEP_DB * self.level:.0f} dBm or so"
            )
        if self.apart_from:
            parts.append(f"out of range of {' and '.join(self.apart_from)}")
        return ", ".join(parts)


#: Station of a study -> its place, of those whose place the study states.
Places = Mapping[str, Place]


def places_of(cell: Cell) -> dict[str, Place]:
    """Places of a cell's stations; a station without a stated place has none."""
    settings = cell.settings
    if settings.topology in DOMAINS:
        return {}
    found: dict[str, Place] = {}
    for station in station_list(settings):
        apart = tuple(
            sorted({name for pair in settings.hidden if station.name in pair for name in pair}
                   - {station.name})
        )  # fmt: skip
        place = _place(station, settings.rssi_dbm, apart)
        if place != Place():
            found[station.name] = place
    return found


def _place(station: Station, common_dbm: float | None, apart: tuple[str, ...]) -> Place:
    walls = station.walls if "walls" in station.model_fields_set else None
    position = station.position_m
    level = station.rssi_dbm if station.rssi_dbm is not None else common_dbm
    alone = walls is None and position is None and level is not None
    return Place(
        walls=walls,
        position_m=position,
        level=round(level / _STEP_DB) if alone and level is not None else None,
        apart_from=apart,
    )


def printed_dbm(cell: Cell) -> dict[str, float]:
    """Station -> the level that the study states for it, dBm."""
    found = {}
    for station in station_list(cell.settings):
        level = station.rssi_dbm if station.rssi_dbm is not None else cell.settings.rssi_dbm
        if level is not None:
            found[station.name] = level
    return found


def moves(now: Places, wanted: Places) -> dict[str, Place]:
    """Stations that have to be moved, and where to; others stay where they are."""
    return {name: place for name, place in wanted.items() if now.get(name) != place}
