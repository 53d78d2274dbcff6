"""The capability table of the Linux testbed: fields of a study that act on real daemons.

The medium takes levels, noise figure, carrier sense and queue limits; hostapd takes the PHY, the
rate, the beacon interval and the policy; iperf3, irtt and the DNS client take the traffic. Other
fields describe parts of a model that no daemon or kernel is given, and a cell that sets one is
skipped. Device profiles are no such field: the real devices take their place, unless the study
wants their costs everywhere (``device_costs``) and the trial is in virtual time.
"""

from __future__ import annotations

import itertools
from typing import Final

from airtoll.plan import Cell
from airtoll.policies import Akm, Cipher, Generation
from airtoll.policies.suites import eap_methods
from airtoll.study import GroupLoad, Scenario, WiredLink
from airtoll.study.handover import Walk
from airtoll.study.join import Join
from airtoll.study.model import Radio
from airtoll.testbeds.capability import (
    Capability,
    Entry,
    Feature,
    PolicyFeature,
    acts,
    every_field,
    only,
)
from airtoll.testbeds.domains import DOMAINS, MOBILE, PEER
from airtoll.testbeds.linux.air import devices, rates
from airtoll.testbeds.linux.daemons import freeradius, leap
from airtoll.testbeds.linux.daemons.credentials import ALGORITHMS
from airtoll.testbeds.linux.on_hosts.exchanges import too_short
from airtoll.testbeds.resolve import station_list
from airtoll.testbeds.roaming import caches_pmk

#: In virtual time, where each trial has its own nodes; else `stack.STATIONS`.
MAX_STATIONS: Final = 10
#: An interface of WireGuard inside two tunnels would have an MTU of 1260 octets.
MAX_TUNNELS: Final = 2
PHYS: Final = ("802.11a", "802.11b", "802.11g", "802.11n", "802.11ac")
#: A study's faults of the join, and their names in a job.
FAULTS: Final = {"none": "none", "wrong-passphrase": "password", "silent-server": "radius"}
#: Octets of a query and an answer of `linux/dns.py`.
_LOOKUP: Final = (44, 60)
#: Octets of an HTTP message that has room for every head.
_HTTP_OCTETS: Final = 40
_METHODS: Final = ("full", "cached-pmk", "pmksa-caching", "fast-transition")
#: Width, MHz -> access points on channels that do not overlap, at 5 GHz; at 2.4 GHz there are 3.
_MOST_ACCESS_POINTS: Final = {20: 4, 40: 4, 80: 2}

_MAC = "neither mac80211 nor the medium is given this value"
_WIRE = "the cables of this testbed are not given this value"
_SERVER = "the RADIUS server is not given this value"
_RADIUS_CABLE = ("rate_mbps", "delay_ms", "loss_ratio")
_DAEMON = "no daemon of this testbed is given this setting"
_FLIGHTS = "has no effect: FreeRADIUS has its own limits"
_PROFILE = "the real device replaces the profile, unless device_costs is everywhere"


def _default(table: type[Scenario] | type[Join], name: str, reason: str) -> Entry:
    return only(table.model_fields[name].get_default(), reason=reason)


