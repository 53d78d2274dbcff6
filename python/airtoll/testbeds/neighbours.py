"""Neighbour cells: those of a study's ``neighbours``, with places, flows and policies.

Takes a cell as devices carry it out; gives each neighbour as a cell of its own, the reason for
which a testbed skips the cell, and words for ``airtoll check``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from attrs import evolve, frozen

from airtoll import border
from airtoll.plan import Cell, levels, resolved
from airtoll.study import GroupLoad, Neighbours, Scenario, Station
from airtoll.study.generations import band_of
from airtoll.study.join import Join

#: BSS color of the own cell where there is spatial reuse; those of neighbours follow.
OWN_COLOR: Final = 1
#: Numbers of 20 MHz channels, counted from the primary one of the own cell, on which theirs is.
_PRIMARY: Final = {
    "primary": 0,
    "secondary-20": 1,
    "secondary-40": 2,
    "secondary-80": 4,
    "secondary-160": 8,
}
#: Level from which a frame of up to 40 MHz makes a secondary channel busy, dBm (IEEE 802.11-2020,
#: 21.3.18.5.4); 3 dB more for each doubling.
_SECONDARY_DBM: Final = -72.0
#: Their policy where the study names none: at 6 GHz WPA2 is not allowed.
_POLICY: Final = "wpa2-psk-ccmp"
_POLICY_AT_6_GHZ: Final = "wpa3-sae-ccmp"
_WITH_COLOR: Final = ("802.11ax", "802.11be")


@frozen
class Neighbour:
    """One neighbour.

    ``cell``: its set-up and policy, as devices carry it out. ``places``: node -> place, metres,
    the access point first. ``flows``: name, station, source and destination of each.
    ``level_dbm``: the level at which it and other cells hear one another, ``station_dbm``: that of
    its stations; both ``None`` where places decide. ``color``: its BSS color, 0 without spatial
    reuse. ``primary``: its primary 20 MHz channel, counted from that of the own cell.
    ``beacon_phase``: when its beacons are due, as a share of the interval.
    """

    name: str
    cell: Cell
    places: dict[str, tuple[float, float]]
    flows: tuple[tuple[str, str, str, str], ...]
    pattern: border.PatternSaturated | border.PatternPaced
    level_dbm: float | None
    station_dbm: float | None
    color: int
    obss_pd_dbm: float | None
    primary: int
    beacon_phase: float

    @property
    def access_point(self) -> str:
        """The node of its access point."""
        return f"{self.name}/ap"

    @property
    def stations(self) -> tuple[str, ...]:
        """The nodes of its stations."""
        return tuple(name for name in self.places if name != self.access_point)


def have_places(settings: Scenario) -> bool:
    """Whether places decide the levels of neighbours."""
    return settings.neighbours is not None and bool(settings.neighbours.positions_m)


def cells(cell: Cell) -> Iterator[Neighbour]:
    """The neighbours of a cell. Raises ``PolicyError`` for no policy that there is."""
    asked = cell.settings.neighbours
    if asked is None:
        return
    reuse = cell.settings.radio.obss_pd_dbm
    for number in range(asked.count):
        name = f"neighbour{number + 1}"
        places = _places(asked, number, name)
        payload, offered = asked.payload_bytes, asked.offered_mbps
        yield Neighbour(
            name=name,
            cell=resolved(_own_cell(cell, asked, number)).cell,
            places=places,
            flows=tuple(_flows(asked, list(places))),
            pattern=border.PatternSaturated(payload_octets=payload)
            if offered is None
            else border.PatternPaced(
                payload_octets=payload, rate_bps=offered * 1e6, arrivals=border.Arrivals.POISSON
            ),
            level_dbm=asked.level_dbm,
            station_dbm=None if asked.level_dbm is None else asked.station_dbm,
            color=0 if reuse is None else OWN_COLOR + 1 + number,
            obss_pd_dbm=reuse,
            primary=_primary(cell.settings, asked),
            beacon_phase=(number + 1) / (asked.count + 1),
        )


def why_not(cell: Cell) -> str | None:
    """Why the simulator skips a cell for its neighbours, or None."""
    settings = cell.settings
    reuse = settings.radio.obss_pd_dbm is not None
    if settings.neighbours is None:
        return "radio.obss_pd_dbm needs neighbours" if reuse else None
    refused = {
        f'topology = "{settings.topology}"': settings.topology[0] in "nr",
        "mlo": settings.mlo is not None,
        "a hand-over": settings.handover is not None,
        'address_resolution = "dynamic"': settings.address_resolution != "static",
    }
    asked = next((key for key, value in refused.items() if value), None)
    if asked is not None:
        return f"neighbours are not simulated with {asked}"
    older = [s.phy for s in settings.stations if s.phy not in (None, *_WITH_COLOR)]
    if reuse and (settings.phy not in _WITH_COLOR or older):
        return "radio.obss_pd_dbm needs 802.11ax or 802.11be at all stations: others have no color"
    reason = _why_not_widths(settings, settings.neighbours)
    if reason is not None:
        return reason
    for number in range(settings.neighbours.count):
        reason = resolved(_own_cell(cell, settings.neighbours, number)).refusal
        if reason is not None:
            return f"neighbours.policy: {reason}"
    return None


def _why_not_widths(settings: Scenario, asked: Neighbours) -> str | None:
    """Why the simulator skips neighbours with a channel of their own, or None."""
    own, theirs = settings.width_mhz, _width_mhz(settings, asked)
    if asked.channel == "primary" and own == theirs:
        return None
    if asked.channel != "outside" and 20 * _primary(settings, asked) >= max(own, theirs):
        return (
            f'neighbours.channel = "{asked.channel}" does not overlap a channel of {own} MHz with '
            f'neighbours of {theirs} MHz: "outside" says so'
        )
    if settings.ofdma != "off":
        return "neighbours with another width or primary channel are not simulated with OFDMA"
    if settings.radio.obss_pd_dbm is not None:
        return "radio.obss_pd_dbm needs neighbours with the width and primary channel of the cell"
    return None


def _width_mhz(settings: Scenario, asked: Neighbours) -> int:
    return settings.width_mhz if asked.width_mhz is None else asked.width_mhz


def _primary(settings: Scenario, asked: Neighbours) -> int:
    """The primary 20 MHz channel of neighbours, counted from that of the own cell."""
    if asked.channel == "outside":
        return max(settings.width_mhz, _width_mhz(settings, asked)) // 20
    return _PRIMARY[asked.channel]


def words(cell: Cell) -> str | None:
    """The neighbours of a cell and their effect in one line; None without."""
    found = list(cells(resolved(cell).cell))
    if not found:
        return None
    settings = cell.settings
    assert settings.neighbours is not None
    own, theirs = settings.width_mhz, _width_mhz(settings, settings.neighbours)
    channel = settings.neighbours.channel
    policies = dict.fromkeys(one.cell.policy for one in found)
    count, stations = len(found), settings.neighbours.stations
    cell_word, station_word = _counted(count, "neighbour"), _counted(stations, "active station")
    heard = [_level_dbm(settings, one) for one in found]
    lowest, highest = round(min(heard), 1), round(max(heard), 1)
    at = f"{lowest:g} dBm" if lowest == highest else f"{lowest:g} to {highest:g} dBm"
    sensed, reuse = settings.radio.carrier_sense_dbm, settings.radio.obss_pd_dbm
    least = _deferred_to_dbm(settings, settings.neighbours)
    senses = sum(level >= least for level in heard)
    ignored = 0 if reuse is None else sum(sensed <= level < reuse for level in heard)
    if ignored == count:
        effect = "this cell transmits beside them once it has read their colors"
    elif ignored:
        effect = f"{senses} contend with its access point, which transmits beside {ignored} of them"
    elif senses == count:
        effect = "they contend with this cell"
    elif senses:
        effect = f"{senses} contend with its access point, the others interfere"
    else:
        effect = "they interfere and do not contend"
    said = f"{cell_word} with {station_word} each ({', '.join(policies)}) at {at}"
    if channel == "outside":
        return f"{said} outside its channel: they change nothing"
    if (channel, theirs) == ("primary", own):
        return f"{said}, sensed from {sensed:g} dBm on: {effect}"
    there = "on its primary channel" if channel == "primary" else f"in its {channel} MHz channel"
    said = f"{said}, {theirs} MHz wide, {there}"
    if _covers_primary(settings.neighbours, theirs):
        return f"{said}, sensed from {sensed:g} dBm on: {effect}"
    does = "this cell transmits beside them in what is idle of its channel"
    if senses < count:
        does = "they interfere" if senses == 0 else f"{does}, and {count - senses} interfere"
    return f"{said}, which they make busy from {least:.0f} dBm on: {does}"


def interference_dbm(cell: Cell) -> float | None:
    """Power of neighbours' frames that its access point does not defer to, in its channel, dBm.

    Of the strongest neighbour, as much over the noise as the simulator counts it; with spatial
    reuse more by what the own power is lower beside it. None without such neighbours.
    """
    settings = cell.settings
    asked = settings.neighbours
    if asked is None or asked.channel == "outside":
        return None
    own, theirs = settings.width_mhz, _width_mhz(settings, asked)
    least = _deferred_to_dbm(settings, asked)
    reuse = settings.radio.obss_pd_dbm
    defers_from = least if reuse is None else max(least, reuse)
    heard = [_level_dbm(settings, one) for one in cells(resolved(cell).cell)]
    strongest = max((level for level in heard if level < defers_from), default=None)
    if strongest is None:
        return None
    inside = strongest - max(0.0, 10 * math.log10(theirs / own))
    return inside + (levels.lowered_db(settings) if strongest >= least else 0.0)


def _covers_primary(asked: Neighbours, theirs: int) -> bool:
    """Whether the widest frames of neighbours cover the primary channel of the own cell."""
    return theirs > 20 * _PRIMARY[asked.channel]


def _deferred_to_dbm(settings: Scenario, asked: Neighbours) -> float:
    """The level of neighbours from which the own cell waits for their frames, dBm."""
    own, theirs = settings.width_mhz, _width_mhz(settings, asked)
    if asked.channel != "outside" and not _covers_primary(asked, theirs):
        return _SECONDARY_DBM + 10 * math.log10(max(theirs, 40) / 40)
    # A narrower receiver has a part of their widest frames.
    return settings.radio.carrier_sense_dbm + max(0.0, 10 * math.log10(theirs / own))


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _level_dbm(settings: Scenario, one: Neighbour) -> float:
    """The level of a neighbour's access point at the own one, dBm."""
    if one.level_dbm is not None:
        return one.level_dbm
    place = one.places[one.access_point]
    there = Station(name="ap", position_m=place)
    found = levels.level_dbm(settings.model_copy(update={"rssi_dbm": None}), there)
    assert found is not None
    return found


