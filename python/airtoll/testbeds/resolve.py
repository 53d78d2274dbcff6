"""From a cell of a study to the resolved scenario that the native code takes.

Takes a cell; gives a mapping for JSON in which profiles, policies and defaults have become
numbers (the structure is documented field by field in ``crates/airtoll-wlan/src/scenario``).
Never runs anything. Used by the simulator and by the closed forms, so that both are asked the
same question.
"""

from __future__ import annotations

import json
import math
from typing import Any

from airtoll.plan import Cell
from airtoll.policies import Cipher, Policy, Tunnel, resolve
from airtoll.profiles import CipherCost, Number, Profile, load
from airtoll.study import Scenario, Station, Traffic
from airtoll.testbeds.bridging import bridged, end_of
from airtoll.testbeds.domains import DOMAINS, HOME_AGENT, MOBILE, assemble
from airtoll.testbeds.joining import Parties, joining
from airtoll.testbeds.roaming import roaming

AP = "ap"
SERVER = "server"
BSS = "cell"

_HIGHEST_MBPS = {"802.11b": 11.0, "802.11a": 54.0, "802.11g": 54.0}
_STREAM_WRITE_OCTETS = 8192
#: Free-space loss at one metre, dB (Friis, 2437 MHz and 5180 MHz).
_REFERENCE_DB = {"2.4": 40.2, "5": 46.7}
# Operating system -> TCP options; windows are what a default socket offers at the receiver.
_TCP_PRESETS: dict[str, dict[str, Any]] = {
    "linux": {},
    "linux-2.4": {"congestion_control": "new_reno", "initial_window_segments": 2},
    "linux-2.6": {"congestion_control": "new_reno", "initial_window_segments": 3},
    "windows-xp": {
        "congestion_control": "new_reno",
        "initial_window_segments": 2,
        "window_octets": 65535,
        "delayed_ack_timeout_ms": 200.0,
        "min_rto_ms": 300.0,
    },
    "windows-7": {
        "congestion_control": "new_reno",
        "initial_window_segments": 2,
        "delayed_ack_timeout_ms": 200.0,
        "min_rto_ms": 300.0,
    },
    "windows-8": {
        "congestion_control": "new_reno",
        "initial_window_segments": 4,
        "delayed_ack_timeout_ms": 50.0,
        "min_rto_ms": 300.0,
    },
}


def scenario_json(cell: Cell) -> str:
    """The resolved scenario of a cell as canonical JSON."""
    return json.dumps(scenario(cell), sort_keys=True, separators=(",", ":"))


def scenario(cell: Cell) -> dict[str, Any]:
    """The resolved scenario of a cell.

    Raises ``ProfileError`` for an unknown profile.
    """
    settings, load_ = cell.settings, cell.load
    if settings.topology in DOMAINS:
        return {**_two_domains(cell), **_resolution(settings)}
    stations = station_list(settings)
    profiles = {s.name: load(cell.profile(s.profile)) for s in stations}
    ends = {s.name: end_of(settings, s) for s in stations}
    behind = settings.bridge.host.profile if settings.bridge else None
    # What the ends of traffic and tunnels cost, by their names.
    hosts = {
        ends[s.name]: load(cell.profile(behind)) if settings.bridges(s) else profiles[s.name]
        for s in stations
    }
    ap = load(cell.profile(settings.ap.profile))
    server = load(cell.profile(settings.server.profile))
    wired = settings.topology != "station-to-station"
    peers = {s.name: SERVER if wired else ends[_peer(settings, s)] for s in stations}
    nodes = []
    links: list[dict[str, Any]] = []
    for station in stations:
        peer = peers[station.name]
        node = _station_node(cell, station, profiles[station.name])
        own, far = hosts[ends[station.name]], hosts.get(peer, server)
        tunnels = station_policy(cell, station).tunnels
        node["tunnels"] = [_tunnel(tunnel, own, peer, far) for tunnel in tunnels]
        if not settings.bridges(station):
            nodes.append(node)
            continue
        made, link = bridged(settings, node, _host(own, station_policy(cell, station)))
        nodes += made
        links.append(link)
    nodes.append(_ap_node(cell, ap))
    if wired:
        nodes.append(_server_node(cell, server))
        links.append(
            {
                "nodes": [AP, SERVER],
                "rate_bps": settings.wired.rate_mbps * 1e6,
                "delay_s": settings.wired.delay_us * 1e-6,
                "queue_packets": settings.wired.queue_packets,
            }
        )
    resolved = {
        "duration_s": load_.duration_s,
        "warm_up_s": load_.warm_up_s,
        "series": load_.series,
        "radio": _radio(settings, stations),
        "bss": [_bss(settings)],
        "nodes": nodes,
        "links": links,
        "flows": _flows(settings, load_, stations, {**hosts, SERVER: server}),
        **_resolution(settings),
    }
    joined = joining(
        cell,
        resolved,
        {s.name: station_policy(cell, s) for s in stations},
        lambda name: Parties(
            host=None if ends[name] == name else ends[name],
            gateway=peers[name],
            home_agent=peers[name],
        ),
        lambda profile: _host(load(cell.profile(profile)), cell.security),
        AP,
    )
    return roaming(cell, joined, stations[0].name, AP)


