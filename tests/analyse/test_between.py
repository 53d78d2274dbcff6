"""Two runs beside one another: a real difference is found, noise is not, single figures are held
against intervals."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from airtoll.analyse import analyse
from airtoll.analyse.between import changes
from airtoll.analyse.evidence import Evidence
from airtoll.observe.metrics import METRICS
from airtoll.observe.schema import OBSERVATIONS


def observations(means, trials=10, seed=1, spread=0.01):
    rng = np.random.default_rng(seed)
    rows = [
        {
            "cell": f"s/{policy}/udp",
            "scenario": "s",
            "policy": policy,
            "traffic": "udp",
            "factors": "{}",
            "trial": trial,
            "attempt": 1,
            "metric": metric,
            "value": mean * (1 + spread * rng.standard_normal()),
            "unit": METRICS[metric][0],
        }
        for (policy, metric), mean in means.items()
        for trial in range(1, trials + 1)
    ]
    blank = [pl.lit(None, kind).alias(n) for n, kind in OBSERVATIONS.items() if n not in rows[0]]
    return pl.DataFrame(rows).with_columns(blank)


BEFORE = {("open", "throughput_bps"): 30e6, ("wpa2-psk-ccmp", "throughput_bps"): 29e6,
          ("open", "delay_s"): 1e-3}  # fmt: skip


def test_a_real_change_is_found_and_noise_is_not():
    after = BEFORE | {("wpa2-psk-ccmp", "throughput_bps"): 27e6}
    found = {
        (c.cell, c.metric): c
        for c in changes(analyse(observations(BEFORE)), analyse(observations(after, seed=2)))
    }
    slower = found["s/wpa2-psk-ccmp/udp", "throughput_bps"]
    assert slower.evidence is Evidence.LOWER
    assert slower.relative == pytest.approx(-2 / 29, abs=0.01)
    assert slower.difference.contains(-2e6)
    assert not found["s/open/udp", "throughput_bps"].differs
    assert not found["s/open/udp", "delay_s"].differs


def test_equal_runs_have_no_difference():
    one = analyse(observations(BEFORE))
    assert all(c.difference.value == 0 and not c.differs for c in changes(one, one))


@pytest.mark.parametrize(("factor", "evidence"), [(1.0, Evidence.WITHIN), (1.05, Evidence.OUTSIDE)])
def test_a_closed_form_is_held_against_the_interval(factor, evidence):
    single = {key: value * factor for key, value in BEFORE.items()}
    found = changes(
        analyse(observations(single, trials=1, spread=0)), analyse(observations(BEFORE, seed=3))
    )
    assert {c.evidence for c in found} == {evidence}
    assert all(c.differs == (evidence is Evidence.OUTSIDE) for c in found)
    for change in found:
        # The interval is that of the many readings, at the place of the single figure.
        assert change.difference.contains(0) == (evidence is Evidence.WITHIN)
        assert change.share.value == pytest.approx(change.difference.value / change.first.value)
        assert change.share.low < change.share.value < change.share.high


def test_false_alarms_stay_within_the_level():
    alarms = 0
    for seed in range(40):
        one, two = observations(BEFORE, seed=2 * seed), observations(BEFORE, seed=2 * seed + 1)
        alarms += any(
            c.differs for c in changes(analyse(one), analyse(two)) if c.metric == "throughput_bps"
        )
    # 5 % by design; 8 of 40 would be four deviations off.
    assert alarms < 8


def test_the_only_flow_of_a_cell_is_not_counted_twice():
    frame = observations(BEFORE)
    flow = frame.filter(metric="throughput_bps").with_columns(
        flow=pl.lit("A-up"), station=pl.lit("A")
    )
    one = analyse(pl.concat([frame, flow]))
    assert [c.flow for c in changes(one, one)] == [None, None, None]
