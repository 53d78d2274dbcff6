"""Real campaigns in the guest: one boot for all of the short one; faults by name; the full matrix.

They need the daemons and a guest: `airtoll guest build`. AIRTOLL_VM_DRIVER says which one carries
them; without it the fastest that is there.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
import threading
import time
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path

import pytest

from airtoll.capture import capture_report
from airtoll.errors import StorageError, TestbedError
from airtoll.observe import journal
from airtoll.policies import catalogue, resolve
from airtoll.run import Run, run
from airtoll.testbeds.contract import Measured
from airtoll.testbeds.domains import DOMAINS
from airtoll.testbeds.guest import drivers
from airtoll.testbeds.linux import ledger
from airtoll.testbeds.linux.air import medium
from airtoll.testbeds.linux.capability import CAPABILITY
from airtoll.testbeds.linux.daemons import credentials, hostapd
from airtoll.testbeds.linux.hosts import environment
from airtoll.testbeds.linux.job import Flow, Job
from airtoll.testbeds.linux.testbed import Linux
from airtoll.testbeds.linux.trial import handover

pytestmark = [
    pytest.mark.guest,
    pytest.mark.skipif(
        not any(state.ready for state in drivers.states())
        or any(shutil.which(tool) is None for tool in environment.TOOLS),
        reason="needs the daemons and `airtoll guest build`",
    ),
]

UDP = Flow(transport="udp", offered_bps=1e6, payload_octets=1000, duration_s=1)


@pytest.fixture(scope="module")
def testbed() -> Iterator[Linux]:
    """A guest without an air: in real time, and faster for what needs none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AIRTOLL_MEDIUM", "none")
        one = Linux(vm=True)
        try:
            yield one
        finally:
            one.close()


def rows(measured: Measured) -> dict[str, float]:
    assert measured.failure is None, measured.failure
    return {row.metric: row.value for row in measured.rows}


