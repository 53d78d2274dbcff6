"""The log of a laboratory and the report of a day."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from airtoll.errors import StorageError
from airtoll.testbeds.lab import daily, opening
from airtoll.testbeds.lab.logbook import Logbook
from airtoll.testbeds.lab.rehearsal.person import Person
from airtoll.testbeds.lab.rehearsal.router import Router

from .bench import lab, plan, secret


def test_a_day_has_counts_spans_and_reasons() -> None:
    at = "2026-11-26T08:00:00+00:00"
    events = [
        {"at": at, "event": "set"},
        {"at": at, "event": "trial", "failure": None, "noise_dbm": -95, "busy_by_others": 0.1,
         "clock_s": {"laptop": 0.002}, "temperature_c": {"laptop": 51.0}},
        {"at": at, "event": "trial", "failure": None, "noise_dbm": -90, "busy_by_others": 0.35,
         "clock_s": {"laptop": None}, "temperature_c": {"laptop": 64.0}},
        {"at": at, "event": "trial", "failure": "A: no link", "noise_dbm": None},
        {"at": at, "event": "trouble", "why": "laptop: no route to host"},
        {"at": "2026-11-27T00:00:01+00:00", "event": "trial", "failure": None},
    ]  # fmt: skip
    text = daily.report("bench", "2026-11-26", events)
    assert text.splitlines() == [
        "laboratory bench, 2026-11-26 (UTC)",
        "trials: 2 measured, 1 failed",
        "access point: set 1 times, another setting found 0 times",
        "stations moved: 0 times; left out: 0 trials",
        "channel taken by others: 10 to 35%",
        "noise: -95 to -90 dBm",
        "laptop: clocks differ by: 2 to 2 ms",
        "laptop: temperature: 51 to 64 C",
        "failures, 1 times: A: no link",
        "trouble, 1 times: laptop: no route to host",
    ]


def test_a_day_that_is_over_is_reported_once(tmp_path: Path) -> None:
    file = tmp_path / "bench.toml"
    day = ["2026-11-26"]

    def log() -> Logbook:
        return Logbook(file, lambda: f"{day[0]}T10:00:00+00:00")

    of = plan("open")
    person = Person(Router())
    campaign = opening.rehearsed(lab(), person, secret=secret(), logbook=log())
    campaign.measure(of.trial(of.cells[0], 1, 1))
    assert not list(tmp_path.glob("*.report-*"))
    campaign.close()
    assert "trials: 1 measured" in (tmp_path / "bench.report-2026-11-26.txt").read_text()
    day[0] = "2026-11-27"
    (tmp_path / "bench.report-2026-11-26.txt").unlink()
    again = opening.rehearsed(lab(), person, secret=secret(), logbook=log())
    again.measure(of.trial(of.cells[0], 2, 1))
    assert [path.name for path in tmp_path.glob("*.report-*")] == ["bench.report-2026-11-26.txt"]


def test_half_a_line_of_a_killed_run_is_no_event_and_spoils_none(tmp_path: Path) -> None:
    file = tmp_path / "bench.toml"
    Logbook(file).add("set", policy="open")
    path = tmp_path / "bench.log.jsonl"
    path.write_text(path.read_text() + '{"at": "2026-11-2')
    log = Logbook(file)
    log.add("moved", places={})
    assert [event["event"] for event in log.read()] == ["set", "moved"]
    assert json.loads(path.read_text().splitlines()[-1])["event"] == "moved"


def test_a_log_that_cannot_be_written_keeps_the_trial_and_ends_the_run(tmp_path: Path) -> None:
    class Full(Logbook):
        full = False

        def add(self, event: str, **values: object) -> None:
            if self.full and event == "trial":
                raise StorageError("bench.log.jsonl: No space left on device")
            super().add(event, **values)

    log = Full(tmp_path / "bench.toml")
    of = plan("open")
    campaign = opening.rehearsed(lab(), Person(Router()), secret=secret(), logbook=log)
    log.full = True
    measured = campaign.measure(of.trial(of.cells[0], 1, 1))
    assert measured.failure is None
    assert measured.rows
    with pytest.raises(StorageError, match="No space left"):
        campaign.measure(of.trial(of.cells[0], 2, 1))
