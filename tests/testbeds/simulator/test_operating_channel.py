"""Operating channel validation in captures: the bit of RSN elements, and octets of handshakes."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from airtoll.capture import capture_report

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
LOAD = {"transport": "udp", "offered_mbps": 1, "duration_s": 0.6}
#: Bit 14 of the RSN capabilities.
OCVC = 0x4000


def joined(policy: str, folder: Path, cell: Any, record: Any, validates: bool, **more: Any) -> Any:
    settings = {"phy": "802.11a", "authenticate": True, "join": {"group_rekey_s": 0.25}} | more
    folder.mkdir()
    return record(cell(policy, LOAD, operating_channel_validation=validates, **settings), folder)


def capabilities(trial: Any, kind: int) -> set[int]:
    """RSN capabilities in management frames of a subtype."""
    lines = trial.tshark(f"wlan.fc.type_subtype == {kind}", "wlan.rsn.capabilities")
    return {int(line, 0) for line in lines if line}


@needs_tshark
@pytest.mark.parametrize("policy", ["wpa3-sae-ccmp", "owe-ccmp", "wpa3-eap-tls-gcmp-256"])
def test_key_messages_grow_by_the_channel_and_nothing_else_does(
    policy: str, tmp_path: Path, cell: Any, record: Any
) -> None:
    without, validated = (
        joined(policy, tmp_path / str(on), cell, record, on) for on in (False, True)
    )
    for trial, bit in ((without, 0), (validated, OCVC)):
        assert trial.wrong() == []
        assert trial.report()["damage"] is None
        # Beacons and association requests.
        for kind in (8, 0):
            assert {one & OCVC for one in capabilities(trial, kind)} == {bit}
    lengths = [
        [int(line) for line in trial.tshark("eapol.type == 3", "eapol.len")]
        for trial in (without, validated)
    ]
    assert len(lengths[0]) == len(lengths[1]) >= 6
    grown = [b - a for a, b in zip(*lengths, strict=True)]
    # A KDE of 9 octets, and padding to 8 where key data are encrypted.
    assert grown[:2] == [0, 9]
    assert grown[2] in (8, 16)
    assert grown[3] == 0
    # Group key handshakes: the AP's message, then the station's.
    assert all(one in (8, 16) for one in grown[4::2])
    assert all(one == 9 for one in grown[5::2])


def channels(trial: Any) -> list[tuple[str, int | None, int | None, str | None]]:
    """Of each handshake that names channels: protocol, both classes (station, AP), mismatch."""
    return [
        (
            named["protocol"],
            *(named[end] and named[end]["operating_class"] for end in ("station", "access_point")),
            named["mismatch"],
        )
        for session in trial.report()["sessions"]
        for named in session["operating_channels"]
    ]


@pytest.mark.parametrize("policy", ["wpa3-sae-ccmp", "owe-ccmp", "wpa3-eap-tls-gcmp-256"])
def test_the_reader_reports_the_channels_of_both_ends(
    policy: str, tmp_path: Path, cell: Any, record: Any
) -> None:
    trial = joined(policy, tmp_path / "on", cell, record, True)
    # Channel 36, 20 MHz wide; the traffic of 0.6 s has two group key handshakes.
    seen = channels(trial)
    assert seen == [("4-way", 115, 115, None), *[("group", 115, 115, None)] * 2]
    (session,) = capture_report([trial.air]).sessions
    # Without keys the AP's message 3 is closed, and nothing can differ.
    closed = session["operating_channels"][0]
    assert closed["station"] == {
        "operating_class": 115,
        "primary_channel": 36,
        "segment_1": 0,
        "width_mhz": 20,
    }
    assert closed["access_point"] is None
    assert closed["mismatch"] is None
    off = joined(policy, tmp_path / "off", cell, record, False)
    assert channels(off) == []


def test_the_reader_reports_the_channel_of_a_fast_transition(
    tmp_path: Path, cell: Any, record: Any
) -> None:
    handover = {"at_s": 0.2, "method": "fast-transition"}
    trial = joined(
        "wpa3-ft-sae-ccmp", tmp_path / "on", cell, record, True, join={}, handover=handover
    )
    assert channels(trial) == [("4-way", 115, 115, None), ("ft", 115, 115, None)]


@needs_tshark
def test_without_protected_management_frames_nothing_changes(
    tmp_path: Path, cell: Any, record: Any
) -> None:
    frames = [
        joined("wpa2-psk-ccmp", tmp_path / str(on), cell, record, on).air.read_bytes()
        for on in (False, True)
    ]
    assert frames[0] == frames[1]


@needs_tshark
def test_a_fast_transition_proves_the_channel(tmp_path: Path, cell: Any, record: Any) -> None:
    handover = {"at_s": 0.2, "method": "fast-transition"}
    sizes = []
    for on in (False, True):
        trial = joined(
            "wpa3-ft-sae-ccmp", tmp_path / str(on), cell, record, on, join={}, handover=handover
        )
        assert trial.wrong() == []
        # Reassociation request and response.
        sizes.append(
            [
                int(line)
                for kind in (2, 3)
                for line in trial.tshark(f"wlan.fc.type_subtype == {kind}", "frame.len")
            ]
        )
    assert len(sizes[0]) == len(sizes[1]) == 2
    # A subelement of 5 octets.
    assert [b - a for a, b in zip(*sizes, strict=True)] == [5, 5]