def negotiated(folder: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads((folder / "outcome.json").read_text())["negotiated"]["A"]
    return found


def test_open_carries_traffic_and_refuses_to_be_a_radio(testbed: Linux, tmp_path: Path) -> None:
    measured = testbed.carry_out(Job("open", "open", flow=UDP), tmp_path)
    values = rows(measured)
    assert values["throughput_bps"] == pytest.approx(1e6, rel=0.25)
    assert values["offered_bps"] == pytest.approx(1e6, rel=0.1)
    assert 0 <= values["loss_ratio"] < 0.25
    # Both are means of other packets, so that a busy host may turn their order.
    assert 0 < values["delay_s"] < 2
    assert 0 < values["response_time_s"] < 2
    assert 0 < values["cpu_share"] <= 2
    assert values["authentication_messages"] == 0
    assert any("no airtime" in caveat for caveat in measured.caveats)
    assert {path.name for path in measured.files} >= {"air.pcap", "keys.json", "outcome.json"}


@pytest.mark.parametrize(
    ("policy", "cipher", "messages"),
    [
        ("wep-104", "WEP-104", 0),
        ("wpa-psk-tkip", "TKIP", 4),
        ("wpa2-psk-ccmp", "CCMP", 4),
        ("wpa3-sae-ccmp", "CCMP", 8),
    ],
)
def test_ciphers_are_negotiated_and_seen_on_the_air(
    testbed: Linux, tmp_path: Path, policy: str, cipher: str, messages: int
) -> None:
    measured = testbed.carry_out(Job(policy, policy, flow=None), tmp_path)
    # A slow emulated CPU may make hostapd repeat a message; it never leaves one out.
    assert rows(measured)["authentication_messages"] >= messages
    assert negotiated(tmp_path)["pairwise_cipher"] == cipher


def test_eap_tls_through_freeradius(testbed: Linux, tmp_path: Path) -> None:
    values = rows(testbed.carry_out(Job("tls", "wpa2-eap-tls-ccmp", flow=None), tmp_path))
    state = negotiated(tmp_path)
    assert state["selectedMethod"] == "13 (EAP-TLS)"
    assert state["eap_tls_version"] == "TLSv1.2"
    assert values["authentication_messages"] >= 19  # the method is offered first: no NAK
    assert values["negotiation_time_s"] > values["eap_time_s"] > values["key_handshake_time_s"] > 0
    assert (tmp_path / "wire.pcap").stat().st_size > 2000  # RADIUS on the wire


def test_an_esp_tunnel_over_open_air(testbed: Linux, tmp_path: Path) -> None:
    values = rows(testbed.carry_out(Job("esp", "ipsec-3des-sha1", flow=None), tmp_path))
    assert negotiated(tmp_path)["tunnel"] == "ikev1 esp 3des sha1"
    # Main mode 6 and quick mode 3 (RFC 2409 sections 5 and 5.5).
    assert values["authentication_messages"] >= 9
    kinds = {key["kind"] for key in json.loads((tmp_path / "keys.json").read_text())}
    assert kinds == {"esp"}


def test_a_roam_with_fast_transition(testbed: Linux, tmp_path: Path) -> None:
    job = Job("roam", "wpa2-ft-psk-ccmp", flow=None, roam="forced")
    values = rows(testbed.carry_out(job, tmp_path))
    assert 0 < values["handover_gap_s"] < 10
    assert negotiated(tmp_path)["bssid"] == "02:00:00:00:01:00"


@pytest.mark.parametrize(
    "policy",
    [
        *(
            pytest.param(policy, marks=pytest.mark.slow)
            for policy in ("open", "wep-104", "wpa-psk-tkip")
        ),
        "wpa2-psk-ccmp+wireguard",
    ],
)
def test_a_host_behind_a_wireless_bridge(testbed: Linux, tmp_path: Path, policy: str) -> None:
    job = Job("bridge", policy, flow=UDP, bridges=("A",), capture_traffic=True)
    values = rows(testbed.carry_out(job, tmp_path))
    assert values["throughput_bps"] == pytest.approx(1e6, rel=0.25)
    assert "[WDS]" in negotiated(tmp_path)["ap:flags"]
    keys = json.loads((tmp_path / "keys.json").read_text())
    report = capture_report([tmp_path / "air.pcap"], list(ledger.key_words(keys))).data
    assert (report["undecrypted"], report["refused"]) == ({}, {})
    assert report["decrypted"] == report["protected"]
    # To DS and From DS, protected or not, of data frames: those of the flow at least.
    assert report["kinds"]["four_addresses"] > 100
    # The next trial finds an ordinary station.
    assert testbed.carry_out(Job("afterwards", "open", flow=None)).failure is None


def test_hosts_behind_two_bridges_meet(testbed: Linux) -> None:
    both = ("A", "B")
    job = Job("two", "wpa2-psk-ccmp", both, flow=UDP, bridges=both, station_to_station=True)
    assert rows(testbed.carry_out(job))["throughput_bps"] == pytest.approx(1e6, rel=0.25)


def test_a_wrong_password_is_said_and_the_next_trial_runs(testbed: Linux, tmp_path: Path) -> None:
    measured = testbed.carry_out(
        Job("wrong", "wpa2-eap-peap-ccmp", flow=None, fault="password"), tmp_path
    )
    assert measured.rows == ()
    assert measured.failure is not None
    assert "CTRL-EVENT-EAP-FAILURE" in measured.failure
    assert (tmp_path / "wpa_supplicant-sta1.log").exists()


def test_a_silent_radius_server_is_said(testbed: Linux) -> None:
    job = Job("down", "wpa2-eap-tls-ccmp", flow=None, fault="radius", connect_limit_s=10)
    measured = testbed.carry_out(job)
    assert measured.failure is not None
    assert "the RADIUS server does not answer" in measured.failure


def test_hostapd_killed_in_mid_trial_is_said(testbed: Linux) -> None:
    flow = Flow(transport="udp", offered_bps=5e5, duration_s=4)
    measured = testbed.carry_out(Job("killed", "wpa2-psk-ccmp", flow=flow, fault="hostapd"))
    assert measured.rows == ()
    assert measured.failure is not None
    assert "hostapd died during the trial" in measured.failure


def test_a_full_disk_under_a_capture_is_said(testbed: Linux) -> None:
    flow = Flow(transport="udp", offered_bps=1e6, payload_octets=1000, duration_s=1)
    job = Job("full", "open", flow=flow, capture_traffic=True, fault="disk")
    measured = testbed.carry_out(job)
    assert measured.rows == ()
    assert measured.failure is not None
    assert "the capture air.pcap is not whole" in measured.failure
    assert "No space left on device" in measured.failure
    assert testbed.carry_out(Job("afterwards", "open", flow=None)).failure is None


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system for the files of about one trial."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=320k", "airtoll-test", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("needs the right to mount a tmpfs")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)


