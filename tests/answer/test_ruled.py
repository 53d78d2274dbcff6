"""Requirements by their intervals, worked by hand."""

from __future__ import annotations

import math

import pytest

from airtoll.analyse.estimate import DETERMINISTIC, EQUAL, Estimate
from airtoll.answer import Ruling
from airtoll.answer.ruled import rule

NAN = math.nan


@pytest.mark.parametrize(
    ("low", "high", "at_least", "at_most", "ruling"),
    [
        (9.0, 11.0, 9.0, None, Ruling.MET),
        (9.0, 11.0, 9.1, None, Ruling.TOO_FEW),
        (9.0, 11.0, 11.1, None, Ruling.FAILED),
        (9.0, 11.0, None, 11.0, Ruling.MET),
        (9.0, 11.0, None, 10.0, Ruling.TOO_FEW),
        (9.0, 11.0, None, 8.9, Ruling.FAILED),
        (9.0, 11.0, 8.0, 12.0, Ruling.MET),
        (9.0, 11.0, 8.0, 10.0, Ruling.TOO_FEW),
        # One reading has no interval.
        (NAN, NAN, 5.0, None, Ruling.TOO_FEW),
    ],
)
def test_the_whole_interval_meets_a_limit_or_none_of_it(low, high, at_least, at_most, ruling):
    value = Estimate(10.0, low, high, 0.95, 6, "mean, t", "s")
    assert rule(value, at_least, at_most, trials=6) is ruling


@pytest.mark.parametrize(
    ("method", "trials", "ruling"),
    [
        (DETERMINISTIC, 1, Ruling.MET),
        (EQUAL, 4, Ruling.TOO_FEW),
        # Five equal readings: the chance of a median beyond the limit is 1 in 32.
        (EQUAL, 5, Ruling.MET),
    ],
)
def test_readings_without_spread(method, trials, ruling):
    value = Estimate(1.0, NAN, NAN, 0.95, trials, method, "1")
    assert rule(value, 1.0, None, trials=trials) is ruling