_SCENARIO: Final = {
    "about": acts(),
    "topology": acts(),
    "phy": only(*PHYS, reason=f"is not set up here; use {', '.join(PHYS)}"),
    "band": only(None, reason="has no effect: hostapd takes the band of the PHY"),
    "mlo": only(None, reason="802.11be, and with it multi-link operation, is not set up here"),
    "stations.link": only(
        None, reason="802.11be, and with it multi-link operation, is not set up here"
    ),
    "security_gates": only("apply", reason="has no effect: real devices apply the gates"),
    "rate_mbps": acts("the AP offers this rate alone; without it mac80211 controls the rate"),
    "mcs": acts("the one rate of data frames; checked in what the medium carried"),
    "width_mhz": only(20, 40, 80, reason="has no effect: hostapd is set up for 20, 40 and 80 MHz"),
    "guard_interval_ns": acts(),
    "coding": only(
        "bcc",
        reason="has no effect: mac80211 names no code to its medium, which takes the errors of the "
        "convolutional one",
    ),
    "streams": acts(),
    "rate_control": only(
        "fixed", reason="has no effect: mac80211 has its own rate control (Minstrel HT)"
    ),
    "preamble": acts(medium=True),
    **{
        name: _default(Scenario, name, f"has no effect: {_MAC}")
        for name in (
            "protection",
            "ssids",
            "multiple_bssid",
            "reported_bsss",
            "beacon_octets",
            "beacon_protection",
            "ampdu_max_octets",
            "amsdu_max_octets",
            "rts_threshold_octets",
            "fragmentation_threshold_octets",
            "cw_min",
            "cw_max",
            "retry_limit",
            "edca",
            "edca_parameters",
            "txop_protection",
            "block_ack_window",
            "basic_rates_mbps",
            "slot_time_us",
            "mtu_octets",
            "path_mtu_octets",
            "pmtud",
            "mss_clamping",
            "tunnel_mtu_octets",
            "queue_max_delay_ms",
            "queue_type",
            "airtime_fairness",
        )
    },
    "tunnel_end": only("server", reason="has no effect: tunnels end at the server"),
    "frame_bursting_us": only(0, reason=f"has no effect: {_MAC}"),
    "beacons": only(True, reason="has no effect: hostapd always sends beacons"),
    "beacon_interval_tu": acts(),
    "operating_channel_validation": acts("where management frames are protected"),
    "queue_packets": acts("at most 150 frames per radio and access category", medium=True),
    "stations.name": acts(),
    "stations.profile": acts(_PROFILE),
    "stations.rssi_dbm": acts(medium=True),
    "stations.position_m": acts("as the level that it gives at the AP", medium=True),
    "stations.walls": acts("as the level that they leave at the AP", medium=True),
    "stations.rate_mbps": only(
        None, reason="has no effect: the AP offers one set of rates to every station"
    ),
    "stations.phy": only(None, reason="has no effect: all radios run the PHY of the scenario"),
    **{
        f"stations.{name}": only(None, reason=f"has no effect: {_MAC}")
        for name in ("mcs", "streams", "edca_parameters")
    },
    "stations.policy": only(
        None, reason="stations with policies of their own are not set up by this testbed"
    ),
    "stations.client": only(
        None, reason="has no effect: wpa_supplicant knows all links of the policy"
    ),
    "stations.joins_at_s": acts(
        "the supplicant has found the access point before the traffic", virtual=True
    ),
    "stations.listen_interval": only(None, reason="has no effect: power save is off here"),
    "stations.twt_interval_ms": only(None, reason="has no effect: power save is off here"),
    "stations.twt_duration_ms": only(8.192, reason="has no effect: power save is off here"),
    "stations.twt_broadcast": only(False, reason="has no effect: power save is off here"),
    "stations.retrieval": only(None, reason="has no effect: power save is off here"),
    "stations.doze_after_ms": only(100.0, reason="has no effect: power save is off here"),
    "duty": only(None, reason="has no effect: no power is measured here"),
    "stations.dtim_wake": only(False, reason="has no effect: power save is off here"),
    "stations.battery_wh": only(None, reason="has no effect: no power is measured here"),
    "stations.bridge": acts(),
    "stations.frame_bursting_us": only(None, 0, reason=f"has no effect: {_MAC}"),
    "clients": acts(
        f"at most {MAX_STATIONS} stations, 2 outside of virtual time; more where the medium "
        "simulates the others (--real-stations)"
    ),
    "rssi_dbm": acts(medium=True),
    "hidden": acts(medium=True),
    "ap.profile": acts(_PROFILE),
    "ap.position_m": acts("as the levels that it gives", medium=True),
    "ap.authentication_timeout_s": only(
        None, reason="has no effect: hostapd waits as long as a station repeats its frames"
    ),
    "ap.multiplication_ms": only(
        None, reason="has no effect: hostapd computes as fast as its host does"
    ),
    "ap.restart_at_s": only(None, reason="the access point of this testbed does not restart"),
    "card.no_aggregation": only((), reason=f"has no effect: {_MAC}"),
    "card.reorders_packet_numbers": only(False, reason=f"has no effect: {_MAC}"),
    "stations.caches_psk": only(
        True, reason="has no effect: a supplicant maps its passphrase before the trial"
    ),
    "ap.edca_parameters": only(None, reason=f"has no effect: {_MAC}"),
    "ap.frame_bursting_us": only(None, 0, reason=f"has no effect: {_MAC}"),
    "server.profile": acts(_PROFILE),
    **{f"wired.{name}": acts() for name in ("rate_mbps", "delay_us", "queue_packets")},
    "wired.queue_type": only(None, "fifo", reason="cables of this testbed have one order"),
    "bridge.host.profile": acts(_PROFILE),
    **{
        f"bridge.wired.{name}": only(field.get_default(), reason=f"has no effect: {_WIRE}")
        for name, field in WiredLink.model_fields.items()
    },
    "radio.tx_power_dbm": acts("with positions: as the levels that it gives", medium=True),
    "radio.path_loss_exponent": acts("with positions: as the levels that it gives", medium=True),
    "radio.wall_db": acts("with walls: as the levels that they leave", medium=True),
    "radio.noise_figure_db": acts(medium=True),
    "radio.carrier_sense_dbm": acts(medium=True),
    "radio.shadowing_db": only(0.0, reason="has no effect: the medium has mean levels"),
    "radio.fading": only("none", reason="has no effect: the medium has mean levels"),
    "radio.rician_k_db": only(None, reason="has no effect: the medium has mean levels"),
    "radio.coherence_ms": only(25.0, reason="has no effect: the medium has mean levels"),
    "radio.delay_spread_ns": only(0.0, reason="has no effect: the medium has mean levels"),
    "radio.interferer": only(None, reason="has no effect: the medium has no interferer"),
    "radio.obss_pd_dbm": only(None, reason="has no effect: the medium has no BSS color"),
    "ofdma": only("off", reason="has no effect: mac80211_hwsim has no OFDMA"),
    "neighbours": only(
        None, reason="needs cells of others, which this testbed does not set up: one access point"
    ),
    "passers_by": only(
        None, reason="needs stations that pass by and probe, which this testbed does not set up"
    ),
    "radio.capture_db": only(None, reason="has no effect: the medium has no capture"),
    "authenticate": acts("stations always authenticate here"),
    "radius.profile": acts(_PROFILE),
    **{f"radius.{name}": acts("of the server's cable to the switch") for name in _RADIUS_CABLE},
    "radius.requests_per_s": only(None, reason=f"has no effect: {_SERVER}"),
    "radius.mtu_bytes": only(None, reason=f"has no effect: {_SERVER}"),
    "radius.fragments": only("pass", reason="has no effect: no firewall is set up here"),
    "radius.proxies.profile": acts(_PROFILE),
    **{f"radius.proxies.{name}": acts("of the proxy's cable") for name in _RADIUS_CABLE},
    "radius.proxies.state_bytes": only(
        None, reason="has no effect: FreeRADIUS sends the identifier of the request"
    ),
    "radius.transport": only("udp", reason="hostapd 2.10 has no RADIUS over TLS"),
    "radius.connection": only("up", reason="has no effect: hostapd 2.10 has no RADIUS over TLS"),
    "radius.tls_chain": only(
        "rsa2048", reason="has no effect: hostapd 2.10 has no RADIUS over TLS"
    ),
    "radius.max_rounds": only(None, reason="has no effect: FreeRADIUS has its own limit, 50"),
    "radius.max_received_flight_bytes": only(None, reason=_FLIGHTS),
    "radius.max_sent_flight_bytes": only(None, reason=_FLIGHTS),
    "radius.controller": only(None, reason="has no effect: no controller is set up here"),
    "device_costs": acts(
        "of stack, link cipher and handshake operations; TCP, queue and power of a profile have "
        "no effect",
        virtual=True,
    ),
    "address_resolution": acts("hosts of a laboratory and of two domains always resolve"),
    **{
        name: _default(Scenario, name, "has no effect: hostapd is not set up for it here")
        for name in (
            "multicast_to_unicast",
            "per_client_gtk",
            "isolation",
            "proxy_arp",
            "dtim_period",
        )
    },
    **{
        f"group_load.{name}": only(
            field.get_default(), reason="has no effect: hosts send their own group-addressed frames"
        )
        for name, field in GroupLoad.model_fields.items()
    },
}
_JOIN: Final = {
    "tls": acts(
        "with 1.2-rsa the daemons agree on ECDHE, and a caveat says so; with 1.3 their key "
        "exchange is X25519"
    ),
    **{
        name: _default(Join, name, f"has no effect: {_DAEMON}")
        for name in Join.model_fields
        if name not in ("tls", "chain", "fault", "mobile_ip", "deauthenticate_at_s", "spread_ms")
    },
    "chain": only(*ALGORITHMS, reason="is not made for daemons here"),
    "spread_ms": acts("of stations with joins_at_s"),
    "mobile_ip": acts("in the two-domain topologies n1 to r4"),
    "deauthenticate_at_s": acts("with a PMKSA a station rejoins without EAP and SAE"),
    "fault": only(*FAULTS, reason="is not injected by this testbed"),
}
_HANDOVER: Final = {
    "at_s": acts(),
    "stations": only(1, reason="this testbed moves one station"),
    "stagger_s": only(0.0, reason="this testbed moves one station"),
    "path": acts("access points on channels of their own, which hear one another on none"),
    "every_s": acts(),
    **{
        f"walk.{name}": acts("the medium is told the levels every 100 ms", medium=True)
        for name in Walk.model_fields
    },
    "next_ap_m": acts("with a walk"),
    "scan": only(None, reason="wpa_supplicant scans as it does, before it leaves"),
    "again_s": acts("between scans of one channel by wpa_supplicant on a walk"),
    "scan_ms": only(0, reason="wpa_supplicant scans as it does, before it leaves"),
    "method": only(*_METHODS, reason="is not set up by this testbed"),
    "ahead_ms": only(1000.0, reason="there is no pre-authentication on this testbed"),
    "mobile_ip": only("home", reason="agents are set up in the topologies n1 to r4 only"),
    **{
        name: only(0.0, reason="access points and stations of this testbed have no such fault")
        for name in ("stale_address_s", "missing_block_ack_s", "legacy_rate_s")
    },
    "tunnel": only(
        "anew", reason="a tunnel's outer address does not move with the station in this testbed"
    ),
    "return_routability": only(False, reason="no tunnel moves on this testbed"),
}
_TRAFFIC: Final = {
    "about": acts(),
    "transport": acts(),
    "ip": acts(),
    "application": acts("requests over TCP, HTTP/1.1 and FTP by programs of airtoll"),
    "direction": acts(),
    "offered_mbps": acts(),
    "arrivals": only("constant", reason="iperf3 spaces its datagrams evenly"),
    "beside": only((), reason="this testbed carries one kind of flow at a time"),
    "payload_bytes": acts(),
    "write_bytes": acts(),
    "mss_bytes": acts(),
    "path_mtu_discovery": only(True, reason="has no effect: the kernel's setting is not changed"),
    "mtu_probing": only(False, reason="has no effect: the kernel's setting is not changed"),
    "window_kbytes": acts(),
    "tcp": acts(),
    "timestamps": only(None, reason="has no effect: the kernel's setting is not changed"),
    "sack": only(None, reason="has no effect: the kernel's setting is not changed"),
    "delayed_ack_segments": only(None, reason="has no effect: the kernel decides"),
    "delayed_ack_ms": only(None, reason="has no effect: the kernel decides"),
    "receive_offload": only(None, reason="has no effect: the kernel decides"),
    "hystart": only(None, reason="has no effect: the kernel's setting is not changed"),
    "loss_detection": only(None, reason="has no effect: the kernel's setting is not changed"),
    "socket_buffer_kbytes": acts(),
    "transfer_bytes": acts(),
    "request_bytes": acts(),
    "response_bytes": acts(),
    "query_bytes": only(_LOOKUP[0], reason="one name is looked up, in 44 octets"),
    "answer_bytes": only(_LOOKUP[1], reason="one name is looked up, with 60 octets of answer"),
    "duration_s": acts(),
    "warm_up_s": acts(),
    "stations": acts(),
    "flows_per_station": acts(),
    "wmm": acts("by the DSCP of packets; without EDCA it changes nothing, as in the model"),
    "series": acts("streams in one direction"),
}