def test_a_run_whose_disk_fills_keeps_what_it_had_and_resumes(
    testbed: Linux, tmp_path: Path, small_disk: Path
) -> None:
    study = tmp_path / "small.toml"
    study.write_text(
        '[study]\nname = "small"\ntitle = "Small"\nbaseline = "open"\n'
        "[trials]\nrepetitions = 3\n"
        '[scenario.one]\nphy = "802.11g"\n'
        '[traffic.load]\ntransport = "udp"\noffered_mbps = 1\npayload_bytes = 1000\n'
        "duration_s = 1\n"
        '[grid]\nscenario = ["one"]\npolicy = ["open"]\ntraffic = ["load"]\n'
    )
    out = small_disk / "run"

    def once(resume: bool) -> Run:
        return run(study, testbed=testbed, out=out, captures=True, resume=resume)

    with pytest.MonkeyPatch.context() as patch:
        # Others take the room that there is when the run begins.
        room = namedtuple("room", "total used free")(10**9, 0, 10**9)
        patch.setattr(shutil, "disk_usage", lambda _: room)
        with pytest.raises(StorageError, match=r"No space left on device; make room.* --resume"):
            once(resume=False)
    kept = (out / "journal.jsonl").read_bytes()
    before = sum(1 for _record in journal.read(out / "journal.jsonl"))
    assert 1 <= before < 3
    # A trial's files are all there or none.
    folders = list((out / "captures").iterdir())
    assert len(folders) == before
    assert all((folder / "outcome.json").stat().st_size for folder in folders)
    subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
    totals = once(resume=True).totals
    assert totals is not None
    assert (totals.ok, totals.failed) == (3, 0), (out / "journal.jsonl").read_text()
    assert (out / "journal.jsonl").read_bytes().startswith(kept)


