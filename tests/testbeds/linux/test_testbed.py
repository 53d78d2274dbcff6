"""The trials that the testbed accepts and refuses, and how a study's trial becomes a job."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest

from airtoll.errors import TestbedError, UsageError
from airtoll.plan import Cell, Plan, make_plan
from airtoll.study import parse
from airtoll.testbeds.contract import folder_of
from airtoll.testbeds.linux import testbed
from airtoll.testbeds.linux.hosts import environment
from airtoll.testbeds.linux.hosts.cables import Cable
from airtoll.testbeds.linux.laboratory.lab import load
from airtoll.testbeds.linux.testbed import Linux


def plan(policies: list[str], scenario: str = "", traffic: str = 'transport = "tcp"') -> Plan:
    names = ", ".join(f'"{policy}"' for policy in policies)
    text = f"""
[study]
name = "here"
title = "Here"
baseline = "{policies[0]}"
[scenario.one]
phy = "802.11g"
{scenario}
[traffic.load]
{traffic}
[grid]
scenario = ["one"]
policy = [{names}]
traffic = ["load"]
"""
    return make_plan(parse(text, Path("here.toml")).study)


def cell(policy: str = "open", **changes: str) -> Cell:
    return plan([policy], **changes).cells[0]


@pytest.fixture
def linux(monkeypatch: pytest.MonkeyPatch) -> Linux:
    # The tools installed on this machine must not decide what these tests see.
    monkeypatch.setattr(testbed.shutil, "which", lambda name: f"/usr/sbin/{name}")
    one = Linux(vm=True)
    one._version = (2, 10)
    one._lacking = ()
    return one


def test_daemons_without_channel_validation_skip_the_cells_that_ask_for_it(
    linux: Linux, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = {"hostapd": b"\0OCV-FAILURE addr=\0", "wpa_supplicant": b"\0nothing of the kind\0"}
    for name, text in programs.items():
        (tmp_path / name).write_bytes(text)
    monkeypatch.setattr(environment.shutil, "which", lambda name: str(tmp_path / name))
    linux._lacking = None
    asked = cell("wpa3-sae-ccmp", scenario="operating_channel_validation = true")
    skip = linux.check(asked)
    assert skip is not None
    assert "wpa_supplicant of this machine: built without it (CONFIG_OCV)" in skip.reason
    assert "hostapd and" not in skip.reason
    assert linux.check(cell("wpa3-sae-ccmp")) is None
    # Without protected management frames the field changes nothing.
    scenario = "operating_channel_validation = true"
    assert linux.check(cell("wpa2-psk-ccmp", scenario=scenario)) is None
    (tmp_path / "wpa_supplicant").write_bytes(programs["hostapd"])
    linux._lacking = None
    assert linux.check(asked) is None


@pytest.mark.parametrize("policy", ["open", "wep-104", "wpa3-sae-gcmp-256", "ipsec-3des-sha1"])
def test_what_it_takes(linux: Linux, policy: str) -> None:
    assert linux.check(cell(policy)) is None


@pytest.mark.parametrize(
    "scenario",
    [
        "clients = 2",
        'topology = "station-to-station"\nstations = [{name="A"},{name="B"}]',
        *(f'topology = "{place}"' for place in ("n1", "n2", "n3", "n4", "n5")),
        *(f'topology = "{place}"' for place in ("r1", "r2", "r3", "r4")),
    ],
)
def test_tunnels_go_where_the_scenario_has_them(linux: Linux, scenario: str) -> None:
    assert linux.check(cell("ipsec-3des-sha1", scenario=scenario)) is None


@pytest.mark.parametrize(
    "policy",
    [
        "wpa2-psk-ccmp+wireguard+ipsec-aes-gcm",
        "ipsec-3des-sha1+wireguard",
        "open+wireguard+wireguard",
    ],
)
def test_two_tunnels_lie_inside_each_other(linux: Linux, policy: str) -> None:
    assert linux.check(cell(policy)) is None


def test_an_ike_v1_tunnel_around_another_carries_its_ipv4_packets(linux: Linux) -> None:
    ipv6 = 'transport = "tcp"\nip = "ipv6"'
    assert linux.check(cell("wireguard+ipsec-3des-sha1", traffic=ipv6)) is None
    skip = linux.check(cell("ipsec-3des-sha1+wireguard", traffic=ipv6))
    assert skip is not None
    assert "IKEv1" in skip.reason


def test_more_than_two_stations_need_virtual_time(linux: Linux) -> None:
    three = cell("open", scenario="clients = 3")
    linux._virtual = True
    assert linux.check(three) is None
    skip = linux.check(cell("open", scenario="clients = 11"))
    assert skip is not None
    assert "11 stations; this testbed drives 10" in skip.reason
    linux._virtual = False
    skip = linux.check(three)
    assert skip is not None
    assert "3 stations; this testbed drives 2, and 10 in virtual time" in skip.reason


@pytest.mark.parametrize(
    ("policy", "changes", "reason"),
    [
        ("wpa3-sae-ext-gcmp-256", {}, "hostapd 2.10 has no AKM sae-ext-key"),
        ("open+firewall", {}, "no packet filter"),
        (
            "open",
            {"scenario": "rts_threshold_octets = 500"},
            "rts_threshold_octets = 500: has no effect",
        ),
        ("open", {"scenario": "cw_min = 7"}, "cw_min = 7: has no effect"),
        ("wireguard+ipsec-aes-gcm+wireguard", {}, "more than 2 tunnels inside each other"),
        ("ipsec-aes-gcm+ipsec-3des-sha1", {}, "go around the outer one"),
        (
            "wireguard+ipsec-aes-gcm",
            {"scenario": 'topology = "n5"'},
            "in two domains one tunnel at a time",
        ),
        ("ipsec-3des-md5", {"traffic": 'transport = "tcp"\nip = "ipv6"'}, "IKEv1"),
        ("wireguard", {"scenario": 'topology = "n5"'}, "in two domains tunnels are IPsec"),
        (
            "open",
            {"scenario": 'topology = "r2"', "traffic": 'transport = "tcp"\nip = "ipv6"'},
            "IPv4 only",
        ),
        (
            "open",
            {"scenario": 'authenticate = true\njoin = { mobile_ip = "foreign" }'},
            "topology r1 to r4",
        ),
        (
            "open",
            {"scenario": 'authenticate = true\njoin = { mobile_ip = "home" }'},
            "two-domain topologies n1 to r4",
        ),
        (
            "wpa2-eap-tls-ccmp",
            {"scenario": 'authenticate = true\njoin = { fault = "wrong-certificate" }'},
            "is not injected",
        ),
        (
            "wpa2-psk-ccmp",
            {"scenario": 'authenticate = true\njoin = { fault = "silent-server" }'},
            "asks no RADIUS server",
        ),
        (
            "8021x-leap+wep-104",
            {"scenario": "bridge = {}"},
            "LEAP's dynamic WEP keys",
        ),
        ("open", {"scenario": "bridge = { wired = { delay_us = 9 } }"}, "bridge.wired"),
        (
            "wpa2-psk-ccmp",
            {"scenario": "bridge = {}\nauthenticate = true\nhandover = {}"},
            "does not change its access point",
        ),
        (
            "wpa2-psk-ccmp",
            {"scenario": "authenticate = true\nhandover = { at_s = 1, scan_ms = 50 }"},
            "wpa_supplicant scans as it does",
        ),
        *(
            (
                policy,
                {"scenario": f"authenticate = true\nhandover = {{ at_s = 1, {move} }}"},
                reason,
            )
            for policy, move, reason in (
                ("wpa2-eap-tls-ccmp", 'method = "pre-authentication"', "pre-authentication"),
                ("wpa2-ft-psk-ccmp", 'method = "full"', "fast transition wherever it can"),
                ("wpa2-psk-ccmp+ipsec-3des-sha1", 'method = "full"', "outer address"),
                ("wpa3-sae-ccmp", "path = [2, 1]", "PMKSA of its earlier visit"),
                ("wpa3-sae-ccmp", 'method = "cached-pmk", path = [2, 5]', "share channels"),
                ("wpa2-ft-psk-ccmp", 'method = "fast-transition-ds"', "is not set up"),
            )
        ),
        *(
            (
                "wpa2-eap-tls-ccmp",
                {"scenario": f'topology = "n1"\nauthenticate = true\nradius = {{ {radius} }}'},
                "the agents of two domains are the RADIUS servers",
            )
            for radius in ("delay_ms = 20", "proxies = [{}]")
        ),
        ("open", {"scenario": "beacons = false"}, "hostapd always sends beacons"),
        (
            "wpa2-psk-ccmp",
            {"scenario": "authenticate = true\njoin = { spread_ms = 50 }"},
            "it is for stations with joins_at_s",
        ),
        (
            "wpa2-eap-tls-ccmp",
            {"scenario": "authenticate = true\nradius = { requests_per_s = 5 }"},
            "radius.requests_per_s = 5.0: has no effect",
        ),
    ],
)
def test_what_it_refuses(linux: Linux, policy: str, changes: dict[str, str], reason: str) -> None:
    skip = linux.check(cell(policy, **changes))
    assert skip is not None
    assert reason in skip.reason


def test_a_third_access_point_needs_virtual_time(linux: Linux) -> None:
    moves = "authenticate = true\nhandover = { path = [2, 3] }"
    linux._virtual = True
    assert linux.check(cell("wpa2-psk-ccmp", scenario=moves)) is None
    linux._virtual = False
    skip = linux.check(cell("wpa2-psk-ccmp", scenario=moves))
    assert skip is not None
    assert "3 access points; this testbed drives 2" in skip.reason


def test_a_missing_tool_is_a_skip_with_the_remedy(
    linux: Linux, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(testbed.shutil, "which", lambda name: None if name == "irtt" else "/x")
    skip = linux.check(cell())
    assert skip is not None
    assert skip.reason == "irtt missing: apt-get install --no-install-recommends irtt"


def test_a_transfer_is_expected_to_end_when_it_is_through(linux: Linux) -> None:
    load = 'transport = "tcp"\nduration_s = 120'
    whole = linux.expected_s(cell(scenario="rate_mbps = 11", traffic=load))
    part = cell(scenario="rate_mbps = 11", traffic=load + "\ntransfer_bytes = 2000000")
    # 16 Mbit at half of 11 Mb/s.
    assert whole - linux.expected_s(part) == pytest.approx(120 - 16 / 5.5)


def test_two_domains_become_a_job() -> None:
    def job(place: str, more: str = "") -> Any:
        one = plan(["open"], f'topology = "{place}"\nstations = [{{ name = "x" }}]\n{more}')
        return testbed.job_of(one.trial(one.cells[0], 1, 1))

    join = 'authenticate = true\njoin = { mobile_ip = "home" }'
    assert job("n5", join).stations == ("mobile",)
    assert job("n5", join).registration == "home"
    assert job("n5").registration == "off"
    assert job("r1").stations == ("mobile", "peer")
    assert job("r1").registration == "foreign"  # nothing would reach it otherwise
    assert (job("r1").domains, job("r1").between_stations) == ("r1", True)
    assert job("n5", "wired = { rate_mbps = 10, delay_us = 50 }").cable == Cable(
        10e6, pytest.approx(50e-6), 1000
    )


def test_bridges_become_a_job(linux: Linux) -> None:
    stations = 'stations = [{ name = "A", bridge = false }, { name = "B" }]'
    one = plan(["wpa2-psk-ccmp"], f"bridge = {{}}\n{stations}")
    assert linux.check(one.cells[0]) is None
    assert testbed.job_of(one.trial(one.cells[0], 1, 1)).bridges == ("B",)
    asks = 'bridge = {}\naddress_resolution = "dynamic"\nclients = 2'
    two = plan(["open"], asks)
    assert linux.check(two.cells[0]) is None
    assert testbed.job_of(two.trial(two.cells[0], 1, 1)).bridges == ("A", "A2")


def test_a_trial_becomes_a_job() -> None:
    one = plan(
        ["wpa2-psk-ccmp"],
        'topology = "downlink"\nrate_mbps = 11\nclients = 2',
        'transport = "udp"\noffered_mbps = 8\npayload_bytes = 512\nduration_s = 7\nip = "ipv6"',
    )
    job = testbed.job_of(one.trial(one.cells[0], 2, 1))
    assert job.policy == "wpa2-psk-ccmp"
    assert job.stations == ("A", "A2")
    assert (job.rate_mbps, job.channel, job.phy) == (11, 1, "802.11g")
    flow = job.flow
    assert flow is not None
    expected: dict[str, Any] = {
        "transport": "udp",
        "direction": "down",
        "offered_bps": 8e6,
        "payload_octets": 512,
        "duration_s": 7,
        "ip": "ipv6",
    }
    assert {key: getattr(flow, key) for key in expected} == expected
    # Two attempts of one trial must not share a folder.
    assert testbed.job_of(one.trial(one.cells[0], 2, 1)).name != job.name


def test_stations_that_join_late_need_virtual_time_and_no_tunnel(linux: Linux) -> None:
    late = 'authenticate = true\nstations = [{name = "A"}, {name = "B", joins_at_s = 0.5}]'
    linux._virtual = True
    assert linux.check(cell("wpa2-psk-ccmp", scenario=late)) is None
    skip = linux.check(cell("wireguard", scenario=late))
    assert skip is not None
    assert "joins before the traffic here" in skip.reason
    linux._virtual = False
    skip = linux.check(cell("wpa2-psk-ccmp", scenario=late))
    assert skip is not None
    assert "joins_at_s = 0.5 needs virtual time" in skip.reason


def test_late_joins_are_spread_by_the_seed_of_the_trial() -> None:
    stations = 'clients = 3\nstations = [{name = "A"}, {name = "B", joins_at_s = 0.5}]'

    def joins(more: str, number: int = 1) -> tuple[tuple[str, float], ...]:
        one = plan(["wpa2-psk-ccmp"], f"authenticate = true\n{stations}\n{more}")
        return testbed.job_of(one.trial(one.cells[0], number, 1)).joins_at_s

    assert joins("") == (("B", 0.5), ("B2", 0.5))
    spread = joins("join = { spread_ms = 100 }")
    assert [name for name, _ in spread] == ["B", "B2"]
    assert all(0.5 <= at_s <= 0.6 for _, at_s in spread)
    assert spread[0][1] != spread[1][1]
    assert spread == joins("join = { spread_ms = 100 }")
    assert spread != joins("join = { spread_ms = 100 }", 2)


def test_a_radius_server_gets_its_cable() -> None:
    def job(more: str) -> Any:
        one = plan(["wpa2-eap-tls-ccmp"], more)
        return testbed.job_of(one.trial(one.cells[0], 1, 1))

    far = job("authenticate = true\nradius = { delay_ms = 50, loss_ratio = 0.01 }")
    assert far.radius_cable == Cable(100e6, 0.05, 1000, 0.01)
    assert job("authenticate = true").radius_cable is None
    assert job("radius = { delay_ms = 50 }").radius_cable is None


def test_time_is_expected_by_the_length_of_the_traffic() -> None:
    short, long = cell(traffic='transport = "tcp"\nduration_s = 1'), cell()
    assert Linux(vm=True).expected_s(long) - Linux(vm=True).expected_s(short) == 9
    assert Linux(vm=True).expected_s(short) > Linux().expected_s(short)


def test_a_laboratory_has_its_own_limits(linux: Linux, tmp_path: Path) -> None:
    text = """
