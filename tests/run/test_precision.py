"""Trials until a wanted precision: their number, and the coverage of the final interval."""

import importlib
import json
import random
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

from airtoll.analyse.overhead import fieller_ends
from airtoll.analyse.precision import LEAST_TRIALS, Known, forecast
from airtoll.cli.progress import words_of
from airtoll.errors import UsageError
from airtoll.report import page_of
from airtoll.report.summary import summarise
from airtoll.report.write import command_of
from airtoll.run import open_run, run
from airtoll.run.precision import look, next_repetitions
from airtoll.study import load, shipped
from airtoll.testbeds.contract import Measured, Row


def test_ten_trials_come_first_then_the_interval_decides():
    assert next_repetitions(5, 0.0, 0.01, 1000) == LEAST_TRIALS == 10
    assert next_repetitions(10, 0.009, 0.01, 1000) is None
    assert next_repetitions(10, 0.02, 0.01, 1000) == 20
    assert next_repetitions(16, 0.0101, 0.01, 1000) == 20
    assert next_repetitions(900, 0.02, 0.01, 1000) == 1000
    assert next_repetitions(1000, 0.02, 0.01, 1000) is None


TRIALS = dict.fromkeys(("open", "cheap", "noisy", "alone"), 10)
KNOWN = (Known("cheap", "open", 0.004), Known("noisy", "open", 0.02))


def test_a_cell_that_is_too_wide_goes_on_with_its_reference_alone():
    assert look(KNOWN, TRIALS, 0.01, 1000, {}).on == {"open": 20, "noisy": 20}
    assert look(KNOWN, TRIALS, 0.005, 1000, {}).on == {"open": 20, "noisy": 20}
    assert look(KNOWN, TRIALS, 0.02, 1000, {}).on == {}


def test_cells_that_are_compared_in_pairs_go_on_together():
    together = {"open": "here", "cheap": "here", "noisy": "here", "alone": "there"}
    on = look(KNOWN, TRIALS, 0.01, 1000, together).on
    assert on == {"open": 20, "cheap": 20, "noisy": 20}


def test_all_cells_have_ten_trials_first():
    few = dict.fromkeys(TRIALS, 5)
    assert look(KNOWN, few, 0.01, 1000, {}).on == dict.fromkeys(TRIALS, 10)
    assert look((), few, 0.01, 1000, {}).on == {}, "no overhead to know"


def test_a_forecast_follows_from_the_spread_so_far():
    assert forecast(10, 0.02, 0.01) == 40
    assert forecast(10, 0.001, 0.01) == LEAST_TRIALS
    assert forecast(10, float("inf"), 0.01) is None
    assert look(KNOWN, TRIALS, 0.01, 1000, {}).needs(KNOWN[1]) == 40


def overhead_ends(a, b):
    """The ends of the overhead's interval for each row: one run, its readings of two cells."""
    n = np.full(len(a), a.shape[1])
    spread = [side.var(axis=1, ddof=1) / n for side in (b, a)]
    low, high = fieller_ends(b.mean(axis=1), a.mean(axis=1), *spread, n, n, 0.95)
    return 1 - high, 1 - low


@pytest.mark.thorough
@pytest.mark.parametrize("precision", [0.005, 0.01, 0.02])
def test_the_interval_at_the_end_covers_94_to_96_percent(precision):
    """4,000 runs of two cells whose readings vary by 2 %; the true overhead is 5 %."""
    rng = np.random.default_rng(int(1e4 * precision))
    runs, least = 4000, 5
    hits = ended = 0
    # Number of trials -> the readings of the runs that have so many, those of a run in a row.
    waiting = {
        least: [[rng.normal(1.0, 0.02, (runs, least)), rng.normal(0.95, 0.019, (runs, least))]]
    }
    while waiting:
        n = min(waiting)
        a, b = (np.concatenate(side) for side in zip(*waiting.pop(n), strict=True))
        low, high = overhead_ends(a, b)
        wanted = np.array(
            [next_repetitions(n, half, precision, 10_000) or 0 for half in (high - low) / 2]
        )
        assert n >= LEAST_TRIALS or (wanted > 0).all()
        ends = wanted == 0
        hits += ((low <= 0.05) & (high >= 0.05))[ends].sum()
        ended += ends.sum()
        for more in set(wanted[~ends]):
            rows = wanted == more
            new = (rows.sum(), more - n)
            waiting.setdefault(more, []).append(
                [
                    np.hstack([a[rows], rng.normal(1.0, 0.02, new)]),
                    np.hstack([b[rows], rng.normal(0.95, 0.019, new)]),
                ]
            )
    assert ended == runs
    assert 0.94 <= hits / runs <= 0.96


def test_a_run_until_precision_has_ten_trials(tmp_path):
    done = run(
        "quickstart",
        out=tmp_path / "run",
        trials=2,
        until_precision=0.9,
        values={"traffic.udp.duration_s": 0.05, "traffic.tcp.duration_s": 0.05},
    )
    assert open_run(done.path).trials()["trial"].max() == LEAST_TRIALS


def test_fewer_than_ten_trials_at_most_are_refused(tmp_path):
    with pytest.raises(UsageError, match="at least 10"):
        run("quickstart", out=tmp_path / "run", until_precision=0.9, most_trials=5)


def counts(done):
    frame = done.trials().group_by("policy", "traffic").len()
    return {(str(p), str(t)): n for p, t, n in frame.iter_rows()}


