"""Common random numbers: equal seeds under every policy, paired tests, fewer trials."""

import importlib
import json
import sys
from pathlib import Path

import pytest

from airtoll.errors import StudyError
from airtoll.plan import make_plan
from airtoll.report.summary import summarise
from airtoll.run import check, prepare, run

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))
common = importlib.import_module("common_numbers")


def seeds(pairing):
    plan = make_plan(prepare("quickstart", values={"trials.pairing": pairing}).study)
    found: dict[tuple[str, int], set[int]] = {}
    for trial in plan.trials():
        found.setdefault((trial.cell.place, trial.number), set()).add(trial.seed)
    return found


def test_policies_of_one_place_share_their_seeds_only_when_asked():
    assert all(len(own) == 1 for own in seeds("common").values())
    assert all(len(own) == 3 for own in seeds("independent").values())
    numbers = [next(iter(own)) for own in seeds("common").values()]
    assert len(set(numbers)) == len(numbers)


def test_common_numbers_are_compared_in_pairs_and_save_trials(tmp_path):
    values = {"traffic.udp.duration_s": 0.5, "grid.traffic": ["udp"]}
    half = {}
    for pairing in ("independent", "common"):
        done = run(
            "quickstart",
            out=tmp_path / pairing,
            trials=10,
            values={**values, "trials.pairing": pairing},
        )
        analysis = summarise(done.path).analysis
        assert analysis.paired is (pairing == "common")
        found = analysis.overheads.row(0, named=True)
        half[pairing] = (found["high"] - found["low"]) / 2
    # An interval half as wide takes a quarter of the trials.
    assert (half["independent"] / half["common"]) ** 2 > 10


def test_real_radios_have_no_common_numbers():
    with pytest.raises(StudyError, match="is for the simulator"):
        check("quickstart", on="linux", values={"trials.pairing": "common"})


def test_the_page_shows_the_recorded_gains():
    result = json.loads((BENCHMARKS / "results" / "common_numbers.json").read_text())
    assert common.table(result) in (BENCHMARKS.parent / "docs" / "statistics.md").read_text()