def _resolution(settings: Scenario) -> dict[str, str]:
    # Left out where it is the native code's default, so that resolved scenarios stay as they were.
    if settings.address_resolution == "static":
        return {}
    return {"address_resolution": settings.address_resolution}


def _two_domains(cell: Cell) -> dict[str, Any]:
    settings, traffic = cell.settings, cell.load
    domains = DOMAINS[settings.topology]
    (station,) = settings.stations
    mobile = load(cell.profile(station.profile))
    ap = load(cell.profile(settings.ap.profile))
    server = load(cell.profile(settings.server.profile))
    wired = {
        "rate_bps": settings.wired.rate_mbps * 1e6,
        "delay_s": settings.wired.delay_us * 1e-6,
        "queue_packets": settings.wired.queue_packets,
    }
    node = _station_node(cell, station, mobile)
    policy = station_policy(cell, station)
    tunnels = [_tunnel(tunnel, mobile, SERVER, server) for tunnel in policy.tunnels]
    between = [_tunnel(tunnel, server, SERVER, server) for tunnel in policy.tunnels]
    parts = assemble(
        domains,
        bss=_bss(settings),
        station=node,
        access_point=_ap_node(cell, ap),
        server=_server_node(cell, server),
        link=wired,
        tunnels=tunnels,
        between=between,
    )
    ends = {MOBILE: mobile, domains.peer: mobile if domains.peer_ap else server}
    ways = [(MOBILE, domains.peer)]
    if traffic.direction == "down":
        ways = [(domains.peer, MOBILE)]
    elif traffic.direction == "both" or traffic.application == "voip":
        ways.append((domains.peer, MOBILE))
    flows = [
        {
            "name": f"{source}-{destination}",
            "station": MOBILE,
            "source": source,
            "destination": destination,
            "ip": traffic.ip,
            "transport": _transport(traffic, ends[source], ends[destination]),
            "pattern": _pattern(traffic),
            "access_category": traffic.wmm.replace("-", "_"),
        }
        for source, destination in ways
    ]
    radio = {**_radio(settings, []), "path_loss": {"model": "constant", "loss_db": 60.0}}
    resolved = {
        "duration_s": traffic.duration_s,
        "warm_up_s": traffic.warm_up_s,
        "series": traffic.series,
        "radio": radio,
        "flows": flows,
        **parts,
    }
    own = Parties(
        gateway=HOME_AGENT,
        authentication_server=domains.agent,
        home_agent=HOME_AGENT,
        foreign_agent=domains.agent,
    )
    return joining(
        cell,
        resolved,
        {MOBILE: station_policy(cell, station)},
        lambda _: own,
        lambda profile: _host(load(cell.profile(profile)), cell.security),
        domains.mobile_ap,
    )


def station_list(settings: Scenario) -> list[Station]:
    """The stations of a scenario, the last one repeated up to ``clients``."""
    named = list(settings.stations)
    count = settings.clients or len(named)
    if count <= len(named):
        return named[:count]
    last = named[-1]
    extra = [
        last.model_copy(update={"name": f"{last.name}{number}"})
        for number in range(2, count - len(named) + 2)
    ]
    return named + extra


