"""Trials until a wanted precision: their number, and the coverage of the final interval."""

import numpy as np
import pytest

from airtoll.analyse.overhead import fieller_ends
from airtoll.errors import UsageError
from airtoll.report import page_of
from airtoll.run import open_run, run
from airtoll.run.precision import LEAST_TRIALS, next_repetitions
from airtoll.study import load, shipped


def test_ten_trials_come_first_then_the_interval_decides():
    assert next_repetitions(5, 0.0, 0.01, 1000) == LEAST_TRIALS == 10
    assert next_repetitions(10, 0.009, 0.01, 1000) is None
    assert next_repetitions(10, 0.02, 0.01, 1000) == 20
    assert next_repetitions(16, 0.0101, 0.01, 1000) == 20
    assert next_repetitions(900, 0.02, 0.01, 1000) == 1000
    assert next_repetitions(1000, 0.02, 0.01, 1000) is None


def overhead_ends(a, b):
    """The ends of the overhead's interval for each row: one run, its readings of two cells."""
    n = np.full(len(a), a.shape[1])
    spread = [side.var(axis=1, ddof=1) / n for side in (b, a)]
    low, high = fieller_ends(b.mean(axis=1), a.mean(axis=1), *spread, n, n, 0.95)
    return 1 - high, 1 - low


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


PAPERS = ("agarwal2005", "gheryani2013", "mccarter2006", "tepsic2014", "tripathi2008")


def study_with_precision(small_study, precision: float, most: int = 1000):
    return small_study(trials=f"until_precision = {precision}\nmost_trials = {most}")


def test_a_study_states_its_precision(tmp_path, small_study, fake):
    path = study_with_precision(small_study, 0.9)
    done = run(path, testbed=fake(), out=tmp_path / "run", jobs=1)
    assert done.folder.manifest()["repetitions"] == LEAST_TRIALS
    page = page_of(done.path)
    assert "an interval of at most ± 90 points" in page


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
