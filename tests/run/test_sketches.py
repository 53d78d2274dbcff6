"""Sketches of packet delays, from the simulator to the run folder."""

import numpy as np
import polars as pl
import pytest

from airtoll.observe import journal as journals
from airtoll.observe.tables import read_sketches
from airtoll.report.summary import summarise
from airtoll.run import run


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    place = tmp_path_factory.mktemp("sketches") / "run"
    values = {"traffic.udp.duration_s": 0.3, "grid.traffic": ["udp"], "grid.policy": ["open"]}
    return run("quickstart", out=place, trials=4, values=values)


def test_a_trial_counts_every_delivered_packet(finished):
    counted = read_sketches(finished.path).filter(metric="delay_s")
    packets = finished.observations().filter(
        (pl.col("metric") == "packets_received") & pl.col("flow").is_not_null()
    )
    assert counted.height == 4
    sums = counted.with_columns(total=pl.col("counts").list.sum())
    joined = sums.join(packets, on=["cell", "trial", "attempt", "flow"])
    assert joined["total"].to_list() == pytest.approx(joined["value"].to_list())


def test_the_sketch_holds_the_trials_own_percentiles(finished):
    rows = finished.observations().filter(metric="delay_p99_s")
    for sketch in read_sketches(finished.path).filter(metric="delay_s").iter_rows(named=True):
        below = np.cumsum(sketch["counts"])
        middle = sketch["nanoseconds"][int(np.searchsorted(below, 0.99 * below[-1]))]
        own = rows.filter(trial=sketch["trial"], flow=sketch["flow"])["value"][0]
        assert middle / 1e9 == pytest.approx(own, rel=0.02)


def test_sketches_survive_the_journal_and_reach_the_estimates(finished):
    records = list(journals.read(finished.folder.journal))
    assert all(record.sketches for record in records)
    estimates = summarise(finished.path).analysis.estimates.filter(metric="delay_p99_s")
    assert estimates["method"].unique().to_list() == [
        "all packets of 4 trials, bootstrap of trials"
    ]
