"""Beacons in captures: elements by generation, band and policy, and the MIC of protected ones."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
BEACON = "wlan.fc.type_subtype == 8"
WIFI7 = "wpa3-sae-ext-gcmp-256"

SET_UPS: dict[str, tuple[str, dict[str, Any]]] = {
    "b": ("wep-104", {"phy": "802.11b"}),
    "g": ("wpa-psk-tkip", {"phy": "802.11g"}),
    "a": ("wpa2-psk-ccmp", {"phy": "802.11a", "ssids": 3}),
    "n at 2.4 GHz": ("wpa-wpa2-psk-transition", {"phy": "802.11n", "band": "2.4", "mcs": 7}),
    "ac": ("wpa2-ft-psk-ccmp", {"phy": "802.11ac", "mcs": 9, "width_mhz": 80}),
    "ax": ("wpa2-wpa3-psk-transition", {"phy": "802.11ax", "mcs": 9, "width_mhz": 160}),
    "ax with profiles": (
        "owe-ccmp",
        {"phy": "802.11ax", "mcs": 9, "width_mhz": 80, "ssids": 8, "multiple_bssid": True},
    ),
    "ax at 6 GHz": (
        "wpa3-sae-ccmp",
        {"phy": "802.11ax", "band": "6", "mcs": 9, "width_mhz": 160, "reported_bsss": 2},
    ),
    "be": (WIFI7, {"phy": "802.11be", "mcs": 11, "width_mhz": 80, "reported_bsss": 2}),
    "be at 6 GHz": (WIFI7, {"phy": "802.11be", "mcs": 13, "width_mhz": 320, "reported_bsss": 2}),
    "be at 2.4 GHz": (WIFI7, {"phy": "802.11be", "band": "2.4", "mcs": 11, "streams": 2}),
}


@needs_tshark
@pytest.mark.parametrize("name", SET_UPS)
def test_tshark_reads_every_beacon(name: str, tmp_path: Path, cell: Any, record: Any) -> None:
    policy, settings = SET_UPS[name]
    trial = record(cell(policy, **settings), tmp_path)
    assert trial.wrong() == []
    assert len(trial.passing(BEACON)) >= 2
    assert trial.report()["damage"] is None


@needs_tshark
def test_the_mic_of_a_beacon_is_gmac_under_the_logged_bigtk(
    tmp_path: Path, cell: Any, record: Any
) -> None:
    policy, settings = SET_UPS["be"]
    trial = record(cell(policy, **settings), tmp_path)
    (row,) = [row for row in trial.keys if row["kind"] == "bigtk"]
    assert (row["index"], len(row["key"])) == ("6", 64)
    # tshark cuts the radio header and the FCS off.
    first = next(iter(_frames(trial.air)))
    frame = first[:-4]
    assert frame[-26:-22] == bytes([76, 24, 6, 0])
    number = frame[-22:-16]
    # IEEE Std 802.11-2020, 12.5.4.5: the Timestamp counts as zero, and so does the MIC.
    header = frame[:1] + bytes([frame[1] & 0xC7]) + frame[4:22]
    text = header + bytes(8) + frame[32:-16] + bytes(16)
    nonce = frame[10:16] + number[::-1]
    assert AESGCM(bytes.fromhex(row["key"])).encrypt(nonce, b"", text) == frame[-16:]


@pytest.mark.parametrize("policy", [WIFI7, "wpa3-eap-tls-gcmp-256", "wpa3-ft-sae-ccmp"])
def test_our_reader_verifies_beacons_under_the_key_of_the_handshake(
    policy: str, tmp_path: Path, cell: Any, record: Any
) -> None:
    settings = {"phy": "802.11ax", "mcs": 9, "beacon_protection": True}
    trial = record(cell(policy, **settings), tmp_path)
    found: Any = trial.report()
    outcomes = found["group_management"]
    assert outcomes["MIC fits"] >= 2
    assert "MIC failure" not in outcomes


@needs_tshark
def test_beacons_without_pmf_are_not_protected(tmp_path: Path, cell: Any, record: Any) -> None:
    trial = record(cell("wpa2-psk-ccmp", phy="802.11a", beacon_protection=True), tmp_path)
    assert not any(trial.passing(f"{BEACON} && wlan.mmie.mic"))
    assert [row for row in trial.keys if row["kind"] == "bigtk"] == []


@needs_tshark
def test_new_group_keys_bring_a_new_key_of_beacons(tmp_path: Path, cell: Any, record: Any) -> None:
    load = {"transport": "udp", "offered_mbps": 1, "duration_s": 0.6}
    planned = cell(
        "wpa3-sae-ccmp", load, phy="802.11a", beacon_protection=True, join={"group_rekey_s": 0.2}
    )
    trial = record(planned, tmp_path)
    assert trial.wrong() == []
    numbers = {line for line in trial.tshark(BEACON, "wlan.mmie.keyid") if line}
    assert len(numbers) == 2
    found: Any = trial.report()
    assert "MIC failure" not in found["group_management"]


def _frames(path: Path) -> list[bytes]:
    """The beacons of a capture, without radio headers, read by hand."""
    octets, at, found = path.read_bytes(), 0, []
    while at < len(octets):
        kind = int.from_bytes(octets[at : at + 4], "little")
        length = int.from_bytes(octets[at + 4 : at + 8], "little")
        if kind == 6:
            size = int.from_bytes(octets[at + 20 : at + 24], "little")
            packet = octets[at + 28 : at + 28 + size]
            frame = packet[int.from_bytes(packet[2:4], "little") :]
            if frame[0] == 0x80:
                found.append(frame)
        at += length
    return found
