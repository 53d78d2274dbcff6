"""Hand-overs of a study: the first station moves to the other access point during the traffic.

Takes a trial's progress, or what its capture shows; gives the station on the other access point,
the parts of the gap, and whether the method of the hand-over was the requested one. The method is
read from the air, not from the daemons.

Metrics are those of the simulator: ``handover_gap_s`` (last data frame by the old access point to
the first by the new one), and of it ``handover_association_s``, ``handover_eap_s`` and
``handover_keys_s``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Final

from attrs import frozen

from airtoll.testbeds.linux import association
from airtoll.testbeds.linux.job import Value
from airtoll.testbeds.linux.progress import Progress
from airtoll.testbeds.linux.timeline import Timeline

#: Moves before the traffic after which both access points hold a PMKSA of the station.
_THERE_AND_BACK: Final = 2


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
    """A move to another access point, as the air shows it: times in s, None where not seen.

    ``gap_s``: last data frame by the old AP to the first by the new one; of it the association,
    EAP and the key handshake. ``negotiated``: the protocols at the new AP.
    """

    gap_s: float
    association_s: float | None
    eap_s: float | None
    keys_s: float | None
    negotiated: frozenset[str]


def values(move: Move, name: str) -> Iterator[Value]:
    """The parts of the gap of the station with this name in the study."""
    parts = {
        "handover_gap_s": move.gap_s,
        "handover_association_s": move.association_s,
        "handover_eap_s": move.eap_s,
        "handover_keys_s": move.keys_s,
    }
    for metric, seconds in parts.items():
        if seconds is not None:
            yield Value(metric, seconds, "s", station=name)


def problem(method: str, move: Move) -> str | None:
    """How the method of the hand-over differs from the one of the study, or None."""
    seen = move.negotiated
    if method == "cached-pmk" and seen & {"eap", "sae"}:
        return f"asked for a cached PMK, and the air shows {', '.join(sorted(seen))}"
    if method == "fast-transition" and "ft" not in seen:
        return "asked for a fast transition, and the air shows no FT authentication"
    if method != "fast-transition" and "ft" in seen:
        return f"asked for {method}, and the air shows a fast transition"
    return None


def last_move(timeline: Timeline, station: str) -> Move | None:
    """The last move of a station (MAC address); None without data before and after it."""
    moves = timeline.moves(station)
    if not moves:
        return None
    roam = moves[-1]
    return Move(
        roam["handover_gap_s"],
        roam["handover_association_s"],
        roam["handover_eap_s"],
        roam["handover_keys_s"],
        frozenset(roam["negotiated"]),
    )