[lab]
name = "bench"
channel = 11
[host.ap]
role = "access-point"
address = "root@192.168.1.1"
interface = "wlan0"
ip = "192.168.1.1"
[host.laptop]
role = "station"
address = "192.168.1.20"
interface = "wlan0"
ip = "192.168.1.20"
[host.server]
role = "server"
address = "local"
ip = "192.168.1.10"
"""
    (tmp_path / "lab.toml").write_text(text)
    (tmp_path / "hand.toml").write_text(
        text + '[host.phone]\nrole = "station"\nby = "hand"\nip = "192.168.1.40"\n'
    )
    one = Linux(lab=load(tmp_path / "lab.toml"))
    one._version = (2, 10)
    assert one.check(cell("wpa2-eap-tls-ccmp")) is None
    for policy, changes, reason in (
        ("open", {"scenario": "clients = 2"}, "the laboratory has 1 stations"),
        ("wpa2-eap-leap-ccmp", {}, "no packaged RADIUS server has LEAP"),
    ):
        skip = one.check(cell(policy, **changes))
        assert skip is not None
        assert reason in skip.reason
    other = Linux(lab=load(tmp_path / "hand.toml"))
    other._version = (2, 10)
    assert other.check(cell()) is None  # the laptop alone
    assert other.check(cell(scenario="clients = 2")) is None
    skip = other.check(cell("ipsec-aes-gcm", scenario="clients = 2"))
    assert skip is not None
    assert "driven by hand" in skip.reason
    assert other.environment()["driven_by_hand"] == "phone"
    with pytest.raises(UsageError, match="--vm and --lab"):
        Linux(vm=True, lab=load(tmp_path / "lab.toml"))


def test_every_attempt_keeps_its_captures_apart() -> None:
    one = plan(["open", "wep-104+ipsec-aes-gcm"])
    trials = [
        one.trial(c, number, attempt)
        for c in one.cells
        for number, attempt in ((1, 1), (1, 2), (11, 1))
    ]
    names = {folder_of(trial) for trial in trials}
    assert len(names) == len(trials)
    assert "one_wep-104+ipsec-aes-gcm_load_11_1" in names
    assert all("/" not in name for name in names)


def test_cancelled_while_it_opens_it_leaves_no_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Opening:
        """A session that opens until it is stopped, and then leaves a folder."""

        pid = None

        def __init__(self) -> None:
            self.begun, self.stopped = threading.Event(), threading.Event()

        def open(self, _run_id: str, _secret: object, results: Path) -> dict[str, str]:
            self.begun.set()
            assert self.stopped.wait(60)
            (results / "prepare").mkdir(parents=True)
            raise TestbedError("stopped")

        def close(self) -> None:
            self.stopped.set()

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    one, session = Linux(vm=True), Opening()
    monkeypatch.setattr(one, "_session_of_this_kind", lambda: session)
    planned = plan(["open"])
    trial = planned.trial(planned.cells[0], 1, 1)
    ended: list[str] = []

    def measure() -> None:
        with pytest.raises(TestbedError) as refused:
            one.measure(trial)
        ended.append(str(refused.value))

    thread = threading.Thread(target=measure)
    thread.start()
    assert session.begun.wait(60)
    one.cancel()
    assert not list(tmp_path.iterdir())
    thread.join(60)
    measure()
    assert ended == ["stopped", "linux: cancelled before the stack stood"]
    assert not list(tmp_path.iterdir())
