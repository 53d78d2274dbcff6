"""Captures of the real Linux stack: everything protected opens, sessions say what was agreed."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from airtoll.capture import capture_frames, capture_report

CORPUS = Path(__file__).parent / "corpus" / "linux"
FOLDERS = sorted(path.parent for path in CORPUS.glob("*/air.pcap"))
BRIDGES = sorted(path.parent for path in CORPUS.with_name("linux-bridges").glob("*/air.pcap"))
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


@pytest.mark.parametrize("folder", BRIDGES, ids=lambda folder: folder.name)
def test_wireless_bridges_open_in_both_directions(folder: Path) -> None:
    report = capture_report([folder / "air.pcap"], _texts(folder))
    data = report.data
    assert (data["damage"], data["undecrypted"], data["refused"]) == (None, {}, {})
    assert data["decrypted"] == data["protected"] > 10
    # One client of one AP, whichever way its four-address frames go.
    (session,) = report.sessions
    assert (session["station"], session["bssid"]) == ("02:00:00:00:02:00", "02:00:00:00:00:00")
    assert (session["akm"], session["cipher"]) == AKMS[folder.name]
    assert data["roams"] == []
    opened = [f.plain for f in capture_frames([folder / "air.pcap"], _texts(folder)) if f.plain]
    # ICMP echo requests and replies of the host behind the bridge, IPv4 after LLC/SNAP: type and
    # sequence number.
    pings = {
        (plain[28], plain[35])
        for plain in opened
        if plain[6:9] == b"\x08\x00\x45" and plain[17] == 1
    }
    assert pings >= {(kind, number) for kind in (8, 0) for number in (1, 2, 3)}


def test_eap_is_timed_and_named() -> None:
    folder = CORPUS / "wpa2-eap-tls-ccmp"
    report = capture_report([folder / "air.pcap", folder / "wire.pcap"], _texts(folder))
    session = report.sessions[0]
    assert session["eap_method"] == "TLS"
    assert 0 < session["eap_time_s"] < session["negotiation_time_s"] < 60
    assert session["key_handshake_time_s"] < session["negotiation_time_s"]
    assert session["messages"]["4-way"] == 4
    assert 8 < session["messages"]["radius"] <= report.data["kinds"]["radius"]
    waits = session["waits_s"]
    assert min(waits["station"], waits["ap"], waits["server"], waits["air"]) > 0
    assert waits["server_seen"] == "radius"
    assert 0 < session["eap_time_at_server_s"] < session["eap_time_s"]
    assert waits["server"] <= session["eap_time_at_server_s"]
    # Without the wire, the AP's part cannot be told from the server's.
    alone = capture_report([folder / "air.pcap"], _texts(folder)).sessions[0]
    assert alone["waits_s"]["server_seen"] == "air"
    assert alone["waits_s"]["server"] > waits["server"]
    assert alone["eap_time_at_server_s"] is None


def test_frames_are_what_the_report_counts() -> None:
    folder = CORPUS / "wpa3-sae-ccmp"
    frames = capture_frames([folder / "air.pcap"], _texts(folder))
    data = capture_report([folder / "air.pcap"], _texts(folder)).data
    assert [frame.number for frame in frames] == list(range(1, data["frames"] + 1))
    assert sum(frame.protected for frame in frames) == data["protected"]
    assert sum(frame.protected and frame.plain is not None for frame in frames) == data["decrypted"]
    assert sum(frame.eapol for frame in frames) == data["eapol_frames"]
    closed = capture_frames([folder / "air.pcap"])
    assert {frame.state for frame in closed if frame.protected} == {"no key"}
