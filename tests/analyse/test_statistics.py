import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from airtoll.analyse.comparison import (
    compare_samples,
    holm,
    holm_adjust,
)
from airtoll.analyse.estimate import mean_t
from airtoll.analyse.evidence import Evidence
from airtoll.analyse.overhead import (
    Summary,
    mean_of_estimates,
    overhead,
    overhead_of_summaries,
    ratio_fieller,
)
from airtoll.analyse.power import (
    fresh_trials,
    minimum_detectable,
    power_of,
    trials_needed,
)
from airtoll.analyse.series import (
    batch_means,
    lag_one,
    mser,
    summarise_series,
)
from airtoll.analyse.student import t_quantile
from airtoll.errors import UsageError
from airtoll.observe.datasets import load_dataset

readings = st.lists(st.floats(1.0, 1000.0), min_size=3, max_size=30)


def test_t_interval_by_the_book():
    # n = 4, mean 5, s = 2.581989; t(0.975, 3) = 3.182446
    estimate = mean_t([2, 4, 6, 8], "s")
    assert estimate.value == 5
    assert estimate.half_width == pytest.approx(3.182446 * 2.5819889 / 2, rel=1e-6)
    assert (estimate.n, estimate.level, estimate.unit) == (4, 0.95, "s")


def test_one_reading_has_no_interval():
    assert not mean_t([3.0], "s").has_interval
    assert mean_t([], "s").n == 0


def test_coverage_of_t():
    rng = np.random.default_rng(5)
    rows = rng.exponential(1.0, (300, 30))
    assert sum(mean_t(row, "s").contains(1.0) for row in rows) / 300 > 0.88


def test_equal_readings_have_no_interval_and_no_p_value():
    same = [0.1] * 7
    for estimate in (
        mean_t(same, "s"),
        overhead([20e6] * 5, [19e6] * 5, "of_secured"),
        overhead([20e6] * 5, [19e6] * 5, "difference_bps"),
    ):
        # Nothing says that the model draws no random numbers: they may be equal by chance.
        assert estimate.is_equal
        assert not estimate.is_deterministic
        assert not estimate.has_interval
    test = compare_samples([20e6] * 5, [20e6] * 5, "bit/s")
    assert np.isnan(test.p)
    assert test.shows is Evidence.EQUAL


def test_equal_readings_are_compared_by_ranks():
    # 2 of the 252 orders of five and five readings are as far apart.
    test = compare_samples([19e6] * 5, [20e6] * 5, "bit/s")
    assert test.p == pytest.approx(2 / 252)
    assert test.shows is Evidence.LOWER
    # A spread of one side says nothing about that of the other.
    test = compare_samples([19e6, 19.1e6, 18.9e6, 19.2e6], [20e6] * 4, "bit/s")
    assert test.p == pytest.approx(2 / 70)
    assert not test.difference.has_interval


@pytest.mark.parametrize(("n", "needs"), [(2, 4), (3, 4)])
def test_ranks_of_two_or_three_trials_give_no_verdict(n, needs):
    first, second = [20.0 + i for i in range(n)], [10.0 + i for i in range(n)]
    for test in (
        compare_samples(first, second, "s", method="mann-whitney"),
        compare_samples([19e6] * n, [20e6] * n, "bit/s"),
    ):
        assert (test.shows, test.needs) == (Evidence.TOO_FEW, needs)
    # Welch's t can tell two from two.
    two = compare_samples([19e6, 19.001e6], [20e6, 20.001e6], "bit/s")
    assert (two.shows, two.needs) == (Evidence.LOWER, None)
    one = compare_samples([19e6], [20e6], "bit/s")
    assert (one.shows, one.needs) == (Evidence.TOO_FEW, 2)


def test_a_family_needs_more_trials_of_ranks():
    def test_of(n):
        return compare_samples(
            [20.0 + i for i in range(n)], [10.0 + i for i in range(n)], "s", method="mann-whitney"
        )

    # Of four and four readings p is 0.029 at least, of five and five 0.008, of six and six 0.002.
    few = holm([test_of(4)] * 10)
    assert {(test.shows, test.needs) for test in few} == {(Evidence.TOO_FEW, 6)}
    enough = holm([test_of(6)] * 10)
    assert {(test.shows, test.needs) for test in enough} == {(Evidence.HIGHER, None)}


