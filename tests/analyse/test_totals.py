"""Totals of whole cells: each reduction by hand, and tests that rest on them."""

from __future__ import annotations

import polars as pl
import pytest

from airtoll.analyse import analyse
from airtoll.analyse.percentiles import PERCENTILES
from airtoll.analyse.totals import with_totals, with_whole_sketches
from airtoll.observe.metrics import METRICS
from airtoll.observe.schema import OBSERVATIONS
from airtoll.observe.tables import SKETCHES


def readings(rows, policy="open", trial=1):
    """Observations of one trial: rows of metric, flow, station, value."""
    return pl.DataFrame(
        [
            {
                "schema_version": 1,
                "study": "s",
                "testbed": "simulator",
                "cell": f"one/{policy}/udp",
                "scenario": "one",
                "policy": policy,
                "traffic": "udp",
                "factors": "{}",
                "trial": trial,
                "attempt": 1,
                "seed": 1,
                "flow": flow,
                "station": station,
                "second": None,
                "metric": metric,
                "value": value,
                "unit": METRICS[metric].unit,
            }
            for metric, flow, station, value in rows
        ],
        schema=OBSERVATIONS,
    )


def of_cell(frame, metric):
    whole = frame.filter(
        pl.col("flow").is_null() & pl.col("station").is_null(), pl.col("metric") == metric
    )
    return whole["value"].to_list()


@pytest.mark.parametrize(
    ("rows", "metric", "expected"),
    [
        ([("packets_sent", "a", "A", 3.0), ("packets_sent", "b", "B", 4.0)], "packets_sent", [7.0]),
        (
            [
                ("delay_s", "a", "A", 0.1),
                ("delay_s", "b", "B", 0.4),
                ("packets_received", "a", "A", 200.0),
                ("packets_received", "b", "B", 100.0),
            ],
            "delay_s",
            [pytest.approx(0.2)],
        ),
        # Without the weights of all flows each counts alike.
        (
            [
                ("delay_s", "a", "A", 0.1),
                ("delay_s", "b", "B", 0.4),
                ("packets_received", "a", "A", 200.0),
            ],
            "delay_s",
            [pytest.approx(0.25)],
        ),
        # Lost packets over all sent: (0 + 10) / (10 + 20).
        (
            [
                ("loss_ratio", "a", "A", 0.0),
                ("loss_ratio", "b", "B", 0.5),
                ("packets_received", "a", "A", 10.0),
                ("packets_lost", "a", "A", 0.0),
                ("packets_received", "b", "B", 10.0),
                ("packets_lost", "b", "B", 10.0),
            ],
            "loss_ratio",
            [pytest.approx(1 / 3)],
        ),
        ([("join_time_s", None, "A", 1.0), ("join_time_s", None, "B", 2.0)], "join_time_s", [1.5]),
        ([("cpu_share", None, "A", 0.2), ("cpu_share", None, "ap", 0.9)], "cpu_share", [0.9]),
        ([("rate_used_bps", None, "A", 1e6)], "rate_used_bps", []),
        # A saturated flow offers no stated rate, so the cell has none.
        (
            [
                ("throughput_bps", "a", "A", 1e6),
                ("throughput_bps", "b", "B", 1e6),
                ("offered_bps", "a", "A", 2e6),
            ],
            "offered_bps",
            [],
        ),
        # The testbed's own value of the cell stays.
        ([("energy_j_per_bit", None, "A", 1.0), ("energy_j_per_bit", None, None, 5.0)],
         "energy_j_per_bit", [5.0]),
    ],
)  # fmt: skip
def test_a_total_is_the_declared_reduction(rows, metric, expected):
    assert of_cell(with_totals(readings(rows)), metric) == expected


def test_weights_are_metrics_and_percentiles_are_pooled():
    for name, metric in METRICS.items():
        assert set(metric.total.by) <= set(METRICS), name
        assert (metric.total.kind == "pooled") == (name in PERCENTILES), name


def test_a_percentile_of_the_cell_is_that_of_all_packets():
    frame = readings([("delay_p95_s", "a", "A", 0.001), ("delay_p95_s", "b", "B", 0.009)])
    sketches = pl.DataFrame(
        [
            ("one/open/udp", 1, 1, "delay_s", "a", "A", [1_000_000], [90]),
            ("one/open/udp", 1, 1, "delay_s", "b", "B", [1_000_000, 9_000_000], [4, 6]),
        ],
        schema=SKETCHES,
        orient="row",
    )
    rows, whole = with_whole_sketches(frame, sketches)
    assert of_cell(rows, "delay_p50_s") == []
    assert of_cell(rows, "delay_p95_s") == [0.009]
    (cell,) = whole.filter(pl.col("flow").is_null()).to_dicts()
    assert (cell["nanoseconds"], cell["counts"]) == ([1_000_000, 9_000_000], [94, 6])
    found = analyse(frame, sketches=sketches).estimate("one/open/udp", "delay_p95_s")
    assert found.value == 0.009
    assert found.method == "all packets of one trial"


def test_tests_rest_on_totals_and_their_parts_are_exploratory():
    frames = []
    for policy, cost in (("open", 0.0), ("wep-40", 0.02)):
        for trial in range(1, 6):
            noise = 0.001 * trial
            rows = [
                (metric, flow, flow.upper(), value)
                for flow, delay in (("a", 0.1), ("b", 0.3))
                for metric, value in (
                    ("delay_s", delay + cost + noise),
                    ("packets_received", 100.0),
                )
            ]
            frames.append(readings(rows, policy, trial))
    found = analyse(pl.concat(frames), answers=["delay_s"]).comparisons.filter(metric="delay_s")
    whole = found.filter(pl.col("flow").is_null() & pl.col("station").is_null())
    parts = found.filter(pl.col("flow").is_not_null())
    assert whole["family"].to_list() == ["primary"]
    assert parts["family"].to_list() == ["exploratory", "exploratory"]
    assert whole["difference"][0] == pytest.approx(0.02)
    # One test in the family: Holm leaves its p value as it is.
    assert whole["p_adjusted"][0] == whole["p"][0]
