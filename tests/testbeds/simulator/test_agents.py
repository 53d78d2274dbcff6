"""Captures of Mobile IP's agents that advertise themselves, and of packets that go abroad."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
ADVERTISED = "icmp.type == 9 && wlan.ra == 01:00:5e:00:00:01"
LOAD = {"transport": "udp", "offered_mbps": 0.4, "payload_bytes": 500, "duration_s": 2.0}


def abroad(cell: Any, policy: str, detection: str) -> Any:
    join = {"mobile_ip": "home", "advertisement_s": 0.2, "movement_detection": detection}
    handover = {"at_s": 0.5, "mobile_ip": "foreign"}
    return cell(policy, {**LOAD, "direction": "both"}, join=join, handover=handover)


@pytest.mark.parametrize("detection", ["link", "lifetime"])
def test_tshark_reads_advertisements_and_what_goes_abroad(
    detection: str, tmp_path: Path, cell: Any, record: Any
) -> None:
    trial = record(abroad(cell, "open", detection), tmp_path)
    assert trial.wrong() == []
    fields = ("ip.src", "ip.dst", "ip.ttl", "icmp.lifetime", "icmp.mip.flags", "icmp.mip.coa")
    heard = [line.split("\t") for line in trial.tshark(ADVERTISED, *fields)]
    # The first one meets the station's first frame.
    assert len(heard) == trial.values["mobile_ip_advertisements"] - 1 > 15
    assert {tuple(line[1:4]) for line in heard} == {("224.0.0.1", "1", "1")}
    # The home agent behind the switch, and the second access point with its care-of address.
    server, foreign = "10.0.0.3", "10.0.0.4"
    assert {(line[0], line[5]) for line in heard} == {(server, ""), (foreign, foreign)}
    asked = trial.passing("icmp.type == 10 && wlan.fc.retry == 0")
    assert len(asked) == (2 if detection == "link" else 1)
    inside = trial.tshark("ip.proto == 4", "ip.src", "ip.dst", path=trial.wire)
    ends = {tuple(part.split(",")[0] for part in line.split("\t")) for line in inside}
    assert ends == {(server, foreign), (foreign, server)}


def test_advertisements_are_under_the_group_key(tmp_path: Path, cell: Any, record: Any) -> None:
    trial = record(abroad(cell, "wpa2-psk-ccmp", "link"), tmp_path)
    assert trial.wrong() == []
    heard = trial.tshark(ADVERTISED, "wlan.fc.protected", "ip.src")
    assert {line.split("\t")[0] for line in heard} <= {"1", "True"}
    # Those of an access point before its first station had keys stay closed.
    assert 10 < len(heard) < trial.values["mobile_ip_advertisements"]
    assert {line.split("\t")[1] for line in heard} == {"10.0.0.3", "10.0.0.4"}
