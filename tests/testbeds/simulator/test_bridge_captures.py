"""Captures of wireless bridges: four addresses on the air, opened by tshark and by our reader."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
FOUR = "wlan.fc.type == 2 && wlan.fc.tods == 1 && wlan.fc.fromds == 1"
FRESH = "wlan.fc.retry == 0"
POLICIES = [
    "open",
    "wep-40",
    "wep-104",
    "wpa-psk-tkip",
    "wpa2-psk-ccmp",
    "wpa2-psk-ccmp-256",
    "wpa2-psk-gcmp",
    "wpa2-psk-gcmp-256",
    "wpa3-sae-ccmp",
    "owe-ccmp",
    "wpa2-eap-tls-ccmp",
]
#: In the order of the resolved nodes: A, its host, the access point, the server.
BRIDGE, HOST, AP, SERVER = (f"02:00:00:00:00:0{number}" for number in range(1, 5))
#: MAC header and FCS; LLC/SNAP, IPv4, UDP.
MAC, INSIDE = 34, 36
#: Further ciphers and handshakes of a kind that another policy has: what changes is not the frame.
SAME_KIND = {"wep-40", "wpa2-psk-ccmp-256", "wpa2-psk-gcmp", "wpa3-sae-ccmp", "owe-ccmp"}


@needs_tshark
@pytest.mark.parametrize(
    ("policy", "direction"),
    [
        pytest.param(policy, "up", marks=[pytest.mark.thorough] * (policy in SAME_KIND))
        for policy in POLICIES
    ]
    + [
        pytest.param(policy, "down", marks=[pytest.mark.thorough] * (policy != "wpa-psk-tkip"))
        for policy in ("wep-104", "wpa-psk-tkip", "wpa2-psk-gcmp-256")
    ],
)
def test_tshark_and_our_reader_open_a_bridge_with_equal_octets(
    policy: str, direction: str, tmp_path: Path, cell: Any, record: Any
) -> None:
    load = {"transport": "udp", "offered_mbps": 2, "duration_s": 0.3, "direction": direction}
    trial = record(cell(policy, load, bridge={}), tmp_path)
    assert trial.wrong() == []
    flags = ("wlan.fc.tods", "wlan.fc.fromds", "wlan.fc.protected")
    names = (*flags, "eapol.type", "wlan.ra", "wlan.ta", "wlan.da", "wlan.sa", "udp.length")
    frames = [line.split("\t") for line in trial.tshark(f"wlan.fc.type == 2 && {FRESH}", *names)]
    # The frames before the data, EAPOL too, keep three addresses.
    early = [frame for frame in frames if frame[3]]
    assert all(frame[:2] in (["1", "0"], ["0", "1"]) for frame in early)
    seen = [frame for frame in frames if not frame[3]]
    assert {tuple(frame[:3]) for frame in seen} == {("1", "1", "0" if policy == "open" else "1")}
    ends = [AP, BRIDGE, SERVER, HOST] if direction == "up" else [BRIDGE, AP, HOST, SERVER]
    assert all(frame[4:] == [*ends, "1480"] for frame in seen)
    assert len(seen) == trial.values["packets_received"] > 50
    report: dict[str, Any] = trial.report()
    assert (report["damage"], report["undecrypted"], report["refused"]) == (None, {}, {})
    assert report["decrypted"] == report["protected"]
    assert [(s["station"], s["bssid"]) for s in report["sessions"]] == [(BRIDGE, AP)]
    payload = 1472 * len(seen)
    octets = report["ledger"]["total"]["octets"]
    assert octets["payload"] == payload == trial.values["octets_payload"]
    assert octets["headers"] == (MAC + INSIDE) * len(seen)
    assert octets["security"] == trial.values["octets_security"]
    assert trial.values["octets_mac"] == MAC * len(seen)


@needs_tshark
@pytest.mark.parametrize("policy", ["wpa2-psk-ccmp", "wpa3-sae-gcmp-256"])
@pytest.mark.parametrize(
    "settings",
    [
        {"phy": "802.11ac", "mcs": 5, "amsdu_max_octets": 4000},
        {"fragmentation_threshold_octets": 600},
    ],
)
def test_aggregates_and_fragments_of_bridges_are_opened(
    policy: str, settings: dict[str, object], tmp_path: Path, cell: Any, record: Any
) -> None:
    load = {"transport": "tcp", "duration_s": 0.1}
    trial = record(cell(policy, load, bridge={}, **settings), tmp_path)
    assert trial.wrong() == []
    assert trial.passing(f"{FOUR} && wlan.fc.frag == 0 && wlan.fc.protected == 1 && !llc") == []
    assert trial.passing("tcp.analysis.lost_segment") == []
    if "amsdu_max_octets" in settings:
        # The end hosts are in the subframes; addresses 3 and 4 are the BSSID's.
        inside = trial.tshark(f"{FOUR} && wlan_aggregate.a_mdsu.subframe", "wlan.da", "wlan.sa")
        ends = [tuple(set(part.split(",")) for part in line.split("\t")) for line in inside]
        assert len(ends) > 5
        assert all(end in (({SERVER}, {HOST}), ({HOST}, {SERVER})) for end in ends)
        assert any("," in line for line in inside)
    else:
        assert len(trial.passing(f"{FOUR} && wlan.fc.frag == 1")) > 5
    report: dict[str, Any] = trial.report()
    assert (report["undecrypted"], report["refused"]) == ({}, {})
    assert report["decrypted"] == report["protected"] > 20


@needs_tshark
@pytest.mark.parametrize("policy", ["wpa-psk-tkip", "wpa2-psk-ccmp"])
def test_hosts_behind_two_bridges_meet(policy: str, tmp_path: Path, cell: Any, record: Any) -> None:
    stations = [{"name": "A"}, {"name": "B"}]
    topology = "station-to-station"
    trial = record(cell(policy, bridge={}, stations=stations, topology=topology), tmp_path)
    assert trial.wrong() == []
    first = trial.tshark(f"{FOUR} && udp && wlan.ra == {AP[:-1]}5", "wlan.da", "wlan.sa")
    # A's host is the second node and B's the fourth; the frame goes on with the same ends.
    assert set(first) == {f"{AP[:-1]}4\t{HOST}"}
    relayed = trial.tshark(f"{FOUR} && udp && wlan.ta == {AP[:-1]}5", "wlan.da", "wlan.sa")
    assert relayed == first
    assert len(relayed) == trial.values["packets_received"] > 50


@needs_tshark
def test_the_tunnel_of_a_host_behind_a_bridge_is_its_own(
    tmp_path: Path, cell: Any, record: Any
) -> None:
    load = {"transport": "udp", "offered_mbps": 2, "payload_bytes": 1000, "duration_s": 0.3}
    trial = record(cell("wpa2-psk-ccmp+wireguard", load, bridge={}), tmp_path)
    assert trial.wrong() == []
    ends = trial.tshark(f"{FOUR} && wg", "wlan.da", "wlan.sa", "ip.src")
    assert {line for line in ends if line.startswith(SERVER)} == {f"{SERVER}\t{HOST}\t10.0.0.2"}
    kinds = trial.tshark(f"{FOUR} && wg", "wg.type")
    assert (kinds[:3], set(kinds[3:])) == (["1", "2", "4"], {"4"})
    sessions = [row for row in trial.keys if row["kind"] == "wireguard-session"]
    assert {row["source"] for row in sessions} == {"10.0.0.2", "10.0.0.4"}


@needs_tshark
@pytest.mark.parametrize("ip", ["ipv4", "ipv6"])
def test_questions_are_repeated_to_each_bridge(
    ip: str, tmp_path: Path, cell: Any, record: Any
) -> None:
    stations = [{"name": "A"}, {"name": "B"}, {"name": "C", "bridge": False}]
    load = {"transport": "udp", "ip": ip, "offered_mbps": 1, "duration_s": 0.2, "stations": ["A"]}
    how = {"bridge": {}, "stations": stations, "address_resolution": "dynamic"}
    trial = record(cell("wpa2-psk-ccmp", load, **how), tmp_path)
    assert trial.wrong() == []
    question = "arp.opcode == 1" if ip == "ipv4" else "icmpv6.type == 135"
    everybody = "ff:ff:ff:ff:ff:ff" if ip == "ipv4" else "33:33:ff:00:00:07"
    # A and B with their hosts, C, the access point.
    bridges = [f"{AP[:-1]}{number}" for number in (1, 3)]
    access_point = f"{AP[:-1]}6"
    fields = ("wlan.fc.tods", "wlan.fc.fromds", "wlan.ra", "wlan.ta", "wlan.da", "wlan.sa")
    asked = {tuple(line.split("\t")) for line in trial.tshark(question, *fields)}
    assert asked == {
        ("1", "1", access_point, bridges[0], everybody, HOST),
        ("0", "1", everybody, access_point, everybody, HOST),
        ("1", "1", bridges[1], access_point, everybody, HOST),
    }
    answer = "arp.opcode == 2" if ip == "ipv4" else "icmpv6.type == 136"
    assert trial.tshark(f"{FOUR} && {answer}", "wlan.da") == [HOST]
    assert trial.values["packets_lost"] == 0
    report: dict[str, Any] = trial.report()
    assert (report["undecrypted"], report["refused"]) == ({}, {})
