"""The capability tables: an entry for each field of a study, and the entries hold.

Each field gets a value that is not its default, in a cell where it can matter. A field that a table
calls carried out changes what the testbed is given; any other value is skipped with the reason.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from airtoll import border
from airtoll.plan import Plan, make_plan
from airtoll.policies import resolve
from airtoll.study import Study
from airtoll.testbeds import simulated
from airtoll.testbeds.capability import acts, every_field, only, paths
from airtoll.testbeds.first_join import at_home
from airtoll.testbeds.linux import capability as linux_capability
from airtoll.testbeds.linux import testbed
from airtoll.testbeds.linux.air import medium
from airtoll.testbeds.linux.testbed import Linux
from airtoll.testbeds.resolve import scenario
from airtoll.testbeds.simulator import Simulator

TABLES = {"simulator": simulated.CAPABILITY, "linux": linux_capability.CAPABILITY}

Fields = dict[str, Any]
_N: Fields = {"scenario.phy": "802.11n"}
_LEVEL: Fields = {"scenario.stations.position_m": [20.0, 0.0]}
_EAP: Fields = {"policy": "wpa2-eap-peap-ccmp", "scenario.authenticate": True}
_PROXIED: Fields = {**_EAP, "scenario.radius.proxies": [{}]}
_RADSEC: Fields = {**_EAP, "scenario.radius.transport": "tls"}
_SAE: Fields = {"policy": "wpa3-sae-ccmp", "scenario.authenticate": True}
_TUNNEL: Fields = {"policy": "wireguard", "scenario.authenticate": True}
_IKE: Fields = {"policy": "ipsec-aes-gcm", "scenario.authenticate": True}
_MOBILE: Fields = {
    "scenario.topology": "r1",
    "scenario.stations": [{"name": "A"}],
    "scenario.authenticate": True,
    "scenario.join.mobile_ip": "foreign",
}
_PSK: Fields = {"policy": "wpa2-psk-ccmp", "scenario.authenticate": True}
_MOVE: Fields = {**_PSK, "scenario.handover": {}, "scenario.stations": [{"name": "A"}]}
_WALK: Fields = {
    **_MOVE,
    "scenario.stations": [{"name": "A", "position_m": [5.0, 0.0]}],
    "scenario.handover": {"walk": {}, "next_ap_m": [80.0, 0.0]},
    "traffic.duration_s": 60,
}
_SCAN: Fields = {**_MOVE, "scenario.handover": {"scan": {}}}
_BRIDGE: Fields = {"scenario.bridge": {}}
_MLO: Fields = {
    "policy": "wpa3-sae-ext-gcmp-256",
    "scenario.phy": "802.11be",
    "scenario.mlo": {"links": [{"band": "5"}, {"band": "6"}]},
}
_MAPPED: Fields = _MLO | {
    "scenario.mlo": {
        "links": [{"band": "5"}, {"band": "6"}],
        "mapping": [{"category": "video", "links": [1]}],
    },
}
_UDP: Fields = {"traffic.transport": "udp"}
_DNS: Fields = {**_UDP, "traffic.application": "dns"}
_ASK: Fields = {**_UDP, "traffic.application": "request-response"}
_HOLE: Fields = {"scenario.path_mtu_octets": 1400, "scenario.pmtud": "black_hole"}
_OVEN: Fields = {
    "scenario.phy": "802.11g",
    "scenario.radio.interferer": {
        "kind": "microwave",
        "level_dbm": -70.0,
        "duty": 0.4,
        "period_ms": 10.0,
        "present_s": 2.0,
        "absent_s": 2.0,
    },
}
_CELLS: Fields = {"scenario.neighbours": {"cells": 2, "level_dbm": -70.0}}
_PASSING: Fields = {"scenario.passers_by": {"per_s": 10.0}}
_PLACED: Fields = {
    "scenario.stations": [{"name": "A", "position_m": [2.0, 0.0]}],
    "scenario.neighbours": {"positions_m": [[25.0, 0.0]]},
}
_WIRE = {
    "rate_mbps": 10.0,
    "delay_us": 900.0,
    "queue_packets": 7,
    "loss_ratio": 0.1,
    "queue_type": "fq_codel",
}
PROFILE = "p4-3.2ghz-rt61"

#: Field -> a value that is not its default, and the fields that it needs.
_PHONE_AX: Fields = {"scenario.phy": "802.11ax", "scenario.stations.profile": "htc-dream-nic"}
CASES: dict[str, tuple[Any, Fields]] = {
    "scenario.about": ("a room", {}),
    "scenario.topology": ("downlink", {}),
    "scenario.phy": ("802.11g", {}),
    "scenario.rate_mbps": (12.0, {}),
    "scenario.band": ("2.4", _N),
    "scenario.security_gates": ("ignore", {"scenario.phy": "802.11be"}),
    "scenario.mcs": (3, _N),
    "scenario.width_mhz": (40, _N),
    "scenario.guard_interval_ns": (400, _N),
    "scenario.coding": ("ldpc", _N),
    "scenario.streams": (2, _N),
    "scenario.rate_control": ("minstrel", {}),
    "scenario.preamble": ("short", {"scenario.phy": "802.11b"}),
    "scenario.protection": (
        "cts-to-self",
        {
            "scenario.phy": "802.11g",
            "scenario.stations": [{"name": "A"}, {"name": "B", "phy": "802.11b"}],
        },
    ),
    "scenario.beacons": (False, {}),
    "scenario.beacon_interval_tu": (200, {}),
    "scenario.ssids": (3, {}),
    "scenario.multiple_bssid": (True, {"scenario.ssids": 3}),
    "scenario.reported_bsss": (2, {}),
    "scenario.beacon_octets": (300, {}),
    "scenario.beacon_protection": (True, {"policy": "wpa3-sae-ccmp"}),
    "scenario.operating_channel_validation": (
        True,
        {"policy": "wpa3-sae-ccmp", "scenario.authenticate": True},
    ),
    "scenario.ampdu_max_octets": (8000, _N),
    "scenario.amsdu_max_octets": (3839, _N),
    "scenario.rts_threshold_octets": (500, {}),
    "scenario.fragmentation_threshold_octets": (500, {}),
    "scenario.cw_min": (7, {}),
    "scenario.cw_max": (63, {}),
    "scenario.retry_limit": (3, {}),
    "scenario.frame_bursting_us": (2000.0, {}),
    "scenario.edca": (True, {}),
    "scenario.txop_protection": ("multiple", {"scenario.edca": True}),
    "scenario.block_ack_window": (16, _N),
    "scenario.ofdma": ("both", {"scenario.phy": "802.11ax", "scenario.clients": 4}),
    "scenario.basic_rates_mbps": ([6.0], {}),
    "scenario.slot_time_us": (20, {"scenario.phy": "802.11g"}),
    "scenario.queue_packets": (20, {}),
    "scenario.queue_max_delay_ms": (50.0, {}),
    "scenario.mtu_octets": (1400, {}),
    "scenario.path_mtu_octets": (1400, {}),
    "scenario.pmtud": ("black_hole", {"scenario.path_mtu_octets": 1400}),
    "scenario.mss_clamping": (True, _HOLE),
    "scenario.tunnel_mtu_octets": (1280, {"policy": "wireguard"}),
    "scenario.tunnel_end": ("access-point", {"policy": "wireguard"}),
    "scenario.queue_type": ("codel", {}),
    "scenario.airtime_fairness": (True, {"scenario.queue_type": "fq_codel"}),
    "scenario.stations.name": ("C", {}),
    "scenario.stations.profile": (PROFILE, {}),
    "scenario.stations.rssi_dbm": (-60.0, {}),
    "scenario.stations.position_m": ([9.0, 0.0], {}),
    "scenario.stations.walls": (2, {}),
    "scenario.stations.rate_mbps": (6.0, {}),
    "scenario.stations.mcs": (2, _N),
    "scenario.stations.streams": (2, _N),
    "scenario.stations.phy": ("802.11b", {"scenario.phy": "802.11g"}),
    "scenario.stations.policy": ("wpa2-psk-ccmp", {}),
    "scenario.stations.client": (
        "wpa2",
        {"policy": "wpa2-wpa3-psk-transition", "scenario.authenticate": True},
    ),
    "scenario.stations.link": (2, _MLO),
    "scenario.mlo.mode": ("emlsr", _MLO),
    "scenario.mlo.padding_delay_us": (64, _MLO | {"scenario.mlo.mode": "emlsr"}),
    "scenario.mlo.transition_delay_us": (128, _MLO | {"scenario.mlo.mode": "emlsr"}),
    "scenario.mlo.mapping.category": ("voice", _MAPPED),
    "scenario.mlo.mapping.direction": ("up", _MAPPED),
    "scenario.mlo.mapping.links": ([2], _MAPPED),
    "scenario.stations.mlo_mode": ("emlsr", _MLO),
    "scenario.mlo.links.band": ("2.4", _MLO),
    "scenario.mlo.links.width_mhz": (40, _MLO),
    "scenario.mlo.links.mcs": (3, _MLO),
    "scenario.mlo.links.streams": (2, _MLO),
    "scenario.mlo.links.rssi_dbm": (-50.0, _MLO),
    "scenario.stations.joins_at_s": (0.5, _PSK),
    "scenario.stations.listen_interval": (3, {"scenario.stations.profile": "htc-dream-nic"}),
    "scenario.stations.doze_after_ms": (
        20.0,
        {"scenario.stations.profile": "htc-dream-nic", "scenario.stations.listen_interval": 3},
    ),
    "scenario.stations.retrieval": (
        "ps-poll",
        {"scenario.stations.profile": "htc-dream-nic", "scenario.stations.listen_interval": 3},
    ),
    "scenario.stations.twt_interval_ms": (512.0, _PHONE_AX),
    "scenario.stations.twt_broadcast": (
        True,
        _PHONE_AX | {"scenario.stations.twt_interval_ms": 512.0},
    ),
    "scenario.stations.twt_duration_ms": (
        16.384,
        _PHONE_AX | {"scenario.stations.twt_interval_ms": 512.0},
    ),
    "scenario.stations.caches_psk": (False, _PSK),
    "scenario.stations.battery_wh": (5.0, {"scenario.stations.profile": "htc-dream-nic"}),
    "scenario.stations.dtim_wake": (
        True,
        {"scenario.stations.profile": "htc-dream-nic", "scenario.stations.listen_interval": 3},
    ),
    "scenario.stations.bridge": (False, _BRIDGE),
    "scenario.stations.frame_bursting_us": (2000.0, {}),
    "scenario.clients": (1, {}),
    "scenario.rssi_dbm": (-60.0, {}),
    "scenario.hidden": ([["A", "B"]], {}),
    "scenario.ap.profile": (PROFILE, {}),
    "scenario.ap.position_m": ([3.0, 4.0], _LEVEL),
    "scenario.ap.frame_bursting_us": (2000.0, {}),
    "scenario.ap.authentication_timeout_s": (1.0, _SAE),
    "scenario.ap.multiplication_ms": (5.0, _SAE),
    "scenario.ap.restart_at_s": (1.0, _PSK),
    "scenario.card.no_aggregation": (["open"], _N),
    "scenario.card.reorders_packet_numbers": (
        True,
        {**_N, "policy": "wpa2-psk-ccmp", "scenario.queue_type": "fq_codel"},
    ),
    "scenario.server.profile": (PROFILE, {}),
    **{f"scenario.wired.{key}": (value, {}) for key, value in _WIRE.items()},
    "scenario.bridge.host.profile": (PROFILE, _BRIDGE),
    **{f"scenario.bridge.wired.{key}": (value, _BRIDGE) for key, value in _WIRE.items()},
    "scenario.radio.tx_power_dbm": (10.0, _LEVEL),
    "scenario.radio.noise_figure_db": (9.0, {}),
    "scenario.radio.path_loss_exponent": (2.0, _LEVEL),
    "scenario.radio.wall_db": (9.0, {"scenario.stations.walls": 2}),
    "scenario.radio.carrier_sense_dbm": (-70.0, {}),
    "scenario.radio.capture_db": (10.0, {}),
    "scenario.radio.shadowing_db": (6.0, {}),
    "scenario.radio.fading": ("rayleigh", {}),
    "scenario.radio.rician_k_db": (
        6.0,
        {"scenario.radio.fading": "rician", "scenario.radio.rician_k_db": 3.0},
    ),
    "scenario.radio.coherence_ms": (5.0, {"scenario.radio.fading": "rayleigh"}),
    "scenario.radio.delay_spread_ns": (50.0, {"scenario.radio.fading": "rayleigh"}),
    "scenario.radio.obss_pd_dbm": (-74.0, {**_CELLS, "scenario.phy": "802.11ax"}),
    "scenario.neighbours.cells": (3, _CELLS),
    "scenario.neighbours.level_dbm": (-80.0, _CELLS),
    "scenario.neighbours.positions_m": ([[20.0, 0.0], [0.0, 30.0]], _PLACED),
    "scenario.neighbours.stations": (2, _CELLS),
    "scenario.neighbours.station_dbm": (-70.0, _CELLS),
    "scenario.neighbours.station_m": (9.0, _PLACED),
    "scenario.neighbours.offered_mbps": (3.0, _CELLS),
    "scenario.neighbours.direction": ("down", _CELLS),
    "scenario.neighbours.payload_bytes": (300, _CELLS),
    "scenario.neighbours.policy": ("wpa3-sae-gcmp-256", _CELLS),
    "scenario.neighbours.mcs": (3, {**_CELLS, **_N}),
    "scenario.neighbours.rate_mbps": (12.0, _CELLS),
    "scenario.neighbours.width_mhz": (40, {**_CELLS, **_N}),
    "scenario.neighbours.channel": ("outside", _CELLS),
    "scenario.passers_by.per_s": (20.0, _PASSING),
    "scenario.passers_by.level_dbm": (-60.0, _PASSING),
    "scenario.passers_by.leaves_ratio": (0.3, _PASSING),
    "scenario.passers_by.response_attempts": (1, _PASSING),
    "scenario.passers_by.response_delay_ms": (5.0, _PASSING),
    "scenario.radio.interferer.kind": ("neighbour", _OVEN),
    "scenario.radio.interferer.level_dbm": (-60.0, _OVEN),
    "scenario.radio.interferer.duty": (0.3, _OVEN),
    "scenario.radio.interferer.period_ms": (16.67, _OVEN),
    "scenario.radio.interferer.present_s": (5.0, _OVEN),
    "scenario.radio.interferer.absent_s": (5.0, _OVEN),
    "scenario.authenticate": (True, {}),
    "scenario.radius.profile": (PROFILE, _EAP),
    "scenario.radius.rate_mbps": (10.0, _EAP),
    "scenario.radius.delay_ms": (50.0, _EAP),
    "scenario.radius.loss_ratio": (0.1, _EAP),
    "scenario.radius.requests_per_s": (10.0, _EAP),
    "scenario.radius.controller": (PROFILE, _EAP),
    "scenario.radius.mtu_bytes": (576, _EAP),
    "scenario.radius.fragments": ("dropped", _EAP),
    "scenario.radius.proxies.profile": (PROFILE, _PROXIED),
    "scenario.radius.proxies.rate_mbps": (10.0, _PROXIED),
    "scenario.radius.proxies.delay_ms": (50.0, _PROXIED),
    "scenario.radius.proxies.loss_ratio": (0.1, _PROXIED),
    "scenario.radius.proxies.state_bytes": (20, _PROXIED),
    "scenario.radius.transport": ("tls", _EAP),
    "scenario.radius.connection": ("on-request", _RADSEC),
    "scenario.radius.tls_chain": ("p256", {**_RADSEC, "scenario.radius.connection": "on-request"}),
    "scenario.radius.max_rounds": (50, _EAP),
    "scenario.radius.max_received_flight_bytes": (16384, _EAP),
    "scenario.join.max_rounds": (50, _EAP),
    "scenario.radius.max_sent_flight_bytes": (16384, _EAP),
    "scenario.join.tls": ("1.3", {**_EAP, "policy": "wpa2-eap-tls-ccmp"}),
    "scenario.join.tls_group": ("x25519", _EAP),
    "scenario.join.chain": ("p256", _EAP),
    "scenario.join.certificate_compression": (True, {**_EAP, "scenario.join.tls": "1.3"}),
    "scenario.join.eap_fragment_bytes": (500, _EAP),
    "scenario.join.ike_group": ("x25519", _IKE),
    "scenario.join.ikev1_group": ("modp1536", {**_IKE, "policy": "ipsec-3des-sha1"}),
    "scenario.join.ike_additional": ("mlkem768", _IKE),
    "scenario.join.ike_chain": ("p256", _IKE),
    "scenario.join.ike_fragment_bytes": (1280, {**_IKE, "scenario.join.ike_chain": "rsa2048"}),
    "scenario.join.cached_pmk": (True, _EAP),
    "scenario.join.pmksa": ("stale", _SAE),
    "scenario.join.multiplication_ms": (100.0, _SAE),
    "scenario.join.tries_again": (True, _PSK),
    "scenario.join.tls_resumption": (True, _EAP),
    "scenario.join.anti_clogging": (True, _SAE),
    "scenario.join.anti_clogging_threshold": (5, {**_SAE, "scenario.join.anti_clogging": True}),
    "scenario.join.cookies": (True, _TUNNEL),
    "scenario.join.cookie_threshold": (5, {**_TUNNEL, "scenario.join.cookies": True}),
    "scenario.join.rosenpass": (True, _TUNNEL),
    "scenario.join.cryptobinding": (True, _EAP),
    "scenario.join.first_at_home": (True, _MOBILE),
    "scenario.join.mobile_ip": ("home", {**_MOBILE, "scenario.topology": "n1"}),
    "scenario.join.advertisement_s": (
        0.5,
        {**_MOVE, "scenario.join.mobile_ip": "home", "scenario.handover": {"mobile_ip": "foreign"}},
    ),
    "scenario.join.movement_detection": (
        "lifetime",
        {
            **_MOVE,
            "scenario.join.mobile_ip": "home",
            "scenario.join.advertisement_s": 0.5,
            "scenario.handover": {"mobile_ip": "foreign"},
        },
    ),
    "scenario.join.fault": ("wrong-passphrase", _PSK),
    "scenario.join.spread_ms": (
        500.0,
        {**_PSK, "scenario.stations": [{"name": "A"}, {"name": "B", "joins_at_s": 0.1}]},
    ),
    "scenario.join.group_rekey_s": (2.0, _PSK),
    "scenario.join.group_rekey_tries": (10, {**_PSK, "scenario.join.group_rekey_s": 2.0}),
    "scenario.join.flood_per_s": (5.0, _SAE),
    "scenario.join.flood_with_tokens": (True, {**_SAE, "scenario.join.flood_per_s": 5.0}),
    "scenario.join.group_rekey_on_leave": (True, _MOVE),
    "scenario.join.deauthenticate_at_s": (2.0, _PSK),
    "scenario.join.limit_s": (30.0, _PSK),
    "scenario.handover.at_s": (2.0, _MOVE),
    "scenario.handover.stations": (2, {**_MOVE, "scenario.clients": 2}),
    "scenario.handover.stagger_s": (
        0.5,
        {**_MOVE, "scenario.clients": 2, "scenario.handover": {"stations": 2}},
    ),
    "scenario.handover.path": ([2, 1], _MOVE),
    "scenario.handover.every_s": (2.0, {**_MOVE, "scenario.handover": {"path": [2, 1]}}),
    "scenario.handover.next_ap_m": ([90.0, 0.0], _WALK),
    "scenario.handover.again_s": (2.0, _WALK),
    "scenario.handover.scan_ms": (50.0, _MOVE),
    "scenario.handover.method": (
        "fast-transition",
        {**_MOVE, "policy": "wpa2-ft-psk-ccmp"},
    ),
    "scenario.handover.ahead_ms": (
        500.0,
        {
            **_MOVE,
            "policy": "wpa2-eap-tls-ccmp",
            "scenario.handover": {"method": "pre-authentication", "at_s": 2},
        },
    ),
    "scenario.handover.mobile_ip": ("foreign", {**_MOVE, "scenario.join.mobile_ip": "home"}),
    "scenario.handover.tunnel": ("roams", {**_MOVE, "policy": "wpa2-psk-ccmp+wireguard"}),
    "scenario.handover.stale_address_s": (0.5, _MOVE),
    "scenario.handover.missing_block_ack_s": (0.5, {**_N, **_MOVE}),
    "scenario.handover.legacy_rate_s": (
        0.5,
        {**_N, **_MOVE, "scenario.handover": {"path": [2, 1]}},
    ),
    "scenario.handover.return_routability": (
        True,
        {
            **_MOVE,
            "policy": "wpa2-psk-ccmp+ipsec-aes-gcm",
            "scenario.handover": {"tunnel": "mobike"},
        },
    ),
    "scenario.handover.walk.to_m": ([50.0, 0.0], _WALK),
    "scenario.handover.walk.back": (True, _WALK),
    "scenario.handover.walk.speed_m_s": (2.0, _WALK),
    "scenario.handover.walk.threshold_dbm": (-60.0, _WALK),
    "scenario.handover.walk.hysteresis_db": (4.0, _WALK),
    "scenario.handover.scan.mode": ("passive", _SCAN),
    "scenario.handover.scan.channels": (3, _SCAN),
    "scenario.handover.scan.min_channel_ms": (10.0, _SCAN),
    "scenario.handover.scan.max_channel_ms": (90.0, _SCAN),
    "traffic.about": ("a film", {}),
    "traffic.transport": ("udp", {}),
    "traffic.ip": ("ipv6", {}),
    "traffic.application": ("voip", _UDP),
    "traffic.direction": ("down", {}),
    "traffic.offered_mbps": (2.0, {}),
    "traffic.arrivals": ("poisson", {"traffic.offered_mbps": 2.0}),
    "traffic.payload_bytes": (500, _UDP),
    "traffic.write_bytes": (500, {}),
    "traffic.mss_bytes": (500, {}),
    "traffic.path_mtu_discovery": (False, {}),
    "traffic.mtu_probing": (True, {}),
    "traffic.window_kbytes": (16.0, {}),
    "traffic.tcp": ("newreno", {}),
    "traffic.timestamps": (True, {}),
    "traffic.sack": (False, {}),
    "traffic.loss_detection": ("rack", {}),
    "traffic.receive_offload": (True, {}),
    "traffic.hystart": ("rfc-9406", {}),
    "traffic.delayed_ack_segments": (1, {}),
    "traffic.delayed_ack_ms": (1.0, {"traffic.delayed_ack_segments": 64}),
    "traffic.socket_buffer_kbytes": (16.0, _UDP),
    "traffic.transfer_bytes": (50_000, {}),
    "traffic.request_bytes": (200, {**_ASK, "traffic.response_bytes": 200}),
    "traffic.response_bytes": (200, {**_ASK, "traffic.request_bytes": 200}),
    "traffic.query_bytes": (50, _DNS),
    "traffic.answer_bytes": (90, _DNS),
    "traffic.duration_s": (7.0, {}),
    "traffic.warm_up_s": (1.0, {}),
    "traffic.stations": (["A"], {}),
    "traffic.flows_per_station": (2, {}),
    "traffic.wmm": ("voice", {"scenario.edca": True}),
    "traffic.series": (True, {}),
}
#: Fields that say something to readers only, or that the real devices make true in every trial.
NOT_GIVEN = {
    # Models charge device profiles in any case.
    "simulator": {
        "scenario.about",
        "scenario.device_costs",
        "traffic.about",
        "traffic.series",
    },
    "linux": {
        "scenario.about",
        "traffic.about",
        "scenario.stations.profile",
        "scenario.ap.profile",
        "scenario.server.profile",
        "scenario.bridge.host.profile",
        "scenario.radius.profile",
        "scenario.radius.proxies.profile",
        "scenario.authenticate",
        "scenario.address_resolution",
    },
}
CASES["scenario.address_resolution"] = ("dynamic", {})
CASES["scenario.device_costs"] = ("everywhere", {"scenario.stations.profile": PROFILE})
_DOZES: Fields = {
    "scenario.stations.profile": "htc-dream-nic",
    "scenario.stations.listen_interval": 3,
    "scenario.address_resolution": "dynamic",
}
CASES |= {
    "scenario.group_load.mdns_per_min": (60.0, {}),
    "scenario.group_load.mdns_bytes": (300, {"scenario.group_load": {"mdns_per_min": 60.0}}),
    "scenario.group_load.arp_per_min": (60.0, {}),
    "scenario.group_load.neighbor_per_min": (60.0, {}),
    "scenario.group_load.router_arp_per_min": (60.0, {}),
    "scenario.group_load.advertisement_s": (20.0, {}),
    "scenario.multicast_to_unicast": (True, {}),
    "scenario.per_client_gtk": (True, {}),
    "scenario.isolation": (True, {}),
    "scenario.proxy_arp": (True, {}),
    "scenario.dtim_period": (3, _DOZES),
}
_SENSOR: Fields = {
    "policy": "wpa2-psk-ccmp",
    "scenario.authenticate": True,
    "scenario.phy": "802.11g",
    "scenario.stations.profile": "esp32-c3",
    "scenario.duty": {"joins_per_day": 2.0, "wake_ms": 300.0},
}
_SENDS: Fields = _SENSOR | {"traffic.transport": "udp", "traffic.offered_mbps": 0.01}
CASES |= {
    "scenario.duty.joins_per_day": (9.0, _SENSOR),
    "scenario.duty.wake_ms": (200.0, _SENSOR),
    "scenario.duty.wake_mj": (40.0, _SENSOR),
    "scenario.duty.messages_per_day": (9.0, _SENDS),
    "scenario.duty.message_ms": (
        10.0,
        _SENDS
        | {"scenario.duty": {"joins_per_day": 2.0, "wake_ms": 300.0, "messages_per_day": 9.0}},
    ),
    "scenario.duty.between": ("doze", _SENSOR | {"scenario.stations.listen_interval": 3}),
}
_EDCA = {"aifsn": 9, "cw_min": 31, "cw_max": 2047, "txop_us": 3200.0}
CASES |= {
    f"scenario{place}.edca_parameters.{category}.{key}": (value, {"scenario.edca": True})
    for place in ("", ".stations", ".ap")
    for category in ("background", "best_effort", "video", "voice")
    for key, value in _EDCA.items()
}
_KIND: Fields = {"traffic.beside": [{"name": "more", "transport": "tcp"}]}
CASES |= {
    path.replace("traffic.", "traffic.beside.", 1): (
        value,
        _KIND | {key.replace("traffic.", "traffic.beside.", 1): of for key, of in context.items()},
    )
    for path, (value, context) in list(CASES.items())
    if path.startswith("traffic.")
    and path.removeprefix("traffic.") not in ("about", "duration_s", "warm_up_s", "series")
}
CASES["traffic.beside.name"] = ("other", _KIND)


def plan_of(fields: Fields) -> Plan:
    """The plan of one cell with these fields."""
    made: Fields = {
        "scenario": {"phy": "802.11a", "stations": [{"name": "A"}, {"name": "B"}]},
        "traffic": {"transport": "tcp"},
    }
    # Whole tables first: others change fields in them.
    for path, value in sorted(fields.items(), key=lambda item: item[0].count(".")):
        if path == "policy":
            continue
        at, *inner, name = path.split(".")
        table = made[at]
        for key in inner:
            if key in ("stations", "beside", "proxies", "links", "mapping"):
                table[key] = [dict(one) for one in table[key]]
                table = table[key][0]
            else:
                table[key] = dict(table.get(key) or {})
                table = table[key]
        table[name] = value
    data = {
        "study": {"name": "capability", "title": "Capability", "baseline": "open"},
        "scenario": {"one": made["scenario"]},
        "traffic": {"load": made["traffic"]},
        "grid": {
            "scenario": ["one"],
            "traffic": ["load"],
            "policy": list(dict.fromkeys(["open", fields.get("policy", "open")])),
        },
    }
    return make_plan(Study.model_validate(data))


def cell_of(fields: Fields) -> tuple[Plan, Any]:
    plan = plan_of(fields)
    wanted = fields.get("policy", "open")
    return plan, next(cell for cell in plan.cells if cell.policy == wanted)


@pytest.fixture
def linux(monkeypatch: pytest.MonkeyPatch) -> Linux:
    # Neither the tools nor the medium of this machine decide here.
    monkeypatch.setattr(testbed.shutil, "which", lambda name: f"/usr/sbin/{name}")
    monkeypatch.setattr(medium, "find", lambda: Path("/usr/bin/airtoll-medium"))
    one = Linux(vm=True)
    one._version = (2, 10)
    one._lacking = ()
    one._virtual = True
    return one


def given(bed: str, fields: Fields) -> str:
    """Everything that a testbed is given for a cell, as text."""
    plan, cell = cell_of(fields)
    if bed == "simulator":
        first = border.to_json(at_home(cell)) if cell.settings.join.first_at_home else ""
        return border.to_json(scenario(cell)) + first
    job = testbed.job_of(plan.trial(cell, 1, 1)).to_json()
    return json.dumps({**job, "name": "", "seed": 0}, sort_keys=True)


def test_a_field_that_a_testbed_does_not_name_is_treated_as_it_says() -> None:
    stated = {"scenario.phy": only("802.11a", reason="x"), "scenario.radio": acts("all of it")}
    fields = every_field(stated, otherwise=lambda default: only(default, reason="not here"))
    assert fields["scenario.phy"].values == ("802.11a",)
    assert "scenario.radio.fading" not in fields
    assert fields["scenario.clients"] == only(None, reason="not here")
    with pytest.raises(ValueError, match=r"no field of a study: scenario\.phi"):
        every_field({"scenario.phi": acts()}, otherwise=lambda _: acts())


def test_every_field_has_a_case() -> None:
    of_cells = {path for path, _ in paths() if not path.startswith("trials.")}
    assert of_cells == set(CASES)


@pytest.mark.parametrize("path", sorted(CASES))
def test_the_simulator_is_given_each_field(path: str) -> None:
    value, context = CASES[path]
    skip = Simulator().check(cell_of({**context, path: value})[1])
    assert skip is None, f"{path}: {skip}"
    if path not in NOT_GIVEN["simulator"]:
        assert given("simulator", {**context, path: value}) != given("simulator", context)


@pytest.mark.parametrize("path", sorted(CASES))
def test_the_linux_testbed_is_given_each_field_or_skips_the_cell(linux: Linux, path: str) -> None:
    value, context = CASES[path]
    fields = {**context, path: value}
    cell = cell_of(fields)[1]
    skip = linux.check(cell)
    entry = linux_capability.CAPABILITY.fields.get(path)
    if entry is None or entry.values is not None:
        accepted = entry is not None and skip is None
        if not accepted:
            assert skip is not None, f"{path}: accepted"
            assert "\n" not in skip.reason
            assert skip.reason
            return
    if skip is not None:
        # The context itself is refused: a case must say something about its field.
        assert linux.check(cell_of(context)[1]) is not None, f"{path}: {skip.reason}"
        return
    if path not in NOT_GIVEN["linux"]:
        assert given("linux", fields) != given("linux", context)


@pytest.mark.parametrize(
    "path",
    [path for path, entry in linux_capability.CAPABILITY.fields.items() if entry.medium],
)
def test_a_level_needs_a_medium(linux: Linux, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.setattr(medium, "find", lambda: None)
    value, context = CASES[path]
    skip = linux.check(cell_of({**context, path: value})[1])
    assert skip is not None
    assert "needs a medium; airtoll-medium is not installed: make build" in skip.reason


@pytest.mark.parametrize(
    "path",
    [path for path, entry in linux_capability.CAPABILITY.fields.items() if entry.virtual],
)
def test_a_cost_needs_virtual_time(linux: Linux, path: str) -> None:
    linux._virtual = False
    value, context = CASES[path]
    skip = linux.check(cell_of({**context, path: value})[1])
    assert skip is not None
    assert "needs virtual time: --vm, after airtoll guest build --driver uml" in skip.reason
    assert linux.check(cell_of(context)[1]) is None


@pytest.mark.parametrize(
    "path",
    ["scenario.stations.profile", "scenario.ap.profile", "scenario.server.profile"],
)
def test_profiles_are_given_where_their_costs_are_wanted_everywhere(path: str) -> None:
    wanted: Fields = {"scenario.device_costs": "everywhere"}
    assert given("linux", {path: PROFILE}) == given("linux", {})
    assert given("linux", {**wanted, path: PROFILE}) != given("linux", wanted)


@pytest.mark.parametrize("bed", TABLES)
def test_trials_are_carried_out_or_refused_with_the_reason(bed: str) -> None:
    study = plan_of({}).study
    assert TABLES[bed].why_not_trials(study.trials) is None
    changed = study.trials.model_copy(update={"pairing": "common", "discard_first": 2})
    reason = TABLES[bed].why_not_trials(changed)
    assert (reason is None) == (bed == "simulator")
    if reason is not None:
        assert reason.startswith('trials.pairing = "common": is for the simulator')


@pytest.mark.parametrize("bed", TABLES)
def test_a_control_variate_needs_drawn_back_offs(bed: str) -> None:
    changed = plan_of({}).study.trials.model_copy(update={"control": "backoff"})
    reason = TABLES[bed].why_not_trials(changed)
    assert (reason is None) == (bed == "simulator")
    if reason is not None:
        assert reason.startswith('trials.control = "backoff": is for the simulator')


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"traffic.application": "http"}, None),
        ({"traffic.application": "http", "traffic.request_bytes": 28}, "at least 40"),
        ({"traffic.application": "http", "traffic.response_bytes": 37}, "at least 40"),
        ({"traffic.application": "http", **_UDP}, "HTTP/1.1 and FTP run over TCP here"),
        ({"traffic.application": "ftp"}, None),
        ({"traffic.application": "ftp", "traffic.transfer_bytes": 50_000}, None),
        ({"traffic.application": "ftp", "traffic.offered_mbps": 2.0}, "offered_mbps: "),
        ({"traffic.application": "request-response", "traffic.request_bytes": 9}, None),
        ({**_ASK, "traffic.request_bytes": 9}, "irtt answers in the length of the request"),
        ({**_ASK, "traffic.flows_per_station": 2}, "one client of DNS or irtt"),
        ({**_DNS, "traffic.flows_per_station": 2}, "one client of DNS or irtt"),
    ],
)
def test_applications_of_the_real_stack(linux: Linux, fields: Fields, reason: str | None) -> None:
    skip = linux.check(cell_of(fields)[1])
    if reason is None:
        assert skip is None
    else:
        assert skip is not None
        assert reason in skip.reason


def test_a_daemon_before_a_version_lacks_its_akm() -> None:
    policy = resolve("wpa3-sae-ext-gcmp-256")
    table = linux_capability.CAPABILITY
    assert "hostapd 2.10 has no AKM" in str(table.why_not_policy(policy, (2, 10)))
    assert table.why_not_policy(policy, (2, 11)) is None
    teap = resolve("wpa2-eap-teap-ccmp")
    assert "FreeRADIUS 3.2 has none of the EAP methods" in str(table.why_not_policy(teap, (2, 11)))
