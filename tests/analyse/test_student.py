"""Student's t against scipy's own distribution."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from airtoll.analyse import student
from airtoll.analyse.student import (
    normal_below,
    normal_quantile,
    t_above,
    t_below,
    t_quantile,
)

DEGREES = st.one_of(
    st.floats(-2, 0),
    st.floats(0.05, 1e6),
    st.integers(1, 1000),
    st.sampled_from([math.inf, math.nan]),
)


@given(st.floats(0.0005, 0.9995), DEGREES)
def test_quantiles_are_scipys(p: float, degrees: float) -> None:
    from scipy import stats

    np.testing.assert_allclose(
        t_quantile(p, degrees), stats.t.ppf((1 + p) / 2, degrees), rtol=1e-11
    )
    np.testing.assert_allclose(normal_quantile(p), stats.norm.ppf(p), rtol=1e-13, atol=1e-15)


@given(st.one_of(st.floats(-1e4, 1e4), st.sampled_from([math.inf, -math.inf, math.nan])), DEGREES)
def test_tails_are_scipys(x: float, degrees: float) -> None:
    from scipy import stats

    np.testing.assert_allclose(t_below(x, degrees), stats.t.cdf(x, degrees), rtol=1e-9, atol=1e-290)
    np.testing.assert_allclose(t_above(x, degrees), stats.t.sf(x, degrees), rtol=1e-9, atol=1e-290)
    np.testing.assert_allclose(normal_below(x), stats.norm.cdf(x), rtol=1e-13, atol=1e-300)


def test_arrays_broadcast() -> None:
    found = t_quantile([[0.8], [0.95]], np.array([0, 1, 4]))
    assert found.shape == (2, 3)
    assert np.isnan(found[:, 0]).all()
    np.testing.assert_allclose(found[1, 1:], [12.706205, 2.776445], rtol=1e-7)


def test_unknown_arguments_take_no_place_in_the_cache_of_results():
    student._quantile.cache_clear()
    student._below.cache_clear()
    unknown = np.full(1000, math.nan)
    assert np.isnan(t_quantile(0.95, unknown)).all()
    assert np.isnan(t_below(unknown, 4.0)).all()
    assert np.isnan(t_below(0.5, unknown)).all()
    assert student._quantile.cache_info().currsize == 0
    assert student._below.cache_info().currsize == 0


@given(st.floats(0, 200), st.integers(1, 60))
def test_chi_squares_tail_is_scipys(x: float, degrees: int) -> None:
    from scipy import stats

    ours = student.chi_square_above(x, degrees)
    assert math.isclose(ours, stats.chi2.sf(x, degrees), rel_tol=1e-9, abs_tol=1e-14)