def station_policy(cell: Cell, station: Station) -> Policy:
    """The policy of one station: its own in a mixed cell, else the cell's."""
    return resolve(station.policy) if station.policy else cell.security


def _burst(settings: Scenario, own_us: float | None, profile: Profile) -> float:
    if own_us is not None:
        return own_us
    return max(settings.frame_bursting_us, profile.radio.frame_burst_us.value)


def _bss(settings: Scenario) -> dict[str, Any]:
    bss: dict[str, Any] = {
        "name": BSS,
        "standard": settings.phy,
        "width_mhz": settings.width_mhz,
        "preamble": settings.preamble or "long",
        "protection": settings.protection.replace("-", "_"),
        "rate": _rate(settings, settings.phy, settings.rate_mbps),
        "max_attempts": settings.retry_limit,
        "aggregation": {
            "ampdu_max_octets": settings.ampdu_max_octets,
            "amsdu_max_octets": settings.amsdu_max_octets,
        },
        "beacons": {
            "interval_us": settings.beacon_interval_tu * 1024.0,
            "ssids": settings.ssids,
        }
        if settings.beacons
        else None,
        "rts_threshold_octets": settings.rts_threshold_octets,
        "fragmentation_threshold_octets": settings.fragmentation_threshold_octets,
        "cw_min": settings.cw_min,
        "cw_max": settings.cw_max,
    }
    if settings.guard_interval_ns is not None:
        bss["guard_interval_ns"] = settings.guard_interval_ns
    if settings.edca or settings.phy not in _HIGHEST_MBPS:
        bss["edca"] = True
    return bss


def _rate(settings: Scenario, phy: str, rate_mbps: float | None) -> dict[str, Any]:
    if settings.rate_control != "fixed":
        return {"control": settings.rate_control, "streams": settings.streams}
    if phy in _HIGHEST_MBPS:
        return {"control": "fixed", "mbps": rate_mbps or _HIGHEST_MBPS[phy]}
    return {"control": "fixed_mcs", "mcs": settings.mcs or 0, "streams": settings.streams}


def _station_node(cell: Cell, station: Station, profile: Profile) -> dict[str, Any]:
    settings = cell.settings
    policy = station_policy(cell, station)
    node: dict[str, Any] = {
        "name": station.name,
        "role": "station",
        "bss": BSS,
        "cipher": _data_cipher(policy),
        "host": _host(profile, policy),
        "tx_power_dbm": settings.radio.tx_power_dbm,
        "queue": _queue(settings),
        "frame_burst_us": _burst(settings, station.frame_bursting_us, profile),
    }
    if station.position_m is not None:
        node["position_m"] = [*station.position_m, 0.0]
    if station.phy is not None and station.phy != settings.phy:
        node["standard"] = station.phy
        node["rate"] = _rate(settings, station.phy, station.rate_mbps)
    elif station.rate_mbps is not None:
        node["rate"] = {"control": "fixed", "mbps": station.rate_mbps}
    return node


def _ap_node(cell: Cell, profile: Profile) -> dict[str, Any]:
    settings = cell.settings
    return {
        "name": AP,
        "role": "access_point",
        "bss": BSS,
        "position_m": [*settings.ap.position_m, 0.0],
        "cipher": _data_cipher(cell.security),
        "host": _host(profile, cell.security),
        "tx_power_dbm": settings.radio.tx_power_dbm,
        "queue": _queue(settings),
        "frame_burst_us": _burst(settings, settings.ap.frame_bursting_us, profile),
    }


def _server_node(cell: Cell, profile: Profile) -> dict[str, Any]:
    return {
        "name": SERVER,
        "role": "wired",
        "host": _host(profile, cell.security),
    }


def _peer(settings: Scenario, station: Station) -> str:
    names = [s.name for s in station_list(settings)]
    return names[1] if station.name == names[0] else names[0]


def _data_cipher(policy: Policy) -> str:
    return (policy.link.cipher if policy.link.encrypts_data else Cipher.NONE).value


