"""Watching a link: every round kept, drift found where there is one."""

from __future__ import annotations

import pytest

from airtoll.analyse.drift import drift
from airtoll.errors import Interrupted, UsageError
from airtoll.run.watch import round_folders, together, watch


def test_rounds_keep_the_interval_and_continue_after_a_stop(small_study, fake, tmp_path):
    now, waits = [0.0], []

    def wait(length: float) -> None:
        waits.append(length)
        now[0] += length
        if len(waits) == 2:
            raise KeyboardInterrupt

    arguments = {
        "every_s": 900.0,
        "rounds": 4,
        "out": tmp_path / "watch",
        "testbed": fake,
        "clock": lambda: now[0],
        "jobs": 1,
    }
    study = small_study()
    with pytest.raises(Interrupted, match="continues"):
        watch(study, wait=wait, **arguments)
    assert waits == [900.0, 900.0]
    assert len(round_folders(tmp_path / "watch")) == 2
    watch(study, wait=lambda _length: None, **arguments)
    assert len(round_folders(tmp_path / "watch")) == 4
    found = {w.cell: w for w in together(tmp_path / "watch")}
    watched = found["home/wpa2-psk-ccmp/udp"]
    assert watched.rounds == 4
    assert watched.overhead.contains(16 * 1e5 / 25e6)


def test_rounds_have_seeds_of_their_own(small_study, fake, tmp_path):
    watch(
        small_study(),
        every_s=0,
        rounds=2,
        out=tmp_path / "w",
        testbed=fake,
        jobs=1,
        wait=lambda _length: None,
    )
    one, two = (p / "observations.parquet" for p in round_folders(tmp_path / "w"))
    assert one.read_bytes() != two.read_bytes()


def test_drift_is_found_and_its_absence_too():
    hours = [0, 1, 2, 3, 4, 5]
    falling = drift(hours, [20e6 - 1e5 * h + 1e3 * (-1) ** h for h in hours], "bit/s")
    assert falling.verdict == "falling"
    assert falling.slope_per_hour.contains(-1e5)
    steady = drift(hours, [20e6 + 1e4 * (-1) ** h for h in hours], "bit/s")
    assert steady.verdict == "no drift detectable"
    assert drift([0, 1], [1, 2], "bit/s").verdict == "too few rounds to tell"
    with pytest.raises(UsageError):
        drift([0], [1, 2], "bit/s")
