"""The capability table of the simulator.

The simulator models every field of a study's cells. ``joining``, ``roaming`` and ``bridging`` check
the consistency of a cell, and the native code checks ranges
(``crates/airtoll-wlan/src/scenario/check.rs``).
"""

from __future__ import annotations

from typing import Final

from airtoll.plan import Cell
from airtoll.plan.multi_link import has_one_radio
from airtoll.profiles import load
from airtoll.study import GroupLoad, Station
from airtoll.study.generations import band_of
from airtoll.testbeds.capability import Capability, Feature, acts, every_field


def _groups(cell: Cell) -> bool:
    """Whether a cell has group-addressed traffic, or passes it on in a way of its own."""
    settings = cell.settings
    ways = (settings.multicast_to_unicast, settings.per_client_gtk)
    return any((*ways, settings.isolation, settings.proxy_arp, not settings.group_load.is_empty))


def _waits_for_dtim(cell: Cell) -> bool:
    """Whether group-addressed frames of a cell wait for a DTIM."""
    settings = cell.settings
    dozes = any(one.dozes for one in settings.stations)
    sends = not settings.group_load.is_empty or settings.address_resolution == "dynamic"
    wakes = any(one.dtim_wake for one in settings.stations)
    return dozes and (sends or wakes) and settings.beacons


def _without_figures(cell: Cell) -> bool:
    """Whether a station asks for energy that its profile has no figures of."""
    for station in cell.settings.stations:
        energy = load(cell.profile(station.profile)).energy
        if station.battery_wh is not None and energy is None:
            return True
        if station.dozes and (energy is None or energy.doze_w is None):
            return True
    return False


def _idle_delays(cell: Cell) -> bool:
    """Whether a cell states delays of EMLSR, and none of its stations asks for EMLSR."""
    settings = cell.settings
    if settings.mlo is None:
        return False
    fields = type(settings.mlo).model_fields
    delays = ("padding_delay_us", "transition_delay_us")
    stated = any(getattr(settings.mlo, key) != fields[key].default for key in delays)
    return stated and not any(has_one_radio(settings, one) for one in settings.stations)


def _oven_elsewhere(cell: Cell) -> bool:
    one = cell.settings.radio.interferer
    return one is not None and one.kind == "microwave" and band_of(cell.settings) != "2.4ghz"