@pytest.mark.slow
@pytest.mark.skipif(medium.find() is None, reason="needs airtoll-medium: make build")
def test_over_the_medium_a_saturated_station_has_the_throughput_of_the_closed_form(
    testbed: Linux, tmp_path: Path
) -> None:
    testbed.close()  # one guest at a time
    flow = Flow(transport="udp", offered_bps=3e6, payload_octets=1470, duration_s=20)
    job = Job("air", "open", phy="802.11b", rate_mbps=2, flow=flow, probe=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("AIRTOLL_MEDIUM", raising=False)
        over = Linux(vm=True)
        try:
            measured = over.carry_out(job, tmp_path)
        finally:
            over.close()
    values = rows(measured)
    assert not [caveat for caveat in measured.caveats if "refused" in caveat]
    # DIFS 50, CWmin/2 slots 310, preamble 192, 1534 octets at 2 Mb/s, SIFS 10, Ack 248 us.
    ceiling_bps = 1470 * 8 / (50 + 310 + 192 + 1534 * 4 + 10 + 248) * 1e6
    assert 0.95 * ceiling_bps < values["throughput_bps"] <= ceiling_bps
    air = json.loads((tmp_path / "outcome.json").read_text())["conditions"]["air"]
    assert air["overruns"] == 0
    assert air["channels"][0]["busy_s"] < air["span_s"]


@pytest.mark.slow
@pytest.mark.skipif(medium.find() is None, reason="needs airtoll-medium: make build")
def test_over_the_medium_a_capture_shows_what_security_took(testbed: Linux, tmp_path: Path) -> None:
    testbed.close()  # one guest at a time
    flow = Flow(transport="udp", offered_bps=3e6, payload_octets=500, duration_s=8)
    job = Job(
        "ledger", "wpa2-psk-ccmp", phy="802.11b", rate_mbps=2, flow=flow, probe=False,
        capture_traffic=True,
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("AIRTOLL_MEDIUM", raising=False)
        over = Linux(vm=True)
        try:
            measured = over.carry_out(job, tmp_path)
        finally:
            over.close()
    values = rows(measured)
    late = [caveat for caveat in measured.caveats if "no radio throughput" in caveat]
    if late:
        assert not any(name.startswith("airtime_") for name in values)
        pytest.skip(late[0])
    # 16 octets of CCMP at 2 Mb/s per frame; a few frames are not the flow's.
    security_s = values["packets_received"] * 16 * 8 / 2e6
    assert values["airtime_security_s"] == pytest.approx(security_s, rel=0.03)
    payload_s = values["packets_received"] * 500 * 8 / 2e6
    assert values["airtime_payload_s"] == pytest.approx(payload_s, rel=0.03)
    spent = sum(value for name, value in values.items() if name.startswith("airtime_"))
    assert 0.8 * flow.duration_s < spent < flow.duration_s + 1
    assert values["airtime_ack_s"] > 0


@pytest.mark.slow
@pytest.mark.skipif(medium.find() is None, reason="needs airtoll-medium: make build")
@pytest.mark.parametrize("policy", ["wpa2-psk-ccmp", "wpa3-ft-sae-ccmp"])
def test_over_the_medium_a_station_roams_when_the_level_falls(testbed: Linux, policy: str) -> None:
    testbed.close()  # one guest at a time
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("AIRTOLL_MEDIUM", raising=False)
        over = Linux(vm=True)
        try:
            measured = over.carry_out(Job("fading", policy, flow=None, roam="signal"))
        finally:
            over.close()
    assert 0 < rows(measured)["handover_gap_s"] < 10


@pytest.mark.slow
def test_a_killed_guest_is_said_and_the_next_trial_boots_another(testbed: Linux) -> None:
    testbed.close()
    try:
        assert testbed.carry_out(Job("before", "open", flow=None)).failure is None
        pid = testbed.guest_pid
        assert pid is not None
        flow = Flow(transport="udp", offered_bps=1e5, duration_s=20)

        def kill() -> None:
            time.sleep(6)
            import psutil

            psutil.Process(pid).kill()

        threading.Thread(target=kill).start()
        with pytest.raises(TestbedError, match="guest died"):
            testbed.carry_out(Job("during", "open", flow=flow))
        assert testbed.carry_out(Job("after", "open", flow=None)).failure is None
        assert testbed.guest_pid != pid
    finally:
        testbed.close()


@pytest.mark.slow
@pytest.mark.parametrize("policy", [policy.name for policy in catalogue()])
def test_every_policy_comes_about(testbed: Linux, tmp_path: Path, policy: str) -> None:
    version = asyncio.run(_hostapd())
    if reason := CAPABILITY.why_not_policy(resolve(policy), version):
        pytest.skip(reason)
    measured = testbed.carry_out(Job(policy.replace("+", "-"), policy, flow=None), tmp_path)
    assert measured.failure is None


@pytest.mark.slow
def test_an_esp_tunnel_leaves_no_route_around_the_next(testbed: Linux) -> None:
    for policy in ("ipsec-aes-gcm", "wireguard"):
        assert testbed.carry_out(Job(policy, policy, flow=None)).failure is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "policy",
    ["wpa2-psk-ccmp", "wpa3-ft-sae-ccmp", "wpa2-ft-eap-tls-ccmp", "wpa2-eap-peap-ccmp"],
)
@pytest.mark.parametrize("trigger", ["forced", "signal"])
def test_every_kind_of_roam(testbed: Linux, policy: str, trigger: str) -> None:
    measured = testbed.carry_out(Job(f"{trigger}-{policy}", policy, flow=None, roam=trigger))
    assert rows(measured)["handover_gap_s"] > 0


async def _hostapd() -> tuple[int, int]:
    from airtoll.testbeds.linux.hosts.host import LocalHost

    async with LocalHost("here", "none") as host:
        return hostapd.parse_version(f"v{(await environment.tools(host))['hostapd']}")


@pytest.mark.slow
def test_a_trial_over_ssh(testbed: Linux, tmp_path: Path) -> None:
    """Every command, file, daemon and control socket of the trial goes through a real sshd."""
    testbed.close()  # one guest at a time
    folder = tmp_path / "trials"
    folder.mkdir()
    (folder / "credentials.json").write_text(json.dumps(credentials.fresh().to_json()))
    script = Path(__file__).with_name("ssh_trial.py")
    with drivers.make(tmp_path) as guest:
        done = guest.run([sys.executable, str(script), "/run/airtoll-share/trials"], timeout_s=600)
    assert done.status == 0, done.stderr.decode()
    outcome, asked = json.loads(done.stdout.splitlines()[-1])
    assert outcome["failure"] is None
    assert asked["failure"] is None
    assert any(value["metric"] == "response_time_s" for value in asked["values"])
    assert outcome["negotiated"]["A"]["selectedMethod"] == "13 (EAP-TLS)"
    values = {value["metric"]: value["value"] for value in outcome["values"]}
    assert values["throughput_bps"] == pytest.approx(5e5, rel=0.25)
    # Two hosts are two clocks: no one-way delay.
    assert "delay_s" not in values
    assert values["response_time_s"] > 0
    assert (folder / "ssh" / "wire.pcap").stat().st_size > 2000


@pytest.mark.slow
def test_a_station_that_is_driven_by_hand(testbed: Linux, tmp_path: Path) -> None:
    """A script reads the prompts from a pty and does what they say, or answers skip."""
    testbed.close()  # one guest at a time
    folder = tmp_path / "trials"
    folder.mkdir()
    (folder / "credentials.json").write_text(json.dumps(credentials.fresh().to_json()))
    script = Path(__file__).with_name("hand_trial.py")
    with drivers.make(tmp_path) as guest:
        done = guest.run([sys.executable, str(script), "/run/airtoll-share/trials"], timeout_s=900)
    assert done.status == 0, done.stderr.decode()
    psk, peap, unwilling = json.loads(done.stdout.splitlines()[-1])
    assert psk["failure"] is None
    assert psk["negotiated"]["A"]["driven"] == "by hand"
    assert psk["negotiated"]["A"]["ap:dot11RSNAStatsSelectedPairwiseCipher"] == "00-0f-ac-4"
    values = {value["metric"]: value["value"] for value in psk["values"]}
    assert values["throughput_bps"] == pytest.approx(5e5, rel=0.25)
    assert any("driven by hand" in caveat for caveat in psk["caveats"])
    assert peap["failure"] is None
    assert peap["negotiated"]["A"]["ap:last_eap_type_as"] == "25 (PEAP)"
    assert any("skipped by hand" in caveat for caveat in peap["caveats"])
    assert not [v for v in peap["values"] if v["metric"] == "throughput_bps"]
    assert (
        "'phone (station A): join the network of policy open' was skipped" in unwilling["failure"]
    )


@pytest.mark.slow
def test_a_move_to_another_network_by_mobile_ip(testbed: Linux, tmp_path: Path) -> None:
    job = Job("mobile", "open", flow=UDP, roam="forced", mobile_ip=True, connect_limit_s=120)
    values = rows(testbed.carry_out(job, tmp_path))
    (state,) = registrations(tmp_path)
    assert state["care_of"] == "10.80.0.2"
    assert 0 < state["registered_s"] < 60
    # The server still reaches the station under its home address, through the tunnel.
    assert values["throughput_bps"] == pytest.approx(1e6, rel=0.25)


@pytest.mark.slow
def test_two_stations_move_to_another_network(testbed: Linux, tmp_path: Path) -> None:
    job = Job(
        "two-mobile",
        "open",
        stations=("A", "B"),
        flow=UDP,
        roam="forced",
        mobile_ip=True,
        connect_limit_s=120,
    )
    measured = testbed.carry_out(job, tmp_path)
    assert measured.failure is None
    homes = [state["home"] for state in registrations(tmp_path)]
    assert homes == ["10.77.0.11", "10.77.0.12"]
    assert {state["care_of"] for state in registrations(tmp_path)} == {"10.80.0.2"}
    # Both are reached under their home addresses, through one tunnel.
    reached = [r.value for r in measured.rows if r.metric == "throughput_bps" and r.station]
    assert reached == pytest.approx([1e6, 1e6], rel=0.25)


@pytest.mark.slow
def test_a_station_that_comes_home_deregisters(testbed: Linux, tmp_path: Path) -> None:
    job = Job("back", "open", flow=UDP, roam="forced", roams=2, mobile_ip=True, connect_limit_s=120)
    values = rows(testbed.carry_out(job, tmp_path))
    away, home = registrations(tmp_path)
    assert (away["agent"], away["care_of"]) == ("10.79.0.1", "10.80.0.2")
    assert (home["agent"], home["care_of"], home["lifetime_s"]) == ("10.77.0.1", None, 0)
    assert values["throughput_bps"] == pytest.approx(1e6, rel=0.25)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["ipsec-3des-sha1", "wireguard"])
