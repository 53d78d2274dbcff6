"""Own distributions and rank tests against scipy's."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from airtoll.analyse.counting import binomial_above, binomial_below, poisson_above
from airtoll.analyse.drift import drift
from airtoll.analyse.ranks import kendall, mann_whitney, mann_whitney_rows
from airtoll.analyse.student import noncentral_t_beyond

FEW = st.lists(st.integers(0, 3), min_size=1, max_size=5)
READINGS = st.lists(st.integers(-9, 9).map(float), min_size=1, max_size=14)
CHANCES = st.sampled_from([0.0, 1e-9, 0.01, 0.3, 0.5, 0.97, 1.0])


@given(st.integers(1, 3000), CHANCES, st.integers(-3, 3010))
def test_binomial_tails_are_scipys(n: int, p: float, k: int) -> None:
    from scipy import stats

    np.testing.assert_allclose(
        binomial_above(k, n, p), stats.binom.sf(k, n, p), rtol=1e-9, atol=1e-290
    )
    below = binomial_below(n, p)
    assert below.shape == (n + 1,)
    if 0 <= k <= n:
        np.testing.assert_allclose(below[k], stats.binom.cdf(k, n, p), rtol=1e-9, atol=1e-290)


@given(st.integers(-2, 400), st.floats(0, 300))
def test_poisson_tails_are_scipys(k: int, mean: float) -> None:
    from scipy import stats

    np.testing.assert_allclose(
        poisson_above(k, mean), stats.poisson.sf(k, mean), rtol=1e-9, atol=1e-290
    )


@given(READINGS, READINGS)
def test_mann_whitney_is_scipys(x: list[float], y: list[float]) -> None:
    from scipy import stats

    u, p = mann_whitney(x, y)
    expected = stats.mannwhitneyu(x, y, alternative="two-sided")
    assert u == expected.statistic
    tied = len({*x, *y}) < len(x) + len(y)
    if tied and min(len(x), len(y)) <= 8 and len(x) + len(y) <= 40:
        return  # scipy takes the normal law where readings are equal
    np.testing.assert_allclose(p, 1.0 if len({*x, *y}) == 1 else expected.pvalue, rtol=1e-12)


@given(FEW, FEW)
def test_equal_readings_have_the_p_of_all_permutations(x: list[int], y: list[int]) -> None:
    together = x + y
    u, p = mann_whitney(x, y)

    def statistic(first: tuple[int, ...]) -> float:
        own = [together[i] for i in first]
        others = [together[i] for i in range(len(together)) if i not in first]
        return sum((a > b) + (a == b) / 2 for a in own for b in others)

    values = [statistic(c) for c in itertools.combinations(range(len(together)), len(x))]
    tail = min(sum(v <= u for v in values), sum(v >= u for v in values)) / len(values)
    assert p == pytest.approx(min(1.0, 2 * tail))


@given(st.integers(1, 10), st.integers(1, 12), st.integers(0, 2**32), st.booleans())
def test_many_pairs_have_the_p_of_one(n1: int, n2: int, seed: int, ties: bool) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.normal(0, 1, (5, n1)), rng.normal(0.3, 1, (5, n2))
    if ties:
        x[1:4], y[2:] = np.round(x[1:4]), np.round(y[2:])
    differences = (x[:, :, np.newaxis] - y[:, np.newaxis, :]).reshape(5, -1)
    for p, *sides in zip(mann_whitney_rows(x, y, differences), x, y, strict=True):
        assert p == mann_whitney(*sides)[1]


def test_mann_whitney_counts_orders_of_few_readings() -> None:
    from scipy import stats

    x, y = [1.0, 2.0, 3.5], [3.0, 4.0, 5.0, 6.0]
    # U is 11 of 12: of 35 orders two are as extreme on this side, and as many on the other.
    assert mann_whitney(y, x) == pytest.approx((11.0, 4 / 35))
    many = np.linspace(0, 1, 60)
    np.testing.assert_allclose(
        mann_whitney(x, many)[1], stats.mannwhitneyu(x, many).pvalue, rtol=1e-12
    )


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=30))
def test_tau_is_scipys(pairs: list[tuple[int, int]]) -> None:
    from scipy import stats

    x, y = (list(map(float, side)) for side in zip(*pairs, strict=True))
    np.testing.assert_allclose(kendall(x, y), stats.kendalltau(x, y).statistic, atol=1e-12)


@given(st.floats(0.5, 13), st.floats(1, 2000), st.floats(0, 20))
def test_the_noncentral_t_is_scipys(critical: float, degrees: float, centre: float) -> None:
    from scipy import stats

    expected = stats.nct.sf(critical, degrees, centre) + stats.nct.cdf(-critical, degrees, centre)
    if not math.isnan(expected):
        assert noncentral_t_beyond(critical, degrees, centre) == pytest.approx(expected, abs=1e-7)


def test_drift_is_scipys_regression() -> None:
    from scipy import stats

    hours, values = [0.0, 1.0, 2.5, 4.0], [3.0, 3.4, 3.1, 4.2]
    line = stats.linregress(hours, values)
    found = drift(hours, values, "Mb/s")
    assert found.slope_per_hour.value == pytest.approx(line.slope)
    assert found.p == pytest.approx(line.pvalue)
    half = stats.t.ppf(0.975, 2) * line.stderr
    assert found.slope_per_hour.half_width == pytest.approx(half)
