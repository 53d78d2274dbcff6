"""Stations that the medium simulates beside real daemons: which, how, their rows, and refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from airtoll.border import to_json
from airtoll.border.answers import MediumStatistics
from airtoll.errors import RunError, UsageError
from airtoll.observe import folder as folders
from airtoll.plan import Cell, make_plan
from airtoll.policies import resolve
from airtoll.run import api
from airtoll.study import StudyFile, parse
from airtoll.testbeds.linux import testbed
from airtoll.testbeds.linux.air import medium, parted_cell, simulated_stations
from airtoll.testbeds.linux.hosts.radios import Radio
from airtoll.testbeds.linux.job import Flow, Job
from airtoll.testbeds.linux.testbed import Linux, job_of
from airtoll.testbeds.registry import make

RADIOS = {
    "ap1": Radio("phy0", "wlan0", "02:00:00:00:00:00"),
    "ap2": Radio("phy1", "wlan1", "02:00:00:00:01:00"),
    "sta1": Radio("phy2", "wlan2", "02:00:00:00:02:00"),
}
UDP = 'transport = "udp"\ndirection = "up"\nduration_s = 3'


def file(scenario: str, traffic: str, policy: str) -> StudyFile:
    text = f"""
[study]
name = "crowd"
title = "Crowd"
baseline = "{policy}"
[scenario.one]
{scenario}
[traffic.load]
{traffic}
[grid]
policy = ["{policy}"]
"""
    return parse(text, Path("crowd.toml"))


def cell(
    scenario: str = 'phy = "802.11a"\nrate_mbps = 54\nclients = 51',
    traffic: str = UDP,
    policy: str = "open",
) -> Cell:
    return make_plan(file(scenario, traffic, policy).study).cells[0]


def job(one: Cell, real: int) -> Job:
    plan = make_plan(file("", UDP, "open").study)
    return job_of(evolve(plan.trial(plan.cells[0], 1, 1), cell=one), real=real)


def linux(monkeypatch: pytest.MonkeyPatch, real: int | None, *, virtual: bool = True) -> Linux:
    monkeypatch.setattr(testbed.shutil, "which", lambda name: f"/usr/sbin/{name}")
    monkeypatch.setattr(testbed.medium, "find", lambda: Path("/airtoll-medium"))
    one = Linux(vm=True, real_stations=real)
    one._version = (2, 10)
    one._virtual = virtual
    return one


def why(one: Linux, which: Cell) -> str:
    skip = one.check(which)
    return "" if skip is None else skip.reason


def test_the_option_is_named_where_stations_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    alone, parted = linux(monkeypatch, None), linux(monkeypatch, 1)
    assert "51 stations; this testbed drives 10; --real-stations 10" in why(alone, cell())
    assert why(parted, cell()) == ""
    assert "11 stations with real daemons; this testbed drives 10" in why(
        linux(monkeypatch, 11), cell()
    )
    # A cell with fewer stations than that is as without the option.
    small = cell('phy = "802.11a"\nclients = 2', 'transport = "tcp"')
    assert why(linux(monkeypatch, 2), small) == why(alone, small) == ""
    assert job(small, 2).simulated == ()


def test_simulated_stations_need_virtual_time(monkeypatch: pytest.MonkeyPatch) -> None:
    one = linux(monkeypatch, 1, virtual=False)
    assert "--real-stations 1 needs virtual time: --vm" in why(one, cell())


TO_STATION = 'topology = "station-to-station"'
DOWN = 'topology = "downlink"'
A54 = 'phy = "802.11a"\nrate_mbps = 54\nclients = 4\n'


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"traffic": 'transport = "tcp"'}, "UDP streams and calls only"),
        ({"traffic": 'transport = "udp"\napplication = "dns"'}, "UDP streams and calls only"),
        ({"traffic": UDP + "\ntransfer_bytes = 9999"}, "has no end"),
        ({"traffic": UDP + "\nflows_per_station = 2"}, "one flow each way"),
        ({"traffic": 'transport = "udp"\ndirection = "both"'}, "a flow downwards needs a rate"),
        ({"traffic": 'transport = "udp"\ndirection = "down"'}, "a flow downwards needs a rate"),
        ({"scenario": A54 + DOWN, "traffic": 'transport = "udp"'}, "a flow downwards needs a rate"),
        ({"traffic": UDP + "\npayload_bytes = 1500"}, "no IP fragments"),
        ({"scenario": 'phy = "802.11a"\nclients = 4'}, "no rate control"),
        ({"scenario": 'phy = "802.11n"\nclients = 4', "policy": "wpa-psk-tkip"}, "no rate control"),
        (
            {"scenario": A54.replace("54", '54\nstations = [{name="A"}, {name="B"}]') + TO_STATION},
            "the wired host only",
        ),
        ({"scenario": A54, "policy": "wireguard"}, "no tunnel, as wireguard wants"),
        ({"scenario": A54 + "bridge = {}"}, "no wireless bridge"),
        (
            {"scenario": A54 + "authenticate = true\nhandover = {}", "policy": "wpa2-psk-ccmp"},
            "stays with the first access point",
        ),
        (
            {"scenario": A54 + "authenticate = true\njoin = { deauthenticate_at_s = 1 }"},
            "does not rejoin",
        ),
        ({"scenario": A54 + 'device_costs = "everywhere"'}, "no time of a processor"),
        ({"scenario": A54.replace("= 4", "= 63")}, "room for 62 stations, and the cell has 63"),
    ],
)
def test_what_cannot_be_simulated_is_said_by_name(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, str], reason: str
) -> None:
    said = why(linux(monkeypatch, 2), cell(**changes))
    assert said.startswith("--real-stations 2: ")
    assert reason in said


def test_the_first_stations_are_real_and_those_that_join_late() -> None:
    named = 'stations = [{name="A"}, {name="B"}, {name="C", joins_at_s=0.1}]\nauthenticate = true'
    settings = cell(named).settings
    assert parted_cell.names(settings, None) == (("A", "B", "C"), ())
    assert parted_cell.names(settings, 1) == (("C",), ("A", "B"))
    assert parted_cell.names(settings, 2) == (("A", "C"), ("B",))
    one = job(cell(), 1)
    assert (one.stations, one.simulated[0], len(one.simulated)) == (("A",), "A2", 50)


def test_a_job_with_simulated_stations_becomes_an_air() -> None:
    one = job(cell(policy="wpa2-psk-ccmp"), 1)
    told = json.loads(to_json(medium._settings(RADIOS, one, {"A": "sta1"})))
    assert len(told["radios"]) == 3 + 50
    assert told["radios"][3]["simulated"] == {
        "access_point": "ap1",
        "frequency_mhz": 5180,
        "rate": "54",
        # CCMP's header and MIC.
        "cipher_octets": 16,
        # 1472 octets of payload, UDP, IPv4, LLC/SNAP; 802.11a has no QoS data here.
        "up": {"msdu_octets": 1508},
    }
    addresses = {radio["address"] for radio in told["radios"]}
    assert len(addresses) == 53


def test_levels_hidden_pairs_and_calls_are_those_of_the_study() -> None:
    one = job(
        cell(
            'phy = "802.11n"\nmcs = 3\nstations = [{name="A"}, {name="B", rssi_dbm=-60}]\n'
            'hidden = [["A", "B"]]',
            'transport = "udp"\napplication = "voip"\nwmm = "voice"',
            "wpa2-psk-ccmp",
        ),
        1,
    )
    told = json.loads(to_json(medium._settings(RADIOS, one, {"A": "sta1"})))
    assert told["hidden"] == [["sta1", "sim1"]]
    pairs = [level["radios"] for level in told["levels"]]
    assert pairs == [["sim1", "ap1"], ["sim1", "ap2"]]
    own = told["radios"][3]["simulated"]
    assert own["rate"] == "MCS 3, 1 streams, 20 MHz, 800 ns"
    packet = {"msdu_octets": 172 + 36, "interval_s": 0.02, "access_category": "voice"}
    assert own["up"] == own["down"] == packet


def test_stations_without_traffic_are_silent() -> None:
    one = job(cell(A54, UDP + '\nstations = ["A", "A3"]'), 1)
    made = simulated_stations.radios(one, resolve("open"), "ap1")
    assert one.simulated == ("A2", "A3", "A4")
    own = [radio.simulated.up for radio in made if radio.simulated is not None]
    assert [up is not None for up in own] == [False, True, False]


def flow_counts(**changes: Any) -> dict[str, Any]:
    return {
        "station": "sim1",
        "direction": "up",
        "counted_s": 2.0,
        "offered": 100,
        "delivered": 90,
        "octets": 90 * 1508,
        "attempts": 120,
        "given_up": 6,
        "queue_drops": 4,
        "delay_mean_s": 0.05,
        "delay_longest_s": 0.2,
        **changes,
    }


def test_counts_become_rows_under_the_names_of_the_stations() -> None:
    one = job(cell(A54), 3)
    counts: Any = {"flows": [flow_counts()]}
    told: MediumStatistics = counts
    rows = {(row.metric, row.station): row.value for row in simulated_stations.values(one, told)}
    assert rows == {
        ("packets_sent", "A4"): 100.0,
        ("packets_received", "A4"): 90.0,
        ("packets_lost", "A4"): 10.0,
        ("throughput_bps", "A4"): 90 * 1472 * 8 / 2,
        ("offered_bps", "A4"): 100 * 1472 * 8 / 2,
        ("loss_ratio", "A4"): 0.1,
        ("delay_s", "A4"): 0.05,
    }
    assert simulated_stations.caveat(one).startswith("1 of 4 stations were simulated")


def test_flows_are_counted_for_the_whole_seconds_of_iperf3() -> None:
    assert simulated_stations.counted_s(Flow(duration_s=0.5)) == (0.0, 1.0)
    assert simulated_stations.counted_s(Flow(duration_s=5.5, warm_up_s=0.5)) == (1.0, 5.0)


def test_the_option_goes_with_the_real_stack_only() -> None:
    with pytest.raises(UsageError, match="--real-stations goes with --on linux --vm"):
        make("simulator", real_stations=1)
    with pytest.raises(UsageError, match="at least 1"):
        make("linux", vm=True, real_stations=0)


def test_a_run_keeps_its_number_of_real_stations(tmp_path: Path) -> None:
    study = file(A54, UDP, "open")

    def made(name: str, options: dict[str, Any]) -> folders.RunFolder:
        return folders.create(
            tmp_path / name,
            study,
            values={},
            testbed="linux",
            seed=1,
            repetitions=1,
            environment={},
            options=options,
        )

    parted, whole = made("parted", {"real_stations": 2}), made("whole", {})
    for kept in (None, 2):
        folders.check_same(parted, study, testbed="linux", real_stations=kept)
    with pytest.raises(RunError, match="was made with --real-stations 2, not with --real-stat"):
        folders.check_same(parted, study, testbed="linux", real_stations=3)
    # The number of the run is kept, and a run of another testbed is refused by that name.
    assert api._real_stations(study, "linux", parted.path) == 2
    assert api._real_stations(study, "linux", whole.path) is None
    assert api._real_stations(study, "simulator", parted.path) is None
    with pytest.raises(RunError, match="was made without --real-stations, not with"):
        folders.check_same(whole, study, testbed="linux", real_stations=3)
