"""Hand-overs: the further access points, and what the station that moves negotiates there.

Takes a cell and its resolved scenario with associations; gives it with a switch, a second access
point on a channel of its own and further ones, as well heard as the first unless the station
walks, and the hand-overs that the native code carries out
(``crates/airtoll-wlan/src/scenario/handover.rs``). Never runs anything.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from airtoll.plan import Cell
from airtoll.policies import Policy
from airtoll.study.handover import Handover

NEXT_AP = "ap-2"
#: The number of the AP that a single hand-over leads to.
FIRST_NEXT = 2
SWITCH = "switch"
_NEXT_BSS = "next-cell"


def why_not(cell: Cell, policy: Policy) -> str | None:
    """Why a hand-over of the cell is invalid, or None."""
    handover = cell.settings.handover
    if handover is None:
        return None
    link = policy.link
    if not cell.settings.authenticate:
        return "a hand-over needs authenticate = true"
    if cell.settings.topology[0] in "nr":
        return "the two-domain topologies have no hand-over in mid-trial"
    if any(old == new for old, new in pairwise((1, *handover.path))):
        return "handover.path: a station moves to another AP than it is at, and begins at 1"
    looks = handover.scan_ms > 0 or handover.scan is not None
    if handover.walk is not None:
        problem = _no_walk(cell)
        if problem is not None:
            return problem
    else:
        last_s = handover.at_s + handover.every_s * (len(handover.path) - 1)
        if last_s >= cell.load.duration_s:
            return f"the hand-over at {last_s:g} s comes after the traffic's end"
    if handover.scan_ms > 0 and handover.scan is not None:
        return "scan_ms and scan are two answers to one question: leave one of them out"
    if handover.method == "fast-transition-ds" and looks:
        return "fast-transition-ds asks for an AP that the station knows: no scan, scan_ms = 0"
    if handover.method.startswith("fast-transition") and not link.fast_transition:
        return f"{policy.name} has no FT AKM"
    caches = ("cached-pmk", "pmksa-caching")
    if handover.method in caches and not caches_pmk(policy):
        return f"{policy.name} has no PMK to cache: its PSK is the PMK, or it has none"
    if handover.method == "pre-authentication":
        problem = _no_preauthentication(policy)
        if problem is not None:
            return problem
    return _no_move(cell, handover, policy)


def roaming(
    cell: Cell, resolved: dict[str, Any], station: str, access_point: str
) -> dict[str, Any]:
    """``resolved`` with the hand-overs of ``station``, which begins at ``access_point``."""
    handover = cell.settings.handover
    if handover is None:
        return resolved
    (bss,) = resolved["bss"]
    nodes = {node["name"]: node for node in resolved["nodes"]}
    cells, twins, points = [], [], []
    for number in range(2, max(handover.path) + 1):
        name = _NEXT_BSS if number == FIRST_NEXT else f"cell-{number}"
        cells.append({**bss, "name": name, "channel": bss.get("channel", 0) + number - 1})
        twin = {**nodes[station], "name": _there(station, number), "bss": name, "tunnels": []}
        point = {**nodes[access_point], "name": f"ap-{number}", "bss": name}
        if handover.walk is not None:
            place = _place(cell, number)
            twin["position_m"] = [*_nearest(cell, place), 0.0]
            point["position_m"] = [*place, 0.0]
        twins.append(twin)
        points.append(point)
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
    names = [access_point, *(point["name"] for point in points)]
    links += [{**cable, "nodes": [ap, SWITCH]} for ap in names]
    budgets = [
        budget
        for budget in resolved["radio"]["budgets"]
        if handover.walk is None or station not in budget["nodes"]
    ]
    heard = [
        {**budget, "nodes": [twin["name"], point["name"]]}
        for twin, point in zip(twins, points, strict=True)
        for budget in budgets
        if budget["nodes"] == [station, access_point]
    ]
    first = next(a for a in resolved["associations"] if a["station"] == station)
    before = {**first, "options": {**first["options"], **_tunnel_options(handover)}}
    options = {**before["options"], "cached_pmk": handover.method == "cached-pmk"}
    if cell.settings.join.movement_detection == "lifetime":
        options["listens"] = True
    method = "full" if handover.method == "cached-pmk" else handover.method
    added = [node for pair in zip(twins, points, strict=True) for node in pair]
    return {
        **resolved,
        "bss": [bss, *cells],
        "nodes": [*resolved["nodes"], *added, {"name": SWITCH, "role": "wired"}],
        "links": links,
        "radio": {**resolved["radio"], "budgets": [*budgets, *heard]},
        "associations": [before if a is first else a for a in resolved["associations"]],
        "handovers": [
            {
                "station": station,
                **_departure(handover, number),
                "scan_s": handover.scan_ms / 1e3,
                "ahead_s": handover.ahead_ms / 1e3,
                "method": method,
                "association": {
                    **before,
                    "station": _there(station, to),
                    "options": options,
                    **_abroad(handover, options, to),
                },
            }
            for number, to in enumerate(handover.path)
        ],
        **_agents(cell, resolved, [c["name"] for c in cells]),
    }


def _abroad(handover: Handover, options: dict[str, Any], number: int) -> dict[str, Any]:
    """What an association at the AP with this number has that is not at home."""
    if handover.mobile_ip == "home" or number == 1:
        return {}
    abroad = {**options, "mobile_ip": "foreign"}
    return {"options": abroad, "foreign_agent": f"ap-{number}"}


def _agents(cell: Cell, resolved: dict[str, Any], cells: list[str]) -> dict[str, Any]:
    """The agents of the further APs beside those that are there without a hand-over."""
    handover = cell.settings.handover
    known = resolved.get("mobility_agents")
    if handover is None or not known:
        return {}
    first = known[0]
    more = [
        {**first, "bss": name, "foreign": True, "node": f"ap-{number}"}
        if handover.mobile_ip == "foreign"
        else {**first, "bss": name}
        for number, name in enumerate(cells, FIRST_NEXT)
    ]
    # Agents do not speak at once: each is a share of the period behind the one before.
    share = first["period_s"] / (len(more) + 1)
    spread = [{**a, "offset_s": round(n * share, 9)} for n, a in enumerate(more, 1)]
    return {"mobility_agents": [*known, *spread]}


def _there(station: str, number: int) -> str:
    """The node that a station is at the AP with this number."""
    return station if number == 1 else f"{station} at ap-{number}"


def _place(cell: Cell, number: int) -> tuple[float, float]:
    """Where the AP with this number stands, metres: all of them in a row."""
    handover = cell.settings.handover
    assert handover is not None
    (x, y), (next_x, next_y) = cell.settings.ap.position_m, handover.next_ap_m
    steps = number - 1
    return (x + steps * (next_x - x), y + steps * (next_y - y))


def _nearest(cell: Cell, place: tuple[float, float]) -> tuple[float, float]:
    """Where on its walk the station is nearest to an AP; past the last one the walk's end."""
    handover, station = cell.settings.handover, cell.settings.stations[0]
    assert handover is not None
    assert handover.walk is not None
    end = handover.walk.to_m
    begin = station.position_m
    if begin is None or max(handover.path) == FIRST_NEXT:
        return end
    way = (end[0] - begin[0], end[1] - begin[1])
    length = math.hypot(*way) ** 2
    if length == 0:
        return end
    along = (place[0] - begin[0]) * way[0] + (place[1] - begin[1]) * way[1]
    share = min(max(along / length, 0.0), 1.0)
    # Rounded, so that the last bit of a platform's root changes nothing.
    return (round(begin[0] + share * way[0], 6), round(begin[1] + share * way[1], 6))


def _departure(handover: Handover, number: int) -> dict[str, Any]:
    # What is not asked for is left out, so that resolved scenarios stay as they were.
    at_s = handover.at_s + number * handover.every_s
    given: dict[str, Any] = {} if handover.walk else {"at_s": at_s}
    if handover.walk is not None:
        walk = handover.walk.model_dump()
        if not walk["back"]:
            del walk["back"]
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
    if handover.mobile_ip == "foreign" and cell.settings.join.mobile_ip != "home":
        return 'handover.mobile_ip = "foreign" leads away from home: join.mobile_ip = "home"'
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
    if link.fast_transition:
        return f"{policy.name} has an FT AKM, which excludes pre-authentication"
    return None


def caches_pmk(policy: Policy) -> bool:
    """Whether an association of the policy leaves a PMK that a later one may use."""
    akm = policy.link.akm
    return akm is not None and akm.caches_pmk
