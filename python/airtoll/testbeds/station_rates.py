"""The rates of a cell's stations in words: for `airtoll check`, and as notes of trials and reports.

Takes a cell; reads the rates from its resolved scenario, as devices carry it out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from attrs import frozen

from airtoll import _native
from airtoll.errors import ProfileError
from airtoll.observe.metrics import RATE
from airtoll.plan import Cell, multi_link, rates, resolved
from airtoll.testbeds.resolve import native, station_list


@frozen
class StationRate:
    """The fixed rate of a station's data frames on one of its links.

    ``link``: its number from 1. ``mcs`` and ``streams``: None where the PHY has none or the cipher
    forbids them. ``chosen``: the MCS that the level of the station decided, None where the study
    states the rate.
    """

    station: str
    link: int
    mcs: int | None
    streams: int | None
    mbps: float
    chosen: rates.Chosen | None

    @property
    def words(self) -> str:
        """The rate, with its MCS where it has one."""
        rate = f"{self.mbps:.4g} Mb/s"
        if self.mcs is None:
            return rate
        streams = f" x {self.streams}" if self.streams and self.streams > 1 else ""
        return f"MCS {self.mcs}{streams}, {rate}"


@lru_cache(maxsize=1024)
def of_cell(cell: Cell) -> tuple[StationRate, ...]:
    """The fixed rates of all stations; none where rate control chooses them."""
    try:
        rows = native(cell).station_rates()
    except (ProfileError, _native.InvalidScenario):
        return ()
    settings = resolved(cell).settings
    links = {name: number for number, name in enumerate(multi_link.names(settings), start=1)}
    chosen = {
        (station.name, number): rates.by_level(
            multi_link.alone(settings, number), station, cell.load.duration_s
        )
        for station in station_list(settings)
        for number in multi_link.links_of(settings, station)
    }
    if settings.topology[0] in "nr":
        # The mobile node has a name of its own there.
        (decided,) = chosen.values()
        chosen = {(row[0], 1): decided for row in rows}
    found = []
    for name, bss, mcs, streams, mbps, _ in rows:
        number = links.get(bss, 1)
        found.append(StationRate(name, number, mcs, streams, mbps, chosen.get((name, number))))
    return tuple(found)


def shown(of_stations: Sequence[StationRate]) -> str:
    """The rates in a few words: one, or the lowest and the highest."""
    slowest = min(of_stations, key=lambda one: one.mbps, default=None)
    fastest = max(of_stations, key=lambda one: one.mbps, default=None)
    if slowest is None or fastest is None:
        return ""
    if slowest.words == fastest.words:
        return slowest.words
    return f"{slowest.words} to {fastest.words}"


def note(cell: Cell) -> str | None:
    """The rates that levels decided, in one line; None where the study states all."""
    several = len({one.link for one in of_cell(cell)}) > 1
    groups: dict[str, list[str]] = {}
    for one in of_cell(cell):
        if one.chosen is not None:
            name = f"{one.station} on link {one.link}" if several else one.station
            groups.setdefault(_reason(one, one.chosen), []).append(name)
    if not groups:
        return None
    parts = []
    for reason, names in groups.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        parts.append(f"{names[0]}{more}: {reason}")
    shown = "; ".join(parts[:3]) + (f"; {len(parts) - 3} more" if len(parts) > 3 else "")
    return f"{RATE}no mcs is stated. {shown}"


def _reason(one: StationRate, chosen: rates.Chosen) -> str:
    mcs = mcs_words(chosen)
    rate = mcs if one.mcs is not None else f"{mcs}, which its cipher lowers to {one.words}"
    if not chosen.arrives:
        return f"{rate}, the lowest: {chosen.level_dbm:.1f} dBm is too low for every MCS"
    return f"{rate}, the highest that {chosen.level_dbm:.1f} dBm supports"


def mcs_words(chosen: rates.Chosen) -> str:
    """The words of an MCS that a level decided."""
    return StationRate("", 1, chosen.mcs, chosen.streams, chosen.mbps, chosen).words
