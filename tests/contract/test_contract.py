"""One suite for every testbed: what the contract promises, on the simulator, closed forms, a fake.

The real stack is held to the same suite where it runs (see ``tests/testbeds/linux``).
"""

from __future__ import annotations

import math

import pytest

from airtoll.observe.metrics import METRICS
from airtoll.plan import make_plan
from airtoll.study import parse
from airtoll.testbeds.contract import Measured, Row, Skip, with_whole_cell
from airtoll.testbeds.registry import make

STUDY = """
[study]
name = "contract"
title = "Contract"
[trials]
repetitions = 2
[scenario.home]
phy = "802.11a"
beacons = false
[scenario.pair]
phy = "802.11a"
beacons = false
topology = "station-to-station"
stations = [{ name = "A" }, { name = "B" }]
[traffic.udp]
transport = "udp"
duration_s = 0.5
[traffic.paced]
transport = "udp"
offered_mbps = 2
payload_bytes = 500
duration_s = 0.5
[grid]
policy = ["open", "wpa2-psk-ccmp", "wep-40"]
"""


@pytest.fixture(params=["simulator", "analytic", "fake"])
def bed(request, fake):
    testbed = fake() if request.param == "fake" else make(request.param)
    yield testbed
    testbed.close()


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    return make_plan(parse(STUDY, tmp_path_factory.mktemp("c") / "contract.toml").study)


def test_check_says_yes_or_why_not_and_measures_nothing(bed, plan):
    for cell in plan.cells:
        answer = bed.check(cell)
        assert answer is None or (isinstance(answer, Skip) and answer.reason)
        if answer:
            assert "\n" not in answer.reason
        assert bed.expected_s(cell) > 0


def test_measured_rows_are_of_the_schema(bed, plan):
    for cell in plan.cells:
        if bed.check(cell):
            continue
        measured = bed.measure(plan.trial(cell, 1, 1))
        assert isinstance(measured, Measured)
        assert measured.failure is None
        assert measured.rows
        for row in measured.rows:
            assert row.metric in METRICS, row
            assert row.unit == METRICS[row.metric][0], row
            assert math.isfinite(row.value), row
        whole = [r for r in measured.rows if r.metric == "throughput_bps" and r.flow is None]
        assert len(whole) == 1
        assert whole[0].value > 0


def test_the_retransmitted_share_is_that_of_the_ledger(bed, plan):
    shares = []
    for cell in plan.cells:
        if bed.check(cell):
            continue
        rows = bed.measure(plan.trial(cell, 1, 1)).rows
        whole = {r.metric: r.value for r in rows if r.station is None and r.flow is None}
        if "airtime_retry_s" not in whole:
            assert "airtime_retry_share" not in whole
            continue
        silent = whole["airtime_contention_s"] + whole["airtime_idle_s"]
        # The parts of the ledger add up to the measured time.
        frames = 0.5 - silent
        expected = whole["airtime_retry_s"] / frames
        assert whole["airtime_retry_share"] == pytest.approx(expected, rel=1e-6)
        shares.append(whole["airtime_retry_share"])
    # Two stations that relay to each other collide; a lone one does not.
    assert bool(shares) == (bed.name == "simulator")
    assert not shares or (max(shares) > 0.01 and min(shares) == 0)


def test_without_acknowledgements_there_is_no_retransmitted_share():
    parts = [Row("airtime_retry_s", 0.1, "s"), Row("airtime_payload_s", 0.3, "s")]
    assert [row.metric for row in with_whole_cell(parts)] == [row.metric for row in parts]
    (share,) = with_whole_cell([*parts, Row("airtime_ack_s", 0.1, "s")])[3:]
    assert (share.metric, share.value) == ("airtime_retry_share", pytest.approx(0.2))


def test_fairness_is_jains_index_of_the_stations():
    def rate(station, value, flow=None, second=None):
        return Row("throughput_bps", value, "bit/s", flow, station, second)

    rows = [rate("A", 1.0, "a1"), rate("A", 2.0, "a2"), rate("B", 1.0), rate("A", 9.0, second=0)]
    # (3 + 1)^2 / (2 (9 + 1)): the flows of a station add up, single seconds do not count.
    (fair,) = [row for row in with_whole_cell(rows) if row.metric == "fairness_ratio"]
    assert (fair.value, fair.unit, fair.station) == (pytest.approx(0.8), "1", None)
    for few in (rows[:2], [rate("A", 0.0), rate("B", 0.0)]):
        assert "fairness_ratio" not in {row.metric for row in with_whole_cell(few)}


def test_the_seed_names_the_result(bed, plan):
    cell = next(c for c in plan.cells if bed.check(c) is None)
    first = bed.measure(plan.trial(cell, 1, 1))
    again = bed.measure(plan.trial(cell, 1, 1))
    assert first.rows == again.rows


def test_closing_twice_is_harmless(bed):
    bed.close()
    bed.close()


def test_the_environment_is_words(bed):
    environment = bed.environment()
    assert environment
    assert all(isinstance(v, str) for v in environment.values())
