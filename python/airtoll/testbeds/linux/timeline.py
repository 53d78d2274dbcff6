"""Times and message counts of a trial's negotiation, from its two captures.

Takes the capture of the air (radiotap) and of the wire (Ethernet); gives association, EAP, key
handshake and hand-over times, messages by protocol, and whether data was protected on the air.
Never decrypts: everything here is read from headers.

Formats: libpcap (draft-ietf-opsawg-pcap), radiotap length field, IEEE 802.11-2020 clause 9.2,
802.1X-2020 clause 11.3, RFC 7296 section 3.1, WireGuard (Donenfeld, 2017) section 5.4.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from attrs import define, field, frozen

from airtoll.errors import CaptureError
from airtoll.testbeds.linux.job import Value

_ETHERNET: Final = 1
_RADIOTAP: Final = 127
_MAGICS: Final = {
    0xA1B2C3D4: 1e-6,
    0xA1B23C4D: 1e-9,
}
#: ICMP agent discovery and Mobile IP registration, as the wire shows them.
_MOBILE_IP: Final = "mobile-ip"
#: Metric -> protocol of the messages that it counts, and their detail where that matters.
_COUNTED: Final = {
    "messages_eap": ("eap", None),
    "messages_eapol_key": ("eapol-key", None),
    "messages_mobile_ip": (_MOBILE_IP, None),
    "messages_ikev1": ("ike", "1"),
    "messages_ikev2": ("ike", "2"),
    "messages_wireguard": ("wireguard", None),
}
#: Exchange types of ISAKMP and IKEv2 (RFC 2408 section 3.1, RFC 7296 section 3.1).
_INFORMATIONAL: Final = (5, 37)
_LLC_EAPOL: Final = bytes.fromhex("aaaa03000000888e")


@frozen
class Packet:
    """One captured packet: Unix time (s) and octets."""

    at_s: float
    data: bytes


@frozen
class Message:
    """One message of a negotiation. ``protocol``: sae, shared-key, ft, eap, eapol-key, ike, ...

    ``station``: its MAC address, or empty where only one can be meant.
    """

    at_s: float
    protocol: str
    station: str
    detail: str = ""


@define
class Timeline:
    """What the captures say of every station (by MAC address)."""

    messages: list[Message] = field(factory=list)
    #: (time, station, what): auth, assoc-response of each attempt
    management: list[tuple[float, str, str, str]] = field(factory=list)
    #: BSSIDs of the beacons
    access_points: set[str] = field(factory=set)
    #: (time, station, BSSID, protected) of data frames that carry user data
    data: list[tuple[float, str, str, bool]] = field(factory=list)

    def counts(self, station: str) -> Counter[str]:
        """Messages by protocol, the tunnels' among them."""
        return Counter(m.protocol for m in self.messages if m.station in (station, ""))

    def protected(self, station: str) -> tuple[int, int]:
        """Data frames with and without the Protected bit."""
        marks = [mark for _, who, _, mark in self.data if who == station]
        return sum(marks), len(marks) - sum(marks)


def read_pcap(path: Path) -> tuple[int, list[Packet]]:
    """Link type and packets of a libpcap file; a packet cut short at the end is left out.

    Raises ``CaptureError`` for a file that is no capture.
    """
    octets = path.read_bytes()
    if len(octets) < 24:
        raise CaptureError(f"{path}: no capture: {len(octets)} octets")
    for order in "<>":
        (magic,) = struct.unpack_from(order + "I", octets)
        if magic in _MAGICS:
            break
    else:
        raise CaptureError(f"{path}: no libpcap file")
    (link,) = struct.unpack_from(order + "I", octets, 20)
    packets: list[Packet] = []
    offset = 24
    while offset + 16 <= len(octets):
        seconds, fraction, held, _ = struct.unpack_from(order + "IIII", octets, offset)
        offset += 16
        if offset + held > len(octets):
            break
        packets.append(Packet(seconds + fraction * _MAGICS[magic], octets[offset : offset + held]))
        offset += held
    return link & 0xFFFF, packets


