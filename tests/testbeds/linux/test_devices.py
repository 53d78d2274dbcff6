"""Device profiles on real daemons: devices given to the medium, and skipped cells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from airtoll import border
from airtoll.plan import Cell, make_plan
from airtoll.study import Study
from airtoll.testbeds import resolve
from airtoll.testbeds.linux import testbed
from airtoll.testbeds.linux.air import devices, medium
from airtoll.testbeds.linux.hosts.radios import Radio
from airtoll.testbeds.linux.job import Job
from airtoll.testbeds.linux.testbed import Linux

RADIOS = {
    name: Radio(f"phy{number}", f"wlan{number}", f"02:00:00:00:0{number}:00")
    for number, name in enumerate(("ap1", "ap2", "sta1", "sta2"))
}


def cell(policy: str = "wpa2-psk-ccmp", **settings: Any) -> Cell:
    scenario = {
        "phy": "802.11g",
        "stations": [{"name": "A", "profile": "xeon-2.1ghz"}, {"name": "B"}],
        "ap": {"profile": "qca9531-software"},
        "server": {"profile": "pc-2003"},
        "device_costs": "everywhere",
        **settings,
    }
    study = {
        "study": {"name": "devices", "title": "Devices", "baseline": policy},
        "scenario": {"one": scenario},
        "traffic": {"load": {"transport": "udp"}},
        "grid": {"scenario": ["one"], "traffic": ["load"], "policy": [policy]},
    }
    return make_plan(Study.model_validate(study)).cells[0]


@pytest.fixture
def linux(monkeypatch: pytest.MonkeyPatch) -> Linux:
    monkeypatch.setattr(testbed.shutil, "which", lambda name: f"/usr/sbin/{name}")
    monkeypatch.setattr(medium, "find", lambda: Path("/usr/bin/airtoll-medium"))
    one = Linux(vm=True)
    one._version = (2, 10)
    one._virtual = True
    return one


def told(one: Cell) -> dict[str, Any]:
    text = devices.of_cell(one)
    assert text is not None
    found: dict[str, Any] = json.loads(text)
    return found


def test_costs_are_those_of_the_resolved_scenario() -> None:
    one = cell()
    hosts = {node.name: border.plain(node.host) for node in resolve.scenario(one).nodes}
    found = told(one)
    given = {device["radios"][0]: device["host"] for device in found["radios"]}
    assert given == {name: hosts[name] for name in ("A", "B", "ap")}
    assert given["ap"]["engine"] == "cpu"
    assert given["A"]["operations_ns"]["rsa-2048-sign"] == pytest.approx(526e3)
    assert found["wired"] == hosts["server"]
    assert found["cipher"] == "ccmp-128"
    assert found["policy"]["link"]["akm"] == "psk"


def test_the_authentication_server_has_a_profile_of_its_own() -> None:
    for authenticate in (False, True):
        settings = {"authenticate": authenticate, "radius": {"profile": "xeon-2.1ghz"}}
        found = told(cell("wpa2-eap-tls-ccmp", **settings))
        assert found["authentication_server"]["operations_ns"]["rsa-2048-sign"] > 0
    assert "authentication_server" not in told(cell())


def test_power_and_cards_are_no_part_of_a_host() -> None:
    phone = cell(stations=[{"name": "A", "profile": "esp32"}])
    assert "energy" not in told(phone)["radios"][0]["host"]


def test_no_costs_are_wanted_by_default() -> None:
    assert devices.of_cell(cell(device_costs="models")) is None


def test_devices_have_the_names_of_radios_in_the_medium() -> None:
    text = devices.of_cell(cell())
    assert text is not None
    job = Job("x", "wpa2-psk-ccmp", stations=("A", "B"), devices=text)
    assert Job.from_json(json.loads(json.dumps(job.to_json()))) == job
    found: Any = medium._devices(text, {"A": "sta1", "B": "sta2"}, RADIOS)
    assert [device["radios"] for device in found["radios"]] == [
        ["sta1"],
        ["sta2"],
        ["ap1"],
        ["ap2"],
    ]
    assert found["radios"][2]["host"] == found["radios"][3]["host"]
    assert found["radios"][0]["host"]["operations_ns"]


HANDOVER = {"authenticate": True, "stations": [{"name": "A"}]}


@pytest.mark.parametrize(
    ("policy", "settings", "reason"),
    [
        ("wireguard", {}, "a tunnel, as in wireguard"),
        ("8021x-leap", {}, "the LEAP server is on the AP"),
        ("open", {"bridge": {}}, "behind a wireless bridge"),
        ("open", {"topology": "r1", "stations": [{"name": "A"}]}, "agents of two domains"),
        (
            "wpa2-ft-psk-ccmp",
            {**HANDOVER, "handover": {"method": "fast-transition"}},
            "the operations of a later association's messages",
        ),
        ("open", {"ap": {"profile": "p4-3.2ghz-rt61-card"}}, "no network card"),
        ("open", {"ap": {"profile": "wrt54g-v7-fitted"}}, "no frame bursts"),
    ],
)
def test_what_the_medium_does_not_see_is_refused(
    linux: Linux, policy: str, settings: dict[str, Any], reason: str
) -> None:
    skip = linux.check(cell(policy, **settings))
    assert skip is not None
    assert skip.reason.startswith("device_costs: ")
    assert reason in skip.reason
    without = linux.check(cell(policy, **settings, device_costs="models"))
    assert without is None, without


def test_a_full_hand_over_is_carried_out(linux: Linux) -> None:
    moving = cell(**HANDOVER, handover={"method": "full"})
    assert linux.check(moving) is None
