"""Hand-overs: the second access point, and what the station that moves negotiates there.

Takes a cell and its resolved scenario with associations; gives it with a switch, a second access
point as well heard as the first on a channel of its own, and the hand-over that the native code
carries out (``crates/airtoll-wlan/src/scenario/handover.rs``). Never runs anything.
"""

from __future__ import annotations

from typing import Any

from airtoll.plan import Cell
from airtoll.policies import Policy

NEXT_AP = "ap-2"
SWITCH = "switch"
_NEXT_BSS = "next-cell"
#: FT AKMs (IEEE Std 802.11-2020, table 9-151).
_FT_AKMS = (3, 4, 9, 13, 25)


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
    if handover.at_s >= cell.load.duration_s:
        return f"the hand-over at {handover.at_s:g} s comes after the traffic's end"
    if handover.method == "fast-transition-ds" and handover.scan_ms > 0:
        return "fast-transition-ds asks for an AP that the station knows: scan_ms must be 0"
    if handover.method.startswith("fast-transition") and link.akm not in _FT_AKMS:
        return f"{policy.name} has no FT AKM"
    if handover.method == "cached-pmk" and (link.akm is None or not _caches(policy)):
        return f"{policy.name} has no PMK to cache: its PSK is the PMK, or it has none"
    if handover.method == "pre-authentication":
        return _no_preauthentication(policy)
    return None


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
    budgets = resolved["radio"]["budgets"]
    heard = [
        {**budget, "nodes": [there, NEXT_AP]}
        for budget in budgets
        if budget["nodes"] == [station, access_point]
    ]
    before = next(a for a in resolved["associations"] if a["station"] == station)
    options = {**before["options"], "cached_pmk": handover.method == "cached-pmk"}
    method = "full" if handover.method == "cached-pmk" else handover.method
    return {
        **resolved,
        "bss": [bss, {**bss, "name": _NEXT_BSS, "channel": bss.get("channel", 0) + 1}],
        "nodes": [*resolved["nodes"], twin, second, {"name": SWITCH, "role": "wired"}],
        "links": links,
        "radio": {**resolved["radio"], "budgets": [*budgets, *heard]},
        "handovers": [
            {
                "station": station,
                "at_s": handover.at_s,
                "scan_s": handover.scan_ms / 1e3,
                "ahead_s": handover.ahead_ms / 1e3,
                "method": method,
                "association": {**before, "station": there, "options": options},
            }
        ],
    }


def _no_preauthentication(policy: Policy) -> str | None:
    link = policy.link
    if link.eap_method is None:
        return f"{policy.name} has no EAP that could run before the hand-over"
    if link.akm is None or link.generation == "wpa":
        return f"{policy.name} has no RSN: pre-authentication came with 802.11i"
    if link.akm in _FT_AKMS:
        return f"{policy.name} has an FT AKM, with which nobody pre-authenticates"
    return None


def _caches(policy: Policy) -> bool:
    return (
        policy.link.eap_method is not None
        or policy.link.authentication == "sae"
        or (policy.link.generation == "owe")
    )
