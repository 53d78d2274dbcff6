"""Captures of joins over several links: tshark finds nothing malformed, ours opens all data."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from airtoll.cli.negotiations import negotiate, over_links
from airtoll.policies import resolve

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")

MLO = {
    "links": [
        {"band": "5", "width_mhz": 80, "mcs": 9, "streams": 2},
        {"band": "6", "width_mhz": 160, "mcs": 9},
    ]
}
POLICIES = ("wpa3-sae-ext-gcmp-256", "owe-gcmp-256", "wpa3-eap-tls-gcmp-256")
BEACON = "wlan.fc.type_subtype == 8"


@pytest.mark.parametrize("policy", POLICIES)
def test_data_of_both_links_open(policy: str, tmp_path: Path, cell: Any, record: Any) -> None:
    load = {"transport": "udp", "offered_mbps": 1500, "duration_s": 0.05}
    trial = record(cell(policy, load, phy="802.11be", mlo=MLO, beacons=True), tmp_path)
    report: dict[str, Any] = trial.report()
    assert report["damage"] is None
    assert report["undecrypted"] == {}
    (session,) = report["sessions"]
    links = session["multi_link"]
    assert links["station_mld"].startswith("02:4d:")
    assert [link["link_id"] for link in links["links"]] == [0, 1]
    assert len({link["station"] for link in links["links"]}) == 2


def test_the_join_has_the_messages_of_the_handshakes(
    tmp_path: Path, cell: Any, record: Any
) -> None:
    for policy in POLICIES:
        trial = record(cell(policy, phy="802.11be", mlo=MLO), tmp_path / policy)
        resolved = resolve(policy)
        sent = [m["protocol"] for m in negotiate(resolved, over_links(resolved, 2))["messages"]]
        for protocol, metric in (
            ("802.11", "messages_ieee80211"),
            ("EAPOL-Key", "messages_eapol_key"),
        ):
            assert trial.values[metric] == sent.count(protocol)


@needs_tshark
def test_tshark_reads_the_frames_of_both_links(tmp_path: Path, cell: Any, record: Any) -> None:
    stations = [{"name": "A"}, {"name": "B", "link": 2}]
    settings = {"phy": "802.11be", "mlo": MLO, "stations": stations, "beacons": True}
    trial = record(cell(POLICIES[0], **settings), tmp_path)
    assert trial.wrong() == []
    bssids = set(trial.tshark(BEACON, "wlan.bssid"))
    assert len(bssids) == 2
    # The station of one link names no device.
    requests = trial.tshark("wlan.fc.type_subtype == 0", "wlan.sa", "wlan.ext_tag.number")
    asked = dict(line.split("\t") for line in requests)
    assert {station: "107" in tags.split(",") for station, tags in asked.items()} == {
        "02:00:00:00:00:01": True,
        "02:00:00:00:00:02": False,
    }


@needs_tshark
def test_tshark_reads_the_frames_that_open_exchanges_with_one_radio(
    tmp_path: Path, cell: Any, record: Any
) -> None:
    load = {"transport": "udp", "direction": "down", "offered_mbps": 50, "duration_s": 0.05}
    one_radio = {"mode": "emlsr", "padding_delay_us": 64, **MLO}
    trial = record(cell(POLICIES[0], load, phy="802.11be", mlo=one_radio), tmp_path)
    assert trial.wrong() == []
    opened = trial.tshark("wlan.fc.type_subtype == 18", "wlan.trigger.he.trigger_type", "frame.len")
    assert len(opened) > 20
    # MU-RTS of 33 octets and 16 symbols of 12 octets at 24 Mb/s, behind the radio header.
    types = {line.split("\t")[0] for line in opened}
    assert {int(kind, 0) for kind in types} == {3}
    assert len({line.split("\t")[1] for line in opened}) == 1