_TRIALS: Final = {
    **{
        name: acts()
        for name in (
            "repetitions",
            "until_precision",
            "most_trials",
            "order",
            "discard_first",
            "select",
            "rerun",
        )
    },
    "pairing": only(
        "independent",
        reason='is for the simulator; here trials.order = "interleaved" pairs trials that follow '
        "one another",
    ),
    "control": only(
        "none", reason="is for the simulator; the real stack does not tell its drawn back-off"
    ),
}

_WEP: Final = (Cipher.WEP_40, Cipher.WEP_104)
#: The first hostapd that has an AKM, of the AKMs that 2.10 lacks.
_SINCE: Final = {Akm("sae-ext-key"): (2, 11), Akm("ft-sae-ext-key"): (2, 11)}
#: EAP methods without a server in this testbed.
_UNSERVED: Final = tuple(
    method for method in eap_methods() if method not in (*freeradius.METHODS, leap.METHOD)
)


def _akm_since(akm: Akm, version: tuple[int, int]) -> PolicyFeature:
    number = ".".join(map(str, version))
    return PolicyFeature(
        f"AKM {akm} with hostapd before {number}",
        lambda policy: policy.link.akm == akm,
        f"hostapd {{version}} has no AKM {akm} ({akm.selector})",
        since=version,
    )


