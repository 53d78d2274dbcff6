"""The end of a run in the terminal, and its tables by request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from airtoll.cli.reporting import print_run
from airtoll.plan import Trial
from airtoll.report.summary import summarise
from airtoll.report.views import VIEWS
from airtoll.run import run
from airtoll.testbeds.contract import Measured, Row

STUDY = """
[study]
name = "cell"
title = "A cell"
question = "How long until every client is on?"
answers = [{answers}]
leaves_out = ["walls"]
[trials]
repetitions = 5
[scenario.mixed]
phy = "802.11g"
authenticate = true
stations = [{stations}]
[traffic.udp]
transport = "udp"
duration_s = 1
[grid]
policy = ["open", "wep-104"]
{factors}
"""

#: Means by station and policy: the fifth loses what A gains.
MEANS = {
    "A": {"open": 10e6, "wep-104": 12e6},
    "fifth": {"open": 10e6, "wep-104": 1e6},
}


class Planned:
    """Gives normal readings around stated means."""

    name = "planned"
    parallel = True

    def check(self, cell: Any) -> None:
        """Everything runs."""

    def cautions(self, cell: Any) -> tuple[()]:
        return ()

    def expected_s(self, cell: Any) -> float:
        return 0.001

    def measure(self, trial: Trial, captures: Path | None = None) -> Measured:
        rng = np.random.default_rng(trial.seed)
        policy, levels = trial.cell.policy, dict(trial.cell.factors)
        clients = levels.get("scenario.clients")
        if clients:
            slow = 3.0 if policy == "wep-104" else 1.0
            got_on = min(clients, 49)
            rows = [
                Row("join_all_time_s", float(rng.normal(slow * clients, 0.01)), "s"),
                Row("stations_joined", got_on, "1"),
                Row("joined_ratio", got_on / clients, "1"),
            ]
            return Measured(rows=tuple(rows))
        values = {name: float(rng.normal(means[policy], 1e4)) for name, means in MEANS.items()}
        rows = [
            Row("throughput_bps", value, "bit/s", flow=f"{name}-up", station=name)
            for name, value in values.items()
        ]
        return Measured(rows=(Row("throughput_bps", sum(values.values()), "bit/s"), *rows))

    def environment(self) -> dict[str, str]:
        return {}

    def cancel(self) -> None:
        """Nothing to stop."""

    def close(self) -> None:
        """Nothing to close."""


@pytest.fixture
def printed(tmp_path, capsys, monkeypatch):
    def of(answers: str, stations: str, factors: str = "") -> list[str]:
        monkeypatch.setenv("COLUMNS", "200")
        study = tmp_path / "cell.toml"
        study.write_text(STUDY.format(answers=answers, stations=stations, factors=factors))
        result = run(study, testbed=Planned(), out=tmp_path / "run", jobs=1)
        capsys.readouterr()
        print_run(result, json=False)
        return capsys.readouterr().out.splitlines()

    return of


@pytest.fixture
def costs(printed, tmp_path):
    def of(*study: str) -> list[list[str]]:
        printed(*study)
        return list(map(list, VIEWS["costs"](summarise(tmp_path / "run")).rows))

    return of


def test_question_and_answer_come_in_that_order(printed):
    lines = printed(
        '"join_all_time_s", "joined_ratio"',
        '{ name = "A" }',
        '"scenario.clients" = [1, 50, 5, 10]',
    )
    assert lines[0] == "How long until every client is on?"
    assert lines[1].startswith(
        "From an open network to WEP-104, the time until every client has joined rises by 2.0 s "
        "(1 client) to 100 s (50 clients)"
    )
    assert any("49 of 50" in line and "Not every client joined" in line for line in lines)
    assert not any("throughput" in line for line in lines)
    assert len(lines) <= 12


def test_rows_are_in_the_order_of_the_study_not_of_the_text(costs):
    rows = costs('"join_all_time_s"', '{ name = "A" }', '"scenario.clients" = [1, 50, 5, 10]')
    places = list(dict.fromkeys(row[1] for row in rows))
    assert places == ["1 client", "50 clients", "5 clients", "10 clients"]


def test_every_named_station_has_its_own_verdict_below_the_total(costs):
    rows = costs('"throughput_bps"', '{ name = "A" }, { name = "fifth" }')
    total, first, fifth = [row for row in rows if row[0] == "WEP-104"]
    assert total[1] == "all" or total[1] == ""
    assert total[-1] == "falls"
    # (12 + 1)^2 / (2 (12^2 + 1)) = 0.583
    assert "0.583" in total
    assert first[1] == "A"
    assert "rises" in first[-1]
    assert fifth[1] == "fifth"
    assert "falls" in fifth[-1]


def test_places_keep_their_own_values(printed):
    lines = printed('"joined_ratio"', '{ name = "A" }', '"scenario.clients" = [50, 100]')
    # 49 clients join: 98 % of 50 and 49 % of 100, with every policy. No mean over both is told.
    assert "does not change (50 clients and 100 clients)" in lines[1]
    assert not any("73.5" in line for line in lines)


class Uneven(Planned):
    """Of every second trial with WEP one client less joins."""

    def __init__(self) -> None:
        self.trials = 0

    def measure(self, trial: Trial, captures: Path | None = None) -> Measured:
        clients = dict(trial.cell.factors)["scenario.clients"]
        lost = 0
        if trial.cell.policy == "wep-104":
            self.trials += 1
            lost = 10 + self.trials % 2
        return Measured(rows=(Row("joined_ratio", (clients - lost) / clients, "1"),))


def test_clients_that_do_not_always_join_are_a_share(tmp_path, capsys):
    study = tmp_path / "cell.toml"
    text = STUDY.format(
        answers='"joined_ratio"', stations='{ name = "A" }', factors='"scenario.clients" = [30]'
    )
    study.write_text(text)
    result = run(study, testbed=Uneven(), out=tmp_path / "run", jobs=1)
    capsys.readouterr()
    print_run(result, json=False)
    said = capsys.readouterr().out
    # Of five trials three have 11 clients less: a mean of 19.4 of 30.
    assert "the share of clients that join falls by 35" in said
    assert "to 64.7 %" in said
