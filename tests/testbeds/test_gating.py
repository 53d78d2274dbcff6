"""Gates: a policy below the requirements of a band or of Wi-Fi 7 falls back or is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from airtoll.cli.app import app
from airtoll.plan import Cell, make_plan, resolved
from airtoll.policies import resolve
from airtoll.policies.gates import GATES, findings
from airtoll.study import Study
from airtoll.testbeds.resolve import scenario
from airtoll.testbeds.simulator import Simulator

WIFI7 = "wpa3-sae-ext-gcmp-256"


def cell_of(policy: str, **settings: Any) -> Cell:
    scenario_: dict[str, Any] = {"phy": "802.11be", "mcs": 13, "width_mhz": 320}
    data = {
        "study": {"name": "gates", "title": "Gates", "baseline": policy},
        "scenario": {"one": scenario_ | settings},
        "traffic": {"load": {"transport": "udp", "duration_s": 0.05}},
        "grid": {"scenario": ["one"], "traffic": ["load"], "policy": [policy]},
    }
    return make_plan(Study.model_validate(data)).cells[0]


@pytest.mark.parametrize(
    ("policy", "phy", "band", "effects"),
    [
        (WIFI7, "802.11be", "6ghz", []),
        ("wpa3-eap-tls-gcmp-256", "802.11be", "6ghz", []),
        ("owe-gcmp-256", "802.11be", "6ghz", []),
        ("wpa3-sae-ccmp", "802.11be", "6ghz", ["802.11ax"]),
        ("wpa3-sae-gcmp-256", "802.11be", "5ghz", ["802.11ax"]),
        ("wpa2-psk-gcmp-256", "802.11be", "5ghz", ["802.11ax"]),
        ("wpa2-psk-ccmp", "802.11be", "6ghz", ["refused", "802.11ax"]),
        ("wpa2-wpa3-psk-transition", "802.11ax", "6ghz", ["refused"]),
        ("wpa2-wpa3-psk-transition", "802.11ax", "5ghz", []),
        ("open", "802.11ax", "6ghz", ["refused"]),
        ("wireguard", "802.11be", "5ghz", ["802.11ax"]),
        ("wep-104", "802.11be", "5ghz", ["non-HT rates"]),
        ("wpa-psk-tkip", "802.11n", "2.4ghz", ["non-HT rates"]),
        ("wep-104", "802.11g", "2.4ghz", []),
    ],
)
def test_gates_of_a_policy(policy, phy, band, effects):
    assert [one.gate.effect for one in findings(phy, band, resolve(policy))] == effects


def test_every_gate_has_sources():
    assert all(gate.sources for gate in GATES)


def test_a_policy_below_wifi_7_gets_the_phy_that_its_devices_use():
    resolved = scenario(cell_of("wpa3-sae-ccmp"))
    (bss,) = resolved.bss
    assert (bss.standard.value, bss.width_mhz) == ("802.11ax", 160)
    assert bss.band is not None
    assert bss.band.value == "6ghz"
    assert bss.rate.mcs == 11
    (bss,) = scenario(cell_of(WIFI7)).bss
    assert (bss.standard.value, bss.width_mhz, bss.rate.mcs) == ("802.11be", 320, 13)


def test_the_gates_can_be_left_out():
    cell = cell_of("wpa2-psk-ccmp", security_gates="ignore")
    assert Simulator().check(cell) is None
    assert resolved(cell).notes == ()
    assert scenario(cell).bss[0].standard.value == "802.11be"


def test_only_the_station_below_wifi_7_falls_back_in_a_mixed_cell():
    stations = [{"name": "A"}, {"name": "B", "policy": "wpa3-sae-ccmp"}]
    cell = cell_of(WIFI7, stations=stations, width_mhz=160, band="6")
    resolved = scenario(cell)
    assert resolved.bss[0].standard.value == "802.11be"
    nodes = {node.name: node for node in resolved.nodes}
    assert nodes["A"].standard is None
    assert nodes["B"].standard.value == "802.11ax"
    assert nodes["B"].rate.mcs == 11
    assert Simulator().check(cell) is None


def test_no_station_joins_at_6_ghz_without_pmf():
    skip = Simulator().check(cell_of("wpa2-psk-ccmp"))
    assert skip is not None
    assert skip.reason == "wpa2-psk-ccmp: no association: 6 GHz takes WPA3 or OWE alone"


def test_a_mixed_cell_at_6_ghz_names_the_station_s_policy():
    stations = [{"name": "A"}, {"name": "B", "policy": "wpa2-psk-ccmp"}]
    skip = Simulator().check(cell_of(WIFI7, stations=stations))
    assert skip is not None
    assert skip.reason.startswith("wpa2-psk-ccmp: ")


def test_check_and_report_say_that_a_cell_falls_back(tmp_path):
    study = tmp_path / "gates.toml"
    study.write_text(
        f"""
