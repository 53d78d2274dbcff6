"""``airtoll plan``: trials for a difference, and for the width of an interval."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from airtoll.analyse.power import Spread, corrected
from airtoll.analyse.student import t_quantile
from airtoll.cli import planning
from airtoll.run import run

VALUES = {"grid.traffic": ["tcp"], "traffic.tcp.duration_s": 0.1}


@pytest.fixture(scope="module")
def pilot(tmp_path_factory):
    place = tmp_path_factory.mktemp("plan") / "pilot"
    return run("quickstart", out=place, trials=8, values=VALUES).path


def planned(airtoll, pilot, *more):
    done = airtoll("plan", "quickstart", "--pilot", str(pilot), "--json", *more)
    return json.loads(done.stdout), done.stderr


def test_a_width_half_as_large_takes_four_times_the_trials(airtoll, pilot):
    wide, _ = planned(airtoll, pilot, "--within", "0.4%")
    narrow, _ = planned(airtoll, pilot, "--within", "0.1%")
    assert len(wide) == 2
    for one, four in zip(wide, narrow, strict=True):
        assert one["pilot_trials"] == 8
        assert 8 < four["trials_needed"] / one["trials_needed"] < 18 or one["trials_needed"] < 10


def test_a_planned_width_is_reached(airtoll, pilot, tmp_path):
    rows, _ = planned(airtoll, pilot, "--within", "0.3%", "--power", "0.95")
    most = max(row["trials_needed"] for row in rows)
    done = run("quickstart", out=tmp_path / "run", trials=most, seed=2, values=VALUES)
    for row in done.analysis().overheads.iter_rows(named=True):
        assert (row["high"] - row["low"]) / 2 <= 0.0045


def test_more_comparisons_take_more_trials_and_are_named(airtoll, pilot):
    one, said = planned(airtoll, pilot, "--detect", "0.2%")
    ten, of_ten = planned(airtoll, pilot, "--detect", "0.2%", "--comparisons", "10")
    assert "--comparisons 2 plans for these" in said
    assert "each at level 99.5 % (Bonferroni; Holm's correction needs no more)" in of_ten
    for alone, among in zip(one, ten, strict=True):
        assert among["trials_needed"] > 1.3 * alone["trials_needed"]


def test_a_fraction_is_said_in_percent(airtoll, pilot):
    _, said = planned(airtoll, pilot, "--within", "0.1")
    assert "± 10 %: intervals of " in said


@pytest.mark.parametrize("words", [("--within", "200%"), ("--detect", "foo")])
def test_a_share_that_is_none_is_refused_before_a_pilot_runs(airtoll, monkeypatch, words):
    def never(*_, **__):
        raise AssertionError("a pilot ran")

    monkeypatch.setattr(planning, "run_study", never)
    done = airtoll("plan", "quickstart", *words)
    assert done.returncode == 2
    assert f"{' '.join(words)}: write a share such as 0.5% or 0.005" in done.stderr


def test_a_pilot_of_another_study_is_refused(airtoll, pilot):
    done = airtoll("plan", "mccarter2006", "--detect", "1%", "--pilot", str(pilot))
    assert done.returncode == 2
    assert "a run of quickstart that has no cell of mccarter2006; name a run" in done.stderr


@pytest.mark.parametrize("words", [(), ("--detect", "1%", "--within", "1%")])
def test_one_of_both_is_wanted(airtoll, words):
    assert "name one of them" in airtoll("plan", "quickstart", *words).stderr


@pytest.mark.parametrize("trials", [4, 8, 30])
def test_the_uncertainty_of_a_pilot_is_that_of_its_deviation(trials):
    rng = np.random.default_rng(3)
    deviations = np.sqrt(rng.normal(0, 1, (20_000, 2, trials)).var(axis=2, ddof=1).mean(axis=1))
    times = Spread(1.0, trials, paired=False).uncertainty
    assert np.mean(1 / deviations > times) == pytest.approx(0.025, abs=0.005)


@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
def test_an_interval_is_as_narrow_as_planned_with_the_stated_probability(power):
    """Known spread: of many runs of the planned size, that share is narrow enough."""
    spread = Spread(math.sqrt(2), 10, paired=False)
    wanted = 0.5
    n = spread.trials_within(wanted, 0.95, power)
    rng = np.random.default_rng(4)
    errors = np.sqrt(rng.normal(0, 1, (20_000, 2, n)).var(axis=2, ddof=1).sum(axis=1) / n)
    share = np.mean(t_quantile(0.95, 2 * n - 2) * errors <= wanted)
    assert power - 0.02 <= share <= power + 0.12
    assert spread.trials_within(1e-9, 0.95, power) is None


def test_bonferroni_divides_the_error():
    assert corrected(0.95, 1) == 0.95
    assert corrected(0.95, 10) == pytest.approx(0.995)


def test_a_study_with_a_precision_has_the_trials_that_its_run_will_have(airtoll, pilot, tmp_path):
    rows, said = planned(airtoll, pilot, "--within", "0.1%")
    assert "until_precision = 0.5 %: a run has 10 trials of each cell, then goes on" in said
    spread = {row["cell"]: row for row in rows}
    for row in spread.values():
        assert row["trials_planned"] >= 10
        # The run goes on until it is that narrow.
        assert row["half_width_when_run_as_planned"] <= 0.005
    text = airtoll("plan", "quickstart", "--pilot", str(pilot), "--within", "0.1%").stdout
    assert {"run", "which"} <= set(text.partition("home/")[0].split())
    assert "planned" not in text


def test_a_study_with_a_number_of_trials_is_planned_for_this_number(airtoll, tmp_path):
    study = tmp_path / "fixed.toml"
    study.write_text(
        '[study]\nname = "fixed"\ntitle = "t"\n[trials]\nrepetitions = 4\n[scenario.s]\n'
        '[traffic.t]\ntransport = "tcp"\nduration_s = 0.1\n[grid]\npolicy = ["open", "wep-104"]\n'
    )
    done = airtoll("plan", str(study), "--within", "1%")
    assert "planned  planned gives" in done.stdout
    assert "until_precision" not in done.stderr
    rows = json.loads(airtoll("plan", str(study), "--within", "1%", "--json").stdout)
    assert [row["trials_planned"] for row in rows] == [4]


@pytest.mark.parametrize(
    ("half", "forecast"),
    [(0.002, 10), (0.02, 141), (0.5, 1000)],
)
def test_the_forecast_of_a_run_lies_between_its_first_look_and_its_most(half, forecast):
    course = planning.Course(first=10, precision=0.005, most=1000)
    assert course.trials(Spread.of(half, 10, paired=False), 0.95) == pytest.approx(
        forecast, rel=0.1
    )
    assert course.trials(None, 0.95) == 10
    assert course.half_width(1000, 0.02) == 0.02
    assert course.half_width(165, 0.0052) == 0.005