def test_two_stations_have_a_tunnel_each(testbed: Linux, tmp_path: Path, policy: str) -> None:
    measured = testbed.carry_out(Job("two", policy, stations=("A", "B"), flow=UDP), tmp_path)
    assert measured.failure is None
    state = json.loads((tmp_path / "outcome.json").read_text())["negotiated"]
    assert state["A"]["tunnel"] == state["B"]["tunnel"]
    counts = [r.value for r in measured.rows if r.metric == "authentication_messages"]
    assert counts == ([2, 2] if policy == "wireguard" else [9, 9])


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["ipsec-aes-gcm", "wpa2-psk-ccmp+wireguard"])
def test_a_tunnel_from_station_to_station(testbed: Linux, tmp_path: Path, policy: str) -> None:
    job = Job("between", policy, stations=("A", "B"), station_to_station=True, flow=UDP)
    values = rows(testbed.carry_out(job, tmp_path))
    assert values["throughput_bps"] == pytest.approx(1e6, rel=0.25)
    assert negotiated(tmp_path)["tunnel"]
    assert values["messages_wireguard" if "wireguard" in policy else "messages_ikev2"] == (
        2 if "wireguard" in policy else 4
    )


#: Scenario -> policy that it is tried with; all nine, and every kind of policy of the paper.
_SCENARIOS = {
    "n1": "ipsec-3des-sha1",
    "n2": "8021x-md5+wep-104+ipsec-3des-md5",
    "n3": "wep-104",
    "n4": "wep-104+ipsec-3des-sha1",
    "n5": "8021x-tls+wep-104",
    "r1": "open",
    "r2": "8021x-tls+wep-104+ipsec-3des-sha1",
    "r3": "ipsec-3des-sha1",
    "r4": "8021x-md5+wep-104+ipsec-3des-sha1",
}