@given(readings, readings)
def test_overhead_definitions_convert(first, second):
    o1 = overhead(first, second, "of_baseline").value
    o2 = overhead(first, second, "of_secured").value
    assert o2 == pytest.approx(o1 / (1 - o1), rel=1e-9, abs=1e-9)
    difference = overhead(first, second, "difference_bps").value
    assert difference == pytest.approx(-o1 * np.mean(first), rel=1e-9, abs=1e-9)


def test_fieller_against_bootstrap_and_coverage():
    rng = np.random.default_rng(11)
    hits = 0
    for _ in range(400):
        x, y = rng.normal(25.0, 0.5, 10), rng.normal(24.0, 0.7, 10)
        hits += overhead(x, y, "of_baseline").contains(1 / 25)
    assert 0.92 <= hits / 400 <= 0.98
    fieller = overhead(x, y, "of_secured")
    means_x, means_y = (
        one[rng.integers(0, one.size, (4000, one.size))].mean(axis=1) for one in (x, y)
    )
    low, high = np.quantile((means_x - means_y) / means_y, [0.025, 0.975])
    assert fieller.half_width == pytest.approx((high - low) / 2, rel=0.3)


def test_fieller_of_nothing_is_the_whole_line():
    ratio = ratio_fieller(Summary(1.0, 0.1, 5), Summary(0.01, 1.0, 5))
    assert (ratio.low, ratio.high) == (-math.inf, math.inf)


def test_overhead_of_a_printed_mean_has_no_interval():
    estimate = overhead_of_summaries(
        Summary(25.4, math.nan, 5), Summary(24.1, math.nan, 5), "of_secured"
    )
    assert estimate.value == pytest.approx(0.0539, abs=5e-5)
    assert not estimate.has_interval


def test_mean_of_estimates_adds_in_quadrature():
    a, b = mean_t([1, 2, 3], "1"), mean_t([3, 4, 5], "1")
    both = mean_of_estimates([a, b])
    assert both.value == 3
    assert both.half_width == pytest.approx(math.hypot(a.half_width, b.half_width) / 2)
    with pytest.raises(UsageError):
        mean_of_estimates([a, mean_t([1, 2], "s")])


def test_welch_agrees_with_scipy():
    from scipy import stats

    x, y = [1.0, 2.0, 4.0, 3.0], [5.0, 7.0, 6.5]
    test = compare_samples(x, y, "s")
    assert test.p == pytest.approx(stats.ttest_ind(x, y, equal_var=False).pvalue)
    assert test.shows is Evidence.LOWER
    assert test.effect < -2


def test_mann_whitney_and_delta():
    from scipy import stats

    test = compare_samples([1, 2, 3, 4], [5, 6, 7, 8], "s", method="mann-whitney")
    assert test.effect == -1
    assert test.p == pytest.approx(stats.mannwhitneyu([1, 2, 3, 4], [5, 6, 7, 8]).pvalue)


def test_what_a_test_shows():
    rng = np.random.default_rng(3)
    a, b = rng.normal(100, 1, 30), rng.normal(100, 1, 30)
    assert compare_samples(a, b, "s").shows is Evidence.UNDETECTED
    assert compare_samples(a, b, "s", margin=2.0).shows is Evidence.EQUIVALENT
    assert compare_samples(a + 5, b, "bit/s").shows is Evidence.HIGHER


def test_holm_by_hand():
    adjusted = holm_adjust(np.array([0.01, 0.04, 0.03, 0.005]))
    assert adjusted == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert np.isnan(holm_adjust(np.array([np.nan, 0.01]))[0])
    tests = [compare_samples([1, 2, 3], [1.5, 2.6, 3.7], "s")] * 3
    assert holm(tests)[0].p_holm == 1.0


