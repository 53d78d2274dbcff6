"""Captures of tunnels whose station moves: another outer address, and keys that open both."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from airtoll.testbeds.resolve import scenario
from airtoll.testbeds.roaming import SWITCH

pytestmark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
FRESH = "wlan.fc.retry == 0"
ESP = "wpa2-psk-ccmp+ipsec-aes-gcm"
WIREGUARD = "wpa2-psk-ccmp+wireguard"
#: Small enough to pass the tunnels whole: tshark puts fragments together across cables.
LOAD = {"transport": "udp", "offered_mbps": 1.6, "payload_bytes": 400, "duration_s": 0.3}
#: The cable that packets take from either access point.
CABLE = f'frame.interface_name contains "{SWITCH}" && frame.interface_name contains "server"'


#: The moving station in the BSS of the next AP, whose address comes after those of all nodes.
THERE = "A at ap-2"


def addresses(planned: Any) -> dict[str, str]:
    """IPv4 address of each node, which follows from its place in the scenario, and of THERE."""
    names = [*(node.name for node in scenario(planned).nodes), THERE]
    return {name: f"10.0.0.{number}" for number, name in enumerate(names, 1)}


def opened(trial: Any, *fields: str) -> list[list[str]]:
    """Fields of the datagrams that tshark finds in ESP on the last cable."""
    command = ["tshark", "-r", str(trial.wire), "-T", "fields"]
    command += ["-Y", f"{CABLE} && udp.dstport == 5201 && esp.icv_good == 1"]
    for name in fields:
        command += ["-e", name]
    for name in ("encryption_decode", "authentication_check"):
        command += ["-o", f"esp.enable_{name}:TRUE"]
    for row in trial.keys:
        if row["kind"] == "esp":
            cipher = ("AES-GCM with 16 octet ICV [RFC4106]", "0x" + row["enc-key"], "NULL", "")
            columns = ("IPv4", row["source"], row["destination"], row["spi"], *cipher)
            command += ["-o", "uat:esp_sa:" + ",".join(f'"{column}"' for column in columns)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("options", "messages"),
    [
        pytest.param({"tunnel": "mobike"}, 2, marks=pytest.mark.thorough),
        ({"tunnel": "mobike", "return_routability": True}, 4),
        ({"tunnel": "anew"}, 4),
    ],
)
def test_esp_opens_before_and_after_its_address_changes(
    options: dict[str, object], messages: int, tmp_path: Path, cell: Any, record: Any
) -> None:
    planned = cell(ESP, LOAD, handover={"at_s": 0.15, **options})
    trial = record(planned, tmp_path)
    assert trial.wrong() == []
    known = addresses(planned)
    here, there = known["A"], known[THERE]
    sent = opened(trial, "ip.src", "esp.spi", "esp.sequence")
    # Outer address first.
    ends = [line[0].split(",")[0] for line in sent]
    assert set(ends) == {here, there}
    assert ends == sorted(ends, key=[here, there].index)
    assert len(sent) == trial.values["packets_received"] > 50
    spis = {end: {line[1] for line in sent if line[0].startswith(end + ",")} for end in set(ends)}
    assert (spis[here] == spis[there]) == (options["tunnel"] == "mobike")
    if options["tunnel"] == "mobike":
        # One sequence through both addresses, less what the hand-over lost.
        numbers = [int(line[2]) for line in sent]
        assert numbers == sorted(set(numbers))
        assert numbers[-1] > 50
    ike = trial.tshark(f"{CABLE} && isakmp", "ip.src", "isakmp.exchangetype", path=trial.wire)
    moved = [line.split("\t") for line in ike][int(trial.values["messages_ikev2"]) :]
    assert len(moved) == trial.values["handover_tunnel_messages"] == messages
    assert {line[0] for line in moved} == {there, known["server"]}
    assert {line[1] for line in moved} <= {"37"} | ({"34", "35"} if messages == 4 else set())
    air = trial.passing(f"isakmp && {FRESH} && ip.addr == {there}")
    assert len(air) == messages


@pytest.mark.parametrize("tunnel", ["roams", "anew"])
def test_wireguard_opens_before_and_after_its_address_changes(
    tunnel: str, tmp_path: Path, cell: Any, record: Any
) -> None:
    planned = cell(
        WIREGUARD, {**LOAD, "direction": "both"}, handover={"at_s": 0.15, "tunnel": tunnel}
    )
    trial = record(planned, tmp_path)
    assert trial.wrong() == []
    known = addresses(planned)
    here, there = known["A"], known[THERE]
    keys = {
        (row["source"], row["destination"], int(row["receiver"], 16)): bytes.fromhex(row["key"])
        for row in trial.keys
        if row["kind"] == "wireguard-session"
    }
    fields = ("ip.src", "ip.dst", "wg.receiver", "udp.payload")
    heard: dict[tuple[str, str], int] = {}
    for line in trial.tshark(f"{CABLE} && wg.type == 4", *fields, path=trial.wire):
        source, to, receiver, payload = line.split("\t")
        message = bytes.fromhex(payload)
        key = keys[(source, to, int(receiver, 16))]
        # A wrong key or counter raises InvalidTag.
        ChaCha20Poly1305(key).decrypt(bytes(4) + message[8:16], message[16:], None)
        heard[(source, to)] = heard.get((source, to), 0) + 1
    server = known["server"]
    assert set(heard) == {(here, server), (server, here), (there, server), (server, there)}
    assert min(heard.values()) > 5
    handshakes = trial.passing(f"{CABLE} && (wg.type == 1 || wg.type == 2)", path=trial.wire)
    assert len(handshakes) == (4 if tunnel == "anew" else 2)


def test_under_mobile_ip_the_address_stays(tmp_path: Path, cell: Any, record: Any) -> None:
    handover = {"at_s": 0.15, "tunnel": "stays"}
    planned = cell(ESP, LOAD, handover=handover, join={"mobile_ip": "home"})
    trial = record(planned, tmp_path)
    assert trial.wrong() == []
    sent = opened(trial, "ip.src")
    assert {line[0].split(",")[0] for line in sent} == {addresses(planned)["A"]}
    assert len(sent) == trial.values["packets_received"] > 50
    assert trial.values["handover_tunnel_messages"] == 0