_POLICIES: Final = (
    PolicyFeature(
        "shared-key authentication without encryption",
        lambda policy: policy.name.startswith("wep-") and not policy.link.encrypts_data,
        "mac80211 encrypts data whenever a WEP key is set: no shared-key authentication only",
    ),
    PolicyFeature(
        "WEP with another group cipher",
        lambda policy: (
            policy.link.generation is Generation.PRE_RSNA and policy.link.group_cipher not in _WEP
        ),
        "hostapd has no mixture of WEP and another group cipher",
        of_daemon=True,
    ),
    PolicyFeature(
        "WPA with WEP as group cipher",
        lambda policy: policy.link.akm is not None and policy.link.group_cipher in _WEP,
        "hostapd does not take WEP as the group cipher of WPA (TSN)",
        of_daemon=True,
    ),
    PolicyFeature(
        "draft AKMs",
        lambda policy: policy.link.akm is not None and policy.link.akm.is_draft,
        "no daemon has a draft AKM: the layout of its frames is airtoll's assumption",
    ),
    *(_akm_since(akm, version) for akm, version in _SINCE.items()),
    PolicyFeature(
        "OpenVPN",
        lambda policy: any(tunnel.kind == "openvpn" for tunnel in policy.tunnels),
        "OpenVPN is not set up by this testbed",
    ),
    PolicyFeature(
        "RSN overriding",
        lambda policy: bool(policy.link.overriding),
        "hostapd {version} is not given RSN overriding by this testbed",
    ),
    PolicyFeature(
        "OWE transition mode",
        lambda policy: policy.link.transition == "open",
        "the open BSS beside that of OWE is not set up by this testbed",
        of_daemon=True,
    ),
    PolicyFeature(
        "a packet filter",
        lambda policy: any(control.value == "firewall" for control in policy.access_control),
        "no packet filter is set up by this testbed yet",
    ),
    PolicyFeature(
        f"EAP methods without a server: {', '.join(_UNSERVED)}",
        lambda policy: policy.link.eap_method in _UNSERVED,
        f"FreeRADIUS 3.2 has none of the EAP methods {', '.join(_UNSERVED)}",
    ),
)
_AS_THEY_ARE = "the cables of a laboratory are as they are"
_RADIOS = "radios and walls of a laboratory are as they are"
_DEVICES = "real devices take the place of profiles"
#: Of a study's fields those that only a model has; places of stations are asked for instead.
_LEFT_OUT: Final = {
    **{f"scenario.radio.{name}": _RADIOS for name in Radio.model_fields},
    "scenario.rssi_dbm": "stations are put at the stated places",
    "scenario.stations.rssi_dbm": "stations are put at the stated places",
    "scenario.stations.position_m": "stations are put at the stated places",
    "scenario.stations.walls": "stations are put at the stated places",
    "scenario.ap.position_m": "stations are put at the stated places",
    "scenario.hidden": "stations are put at the stated places",
    "scenario.wired": _AS_THEY_ARE,
    **{
        f"scenario.radius.{name}": _AS_THEY_ARE
        for name in (*_RADIUS_CABLE, "requests_per_s", "mtu_bytes", "proxies", "controller")
    },
    **{
        f"scenario.{name}": _DEVICES
        for name in (
            "stations.profile",
            "ap.profile",
            "server.profile",
            "radius.profile",
            "device_costs",
            "stations.battery_wh",
        )
    },
    "profile_set": _DEVICES,
    "scenario.queue_packets": "queues of real devices are as they are",
    "scenario.queue_max_delay_ms": "queues of real devices are as they are",
    "scenario.rate_control": "drivers have rate controls of their own",
    "scenario.security_gates": "real devices apply the gates",
    "scenario.address_resolution": "hosts of a laboratory always resolve addresses",
    "scenario.beacons": "real access points always send beacons",
    "scenario.beacon_octets": "beacons are as long as the access point makes them",
    "scenario.group_load": "hosts send their own group-addressed frames",
    "scenario.join.first_at_home": "the times of earlier joins are not added to real ones",
}
#: Settings of the access point, and of the hosts, that a laboratory has means for.
_SET_THERE: Final = frozenset(
    f"scenario.{name}"
    for name in (
        "phy",
        "band",
        "width_mhz",
        "preamble",
        "dtim_period",
        "beacon_interval_tu",
        "basic_rates_mbps",
        "rts_threshold_octets",
        "fragmentation_threshold_octets",
        "frame_bursting_us",
        "isolation",
        "operating_channel_validation",
    )
)
_LABORATORY: Final = (
    Feature(
        "two domains",
        lambda cell: _in_domains(cell),
        "two domains with Mobile IP agents are set up between namespaces only: --vm",
    ),
    Feature(
        "wireless bridges",
        lambda cell: cell.settings.bridge is not None,
        "wireless bridges are set up between namespaces only: --vm",
    ),
    Feature(
        "a walk",
        lambda cell: cell.settings.handover is not None and cell.settings.handover.walk is not None,
        "handover.walk: the levels of a laboratory do not change on command",
    ),
    Feature(
        "LEAP",
        lambda cell: cell.security.link.eap_method == leap.METHOD,
        "no packaged RADIUS server has LEAP; airtoll's own is beside an AP in a namespace",
    ),
    Feature(
        "multi-link operation",
        lambda cell: cell.settings.mlo is not None,
        "mlo: wpa_supplicant 2.10 has no multi-link operation",
    ),
)


