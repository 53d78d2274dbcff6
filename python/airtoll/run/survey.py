"""A survey: the channel and the position with the highest throughput, before a study.

Takes an object that runs jobs, channels and positions; gives one ranked
:class:`SurveyPoint` per position and channel. Channels take turns within a position, round by
round, so that a busy minute hits all of them. Never moves anything: who moves the access point or
the antenna is asked to, position by position.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from attrs import evolve, frozen

from airtoll.analyse import Estimate
from airtoll.analyse.comparison import compare_samples, holm
from airtoll.analyse.estimate import mean_t
from airtoll.errors import UsageError
from airtoll.present.words import shows
from airtoll.testbeds.contract import Measured
from airtoll.testbeds.linux.daemons.hostapd import frequency_mhz
from airtoll.testbeds.linux.job import Flow, Job

#: The position of a survey without named positions.
HERE: Final = "here"
#: 2.4 GHz channels that do not overlap (IEEE Std 802.11-2020, 15.4.4.2), and the lowest of 5 GHz
#: that need no radar detection.
DEFAULT_CHANNELS: Final = {"802.11g": (1, 6, 11), "802.11a": (36, 40, 44, 48)}


class Carrier(Protocol):
    """An object that runs jobs, such as the ``linux`` testbed."""

    def carry_out(self, job: Job, captures: Path | None = None) -> Measured:
        """Run one job and leave its ``outcome.json`` in ``captures``."""


@frozen
class SurveyPoint:
    """One position and channel.

    ``throughput``: mean over the rounds, bit/s, with its t interval. ``busy_share``: of the time
    in which the radio was on the channel, 0 to 1; ``noise_dbm``, ``rssi_dbm``: as the drivers
    told; each None where none did. ``failures``: rounds that gave nothing, one line each.
    ``verdict``: against the best point, Welch with Holm's correction.
    """

    position: str
    channel: int
    frequency_mhz: int
    throughput: Estimate
    busy_share: float | None
    noise_dbm: float | None
    rssi_dbm: float | None
    failures: tuple[str, ...]
    verdict: str = ""


def survey(
    carrier: Carrier,
    channels: Sequence[int],
    *,
    positions: Sequence[str] = (),
    rounds: int = 3,
    duration_s: float = 5.0,
    phy: str = "802.11g",
    transport: str = "tcp",
    ask: Callable[[str], None] | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> list[SurveyPoint]:
    """Measure every position and channel ``rounds`` times without security, and rank them.

    ``ask(position)`` returns when the equipment is at that position; it is called once per
    position, also for a single named one. Raises ``UsageError`` for invalid channels or positions,
    ``TestbedError`` when the testbed fails.
    """
    if not channels:
        raise UsageError("survey: name at least one channel")
    for names in (channels, positions):
        if len(set(names)) != len(names):
            raise UsageError(f"survey: {', '.join(str(n) for n in names)}: one is named twice")
    for channel in channels:
        if (channel > 14) != (phy == "802.11a"):
            raise UsageError(f"survey: channel {channel} is not one of {phy}")
    flow = Flow(transport=transport, duration_s=duration_s)
    points: list[SurveyPoint] = []
    samples: list[list[float]] = []
    for position in positions or (HERE,):
        if ask is not None and positions:
            ask(position)
        readings: dict[int, list[tuple[Measured, dict[str, Any]]]] = {c: [] for c in channels}
        for turn in range(rounds):
            for channel in channels:
                if progress is not None:
                    progress(position, channel, turn + 1)
                job = Job(
                    name=f"survey-{len(points)}-{channel}-{turn}",
                    policy="open",
                    stations=("A",),
                    phy=phy,
                    channel=channel,
                    flow=flow,
                    probe=False,
                )
                readings[channel].append(_one(carrier, job))
        for channel in channels:
            point, sample = _point(position, channel, readings[channel])
            points.append(point)
            samples.append(sample)
    return _ranked(points, samples)


def _one(carrier: Carrier, job: Job) -> tuple[Measured, dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="airtoll-survey-") as scratch:
        measured = carrier.carry_out(job, Path(scratch))
        told = Path(scratch) / "outcome.json"
        conditions = json.loads(told.read_text())["conditions"] if told.exists() else {}
    return measured, conditions


def _point(
    position: str, channel: int, readings: Sequence[tuple[Measured, dict[str, Any]]]
) -> tuple[SurveyPoint, list[float]]:
    sample = [
        row.value
        for measured, _ in readings
        for row in measured.rows
        if (row.metric, row.flow, row.station) == ("throughput_bps", None, None)
        and row.second is None
    ]
    frequency = frequency_mhz(channel)
    surveys = [
        row
        for _, told in readings
        for rows in told.get("survey", {}).values()
        for row in rows
        if row.get("frequency_mhz") == frequency
    ]
    levels = [
        value
        for _, told in readings
        for heard in (told.get("radio") or {}).get("after", {}).values()
        if (value := _number(heard.get("RSSI"))) is not None
    ]
    return (
        SurveyPoint(
            position=position,
            channel=channel,
            frequency_mhz=frequency,
            throughput=mean_t(sample, "bit/s"),
            busy_share=_mean(row.get("busy_share") for row in surveys),
            noise_dbm=_mean(row.get("noise_dbm") for row in surveys),
            rssi_dbm=_mean(levels),
            failures=tuple(m.failure for m, _ in readings if m.failure is not None),
        ),
        sample,
    )


def _ranked(points: list[SurveyPoint], samples: list[list[float]]) -> list[SurveyPoint]:
    order = sorted(
        range(len(points)),
        key=lambda i: -points[i].throughput.value if samples[i] else float("inf"),
    )
    if not order or not samples[order[0]]:
        return [evolve(points[i], verdict="not measured") for i in order]
    best, *others = order
    rivals = [i for i in others if len(samples[i]) > 1 and len(samples[best]) > 1]
    tests = holm([compare_samples(samples[i], samples[best], "bit/s") for i in rivals])
    words = {i: shows(test) for i, test in zip(rivals, tests, strict=True)}
    words[best] = "best"
    for i in others:
        words.setdefault(i, "one reading tells nothing" if samples[i] else "not measured")
    return [evolve(points[i], verdict=words[i]) for i in order]


def _mean(values: Any) -> float | None:
    known = [float(value) for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _number(text: Any) -> float | None:
    try:
        return float(text)
    except (TypeError, ValueError):
        return None
