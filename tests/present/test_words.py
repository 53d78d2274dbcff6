"""Claims in sentences: from what to what, where, with digits that the interval allows."""

from __future__ import annotations

import math

import pytest
from attrs import evolve

from airtoll.analyse import Estimate
from airtoll.analyse.estimate import EQUAL
from airtoll.present.digits import change, percent, plain_percent, ranged, shown


def estimate(value: float, half: float, unit: str) -> Estimate:
    return Estimate(value, value - half, value + half, 0.95, 10, "t", unit)


@pytest.mark.parametrize(
    ("value", "half", "unit", "text"),
    [
        (0.0570, 0.0021, "s", "57.0 ± 2.1 ms"),
        (24.1234e6, 0.3121e6, "bit/s", "24.12 ± 0.31 Mb/s"),
        # An interval narrower than half a percent of its value adds nothing for a reader.
        (24.1234e6, 0.0312e6, "bit/s", "24.1 Mb/s"),
        (0.144904, 0.000063, "s", "145 ms"),
        (0.020000, 0.000001, "s", "20 ms"),
        (12.0, math.nan, "1", "12"),
        (0.0123456, math.nan, "s", "12.3 ms"),
    ],
)
def test_two_significant_digits_of_the_interval_decide(value, half, unit, text):
    assert shown(estimate(value, half, unit)) == text


def test_both_ends_are_shown_where_the_value_is_not_the_middle():
    assert shown(Estimate(0.012, 0.0112, 0.0159, 0.95, 9, "", "s")) == "12.0 ms (11.2 to 15.9)"


def test_a_change_has_one_unit_and_the_digits_of_its_interval():
    before, after = estimate(0.0570, 0.0021, "s"), estimate(0.0200, 0.0001, "s")
    assert change(estimate(-0.0370, 0.0021, "s"), before, after) == (
        "by 37.0 ± 2.1 ms, from 57.0 to 20.0 ms"
    )


def test_shares_are_percent():
    assert percent(estimate(0.0110, 0.0008, "1")) == "1.100 ± 0.080 %"
    assert plain_percent(0.00364) == "0.36 %"
    assert plain_percent(0) == "0 %"


@pytest.mark.parametrize(
    ("value", "half", "unit", "words"),
    [
        (404.2e6, 2.1e6, "bit/s", "404 Mb/s (402 to 406)"),
        (625e6, 30e6, "bit/s", "625 Mb/s (595 to 655)"),
        (2059.9, 0.1, "d", "2060 days"),
        (2059.9, 2.1, "d", "2060 days (2058 to 2062)"),
        (0.90928, 0.0025, "d", "0.909 days (0.907 to 0.912)"),
        (57.12e-3, 0.00002e-3, "W", "57 mW (± less than 0.01 mW)"),
        (5.0, 0.0, "1", "5"),
    ],
)
def test_a_value_that_stays_has_both_ends_of_its_interval(value, half, unit, words):
    found = Estimate(value, value - half, value + half, 0.95, 5, "mean, t", unit)
    assert ranged(found) == words
    equal = evolve(found, low=math.nan, high=math.nan, method=EQUAL)
    assert ranged(equal).endswith(" (the same in all trials)")
    assert ranged(evolve(equal, method="deterministic"), "more").endswith(" (more)")
