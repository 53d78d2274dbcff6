"""The output of a run in the terminal: question, answer, one table of the answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from airtoll.cli.reporting import print_run
from airtoll.plan import Trial
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

    def warning(self, cell: Any) -> None:
        """No warnings."""

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


def test_question_answer_and_gaps_come_in_that_order(printed):
    lines = printed(
        '"join_all_time_s", "joined_ratio"',
        '{ name = "A" }',
        '"scenario.clients" = [1, 50, 5, 10]',
    )
    assert lines[0] == "How long until every client is on?"
    assert lines[1].startswith("With 50 clients, the time until every client has joined is 50.00 s")
    assert " with Open, and 150.0 s with " in lines[1]
    # Nobody counted the retries of so few joins.
    assert "WEP-104 (no interval: too few trials)" in lines[1]
    assert any("49 of 50 on average" in line for line in lines)
    # In the order of the study, not of the text, and without the factors that do not vary.
    places = [line.split("  ")[0:] for line in lines if line.startswith(("Open ", "WEP-104 "))]
    order = [next(word.strip() for word in row[1:] if word.strip()) for row in places]
    levels = list(dict.fromkeys(name.split(" client")[0] for name in order))
    assert levels == ["1", "50", "5", "10"]
    assert lines[-1] == "Not covered: walls"
    assert not any("throughput" in line for line in lines)


def test_every_named_station_has_its_own_verdict_below_the_total(printed):
    lines = printed('"throughput_bps"', '{ name = "A" }, { name = "fifth" }')
    rows = [line for line in lines if line.startswith("WEP-104 ") and "Mb/s" in line]
    total, first, fifth = rows
    assert " all " in total
    assert "slower" in total
    # (12 + 1)^2 / (2 (12^2 + 1)) = 0.583
    assert "0.583" in total
    assert " A " in first
    assert "faster" in first
    assert " fifth " in fifth
    assert "slower" in fifth


@pytest.mark.parametrize(("levels", "shown"), [(100, 200), (101, 60)])
def test_long_tables_are_cut_with_a_sentence(printed, levels, shown):
    numbers = ", ".join(str(1 + level) for level in range(levels))
    lines = printed('"join_all_time_s"', '{ name = "A" }', f'"scenario.clients" = [{numbers}]')
    table_end = next((i for i, line in enumerate(lines) if line.startswith("times of")), len(lines))
    in_table = [line for line in lines[:table_end] if line.startswith(("Open ", "WEP-104 "))]
    assert len(in_table) == shown
    rest = [line for line in lines[:table_end] if line.startswith("The first ")]
    assert len(rest) == (shown < 2 * levels)
    if rest:
        assert rest[0].startswith("The first 60 of 202 rows; the rest: `airtoll report ")
        assert "--format csv" in rest[0]
        assert "--json" in rest[0]


def test_a_metric_of_several_places_has_a_mean_over_them(printed):
    lines = printed(
        '"joined_ratio"',
        '{ name = "A" }',
        '"scenario.clients" = [50, 100]',
    )
    # The fake testbed lets 49 clients join: 98 % of 50, 49 % of 100, with every policy.
    assert "On average over 2 places it is 73.50 %" in lines[1]
    assert lines[1].endswith("with Open, and 73.50 % with WEP-104.") or "WEP-104" in lines[1]
