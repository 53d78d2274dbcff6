"""Wireshark reads every message of the handshakes and calls none malformed."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest

from airtoll import _native, border
from airtoll.policies import resolve

STATION = bytes([2, 0, 0, 0, 0, 1])
AP = bytes([2, 0, 0, 0, 0, 2])
RAW_IP, IEEE_802_11 = 101, 105
RADIUS_PORT, CLIENT_PORT = 1812, 40000


def thorough(*values: object) -> Any:
    """Further values of the same kind."""
    return pytest.param(*values, marks=pytest.mark.thorough)


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
@pytest.mark.parametrize(
    ("policy", "options"),
    [
        ("wpa-psk-tkip", {}),
        ("wpa3-sae-ccmp", {}),
        ("owe-ccmp", {}),
        thorough("owe-draft-mlkem768-ccmp", {}),
        thorough("wpa3-sae-draft-mlkem768-ccmp", {}),
        thorough("wpa2-ft-psk-ccmp", {}),
        ("wpa2-eap-peap-ccmp", {}),
        ("8021x-tls+wep-104", {"tls": "1.3", "chain": ["ecdsa-p-256"]}),
        thorough("8021x-leap+wep-104", {}),
        ("8021x-md5+wep-104+ipsec-3des-sha1", {"mobile_ip": "foreign"}),
        thorough("ipsec-aes-gcm", {}),
        ("wireguard", {}),
    ],
)
def test_no_message_is_malformed(policy: str, options: dict[str, object], tmp_path: Path) -> None:
    text = border.to_json(resolve(policy).native())
    messages = _native.negotiate(text, 1, json.dumps(options))["messages"]
    air = [_frame(m) for m in messages if m["carrier"] in ("management", "eapol")]
    wire = [_packet(m) for m in messages if m["carrier"] not in ("management", "eapol")]
    assert air or wire
    for link, frames in ((IEEE_802_11, air), (RAW_IP, wire)):
        if not frames:
            continue
        file = tmp_path / f"{link}.pcap"
        file.write_bytes(_pcap(link, frames))
        command = ["tshark", "-r", str(file), "-Y", "frame and not _ws.malformed"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert len(done.stdout.splitlines()) == len(frames)


def _frame(message: dict[str, Any]) -> bytes:
    octets = bytes.fromhex(message["octets"])
    if message["carrier"] == "management":
        return octets
    up = message["from"] == "station"
    addresses = AP + STATION + AP if up else STATION + AP + AP
    header = bytes([8, 1 if up else 2, 0, 0]) + addresses + bytes(2)
    return header + bytes.fromhex("aaaa03000000888e") + octets


def _packet(message: dict[str, Any]) -> bytes:
    octets = bytes.fromhex(message["octets"])
    carrier = message["carrier"]
    if carrier == "icmp":
        return _ip(1, octets)
    port = carrier["udp"] if isinstance(carrier, dict) else RADIUS_PORT
    source, target = port, port
    if port == RADIUS_PORT:
        asks = message["from"] == "access-point"
        source, target = (CLIENT_PORT, port) if asks else (port, CLIENT_PORT)
    return _ip(17, struct.pack(">HHHH", source, target, 8 + len(octets), 0) + octets)


def _ip(protocol: int, payload: bytes) -> bytes:
    fields = (0x45, 0, 20 + len(payload), 1, 0, 64, protocol, 0, bytes([10, 0, 0, 1]))
    return struct.pack(">BBHHHBBH4s4s", *fields, bytes([10, 0, 0, 2])) + payload


def _pcap(link: int, frames: list[bytes]) -> bytes:
    out = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link)
    for frame in frames:
        out += struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame
    return out
