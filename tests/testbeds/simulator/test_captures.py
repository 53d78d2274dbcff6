"""Captures of simulated trials: tshark and our reader find in them what the simulator counted."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
#: Display filters: data frames, and frames that are no retransmissions.
DATA = "wlan.fc.type == 2"
FRESH = "wlan.fc.retry == 0"
PERSONAL = [
    "open",
    "wep-40",
    "wep-104",
    "wep-104-shared",
    "wpa-psk-tkip",
    "wpa2-psk-tkip",
    "wpa2-psk-ccmp",
    "wpa2-psk-ccmp-256",
    "wpa2-psk-gcmp",
    "wpa2-psk-gcmp-256",
    "wpa3-sae-ccmp",
    "wpa3-sae-gcmp-256",
    "owe-ccmp",
]
ENTERPRISE = ["wpa2-eap-tls-ccmp", "wpa2-eap-peap-ccmp", "wpa-eap-peap-tkip", "wpa2-eap-ttls-ccmp"]

#: Frames that tshark 4.0 does not decrypt or calls malformed; reasons: docs/guides/captures.md.
ALONE = ["wpa-psk-ccmp", "wpa3-sae-ext-gcmp-256", "wpa-eap-leap-tkip"]


@needs_tshark
@pytest.mark.parametrize("policy", PERSONAL + ENTERPRISE)
def test_tshark_opens_everything_and_counts_the_same(
    policy: str, tmp_path: Path, cell: Any, record: Any
) -> None:
    trial = record(cell(policy), tmp_path)
    assert trial.wrong() == []
    sent = trial.tshark(f"{DATA} && {FRESH} && udp.dstport == 5201", "udp.length", "ip.len")
    assert len(sent) == trial.values["packets_received"] > 50
    assert set(sent) == {"1480\t1500"}
    protected = trial.passing(f"{DATA} && wlan.fc.protected == 1 && !(llc || eapol)")
    assert protected == []
    if policy != "open":
        assert len(trial.passing("udp && wlan.fc.protected == 1")) >= len(sent)
    eapol = trial.tshark(f"eapol.type == 3 && {FRESH}", "frame.time_epoch")
    counted = {"messages_eapol_key": len(eapol)}
    if policy in ENTERPRISE:
        eap = trial.passing(f"(eap || eapol.type == 1) && {FRESH}")
        counted["messages_eap"] = len(eap)
        counted["messages_radius"] = len(trial.passing("radius", path=trial.wire))
        said = trial.tshark(f"(eap.code == 2 || eap.code == 3) && {FRESH}", "frame.time_epoch")
        took = float(said[-1]) - float(said[0])
        assert took == pytest.approx(trial.values["eap_time_s"], abs=2e-9)
    assert counted == {name: trial.values.get(name, 0.0) for name in counted}
    if eapol:
        took = float(eapol[-1]) - float(eapol[0])
        assert took == pytest.approx(trial.values["key_handshake_time_s"], abs=2e-9)


@needs_tshark
def test_a_damaged_frame_is_wrong(tmp_path: Path, cell: Any, record: Any) -> None:
    trial = record(cell("open"), tmp_path)
    octets = bytearray(trial.air.read_bytes())
    octets[octets.index(b"\xaa\xaa\x03\0\0\0\x08\0") + 60] ^= 1
    trial.air.write_bytes(octets)
    (number,) = trial.wrong()
    assert trial.passing(f"frame.number == {number} && wlan.fcs.status == 0 && udp") == [number]


@needs_tshark
@pytest.mark.parametrize("tls", ["1.2", "1.3"])
@pytest.mark.parametrize("policy", ["wpa2-eap-tls-ccmp", "wpa2-eap-peap-ccmp"])
def test_a_resumed_session_s_capture_opens_with_the_key_log(
    policy: str, tls: str, tmp_path: Path, cell: Any, record: Any
) -> None:
    join = {"tls": tls, "tls_resumption": True}
    trial = record(cell(policy, join=join), tmp_path)
    assert trial.wrong() == []
    assert trial.passing(f"{DATA} && wlan.fc.protected == 1 && !(llc || eapol)") == []
    assert len(trial.passing(f"{DATA} && {FRESH} && udp.dstport == 5201")) > 50
    # No certificate goes over the air, on either side.
    assert trial.passing("tls.handshake.type == 11") == []
    assert len(trial.passing("tls.handshake.type == 1")) == 1
    eap = trial.passing(f"(eap || eapol.type == 1) && {FRESH}")
    assert len(eap) == trial.values["messages_eap"]


@pytest.mark.parametrize("policy", [*PERSONAL, *ENTERPRISE, *ALONE, "wpa2-psk-ccmp+ipsec-aes-gcm"])
def test_our_reader_gives_the_simulators_numbers(
    policy: str, tmp_path: Path, cell: Any, record: Any
) -> None:
    trial = record(cell(policy), tmp_path)
    report: dict[str, Any] = trial.report()
    assert (report["damage"], report["undecrypted"]) == (None, {})
    assert report["decrypted"] == report["protected"]
    (session,) = report["sessions"]
    assert session["outcome"] == "connected"
    for name in ("eap_time_s", "negotiation_time_s"):
        if "+" in policy and name == "negotiation_time_s":
            continue
        # After Success LEAP's station challenges the AP; the reader ends EAP at Success.
        if "leap" in policy and name == "eap_time_s":
            continue
        assert session[name] == pytest.approx(trial.values.get(name), abs=2e-9)
    # WPA's group handshake follows the 4-way handshake: the reader counts it apart.
    if not policy.startswith("wpa-") and policy != "wpa2-psk-tkip":
        ours = session["key_handshake_time_s"]
        assert ours == pytest.approx(trial.values.get("key_handshake_time_s"), abs=2e-9)


@pytest.mark.parametrize("policy", ["open", "wpa2-psk-ccmp", "wpa-psk-tkip"])
@pytest.mark.parametrize("phy", [{}, {"phy": "802.11n", "mcs": 5}])
def test_the_ledgers_agree(
    policy: str, phy: dict[str, object], tmp_path: Path, cell: Any, record: Any
) -> None:
    load = {"transport": "udp", "duration_s": 0.5}
    trial = record(cell(policy, load, authenticate=False, **phy), tmp_path)
    total = trial.report()["ledger"]["total"]
    octets, airtime = total["octets"], total["airtime_s"]
    # Frames that the end of the trial cut off are in the simulator's ledger alone.
    for kind in ("payload", "security"):
        assert octets[kind] == pytest.approx(trial.values[f"octets_{kind}"], rel=5e-3)
    data = ("payload", "ip_transport", "mac_phy", "security", "retry")
    theirs = sum(airtime[kind] for kind in ("payload", "headers", "security", "retries"))
    ours = sum(trial.values[f"airtime_{kind}_s"] for kind in data)
    # Symbols are filled once per A-MPDU, which the reader does for each of its frames; the end of
    # the trial cuts one PPDU off.
    assert theirs == pytest.approx(ours, abs=1e-2 * ours if phy else 3e-4)
    # The reader spreads the padding of the last symbol over all octets of a frame; the simulator
    # books it to the PHY.
    assert airtime["payload"] == pytest.approx(trial.values["airtime_payload_s"], rel=5e-2)
    acks = airtime["control"]
    assert acks <= trial.values["airtime_ack_s"] <= acks + 16e-6 * total["frames"]


@needs_tshark
@pytest.mark.parametrize("phy", ["802.11n", "802.11ac", "802.11ax"])
@pytest.mark.parametrize("policy", ["wpa2-psk-ccmp", "wpa3-sae-gcmp-256"])
def test_aggregates_hold_their_frames(
    phy: str, policy: str, tmp_path: Path, cell: Any, record: Any
) -> None:
    load = {"transport": "tcp", "duration_s": 0.1}
    trial = record(cell(policy, load, phy=phy, mcs=5, amsdu_max_octets=4000), tmp_path)
    assert trial.wrong() == []
    assert trial.passing(f"{DATA} && wlan.fc.protected == 1 && !llc") == []
    # Every aggregate and every BlockAckReq is answered by one BlockAck.
    asking = "radiotap.ampdu.flags.last == 1 || wlan.fc.type_subtype == 0x18"
    asked, answered = (len(trial.passing(f)) for f in (asking, "wlan.fc.type_subtype == 0x19"))
    # The last one may lie beyond the end of the trial.
    assert 5 < answered <= asked <= answered + 1
    assert len(trial.passing("tcp.analysis.lost_segment")) == 0


@needs_tshark
@pytest.mark.parametrize(
    ("tunnel", "encryption", "integrity"),
    [
        ("ipsec-aes-gcm", "AES-GCM with 16 octet ICV [RFC4106]", "NULL"),
        pytest.param(
            *("ipsec-aes-cbc-sha1", "AES-CBC [RFC3602]", "HMAC-SHA-1-96 [RFC2404]"),
            marks=pytest.mark.thorough,
        ),
        ("ipsec-3des-md5", "TripleDES-CBC [RFC2451]", "HMAC-MD5-96 [RFC2403]"),
    ],
)
def test_ike_agrees_on_keys_that_open_esp(
    tunnel: str, encryption: str, integrity: str, tmp_path: Path, cell: Any, record: Any
) -> None:
    trial = record(cell(f"wpa2-psk-ccmp+{tunnel}"), tmp_path)
    assert trial.wrong() == []
    ike = len(trial.passing(f"isakmp && {FRESH}"))
    assert ike == trial.values.get("messages_ikev1", 0) + trial.values.get("messages_ikev2", 0) > 3
    command = ["tshark", "-r", str(trial.wire), "-Y", "udp.dstport == 5201 && esp.icv_good == 1"]
    for name in ("encryption_decode", "authentication_check"):
        command += ["-o", f"esp.enable_{name}:TRUE"]
    for row in trial.keys:
        if row["kind"] == "esp":
            keys = [encryption, "0x" + row["enc-key"], integrity]
            keys.append("0x" + row["auth-key"] if row["auth-key"] else "")
            columns = ["IPv4", row["source"], row["destination"], row["spi"], *keys]
            command += ["-o", "uat:esp_sa:" + ",".join(f'"{column}"' for column in columns)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == trial.values["packets_received"] > 50


@needs_tshark
@pytest.mark.parametrize(
    "policy",
    [pytest.param("open+wireguard", marks=pytest.mark.thorough), "wpa2-psk-ccmp+wireguard"],
)
def test_the_logged_keys_open_wireguard(
    policy: str, tmp_path: Path, cell: Any, record: Any
) -> None:
    trial = record(cell(policy), tmp_path)
    assert trial.wrong() == []
    keys = {
        (row["destination"], int(row["receiver"], 16)): bytes.fromhex(row["key"])
        for row in trial.keys
        if row["kind"] == "wireguard-session"
    }
    assert len(keys) == 2
    kinds = trial.tshark("wg", "wg.type", path=trial.wire)
    assert (kinds[:3], set(kinds[3:])) == (["1", "2", "4"], {"4"})
    fields = ("ip.dst", "wg.receiver", "wg.counter", "udp.payload")
    counters: dict[tuple[str, int], list[int]] = {end: [] for end in keys}
    received = 0
    for line in trial.tshark("wg.type == 4", *fields, path=trial.wire):
        to, receiver, counter, payload = line.split("\t")
        end = (to, int(receiver, 16))
        counters[end].append(int(counter))
        # Type, receiver and counter; the nonce is four zero octets and the counter (WireGuard
        # paper, section 5.4.6). A wrong key or counter raises InvalidTag.
        message = bytes.fromhex(payload)
        inner = ChaCha20Poly1305(keys[end]).decrypt(bytes(4) + message[8:16], message[16:], None)
        if inner:
            assert len(inner) % 16 == 0
            length = int.from_bytes(inner[2:4])
            assert not any(inner[length:])
            received += inner[9] == 17 and int.from_bytes(inner[22:24]) == 5201
    assert received == trial.values["packets_received"] > 50
    # The initiator's first message is empty and confirms the key.
    for numbers in counters.values():
        assert numbers == list(range(len(numbers)))


def test_recording_changes_no_row(tmp_path: Path, cell: Any, record: Any) -> None:
    planned = cell("wpa2-eap-tls-ccmp")
    first = record(planned, tmp_path / "a")
    second = record(planned, tmp_path / "b")
    assert first.values == second.values
    for name in ("air.pcapng", "wire.pcapng", "keys.json"):
        assert (first.folder / name).read_bytes() == (second.folder / name).read_bytes()


@needs_tshark
def test_tshark_opens_pre_authentication_on_the_air(tmp_path: Path, cell: Any, record: Any) -> None:
    handover = {"at_s": 0.25, "method": "pre-authentication"}
    trial = record(cell("wpa2-eap-peap-ccmp", radius={"delay_ms": 1}, handover=handover), tmp_path)
    assert trial.wrong() == []
    early = f"llc.type == 0x88c7 && {FRESH}"
    air = trial.tshark(f"{early} && (eap || eapol.type == 1)", "wlan.fc.protected")
    wire = trial.passing("eth.type == 0x88c7", path=trial.wire)
    # Under the old pairwise key on the air; then by two cables, one of each access point.
    assert set(air) in ({"1"}, {"True"})
    assert len(wire) == 2 * len(air)
    # The same EAP as at the first access point, and as many RADIUS packets.
    radius = trial.values["messages_radius"]
    assert len(air) + radius == trial.values["preauthentication_messages"]
    assert len(air) == trial.values["messages_eap"]


@needs_tshark
@pytest.mark.parametrize("policy", ["wpa-psk-tkip", "wpa2-psk-ccmp", "wpa3-sae-ccmp", "owe-ccmp"])
def test_tshark_opens_new_group_keys(policy: str, tmp_path: Path, cell: Any, record: Any) -> None:
    stations = [{"name": "A"}, {"name": "B"}]
    trial = record(cell(policy, stations=stations, join={"group_rekey_s": 0.1}), tmp_path)
    assert trial.wrong() == []
    # Key type 0 is a group key; frames that collided at first are there as retries alone.
    renewed = "wlan_rsna_eapol.keydes.key_info.key_type == 0 && wlan.fc.protected == 1"
    told = set(trial.tshark(renewed, "wlan.ta", "wlan.ra", "wlan.seq"))
    # WPA's own group key handshake is protected, too.
    initial = 4 if policy == "wpa-psk-tkip" else 0
    assert len(told) - initial == trial.values["group_rekey_messages"] == 8
    assert len({line.split()[0] for line in told}) == 3
    report: dict[str, Any] = trial.report()
    assert (report["damage"], report["undecrypted"]) == (None, {})
    assert report["decrypted"] == report["protected"]


@needs_tshark
@pytest.mark.parametrize("policy", ["wpa2-ft-psk-ccmp", "wpa3-ft-sae-ccmp"])
def test_tshark_reads_a_fast_transition_over_the_ds(
    policy: str, tmp_path: Path, cell: Any, record: Any
) -> None:
    handover = {"at_s": 0.15, "method": "fast-transition-ds"}
    trial = record(cell(policy, handover=handover), tmp_path)
    assert trial.wrong() == []
    # FT Request to the old AP, and its answer; under PMF both are robust.
    action = f"wlan.fc.type_subtype == 13 && {FRESH}"
    told = trial.tshark(action, "wlan.fc.protected")
    assert len(told) == 2
    assert set(told) <= ({"1", "True"} if policy.startswith("wpa3") else {"0", "False"})
    keys = [row["key"] for row in trial.keys if row["kind"] == "tk"]
    opened = ["-o", "wlan.enable_decryption:TRUE", "-o", f'uat:80211_keys:"tk","{keys[0]}"']
    read = ["tshark", "-r", str(trial.air), *opened, "-Y", action, "-T", "fields"]
    fields = ("wlan.fixed.category_code", "wlan.fixed.action_code", "wlan.mobility_domain.mdid")
    for field in fields:
        read += ["-e", field]
    done = subprocess.run(read, capture_output=True, text=True, check=True)
    assert [line.split()[:2] for line in done.stdout.splitlines()] == [["6", "1"], ["6", "2"]]
    # Each by the cables of both access points.
    assert len(trial.passing("eth.type == 0x890d", path=trial.wire)) == 4
    assert len(trial.passing(f"wlan.fc.type_subtype == 2 && {FRESH}")) == 1
    assert trial.values["handover_messages"] == 6


@pytest.mark.thorough
@needs_tshark
def test_tshark_reads_the_scan_of_a_walk(tmp_path: Path, cell: Any, record: Any) -> None:
    load = {"transport": "udp", "offered_mbps": 2, "duration_s": 4, "direction": "both"}
    handover = {
        "walk": {"to_m": [40, 1], "speed_m_s": 10, "threshold_dbm": -60, "hysteresis_db": 3},
        "next_ap_m": [40, 0],
        "scan": {"channels": 3, "min_channel_ms": 5, "max_channel_ms": 10},
    }
    stations = [{"name": "A", "position_m": [2, 1]}]
    planned = cell("wpa2-psk-ccmp", load=load, stations=stations, handover=handover)
    trial = record(planned, tmp_path)
    assert trial.wrong() == []
    asked = trial.tshark("wlan.fc.type_subtype == 4", "wlan.ra", "wlan.ssid")
    answered = trial.tshark(
        f"wlan.fc.type_subtype == 5 && {FRESH}", "wlan.ssid", "wlan.rsn.version"
    )
    assert len(asked) == len(answered) == trial.values["handover_scans"] >= 1
    assert all(line.startswith("ff:ff:ff:ff:ff:ff") for line in asked)
    # It says that it will be away, and that it is back from scans that found nothing better.
    null = f"wlan.fc.type_subtype == 0x24 && {FRESH}"
    powers = trial.tshark(null, "wlan.fc.pwrmgt")
    scans = int(trial.values["handover_scans"])
    assert powers == ["1", "0"] * (scans - 1) + ["1"]
    assert trial.values["handover_packets_kept"] >= scans - 1
    # The old access point fades as the station walks away, and the new one is better.
    heard = trial.tshark("wlan.fc.type_subtype == 8", "wlan.ta", "radiotap.dbm_antsignal")
    levels = [line.split() for line in heard]
    old = [float(found[1]) for found in levels if len(found) == 2 and found[0] == levels[0][0]]
    assert old[0] > old[-1] + 3