[study]
name = "gates"
title = "Gates"
baseline = "{WIFI7}"
[trials]
repetitions = 2
[scenario.one]
phy = "802.11be"
mcs = 11
width_mhz = 160
band = "6"
wired = {{ rate_mbps = 10000 }}
[traffic.udp]
transport = "udp"
duration_s = 0.05
[grid]
policy = ["{WIFI7}", "wpa3-sae-ccmp", "wpa2-psk-ccmp"]
"""
    )
    checked = CliRunner().invoke(app, ["check", str(study), "--json"])
    cells = {one["cell"].split("/")[1]: one for one in json.loads(checked.stdout)["cells"]}
    assert cells[WIFI7]["warning"] is None
    assert "falls back to 802.11ax" in cells["wpa3-sae-ccmp"]["warning"]
    assert "no association" in cells["wpa2-psk-ccmp"]["reason"]
    out = tmp_path / "run"
    done = CliRunner().invoke(app, ["run", str(study), "--out", str(out), "--json"])
    answer = json.loads(done.stdout)
    assert any("falls back to 802.11ax" in one["says"] for one in answer["caveats"])
    assert "falls back to 802.11ax" in (out / "report.html").read_text()


def test_a_band_that_the_phy_does_not_have_is_refused(tmp_path):
    with pytest.raises(ValueError, match="band of"):
        cell_of(WIFI7, phy="802.11n", band="6", width_mhz=20, mcs=7)


def test_a_client_is_downgraded_and_the_cell_says_so():
    stations = [{"name": "old", "client": "wpa3"}, {"name": "new", "client": "wifi7"}]
    cell = cell_of("wpa2-wpa3-psk-compatibility", stations=stations, width_mhz=80, band="5")
    assert Simulator().check(cell) is None
    notes = resolved(cell).notes
    assert any(
        note.startswith("downgrade: old") and "takes wpa2-psk-ccmp of the RSN element" in note
        for note in notes
    )
    assert not any(note.startswith("downgrade: new") for note in notes)
    simulated = scenario(cell)
    # RSN overriding keeps Wi-Fi 7 for the station that knows it.
    assert simulated.bss[0].standard.value == "802.11be"
    nodes = {node.name: node for node in simulated.nodes}
    assert nodes["new"].standard is None
    assert nodes["old"].standard.value == "802.11ax"


def test_a_client_that_knows_no_link_does_not_associate():
    cell = cell_of(WIFI7, stations=[{"name": "A", "client": "wpa3"}], width_mhz=80, band="5")
    skip = Simulator().check(cell)
    assert skip is not None
    assert skip.reason == (
        "A: no association: a station of WPA3, before Wi-Fi 7 knows no link of "
        "wpa3-sae-ext-gcmp-256"
    )


def test_transition_modes_are_refused_at_6_ghz_for_every_client():
    for policy in ("wpa2-wpa3-psk-compatibility", "owe-transition"):
        cell = cell_of(policy, stations=[{"name": "A", "client": "wifi7"}])
        skip = Simulator().check(cell)
        assert skip is not None
        assert "6 GHz takes no transition mode" in skip.reason
