"""Halves of trials: what has not settled, and what differs by chance alone."""

import numpy as np
import polars as pl
import pytest

from airtoll.analyse import analyse
from airtoll.analyse.settling import in_words, unsettled
from airtoll.observe.schema import WITHOUT_CHANCE
from airtoll.plan import make_plan
from airtoll.study import load
from airtoll.testbeds.analytic import Analytic
from airtoll.testbeds.simulator import Simulator


def readings(rows, drifts, rates=None, metric="throughput_drift_bps", of="throughput_bps"):
    """Flow A of one policy: its readings, and their drifts as shares (0: no row)."""
    rates = np.asarray(rates if rates is not None else np.full(len(drifts), 20e6))
    unit = "s" if of == "delay_s" else "bit/s"
    own = rows({"open": rates}, of, unit)
    drift = rows({"open": rates * np.asarray(drifts)}, metric, unit).filter(pl.col("value") != 0)
    frame = pl.concat([own, drift])
    return frame.with_columns(flow=pl.lit("A-down"), station=pl.lit("A"))


@pytest.mark.parametrize(
    ("drifts", "found"),
    [
        ([-1.7, -1.6, -1.7], True),
        # Of one or two trials, or of noisy ones, a difference may be chance.
        ([-1.7, -1.6], False),
        ([-1.7], False),
        ([0.3, -0.2, 0.25, -0.3, 0.1], False),
        ([0.3, 0.1, 0.4], False),
        ([0.2, 0.21, 0.19, 0.2, 0.2], True),
        # Small as it is, it hardly moves the figure.
        ([0.07, 0.071, 0.07, 0.069, 0.07], False),
        # A trial without a row has halves that are about the same.
        ([-1.7, -1.6, 0.0], False),
        ([0.0, 0.0, 0.0], False),
    ],
)
def test_halves_that_differ_alike_in_all_trials_have_not_settled(rows, drifts, found):
    frame = unsettled(readings(rows, drifts))
    assert frame.filter(pl.col("flow").is_not_null()).height == found
    # The only flow is the cell.
    assert frame.filter(pl.col("flow").is_null()).height == found
    if found:
        assert frame["relative"].to_list() == pytest.approx([np.mean(drifts)] * 2)


@pytest.mark.parametrize(
    ("drifts", "found"),
    [([-1.7, -1.6], True), ([-1.7], True), ([-0.6], False), ([-0.2, 0.2], False)],
)
def test_a_known_cause_needs_fewer_than_three_trials(rows, drifts, found):
    frame = unsettled(readings(rows, drifts), {"s/open/udp"})
    assert frame.is_empty() is not found


def test_delays_of_a_full_queue_may_move_a_little(rows):
    for drift, found in ((0.3, False), (0.9, True)):
        near = np.array([0.99, 1.0, 1.01, 1.0]) * drift
        frame = unsettled(readings(rows, near, np.full(4, 0.1), "delay_drift_s", "delay_s"))
        assert frame.is_empty() is not found


def test_a_cell_settles_though_one_of_its_flows_has_not(rows):
    small = readings(rows, [-1.8, -1.7, -1.75], np.full(3, 0.2e6))
    large = readings(rows, [0.0] * 3).with_columns(flow=pl.lit("B-down"), station=pl.lit("B"))
    frame = unsettled(pl.concat([small, large]))
    assert frame["flow"].to_list() == ["A-down"]
    result = analyse(pl.concat([small, large]))
    assert not result.estimate("s/open/udp", "throughput_bps", "A-down", "A").is_settled
    assert result.estimate("s/open/udp", "throughput_bps", "B-down", "B").is_settled
    assert result.estimate("s/open/udp", "throughput_bps").is_settled


def test_drifts_are_no_readings_of_their_own(rows):
    result = analyse(readings(rows, [-1.7, -1.6, -1.7]))
    assert set(result.estimates["metric"]) == {"throughput_bps"}
    method = result.estimates["method"].unique().to_list()
    assert method == ["not settled: second half 91 % lower"]


@pytest.mark.parametrize(
    ("relative", "words"),
    [
        (-1.667, "91 % lower"),
        (0.1, "11 % higher"),
        (1.0, "3.0 times as high"),
        (-2.0, "100 % lower"),
    ],
)
def test_a_difference_of_halves_in_words(relative, words):
    assert in_words(relative) == words


def test_determinism_is_that_of_the_model():
    plan = make_plan(load("quickstart").study, repetitions=2)
    one, two = [trial for trial in plan.trials() if trial.cell.name == "home/open/udp"][:2]

    def values(testbed, trial):
        return [(r.metric, r.flow, r.value) for r in testbed.measure(trial).rows]

    for testbed in (Analytic(), Simulator()):
        equal = values(testbed, one) == values(testbed, two)
        assert equal == (testbed.name in WITHOUT_CHANCE)
