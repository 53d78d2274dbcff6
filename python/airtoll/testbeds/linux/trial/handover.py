"""Hand-overs of a study: the first station moves along a path of access points during the traffic.

Takes a trial's progress, or what its capture shows; gives the station on the last access point,
the parts of each gap, and whether the method of each hand-over was the requested one. The method is
read from the air, not from the daemons.

At stated times the supplicant is told to move. On a walk the medium is told the levels of the
station's place every 100 ms, and the station decides by the levels that its supplicant reports,
with the simulator's rule: below the threshold it scans for the next access point of its path, and
moves where that is stronger by the hysteresis.

Metrics are those of the simulator: ``handover_gap_s`` (last data frame by the old access point to
the first by the new one), and of it ``handover_association_s``, ``handover_eap_s`` and
``handover_keys_s``; of several hand-overs one row each with its second, and their means.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from attrs import frozen

from airtoll.testbeds.linux.conditions import Departure
from airtoll.testbeds.linux.daemons import hostapd
from airtoll.testbeds.linux.daemons.wpa_supplicant import Station
from airtoll.testbeds.linux.job import Value
from airtoll.testbeds.linux.trial import association
from airtoll.testbeds.linux.trial.progress import Progress
from airtoll.testbeds.linux.walking import Walk

if TYPE_CHECKING:
    from airtoll.testbeds.linux.timeline import Timeline

#: How often a walking station's levels change, seconds.
_STEP_S: Final = 0.1
#: How often it looks at the level of its access point: about once per beacon, seconds.
_LOOK_S: Final = 0.1024
#: A part of the gap that a hand-over did not have counts as zero in their mean.
_PARTS: Final = ("handover_association_s", "handover_eap_s", "handover_keys_s")


def moves_before(method: str, access_points: int = 2) -> int:
    """Moves that must have been made before the traffic: each access point holds a PMKSA then."""
    return access_points if method == "cached-pmk" else 0


async def carry_out(progress: Progress) -> list[Value]:
    """Move the first station along its path. Gives no values: the capture has them.

    Raises ``TestbedError`` when it does not get there with the policy in force.
    """
    if progress.job.walk is not None:
        await _walk(progress, progress.job.walk)
    else:
        await _path(progress)
    return []


def _targets(progress: Progress) -> list[tuple[str, int]]:
    """Address and frequency (MHz) of each access point of the path."""
    nodes = [progress.layout.access_points[number - 1] for number in progress.job.handover_path]
    return [
        (
            progress.stack.radios[node].address,
            hostapd.frequency_mhz(association.channel(progress, node)),
        )
        for node in nodes
    ]


async def _path(progress: Progress) -> None:
    job = progress.job
    name = job.stations[0]
    station = progress.stations[name]
    clock = asyncio.get_running_loop()
    began = clock.time()
    targets = _targets(progress)
    for address, _ in targets:
        await station.scan(address, job.connect_limit_s)
    for number, (address, _) in enumerate(targets):
        at_s = job.handover_at_s + number * job.handover_every_s
        await asyncio.sleep(max(0.0, began + at_s - clock.time()))
        _note(progress, Departure(clock.time() - began))
        await station.roam(address, job.connect_limit_s)
        await association.verify(progress, name, await station.status())


async def _walk(progress: Progress, walk: Walk) -> None:
    clock = asyncio.get_running_loop()
    began = clock.time()
    steps = asyncio.create_task(_steps(progress, walk, began))
    choice = asyncio.create_task(_choices(progress, walk, began))
    try:
        await asyncio.gather(steps, choice)
    finally:
        steps.cancel()
        choice.cancel()


async def _steps(progress: Progress, walk: Walk, began: float) -> None:
    clock = asyncio.get_running_loop()
    assert progress.job.flow is not None
    number = 0
    while (at_s := number * _STEP_S) < progress.job.flow.duration_s:
        await asyncio.sleep(max(0.0, began + at_s - clock.time()))
        await place(progress, walk, at_s)
        number += 1


async def place(progress: Progress, walk: Walk, at_s: float) -> None:
    """Tell the medium the levels of the walking station ``at_s`` seconds after its start."""
    medium = progress.stack.medium
    assert medium is not None
    station = progress.layout.nodes[progress.job.stations[0]]
    levels = walk.levels_dbm(at_s)
    for node, dbm in zip(progress.layout.access_points, levels, strict=True):
        await medium.level(station, node, dbm)


async def _choices(progress: Progress, walk: Walk, began: float) -> None:
    job = progress.job
    name = job.stations[0]
    station = progress.stations[name]
    clock = asyncio.get_running_loop()
    assert job.flow is not None
    end = began + job.flow.duration_s
    current = (await station.status())["bssid"]
    left = _targets(progress)
    scans, not_before = 0, began
    while left and clock.time() < end:
        await asyncio.sleep(_LOOK_S)
        status = await station.status()
        if status.get("wpa_state") != "COMPLETED":
            continue  # it lost its access point, and looks for another one itself
        if status["bssid"] != current:
            _note(progress, Departure(clock.time() - began, scans))
            current, scans = status["bssid"], 0
            if current == left[0][0]:
                left.pop(0)
            continue
        old_dbm = await _level(station)
        if clock.time() < not_before or old_dbm is None or old_dbm >= walk.threshold_dbm:
            continue
        scans += 1
        not_before = clock.time() + walk.again_s
        address, frequency_mhz = left[0]
        new_dbm = await station.look(address, frequency_mhz, job.connect_limit_s)
        if new_dbm is None or new_dbm < old_dbm + walk.hysteresis_db:
            continue
        _note(progress, Departure(clock.time() - began, scans, old_dbm, new_dbm))
        await station.roam(address, job.connect_limit_s)
        await association.verify(progress, name, await station.status())
        current, scans = address, 0
        left.pop(0)


async def _level(station: Station) -> float | None:
    """Level of the access point, dBm; None where the kernel has none."""
    with contextlib.suppress(ValueError, KeyError):
        return float((await station.signal())["RSSI"])
    return None


def _note(progress: Progress, departure: Departure) -> None:
    progress.conditions.departures += (departure,)


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


def values(moves: Sequence[tuple[Departure, Move]], name: str) -> list[Value]:
    """The rows of the hand-overs of the station with this name in the study.

    Rows of one hand-over have no second; several have the second of the traffic in which each
    began, and are followed by their number and means.
    """
    each = [_row(departure, move) for departure, move in moves]
    if len(each) == 1:
        return [Value(metric, value, unit, station=name) for metric, value, unit in each[0]]
    rows = [
        Value(metric, value, unit, station=name, second=int(departure.left_s))
        for (departure, _), own in zip(moves, each, strict=True)
        for metric, value, unit in own
    ]
    if each:
        rows.append(Value("handovers", float(len(each)), "1", station=name))
    known = {metric: unit for own in each for metric, _, unit in own}
    for metric, unit in known.items():
        found = [value for own in each for known_metric, value, _ in own if known_metric == metric]
        count = len(each) if metric in _PARTS else len(found)
        rows.append(Value(metric, math.fsum(found) / count, unit, station=name))
    return rows


def _row(departure: Departure, move: Move) -> list[tuple[str, float, str]]:
    parts = (
        ("handover_gap_s", move.gap_s, "s"),
        ("handover_association_s", move.association_s, "s"),
        ("handover_eap_s", move.eap_s, "s"),
        ("handover_keys_s", move.keys_s, "s"),
    )
    rows = [(metric, value, unit) for metric, value, unit in parts if value is not None]
    if departure.old_dbm is not None and departure.new_dbm is not None:
        rows += [
            ("handover_scans", float(departure.scans), "1"),
            ("handover_left_s", departure.left_s, "s"),
            ("handover_old_level_dbm", departure.old_dbm, "dBm"),
            ("handover_new_level_dbm", departure.new_dbm, "dBm"),
        ]
    return rows


def problem(method: str, move: Move, *, visited: bool = False) -> str | None:
    """How the method of a hand-over differs from the one of the study, or None.

    ``visited``: the station has been at the access point before.
    """
    seen = move.negotiated
    cached = method == "cached-pmk" or (method == "pmksa-caching" and visited)
    if cached and seen & {"eap", "sae"}:
        return f"asked for a cached PMK, and the air shows {', '.join(sorted(seen))}"
    if method == "pmksa-caching" and not visited and not seen & {"eap", "sae", "owe"}:
        return "asked for the whole join at a new AP, and the air shows a cached PMK"
    if method == "fast-transition" and "ft" not in seen:
        return "asked for a fast transition, and the air shows no FT authentication"
    if method != "fast-transition" and "ft" in seen:
        return f"asked for {method}, and the air shows a fast transition"
    return None


def moves_of(timeline: Timeline, station: str, count: int) -> list[Move]:
    """The last ``count`` moves of a station (MAC address); fewer without data between them."""
    roams = timeline.moves(station)
    return [
        Move(
            roam["handover_gap_s"],
            roam["handover_association_s"],
            roam["handover_eap_s"],
            roam["handover_keys_s"],
            frozenset(roam["negotiated"]),
        )
        for roam in roams[max(0, len(roams) - count) :]
    ]
