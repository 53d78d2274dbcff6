"""The recorded coverage of every interval, and a short run of the suite."""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))
coverage = importlib.import_module("coverage_suite")
RECORDED = json.loads((BENCHMARKS / "results" / "coverage.json").read_text())


@pytest.mark.parametrize("name", coverage.LINES)
def test_recorded_coverage_is_within_its_bounds(name):
    entry = RECORDED["lines"][name]
    assert RECORDED["runs"] == 2000
    if entry["kind"] == "interval":
        assert 0.93 <= entry["is"] <= 0.97
    elif entry["kind"] == "conservative":
        assert 0.93 <= entry["is"] < 1
    elif entry["kind"] == "exact":
        # Two standard errors of 2,000 runs and some.
        assert entry["is"] == pytest.approx(entry["nominal"], abs=0.013)
    elif entry["kind"] == "none":
        assert entry["is"] == 0
    else:
        assert entry["is"] <= 0.06


def test_the_page_shows_the_recorded_table():
    page = (BENCHMARKS.parent / "docs" / "statistics.md").read_text()
    assert coverage.table(RECORDED) in page


@pytest.mark.parametrize("share", ["0.5", "1", "2"])
def test_a_run_until_a_precision_covers_94_to_96_percent(share):
    entry = RECORDED["lines"][f"overhead until {share} %"]
    assert entry["runs"] == 40_000
    assert 0.94 <= entry["is"] <= 0.96


@pytest.mark.parametrize(
    "name",
    [
        "mean with closest 5 of 20",
        "overhead in pairs, drift of 5 %, n = 10",
        "shift of two times, retries 5 %, n = 20",
        "median time, retries 5 %, n = 20",
    ],
)
def test_a_short_run_agrees(name):
    nominal, line, _ = coverage.LINES[name]
    assert line(np.random.default_rng(5), 400) == pytest.approx(nominal, abs=0.04)