def _queue(settings: Scenario) -> dict[str, Any]:
    return {
        "packets": settings.queue_packets,
        "max_delay_ms": settings.queue_max_delay_ms or None,
        "discipline": settings.queue_type,
    }


def _host(profile: Profile, policy: Policy) -> dict[str, Any]:
    transmit = _cost(profile, profile.host.tx_packet_cycles, profile.host.tx_octet_cycles)
    receive = _cost(profile, profile.host.rx_packet_cycles, profile.host.rx_octet_cycles)
    host: dict[str, Any] = {
        "transmit": transmit,
        "receive": receive,
        "forward": {key: transmit[key] + receive[key] for key in transmit},
    }
    cipher = profile.cipher.get(_data_cipher(policy))
    if cipher is not None:
        cost = _cipher_cost(profile, cipher)
        host["engine"] = cipher.engine
        host["ciphers"] = [{"cipher": _data_cipher(policy), "encrypt": cost, "decrypt": cost}]
    if profile.operation:
        host["operations_ns"] = {
            name: profile.seconds(cycles) * 1e9 for name, cycles in profile.operation.items()
        }
    if profile.energy is not None:
        host["energy"] = {
            "transmit_w": profile.energy.tx_w.value,
            "receive_w": profile.energy.rx_w.value,
            "cpu_w": profile.energy.cpu_w.value,
        }
    return host


def _cost(profile: Profile, fixed: Number, per_octet: Number) -> dict[str, float]:
    return {
        "fixed_ns": profile.seconds(fixed) * 1e9,
        "per_octet_ns": profile.seconds(per_octet) * 1e9,
    }


def _cipher_cost(profile: Profile, cost: CipherCost) -> dict[str, float]:
    if cost.engine == "cpu":
        return {
            "fixed_ns": profile.seconds(cost.frame_cycles) * 1e9,
            "per_octet_ns": profile.seconds(cost.octet_cycles) * 1e9,
        }
    return {
        "fixed_ns": cost.frame_us.value * 1e3 if cost.frame_us else 0.0,
        "per_octet_ns": cost.octet_ns.value if cost.octet_ns else 0.0,
    }


def _tunnel(tunnel: Tunnel, profile: Profile, peer: str, far: Profile) -> dict[str, Any]:
    suite = tunnel.suite
    result: dict[str, Any] = {"peer": peer, "encapsulation": {"suite": suite}}
    cost = profile.cipher.get(suite)
    if cost is not None:
        result["encrypt"] = result["decrypt"] = _cipher_cost(profile, cost)
    cost = far.cipher.get(suite)
    if cost is not None:
        result["peer_encrypt"] = result["peer_decrypt"] = _cipher_cost(far, cost)
    return result


def _radio(settings: Scenario, stations: list[Station]) -> dict[str, Any]:
    radio = settings.radio
    reference = _REFERENCE_DB["2.4" if settings.phy in ("802.11b", "802.11g") else "5"]
    budgets: list[dict[str, Any]] = []
    for station in stations:
        level = settings.rssi_dbm if station.rssi_dbm is None else station.rssi_dbm
        if level is not None:
            budgets.append({"nodes": [station.name, AP], "rssi_dbm": level})
        elif station.walls or station.position_m is not None:
            place = station.position_m or settings.ap.position_m
            distance = max(1.0, math.dist(place, settings.ap.position_m))
            loss = reference + 10 * radio.path_loss_exponent * math.log10(distance)
            # Rounded, so that the last bit of a platform's logarithm changes nothing.
            loss = round(loss + station.walls * radio.wall_db, 6)
            budgets.append({"nodes": [station.name, AP], "loss_db": loss})
    return {
        "path_loss": {
            "model": "log_distance",
            "reference_db": reference,
            "exponent": radio.path_loss_exponent,
        }
        if any(s.position_m is not None for s in stations)
        else {"model": "constant", "loss_db": 60.0},
        "budgets": budgets,
        "hidden": [list(pair) for pair in settings.hidden],
        "noise_figure_db": radio.noise_figure_db,
        "carrier_sense_dbm": radio.carrier_sense_dbm,
        "frame_capture_db": radio.capture_db,
        "preamble_capture_db": radio.capture_db,
    }


