"""Rejoins of a study: the access point deauthenticates all stations during their traffic.

Takes a trial's progress; gives the time of each station without its link. hostapd sends one
broadcast frame, and each supplicant joins again by itself.

Metrics are those of the simulator: ``rejoins``, ``rejoin_gap_s`` and ``rejoin_gap_longest_s``, from
the deauthentication to the completed rejoin.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Mapping

from airtoll.testbeds.linux.job import Value
from airtoll.testbeds.linux.trial import association
from airtoll.testbeds.linux.trial.progress import Progress

_EVERYBODY = "ff:ff:ff:ff:ff:ff"


async def carry_out(progress: Progress) -> list[Value]:
    """Deauthenticate when the time has come, and wait until all stations are back.

    Raises ``TestbedError`` naming a station that does not come back with the policy in force.
    """
    at_s = progress.job.deauthenticate_at_s
    assert at_s is not None
    await asyncio.sleep(at_s)
    for station in progress.stations.values():
        station.control.forget()
    began = time.monotonic()
    for access_point in progress.access_points:
        await access_point.control.request(f"DEAUTHENTICATE {_EVERYBODY}")
    names = list(progress.stations)
    gaps = await asyncio.gather(*(_rejoined(progress, name, began) for name in names))
    for name in names:
        await association.verify(progress, name, await progress.stations[name].status())
    return values(dict(zip(names, gaps, strict=True)))


async def _rejoined(progress: Progress, name: str, began: float) -> float:
    control, limit_s = progress.stations[name].control, progress.job.connect_limit_s
    await control.wait_for("CTRL-EVENT-DISCONNECTED", limit_s=limit_s)
    back = await control.wait_for("CTRL-EVENT-CONNECTED", limit_s=limit_s)
    return back.at_s - began


def values(gaps: Mapping[str, float]) -> list[Value]:
    """Rows of every station (name -> gap, seconds) and of the whole cell."""
    rows = [row for name, gap in gaps.items() for row in _rows([gap], name)]
    return [*rows, *_rows(list(gaps.values()), None)]


def _rows(gaps: list[float], station: str | None) -> list[Value]:
    return [
        Value("rejoins", float(len(gaps)), "1", station=station),
        Value("rejoin_gap_s", statistics.fmean(gaps), "s", station=station),
        Value("rejoin_gap_longest_s", max(gaps), "s", station=station),
    ]
