"""The rate of a station whose study states none: the highest MCS that its level supports."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from airtoll import border
from airtoll.cli.app import app
from airtoll.observe.metrics import RATE
from airtoll.plan import Cell, Trial, make_plan
from airtoll.plan.levels import mean_level_dbm, sure_level_dbm
from airtoll.plan.rates import by_level
from airtoll.study import Study
from airtoll.study.generations import GENERATIONS, HIGHEST_MBPS
from airtoll.testbeds import station_rates
from airtoll.testbeds.analytic import Analytic
from airtoll.testbeds.resolve import scenario
from airtoll.testbeds.simulator import Simulator

MCS_PHYS = [name for name in GENERATIONS if name not in HIGHEST_MBPS]


def cell_of(policy: str | None = None, duration_s: float = 0.3, **settings: Any) -> Cell:
    # Below Wi-Fi 7's own policies 802.11be falls back.
    default = "wpa3-sae-ext-gcmp-256" if settings["phy"] == "802.11be" else "open"
    policy = policy or default
    data = {
        "study": {"name": "rates", "title": "Rates", "baseline": policy},
        "scenario": {"one": settings},
        "traffic": {"load": {"transport": "udp", "duration_s": duration_s}},
        "grid": {"scenario": ["one"], "traffic": ["load"], "policy": [policy]},
    }
    return make_plan(Study.model_validate(data)).cells[0]


def rates(cell: Cell) -> dict[str, tuple[int | None, float]]:
    """MCS and Mb/s by station; with several links by station and link."""
    found = station_rates.of_cell(cell)
    several = len({one.link for one in found}) > 1
    return {
        f"{one.station}{one.link}" if several else one.station: (one.mcs, one.mbps) for one in found
    }


def retried(cell: Cell) -> float:
    """Retransmitted share of the airtime in one trial."""
    measured = Simulator().measure(Trial(cell, 1, 1, 5))
    return next(row.value for row in measured.rows if row.metric == "airtime_retry_share")


@pytest.mark.parametrize("phy", MCS_PHYS)
def test_a_near_station_has_the_highest_mcs_and_a_far_one_the_lowest(phy):
    top = GENERATIONS[phy]["mcs_top"]
    # 802.11ac has no MCS 9 at 20 MHz with one stream.
    highest = 8 if phy == "802.11ac" else top
    assert rates(cell_of(phy=phy))["A"][0] == highest
    far = cell_of(phy=phy, stations=[{"name": "A", "rssi_dbm": -91}])
    assert rates(far)["A"][0] == 0


@pytest.mark.parametrize("phy", MCS_PHYS)
@pytest.mark.parametrize("level", [-88, -80, -72, -64, -56])
def test_the_next_mcs_would_lose_frames_and_the_chosen_one_does_not(phy, level):
    settings = {"phy": phy, "stations": [{"name": "A", "rssi_dbm": level}]}
    settings["radio"] = {"carrier_sense_dbm": -95}
    chosen, _ = rates(cell_of(**settings))["A"]
    assert chosen is not None
    assert retried(cell_of(**settings)) < 0.2
    allowed = GENERATIONS[phy]["mcs_top"]
    if chosen < (allowed or 0) - 1:
        assert retried(cell_of(**settings, mcs=chosen + 1)) > 0.1


def test_wider_channels_and_longer_paths_need_lower_rates():
    levels = [
        rates(cell_of(phy="802.11ax", width_mhz=width, rssi_dbm=-65))["A"][0]
        for width in (20, 40, 80, 160)
    ]
    assert levels == sorted(levels, reverse=True)
    assert levels[0] > levels[-1]
    places = [
        rates(cell_of(phy="802.11n", stations=[{"name": "A", "position_m": [metres, 0]}]))["A"][0]
        for metres in (1, 20, 40, 80)
    ]
    assert places == sorted(places, reverse=True)
    assert places[0] == 7
    assert places[-1] < 7
    walled = {"name": "A", "position_m": [20, 0], "walls": 3}
    assert rates(cell_of(phy="802.11n", stations=[walled]))["A"][0] < places[1]


@pytest.mark.parametrize("phy", MCS_PHYS)
def test_ldpc_carries_a_higher_mcs_at_some_weak_level_and_never_a_lower_one(phy):
    gained = 0
    for level in range(-88, -56, 2):
        settings = {"phy": phy, "stations": [{"name": "A", "rssi_dbm": level}]}
        settings["radio"] = {"carrier_sense_dbm": -95}
        bcc, ldpc = (
            rates(cell_of(**settings, coding=coding))["A"][0] for coding in ("bcc", "ldpc")
        )
        assert bcc is not None
        assert ldpc is not None
        assert bcc <= ldpc
        gained += ldpc - bcc
        if ldpc > bcc:
            assert retried(cell_of(**settings, coding="ldpc")) < 0.2
    assert 3 <= gained <= 16


@pytest.mark.parametrize("phy", ["802.11a", "802.11b", "802.11g"])
def test_phys_without_mcs_have_no_ldpc(phy):
    with pytest.raises(ValueError, match=f"coding: {phy} has no LDPC codes"):
        cell_of(phy=phy, coding="ldpc")


def test_each_station_has_the_rate_of_its_level_both_ways():
    stations = [
        {"name": "near", "rssi_dbm": -50},
        {"name": "far", "rssi_dbm": -86},
        {"name": "stated", "rssi_dbm": -50, "mcs": 3},
        {"name": "wide", "rssi_dbm": -50, "streams": 2},
    ]
    cell = cell_of(phy="802.11n", topology="downlink", stations=stations)
    found = rates(cell)
    assert [found[name][0] for name in ("near", "stated", "wide")] == [7, 3, 7]
    assert found["far"][0] in (1, 2)
    assert found["wide"][1] == 2 * found["near"][1]
    resolved = {node.name: node for node in scenario(cell).nodes}
    # The access point's frames to a station have that station's rate.
    assert resolved["near"].rate is None
    assert resolved["far"].rate is not None
    assert resolved["ap"].rate is None


def test_a_stated_mcs_stays_and_has_no_note():
    cell = cell_of(phy="802.11n", mcs=0)
    assert rates(cell)["A"] == (0, 6.5)
    assert station_rates.note(cell) is None
    assert rates(cell_of(phy="802.11g")) == {"A": (None, 54.0)}


def test_ciphers_without_high_throughput_fall_back_from_the_chosen_mcs():
    cell = cell_of("wpa-psk-tkip", phy="802.11n", stations=[{"name": "A", "rssi_dbm": -50}])
    assert rates(cell)["A"] == (None, 54.0)
    note = station_rates.note(cell)
    assert note is not None
    assert "MCS 7, 65 Mb/s" in note
    assert "54 Mb/s" in note


def test_a_policy_below_wifi_7_has_the_highest_mcs_of_wifi_6():
    cell = cell_of("wpa2-psk-ccmp", phy="802.11be", band="5", width_mhz=80)
    assert rates(cell)["A"][0] == 11


def test_each_link_of_a_multi_link_station_has_the_rate_of_its_level():
    links = [{"band": "5", "rssi_dbm": -50}, {"band": "6", "width_mhz": 320, "rssi_dbm": -70}]
    stations = [{"name": "A"}, {"name": "B", "rssi_dbm": -84}, {"name": "C", "link": 2}]
    cell = cell_of("wpa3-sae-ext-gcmp-256", phy="802.11be", mlo={"links": links}, stations=stations)
    found = rates(cell)
    assert found["A1"][0] == 13
    assert (found["A2"][0] or 0) < 8
    assert (found["B1"][0] or 0) < 4
    assert found["C2"] == found["A2"]
    assert Simulator().check(cell) is None
    measured = Simulator().measure(Trial(cell, 1, 1, 5))
    assert measured.failure is None


def test_a_walking_station_keeps_the_rate_of_its_farthest_place():
    walk = {"to_m": [60.0, 0.0], "speed_m_s": 10.0}
    settings: dict[str, Any] = {
        "phy": "802.11n",
        "authenticate": True,
        "stations": [{"name": "A", "position_m": [1.0, 0.0]}],
        "handover": {"walk": walk},
    }
    cell = cell_of("wpa2-psk-ccmp", 8.0, **settings)
    station = cell.settings.stations[0]
    lowest = mean_level_dbm(cell.settings, station, 8.0)
    assert -80 < lowest < -70
    # Without another access point it would walk to the end.
    assert lowest > mean_level_dbm(cell.settings, station, 8.0) - 1
    alone = cell_of(phy="802.11n", stations=[{"name": "A", "position_m": [60.0, 0.0]}])
    assert lowest > mean_level_dbm(alone.settings, alone.settings.stations[0], 8.0)
    standing = cell_of(phy="802.11n", stations=[{"name": "A", "position_m": [1.0, 0.0]}])
    chosen, _ = rates(cell)["A"]
    assert chosen is not None
    assert chosen < 7 == rates(standing)["A"][0]


@pytest.mark.parametrize(
    ("radio", "margin_db"),
    [
        ({"shadowing_db": 6}, 1.2816 * 6),
        # Rayleigh: one instant in ten has less than -ln(0.9) of the mean power.
        ({"fading": "rayleigh"}, 9.773),
        # scipy.stats.ncx2.ppf(0.1, 2, 2 K) / (2 (1 + K)) of K = 4 (6 dB).
        ({"fading": "rician", "rician_k_db": 6}, 5.02),
    ],
)
def test_shadowing_and_fading_leave_a_margin(radio, margin_db):
    plain = cell_of(phy="802.11n", rssi_dbm=-75)
    cell = cell_of(phy="802.11n", rssi_dbm=-75, radio=radio)
    station = cell.settings.stations[0]
    assert sure_level_dbm(cell.settings, station, 1.0) == pytest.approx(-75 - margin_db, abs=0.3)
    assert (rates(cell)["A"][0] or 0) < (rates(plain)["A"][0] or 0)


def test_a_wide_channel_of_several_paths_needs_a_smaller_margin():
    def chosen(width: int, spread: float, **radio: Any) -> tuple[int, float]:
        # 25 dB above the noise.
        level = {20: -69, 80: -63}[width]
        fading = {"fading": "rayleigh", "delay_spread_ns": spread} | radio
        cell = cell_of(phy="802.11ax", width_mhz=width, rssi_dbm=level, radio=fading)
        found = by_level(cell.settings, cell.settings.stations[0], 1.0)
        return found.mcs, level - found.level_dbm

    # One path: 9.8 dB at each width.
    assert chosen(20, 0)[1] == chosen(80, 0)[1] == pytest.approx(9.77, abs=0.01)
    # The mean power of the band has lost 4.1 and 2.1 dB in one of ten channels (50 ns, numpy), and
    # weak sub-bands cost more than strong ones gain.
    narrow, wide = chosen(20, 50), chosen(80, 50)
    assert 9.77 > narrow[1] > wide[1] > 2.1
    assert narrow[1] > 4.1
    assert chosen(80, 0)[0] < wide[0] < chosen(80, 150)[0]
    assert wide[1] > chosen(80, 150)[1]
    # With a line of sight there is little to lose.
    assert chosen(80, 50, fading="rician", rician_k_db=10)[1] < 0.5 * wide[1]
    # A vanishing delay spread is one path.
    assert chosen(20, 1e-6)[1] == pytest.approx(9.77, abs=1.5)


def test_a_level_below_every_mcs_is_said():
    cell = cell_of(phy="802.11n", rssi_dbm=-100)
    assert rates(cell)["A"][0] == 0
    assert "too low for every MCS" in (station_rates.note(cell) or "")


def test_rate_control_chooses_for_itself():
    cell = cell_of(phy="802.11n", rate_control="minstrel")
    assert station_rates.of_cell(cell) == ()
    assert station_rates.note(cell) is None


@pytest.mark.parametrize("bed", [Simulator(), Analytic()])
def test_a_trial_says_the_rate_that_its_study_leaves_out(bed):
    measured = bed.measure(Trial(cell_of(phy="802.11n"), 1, 1, 5))
    (said,) = [text for text in measured.caveats if text.startswith(RATE)]
    assert "A: MCS 7, 65 Mb/s, the highest that -45.0 dBm supports" in said


def test_check_and_page_show_the_rate(tmp_path):
    study = tmp_path / "rates.toml"
    study.write_text(
        '[study]\nname = "rates"\ntitle = "Rates"\n[scenario.new]\nphy = "802.11n"\n'
        '[scenario.old]\nphy = "802.11g"\n'
        '[traffic.udp]\ntransport = "udp"\nduration_s = 0.1\n[grid]\npolicy = ["open"]\n'
    )
    runner = CliRunner()
    shown = runner.invoke(app, ["check", str(study)])
    assert "MCS 7, 65 Mb/s" in shown.output
    assert "54 Mb/s" in shown.output
    assert "no mcs is stated" in shown.output
    as_json = json.loads(runner.invoke(app, ["check", str(study), "--json"]).stdout)
    (first,) = as_json["cells"][0]["rates"]
    assert (first["mcs"], first["mbps"], first["by_level_dbm"]) == (7, 65.0, -45.0)
    assert as_json["cells"][1]["rates"][0]["by_level_dbm"] is None
    out = tmp_path / "run"
    ran = runner.invoke(app, ["run", str(study), "--trials", "2", "--out", str(out)])
    assert "MCS 7, 65 Mb/s" in ran.output
    assert "MCS 7, 65 Mb/s" in (out / "report.html").read_text()


def test_scenarios_that_state_their_rates_are_unchanged():
    text = json.loads(border.to_json(scenario(cell_of(phy="802.11ac", mcs=4, width_mhz=80))))
    assert text["bss"][0]["rate"] == {"control": "fixed_mcs", "mcs": 4}
    assert "rate" not in text["nodes"][0]
