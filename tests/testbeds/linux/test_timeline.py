"""Timelines of captures: on captures of the real stack, and on broken files."""

from __future__ import annotations

import ipaddress
import struct
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from airtoll.errors import CaptureError
from airtoll.testbeds.linux import mobile_ip, timeline

CORPUS = Path(__file__).parents[2] / "capture" / "corpus" / "linux"
STATION = "02:00:00:00:02:00"


def read(policy: str) -> timeline.Timeline:
    folder = CORPUS / policy
    return timeline.read(folder / "air.pcap", folder / "wire.pcap")


@pytest.mark.parametrize(
    ("policy", "messages"),
    [
        ("open", {}),
        ("wep-104", {}),
        ("wep-104-shared", {"shared-key": 4}),
        ("wpa-psk-tkip", {"eapol-key": 4}),
        ("wpa2-psk-ccmp", {"eapol-key": 4}),
        ("wpa3-sae-ccmp", {"sae": 4, "eapol-key": 4}),
        ("owe-ccmp", {"eapol-key": 4}),
        ("wpa2-eap-tls-ccmp", {"eap": 17, "eapol-key": 4}),
    ],
)
def test_messages_of_real_handshakes(policy: str, messages: dict[str, int]) -> None:
    seen = read(policy)
    assert dict(seen.counts(STATION)) == messages
    values = {v.metric: v.value for v in timeline.values(seen, STATION, "A")}
    assert values["authentication_messages"] == sum(messages.values())
    assert 0 < values["association_time_s"] < 2
    assert ("key_handshake_time_s" in values) == ("eapol-key" in messages)
    assert ("eap_time_s" in values) == ("eap" in messages)
    if "eap" in messages:
        parts = values["eap_time_s"] + values["key_handshake_time_s"]
        assert values["negotiation_time_s"] > parts


@pytest.mark.parametrize(
    ("policy", "messages"),
    [
        ("wep-104", {}),
        ("wpa-psk-tkip", {"eapol-key": 4}),
        ("wpa2-psk-ccmp", {"eapol-key": 4}),
        ("wpa3-sae-ccmp", {"sae": 4, "eapol-key": 4}),
    ],
)
def test_frames_with_four_addresses_are_the_stations(policy: str, messages: dict[str, int]) -> None:
    seen = timeline.read(CORPUS.with_name("linux-bridges") / policy / "air.pcap")
    assert dict(seen.counts(STATION)) == messages
    protected, clear = seen.protected(STATION)
    assert protected > 10
    assert clear == 0
    assert {(who, bssid) for _, who, bssid, _ in seen.data} == {(STATION, "02:00:00:00:00:00")}


def test_protection_is_read_from_the_air() -> None:
    protected, clear = read("open").protected(STATION)
    assert (protected, clear > 5) == (0, True)
    for policy in ("wpa-psk-tkip", "wpa2-psk-ccmp", "wpa3-sae-ccmp"):
        protected, clear = read(policy).protected(STATION)
        assert protected > 5
        assert clear == 0


def test_a_capture_cut_short_keeps_its_whole_packets(tmp_path: Path) -> None:
    octets = (CORPUS / "wpa2-psk-ccmp" / "air.pcap").read_bytes()
    whole = timeline.read_pcap(CORPUS / "wpa2-psk-ccmp" / "air.pcap")[1]
    short = tmp_path / "short.pcap"
    short.write_bytes(octets[:-7])
    assert timeline.read_pcap(short)[1] == whole[:-1]


def test_other_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("this is no capture, whatever it says")
    with pytest.raises(CaptureError, match="text: no libpcap file"):
        timeline.read(path)
    path.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    with pytest.raises(CaptureError, match="link type 1, not radiotap"):
        timeline.read(path)


@given(st.binary(max_size=200))
def test_any_frame_is_survived(frame: bytes) -> None:
    one = timeline.Timeline()
    timeline._air(timeline.Packet(0.0, b"\0\0\x08\0\0\0\0\0" + frame), one, set())
    list(timeline._wire([timeline.Packet(0.0, frame)]))


def test_a_move_leaves_a_gap() -> None:
    seen = timeline.Timeline(
        management=[(0.0, STATION, "auth", "a"), (0.1, STATION, "assoc", "a")],
        data=[
            (1.0, STATION, "a", True),
            (2.0, STATION, "a", True),
            (2.25, STATION, "b", True),
            (3.0, STATION, "b", True),
        ],
        messages=[
            timeline.Message(0.2, "eapol-key", STATION),
            timeline.Message(2.1, "eapol-key", STATION),
        ],
    )
    values = {v.metric: v.value for v in timeline.values(seen, STATION, "A")}
    assert values["handover_gap_s"] == pytest.approx(0.25)
    # The handshake with the second AP is not part of the first connection.
    assert values["authentication_messages"] == 1


def _datagram(source: str, destination: str, ports: tuple[int, int], body: bytes) -> bytes:
    header = bytes([0x45]) + bytes(8) + bytes([17]) + bytes(2)
    ends = b"".join(ipaddress.ip_address(end).packed for end in (source, destination))
    return bytes(12) + b"\x08\0" + header + ends + struct.pack(">HHHH", *ports, 0, 0) + body


def _icmp(source: str, body: bytes) -> bytes:
    header = bytes([0x45]) + bytes(8) + bytes([1]) + bytes(2)
    ends = ipaddress.ip_address(source).packed + b"\xff" * 4
    return bytes(12) + b"\x08\0" + header + ends + body


def test_messages_on_the_wire_belong_to_the_station_of_their_address() -> None:
    key = bytes(16)
    request = mobile_ip.Registration("10.81.0.11", "10.81.0.1", "10.82.0.1", 1)
    reply = evolve(request, code=0)
    ike = bytes(17) + b"\x10\x02" + bytes(30)
    frames = [
        _icmp("10.81.0.11", mobile_ip.solicitation()),
        _icmp("10.82.0.1", mobile_ip.advertisement("10.82.0.1", "10.82.0.1", 0)),
        _icmp("10.82.0.1", mobile_ip.advertisement("10.82.0.1", "10.82.0.1", 1)),
        _datagram("10.81.0.11", "10.82.0.1", (434, 434), request.pack(key)),
        _datagram("10.82.0.1", "10.81.0.11", (434, 434), reply.pack(key)),
        _datagram("10.81.0.11", "10.81.0.1", (500, 500), ike),
        _datagram("10.81.0.11", "10.81.0.1", (500, 500), ike),  # sent again
        _datagram("10.83.0.2", "10.83.0.6", (500, 500), b"\1" + ike),  # between the gateways
    ]
    packets = [timeline.Packet(float(at), frame) for at, frame in enumerate(frames)]
    found = list(timeline._wire(packets, {"10.81.0.11": STATION}))
    assert [(m.protocol, m.detail) for m in found] == [
        ("mobile-ip", "solicitation"),
        ("mobile-ip", "advertisement"),
        ("mobile-ip", "request"),
        ("mobile-ip", "reply"),
        ("ike", "1"),
    ]
    assert {m.station for m in found} == {STATION}
    rows = {v.metric: v.value for v in timeline.values(timeline.Timeline(found), STATION, "A")}
    assert rows["authentication_messages"] == 5
    assert (rows["messages_mobile_ip"], rows["messages_ikev1"]) == (4, 1)
    assert rows["negotiation_time_s"] == 5
