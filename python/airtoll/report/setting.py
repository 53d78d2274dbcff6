"""The setting of a run in one line: PHY, width, MCS or rate, level, clients, length of a trial.

Takes the cells of a plan; gives words. A quantity that varies is named by its ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from airtoll.plan import Cell
from airtoll.study import Scenario
from airtoll.study.generations import GENERATIONS

#: Names side by side; more are told by their number.
_MOST: Final = 3


def setting(cells: Sequence[Cell]) -> str:
    """One line for all cells: ``802.11ax, 80 MHz, MCS 7, 1 to 50 clients, 3 s a trial``."""
    if not cells:
        return ""
    every = [cell.settings for cell in cells]
    clients = [one.clients or len(one.stations) for one in every]
    words = [
        _named({one.phy for one in every}),
        _named({f"{band} GHz" for one in every if (band := one.band) is not None}),
        _numbers([one.width_mhz for one in every if _has_mcs(one)], "{} MHz"),
        _rates(every),
        _numbers(_levels(every), "{} dBm"),
        _numbers(clients, "{} clients" if max(clients) > 1 else "{} client"),
        _numbers([cell.load.duration_s for cell in cells], "{} s a trial"),
    ]
    return ", ".join(word for word in words if word)


def _has_mcs(one: Scenario) -> bool:
    return GENERATIONS[one.phy]["mcs_top"] is not None


def _rates(every: Sequence[Scenario]) -> str:
    modern = [one for one in every if _has_mcs(one)]
    stated = [one.mcs for one in modern if one.mcs is not None]
    of_stations = any(s.mcs is not None for one in modern for s in one.stations)
    words = [_numbers(stated, "MCS {}")]
    if len(stated) < len(modern):
        words.append("MCS by station" if of_stations else "MCS by level")
    words.append(_numbers([one.rate_mbps for one in every if one.rate_mbps], "{} Mb/s"))
    return ", ".join(word for word in words if word)


def _levels(every: Iterable[Scenario]) -> list[float]:
    """Stated levels of the stations, dBm; none where they follow from positions."""
    return [
        level
        for one in every
        for station in one.stations
        if (level := station.rssi_dbm if station.rssi_dbm is not None else one.rssi_dbm) is not None
    ]


def _named(values: set[str]) -> str:
    names = sorted(values)
    if len(names) > _MOST:
        return f"{names[0]} to {names[-1]}"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _numbers(values: Sequence[float], form: str) -> str:
    if not values:
        return ""
    show: Callable[[float], str] = "{:g}".format
    low, high = min(values), max(values)
    return form.format(show(low) if low == high else f"{show(low)} to {show(high)}")
