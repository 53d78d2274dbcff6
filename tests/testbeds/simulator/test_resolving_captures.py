"""Address questions in captures: tshark and our reader open what goes to groups."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
#: The first time that a data frame is on the air.
DATA = "wlan.fc.type == 2 && wlan.fc.retry == 0"
TO_GROUPS = "wlan.fc.type == 2 && wlan.da[0] & 1 && wlan.fc.ds == 2"
#: By IP version: tshark's layer, where questions go, question and answer.
ASKED = {
    "ipv4": ("arp", "ff:ff:ff:ff:ff:ff", "arp.opcode == 1", "arp.opcode == 2"),
    "ipv6": ("icmpv6", "33:33:ff:00:00:01", "icmpv6.type == 135", "icmpv6.type == 136"),
}
POLICIES = [
    "open",
    "wep-104",
    "wpa-psk-tkip",
    "wpa2-psk-ccmp",
    "wpa2-psk-gcmp-256",
    "wpa3-sae-ccmp",
    "wpa2-eap-peap-ccmp",
    "8021x-tls+wep-104",
]


@needs_tshark
@pytest.mark.parametrize("ip", ASKED)
@pytest.mark.parametrize("policy", POLICIES)
def test_tshark_reads_questions_and_answers(
    policy: str, ip: str, tmp_path: Path, cell: Any, record: Any
) -> None:
    load = {"transport": "udp", "offered_mbps": 2, "duration_s": 0.3, "ip": ip}
    planned = cell(policy, load, topology="downlink", address_resolution="dynamic")
    trial = record(planned, tmp_path)
    layer, everybody, question, answer = ASKED[ip]
    assert trial.wrong() == []
    # From the access point to its BSS, and back from the station.
    asked = trial.tshark(f"{TO_GROUPS} && {question}", "wlan.ra", "wlan.fc.protected")
    told = trial.tshark(f"{DATA} && {answer}", "wlan.ta", "wlan.fc.protected")
    protected = "0" if policy == "open" else "1"
    assert f"{everybody}\t{protected}" in asked
    assert f"02:00:00:00:00:01\t{protected}" in told
    assert trial.passing("wlan.fc.type == 2 && wlan.fc.protected == 1 && !(llc || eapol)") == []
    # A short packet fills the shortest Ethernet frame.
    lengths = set(trial.tshark(layer, "frame.len", path=trial.wire))
    assert lengths == {"60" if ip == "ipv4" else "86"}
    report: dict[str, Any] = trial.report()
    assert (report["damage"], report["undecrypted"]) == (None, {})
    assert report["decrypted"] == report["protected"]


@needs_tshark
@pytest.mark.parametrize("policy", ["wep-40", "wpa2-psk-ccmp", "wpa2-psk-gcmp"])
def test_group_keys_that_were_there_before_are_logged(
    policy: str, tmp_path: Path, cell: Any, record: Any
) -> None:
    trial = record(cell(policy, authenticate=False, address_resolution="dynamic"), tmp_path)
    assert trial.wrong() == []
    assert len(trial.passing(f"{TO_GROUPS} && arp")) == 1
    assert trial.report()["undecrypted"] == {}


@pytest.mark.parametrize("policy", ["wpa-wpa2-psk-transition", "wpa-psk-ccmp"])
def test_our_reader_opens_groups_that_tshark_does_not(
    policy: str, tmp_path: Path, cell: Any, record: Any
) -> None:
    stations = [{"name": "A"}, {"name": "B"}]
    trial = record(
        cell(policy, stations=stations, topology="downlink", address_resolution="dynamic"), tmp_path
    )
    report: dict[str, Any] = trial.report()
    assert (report["damage"], report["undecrypted"]) == (None, {})
    assert report["decrypted"] == report["protected"] > 0


@needs_tshark
@pytest.mark.parametrize("policy", ["wpa-psk-tkip", "wpa2-psk-ccmp", "wpa3-sae-ccmp"])
def test_questions_after_a_renewal_go_under_the_new_key(
    policy: str, tmp_path: Path, cell: Any, record: Any
) -> None:
    stations = [{"name": "A"}, {"name": "B"}]
    planned = cell(
        policy,
        stations=stations,
        topology="downlink",
        address_resolution="dynamic",
        join={"group_rekey_s": 0.1},
    )
    # B is asked for when both have the second key.
    trial = record(planned, tmp_path, change=lambda s: s["flows"][1].update(start_s=0.15))
    assert trial.wrong() == []
    numbers = [row["index"] for row in trial.keys if row["kind"] == "gtk"]
    assert numbers == ["1", "2", "1"]
    assert trial.tshark(f"{TO_GROUPS} && arp.opcode == 1", "wlan.wep.key") == ["1", "2"]
    assert trial.report()["undecrypted"] == {}


@needs_tshark
@pytest.mark.parametrize(
    ("policy", "method"),
    [
        ("wpa2-psk-ccmp", "full"),
        ("wpa2-eap-peap-ccmp", "pre-authentication"),
        ("wpa2-ft-psk-ccmp", "fast-transition"),
        ("wpa3-ft-sae-ccmp", "fast-transition-ds"),
    ],
)
def test_questions_at_both_access_points(
    policy: str, method: str, tmp_path: Path, cell: Any, record: Any
) -> None:
    handover = {"at_s": 0.15, "method": method}
    planned = cell(policy, topology="downlink", address_resolution="dynamic", handover=handover)
    trial = record(planned, tmp_path)
    assert trial.wrong() == []
    report: dict[str, Any] = trial.report()
    assert (report["damage"], report["undecrypted"]) == (None, {})
    assert report["decrypted"] == report["protected"]
    assert len(trial.passing("arp", path=trial.wire)) >= 2
