"""Deauthentication in captures: in clear without PMF, with a MIC to groups under it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers import algorithms
from cryptography.hazmat.primitives.cmac import CMAC

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
FRESH = "wlan.fc.retry == 0"
TO_ALL = "wlan.fc.type_subtype == 12 && wlan.ra == ff:ff:ff:ff:ff:ff"


@needs_tshark
@pytest.mark.parametrize(
    "policy",
    [
        "open",
        "wpa2-psk-ccmp",
        "wpa3-sae-ccmp",
        *(
            pytest.param(policy, marks=pytest.mark.thorough)
            for policy in ("wep-104", "wpa-psk-tkip", "owe-ccmp")
        ),
    ],
)
def test_who_is_put_off_comes_back_and_tshark_reads_it_all(
    policy: str, tmp_path: Path, cell: Any, record: Any
) -> None:
    load = {"transport": "udp", "offered_mbps": 1, "duration_s": 0.8}
    planned = cell(
        policy, load, stations=[{"name": "A"}, {"name": "B"}], join={"deauthenticate_at_s": 0.2}
    )
    trial = record(planned, tmp_path)
    assert trial.wrong() == []
    (told,) = trial.tshark(TO_ALL, "wlan.fixed.reason_code", "wlan.mmie.keyid", "frame.len")
    protected = policy in ("wpa3-sae-ccmp", "owe-ccmp")
    assert told.split("\t")[0] == "0x0003"
    assert bool(told.split("\t")[1]) == protected
    assert (trial.values["associations_lost"], trial.values["rejoins"]) == (2, 2)
    assert 0.1 < trial.values["rejoin_gap_s"] < 0.2
    associations = trial.passing(f"wlan.fc.type_subtype == 1 && {FRESH}")
    assert len(associations) == 4
    # Data under the new keys as under the old ones.
    assert trial.passing("wlan.fc.type == 2 && wlan.fc.protected == 1 && !(llc || eapol)") == []
    report: dict[str, Any] = trial.report()
    assert (report["damage"], report["undecrypted"]) == (None, {})
    assert report["decrypted"] == report["protected"]


@needs_tshark
def test_the_mic_is_aes_cmac_under_the_logged_igtk(tmp_path: Path, cell: Any, record: Any) -> None:
    trial = record(cell("wpa3-sae-ccmp", join={"deauthenticate_at_s": 0.1}), tmp_path)
    (octets,) = trial.tshark(TO_ALL, "wlan.mmie.mic", "wlan.mmie.ipn")
    found, number = octets.split("\t")
    assert number == "010000000000"
    (row,) = [row for row in trial.keys if row["kind"] == "igtk"]
    broadcast, sender = bytes([0xFF]) * 6, bytes([2, 0, 0, 0, 0, 2])
    # IEEE Std 802.11-2020, 12.5.4.3: the masked header, the body, and the MME with its MIC zero.
    header = bytes([0xC0, 0x00]) + broadcast + sender + sender
    element = bytes([76, 16]) + int(row["index"]).to_bytes(2, "little") + bytes([1, 0, 0, 0, 0, 0])
    mac = CMAC(algorithms.AES(bytes.fromhex(row["key"])))
    mac.update(header + bytes([3, 0]) + element + bytes(8))
    assert mac.finalize()[:8].hex() == found.removeprefix("0x").replace(":", "")
