"""Sketches of measured delays, from irtt's report to the estimates."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from airtoll.analyse import analyse
from airtoll.observe.schema import OBSERVATIONS
from airtoll.observe.tables import SKETCHES
from airtoll.testbeds.linux.job import Job, Outcome
from airtoll.testbeds.linux.on_hosts.dns import Lookups
from airtoll.testbeds.linux.testbed import _with_timeline
from airtoll.testbeds.linux.traffic import dns, irtt

PROBES = 400


def report(seed):
    """A report of irtt on probes with exponential delays, and the delays."""
    one_way = np.random.default_rng(seed).exponential(2e-3, PROBES)
    trips = [
        {"lost": "false", "delay": {"rtt": round(2e9 * s) + 10, "send": round(1e9 * s)}}
        for s in one_way
    ]
    return {"round_trips": [*trips, {"lost": "true", "delay": {}}]}, one_way


def measured(seed):
    told, _ = report(seed)
    lookups = Lookups((0.25, 0.5, 0.5), 0)
    outcome = Outcome(
        values=tuple(irtt.values(told, "A", one_clock=True)),
        distributions=(
            *irtt.distributions(told, "A", one_clock=True),
            dns.distribution(lookups, "A"),
        ),
    )
    # Distributions travel as the rest of an outcome does.
    again = Outcome.from_json(outcome.to_json())
    return _with_timeline(again, Job("t", "open"), Path())


def test_every_packet_is_counted_in_the_bins_of_the_simulator():
    sketches = {(metric, flow): rest for metric, flow, *rest in measured(1).sketches}
    assert set(sketches) == {
        ("response_time_s", "probe"),
        ("delay_s", "probe"),
        ("response_time_s", "dns"),
    }
    station, bins, counts = sketches["delay_s", "probe"]
    assert (station, sum(counts)) == ("A", PROBES)
    assert list(bins) == sorted(bins)
    _, one_way = report(1)
    mean = np.average(bins, weights=counts) / 1e9
    assert mean == pytest.approx(one_way.mean(), rel=1 / 128)
    _, bins, counts = sketches["response_time_s", "dns"]
    assert counts == (1, 2)
    assert np.array(bins) / 1e9 == pytest.approx([0.25, 0.5], rel=1 / 64)


def test_a_negative_delay_of_a_stepped_clock_counts_as_none():
    told = {"round_trips": [{"lost": "false", "delay": {"rtt": 5, "send": -3}}]}
    outcome = Outcome(distributions=tuple(irtt.distributions(told, "A", one_clock=True)))
    one_way = _with_timeline(outcome, Job("t", "open"), Path()).sketches[1]
    assert one_way == ("delay_s", "probe", "A", (0,), (1,))


def test_the_percentiles_of_a_run_are_those_of_all_its_packets():
    trials = {number: measured(number) for number in range(1, 11)}
    place = {
        "scenario": "s",
        "policy": "open",
        "traffic": "load",
        "cell": "s/open/load",
        "factors": "{}",
    }
    frame = pl.DataFrame(
        [
            {
                **place,
                "trial": number,
                "attempt": 1,
                "metric": row.metric,
                "value": row.value,
                "unit": row.unit,
                "flow": row.flow,
                "station": row.station,
            }
            for number, trial in trials.items()
            for row in trial.rows
        ],
        schema_overrides={k: v for k, v in OBSERVATIONS.items() if k in ("trial", "attempt")},
    )
    frame = frame.select(
        pl.col(name).cast(kind) if name in frame.columns else pl.lit(None, kind).alias(name)
        for name, kind in OBSERVATIONS.items()
    )
    sketches = pl.DataFrame(
        [
            ("s/open/load", number, 1, *sketch)
            for number, trial in trials.items()
            for sketch in trial.sketches
        ],
        schema=SKETCHES,
        orient="row",
    )
    estimates = analyse(frame, sketches=sketches).estimates
    row = estimates.filter(metric="delay_p99_s", flow="probe").row(0, named=True)
    everything = np.concatenate([report(number)[1] for number in trials])
    assert row["method"] == "all packets of 10 trials, bootstrap of trials"
    assert row["value"] == pytest.approx(np.quantile(everything, 0.99), rel=0.03)
    assert row["low"] < row["value"] < row["high"]
