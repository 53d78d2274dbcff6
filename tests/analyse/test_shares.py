"""Intervals of shares stay between 0 and 1 and cover as they say."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from airtoll.analyse import analyse
from airtoll.analyse.shares import of_trials, wilson
from airtoll.analyse.student import normal_quantile, t_quantile
from airtoll.observe.metrics import SHARES
from airtoll.observe.schema import OBSERVATIONS


def observations(metric: str, values: list[float]) -> pl.DataFrame:
    frame = pl.DataFrame({"trial": range(1, len(values) + 1), "value": values}).with_columns(
        cell=pl.lit("home/open/udp"),
        scenario=pl.lit("home"),
        policy=pl.lit("open"),
        traffic=pl.lit("udp"),
        factors=pl.lit(json.dumps({})),
        attempt=pl.lit(1),
        metric=pl.lit(metric),
        unit=pl.lit("1"),
    )
    return frame.with_columns(
        pl.lit(None, kind).alias(name)
        for name, kind in OBSERVATIONS.items()
        if name not in frame.columns
    )


def test_the_interval_solves_the_score_equation():
    # Its ends are the shares p with |mean - p| = t sqrt(p (1 - p) / events).
    mean, deviation, n = 0.9, 0.05, 5
    events = n * mean * (1 - mean) / deviation**2
    for end in of_trials(mean, deviation, n, 0.95):
        expected = t_quantile(0.95, n - 1) * np.sqrt(end * (1 - end) / events)
        assert abs(mean - end) == pytest.approx(expected, rel=1e-9)


def test_many_trials_of_binomial_shares_give_wilsons_interval():
    trials, clients, share = 20_000, 50, 0.9
    deviation = np.sqrt(share * (1 - share) / clients)
    ours = of_trials(share, deviation, trials, 0.95)
    both = wilson(share * trials * clients, trials * clients, 0.95)
    assert ours == pytest.approx(both, rel=1e-6)
    assert t_quantile(0.95, trials - 1) == pytest.approx(normal_quantile(0.975), rel=1e-4)


def test_no_interval_without_spread_or_at_the_ends():
    low, high = of_trials([0.5, 0.0, 1.0, 0.5], [0.0, 0.0, 0.0, np.nan], [5, 5, 5, 1], 0.95)
    assert np.isnan([low, high]).all()


@pytest.mark.parametrize("metric", SHARES)
def test_an_analysis_bounds_every_share(metric):
    # Student's interval would end at 1.05.
    estimate = analyse(observations(metric, [1.0, 1.0, 0.94, 1.0, 0.96])).estimate(
        "home/open/udp", metric
    )
    assert 0.8 < estimate.low < 0.98 < estimate.high < 1
    assert estimate.method == "mean, Wilson"


def test_readings_outside_the_bounds_keep_students_interval():
    estimate = analyse(observations("loss_ratio", [0.1, 1.2, 0.3])).estimate(
        "home/open/udp", "loss_ratio"
    )
    assert estimate.method == "mean, t"
    assert estimate.low < 0


def test_other_metrics_keep_students_interval():
    estimate = analyse(observations("voice_mos", [0.5, 0.6, 0.7])).estimate(
        "home/open/udp", "voice_mos"
    )
    assert estimate.method == "mean, t"
