"""A survey over a carrier whose channels are known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from airtoll.errors import UsageError
from airtoll.run.survey import HERE, survey
from airtoll.testbeds.contract import Measured, Row
from airtoll.testbeds.linux.job import Job


class Known:
    """Channel 6 is busy; channel 11's trials fail; the window is better than the shelf."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self.place = HERE

    def go(self, position: str) -> None:
        self.place = position

    def carry_out(self, job: Job, captures: Path | None = None) -> Measured:
        self.jobs.append(job)
        if job.channel == 11:
            return Measured(failure="A: no AP was found")
        assert captures is not None
        busy = 0.6 if job.channel == 6 else 0.1
        heard = {"after": {"A": {"RSSI": "-50", "NOISE": "9999"}}}
        rows = [
            {"frequency_mhz": 2412, "busy_share": 0.1, "noise_dbm": -95.0},
            {"frequency_mhz": 2437, "busy_share": 0.6},
        ]
        told = {"conditions": {"survey": {"ap1": rows}, "radio": heard}}
        (captures / "outcome.json").write_text(json.dumps(told))
        rate = (1 - busy) * (30e6 if self.place == "window" else 20e6) + 1e4 * len(self.jobs)
        return Measured(
            rows=(
                Row("throughput_bps", rate, "bit/s"),
                Row("throughput_bps", rate, "bit/s", "A", "A"),
            )
        )


def test_ranks_and_compares_with_the_best() -> None:
    points = survey(Known(), (6, 1), rounds=4)
    assert [point.channel for point in points] == [1, 6]
    best, busy = points
    assert best.verdict == "best"
    assert busy.verdict == "falls"
    assert (best.frequency_mhz, best.noise_dbm, best.rssi_dbm) == (2412, -95.0, -50.0)
    assert best.busy_share == pytest.approx(0.1)
    assert busy.busy_share == pytest.approx(0.6)
    assert busy.noise_dbm is None
    assert best.throughput.n == 4


def test_channels_take_turns_within_a_position() -> None:
    carrier, asked = Known(), []

    def ask(position: str) -> None:
        asked.append((position, len(carrier.jobs)))
        carrier.go(position)

    points = survey(carrier, (1, 6), positions=("shelf", "window"), rounds=2, ask=ask)
    assert asked == [("shelf", 0), ("window", 4)]
    assert [job.channel for job in carrier.jobs] == [1, 6, 1, 6] * 2
    assert (points[0].position, points[0].channel) == ("window", 1)
    assert len({job.name for job in carrier.jobs}) == 8


def test_what_failed_comes_last_and_says_why() -> None:
    points = survey(Known(), (11, 1), rounds=2)
    assert [point.channel for point in points] == [1, 11]
    assert points[1].verdict == "not measured"
    assert points[1].failures == ("A: no AP was found",) * 2
    assert survey(Known(), (11,), rounds=1)[0].verdict == "not measured"
    assert survey(Known(), (6, 1), rounds=1)[1].verdict == "one reading tells nothing"


@pytest.mark.parametrize(
    ("channels", "phy", "words"),
    [((), "802.11g", "at least one"), ((1, 1), "802.11g", "twice"), ((36,), "802.11g", "not one")],
)
def test_invalid_arguments_are_refused(channels: tuple[int, ...], phy: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        survey(Known(), channels, phy=phy)
