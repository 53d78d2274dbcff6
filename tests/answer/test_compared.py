"""Claims of small runs: every place keeps its own change."""

from __future__ import annotations

from pathlib import Path

import pytest

from airtoll.answer import Held, Verdict
from airtoll.report.every_metric import every_metric
from airtoll.report.summary import summarise
from airtoll.run import run

STUDY = """
[study]
name = "claims"
title = "claims"
[trials]
repetitions = 4
pairing = "common"
[scenario.a]
phy = "802.11a"
rate_mbps = 54
[scenario.g]
phy = "802.11g"
rate_mbps = 6
[traffic.long]
transport = "udp"
payload_bytes = 1472
duration_s = 0.4
[traffic.short]
transport = "udp"
payload_bytes = 64
duration_s = 0.4
[grid]
policy = ["open", "wpa2-psk-ccmp", "wpa3-sae-gcmp-256"]
[[question]]
metric = "throughput_bps"
from = { policy = "open" }
to = [{ policy = "wpa2-psk-ccmp" }]
[[question]]
metric = "throughput_bps"
from = { policy = "wpa2-psk-ccmp", traffic = "long" }
to = [{ traffic = "short" }]
"""


@pytest.fixture(scope="module")
def summary(tmp_path_factory):
    folder: Path = tmp_path_factory.mktemp("claims")
    (folder / "claims.toml").write_text(STUDY)
    return summarise(run(folder / "claims.toml", out=folder / "run", jobs=1).path)


def test_each_place_has_its_own_change_with_the_interval_of_its_cells(summary):
    first = summary.answered[0]
    assert len(first.compares) == 4
    for claim in first.compares:
        mine, other = claim.place.cells[claim.have], claim.place.cells[claim.to]
        assert (mine.scenario, mine.traffic) == (other.scenario, other.traffic)
        # The run's own analysis by policy gives the same overhead.
        overhead = summary.analysis.overhead(other.name)
        assert claim.change.value == pytest.approx(-overhead.value)
        assert claim.change.low == pytest.approx(-overhead.high)
        assert claim.verdict in (Verdict.COSTS, Verdict.UNNOTICED)


def test_a_question_may_change_any_axis(summary):
    second = summary.answered[1]
    assert [place.levels for place in second.question.places] == [
        (("scenario", "a"),),
        (("scenario", "g"),),
    ]
    for claim in second.compares:
        assert claim.verdict is Verdict.COSTS
        assert claim.change.value < -0.5


def test_the_parts_add_up_to_the_change(summary):
    parts = summary.answered[0].parts
    assert sum(part.value for _, part in parts.parts) == pytest.approx(parts.total, abs=2e-3)
    assert dict(parts.parts)["airtime_security_s"].value > 0


def test_a_saturated_sender_is_held_back_by_the_air(summary):
    assert {one.held for one in summary.answered[0].limits} == {Held.AIR}


@pytest.fixture(scope="module")
def sensor(tmp_path_factory):
    values = {
        "grid.scenario": ["quarter", "resumed", "associated"],
        "grid.policy": ["wpa2-psk-ccmp", "wpa2-eap-tls-ccmp"],
        "trials.repetitions": 2,
    }
    place = tmp_path_factory.mktemp("sensor") / "run"
    return summarise(run("esp32-battery", out=place, values=values, jobs=1).path)


@pytest.fixture(scope="module")
def boots(tmp_path_factory):
    values = {"grid.profile_set": ["esp32"], "trials.repetitions": 4}
    place = tmp_path_factory.mktemp("boots") / "run"
    return summarise(run("cold-boot", out=place, values=values, jobs=1).path)


def test_a_change_that_is_asked_as_a_share_is_one_of_the_means(boots):
    (claim,) = boots.answered[0].compares
    assert boots.answered[0].question.as_share
    assert claim.is_share
    assert claim.change.value == pytest.approx(claim.after.value / claim.before.value - 1)
    assert claim.change.unit == "1"
    assert claim.verdict is Verdict.GAINS
    # Another question about the same metric keeps its unit.
    (other,) = boots.answered[1].compares
    assert not other.is_share
    assert other.change.unit == "s"


def lines_of(summary, *metrics):
    return {one.metric: one.sentences(summary.names) for one in every_metric(summary, metrics)}


@pytest.fixture(scope="module")
def told(sensor):
    """The lines of every metric."""
    return lines_of(sensor)


def test_the_power_of_the_traffic_is_none_of_a_day(sensor, told):
    assert "day_energy_j" in told
    assert not {"power_w", "energy_j_per_bit"} & set(told)
    for line in lines_of(sensor, "power_w")["power_w"]:
        assert "mean power in the trial " in line


def test_a_question_without_a_value_is_silent_beside_others_of_its_metric(told):
    lines = told["eap_time_s"]
    assert any("the time of EAP" in line for line in lines)
    assert not any(line.startswith("No trial measured") for line in lines)


def test_a_percentile_that_is_equal_in_all_trials_does_not_change(told):
    lines = told["delay_p95_s"]
    assert lines
    assert all("the 95 % delay does not change" in line for line in lines)
