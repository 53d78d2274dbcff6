"""Hand-overs of a study: the first station leaves for the other access point amid the traffic.

Takes a trial's progress, or what its capture shows; gives the station on the other access point,
the parts of the gap, and whether the way in was the one asked for. Never believes the daemons: the
way in is read from the air.

Metrics are those of the simulator: ``handover_gap_s`` (last data frame by the old access point to
the first by the new one), and of it ``handover_association_s``, ``handover_eap_s`` and
``handover_keys_s``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Final

from attrs import frozen

from airtoll.policies import Policy
from airtoll.study import Scenario
from airtoll.testbeds.linux import association
from airtoll.testbeds.linux.job import Value
from airtoll.testbeds.linux.progress import Progress
from airtoll.testbeds.linux.timeline import Message, Timeline

_METHODS: Final = ("full", "cached-pmk", "fast-transition")
#: Moves before the traffic after which both access points hold a PMKSA of the station.
_THERE_AND_BACK: Final = 2


def why_not(settings: Scenario, policy: Policy) -> str | None:
    """Why a hand-over that can be meant is not carried out on Linux, or None."""
    handover = settings.handover
    if handover is None:
        return None
    if handover.walk is not None:
        return "handover.walk: the medium is not told where a study's station walks"
    if handover.scan is not None or handover.scan_ms:
        return "handover.scan: wpa_supplicant scans as it does, before it leaves"
    if len(handover.path) > 1:
        return "handover.path: this testbed moves the station once, to the other access point"
    if handover.tunnel != "anew":
        return "a tunnel's outer address does not move with the station in this testbed"
    if handover.method not in _METHODS:
        return f"handover.method = {handover.method!r} is not set up by this testbed"
    if handover.method in ("full", "cached-pmk") and policy.link.fast_transition:
        return f"wpa_supplicant makes a fast transition wherever it can, as with {policy.name}"
    if policy.tunnels:
        return "a tunnel's outer address does not move with the station in this testbed"
    return None


def moves_before(method: str) -> int:
    """Moves that must have been made before the traffic."""
    return _THERE_AND_BACK if method == "cached-pmk" else 0


async def carry_out(progress: Progress) -> list[Value]:
    """Move the first station when its time has come. Gives no values: the capture has them.

    Raises ``TestbedError`` when it does not get there with the policy in force.
    """
    stack, job = progress.stack, progress.job
    name = job.stations[0]
    station = progress.stations[name]
    current = (await station.status())["bssid"]
    (target,) = (
        stack.radios[ap.host.name].address
        for ap in progress.access_points
        if stack.radios[ap.host.name].address != current
    )
    await station.scan(target, job.connect_limit_s)
    await asyncio.sleep(job.handover_at_s)
    await station.roam(target, job.connect_limit_s)
    await association.verify(progress, name, await station.status())
    return []


@frozen
class Move:
    """A move to another access point, as the air shows it.

    Unix times, s: last data by the old AP, first authentication frame to the new one, its
    (re)association response, first data by it; and the messages between.
    """

    last_data_s: float
    left_s: float
    associated_s: float
    data_again_s: float
    messages: tuple[Message, ...]


def values(move: Move, name: str) -> Iterator[Value]:
    """The parts of the gap of the station with this name in the study."""
    yield Value("handover_gap_s", move.data_again_s - move.last_data_s, "s", station=name)
    yield Value("handover_association_s", move.associated_s - move.left_s, "s", station=name)
    for metric, protocol in (("handover_eap_s", "eap"), ("handover_keys_s", "eapol-key")):
        times = [m.at_s for m in move.messages if m.protocol == protocol]
        if times:
            yield Value(metric, times[-1] - times[0], "s", station=name)


def problem(method: str, move: Move) -> str | None:
    """How the way in differs from the one that the study asks for, or None."""
    seen = {m.protocol for m in move.messages}
    if method == "cached-pmk" and seen & {"eap", "sae"}:
        return f"asked for a cached PMK, and the air shows {', '.join(sorted(seen))}"
    if method == "fast-transition" and "ft" not in seen:
        return "asked for a fast transition, and the air shows no FT authentication"
    if method != "fast-transition" and "ft" in seen:
        return f"asked for {method}, and the air shows a fast transition"
    return None


def last_move(timeline: Timeline, station: str) -> Move | None:
    """The last move of a station (MAC address); None without data before and behind it."""
    mine = [(at, what, bssid) for at, who, what, bssid in timeline.management if who == station]
    joined = [(at, bssid) for at, what, bssid in mine if what == "assoc"]
    if len(joined) < 2:
        return None
    (earlier, _old), (associated, new) = joined[-2:]
    asked = [at for at, what, bssid in mine if what == "auth" and bssid == new and at > earlier]
    left = min(asked, default=associated)
    data = [(at, bssid, mark) for at, who, bssid, mark in timeline.data if who == station]
    protects = any(mark for _, _, mark in data)
    before = [at for at, bssid, _ in data if bssid != new and at <= left]
    # What the old AP still sends to a station that has left is no data of the new one, and what
    # goes in clear before the keys are there is not meant for anybody.
    after = [
        at for at, bssid, mark in data if bssid == new and at > associated and mark == protects
    ]
    if not before or not after:
        return None
    between = tuple(
        m for m in timeline.messages if m.station == station and left <= m.at_s <= after[0]
    )
    return Move(before[-1], left, associated, after[0], between)
