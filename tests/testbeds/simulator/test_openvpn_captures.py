"""OpenVPN in captures: control packets, data octets, and their text under the logged key."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from airtoll.policies import resolve

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


@needs_tshark
def test_tshark_reads_the_control_channel_and_the_agreed_key_opens_the_data(
    tmp_path: Path, cell: Any, record: Any
) -> None:
    trial = record(cell("wpa2-psk-ccmp+openvpn"), tmp_path)
    assert trial.wrong() == []
    lines = trial.tshark("openvpn", "openvpn.opcode", "udp.payload", path=trial.wire)
    control = [line for line in lines if int(line.split("\t")[0], 0) != 9]
    assert [int(line.split("\t")[0], 0) for line in control[:3]] == [7, 8, 4]
    assert len(control) == trial.values["messages_openvpn"] == 18
    assert 0 < trial.values["negotiation_time_s"] < 1
    keys = {row["key"] for row in trial.keys if row["kind"] == "openvpn-data"}
    data = [line.split("\t")[1] for line in lines if line not in control]
    assert len(data) > 20
    packet = bytes.fromhex(data[0].replace(":", ""))
    head, sealed = packet[:HEADER], packet[HEADER + TAG :] + packet[HEADER : HEADER + TAG]
    opened = []
    for key in map(bytes.fromhex, keys):
        with contextlib.suppress(InvalidTag):
            opened.append(AESGCM(key[:32]).decrypt(head[4:] + key[32:], sealed, head))
    (inner,) = opened
    assert (inner[0], inner[9]) == (0x45, 17)


@pytest.mark.parametrize(
    ("settings", "messages"),
    [({"chain": "p256"}, 15), ({"tls_group": "x25519mlkem768", "chain": "ml-dsa-44"}, 51)],
)
def test_certificates_and_groups_act_on_the_control_channel(
    tmp_path: Path, cell: Any, record: Any, settings: dict[str, str], messages: int
) -> None:
    trial = record(cell("wpa2-psk-ccmp+openvpn", join=settings), tmp_path)
    assert trial.values["messages_openvpn"] == messages


def test_openvpn_is_an_authenticated_tunnel() -> None:
    policy = resolve("openvpn")
    assert policy.tunnels[0].suite == "openvpn-aes-gcm"
    assert {"confidentiality", "integrity", "forward-secrecy"} <= set(policy.services.names())
