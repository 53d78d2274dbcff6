"""Multi-link operation: a study's links in the resolved scenario, fallbacks, and refusals."""

from __future__ import annotations

import math
from typing import Any

import pytest

from airtoll.plan import Cell, make_plan, resolved
from airtoll.study import Study
from airtoll.testbeds.analytic import Analytic
from airtoll.testbeds.linux.capability import CAPABILITY as LINUX
from airtoll.testbeds.resolve import scenario
from airtoll.testbeds.simulator import Simulator

WIFI7 = "wpa3-sae-ext-gcmp-256"
FIVE: dict[str, Any] = {"band": "5", "width_mhz": 80, "mcs": 9}
SIX: dict[str, Any] = {"band": "6", "width_mhz": 160, "mcs": 13, "streams": 2}
LINKS = {"links": [FIVE, SIX]}


def study_of(policy: str = WIFI7, **settings: Any) -> Study:
    own: dict[str, Any] = {"phy": "802.11be", "mlo": LINKS, "queue_packets": 4096}
    return Study.model_validate(
        {
            "study": {"name": "links", "title": "Links", "baseline": policy},
            "scenario": {"one": own | settings},
            "traffic": {"load": {"transport": "udp", "direction": "up", "duration_s": 0.1}},
            "grid": {"scenario": ["one"], "traffic": ["load"], "policy": [policy]},
        }
    )


def cell_of(policy: str = WIFI7, **settings: Any) -> Cell:
    return make_plan(study_of(policy, **settings)).cells[0]


def test_each_link_is_a_bss_on_its_own_channel():
    resolved = scenario(cell_of(rssi_dbm=-50.0))
    first, second = resolved.bss
    assert (first.name, first.channel, first.width_mhz, first.rate.mcs) == ("cell", 0, 80, 9)
    assert (second.name, second.channel, second.width_mhz) == ("link2", 1, 160)
    assert (second.rate.mcs, second.rate.streams) == (13, 2)
    assert [bss.band and bss.band.value for bss in resolved.bss] == ["5ghz", "6ghz"]
    nodes = {node.name: node for node in resolved.nodes}
    for name in ("A", "ap"):
        assert (nodes[name].bss, nodes[name].multi_link) == ("cell", ("link2",))
    # Beacons report the other link.
    assert all(bss.beacons and bss.beacons.reported == 1 for bss in resolved.bss)


def test_a_link_has_a_level_of_its_own():
    weak = {"links": [FIVE, SIX | {"rssi_dbm": -82.0}]}
    budgets = scenario(cell_of(mlo=weak, rssi_dbm=-50.0)).radio.budgets
    assert [(b.bss, b.rssi_dbm) for b in budgets] == [("cell", -50.0), ("link2", -82.0)]
    far = scenario(cell_of(stations=[{"name": "A", "position_m": [5, 0]}])).radio.budgets
    # Free space at 6 GHz loses more than at 5 GHz.
    assert far[1].loss_db - far[0].loss_db == pytest.approx(47.9 - 46.7)
    assert "too low for the rate" in Simulator().cautions(cell_of(mlo=weak))[0].text


def test_a_station_of_one_link_is_in_one_bss():
    stations = [{"name": "A"}, {"name": "B", "link": 2, "mcs": 3}]
    nodes = {node.name: node for node in scenario(cell_of(stations=stations)).nodes}
    assert (nodes["B"].bss, nodes["B"].multi_link) == ("link2", ())
    assert nodes["B"].rate.mcs == 3
    assert nodes["A"].multi_link == ("link2",)


@pytest.mark.parametrize(
    ("links", "band", "width_mhz", "mcs"),
    [([FIVE, SIX], "5ghz", 80, 9), ([SIX, FIVE], "5ghz", 80, 9)],
)
def test_wpa2_falls_to_the_first_link_that_takes_it(links, band, width_mhz, mcs):
    cell = cell_of("wpa2-psk-ccmp", mlo={"links": links})
    assert Simulator().check(cell) is None
    (bss,) = scenario(cell).bss
    assert (bss.standard.value, bss.width_mhz, bss.rate.mcs) == ("802.11ax", width_mhz, mcs)
    assert bss.band is not None
    assert bss.band.value == band
    assert all(not node.multi_link for node in scenario(cell).nodes)
    (note,) = resolved(cell).notes
    assert "falls back to 802.11ax (no EHT rates, no multi-link)" in note


def test_a_station_below_the_requirements_falls_to_one_link_beside_others():
    stations = [{"name": "A"}, {"name": "B", "policy": "wpa3-sae-ccmp"}]
    cell = cell_of(mlo={"links": [SIX, FIVE]}, stations=stations)
    nodes = {node.name: node for node in scenario(cell).nodes}
    assert nodes["A"].multi_link == ("link2",)
    # WPA3 with CCMP may use 6 GHz.
    assert (nodes["B"].bss, nodes["B"].multi_link) == ("cell", ())
    assert nodes["B"].standard is not None
    assert (nodes["B"].standard.value, nodes["B"].rate.mcs) == ("802.11ax", 11)
    assert Simulator().check(cell) is None


