"""Control variates: unbiased means, narrower intervals, and readings that stay as they are."""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from airtoll.analyse import analyse
from airtoll.analyse.control import CONTROL, FEWEST, METHOD, controlled
from airtoll.errors import StudyError
from airtoll.run import prepare

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))
suite = importlib.import_module("coverage_suite")
variates = importlib.import_module("control_variates")
BY = ["cell", "scenario", "policy", "traffic", "factors", "flow", "station", "metric", "unit"]


def readings(values, control):
    rows = suite.observations({"open": values}, "throughput_bps", "bit/s")
    return pl.concat([rows, suite.observations({"open": control}, CONTROL, "1")])


def test_a_reading_that_the_control_explains_is_the_mean():
    control = np.random.default_rng(1).normal(0, 1, (3, FEWEST))
    rows, cells = controlled(readings(5.0 - 2.0 * control, control), BY)
    assert cells.height == 3
    assert rows.height == 3 * FEWEST
    np.testing.assert_allclose(rows["value"].to_numpy(), 5.0, rtol=1e-12)


def test_the_slope_of_a_trial_is_that_of_the_others():
    rng = np.random.default_rng(2)
    control, own = rng.normal(0, 1, (1, 12)), rng.normal(0, 1, (1, 12))
    values = 7 + 0.5 * control + own
    rows, _ = controlled(readings(values, control), BY)
    for at, value in enumerate(rows.sort("trial")["value"]):
        others = np.arange(12) != at
        slope = np.polyfit(control[0, others], values[0, others], 1)[0]
        assert value == pytest.approx(values[0, at] - slope * control[0, at], rel=1e-9)


@pytest.mark.parametrize("why", ["few", "missing", "constant"])
def test_readings_stay_without_a_usable_control(why):
    n = FEWEST - 1 if why == "few" else FEWEST
    rng = np.random.default_rng(3)
    control = np.zeros((1, n)) if why == "constant" else rng.normal(0, 1, (1, n))
    values = rng.normal(5, 1, (1, n))
    rows = readings(values, control)
    if why == "missing":
        rows = rows.filter((pl.col("metric") != CONTROL) | (pl.col("trial") != 2))
    found, cells = controlled(rows, BY)
    assert cells.is_empty()
    np.testing.assert_array_equal(found.sort("trial")["value"].to_numpy(), values[0])


def test_the_analysis_says_so_and_compares_no_control():
    rng = np.random.default_rng(4)
    control = {name: rng.normal(0, 1, (1, 10)) for name in ("open", "wep-40")}
    values = {"open": 1e7 - 1e5 * control["open"], "wep-40": 0.95e7 - 1e5 * control["wep-40"]}
    own = rng.normal(0, 1e3, (2, 1, 10))
    values = {name: value + noise for (name, value), noise in zip(values.items(), own, strict=True)}
    rows = pl.concat(
        [
            suite.observations(values, "throughput_bps", "bit/s"),
            suite.observations(control, CONTROL, "1"),
        ]
    )
    plain = analyse(rows.filter(pl.col("metric") != CONTROL))
    found = analyse(rows)
    assert set(found.comparisons["metric"]) == {"throughput_bps"}
    assert set(found.estimates["method"]) == {"mean, t" + METHOD}
    width = [(a.overheads["high"] - a.overheads["low"])[0] for a in (plain, found)]
    assert width[1] < width[0] / 20
    assert found.overheads["low"][0] < 0.05 < found.overheads["high"][0]


def test_a_rule_by_values_excludes_a_control():
    values = {
        "trials.control": "backoff",
        "trials.select": {"rule": "closest_to_mean", "keep": 5},
    }
    with pytest.raises(StudyError, match="exclude each other"):
        prepare("quickstart", values=values)


def test_a_control_saves_trials_of_the_simulator(tmp_path):
    from airtoll.report.summary import summarise
    from airtoll.run import run

    half = {}
    for control in ("none", "backoff"):
        values = {
            "traffic.udp.duration_s": 0.5,
            "grid.traffic": ["udp"],
            "trials.control": control,
        }
        done = run("quickstart", out=tmp_path / control, trials=FEWEST, values=values)
        metrics = set(done.observations()["metric"])
        assert (CONTROL in metrics) == (control == "backoff")
        found = summarise(done.path).analysis.overheads.row(0, named=True)
        half[control] = (found["high"] - found["low"]) / 2
    assert (half["none"] / half["backoff"]) ** 2 > 10


def test_the_page_shows_the_recorded_gains():
    result = json.loads((BENCHMARKS / "results" / "control_variates.json").read_text())
    assert variates.table(result) in (BENCHMARKS.parent / "docs" / "statistics.md").read_text()
