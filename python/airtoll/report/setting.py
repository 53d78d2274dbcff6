"""The setting of a run in one line: PHY, width, MCS or rate, level, clients, length of a trial.

Takes the cells of a plan; gives words. A quantity that varies is named by its ends. A
quantity that a study leaves out has the value that the models suppose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from attrs import frozen

from airtoll import border
from airtoll.plan import Cell, multi_link
from airtoll.plan.levels import level_dbm, mean_level_dbm
from airtoll.plan.rates import by_level, rate
from airtoll.study import Scenario, Station
from airtoll.study.generations import GENERATIONS, band_of

#: Names side by side; more are told by their number.
_MOST: Final = 3
#: Testbeds whose stations have the level that a model supposes where a study states none.
_MODELS: Final = ("simulator", "analytic")


@frozen
class _Radio:
    """One station on one of its links, for the length of a trial."""

    settings: Scenario
    station: Station
    duration_s: float

    @property
    def phy(self) -> str:
        return self.station.phy or self.settings.phy

    @property
    def width_mhz(self) -> int:
        """Of the channel, no more than the PHY of the station has."""
        return min(self.settings.width_mhz, max(GENERATIONS[self.phy]["widths_mhz"]))

    @property
    def has_one_band(self) -> bool:
        return len(GENERATIONS[self.settings.phy]["bands"]) == 1

    @property
    def rate(self) -> border.Rate:
        return rate(self.settings, self.station, self.duration_s)

    @property
    def is_by_level(self) -> bool:
        return by_level(self.settings, self.station, self.duration_s) is not None

    @property
    def walks(self) -> bool:
        handover = self.settings.handover
        return handover is not None and handover.walk is not None

    @property
    def level_dbm(self) -> float:
        """As stated or by its place, else the one that the models suppose; on a walk the lowest."""
        return round(mean_level_dbm(self.settings, self.station, self.duration_s), 1)

    @property
    def has_level(self) -> bool:
        return self.walks or level_dbm(self.settings, self.station) is not None


def setting(cells: Sequence[Cell], testbed: str = "simulator") -> str:
    """One line for all cells: ``802.11ax, 5 GHz, 80 MHz, MCS 7, -45 dBm (default), 3 s a trial``.

    ``testbed``: its stations have a default level only in a model.
    """
    if not cells:
        return ""
    radios = [one for cell in cells for one in _radios(cell)]
    clients = [cell.settings.clients or len(cell.settings.stations) for cell in cells]
    words = [
        _named({one.phy for one in radios}),
        _bands(radios),
        _numbers([one.width_mhz for one in radios], "{} MHz"),
        _rates(radios),
        _levels(radios, testbed),
        _numbers(clients, "{} clients" if max(clients) > 1 else "{} client"),
        _numbers([cell.load.duration_s for cell in cells], "{} s a trial"),
    ]
    return ", ".join(word for word in words if word)


def _radios(cell: Cell) -> Iterator[_Radio]:
    for station in cell.settings.stations:
        for number in multi_link.links_of(cell.settings, station):
            yield _Radio(multi_link.alone(cell.settings, number), station, cell.load.duration_s)


def _bands(radios: Sequence[_Radio]) -> str:
    """The bands, where a PHY has several or the study states one."""
    if all(one.settings.band is None and one.has_one_band for one in radios):
        return ""
    return _named({band_of(one.settings).replace("ghz", " GHz") for one in radios})


def _rates(radios: Iterable[_Radio]) -> str:
    indices: list[float] = []
    streams: list[float] = []
    rates: list[float] = []
    by_levels = False
    controls: dict[str, None] = {}
    for one in radios:
        match one.rate:
            case border.RateFixedMcs(mcs=mcs, streams=count):
                indices.append(mcs)
                streams.append(count)
                by_levels = by_levels or one.is_by_level
            case border.RateFixed(mbps=mbps):
                rates.append(mbps)
            case border.RateAarf():
                controls["rate by AARF"] = None
            case border.RateMinstrel():
                controls["rate by Minstrel"] = None
    chosen = " by level" if by_levels else ""
    words = [
        _numbers(indices, "MCS {}" + chosen),
        _numbers(streams, "{} streams") if any(count > 1 for count in streams) else "",
        _numbers(rates, "{} Mb/s"),
        *controls,
    ]
    return ", ".join(word for word in words if word)


def _levels(radios: Sequence[_Radio], testbed: str) -> str:
    known = [one for one in radios if one.has_level]
    is_model = testbed in _MODELS
    told = _numbers([one.level_dbm for one in (radios if is_model else known)], "{} dBm")
    if not told:
        return "level not stated"
    if any(one.walks for one in radios):
        return f"{told} at the lowest"
    return told if known else f"{told} (default)"


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
