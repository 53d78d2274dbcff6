"""A cell of which some stations have real daemons and the medium simulates the others.

Takes a cell and how many of its stations are real (``airtoll run --real-stations``); gives the
names of both kinds, and why a cell cannot be parted. Stations that join during the traffic are
real ones, as no simulated station joins. Then the first ones of the study are.
"""

from __future__ import annotations

from typing import Final

from airtoll.plan import Cell
from airtoll.study import Scenario
from airtoll.testbeds.capability import Feature
from airtoll.testbeds.domains import DOMAINS
from airtoll.testbeds.linux.air import devices, rates
from airtoll.testbeds.resolve import station_list

#: The option, as its messages name it.
OPTION: Final = "--real-stations"
#: Radios of a medium, less two access points (``MAX_RADIOS`` of airtoll-medium).
MOST_STATIONS: Final = 62
#: Datagrams that an MTU of 1500 octets takes whole.
_WHOLE: Final = {"ipv4": 1472, "ipv6": 1452}


def names(settings: Scenario, real: int | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The stations with real daemons, and those that are simulated; without ``real`` none is."""
    stations = station_list(settings)
    everybody = tuple(station.name for station in stations)
    if real is None or real >= len(everybody) or settings.topology in DOMAINS:
        return everybody, ()
    late = [station.name for station in stations if station.joins_at_s is not None]
    others = [name for name in everybody if name not in late]
    kept = {*late, *others[: max(0, real - len(late))]}
    return (
        tuple(name for name in everybody if name in kept),
        tuple(name for name in everybody if name not in kept),
    )


def _is_no_datagrams(cell: Cell) -> bool:
    load = cell.load
    return load.application not in ("stream", "voip") or (
        load.application == "stream" and load.transport != "udp"
    )


def _has_no_fixed_rate(cell: Cell) -> bool:
    settings = cell.settings
    mcs = settings.phy in rates.HT and cell.security.ht_allowed
    return not mcs and settings.rate_mbps is None


def _is_saturated_downwards(cell: Cell) -> bool:
    load = cell.load
    down = "down" if cell.settings.topology == "downlink" else "up"
    saturated = load.application == "stream" and load.offered_mbps is None
    return saturated and (load.direction or down) != "up"


#: Combinations that cannot be simulated; each reason follows the name of the option.
FEATURES: Final = (
    Feature(
        f"more than {MOST_STATIONS} stations",
        lambda cell: len(station_list(cell.settings)) > MOST_STATIONS,
        f"the medium has room for {MOST_STATIONS} stations, and the cell has {{count}}",
    ),
    Feature(
        "other traffic than datagrams one way or both",
        _is_no_datagrams,
        "a simulated station sends and receives UDP streams and calls only",
    ),
    Feature(
        "a transfer of so many octets",
        lambda cell: cell.load.transfer_bytes is not None,
        "traffic.transfer_bytes: a simulated station's flow has no end",
    ),
    Feature(
        "several flows of a station",
        lambda cell: cell.load.flows_per_station > 1,
        "flows_per_station: a simulated station has one flow each way",
    ),
    Feature(
        "saturated flows downwards or both ways",
        _is_saturated_downwards,
        "traffic.offered_mbps: a flow downwards needs a rate, as simulated stations do not share "
        "the cable",
    ),
    Feature(
        "datagrams in fragments",
        lambda cell: (cell.load.payload_bytes or 0) > _WHOLE[cell.load.ip],
        "traffic.payload_bytes: a simulated station sends no IP fragments: at most 1472, 1452 "
        "with IPv6",
    ),
    Feature(
        "a rate that mac80211 chooses",
        _has_no_fixed_rate,
        "a simulated station has no rate control: set rate_mbps, or mcs with a policy that HT "
        "permits",
    ),
    Feature(
        "stations that talk to each other",
        lambda cell: cell.settings.topology == "station-to-station",
        "a simulated station talks to the wired host only",
    ),
    Feature(
        "tunnels",
        lambda cell: bool(cell.security.tunnels),
        "a simulated station has no tunnel, as {policy} wants",
    ),
    Feature(
        "wireless bridges",
        lambda cell: cell.settings.bridge is not None,
        "a simulated station is no wireless bridge",
    ),
    Feature(
        "hand-overs",
        lambda cell: cell.settings.handover is not None,
        "a simulated station stays with the first access point, and hand-overs beside it are not "
        "set up",
    ),
    Feature(
        "rejoins",
        lambda cell: (
            cell.settings.authenticate and cell.settings.join.deauthenticate_at_s is not None
        ),
        "join.deauthenticate_at_s: a simulated station does not rejoin",
    ),
    Feature(
        "costs of devices",
        devices.charged,
        "device_costs: a simulated station's frames take no time of a processor",
    ),
)


def why_not(cell: Cell, real: int | None, virtual: str | None) -> str | None:
    """Why the cell cannot have simulated stations, or None; None where it has none.

    ``virtual``: why trials are not in virtual time.
    """
    own, simulated = names(cell.settings, real)
    if not simulated:
        return None
    option = f"{OPTION} {real}"
    if virtual is not None:
        return f"{option} needs virtual time: {virtual}"
    assert real is not None
    if len(own) > real:
        return f"{option}: the {len(own)} stations with joins_at_s are real: use {len(own)}"
    for feature in FEATURES:
        if feature.asked(cell):
            count = len(own) + len(simulated)
            return f"{option}: {feature.reason.format(policy=cell.policy, count=count)}"
    return None