def _asks_over_udp(cell: Cell) -> bool:
    return cell.load.application == "request-response" and cell.load.transport == "udp"


def _asks_over_tcp(cell: Cell) -> bool:
    return cell.load.application == "request-response" and cell.load.transport == "tcp"


def _marked_elsewhere(cell: Cell) -> bool:
    load, with_edca = cell.load, cell.settings.phy in rates.HT
    return with_edca and load.wmm != "best-effort" and load.application not in ("stream", "voip")


def _short_message(cell: Cell) -> str | None:
    load = cell.load
    if load.application != "http":
        return None
    return too_short(load.request_bytes, load.response_bytes)


def _eap(cell: Cell) -> bool:
    method = cell.security.link.eap_method
    return cell.settings.authenticate and method not in (None, "leap")


def station_names(settings: Scenario) -> list[str]:
    """Names of the stations, the last repeated with a number up to ``clients``.

    In two domains they are the mobile node, and its peer where that is wireless.
    """
    if settings.topology in DOMAINS:
        return [MOBILE] if DOMAINS[settings.topology].peer_ap is None else [MOBILE, PEER]
    return [station.name for station in station_list(settings)]


def _in_domains(cell: Cell) -> bool:
    return cell.settings.topology in DOMAINS


def _silent_server(cell: Cell) -> bool:
    settings = cell.settings
    silent = settings.authenticate and settings.join.fault == "silent-server"
    return silent and cell.security.link.eap_method in (None, "leap")