CAPABILITY: Final = Capability(
    fields=every_field({}, otherwise=lambda _: acts()),
    where={},
    features=(
        Feature(
            "energy of a station whose profile has no power figures",
            _without_figures,
            "stations.battery_wh, listen_interval and twt_interval_ms need a profile with power "
            "figures (energy): "
            "`airtoll profiles list`",
        ),
        Feature(
            "a transfer at a stated rate",
            lambda cell: any(
                load.transfer_bytes is not None and load.offered_mbps is not None
                for load in cell.load.loads
            ),
            "offered_mbps: a simulated transfer (transfer_bytes) goes as fast as the channel takes "
            "it",
        ),
        Feature(
            "a microwave oven outside 2.4 GHz",
            lambda cell: _oven_elsewhere(cell),
            'radio.interferer.kind = "microwave": ovens radiate at 2.4 GHz; the scenario has '
            "another band",
        ),
        Feature(
            "dozing without beacons",
            lambda cell: (
                not cell.settings.beacons
                and any(one.listen_interval is not None for one in cell.settings.stations)
            ),
            "stations.listen_interval needs beacons",
        ),
        Feature(
            "target wake time before 802.11ax",
            lambda cell: any(
                one.twt_interval_ms is not None
                and (one.phy or cell.settings.phy) not in ("802.11ax", "802.11be")
                for one in cell.settings.stations
            ),
            "stations.twt_interval_ms needs 802.11ax or 802.11be",
        ),
        Feature(
            "a wake duration without target wake time",
            lambda cell: any(
                one.twt_duration_ms != Station.model_fields["twt_duration_ms"].default
                and one.twt_interval_ms is None
                for one in cell.settings.stations
            ),
            "stations.twt_duration_ms needs twt_interval_ms",
        ),
        Feature(
            "a schedule of target wake time without its interval",
            lambda cell: any(
                one.twt_broadcast and one.twt_interval_ms is None for one in cell.settings.stations
            ),
            "stations.twt_broadcast needs twt_interval_ms",
        ),
        Feature(
            "a schedule of target wake time without beacons",
            lambda cell: (
                not cell.settings.beacons
                and any(one.twt_broadcast for one in cell.settings.stations)
            ),
            "stations.twt_broadcast needs beacons, which announce the service periods",
        ),
        Feature(
            "isolation of stations with no other peer",
            lambda cell: cell.settings.isolation and cell.settings.topology == "station-to-station",
            "isolation: the AP forwards nothing between stations, and station-to-station has no "
            "other traffic",
        ),
        Feature(
            "requests that reach no station",
            lambda cell: (
                cell.settings.per_client_gtk
                and cell.settings.address_resolution == "dynamic"
                and not (cell.settings.multicast_to_unicast or cell.settings.proxy_arp)
            ),
            "per_client_gtk: address requests reach no station; set proxy_arp or "
            "multicast_to_unicast",
        ),
        Feature(
            "group-addressed traffic with bridges or in two domains",
            lambda cell: (
                _groups(cell)
                and (cell.settings.bridge is not None or cell.settings.topology[0] in "nr")
            ),
            "group_load, multicast_to_unicast, per_client_gtk, isolation and proxy_arp act "
            "in one cell without bridges alone",
        ),
        Feature(
            "a length of mDNS messages without messages",
            lambda cell: (
                cell.settings.group_load.mdns_bytes != GroupLoad.model_fields["mdns_bytes"].default
                and not cell.settings.group_load.mdns_per_min
            ),
            "group_load.mdns_bytes needs mdns_per_min",
        ),
        Feature(
            "router messages without a router",
            lambda cell: (
                cell.settings.topology == "station-to-station"
                and bool(
                    cell.settings.group_load.router_arp_per_min
                    or cell.settings.group_load.advertisement_s
                )
            ),
            "group_load.router_arp_per_min and advertisement_s need a wired host",
        ),
        Feature(
            "address requests of a lone station",
            lambda cell: (
                cell.settings.topology == "station-to-station"
                and (cell.settings.clients or len(cell.settings.stations)) < 2
                and bool(
                    cell.settings.group_load.arp_per_min
                    or cell.settings.group_load.neighbor_per_min
                )
            ),
            "group_load.arp_per_min and neighbor_per_min need a host to ask for",
        ),
        Feature(
            "a DTIM period that nothing waits for",
            lambda cell: cell.settings.dtim_period != 1 and not _waits_for_dtim(cell),
            "dtim_period needs a station that dozes, and group-addressed frames "
            '(group_load, or address_resolution = "dynamic") or dtim_wake',
        ),
        Feature(
            "delays of a radio that no station has",
            _idle_delays,
            "mlo.padding_delay_us and transition_delay_us need a station on several links with "
            'mode = "emlsr" (mlo.mode or stations.mlo_mode)',
        ),
        Feature(
            "dozing of a station that hands over",
            lambda cell: (
                cell.settings.handover is not None
                and any(
                    one.dozes for one in cell.settings.stations[: cell.settings.handover.stations]
                )
            ),
            "stations.listen_interval and twt_interval_ms: a station that hands over does not doze",
        ),
        Feature(
            "a time to dozing without dozing",
            lambda cell: any(
                one.doze_after_ms != Station.model_fields["doze_after_ms"].default and not one.dozes
                for one in cell.settings.stations
            ),
            "stations.doze_after_ms needs listen_interval or twt_interval_ms",
        ),
        Feature(
            "frames of power save without dozing",
            lambda cell: any(
                one.retrieval is not None and one.listen_interval is None
                for one in cell.settings.stations
            ),
            "stations.retrieval needs listen_interval",
        ),
        Feature(
            "U-APSD without EDCA",
            lambda cell: (
                not cell.settings.with_edca
                and any(one.retrieval == "u-apsd" for one in cell.settings.stations)
            ),
            'stations.retrieval = "u-apsd" needs QoS stations: edca = true, or 802.11n and later',
        ),
        Feature(
            "frames of power save with target wake time",
            lambda cell: any(
                one.retrieval is not None and one.twt_interval_ms is not None
                for one in cell.settings.stations
            ),
            "stations.retrieval: with twt_interval_ms data come in service periods at known "
            "instants",
        ),
        Feature(
            "frames of power save of a bridge",
            lambda cell: any(
                one.retrieval is not None and one.bridge is not False
                for one in cell.settings.stations
                if cell.settings.bridge is not None
            ),
            "stations.retrieval: a bridge has none of these frames",
        ),
        Feature(
            "a time to dozing of a station that asks frame by frame",
            lambda cell: any(
                one.doze_after_ms != Station.model_fields["doze_after_ms"].default
                and one.retrieval in ("ps-poll", "u-apsd")
                for one in cell.settings.stations
            ),
            'stations.doze_after_ms: with retrieval = "ps-poll" or "u-apsd" a station dozes as '
            "soon as nothing waits for it",
        ),
    ),
)
