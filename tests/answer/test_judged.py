"""Verdicts on changes: gains, costs, unnoticed, too few trials."""

from __future__ import annotations

import math

import pytest

from airtoll.analyse import Estimate
from airtoll.analyse.estimate import DETERMINISTIC, EQUAL
from airtoll.answer import Verdict
from airtoll.answer.compared import judge


def change(value: float, half: float, n: int = 10, method: str = "t") -> Estimate:
    return Estimate(value, value - half, value + half, 0.95, n, method, "1")


@pytest.mark.parametrize(
    ("value", "half", "better", "verdict"),
    [
        (-0.05, 0.01, "more", Verdict.COSTS),
        (0.05, 0.01, "more", Verdict.GAINS),
        (-0.05, 0.01, "less", Verdict.GAINS),
        (0.05, 0.01, "less", Verdict.COSTS),
        (0.05, 0.01, "neither", Verdict.CHANGES),
        # Told apart from none, and still nothing that anyone would notice.
        (-0.005, 0.001, "more", Verdict.UNNOTICED),
        (0.0, 0.009, "more", Verdict.UNNOTICED),
        # From nothing to something that would be noticed: undecided.
        (-0.005, 0.008, "more", Verdict.TOO_FEW),
    ],
)
def test_the_interval_and_the_unnoticed_change_decide(value, half, better, verdict):
    assert judge(change(value, half), 0.01, better)[0] is verdict


def test_the_trials_of_a_new_run_follow_from_the_width():
    verdict, fresh = judge(change(-0.002, 0.016, n=20), 0.01, "more")
    assert verdict is Verdict.TOO_FEW
    # Ten trials of each cell, half width 0.016; 0.008 is left: four times as many, and twice that
    # so that the interval of four new runs in five is enough.
    assert fresh == 82


def test_a_model_without_chance_needs_no_interval():
    exact = Estimate(-0.02, math.nan, math.nan, 0.95, 6, DETERMINISTIC, "1")
    assert judge(exact, 0.01, "more") == (Verdict.COSTS, None)
    single = Estimate(-0.02, math.nan, math.nan, 0.95, 2, "spread unknown", "1")
    assert judge(single, 0.01, "more")[0] is Verdict.TOO_FEW


def test_a_small_change_that_is_chance_among_many_is_undecided():
    # It excludes zero alone, and not among all comparisons of its question.
    assert judge(change(0.012, 0.010), 0.01, "more", holds=False)[0] is Verdict.TOO_FEW
    assert judge(change(0.012, 0.010), 0.01, "more", holds=True)[0] is Verdict.GAINS


def test_a_change_that_is_noticed_with_its_whole_interval_needs_no_correction():
    # Rank tests of few trials never pass Holm's at any distance of the times.
    assert judge(change(0.5, 0.1), 0.1, "less", holds=False)[0] is Verdict.COSTS


def test_tied_readings_say_how_many_trials_an_exact_test_needs():
    tied = Estimate(-0.2, math.nan, math.nan, 0.95, 6, f"difference, {EQUAL}", "1")
    # Three against three: 2 of 20 ways are no less likely than 10 %; four against four: 2 of 70.
    assert judge(tied, 0.01, "more") == (Verdict.TOO_FEW, 4)
    single = Estimate(-0.2, math.nan, math.nan, 0.95, 2, f"difference, {EQUAL}", "1")
    assert judge(single, 0.01, "more") == (Verdict.TOO_FEW, 4)
    assert judge(tied, 0.01, "more", is_apart=True) == (Verdict.COSTS, None)


def test_equal_readings_on_both_sides_do_not_change_without_an_interval():
    percentile = Estimate(0.0, math.nan, math.nan, 0.95, 10, "Welch", "s")
    assert judge(percentile, 0.005, "less")[0] is Verdict.TOO_FEW
    assert judge(percentile, 0.005, "less", is_tied=True) == (Verdict.UNNOTICED, None)