def read(air: Path, wire: Path | None = None, owners: Mapping[str, str] | None = None) -> Timeline:
    """The timeline of a trial's captures.

    ``owners``: IPv4 address -> MAC address of its station; what is between others is then left
    out. Without it every message on the wire counts for every station.

    Raises ``CaptureError`` when a file is no capture or has another link type.
    """
    timeline = Timeline()
    link, packets = read_pcap(air)
    if link != _RADIOTAP:
        raise CaptureError(f"{air}: link type {link}, not radiotap ({_RADIOTAP})")
    seen: set[tuple[str, int, str]] = set()
    for packet in packets:
        _air(packet, timeline, seen)
    if wire is not None and wire.exists():
        link, packets = read_pcap(wire)
        if link != _ETHERNET:
            raise CaptureError(f"{wire}: link type {link}, not Ethernet ({_ETHERNET})")
        timeline.messages += _wire(packets, owners)
    timeline.messages.sort(key=lambda message: message.at_s)
    return timeline


def values(timeline: Timeline, station: str, name: str) -> Iterator[Value]:
    """The rows of one station: ``station`` is its MAC address, ``name`` its name in the study.

    Times are of the first connection, in seconds; the capture point of EAP is the air.
    """
    first_gap = _gaps(timeline, station)
    end_of_first = first_gap[0][0] if first_gap else float("inf")
    mine = [m for m in timeline.messages if m.station in (station, "") and m.at_s <= end_of_first]
    started = [at for at, who, what, _ in timeline.management if who == station and what == "auth"]
    answered = [
        at for at, who, what, _ in timeline.management if who == station and what == "assoc"
    ]
    if started and answered:
        yield Value("association_time_s", answered[0] - started[0], "s", station=name)
    responses = [m.at_s for m in mine if m.protocol == "eap" and m.detail == "response"]
    successes = [m.at_s for m in mine if m.protocol == "eap" and m.detail == "success"]
    if responses and successes:
        yield Value("eap_time_s", successes[-1] - responses[0], "s", station=name)
    keys = [m.at_s for m in mine if m.protocol == "eapol-key"]
    if keys:
        yield Value("key_handshake_time_s", keys[-1] - keys[0], "s", station=name)
    if mine:
        yield Value("negotiation_time_s", mine[-1].at_s - mine[0].at_s, "s", station=name)
    yield Value("authentication_messages", float(len(mine)), "1", station=name)
    for metric, (protocol, detail) in _COUNTED.items():
        same = [m for m in mine if m.protocol == protocol and detail in (None, m.detail)]
        if same:
            yield Value(metric, float(len(same)), "1", station=name)
    if first_gap:
        longest = max(after - before for before, after in first_gap)
        yield Value("handover_gap_s", longest, "s", station=name)


def _gaps(timeline: Timeline, station: str) -> list[tuple[float, float]]:
    """(last data frame by the old AP, first by the new one) of every move."""
    gaps: list[tuple[float, float]] = []
    previous: tuple[float, str] | None = None
    for at, who, bssid, _ in timeline.data:
        if who != station:
            continue
        if previous is not None and previous[1] != bssid:
            gaps.append((previous[0], at))
        previous = (at, bssid)
    return gaps


def _air(packet: Packet, timeline: Timeline, seen: set[tuple[str, int, str]]) -> None:
    data = packet.data
    if len(data) < 4:
        return
    (length,) = struct.unpack_from("<H", data, 2)
    frame = data[length:]
    if len(frame) < 24:
        return
    control, flags = frame[0], frame[1]
    kind, subtype = control >> 2 & 3, control >> 4
    receiver, sender, third = (_mac(frame[i : i + 6]) for i in (4, 10, 16))
    sequence = struct.unpack_from("<H", frame, 22)[0]
    key = (sender, sequence, receiver)
    if flags & 0x08 and key in seen:  # a retry of a frame that was heard
        return
    seen.add(key)
    if kind == 0:
        body = frame[28:] if flags & 0x80 else frame[24:]
        if subtype == 11 and flags & 0x40:
            # The third message of shared-key authentication is encrypted under the WEP key.
            body = struct.pack("<HHH", 1, 3, 0)
        _management(packet.at_s, subtype, receiver, sender, third, body, timeline)
    elif kind == 2 and not subtype & 4:
        _data(packet.at_s, frame, subtype, flags, timeline)


def _management(
    at_s: float, subtype: int, receiver: str, sender: str, bssid: str, body: bytes,
    timeline: Timeline,
) -> None:  # fmt: skip
    station = receiver if sender == bssid else sender
    if subtype == 8:
        timeline.access_points.add(bssid)
    if subtype == 11 and len(body) >= 6:
        algorithm, number, _ = struct.unpack_from("<HHH", body)
        name = {0: "", 1: "shared-key", 2: "ft", 3: "sae"}.get(algorithm, "")
        timeline.management.append((at_s, station, "auth", bssid))
        if name:
            timeline.messages.append(Message(at_s, name, station, str(number)))
    elif subtype in (1, 3) and len(body) >= 4:
        status = struct.unpack_from("<H", body, 2)[0]
        if status == 0:
            timeline.management.append((at_s, station, "assoc", bssid))


