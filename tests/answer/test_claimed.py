"""Claims beside the changes: candidates refused, links that fall back, the level of a turn."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from attrs import evolve

from airtoll.analyse import Estimate
from airtoll.answer import Printed, Verdict
from airtoll.answer.compared import Pair, by_ranks
from airtoll.report.headline import headline
from airtoll.report.summary import summarise
from airtoll.run import run
from airtoll.study import load, parse

HEAD = """
[study]
name = "claims"
title = "claims"
{head}
[trials]
repetitions = 4
"""
REFUSED = (
    HEAD.format(head='baseline = "wpa2-eap-tls-ccmp"')
    + """
[scenario.old]
label = "an old server"
authenticate = true
radius = { max_rounds = 20 }
join = { tls = "1.3" }
stations = [{ name = "A", rssi_dbm = -50 }]
phy = "802.11a"
[scenario.new]
label = "a new server"
authenticate = true
join = { tls = "1.3" }
stations = [{ name = "A", rssi_dbm = -50 }]
phy = "802.11a"
[traffic.short]
transport = "udp"
offered_mbps = 1
payload_bytes = 500
duration_s = 0.1
[grid]
policy = ["wpa2-eap-tls-ccmp"]
"scenario.join.chain" = ["p256", "ml-dsa-87"]
[[question]]
metric = "join_time_s"
from = { "scenario.join.chain" = "p256" }
to = [{ "scenario.join.chain" = "ml-dsa-87" }]
unnoticed = 0.001
"""
)
FALLS = (
    HEAD.format(head='baseline = "wpa2-psk-ccmp"')
    + """
[scenario.wifi7]
phy = "802.11be"
band = "5"
width_mhz = 80
mcs = 13
queue_packets = 4096
wired = { rate_mbps = 10000, delay_us = 50 }
[traffic.udp]
transport = "udp"
direction = "down"
duration_s = 0.2
[grid]
policy = ["wpa2-psk-ccmp", "wpa3-sae-ext-gcmp-256"]
[[question]]
metric = "throughput_bps"
from = { policy = "wpa2-psk-ccmp" }
"""
)
LEVELS = (
    HEAD.format(head="")
    + """
