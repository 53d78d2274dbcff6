"""Frames of power save in captures: null frames, PS-Polls, TIMs, More Data and EOSP by tshark."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path
from typing import Any

import pytest

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
#: 200 octets each 20 ms: five wait for a beacon.
LOAD = {
    "transport": "udp",
    "direction": "down",
    "payload_bytes": 200,
    "offered_mbps": 0.08,
    "duration_s": 1.0,
}
PHONE = {"name": "A", "profile": "esp32-c3", "listen_interval": 1}
BEACON = "wlan.fc.type_subtype == 8"
NULL = "wlan.fc.type_subtype == 0x24"
QOS_NULL = "wlan.fc.type_subtype == 0x2c"
POLL = "wlan.fc.type_subtype == 0x1a"
DATA_DOWN = "wlan.fc.type == 2 && !(wlan.fc.subtype & 4) && wlan.fc.ds == 2 && udp"


def _trial(cell: Any, record: Any, folder: Path, policy: str, retrieval: str, **more: Any) -> Any:
    stations = more.pop("stations", None) or [{**PHONE, "retrieval": retrieval}]
    load = more.pop("load", LOAD)
    planned = cell(policy, load, stations=stations, beacons=True, **more)
    trial = record(planned, folder)
    assert trial.wrong() == []
    report = trial.report()
    assert (report["damage"], report["undecrypted"]) == (None, {})
    return trial


@needs_tshark
@pytest.mark.parametrize("policy", ["open", "wpa2-psk-ccmp", "wpa3-sae-gcmp-256"])
def test_a_poll_fetches_each_frame(policy: str, tmp_path: Path, cell: Any, record: Any) -> None:
    trial = _trial(cell, record, tmp_path, policy, "ps-poll")
    polls = trial.tshark(POLL, "wlan.aid", "wlan.fc.pwrmgt", "wlan.fc.protected", "frame.len")
    aids = {line.split("\t")[0] for line in polls}
    assert {int(aid, 0) & 0x3FFF for aid in aids} == {1}
    assert {line.split("\t")[2] for line in polls} <= {"0", "False"}
    data = trial.tshark(DATA_DOWN, "wlan.fc.moredata", "wlan.fc.protected")
    assert len(data) > 20
    # Each poll is answered by one frame; the last poll of the trial may not be.
    assert len(data) <= len(polls) <= len(data) + 1
    more = [line.split("\t")[0] in ("1", "True") for line in data]
    assert 0.5 < sum(more) / len(more) < 0.95
    said = trial.passing(f"{BEACON} && wlan.tim.partial_virtual_bitmap == 02")
    assert len(said) == more.count(False)
    if policy != "open":
        assert {line.split("\t")[1] for line in data} <= {"1", "True"}


@needs_tshark
def test_a_service_period_has_one_end(tmp_path: Path, cell: Any, record: Any) -> None:
    # The frames go one by one.
    trial = _trial(cell, record, tmp_path, "wpa2-psk-ccmp", "u-apsd", edca=True)
    triggers = trial.passing(f"{QOS_NULL} && wlan.fc.ds == 1 && wlan.fc.pwrmgt == 1")
    ends = trial.passing(f"{DATA_DOWN} && wlan.qos.eosp == 1")
    more = trial.passing(f"{DATA_DOWN} && wlan.fc.moredata == 1")
    assert len(triggers) > 5
    assert len(ends) == len(triggers)
    assert len(more) > 3 * len(ends)
    assert trial.passing(f"{DATA_DOWN} && wlan.qos.eosp == 1 && wlan.fc.moredata == 1") == []
    assert trial.passing(f"({NULL}) || ({QOS_NULL} && wlan.fc.protected == 1)") == []


@needs_tshark
def test_null_frames_end_the_doze_and_begin_it(tmp_path: Path, cell: Any, record: Any) -> None:
    seldom = {**LOAD, "offered_mbps": 0.008, "duration_s": 2.0}
    stations = [{**PHONE, "retrieval": "active", "doze_after_ms": 20}]
    trial = _trial(
        cell, record, tmp_path, "wpa2-psk-ccmp", "active", stations=stations, load=seldom
    )
    modes = trial.tshark(NULL, "wlan.fc.pwrmgt")
    # The doze first: the station is awake when the traffic begins.
    assert len(modes) > 10
    assert all(a != b for a, b in itertools.pairwise(modes))
    assert modes[0] in ("1", "True")
    assert trial.passing(f"{NULL} && wlan.fc.protected == 1") == []
    assert trial.passing(f"{DATA_DOWN} && wlan.fc.moredata == 1") == []


@needs_tshark
def test_each_station_has_a_bit_of_its_own(tmp_path: Path, cell: Any, record: Any) -> None:
    stations = [{**PHONE, "name": f"S{n}", "retrieval": "ps-poll"} for n in range(18)]
    load = {**LOAD, "offered_mbps": 0.04, "duration_s": 0.4}
    trial = _trial(cell, record, tmp_path, "open", "ps-poll", stations=stations, load=load)
    polls = trial.tshark(POLL, "wlan.aid")
    assert {int(line, 0) & 0x3FFF for line in polls} == set(range(1, 19))
    lengths = set(trial.tshark(BEACON, "wlan.tag.length", "frame.len"))
    assert len(lengths) > 1
    given = trial.tshark("wlan.fc.type_subtype == 1", "wlan.fixed.aid")
    assert sorted(int(line, 0) & 0x3FFF for line in given) == list(range(1, 19))


@needs_tshark
def test_beacons_announce_the_periods_in_which_the_data_come(
    tmp_path: Path, cell: Any, record: Any
) -> None:
    scheduled = {"profile": "htc-dream-nic", "twt_interval_ms": 204.8, "twt_broadcast": True}
    planned = cell(
        "wpa2-psk-ccmp",
        {**LOAD, "duration_s": 2.0},
        phy="802.11ax",
        beacons=True,
        stations=[{"name": "A", **scheduled}, {"name": "B", **scheduled}],
    )
    trial = record(planned, tmp_path)
    beacons = trial.passing(BEACON)
    # tshark 4.0 knows the element of individual agreements alone, which is longer.
    assert trial.passing(f"{BEACON} && wlan.tag.number == 216") == beacons
    assert set(trial.wrong()) <= set(beacons)
    supported = "wlan.ext_tag.he_mac_cap.broadcast_twt_support == 1"
    assert trial.passing(f"{BEACON} && {supported}") == beacons
    data = trial.tshark(DATA_DOWN, "frame.time_epoch", "wlan.ra")
    assert len({line.split("\t")[1] for line in data}) == 2
    # All that waited, and what comes in a period, which lasts until it is out.
    begun = [float(line.split("\t")[0]) % 0.2048 for line in data]
    assert len(data) > 50
    assert max(begun) < 0.008192 + 0.001
