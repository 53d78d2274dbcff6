"""The audit of runs: planted in observations, silent on honest ones."""

import numpy as np
import polars as pl
import pytest

from airtoll.analyse.audit import audit_run
from airtoll.observe.imports.files import trials_of
from airtoll.observe.metrics import METRICS
from airtoll.observe.schema import OBSERVATIONS
from airtoll.study import load, with_values

FILE = load("quickstart")
UDP = next(name for name, t in FILE.study.traffic.items() if t.transport == "udp")
STUDY = with_values(FILE, {f"traffic.{UDP}.offered_mbps": 60}).study
SCENARIO = next(iter(STUDY.scenario))


def run(rng, cells=("open", "wpa2-psk-ccmp", "wpa3-sae-gcmp-256"), trials=8, speed=25e6):
    rows = []
    for number, policy in enumerate(cells):
        for trial in range(1, trials + 1):
            sent = 20_000
            lost = int(rng.integers(0, 50))
            values = {
                "throughput_bps": float(rng.normal(speed * (1 - 0.02 * number), 5e4)),
                "offered_bps": 60e6,
                "delay_s": float(rng.normal(0.004, 0.0002)),
                "jitter_s": float(abs(rng.normal(0.0004, 0.00005))),
                "packets_sent": sent,
                "packets_received": sent - lost - 100,
                "packets_lost": lost,
                "packets_queued": 100,
            }
            rows += [
                {
                    "testbed": "simulator",
                    "cell": f"{SCENARIO}/{policy}/{UDP}",
                    "scenario": SCENARIO,
                    "policy": policy,
                    "traffic": UDP,
                    "factors": "{}",
                    "trial": trial,
                    "attempt": 1,
                    "seed": 1000 * number + trial,
                    "metric": metric,
                    "value": value,
                    "unit": METRICS[metric][0],
                }
                for metric, value in values.items()
            ]
    blank = [pl.lit(None, kind).alias(n) for n, kind in OBSERVATIONS.items() if n not in rows[0]]
    return pl.DataFrame(rows, strict=False).with_columns(blank).select(list(OBSERVATIONS))


def audit(frame):
    return audit_run("run", frame, trials_of(frame.cast(dict(OBSERVATIONS))), STUDY)


def changed(frame, where, value):
    return frame.with_columns(value=pl.when(where).then(value).otherwise(pl.col("value")))


@pytest.fixture
def frame():
    return run(np.random.default_rng(1))


def test_an_honest_run_has_no_finding(frame):
    for seed in range(20):
        assert audit(run(np.random.default_rng(seed))) == []


def test_too_much_throughput(frame):
    bad = changed(frame, pl.col("metric") == "throughput_bps", pl.col("value") * 2)
    assert {f.kind for f in audit(bad)} == {"above_phy_ceiling"}
    bad = changed(frame, pl.col("metric") == "offered_bps", pl.lit(20e6))
    assert {f.kind for f in audit(bad)} == {"above_offered_load"}


def test_lost_packets_without_a_count(frame):
    where = (pl.col("metric") == "packets_lost") & (pl.col("trial") == 3)
    found = audit(changed(frame, where, pl.col("value") + 7))
    assert {f.kind for f in found} == {"conservation"}
    assert len(found) == 3


def test_a_cell_copied_from_another(frame):
    mine = frame.filter(policy="open", metric="delay_s")["value"].to_list()
    where = (pl.col("metric") == "delay_s") & (pl.col("policy") == "wpa2-psk-ccmp")
    rows = frame.filter(where).with_columns(value=pl.Series(mine))
    bad = pl.concat([frame.filter(~where), rows])
    assert {f.kind for f in audit(bad)} == {"copied_column"}


def test_jitter_made_of_delay(frame):
    delay = frame.filter(metric="delay_s").sort("cell", "trial")["value"]
    jitter = frame.filter(metric="jitter_s").sort("cell", "trial").with_columns(value=delay * 0.1)
    bad = pl.concat([frame.filter(pl.col("metric") != "jitter_s"), jitter])
    assert {f.kind for f in audit(bad)} == {"derived_series"}


def test_failed_trials_are_not_judged(frame):
    bad = changed(frame, pl.col("metric") == "throughput_bps", pl.col("value") * 2)
    trials = trials_of(bad).with_columns(status=pl.lit("failed"))
    assert audit_run("run", bad, trials, STUDY) == []


def test_a_transfer_offers_its_octets_over_its_own_time(frame):
    values = {f"traffic.{UDP}.transfer_bytes": 1_000_000}
    study = with_values(FILE, values).study
    low = changed(frame, pl.col("metric") == "offered_bps", pl.lit(0.3e6))
    assert audit_run("run", low, trials_of(low), study) == []