def _full_with_ft(cell: Cell) -> bool:
    handover = cell.settings.handover
    whole = handover is not None and handover.method in ("full", "cached-pmk", "pmksa-caching")
    return whole and cell.security.link.fast_transition


def _full_at_a_known_ap(cell: Cell) -> bool:
    handover = cell.settings.handover
    if handover is None or handover.method != "full" or not caches_pmk(cell.security):
        return False
    return len({1, *handover.path}) <= len(handover.path)


def _deauthenticated_elsewhere(cell: Cell) -> bool:
    settings = cell.settings
    if not settings.authenticate or settings.join.deauthenticate_at_s is None:
        return False
    return settings.handover is not None or settings.bridge is not None or _in_domains(cell)


def _joins_late(cell: Cell) -> list[bool]:
    return [station.joins_at_s is not None for station in station_list(cell.settings)]


def _spread_before_the_traffic(cell: Cell) -> bool:
    settings = cell.settings
    return settings.authenticate and settings.join.spread_ms > 0 and not any(_joins_late(cell))


def _late_with_others(cell: Cell) -> bool:
    settings = cell.settings
    others = settings.handover or settings.bridge or cell.security.tunnels
    again = settings.join.deauthenticate_at_s is not None
    return any(_joins_late(cell)) and (bool(others) or again)