def _policy(cell: Cell, asked: Neighbours, number: int) -> str:
    names = asked.policy or (_POLICY_AT_6_GHZ if band_of(cell.settings) == "6ghz" else _POLICY,)
    name = names[number] if len(names) > 1 else names[0]
    return cell.policy if name == "same" else name


def _own_cell(cell: Cell, asked: Neighbours, number: int) -> Cell:
    """A neighbour as a cell of its own, with one of its stations."""
    settings = cell.settings
    level = asked.station_dbm
    if asked.positions_m:
        there = Station(name="1", position_m=(asked.station_m, 0.0))
        at_origin = settings.ap.model_copy(update={"position_m": (0.0, 0.0)})
        placed = settings.model_copy(update={"rssi_dbm": None, "ap": at_origin})
        found = levels.level_dbm(placed, there)
        assert found is not None
        level = found
    station = Station(name="1", rssi_dbm=round(level, 6), mcs=asked.mcs, rate_mbps=asked.rate_mbps)
    theirs = settings.model_copy(
        update={
            "stations": (station,),
            "clients": None,
            "rssi_dbm": None,
            "hidden": (),
            "mcs": asked.mcs,
            "rate_mbps": asked.rate_mbps,
            "width_mhz": _width_mhz(settings, asked),
            "group_load": GroupLoad(),
            "join": Join(),
            "authenticate": False,
            "bridge": None,
            "topology": "uplink",
            "multicast_to_unicast": False,
            "per_client_gtk": False,
            "isolation": False,
            "proxy_arp": False,
            "dtim_period": 1,
            "ssids": 1,
            "neighbours": None,
            "passers_by": None,
            "ofdma": "off",
        }
    )
    return evolve(cell, settings=theirs, policy=_policy(cell, asked, number))


def _places(asked: Neighbours, number: int, name: str) -> dict[str, tuple[float, float]]:
    """Node -> place, metres: stations stand around their access point at equal angles."""
    x, y = asked.positions_m[number] if asked.positions_m else (0.0, 0.0)
    places = {f"{name}/ap": (x, y)}
    for station in range(asked.stations):
        angle = 2 * math.pi * station / asked.stations
        reach = asked.station_m if asked.positions_m else 0.0
        place = (round(x + reach * math.cos(angle), 6), round(y + reach * math.sin(angle), 6))
        places[f"{name}/{station + 1}"] = place
    return places


def _flows(asked: Neighbours, nodes: list[str]) -> Iterator[tuple[str, str, str, str]]:
    """(name, station, source, destination) of each flow; the access point is the first node."""
    access_point = nodes[0]
    for station in nodes[1:]:
        if asked.direction in ("up", "both"):
            yield f"{station}-up", station, station, access_point
        if asked.direction in ("down", "both"):
            yield f"{station}-down", station, access_point, station
