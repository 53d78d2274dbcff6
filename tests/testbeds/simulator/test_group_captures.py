"""Group-addressed traffic in captures: tshark and our reader open it, whatever its keys are."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
TO_GROUPS = "wlan.fc.type == 2 && wlan.ra[0] & 1"
LOAD = {
    "mdns_per_min": 600.0,
    "arp_per_min": 300.0,
    "neighbor_per_min": 300.0,
    "router_arp_per_min": 300.0,
    "advertisement_s": 0.2,
}
STATIONS = [{"name": "A"}, {"name": "B"}, {"name": "C"}]
QUIET = {"transport": "udp", "offered_mbps": 0.1, "duration_s": 1.0}


@needs_tshark
@pytest.mark.parametrize("policy", ["open", "wpa-psk-tkip", "wpa2-psk-ccmp", "wpa3-sae-gcmp-256"])
@pytest.mark.parametrize(
    "way", [{}, {"multicast_to_unicast": True, "per_client_gtk": True}, {"isolation": True}]
)
def test_tshark_and_our_reader_open_all_of_it(
    policy: str, way: dict[str, Any], tmp_path: Path, cell: Any, record: Any
) -> None:
    planned = cell(policy, QUIET, stations=STATIONS, group_load=LOAD, **way)
    trial = record(planned, tmp_path)
    assert trial.wrong() == []
    report: dict[str, Any] = trial.report()
    assert (report["damage"], report["undecrypted"]) == (None, {})
    assert report["decrypted"] == report["protected"]
    found = set(trial.tshark(f"{TO_GROUPS}", "wlan.ra"))
    groups = {"01:00:5e:00:00:fb", "33:33:00:00:00:01", "ff:ff:ff:ff:ff:ff"}
    if way.get("multicast_to_unicast"):
        # Every copy has the address of its station; the wires have the groups.
        assert found == set()
        copies = trial.tshark("mdns && wlan.fc.ds == 2 && wlan.fc.retry == 0", "wlan.ra", "wlan.da")
        assert copies
        assert all(line.split("\t")[0] == line.split("\t")[1] for line in copies)
    elif way.get("isolation"):
        # Messages of the router alone.
        assert found == groups - {"01:00:5e:00:00:fb"}
    else:
        assert found >= groups
    assert trial.passing("mdns && dns.resp.name == host.local", path=trial.wire)
    assert trial.passing("icmpv6.type == 134", path=trial.wire)


@needs_tshark
def test_each_station_has_a_group_key_of_its_own(tmp_path: Path, cell: Any, record: Any) -> None:
    def keys(folder: str, **way: Any) -> list[str]:
        planned = cell("wpa2-psk-ccmp", QUIET, stations=STATIONS, group_load=LOAD, **way)
        trial = record(planned, tmp_path / folder)
        return trial.tshark("wlan_rsna_eapol.keydes.msgnr == 3", "wlan.rsn.ie.gtk_kde.gtk")

    (tmp_path / "own").mkdir()
    (tmp_path / "shared").mkdir()
    own = keys("own", per_client_gtk=True)
    shared = keys("shared")
    assert (len(own), len(set(own))) == (3, 3)
    assert (len(shared), len(set(shared))) == (3, 1)


@needs_tshark
def test_a_mixed_cell_sends_to_groups_under_the_weakest_cipher(
    tmp_path: Path, cell: Any, record: Any
) -> None:
    stations = [{"name": "A", "policy": "wpa2-psk-tkip"}, {"name": "B"}]
    planned = cell("wpa2-psk-ccmp", QUIET, stations=stations, group_load=LOAD)
    trial = record(planned, tmp_path)
    assert trial.wrong() == []
    assert trial.report()["undecrypted"] == {}
    ciphers = set(trial.tshark("wlan.rsn.ie.gtk_kde.gtk", "wlan.rsn.ie.gtk_kde.gtk"))
    # A TKIP key has 32 octets, CCMP's 16.
    assert {len(key) for key in ciphers} == {64}
    assert set(trial.tshark(TO_GROUPS, "wlan.fc.protected")) == {"1"}


@needs_tshark
def test_frames_to_groups_follow_a_beacon_that_says_so(
    tmp_path: Path, cell: Any, record: Any
) -> None:
    stations = [{"name": "A", "profile": "esp32", "listen_interval": 3}]
    planned = cell(
        "wpa2-psk-ccmp", QUIET, stations=stations, group_load=LOAD, dtim_period=3, beacons=True
    )
    trial = record(planned, tmp_path)
    assert trial.wrong() == []
    beacons = "wlan.fc.type_subtype == 8"
    counts = trial.tshark(beacons, "wlan.tim.dtim_count")
    assert set(counts) == {"0", "1", "2"}
    assert set(trial.tshark(beacons, "wlan.tim.dtim_period")) == {"3"}
    said = [
        float(t)
        for t in trial.tshark(
            f"{beacons} && wlan.tim.bmapctl.multicast == 1", "frame.time_relative"
        )
    ]
    sent = [float(t) for t in trial.tshark(TO_GROUPS, "frame.time_relative")]
    assert sent
    # Each follows such a beacon within the time of the frames that wait with it.
    assert all(any(0 < t - beacon < 0.03 for beacon in said) for t in sent)