[scenario.bench]
phy = "802.11b"
rate_mbps = 11
stations = [{ name = "A" }]
radio = { carrier_sense_dbm = -98 }
[traffic.udp]
transport = "udp"
duration_s = 0.5
[grid]
policy = ["open"]
"scenario.rssi_dbm" = [-60, -80, -98]
[[question]]
metric = "throughput_bps"
from = { "scenario.rssi_dbm" = -60 }
to = [{ "scenario.rssi_dbm" = -80 }, { "scenario.rssi_dbm" = -98 }]
along = "scenario.rssi_dbm"
unnoticed = 0.05
[[question]]
metric = "throughput_bps"
from = { "scenario.rssi_dbm" = -98 }
to = [{ "scenario.rssi_dbm" = -60 }]
"""
)


def summary(text: str, folder: Path):
    (folder / "claims.toml").write_text(text)
    return summarise(run(folder / "claims.toml", out=folder / "run", jobs=1).path)


def test_a_candidate_that_the_network_refuses_cannot_be_had(tmp_path):
    found = summary(REFUSED, tmp_path)
    (answered,) = found.answered
    (refused,) = answered.impossible
    assert refused.reason == "EAP: more than 20 rounds"
    assert [dict(place.levels)["scenario"] for place in refused.places] == ["old"]
    lines = headline(found)
    assert lines[1] == (
        "ML-DSA-87 certificates cannot be had (an old server): EAP: more than 20 rounds."
    )
    # Where it can be had, it is compared.
    assert lines[0].endswith("(a new server).")
    assert "not measured" not in " ".join(lines).lower()


def test_a_link_below_the_requirements_falls_back(tmp_path):
    found = summary(FALLS, tmp_path)
    (answered,) = found.answered
    (falls,) = answered.fallbacks
    assert falls.arm == answered.question.have
    assert falls.link.startswith("802.11ax")
    assert "WPA3 or OWE" in falls.reason
    (claim,) = answered.compares
    assert claim.verdict is Verdict.GAINS
    assert any(line.startswith("WPA2-Personal falls back to 802.11ax") for line in headline(found))


@pytest.fixture(scope="module")
def levels(tmp_path_factory):
    return summary(LEVELS, tmp_path_factory.mktemp("levels"))


def test_the_verdict_turns_at_a_level_of_what_changes(levels):
    (crossing,) = levels.answered[0].crossings
    assert (crossing.last, crossing.first) == (-80.0, -98.0)
    assert crossing.below.verdict is Verdict.UNNOTICED
    # All is lost: a share with no spread.
    assert crossing.above.change.value == crossing.above.change.low == -1.0
    assert crossing.above.verdict is Verdict.COSTS


@pytest.mark.parametrize(
    ("others", "verdict", "ends"),
    [
        ([100.0, 100.0, 100.0, 99.5], Verdict.UNNOTICED, (-0.005, 0.0)),
        ([100.0, 100.0, 100.0, 98.0], Verdict.TOO_FEW, None),
        ([100.0, 100.0, 99.5], Verdict.TOO_FEW, None),
    ],
)
def test_readings_beside_equal_ones_are_nothing_noticed_if_none_is_far(
    levels, others, verdict, ends
):
    claim = levels.answered[0].compares[0]
    pair = Pair("a", "b")
    values = {"a": [100.0] * 4, "b": others}
    rows = [
        levels.observations.head(1).with_columns(
            cell=pl.lit(cell),
            metric=pl.lit(claim.metric),
            trial=pl.lit(trial).cast(levels.observations["trial"].dtype),
            value=pl.lit(value),
            **{part: pl.lit(None) for part in ("flow", "station", "second")},
        )
        for cell, of in values.items()
        for trial, value in enumerate(of)
    ]
    measured = evolve(levels.measured, observations=pl.concat(rows))
    nan = float("nan")
    change = Estimate(-0.001, nan, nan, 0.95, 8, "equal in all trials", "1")
    claim = evolve(claim, change=change, verdict=Verdict.TOO_FEW)
    found = by_ranks(claim, measured, pair, 0.01)
    assert found.verdict is verdict
    if ends is None:
        assert found.change is change
    else:
        assert (found.change.low, found.change.high) == pytest.approx(ends)


def test_a_change_from_nothing_is_no_share(levels):
    (claim,) = levels.answered[1].compares
    assert not claim.is_share
    assert claim.change.unit == "bit/s"
    assert claim.verdict is Verdict.GAINS


def test_a_value_that_a_study_is_fitted_to_is_no_prediction(tmp_path):
    """The time per packet of Windows 8 is fitted to one of the four printed differences."""
    found = summarise(run("tepsic2014-host", out=tmp_path / "run", trials=3, jobs=2).path)
    (claim,) = found.reproduced
    assert claim.kind is Printed.DIFFERENCE
    assert (claim.total, claim.fitted) == (3, 1)


def test_the_label_of_the_card_is_the_time_of_its_profile():
    study = load("tripathi2008").study
    assert study.profile_set["card"].label == "a serial card fitted to one client"
    assert "label" not in study.profile_set["card"].profiles


def test_a_profile_set_has_words_beside_its_substitutions():
    text = FALLS.replace(
        "[grid]", '[profile_set.slow]\nlabel = "a slow card"\nideal = "esp32"\n[grid]'
    )
    study = parse(text, Path("claims.toml")).study
    assert study.profile_set["slow"].profiles == {"ideal": "esp32"}
    assert study.profile_set["slow"].label == "a slow card"


def test_totals_keep_what_selects_the_trials(tmp_path):
    """A question about delay needs the throughputs by which trials are selected."""
    text = LEVELS.replace(
        "repetitions = 4",
        'repetitions = 4\nselect = { rule = "agreement", ratio = 0.5, metric = "throughput_bps" }',
    ).replace('metric = "throughput_bps"\nfrom', 'metric = "delay_s"\nfrom', 1)
    found = summary(text, tmp_path)
    assert found.answered[0].compares[0].change is not None
    assert found.trials["status"].cast(pl.String).unique().to_list() == ["ok"]


def test_the_other_stations_of_a_mixed_cell_are_told_by_their_sum(tmp_path):
    found = summarise(run("mixed-cell", out=tmp_path / "run", trials=2, jobs=2).path)
    others, whole, old = found.answered[:3]
    assert others.question.others_than == old.question.station == "old"
    for claims in zip(others.compares, whole.compares, old.compares, strict=True):
        for side in ("before", "after"):
            rest, every, one = (getattr(claim, side).value for claim in claims)
            assert rest == pytest.approx(every - one)
    first, second, *_ = headline(found)
    assert first.startswith("From WPA2-Personal CCMP-128 to ")
    assert ', station "old" takes nothing from the others: their throughput rises by ' in first
    assert second.startswith('For station "old" only: from WPA2-Personal CCMP-128 to ')
    assert "throughput of the whole cell" in second


def test_the_factor_that_a_paper_leaves_open_is_the_one_beside_the_same_value(tmp_path):
    found = summarise(run("gheryani2013-rate", out=tmp_path / "run", trials=2, jobs=2).path)
    throughputs = [one for one in found.reproduced if one.quantity == "throughput_bps"]
    assert {one.axis for one in throughputs} == {"scenario.rate_mbps"}
    assert [one.variant for one in throughputs] == [12, 18, 24, 54]
    # Those that chose the rate count for the choice, and not as predictions.
    chosen = throughputs[1]
    assert (chosen.total, chosen.fitted, chosen.of_all.total) == (8, 2, 10)
