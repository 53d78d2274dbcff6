"""Paired comparison of interleaved trials."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from airtoll.analyse import analyse
from airtoll.analyse.pairing import fieller_paired_ends, pairs_trials
from airtoll.observe.metrics import METRICS
from airtoll.observe.schema import OBSERVATIONS


def readings(
    sides: dict[str, np.ndarray], metric: str = "throughput_bps", scenario: str = "s"
) -> pl.DataFrame:
    rows = [
        {
            "cell": f"{scenario}/{policy}/udp",
            "scenario": scenario,
            "policy": policy,
            "traffic": "udp",
            "factors": "{}",
            "trial": trial,
            "attempt": 1,
            "metric": metric,
            "value": float(value),
            "unit": METRICS[metric][0],
        }
        for policy, values in sides.items()
        for trial, value in enumerate(values, 1)
    ]
    blank = [pl.lit(None, kind).alias(n) for n, kind in OBSERVATIONS.items() if n not in rows[0]]
    return pl.DataFrame(rows).with_columns(blank)


def drifting(rng: np.random.Generator, n: int = 10, loss: float = 0.02) -> dict[str, np.ndarray]:
    """A machine that slows down by a tenth in the course of a campaign."""
    state = 20e6 * np.linspace(1, 0.9, n)
    noise = rng.normal(0, 0.04e6, (2, n))
    return {"open": state + noise[0], "wpa2-psk-ccmp": state * (1 - loss) + noise[1]}


def test_the_difference_is_the_paired_t_test():
    from scipy import stats

    sides = drifting(np.random.default_rng(1))
    paired = analyse(readings(sides), paired=True)
    row = paired.comparisons.row(0, named=True)
    expected = stats.ttest_rel(sides["wpa2-psk-ccmp"], sides["open"])
    assert row["p"] == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval(0.95)
    assert (row["low"], row["high"]) == pytest.approx((interval.low, interval.high))
    assert row["method"] == "paired t"
    assert row["evidence"] == "lower"
    # A common drift of both sides hides the same loss from a test of independent trials.
    assert analyse(readings(sides)).comparisons["evidence"][0] == "undetected"


def test_only_complete_pairs_count():
    from scipy import stats

    sides = drifting(np.random.default_rng(2))
    short = sides | {"open": sides["open"][:7]}
    row = analyse(readings(short), paired=True).comparisons.row(0, named=True)
    assert row["n"] == 14
    expected = stats.ttest_rel(sides["wpa2-psk-ccmp"][:7], sides["open"][:7])
    assert row["p"] == pytest.approx(expected.pvalue)


@pytest.mark.parametrize("definition", ["of_secured", "of_baseline"])
def test_the_interval_of_an_overhead_holds_what_it_says(definition):
    rng = np.random.default_rng(3)
    truth = {"of_secured": 1 / 0.98 - 1, "of_baseline": 0.02}[definition]
    # A campaign per scenario: one analysis of 400 takes as long as ten of one.
    runs = pl.concat([readings(drifting(rng), scenario=f"s{run}") for run in range(400)])
    found = analyse(runs, overhead=definition, paired=True).overheads
    assert found["scenario"].n_unique() == found.height == 400
    hits = ((found["low"] <= truth) & (found["high"] >= truth)).sum()
    assert 0.92 <= hits / 400 <= 0.98
    alone = analyse(readings(drifting(rng)), overhead=definition).overheads
    assert (found["high"] - found["low"]).mean() < 0.2 * (alone["high"][0] - alone["low"][0])


def test_without_covariance_fieller_is_the_same_quadratic():
    from scipy import stats

    one = np.array([1.0])
    low, high = fieller_paired_ends(
        10 * one, 5 * one, 0.01 * one, 0.01 * one, 0 * one, 10 * one, 0.95
    )
    t2 = stats.t.ppf(0.975, 9) ** 2
    for end in (low[0], high[0]):
        assert (10 - end * 5) ** 2 == pytest.approx(t2 * (0.01 + end**2 * 0.01))
    assert fieller_paired_ends(one, 0.1 * one, one, one, 0 * one, 10 * one, 0.95)[0][0] == -np.inf


def test_only_interleaved_trials_of_a_real_machine_are_pairs():
    assert pairs_trials("interleaved", "linux")
    assert not pairs_trials("interleaved", "simulator")
    assert not pairs_trials("random", "linux")