def test_wpa2_finds_no_link_at_6_ghz_alone():
    skip = Simulator().check(cell_of("wpa2-psk-ccmp", mlo={"links": [SIX, SIX]}))
    assert skip is not None
    assert "6 GHz takes WPA3 or OWE alone" in skip.reason


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (
            {"authenticate": True, "join": {"deauthenticate_at_s": 1.0}},
            "mlo is not simulated with join.deauthenticate_at_s",
        ),
        (
            {"authenticate": True, "beacon_protection": False},
            "mlo with authenticate = true needs protected beacons (beacon_protection)",
        ),
        (
            {"authenticate": True, "operating_channel_validation": True},
            "mlo with authenticate = true has no operating channel validation of several links "
            "(operating_channel_validation)",
        ),
        (
            {"address_resolution": "dynamic"},
            'mlo is not simulated with address_resolution = "dynamic"',
        ),
        (
            {"queue_type": "fq_codel", "airtime_fairness": True},
            "mlo is not simulated with airtime_fairness",
        ),
    ],
)
def test_combinations_are_skipped_with_the_reason(settings, reason):
    skip = Simulator().check(cell_of(**settings))
    assert skip is not None
    assert skip.reason == reason


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        ("wpa2-psk-ccmp", "Wi-Fi 7 links take WPA3 or OWE alone"),
        ("wpa3-sae-gcmp-256", "SAE must be AKM 24"),
        ("wpa3-ft-sae-ext-gcmp-256", "the keys of a fast transition over several links"),
    ],
)
def test_a_policy_without_multi_link_joins_over_one_link(policy, reason):
    asked: dict[str, Any] = {"authenticate": True, "security_gates": "ignore"}
    skip = Simulator().check(cell_of(policy, **asked))
    assert skip is not None
    assert f"mlo with authenticate = true: {policy}: {reason}" in skip.reason
    one = cell_of(policy, stations=[{"name": "A", "link": 2}], **asked)
    assert Simulator().check(one) is None
    assert [a.options.links for a in scenario(one).associations] == [1]


def test_stations_join_over_as_many_links_as_they_have():
    stations = [{"name": "A"}, {"name": "B", "link": 2, "policy": "wpa3-sae-ccmp"}]
    cell = cell_of(stations=stations, authenticate=True)
    assert Simulator().check(cell) is None
    assert [(a.station, a.options.links) for a in scenario(cell).associations] == [
        ("A", 2),
        ("B", 1),
    ]


def test_a_cell_below_the_requirements_joins_over_one_link():
    cell = cell_of("wpa2-psk-ccmp", authenticate=True)
    assert Simulator().check(cell) is None
    assert [a.options.links for a in scenario(cell).associations] == [1]


def test_a_cipher_without_eht_has_one_link():
    skip = Simulator().check(cell_of("wpa-psk-tkip"))
    assert skip is not None
    assert "tkip may not be used with HT and later rates" in skip.reason


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"phy": "802.11ax"}, "mlo needs phy"),
        ({"mcs": 5}, "mcs and mlo exclude one another"),
        ({"mlo": {"links": [FIVE]}}, "at least 2"),
        ({"mlo": LINKS | {"mode": "nstr"}}, "emlsr"),
        ({"mlo": {"links": [FIVE, FIVE | {"width_mhz": 320}]}}, "up to 160"),
        ({"mlo": {"links": [FIVE, {"band": "7"}]}}, "band"),
        ({"stations": [{"name": "A", "link": 3}]}, "link is 1 to 2"),
        ({"stations": [{"name": "A", "mcs": 3}]}, "need `link`"),
        ({"mlo": None, "stations": [{"name": "A", "link": 1}]}, "absent without mlo"),
    ],
)
def test_mistakes_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        study_of(**settings)


def test_closed_forms_and_the_real_stack_have_one_link():
    skip = Analytic().check(cell_of())
    assert skip is not None
    assert "one link" in skip.reason
    reason = LINUX.why_not(cell_of())
    assert reason is not None


def goodput_bps(**settings: Any) -> float:
    trial = next(iter(make_plan(study_of(**settings)).trials()))
    rows = Simulator().measure(trial).rows
    return math.fsum(
        row.value
        for row in rows
        if row.metric == "throughput_bps" and row.flow is not None and row.second is None
    )


def test_two_links_give_the_sum_of_both():
    wired = {"rate_mbps": 10_000, "delay_us": 50}
    both = goodput_bps(mlo={"links": [FIVE, FIVE]}, wired=wired)
    one = goodput_bps(mlo=None, wired=wired, **FIVE)
    assert both == pytest.approx(2 * one, rel=0.03)
