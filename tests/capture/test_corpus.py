"""Captures of the real Linux stack: everything protected opens, and tshark agrees where it is."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from urllib.parse import quote

import pytest

from airtoll.capture import capture_report

CORPUS = Path(__file__).parent / "corpus" / "linux"
FOLDERS = sorted(path.parent for path in CORPUS.glob("*/air.pcap"))
AKMS = {
    "owe-ccmp": ("owe", "ccmp-128"),
    "wep-40": ("open", "wep-40"),
    "wep-104": ("open", "wep-104"),
    "wep-104-shared": ("shared-key", "wep-104"),
    "wpa-psk-tkip": ("wpa-psk", "tkip"),
    "wpa2-eap-tls-ccmp": ("802.1x", "ccmp-128"),
    "wpa2-ft-psk-ccmp": ("ft-psk", "ccmp-128"),
    "wpa2-psk-ccmp": ("psk", "ccmp-128"),
    "wpa2-psk-ccmp-256": ("psk", "ccmp-256"),
    "wpa2-psk-gcmp": ("psk", "gcmp-128"),
    "wpa2-psk-gcmp-256": ("psk", "gcmp-256"),
    "wpa3-sae-ccmp": ("sae", "ccmp-128"),
    "open": ("open", "open"),
}


def _keys(folder: Path) -> list[dict[str, str]]:
    rows: list[dict[str, str]] = json.loads((folder / "keys.json").read_text())
    return rows


def _texts(folder: Path) -> list[str]:
    texts = []
    for row in _keys(folder):
        if row["kind"] in ("wep", "pmk"):
            texts.append(f"{row['kind']}:{row['key']}")
        elif row["kind"] == "passphrase":
            texts.append(f"wpa-pwd:{quote(row['passphrase'])}:{quote(row['ssid'])}")
    return texts


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_everything_opens(folder: Path) -> None:
    report = capture_report([folder / "air.pcap"], _texts(folder))
    data = report.data
    assert data["damage"] is None
    assert data["undecrypted"] == {}
    assert data["decrypted"] == data["protected"]
    assert (data["protected"] == 0) == (folder.name == "open")
    session = report.sessions[0]
    assert session["outcome"] == "connected"
    assert (session["akm"], session["cipher"]) == AKMS.get(
        folder.name, (session["akm"], session["cipher"])
    )
    by_log = capture_report([folder / "air.pcap"], key_logs=[folder / "keys.json"])
    assert by_log.data["decrypted"] == data["decrypted"]


def test_eap_is_timed_and_named() -> None:
    folder = CORPUS / "wpa2-eap-tls-ccmp"
    report = capture_report([folder / "air.pcap", folder / "wire.pcap"], _texts(folder))
    session = report.sessions[0]
    assert session["eap_method"] == "TLS"
    assert 0 < session["eap_time_s"] < session["negotiation_time_s"] < 60
    assert session["key_handshake_time_s"] < session["negotiation_time_s"]
    assert session["messages"]["4-way"] == 4
    assert 8 < session["messages"]["radius"] <= report.data["kinds"]["radius"]
    assert session["waits_s"]["server"] > 0


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_tshark_agrees(folder: Path) -> None:
    command = ["tshark", "-2", "-r", str(folder / "air.pcap"), "-o", "wlan.enable_decryption:TRUE"]
    for row in _keys(folder):
        if row["kind"] == "wep":
            command += ["-o", f'uat:80211_keys:"wep","{row["key"]}"']
        elif row["kind"] == "pmk":
            command += ["-o", f'uat:80211_keys:"wpa-psk","{row["key"]}"']
        elif row["kind"] == "passphrase":
            pair = f"{row['passphrase']}:{row['ssid']}"
            command += ["-o", f'uat:80211_keys:"wpa-pwd","{pair}"']
    fields = ("wlan.fc.type", "wlan.fc.protected", "llc.type", "eapol.type", "eap.code")
    command += ["-T", "fields"]
    for field in ("frame.number", *fields):
        command += ["-e", field]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    protected = [row for row in rows if row[1] == "2" and row[2] in ("1", "True")]
    theirs = (
        len(rows),
        len(protected),
        sum(row[3] != "" for row in protected),
        sum(row[4] != "" for row in rows),
        sum(row[5] != "" for row in rows),
    )
    data = capture_report([folder / "air.pcap"], _texts(folder)).data
    keys = ("frames", "protected", "decrypted", "eapol_frames", "eap_frames")
    assert tuple(data[key] for key in keys) == theirs
