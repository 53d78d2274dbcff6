"""OpenVPN's data channel in captures: its octets, and its text under the logged key."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from airtoll.policies import resolve
from airtoll.testbeds.simulator import Simulator

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
#: Octets before and behind the inner packet: opcode and peer ID 4, packet ID 4, tag 16.
HEADER, TAG = 8, 16


@needs_tshark
def test_tshark_reads_data_packets_and_the_logged_key_opens_them(
    tmp_path: Path, cell: Any, record: Any
) -> None:
    trial = record(cell("wpa2-psk-ccmp+openvpn", authenticate=False), tmp_path)
    assert trial.wrong() == []
    lines = trial.tshark("openvpn", "openvpn.opcode", "udp.payload", path=trial.wire)
    assert len(lines) > 20
    (own,) = [
        row for row in trial.keys if row["kind"] == "openvpn-data" and row["source"].endswith(".1")
    ] or [next(row for row in trial.keys if row["kind"] == "openvpn-data")]
    key, implicit = bytes.fromhex(own["key"])[:32], bytes.fromhex(own["key"])[32:]
    opened = 0
    for line in lines:
        opcode, payload = line.split("\t")
        packet = bytes.fromhex(payload.replace(":", ""))
        assert int(opcode, 0) == 9
        head, tag, text = packet[:HEADER], packet[HEADER : HEADER + TAG], packet[HEADER + TAG :]
        inner = AESGCM(key).decrypt(head[4:] + implicit, text + tag, head)
        # An IPv4 packet with UDP inside.
        assert (inner[0], inner[9]) == (0x45, 17)
        opened += 1
    assert opened == len(lines)


def test_the_control_channel_is_refused(cell: Any) -> None:
    skip = Simulator().check(cell("wpa2-psk-ccmp+openvpn"))
    assert skip is not None
    assert "control channel over TLS is not carried out" in skip.reason


def test_openvpn_is_an_authenticated_tunnel() -> None:
    policy = resolve("openvpn")
    assert policy.tunnels[0].suite == "openvpn-aes-gcm"
    assert {"confidentiality", "integrity", "forward-secrecy"} <= set(policy.services.names())
