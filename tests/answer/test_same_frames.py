"""Policies with the same data frames: the plan says so, whatever the trials measured."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from airtoll.answer.compared import OF_FRAMES
from airtoll.plan import make_plan
from airtoll.plan.same_frames import same_data_frames
from airtoll.present.words import Teller
from airtoll.report.every_metric import every_metric
from airtoll.report.summary import summarise
from airtoll.run import run
from airtoll.study import parse

STUDY = """
[study]
name = "two"
title = "Two policies"
baseline = "open"
today = "wpa2-psk-ccmp"

[trials]
repetitions = 3
{trials}

[scenario.home]
phy = "{phy}"
clients = 3
{scenario}

[traffic.tcp]
transport = "tcp"
duration_s = 0.1

[grid]
policy = ["open", "wpa2-psk-ccmp", "{other}"]
"""


def cells(other: str, scenario: str = "", phy: str = "802.11ac"):
    text = STUDY.format(other=other, scenario=scenario, phy=phy, trials="")
    plan = make_plan(parse(text, Path("two.toml")).study)
    return {cell.policy: cell for cell in plan.cells}


@pytest.mark.parametrize(
    ("other", "scenario", "phy", "expected"),
    [
        ("wpa3-sae-ccmp", "", "802.11ac", True),
        ("wpa2-eap-tls-ccmp", "", "802.11ac", True),
        ("owe-ccmp", "", "802.11ac", True),
        ("wpa3-sae-gcmp-256", "", "802.11ac", False),
        ("wpa2-psk-ccmp+wireguard", "", "802.11ac", False),
        ("wpa-psk-tkip", "", "802.11g", False),
        # Joins have other messages.
        ("wpa3-sae-ccmp", "authenticate = true", "802.11ac", False),
        # Probe Responses have another RSN element.
        ("wpa3-sae-ccmp", "passers_by = { per_s = 9 }", "802.11ac", False),
        # The link of one of them falls back to 802.11ax.
        ("wpa3-sae-ext-gcmp-256", "", "802.11be", False),
        # A card that fails under one policy.
        ("wpa3-sae-ccmp", 'card = { no_aggregation = ["wpa3-sae-ccmp"] }', "802.11ac", False),
    ],
)
def test_the_plan_says_which_data_frames_are_the_same(other, scenario, phy, expected):
    of = cells(other, scenario, phy)
    assert same_data_frames(of["wpa2-psk-ccmp"], of[other]) is expected
    assert not same_data_frames(of["open"], of[other])


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    place = tmp_path_factory.mktemp("two")

    def made(trials: str, scenario: str = "") -> Path:
        file = place / "two.toml"
        text = STUDY.format(other="wpa3-sae-ccmp", scenario=scenario, phy="802.11ac", trials=trials)
        file.write_text(text)
        return run(file, out=place / (trials or "independent")[:6]).path

    return made


def test_without_beacons_the_simulator_agrees_to_the_last_bit(two):
    rows = summarise(two('pairing = "common"', "beacons = false")).observations.filter(
        pl.col("metric").cast(pl.String).str.contains(f"^({'|'.join(OF_FRAMES)})")
    )
    assert {"throughput_bps", "loss_ratio", "fairness_ratio", "jitter_s"} <= set(rows["metric"])
    assert {"airtime_retry_s", "airtime_contention_s"} <= set(rows["metric"])
    by = ["metric", "flow", "station", "second", "trial"]
    policies = [
        rows.filter(pl.col("policy") == name).sort(by)["value"].to_list()
        for name in ("wpa2-psk-ccmp", "wpa3-sae-ccmp")
    ]
    assert policies[0] == policies[1]
    assert policies[0]


@pytest.fixture(scope="module")
def independent(two):
    return summarise(two(""))


def test_every_metric_of_the_frames_alone_is_chance(independent):
    summary = independent
    for metric in ("fairness_ratio", "jitter_s", "delay_p99_s"):
        (found,) = every_metric(summary, [metric])
        claims = [
            claim
            for one in found.answered
            for claim in one.compares
            if {claim.have["policy"], claim.to["policy"]} == {"wpa2-psk-ccmp", "wpa3-sae-ccmp"}
        ]
        assert [claim.same_frames for claim in claims] == [True]
    (found,) = every_metric(summary, ["airtime_management_s"])
    assert not any(claim.same_frames for one in found.answered for claim in one.compares)


def test_a_change_between_the_same_frames_is_told_as_chance(independent):
    summary = independent
    told = [
        line for one in map(Teller(summary.names).answer, summary.answered) for line in one.leads
    ]
    (line,) = (one for one in told if "to WPA3-Personal" in one)
    assert "throughput stays the same: both send the same data frames; the measured change" in line
    assert line.endswith(" is chance.")
