"""Sketches of packet delays, from the simulator to the run folder."""

import json

import numpy as np
import polars as pl
import pytest

from airtoll.analyse.percentiles import OF_TRIALS
from airtoll.observe import journal as journals
from airtoll.observe.tables import read_sketches
from airtoll.report import delays
from airtoll.report.html import render
from airtoll.report.summary import summarise
from airtoll.report.text import as_json
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
        "all packets of 4 trials: an interval takes 10"
    ]


STUDY = """
[study]
name = "latency"
title = "Latency of calls"
baseline = "open"
[scenario.cell]
phy = "802.11g"
clients = 6
[traffic.mixed]
transport = "udp"
payload_bytes = 200
offered_mbps = 0.8
duration_s = 0.5
[grid]
policy = ["open", "wpa-psk-tkip"]
"""


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    folder = tmp_path_factory.mktemp("latency")
    (folder / "latency.toml").write_text(STUDY)
    return run(folder / "latency.toml", out=folder / "run", trials=10)


def test_the_report_has_the_99th_percentile_of_all_packets(calls):
    summary = summarise(calls.path)
    sketches = read_sketches(calls.path)
    told = json.loads(as_json(summary))
    rows = [row for row in told["estimates"] if row["metric"] == "delay_p99_s"]
    assert rows
    for row in rows:
        # The row of the cell holds the packets of all flows.
        own = sketches.filter(metric="delay_s", cell=row["cell"])
        if row["flow"] is not None:
            own = own.filter(flow=row["flow"])
        packets = np.concatenate(
            [np.repeat(ns, counts) for ns, counts in own.select("nanoseconds", "counts").rows()]
        )
        assert row["value"] * 1e9 == pytest.approx(
            np.quantile(packets, 0.99, method="inverted_cdf"), abs=1
        )
        if row["method"] == "all packets of 10 trials, bootstrap of trials":
            assert row["low"] < row["value"] < row["high"]
        else:
            assert row["method"].endswith("a few trials hold most of the slowest packets")
            assert row["low"] is row["high"] is None
    whole = [row for row in rows if row["flow"] is None]
    assert all(row["low"] is not None for row in whole)
    differences = [row for row in told["comparisons"] if row["metric"] == "delay_p99_s"]
    assert {row["method"] for row in differences} == {"Welch"}
    page = render(summary, [], command="")
    assert "99th percentile" in page
    assert "bootstrap of trials" in page
    assert OF_TRIALS + ", t" not in page


def test_the_page_of_saturated_flows_has_no_table_of_delays(finished):
    assert 'id="delays"' not in render(summarise(finished.path), [], command="")


def test_the_tables_of_delays_are_cut_and_say_how_many_rows_they_leave_out(calls, monkeypatch):
    summary = summarise(calls.path)
    whole = delays.delay_tables(summary)
    assert whole["whole"].height == len(whole["whole"].rows) > 1
    assert whole["parts"].rows
    monkeypatch.setattr(delays, "_MOST_ROWS", 1)
    cut = delays.delay_tables(summary)
    for name, table in cut.items():
        assert table.rows == whole[name].rows[:1]
        assert table.height == whole[name].height
    left_out = whole["whole"].height - 1
    assert f"{left_out} more rows are left out here" in render(summary, [], command="")
