"""Probe traffic in captures: tshark decodes requests, responses and their repetitions."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
QUIET = {"transport": "udp", "offered_mbps": 0.1, "duration_s": 1.0}
REQUEST, RESPONSE = "wlan.fc.type_subtype == 4", "wlan.fc.type_subtype == 5"


@needs_tshark
@pytest.mark.parametrize(
    ("policy", "more"),
    [
        ("open", {"phy": "802.11g"}),
        ("wpa2-psk-ccmp", {"phy": "802.11ac", "width_mhz": 80}),
        ("wpa3-sae-ccmp", {"phy": "802.11ax", "ssids": 2}),
        ("wpa3-sae-gcmp-256", {"phy": "802.11be", "beacon_protection": True}),
    ],
)
def test_tshark_decodes_requests_and_responses(
    policy: str, more: dict[str, Any], tmp_path: Path, cell: Any, record: Any
) -> None:
    given = {"per_s": 30.0, "leaves_ratio": 0.3}
    near = {"cells": 1, "level_dbm": -70.0, "stations": 0, "policy": "open"}
    planned = cell(policy, QUIET, passers_by=given, neighbours=near, **more)
    trial = record(planned, tmp_path)
    assert trial.wrong() == []
    requests = trial.tshark(REQUEST, "wlan.ta", "frame.len", "wlan.ssid")
    assert len(requests) > 10
    # The wildcard SSID is empty; each request is one of another station.
    assert {line.split("\t")[2] for line in requests} <= {"", "<MISSING>"}
    assert len({line.split("\t")[0] for line in requests}) == len(requests)
    first = trial.tshark(f"{RESPONSE} && wlan.fc.retry == 0", "wlan.sa", "wlan.da")
    senders = {line.split("\t")[0] for line in first}
    beaconing = set(trial.tshark("wlan.fc.type_subtype == 8", "wlan.sa"))
    assert senders == beaconing
    assert {line.split("\t")[1] for line in first} <= {line.split("\t")[0] for line in requests}
    assert trial.passing(f"{RESPONSE} && wlan.fc.retry == 1")
    # No indication and no MIC, and the elements of a beacon but for these.
    assert trial.passing(f"{RESPONSE} && wlan.tag.number == 5") == []
    for number in (0, 1, 48, 45, 191):
        of = [
            set(trial.tshark(f"{kind} && wlan.tag.number == {number}", "wlan.sa"))
            for kind in ("wlan.fc.type_subtype == 8", RESPONSE)
        ]
        assert of[0] == of[1], number
    report: dict[str, Any] = trial.report()
    assert report["damage"] is None