def test_power_against_tables():
    # Cohen 1988, table 2.4.1: d = 0.5, two-sided 5 %, power 0.8 needs 64 a side; d = 0.8 needs 26
    assert trials_needed(0.5, 1.0, 1.0) == 64
    assert trials_needed(0.8, 1.0, 1.0) == 26
    assert power_of(0.5, 1.0, 1.0, 64) == pytest.approx(0.80, abs=0.005)
    smallest = minimum_detectable(1.0, 1.0, 64)
    assert smallest == pytest.approx(0.4992, abs=0.002)


def test_mser_finds_a_warm_up():
    rng = np.random.default_rng(0)
    series = rng.normal(10, 0.3, 200)
    series[:20] -= np.linspace(8, 0.5, 20)
    assert 15 <= mser(series) <= 30
    assert mser(rng.normal(10, 0.3, 200)) <= 60
    assert mser([1, 2, 3]) == 0


def test_series_intervals_allow_for_correlation():
    rng = np.random.default_rng(4)
    naive = batched = 0
    for _ in range(200):
        noise = rng.normal(size=300)
        series = np.empty(300)
        series[0] = noise[0]
        for i in range(1, 300):
            series[i] = 0.7 * series[i - 1] + noise[i]
        naive += mean_t(series, "s").contains(0.0)
        batched += batch_means(series, "s").contains(0.0)
    assert naive / 200 < 0.75
    assert batched / 200 > 0.85
    assert lag_one(series) > 0.5


def test_series_of_a_run():
    rows = load_dataset("gheryani2013").observations()
    by_mser = summarise_series(rows)
    assert by_mser.height == 90
    printed = summarise_series(rows, discard_first=1)
    tcp = printed.filter(
        pl.col("cell").str.starts_with("channel 11 Mbps/open/tcp?offered_mbps=5"),
        metric="throughput_bps",
    )
    assert tcp["value"][0] == pytest.approx(4.9911e6, rel=1e-4)
    assert set(printed["cut"]) == {1}


def test_what_holm_takes_back_is_said() -> None:
    baseline, slow = np.array([100.0, 100.8, 101.2]), np.array([96.0, 96.5, 97.5])
    alike = compare_samples(baseline[::-1] + 0.1, baseline, "bit/s")
    tests = [compare_samples(slow, baseline, "bit/s"), *[alike] * 60]
    alone, among = tests[0], holm(tests)[0]
    assert alone.shows is Evidence.LOWER
    assert among.p_holm > 0.05 > among.p
    assert (among.shows, among.among) == (Evidence.LOWER_ALONE, 61)
    assert holm(tests[:1])[0].shows is Evidence.LOWER


@pytest.mark.parametrize(
    ("pilot", "effect"),
    [
        (3, 0.5),
        (10, 0.2),
        *(
            pytest.param(pilot, effect, marks=pytest.mark.thorough)
            for pilot, effect in ((3, 0.2), (5, 0.2), (5, 0.5), (10, 0.5))
        ),
    ],
)
def test_a_new_run_of_the_named_size_decides_in_four_of_five_cases(pilot, effect):
    """A pilot that does not decide names the size; the readings of the new run are others."""
    rng = np.random.default_rng(5)
    decided = []
    while len(decided) < 1500:
        half = half_width(rng.normal(0, 1, (2, pilot)))
        if half < effect:
            continue
        named = fresh_trials(half, effect, pilot)
        new = rng.normal(0, 1, (2, named))
        decided.append(effect + new[1].mean() - new[0].mean() > half_width(new))
    assert 0.78 < np.mean(decided) < 0.9


def half_width(sides):
    n = sides.shape[1]
    return t_quantile(0.95, 2 * n - 2) * np.sqrt(sides.var(axis=1, ddof=1).sum() / n)


def test_a_number_of_trials_is_named_in_two_digits_and_never_a_hopeless_one():
    # Half the interval three times what is wanted: 9 times the trials, twice that for the margin.
    assert fresh_trials(3.0, 1.0, 20) == 370
    assert fresh_trials(0.9, 1.0, 20) == 41, "an interval that decides alone, not among several"
    assert fresh_trials(1.0, 1e-4, 20) is None
    assert fresh_trials(math.inf, 1.0, 20) is None
