"""Times with rare retries: medians, shares of retries, means, and their comparison."""

import numpy as np
import polars as pl
import pytest

from airtoll.analyse import analyse
from airtoll.analyse.estimate import median_ranks
from airtoll.analyse.join_times import bca_of_means, shifts
from airtoll.analyse.shares import wilson


def test_median_ranks_are_the_binomial_ones():
    from scipy import stats

    assert median_ranks(5, 0.95) is None
    assert median_ranks(6, 0.95) == (1, 6, pytest.approx(1 - 2 / 64))
    for n in (9, 17, 40):
        low, high, coverage = median_ranks(n, 0.95)
        assert coverage == pytest.approx(1 - 2 * stats.binom.cdf(low - 1, n, 0.5))
        assert coverage >= 0.95 > 1 - 2 * stats.binom.cdf(low, n, 0.5)
        assert high == n + 1 - low
    assert median_ranks(10, 0.95)[2] == pytest.approx(0.979, abs=5e-4)


def test_wilson_is_that_of_scipy():
    from scipy import stats

    low, high = wilson([0, 3, 20], [20, 20, 20], 0.95)
    for k, lo, hi in zip((0, 3, 20), low, high, strict=True):
        assert (lo, hi) == pytest.approx(
            tuple(stats.binomtest(k, 20).proportion_ci(method="wilson")), abs=1e-12
        )


def test_bca_of_many_means_is_that_of_scipy():
    from scipy import stats

    data = np.random.default_rng(1).lognormal(0, 1, (3, 25))
    low, high = bca_of_means(data, 0.95)
    for x, lo, hi in zip(data, low, high, strict=True):
        theirs = stats.bootstrap(
            (x,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(3)
        ).confidence_interval
        assert (lo, hi) == pytest.approx(tuple(theirs), rel=0.04)


def test_shift_interval_is_exact():
    from scipy import stats

    rng = np.random.default_rng(2)
    first, second = rng.normal(0, 1, (4000, 6)), rng.normal(0.5, 1, (4000, 7))
    value, low, high, p = shifts(first, second, 0.95)
    assert np.median(value) == pytest.approx(0.5, abs=0.03)
    assert 0.945 < np.mean((low <= 0.5) & (high >= 0.5)) < 0.98
    assert p[0] == pytest.approx(stats.mannwhitneyu(second[0], first[0]).pvalue)
    # Four readings a side are the fewest with a 95 % interval.
    assert np.isnan(shifts(first[:1, :3], second[:1, :4], 0.95)[1][0])
    assert np.isfinite(shifts(first[:1, :4], second[:1, :4], 0.95)[1][0])


def joins(rng, n, share, usual=0.010, retry=1.0):
    """Negotiation times and message counts of n joins of which a share are retried."""
    slow = rng.random(n) < share
    return usual + rng.exponential(1e-3, n) + retry * slow, np.where(slow, 14, 12)


def frame(rows, values, scenario="s"):
    times = rows({p: t for p, (t, _) in values.items()}, "negotiation_time_s", "s", scenario)
    counts = {p: m for p, (_, m) in values.items()}
    return pl.concat([times, rows(counts, "authentication_messages", "1", scenario)])


def test_median_and_share_hold_where_the_mean_does_not(rows):
    from scipy import stats

    rng = np.random.default_rng(31)
    true_median = 0.010 - 1e-3 * np.log(1 - 0.5 / 0.95)
    student = exact = share = 0
    runs = 300
    drawn = {f"s{run}": joins(rng, 20, 0.05) for run in range(runs)}
    # A run per scenario: one analysis of 300 takes as long as a few of one.
    result = analyse(pl.concat([frame(rows, {"open": run}, name) for name, run in drawn.items()]))
    found = result.times.filter(metric="negotiation_time_s")
    assert found["scenario"].n_unique() == found.height == runs
    for row in found.iter_rows(named=True):
        times, messages = drawn[row["scenario"]]
        exact += row["median_low"] <= true_median <= row["median_high"]
        share += row["share_low"] <= 0.05 <= row["share_high"]
        half = stats.t.ppf(0.975, 19) * times.std(ddof=1) / np.sqrt(20)
        student += abs(times.mean() - (0.011 + 0.05)) <= half
        assert row["retried"] == (messages > 12).sum() or (messages > 12).all()
    assert student < 0.70 * runs
    assert exact > 0.93 * runs
    assert share > 0.90 * runs


def test_few_retries_warn(rows):
    times, messages = np.full(30, 0.01) + np.arange(30) * 1e-5, np.full(30, 12)
    slow = messages.copy()
    slow[:3] = 14
    result = analyse(frame(rows, {"open": (times, messages), "wep-40": (times, slow)})).times
    warnings = dict(result.select("policy", "warning").iter_rows())
    assert "no retry in 30 trials; up to 11 %" in warnings["open"]
    assert "3 retried trials, below 10: no interval of the mean" in warnings["wep-40"]


def test_times_are_compared_by_ranks(rows):
    from scipy import stats

    rng = np.random.default_rng(8)
    open_, slower = joins(rng, 20, 0.05), joins(rng, 20, 0.05, usual=0.014)
    found = analyse(frame(rows, {"open": open_, "wep-40": slower})).comparisons
    row = found.filter(metric="negotiation_time_s").row(0, named=True)
    assert row["method"] == "Hodges-Lehmann, Mann-Whitney"
    assert row["low"] < 0.004 < row["high"]
    assert row["high"] - row["low"] < 0.003
    assert row["evidence"] == "higher"
    assert row["p"] == pytest.approx(stats.mannwhitneyu(slower[0], open_[0]).pvalue)