def _flows(
    settings: Scenario,
    traffic: Traffic,
    stations: list[Station],
    hosts: dict[str, Profile],
) -> list[dict[str, Any]]:
    ends = {s.name: end_of(settings, s) for s in stations}
    flows = []
    for name, station, near, far in _pairs(settings, traffic, stations):
        source, destination = ends.get(near, near), ends.get(far, far)
        flow: dict[str, Any] = {
            "name": name,
            "station": station,
            "source": source,
            "destination": destination,
            "ip": traffic.ip,
            "transport": _transport(traffic, hosts[source], hosts[destination]),
            "pattern": _pattern(traffic),
            "access_category": traffic.wmm.replace("-", "_"),
        }
        flows.append(flow)
    return flows


def _pairs(
    settings: Scenario, traffic: Traffic, stations: list[Station]
) -> list[tuple[str, str, str, str]]:
    """(flow name, station, source, destination) of every flow, in names of stations."""
    names = [s.name for s in stations]
    senders = [n for n in names if traffic.stations is None or n in traffic.stations]
    direction = traffic.direction
    pairs: list[tuple[str, str, str, str]] = []
    if settings.topology == "station-to-station":
        first, second = (senders or names)[0], names[1]
        if first == second:
            second = names[0]
        ways = [(first, second)] if direction != "down" else [(second, first)]
        if direction == "both" or traffic.application == "voip":
            ways = [(first, second), (second, first)]
        pairs = [(f"{a}-{b}", a, a, b) for a, b in ways]
    else:
        up = direction in ("up", "both") or (direction is None and settings.topology == "uplink")
        down = direction in ("down", "both") or (
            direction is None and settings.topology == "downlink"
        )
        if traffic.application == "voip":
            up = down = True
        for name in senders:
            if up:
                pairs.append((f"{name}-up", name, name, SERVER))
            if down:
                pairs.append((f"{name}-down", name, SERVER, name))
    if traffic.flows_per_station == 1:
        return pairs
    return [
        (f"{name}-{number}", station, source, destination)
        for name, station, source, destination in pairs
        for number in range(1, traffic.flows_per_station + 1)
    ]


def _transport(traffic: Traffic, source: Profile, destination: Profile) -> dict[str, Any]:
    if traffic.transport == "udp":
        buffer = traffic.socket_buffer_kbytes
        options: dict[str, Any] = {"protocol": "udp"}
        if buffer is not None:
            options["socket_buffer_octets"] = int(buffer * 1024)
        return options
    receiver = _TCP_PRESETS.get(destination.tcp, {})
    options = {"protocol": "tcp", **_TCP_PRESETS.get(source.tcp, {})}
    for key in ("window_octets", "delayed_ack_timeout_ms"):
        options.pop(key, None)
        if key in receiver:
            options[key] = receiver[key]
    chosen = {
        "mss_octets": traffic.mss_bytes,
        "window_octets": None
        if traffic.window_kbytes is None
        else int(traffic.window_kbytes * 1024),
        "congestion_control": {"newreno": "new_reno"}.get(traffic.tcp or "", traffic.tcp),
        "timestamps": traffic.timestamps,
        "sack": traffic.sack,
    }
    options.update({key: value for key, value in chosen.items() if value is not None})
    return options


def _pattern(traffic: Traffic) -> dict[str, Any]:
    if traffic.transport == "udp":
        payload = traffic.payload_bytes or (1472 if traffic.ip == "ipv4" else 1452)
    else:
        payload = traffic.write_bytes or _STREAM_WRITE_OCTETS
    if traffic.application == "voip":
        return {"type": "voip"}
    if traffic.application in ("request-response", "http"):
        return {
            "type": "request_response",
            "request_octets": traffic.request_bytes,
            "response_octets": traffic.response_bytes,
        }
    if traffic.transfer_bytes is not None:
        return {
            "type": "transfer",
            "octets": traffic.transfer_bytes,
            "payload_octets": payload,
        }
    if traffic.offered_mbps is not None:
        return {
            "type": "paced",
            "payload_octets": payload,
            "rate_bps": traffic.offered_mbps * 1e6,
        }
    return {"type": "saturated", "payload_octets": payload}