def _data(at_s: float, frame: bytes, subtype: int, flags: int, timeline: Timeline) -> None:
    to_ds, from_ds = bool(flags & 1), bool(flags & 2)
    receiver, sender = _mac(frame[4:10]), _mac(frame[10:16])
    header = 26 if subtype & 8 else 24
    if to_ds and from_ds:
        # A wireless bridge: the bits do not say which end is the access point.
        header += 6
        to_ds = receiver in timeline.access_points
        from_ds = sender in timeline.access_points
    if to_ds == from_ds or frame[4] & 1:
        return  # direct, or to a group: no single station
    station, bssid = (sender, receiver) if to_ds else (receiver, sender)
    body = frame[header:]
    protected = bool(flags & 0x40)
    if not protected and body.startswith(_LLC_EAPOL):
        message = _eapol(body[8:])
        if message is not None:
            timeline.messages.append(Message(at_s, message[0], station, message[1]))
        return
    timeline.data.append((at_s, station, bssid, protected))


def _eapol(frame: bytes) -> tuple[str, str] | None:
    if len(frame) < 4:
        return None
    kind, body = frame[1], frame[4:]
    if kind == 0 and body:
        return "eap", {1: "request", 2: "response", 3: "success", 4: "failure"}.get(body[0], "")
    if kind == 1:
        return "eap", "start"
    return ("eapol-key", "") if kind == 3 else None


def _wire(packets: list[Packet], owners: Mapping[str, str] | None = None) -> Iterator[Message]:
    """Messages of IKE, WireGuard and Mobile IP; those of a station by its address, if known.

    A message sent again is one message; informational exchanges negotiate nothing.
    """
    seen: set[bytes] = set()
    waiting: dict[str, None] = {}
    for packet in packets:
        data = packet.data
        if data[12:14] != b"\x08\x00" or len(data) < 42:
            continue
        start = 14 + (data[14] & 15) * 4
        if len(data) < start + 8:
            continue
        parties = _parties(data, owners)
        if data[23] == 1:
            yield from _discovery(packet.at_s, data[start], parties, waiting)
            continue
        if data[23] != 17 or not parties:
            continue
        ports = set(struct.unpack_from(">HH", data, start))
        body = data[start + 8 :]
        if body in seen:
            continue
        seen.add(body)
        for protocol, detail in _message(ports, body):
            for station in parties:
                yield Message(packet.at_s, protocol, station, detail)


def _parties(data: bytes, owners: Mapping[str, str] | None) -> tuple[str, ...]:
    """The stations that an IPv4 packet is of and for; one without a name where none is known."""
    if owners is None:
        return ("",)
    ends = (".".join(map(str, data[at : at + 4])) for at in (26, 30))
    return tuple(owners[end] for end in ends if end in owners)


def _discovery(
    at_s: float, kind: int, parties: tuple[str, ...], waiting: dict[str, None]
) -> Iterator[Message]:
    """A solicitation (10), or the advertisement (9) that answers those who wait for one."""
    if kind == 10:
        for station in parties:
            waiting[station] = None
            yield Message(at_s, _MOBILE_IP, station, "solicitation")
    elif kind == 9:
        for station in waiting:
            yield Message(at_s, _MOBILE_IP, station, "advertisement")
        waiting.clear()


def _message(ports: set[int], body: bytes) -> Iterator[tuple[str, str]]:
    """Protocol and detail of a UDP datagram that negotiates something; at most one."""
    # On the port for NAT traversal IKE stands behind four zero octets (RFC 3948 section 2.2).
    if 434 in ports and body[:1] in (b"\1", b"\3"):
        yield _MOBILE_IP, "request" if body[0] == 1 else "reply"
    elif 51820 in ports and body[:4] in (b"\1\0\0\0", b"\2\0\0\0"):
        yield "wireguard", ""
    elif 500 in ports or (4500 in ports and body[:4] == b"\0\0\0\0"):
        ike = body[4:] if 4500 in ports else body
        if len(ike) >= 28 and ike[18] not in _INFORMATIONAL:
            yield "ike", str(ike[17] >> 4)


def _mac(octets: bytes) -> str:
    return octets.hex(":")