@pytest.fixture
def uneven(fake):
    """A testbed whose readings vary by 2 % over TCP, and 25 times less over UDP."""

    class Uneven(fake):
        name = "simulator"

        def measure(self, trial, captures=None):
            draw = random.Random(trial.seed)
            self.measured.append(trial.key)
            spread = 5e5 if trial.cell.traffic == "tcp" else 2e4
            value = 25e6 - 1e5 * trial.cell.security.octets_per_mpdu + draw.gauss(0, spread)
            return Measured(rows=(Row("throughput_bps", value, "bit/s"),))

    return Uneven


def test_only_the_cells_that_need_it_go_on(small_study, uneven, tmp_path):
    looks = []
    done = run(
        small_study(policies=', "wep-104"'),
        testbed=uneven(),
        out=tmp_path / "run",
        until_precision=0.01,
        jobs=1,
        on_look=looks.append,
    )
    found = counts(done)
    assert {n for (_, traffic), n in found.items() if traffic == "udp"} == {LEAST_TRIALS}
    assert all(n > LEAST_TRIALS for (_, traffic), n in found.items() if traffic == "tcp")
    assert max(found.values()) == found["open", "tcp"], "the reference has most"
    assert not looks[-1].wide
    assert not looks[-1].on
    first = looks[1]
    assert "4 overheads wider than ± 1 %" in words_of(first)
    assert "3 of 6 cells go on" in words_of(first)
    assert "forecast from the spread so far: about" in words_of(first)
    assert "all of 4 overheads known within ± 1 %" in words_of(looks[-1])
    assert f"{done.folder.plan().repetitions_words} trials each" in page_of(done.path)


def test_pairs_of_common_random_numbers_stay_complete(small_study, uneven, tmp_path):
    done = run(
        small_study('pairing = "common"', policies=', "wep-104"'),
        testbed=uneven(),
        out=tmp_path / "run",
        until_precision=1e-5,
        most_trials=16,
        jobs=1,
    )
    trials = done.trials()
    for (_, _), own in trials.group_by("traffic", "trial"):
        assert own.height == 3
        assert own["seed"].n_unique() == 1


def test_the_end_says_which_overheads_are_wider(small_study, uneven, tmp_path):
    looks = []
    run(
        small_study(),
        testbed=uneven(),
        out=tmp_path / "run",
        until_precision=1e-4,
        most_trials=12,
        jobs=1,
        on_look=looks.append,
    )
    said = words_of(looks[-1])
    assert said.startswith(
        "12 trials per cell: 2 of 2 overheads wider than ± 0.01 %, the widest ± "
    )
    assert said.endswith("trials there; --most-trials ends it")


def test_the_command_that_repeats_a_run_names_the_rule(small_study, uneven, tmp_path):
    path = small_study()
    done = run(path, testbed=uneven(), out=tmp_path / "run", until_precision=0.01, jobs=1)
    words = shlex.split(command_of(summarise(done.path)))
    assert words[-2:] == ["--until-precision", "0.01"]
    assert "--trials" not in words


BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))
stopping = importlib.import_module("stopping")


@pytest.mark.thorough
@pytest.mark.parametrize("paired", [False, True])
def test_intervals_of_cells_that_go_on_by_themselves_hold_the_truth(paired):
    rng = np.random.default_rng(7)
    hits = [stopping.until_precise(rng, 0.02, paired)[0] for _ in range(600)]
    assert 0.93 <= np.mean(hits) <= 0.97


def test_to_go_on_until_a_difference_shows_finds_one_where_there_is_none():
    rng = np.random.default_rng(7)
    assert np.mean([stopping.until_it_shows(rng, 50) for _ in range(400)]) > 0.12
    new = [one for _ in range(400) if (one := stopping.by_a_new_run(rng)) is not None]
    assert np.mean(new) < 0.08


def test_the_page_shows_the_recorded_coverage():
    result = json.loads((BENCHMARKS / "results" / "stopping.json").read_text())
    assert stopping.table(result) in (BENCHMARKS.parent / "docs" / "statistics.md").read_text()


PAPERS = ("agarwal2005", "gheryani2013", "mccarter2006", "tepsic2014", "tripathi2008")


def study_with_precision(small_study, precision: float, most: int = 1000):
    return small_study(trials=f"until_precision = {precision}\nmost_trials = {most}")


def test_a_study_states_its_precision(tmp_path, small_study, fake):
    path = study_with_precision(small_study, 0.9)
    done = run(path, testbed=fake(), out=tmp_path / "run", jobs=1)
    assert done.folder.manifest()["repetitions"] == LEAST_TRIALS
    page = page_of(done.path)
    assert "wider than ± 90 points, which 2 of 2 reach" in page


def test_trials_of_the_user_switch_the_studys_precision_off(tmp_path, small_study, fake):
    path = study_with_precision(small_study, 1e-9)
    done = run(path, testbed=fake(), out=tmp_path / "run", trials=3, jobs=1)
    assert done.folder.manifest()["repetitions"] == 3
    assert "points)" not in page_of(done.path)
    resumed = run(path, testbed=fake(), out=tmp_path / "run", resume=True, jobs=1)
    assert resumed.folder.manifest()["repetitions"] == 3


def test_a_study_has_a_cap(tmp_path, small_study, fake):
    path = study_with_precision(small_study, 1e-9, 14)
    done = run(path, testbed=fake(), out=tmp_path / "run", jobs=1)
    assert done.folder.manifest()["repetitions"] == 14


def test_studies_of_papers_have_the_papers_number_of_trials():
    for name in shipped():
        trials = load(name).study.trials
        if name.startswith(PAPERS):
            assert trials.until_precision is None, name
    assert load("quickstart").study.trials.until_precision == 0.005