def _too_many_access_points(cell: Cell) -> bool:
    handover = cell.settings.handover
    low = cell.settings.phy in ("802.11b", "802.11g")
    most = 3 if low else _MOST_ACCESS_POINTS.get(cell.settings.width_mhz, 1)
    return handover is not None and max(handover.path) > most


def _leap_bridge(cell: Cell) -> bool:
    link = cell.security.link
    bridges = any(cell.settings.bridges(station) for station in cell.settings.stations)
    return bridges and link.eap_method == "leap" and link.dynamic_wep


def _ikev1_ipv6(cell: Cell) -> bool:
    # The tunnels around the innermost one carry its outer packets, which are IPv4.
    innermost = cell.security.tunnels[:1]
    return cell.load.ip == "ipv6" and any(one.key_exchange == "ikev1" for one in innermost)


def _esp_in_esp(cell: Cell) -> bool:
    pairs = itertools.pairwise(cell.security.tunnels)
    return any(inner.kind == outer.kind == "esp" for inner, outer in pairs)


CAPABILITY: Final = Capability(
    fields=every_field(
        {
            **{f"scenario.{name}": entry for name, entry in _SCENARIO.items()},
            **{f"scenario.join.{name}": entry for name, entry in _JOIN.items()},
            **{f"scenario.handover.{name}": entry for name, entry in _HANDOVER.items()},
            **{f"traffic.{name}": entry for name, entry in _TRAFFIC.items()},
            **{f"trials.{name}": entry for name, entry in _TRIALS.items()},
        },
        otherwise=lambda default: only(default, reason="is not set up by this testbed"),
    ),
    where={
        "scenario.join": lambda cell: cell.settings.authenticate,
        "scenario.radius": _eap,
    },
    features=(
        Feature(
            f"more than {MAX_TUNNELS} tunnels",
            lambda cell: len(cell.security.tunnels) > MAX_TUNNELS,
            f"more than {MAX_TUNNELS} tunnels inside each other leave less than the 1280 octets "
            "that IPv6 needs",
        ),
        Feature(
            "ESP inside ESP",
            _esp_in_esp,
            "IKE daemons exempt their own messages from IPsec, so that those of the inner tunnel "
            "would go around the outer one",
        ),
        Feature(
            "several tunnels in two domains",
            lambda cell: _in_domains(cell) and len(cell.security.tunnels) > 1,
            "in two domains one tunnel at a time is set up",
        ),
        Feature(
            "an IKEv1 tunnel with IPv6",
            _ikev1_ipv6,
            "an IKEv1 tunnel carries one address family here, IPv4",
        ),
        Feature(
            "two domains with IPv6",
            lambda cell: _in_domains(cell) and cell.load.ip == "ipv6",
            "in two domains there is IPv4 only, as Mobile IPv4 has it",
        ),
        Feature(
            "two domains with WireGuard",
            lambda cell: (
                _in_domains(cell) and any(one.kind == "wireguard" for one in cell.security.tunnels)
            ),
            "in two domains tunnels are IPsec: the agents are IPsec gateways",
        ),
        Feature(
            "requests and responses of different length",
            lambda cell: (
                _asks_over_udp(cell) and cell.load.request_bytes != cell.load.response_bytes
            ),
            "request_bytes and response_bytes differ: irtt answers in the length of the request; "
            'use transport = "tcp"',
        ),
        Feature(
            "HTTP or FTP over UDP",
            lambda cell: cell.load.application in ("http", "ftp") and cell.load.transport == "udp",
            'traffic.application: HTTP/1.1 and FTP run over TCP here: transport = "tcp"',
        ),
        Feature(
            "HTTP messages that are shorter than their heads",
            lambda cell: bool(_short_message(cell)),
            "request_bytes: an HTTP message contains its head: set request_bytes and "
            f"response_bytes to at least {_HTTP_OCTETS}",
        ),
        Feature(
            "FTP at an offered rate",
            lambda cell: cell.load.application == "ftp" and cell.load.offered_mbps is not None,
            "offered_mbps: FTP sends as fast as it can",
        ),
        Feature(
            "an access category of packets of other programs than iperf3",
            _marked_elsewhere,
            "traffic.wmm: iperf3 alone marks its packets, in streams and calls",
        ),
        Feature(
            "parallel lookups, or requests over UDP",
            lambda cell: (
                cell.load.flows_per_station > 1
                and (cell.load.application == "dns" or _asks_over_udp(cell))
            ),
            "flows_per_station: a station has one client of DNS or irtt here",
        ),
        Feature(
            "a silent RADIUS server without 802.1X, or with LEAP",
            _silent_server,
            'join.fault = "silent-server": {policy} asks no RADIUS server',
        ),
        Feature(
            "Mobile IP outside the two-domain topologies",
            lambda cell: (
                cell.settings.authenticate
                and cell.settings.join.mobile_ip != "off"
                and not _in_domains(cell)
            ),
            "join.mobile_ip: Mobile IP agents are in the two-domain topologies n1 to r4",
        ),
        Feature(
            "a full join at the next access point with an FT AKM",
            _full_with_ft,
            "wpa_supplicant makes a fast transition wherever it can, as with {policy}",
        ),
        Feature(
            "a whole join at an access point of an earlier visit",
            _full_at_a_known_ap,
            'handover.method = "full": wpa_supplicant uses the PMKSA of its earlier visit; use '
            '"pmksa-caching"',
        ),
        Feature(
            "more access points than channels",
            _too_many_access_points,
            "handover.path: more access points would share channels; there are channels for "
            "4, at 2.4 GHz for 3, at 80 MHz for 2",
        ),
        Feature(
            "a deauthentication with a hand-over, bridges or two domains",
            _deauthenticated_elsewhere,
            "join.deauthenticate_at_s: stations of one access point, with three addresses, are "
            "deauthenticated here",
        ),
        Feature(
            "a spread of joins before the traffic",
            _spread_before_the_traffic,
            "join.spread_ms: stations join one after the other before the traffic here; it is for "
            "stations with joins_at_s",
        ),
        Feature(
            "a join during the traffic with a tunnel, a hand-over, rejoins or bridges",
            _late_with_others,
            "stations.joins_at_s: a station with a tunnel, a bridge, a hand-over or a rejoin joins "
            "before the traffic here",
        ),
        Feature(
            "a hand-over with a tunnel",
            lambda cell: cell.settings.handover is not None and bool(cell.security.tunnels),
            "a tunnel's outer address does not move with the station in this testbed",
        ),
        Feature(
            "a wireless bridge with LEAP's dynamic WEP keys",
            _leap_bridge,
            "with LEAP's dynamic WEP keys hostapd lets no data of a wireless bridge through",
        ),
        *(
            Feature(f"device_costs with {about}", asked, f"device_costs: {reason}")
            for about, asked, reason in (
                (
                    "two domains",
                    devices.in_domains,
                    "the medium does not see the agents of two domains",
                ),
                (
                    "a wireless bridge",
                    devices.with_bridge,
                    "the medium does not see the host behind a wireless bridge",
                ),
                (
                    "a tunnel",
                    devices.with_tunnel,
                    "the medium does not see the messages and packets of a tunnel, as in {policy}",
                ),
                (
                    "rejoins, and hand-overs other than one full join",
                    devices.with_other_handover,
                    "the operations of a later association's messages are not given to the medium",
                ),
                (
                    "RADIUS proxies",
                    devices.with_proxies,
                    "the medium does not see what RADIUS proxies cost",
                ),
                (
                    "LEAP",
                    devices.with_leap,
                    "the LEAP server is on the AP, and the medium does not see what it costs there",
                ),
                (
                    "a profile with a network card or bursts",
                    devices.with_card,
                    "the medium has no network card and no frame bursts, which a profile has",
                ),
                (
                    "a profile with octets between MPDUs",
                    devices.with_spacing,
                    "the medium has no MPDU start spacing and no further delimiters, which a "
                    "profile has",
                ),
            )
        ),
    ),
    policies=_POLICIES,
    laboratory=_LABORATORY,
    left_out=_LEFT_OUT,
    set_there=_SET_THERE,
)