@pytest.mark.slow
@pytest.mark.parametrize(("place", "policy"), _SCENARIOS.items())
def test_the_nine_scenarios(testbed: Linux, tmp_path: Path, place: str, policy: str) -> None:
    wireless = DOMAINS[place].peer_ap is not None
    job = Job(
        place,
        policy,
        stations=("mobile", "peer") if wireless else ("mobile",),
        domains=place,
        registration="home" if place[0] == "n" else "foreign",
        flow=Flow(transport="tcp", duration_s=2),
        connect_limit_s=120,
    )
    measured = testbed.carry_out(job, tmp_path)
    assert measured.failure is None
    own = {row.metric: row.value for row in measured.rows if row.station == "mobile"}
    assert own["throughput_bps"] > 0
    # Solicitation, advertisement, request, reply.
    assert own["messages_mobile_ip"] == 4
    (told,) = registrations(tmp_path)
    assert told["care_of"] == (None if place[0] == "n" else "10.82.0.1")
    tunnels = resolve(policy).tunnels
    assert (own.get("messages_ikev1", 0) >= 9) == bool(tunnels)
    # One between the agents, one of the mobile node, two directions each.
    keys = [k for k in json.loads((tmp_path / "keys.json").read_text()) if k["kind"] == "esp"]
    assert len(keys) == (4 if tunnels else 0)


def registrations(folder: Path) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads((folder / "outcome.json").read_text())[
        "conditions"
    ]["registrations"]
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "method"),
    [
        ("open", "full"),
        ("wpa2-eap-peap-ccmp", "full"),
        ("wpa2-eap-peap-ccmp", "cached-pmk"),
        ("wpa3-sae-ccmp", "cached-pmk"),
        ("wpa2-ft-eap-tls-ccmp", "fast-transition"),
    ],
)
def test_a_handover_during_a_call(testbed: Linux, tmp_path: Path, policy: str, method: str) -> None:
    call = Flow(transport="udp", offered_bps=68_800, payload_octets=172, direction="both")
    job = Job(
        f"{method}-{policy}",
        policy,
        flow=call,
        roam="forced",
        roams=handover.moves_before(method),
        handover=method,
        handover_at_s=3.0,
    )
    values = rows(testbed.carry_out(job, tmp_path))
    assert 0 < values["handover_association_s"] < values["handover_gap_s"] < 5
    assert ("handover_eap_s" in values) == (policy == "wpa2-eap-peap-ccmp" and method == "full")
