"""How large the captures of a trial become, before it is carried out.

Takes a cell; gives octets, within a factor of two for streams that the air limits.
"""

from __future__ import annotations

from typing import Final

from airtoll import _native
from airtoll.errors import ProfileError
from airtoll.plan import Cell
from airtoll.study import Load
from airtoll.study.generations import HIGHEST_MBPS
from airtoll.testbeds.resolve import native, station_list

#: Octets of a packet in the files beside its payload: headers of IP, 802.11, radiotap and pcapng on
#: the air, its Ack there, and headers of IP, Ethernet and pcapng on the wire.
_BESIDE: Final = 300
#: Payload over rate where no closed form gives the throughput.
_SHARE_OF_RATE: Final = 0.5
_FASTEST_MBPS: Final = 300.0
#: Octets of a station's join, with its beacons.
_JOIN: Final = 20_000


def octets_of_captures(cell: Cell) -> float:
    """Expected octets of the capture files of one trial."""
    stations = len(station_list(cell.settings))
    joins = _JOIN * stations * cell.settings.authenticate
    payload = min(load.payload_bytes or 1472 for load in cell.load.loads)
    times = 2 if cell.settings.topology != "station-to-station" else 1
    octets = _throughput_bps(cell, stations) / 8 * cell.load.duration_s
    if cell.load.transfer_bytes is not None and not cell.load.beside:
        octets = min(octets, cell.load.transfer_bytes * stations)
    return joins + octets * (times + _BESIDE / payload)


def _throughput_bps(cell: Cell, stations: int) -> float:
    offered = [_offered_mbps(load) for load in cell.load.loads]
    if None not in offered:
        air_bps = 1e6 * _rate_mbps(cell)
        return min(air_bps, 1e6 * stations * sum(one or 0.0 for one in offered))
    try:
        scenario = native(cell)
        if scenario.check_analytic() is None:
            columns = scenario.analytic()
            rows = zip(columns["metric"], columns["flow"], columns["value"], strict=True)
            return sum(value for name, flow, value in rows if name == "throughput_bps" and flow)
    except (ProfileError, _native.InvalidScenario, _native.Fault, _native.PanicException):
        pass
    return 1e6 * _SHARE_OF_RATE * _rate_mbps(cell)


def _rate_mbps(cell: Cell) -> float:
    return cell.settings.rate_mbps or HIGHEST_MBPS.get(cell.settings.phy, _FASTEST_MBPS)


def _offered_mbps(load: Load) -> float | None:
    """The most that a flow of a kind offers, Mb/s; ``None``: as much as the air carries."""
    if load.application == "voip":
        return 0.2
    if load.application == "stream":
        return None if load.offered_mbps is None else load.offered_mbps * load.flows_per_station
    return None
