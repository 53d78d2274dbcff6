"""Percentiles over the packets of all trials, from sketches."""

import numpy as np
import polars as pl
import pytest

from airtoll.analyse import analyse
from airtoll.analyse.percentiles import OF_TRIALS, merged, percentile, pooled
from airtoll.observe.tables import SKETCHES


def sketch(delays):
    """Delays in seconds as a sketch with bins of 1 %."""
    bins = np.round(np.log(delays * 1e9) / 0.01).astype(int)
    places, counts = np.unique(bins, return_counts=True)
    return [int(v) for v in np.exp(places * 0.01)], [int(c) for c in counts]


def sketches(trials, flow="up"):
    rows = [
        ("s/open/udp", number, 1, "delay_s", flow, "A", *sketch(delays))
        for number, delays in enumerate(trials, 1)
    ]
    return pl.DataFrame(rows, schema=SKETCHES, orient="row")


def test_pooling_gives_the_percentile_of_all_packets():
    rng = np.random.default_rng(1)
    trials = [rng.exponential(scale, 3000) for scale in (1e-3, 1e-3, 9e-3)]
    found = pooled(sketches(trials), 0.95)
    everything = np.concatenate(trials)
    for name, share in (("delay_p50_s", 50), ("delay_p95_s", 95), ("delay_p99_s", 99)):
        row = found.filter(metric=name).row(0, named=True)
        assert row["pooled"] == pytest.approx(np.percentile(everything, share), rel=0.02)
        assert row["pooled_low"] <= row["pooled"] <= row["pooled_high"]
    # The mean of the trials' 99th percentiles is another figure.
    mean = np.mean([np.percentile(t, 99) for t in trials])
    assert found.filter(metric="delay_p99_s")["pooled"][0] > 1.3 * mean


def test_the_interval_of_clusters_covers():
    rng = np.random.default_rng(2)
    hits = 0
    runs = 400
    for _ in range(runs):
        # A trial's delay is constant: the packets are one reading, and the median is the trials'.
        levels = rng.normal(10e-3, 1e-3, 15)
        values, counts = merged([[int(v * 1e9)] for v in levels], [[500]] * 15)
        _, low, high = percentile(values, counts, 0.5, 0.95)
        hits += low <= 10e-3 <= high
    assert 0.92 <= hits / runs <= 0.99


def test_one_trial_has_no_interval():
    value, low, high = percentile(np.array([1.0, 2.0]), np.array([[3.0, 1.0]]), 0.5, 0.95)
    assert value == 1.0
    assert np.isnan(low)
    assert np.isnan(high)


def test_an_analysis_names_its_percentiles(rows):
    rng = np.random.default_rng(3)
    trials = [rng.exponential(1e-3, 500) for _ in range(6)]
    values = {"open": [float(np.percentile(t, 99)) for t in trials]}
    frame = rows(values, "delay_p99_s", "s").with_columns(flow=pl.lit("up"), station=pl.lit("A"))
    alone = analyse(frame).estimates.row(0, named=True)
    assert alone["method"] == OF_TRIALS
    both = analyse(frame, sketches=sketches(trials)).estimates.row(0, named=True)
    assert both["method"] == "all packets of 6 trials, bootstrap of trials"
    assert both["value"] == pytest.approx(np.percentile(np.concatenate(trials), 99), rel=0.02)
    assert both["value_all"] == pytest.approx(alone["value"])
    # Trials that do not count take no part.
    fewer = analyse(frame.filter(pl.col("trial") <= 4), sketches=sketches(trials)).estimates.row(
        0, named=True
    )
    assert fewer["method"].startswith("all packets of 4 trials")
