"""Simulated handshakes against real ones, field by field as tshark reads them.

The real ones are those of the Linux testbed under ``tests/capture/corpus/linux`` (hostapd and
wpa_supplicant 2.10, FreeRADIUS 3.2.1). Every field that differs is named here with the reason; a
difference that is gone fails the test as well, so that the list stays true.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

CORPUS = Path(__file__).parents[2] / "capture" / "corpus" / "linux"
pytestmark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")

RANDOM = "drawn, or made with what was drawn"
FOUR_WAY = {
    "wlan_rsna_eapol.keydes.nonce": RANDOM,
    "wlan_rsna_eapol.keydes.mic": RANDOM,
    "wlan_rsna_eapol.keydes.data": RANDOM,
}
SAE = {
    "wlan.fixed.scalar": RANDOM,
    "wlan.fixed.finite_field_element": RANDOM,
    "wlan.fixed.confirm": RANDOM,
}
HEADER = {
    "wlan.duration": "hwsim answers at 1 Mb/s, the simulated 802.11g at a basic rate of 6 Mb/s",
    "wlan.seq": "counters start elsewhere",
    "wlan.fcs": "the real captures have no FCS",
    "wlan.fcs.status": "the real captures have no FCS",
}
SUITE = "hostapd leaves BIP-CMAC-128, the default, out of the RSN element in message 3"
PROTECTED_MANAGEMENT = {"eapol.len": SUITE, "wlan_rsna_eapol.keydes.data_len": SUITE}
NAMED = "message 1 names the PMK of SAE, which both made anew"
#: Names and addresses are given, not negotiated.
ADDRESSES = ("addr", "bssid", "da", "ra", "sa", "staa", "ta")
GIVEN = {f"wlan.{name}{tail}" for name in ADDRESSES for tail in ("", "_resolved")}


def differing(ours: list[dict[str, list[str]]], real: list[dict[str, list[str]]]) -> set[str]:
    """Names of the fields that are not the same in all messages."""
    assert len(ours) == len(real)
    return {
        name
        for one, other in zip(ours, real, strict=True)
        for name in one.keys() | other.keys()
        if one.get(name) != other.get(name)
    } - GIVEN


@pytest.mark.parametrize(
    "policy",
    [
        "wpa2-psk-ccmp",
        *(
            pytest.param(policy, marks=pytest.mark.thorough)
            for policy in ("wpa2-psk-ccmp-256", "wpa2-psk-gcmp")
        ),
    ],
)
def test_the_4_way_handshake(
    policy: str, tmp_path: Path, cell: Any, record: Any, messages: Any
) -> None:
    trial = record(cell(policy), tmp_path)
    wanted = ("eapol.type == 3", ("wlan", "llc", "eapol"))
    ours = list(messages(trial.air, *wanted))
    theirs = list(messages(CORPUS / policy / "air.pcap", *wanted))
    assert len(ours) == 4
    assert differing(ours, theirs) == {*FOUR_WAY, *HEADER}


def test_the_sae_exchange(tmp_path: Path, cell: Any, record: Any, messages: Any) -> None:
    # hostapd 2.10 hunts and pecks unless told otherwise.
    trial = record(cell("wpa3-sae-ccmp"), tmp_path, {"hash_to_element": False})
    real = CORPUS / "wpa3-sae-ccmp" / "air.pcap"
    wanted = ("wlan.fc.type_subtype == 0x0b", ("wlan", "wlan.mgt"))
    ours, theirs = list(messages(trial.air, *wanted)), list(messages(real, *wanted))
    assert [m["wlan.fixed.auth_seq"] for m in ours] == [["0x0001"]] * 2 + [["0x0002"]] * 2
    assert differing(ours, theirs) == {*SAE, *HEADER}
    wanted = ("eapol.type == 3", ("wlan", "llc", "eapol"))
    ours, theirs = list(messages(trial.air, *wanted)), list(messages(real, *wanted))
    allowed = {**FOUR_WAY, **HEADER, **PROTECTED_MANAGEMENT, "wlan.rsn.ie.pmkid": NAMED}
    assert differing(ours, theirs) == set(allowed)


def test_eap_tls(tmp_path: Path, cell: Any, record: Any, messages: Any) -> None:
    # FreeRADIUS splits messages at 1024 octets, its fragment_size less RADIUS's own.
    trial = record(cell("wpa2-eap-tls-ccmp"), tmp_path)
    real = CORPUS / "wpa2-eap-tls-ccmp" / "air.pcap"
    wanted = ("eap && wlan.fc.retry == 0", ("wlan", "eap", "eapol", "tls"))
    ours, theirs = list(messages(trial.air, *wanted)), list(messages(real, *wanted))
    # FreeRADIUS offers MD5 (4) first, and the station asks for TLS instead (Nak, 3).
    assert [kinds(m) for m in theirs[2:4]] == [("1", "4"), ("2", "3")]
    del theirs[2:4]
    assert [kinds(m) for m in ours[:4]] == [kinds(m) for m in theirs[:4]]
    # The flights: same handshake messages, in the same order, from the same side.
    assert flights(ours) == flights(theirs)
    assert flights(ours) == [("2", "1"), ("1", "2 11 12 13 14"), ("2", "11 16 15")]
    # Certificates: each side shows its own and the CA's.
    for message in (*ours, *theirs):
        shown = message.get("tls.handshake.certificate_length", [])
        assert len(shown) in (0, 2)
        assert all(600 < int(octets) < 1200 for octets in shown)
    # The simulated TLS has AES-128-GCM with SHA-256 alone (0xc02f); OpenSSL prefers 0xc030.
    assert chosen(ours) == {"0xc02f"}
    assert chosen(theirs) == {"0xc030"}
    assert [kinds(m) for m in ours[-2:]] == [kinds(m) for m in theirs[-2:]]
    # Further differences: identity, fragment length (1004 against 1408 octets), hence the
    # number of fragments and their acknowledgements, and the flag with which OpenSSL gives the
    # total length.
    count = {True: len(ours), False: len(theirs)}
    assert count == {True: 13, False: 15}


def kinds(message: dict[str, list[str]]) -> tuple[str, str]:
    """EAP code and type."""
    return message["eap.code"][0], message.get("eap.type", [""])[0]


def flights(messages: list[dict[str, list[str]]]) -> list[tuple[str, str]]:
    """EAP code and the TLS handshake messages that end in each message, where some do."""
    return [
        (message["eap.code"][0], " ".join(message["tls.handshake.type"]))
        for message in messages
        if "tls.handshake.type" in message
    ]


def chosen(messages: list[dict[str, list[str]]]) -> set[str]:
    """Cipher suites that servers chose."""
    return {
        suite
        for message in messages
        if "2" in message.get("tls.handshake.type", [])
        for suite in message["tls.handshake.ciphersuite"]
    }
