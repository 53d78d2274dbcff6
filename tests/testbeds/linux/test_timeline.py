"""Metrics of the captures of a trial: captures of the real stack, and broken files."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from airtoll.capture import CaptureReport, capture_report
from airtoll.errors import CaptureError
from airtoll.testbeds.linux import ledger, timeline

CORPUS = Path(__file__).parents[2] / "capture" / "corpus" / "linux"
STATION = "02:00:00:00:02:00"


def read(policy: str, *, keys: bool = False) -> timeline.Timeline:
    folder = CORPUS / policy
    rows = json.loads((folder / "keys.json").read_text()) if keys else []
    words = list(ledger.key_words(rows))
    return timeline.read(folder / "air.pcap", folder / "wire.pcap", keys=words)


def metrics(seen: timeline.Timeline) -> dict[str, float]:
    return {v.metric: v.value for v in timeline.values(seen, STATION, "A")}


@pytest.mark.parametrize(
    ("policy", "messages"),
    [
        ("open", {}),
        ("wep-104", {}),
        ("wep-104-shared", {"shared-key": 4}),
        ("wpa-psk-tkip", {"4-way": 4}),
        ("wpa2-psk-ccmp", {"4-way": 4}),
        ("wpa3-sae-ccmp", {"sae": 4, "4-way": 4}),
        ("owe-ccmp", {"4-way": 4}),
        ("wpa2-eap-tls-ccmp", {"eap": 17, "4-way": 4}),
    ],
)
def test_messages_of_real_handshakes(policy: str, messages: dict[str, int]) -> None:
    seen = read(policy)
    session = seen.first(STATION)
    assert session is not None
    counted = {name: count for name, count in session["messages"].items() if name in messages}
    assert counted == messages
    values = metrics(seen)
    assert values["authentication_messages"] == sum(messages.values())
    assert 0 < values["association_time_s"] < 2
    assert ("key_handshake_time_s" in values) == ("4-way" in messages)
    assert ("eap_time_s" in values) == ("eap" in messages)
    assert values.get("messages_eap", 0) == messages.get("eap", 0)
    assert values.get("messages_eapol_key", 0) == messages.get("4-way", 0)
    if "eap" in messages:
        parts = values["eap_time_s"] + values["key_handshake_time_s"]
        assert values["negotiation_time_s"] > parts


@pytest.mark.parametrize("policy", ["wpa2-eap-tls-ccmp", "wpa3-sae-ccmp", "wep-104-shared"])
def test_the_testbed_and_the_report_measure_the_same(policy: str) -> None:
    values = metrics(read(policy, keys=True))
    folder = CORPUS / policy
    files = [path for path in (folder / "air.pcap", folder / "wire.pcap") if path.exists()]
    session = capture_report(files, key_logs=[folder / "keys.json"]).sessions[0]
    for name in ("association_time_s", "eap_time_s", "key_handshake_time_s", "negotiation_time_s"):
        assert values.get(name) == session[name]
    assert values["authentication_messages"] == session["authentication_messages"]


def test_a_group_handshake_of_wpa_is_seen_with_the_keys() -> None:
    # IEEE 802.11-2020, 12.7.7: WPA delivers the group key in two encrypted messages.
    assert metrics(read("wpa-psk-tkip"))["messages_eapol_key"] == 4
    assert metrics(read("wpa-psk-tkip", keys=True))["messages_eapol_key"] == 6


@pytest.mark.parametrize(
    ("policy", "messages"),
    [
        ("wep-104", 0),
        ("wpa-psk-tkip", 4),
        ("wpa2-psk-ccmp", 4),
        ("wpa3-sae-ccmp", 8),
    ],
)
def test_frames_with_four_addresses_are_the_stations(policy: str, messages: int) -> None:
    seen = timeline.read(CORPUS.with_name("linux-bridges") / policy / "air.pcap")
    assert metrics(seen)["authentication_messages"] == messages
    protected, clear = seen.protected(STATION)
    assert protected > 10
    assert clear == 0
    assert seen.moves(STATION) == []


def test_protection_is_read_from_the_air() -> None:
    protected, clear = read("open").protected(STATION)
    assert (protected, clear > 5) == (0, True)
    for policy in ("wpa-psk-tkip", "wpa2-psk-ccmp", "wpa3-sae-ccmp"):
        protected, clear = read(policy).protected(STATION)
        assert protected > 5
        assert clear == 0


def test_other_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("this is no capture at all, and it says so")
    with pytest.raises(CaptureError, match="text: is no capture"):
        timeline.read(path)
    path.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    with pytest.raises(CaptureError, match=r"text: no 802\.11 frame"):
        timeline.read(path)


def test_the_longest_gap_of_several_moves_is_given() -> None:
    roams = [{"station": STATION, "handover_gap_s": gap, "at_s": 1.0} for gap in (0.25, 0.75, 0.5)]
    seen = timeline.Timeline(CaptureReport({"sessions": [], "roams": roams}))
    assert metrics(seen) == {"handover_gap_s": 0.75}
    assert list(timeline.values(seen, "02:00:00:00:03:00", "B")) == []
