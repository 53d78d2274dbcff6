"""Captures of a join over two links: both ends are ours; tshark and the capture reader look on."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest

from airtoll import _native
from airtoll.border.answers import Report
from airtoll.capture import capture_report

STATION = "02:00:00:00:00:07"
ACCESS_POINT = "02:00:00:00:01:00"
MLD = ("02:4d:00:00:00:07", "02:4d:00:00:01:00")
LINK: dict[str, Any] = {
    "ssid": "two links",
    "station": STATION,
    "access_point": ACCESS_POINT,
    "akm": "sae-ext-key",
    "pairwise": "gcmp-256",
    "group": "gcmp-256",
    "protection": "required",
    "hash_to_element": True,
    "beacon_protection": True,
}
PASSWORD = "a password of the test"
#: tshark's name of a frame that it cannot read to its end, whatever protocol says so.
DAMAGE = "_ws.malformed || _ws.short || _ws.expert.severity >= 0x00600000"


def _join(links: int) -> tuple[list[bytes], bytes]:
    """The frames of a join over so many links, from SAE on, and the PMK."""
    frames: list[bytes] = []
    link = LINK | {"links": links}

    def run(stage: dict[str, Any], seed: int) -> dict[str, bytes]:
        settings = {"handshake": "air", "settings": stage | {"link": link}}
        ours = ["station", "access-point"]
        machine = _native.Handshake(json.dumps(settings), ours, seed)
        queue = machine.start()
        while queue:
            sender, receiver, carrier, octets = queue.pop(0)
            octets = bytes(octets)
            frames.append(octets if carrier == "management" else _eapol(sender, octets))
            queue += machine.deliver(sender, receiver, carrier, octets)
        status, why, secrets = machine.status("station")
        assert status == "established", (stage, why)
        return {name: bytes(value) for name, value in secrets}

    sae = run({"stage": "sae", "password": PASSWORD, "group": 19}, 1)
    run({"stage": "association"}, 2)
    keys = {"stage": "keys", "master": {"pmk": list(sae["pmk"])}, "pmkid": list(sae["pmkid"])}
    run(keys, 3)
    return frames, sae["pmk"]


def _address(text: str) -> bytes:
    return bytes.fromhex(text.replace(":", ""))


def _eapol(sender: str, packet: bytes) -> bytes:
    station, ap = _address(STATION), _address(ACCESS_POINT)
    up = sender == "station"
    addresses = ap + station + ap if up else station + ap + ap
    header = struct.pack("<BBH", 0x88, 1 if up else 2, 0) + addresses + bytes(2) + bytes(2)
    return header + bytes.fromhex("aaaa03000000888e") + packet


def _capture(frames: list[bytes], path: Path) -> Path:
    """A pcap file of 802.11 frames without radio headers, a millisecond apart."""
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 105)
    packets = (
        struct.pack("<IIII", 1_700_000_000, 1000 * at, len(frame), len(frame))
        + frame[:22]
        + struct.pack("<H", at << 4)
        + frame[24:]
        for at, frame in enumerate(frames)
    )
    path.write_bytes(head + b"".join(packets))
    return path


def _report(path: Path, *keys: str) -> Report:
    return capture_report([path], list(keys)).data


def test_one_record_of_the_join_names_both_links(tmp_path: Path) -> None:
    frames, pmk = _join(2)
    assert len(frames) == 10
    report = _report(_capture(frames, tmp_path / "join.pcap"), f"pmk:{pmk.hex()}")
    (session,) = report["sessions"]
    assert (session["outcome"], session["akm"]) == ("connected", "sae-ext-key")
    known = session["multi_link"]
    assert known is not None
    assert (known["station_mld"], known["ap_mld"]) == MLD
    second = {"link_id": 1, "station": "02:01:00:00:00:07", "bssid": "02:01:00:00:01:00"}
    assert known["links"] == [{"link_id": 0, "station": STATION, "bssid": ACCESS_POINT}, second]


def test_a_join_over_one_link_names_none(tmp_path: Path) -> None:
    frames, _ = _join(1)
    (session,) = _report(_capture(frames, tmp_path / "join.pcap"))["sessions"]
    assert session["multi_link"] is None


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
@pytest.mark.parametrize("links", [pytest.param(2, marks=pytest.mark.thorough), 3])
def test_tshark_reads_every_frame_of_the_join(tmp_path: Path, links: int) -> None:
    frames, _ = _join(links)
    path = _capture(frames, tmp_path / "join.pcap")

    def tshark(*words: str) -> list[str]:
        command = ["tshark", "-n", "-r", str(path), *words]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    assert tshark("-Y", DAMAGE) == []
    # tshark 4.0 lists the Multi-Link element without its fields, and none behind SAE's confirm.
    assert len(tshark("-Y", "wlan.ext_tag.number == 107")) == 2
    assert len(tshark("-Y", "eapol.keydes.type")) == 4
    cut = _capture([frame[:-3] if at == 5 else frame for at, frame in enumerate(frames)], path)
    assert cut == path
    assert tshark("-Y", DAMAGE) != []
