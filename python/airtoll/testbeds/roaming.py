"""Hand-overs: the second access point, and what the station that moves negotiates there.

Takes a cell and its resolved scenario with associations; gives it with a switch, a second access
point on a channel of its own, as well heard as the first unless the station walks, and the
hand-over that the native code carries out (``crates/airtoll-wlan/src/scenario/handover.rs``). Never
runs anything.
"""

from __future__ import annotations

from typing import Any

from airtoll.plan import Cell
from airtoll.policies import Policy
from airtoll.study.model import Handover

NEXT_AP = "ap-2"
SWITCH = "switch"
_NEXT_BSS = "next-cell"
#: FT AKMs (IEEE Std 802.11-2020, table 9-151).
FT_AKMS = (3, 4, 9, 13, 25)


def why_not(cell: Cell, policy: Policy) -> str | None:
    """Why a hand-over of the cell cannot be meant, or None."""
    handover = cell.settings.handover
    if handover is None:
        return None
    link = policy.link
    if not cell.settings.authenticate:
        return "a hand-over needs authenticate = true"
    if cell.settings.topology[0] in "nr":
        return "the two-domain topologies have no hand-over in mid-trial"
    looks = handover.scan_ms > 0 or handover.scan is not None
    if handover.walk is not None:
        problem = _no_walk(cell)
        if problem is not None:
            return problem
    elif handover.at_s >= cell.load.duration_s:
        return f"the hand-over at {handover.at_s:g} s comes after the traffic's end"
    if handover.scan_ms > 0 and handover.scan is not None:
        return "scan_ms and scan are two answers to one question: leave one of them out"
    if handover.method == "fast-transition-ds" and looks:
        return "fast-transition-ds asks for an AP that the station knows: no scan, scan_ms = 0"
    if handover.method.startswith("fast-transition") and link.akm not in FT_AKMS:
        return f"{policy.name} has no FT AKM"
    if handover.method == "cached-pmk" and (link.akm is None or not _caches(policy)):
        return f"{policy.name} has no PMK to cache: its PSK is the PMK, or it has none"
    if handover.method == "pre-authentication":
        problem = _no_preauthentication(policy)
        if problem is not None:
            return problem
    return _no_move(cell, handover, policy)


def roaming(
    cell: Cell, resolved: dict[str, Any], station: str, access_point: str
) -> dict[str, Any]:
    """``resolved`` with the hand-over of ``station`` from ``access_point`` to a second one."""
    handover = cell.settings.handover
    if handover is None:
        return resolved
    there = f"{station} at {NEXT_AP}"
    (bss,) = resolved["bss"]
    nodes = {node["name"]: node for node in resolved["nodes"]}
    twin = {**nodes[station], "name": there, "bss": _NEXT_BSS, "tunnels": []}
    second = {**nodes[access_point], "name": NEXT_AP, "bss": _NEXT_BSS}
    if handover.walk is not None:
        twin["position_m"] = [*handover.walk.to_m, 0.0]
        second["position_m"] = [*handover.next_ap_m, 0.0]
    wired = cell.settings.wired
    cable = {
        "rate_bps": wired.rate_mbps * 1e6,
        "delay_s": 0.0,
        "queue_packets": wired.queue_packets,
    }
    links = [
        {**link, "nodes": [SWITCH if name == access_point else name for name in link["nodes"]]}
        for link in resolved["links"]
    ]
    links += [{**cable, "nodes": [ap, SWITCH]} for ap in (access_point, NEXT_AP)]
    budgets = [
        budget
        for budget in resolved["radio"]["budgets"]
        if handover.walk is None or station not in budget["nodes"]
    ]
    heard = [
        {**budget, "nodes": [there, NEXT_AP]}
        for budget in budgets
        if budget["nodes"] == [station, access_point]
    ]
    first = next(a for a in resolved["associations"] if a["station"] == station)
    before = {**first, "options": {**first["options"], **_tunnel_options(handover)}}
    options = {**before["options"], "cached_pmk": handover.method == "cached-pmk"}
    method = "full" if handover.method == "cached-pmk" else handover.method
    return {
        **resolved,
        "bss": [bss, {**bss, "name": _NEXT_BSS, "channel": bss.get("channel", 0) + 1}],
        "nodes": [*resolved["nodes"], twin, second, {"name": SWITCH, "role": "wired"}],
        "links": links,
        "radio": {**resolved["radio"], "budgets": [*budgets, *heard]},
        "associations": [before if a is first else a for a in resolved["associations"]],
        "handovers": [
            {
                "station": station,
                **_departure(handover),
                "scan_s": handover.scan_ms / 1e3,
                "ahead_s": handover.ahead_ms / 1e3,
                "method": method,
                "association": {**before, "station": there, "options": options},
            }
        ],
    }


def _departure(handover: Handover) -> dict[str, Any]:
    # What is not asked for is left out, so that resolved scenarios stay as they were.
    given: dict[str, Any] = {} if handover.walk else {"at_s": handover.at_s}
    if handover.walk is not None:
        walk = handover.walk.model_dump()
        given["walk"] = {**walk, "to_m": [*handover.walk.to_m, 0.0]}
    if handover.scan is not None:
        given["scan"] = {
            "channels": handover.scan.channels,
            "passive": handover.scan.mode == "passive",
            "min_channel_s": handover.scan.min_channel_ms / 1e3,
            "max_channel_s": handover.scan.max_channel_ms / 1e3,
        }
    if handover.walk is not None or handover.scan is not None:
        given["again_s"] = handover.again_s
    if handover.tunnel != "anew":
        given["tunnel"] = handover.tunnel
    return given


def _tunnel_options(handover: Handover) -> dict[str, bool]:
    # Said in the first association: both ends have to have announced it there (RFC 4555, 3.1).
    if handover.tunnel != "mobike":
        return {}
    return {"mobike": True, "return_routability": handover.return_routability}


def _no_walk(cell: Cell) -> str | None:
    station = cell.settings.stations[0]
    handover = cell.settings.handover
    if station.position_m is None:
        return f"station {station.name} walks: it needs position_m, where it begins"
    if station.rssi_dbm is not None or cell.settings.rssi_dbm is not None:
        return f"station {station.name} walks: its level follows its position, without rssi_dbm"
    if station.walls:
        return f"station {station.name} walks: walls that move with it cannot be meant"
    if handover is not None and handover.method == "pre-authentication":
        return "who walks does not know when it leaves: no pre-authentication ahead of that"
    return None


def _no_move(cell: Cell, handover: Handover, policy: Policy) -> str | None:
    """Why the tunnels of a policy cannot do at the new AP what the hand-over says, or None."""
    if handover.return_routability and handover.tunnel != "mobike":
        return 'return_routability is a check of MOBIKE: handover.tunnel = "mobike"'
    if handover.tunnel == "anew":
        return None
    mobile_ip = cell.settings.join.mobile_ip != "off"
    if not policy.tunnels:
        return f"{policy.name} has no tunnel that could move"
    if handover.tunnel == "stays":
        return None if mobile_ip else "a tunnel's address changes without Mobile IP below it"
    if mobile_ip:
        return "Mobile IP keeps the tunnel's address, the home address: nothing moves"
    only = policy.tunnels[0].key_exchange if len(policy.tunnels) == 1 else None
    if handover.tunnel == "mobike" and only != "ikev2":
        return f"{policy.name} is not one tunnel with IKEv2, whose SA MOBIKE moves"
    if handover.tunnel == "roams" and only != "noise":
        return f"{policy.name} is not one tunnel of WireGuard, whose ends follow each other"
    return None


def _no_preauthentication(policy: Policy) -> str | None:
    link = policy.link
    if link.eap_method is None:
        return f"{policy.name} has no EAP that could run before the hand-over"
    if link.akm is None or link.generation == "wpa":
        return f"{policy.name} has no RSN: pre-authentication came with 802.11i"
    if link.akm in FT_AKMS:
        return f"{policy.name} has an FT AKM, with which nobody pre-authenticates"
    return None


def _caches(policy: Policy) -> bool:
    return (
        policy.link.eap_method is not None
        or policy.link.authentication == "sae"
        or (policy.link.generation == "owe")
    )
