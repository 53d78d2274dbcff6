"""A LEAP server on an access point: the sockets around the handshake of the native module.

FreeRADIUS has no LEAP any more, and hostapd relays EAP responses only: the station's own challenge,
an EAP request, does not pass it. The server therefore reads the challenge from a packet socket.
LEAP itself is broken. ``border.StationChallenge`` describes the two ways below.

    station                AP                      this server
       <- Request/LEAP challenge ------------------ Access-Challenge
       -> Response/LEAP response ------------------ Access-Request
       <- Success --------------------------------- WEP: Access-Accept; WPA: Access-Challenge
       -> Request/LEAP challenge (to the AP) ...... seen on the packet socket
       <- Response/LEAP response .................. WEP: sent from the packet socket;
                                                    WPA: through hostapd, with Access-Accept
       <- EAPOL-Key (WEP) or the 4-way handshake
"""

from __future__ import annotations

import json
import secrets
import selectors
import socket
import sys
from pathlib import Path
from typing import Final

from attrs import frozen

from airtoll import _native, border
from airtoll.testbeds.linux.daemons.credentials import USER, Credentials
from airtoll.testbeds.linux.hosts import programs
from airtoll.testbeds.linux.hosts.host import Host, Process
from airtoll.testbeds.linux.hosts.plain import read

PORT: Final = 1812
#: The EAP method that this server runs.
METHOD: Final = "leap"
_EAPOL: Final = 0x888E
_SERVER: Final = "authentication-server"


@frozen
class Server:
    """Settings of a server.

    ``listen``: the interface whose EAPOL frames it reads; ``interface``: where it sends frames to
    stations. ``wep_key``: hex, handed out by EAPOL-Key, or empty. ``hostapd``: hostapd's control
    socket, through which challenges reach the RADIUS exchange, or empty. ``own``: this end of that
    socket. ``ready``: a file that is made when the server listens.
    """

    user: str
    password: str
    secret: str
    interface: str
    listen: str
    wep_key: str = ""
    hostapd: str = ""
    own: str = ""
    ready: str = ""

    def role(self) -> border.RoleSettingsLeap:
        """The settings of the handshake."""
        challenge: border.StationChallenge
        if self.hostapd:
            challenge = border.StationChallengeAsResponse()
        else:
            key = bytes.fromhex(self.wep_key) if self.wep_key else None
            challenge = border.StationChallengeOnLink(wep_key=key)
        return border.RoleSettingsLeap(
            identity=self.user,
            password=self.password,
            radius_secret=self.secret,
            challenge=challenge,
        )


async def start(
    host: Host,
    folder: str,
    credentials: Credentials,
    interface: str,
    *,
    bridge: str | None = None,
    wep_key: str | None = None,
    hostapd_socket: str | None = None,
    limit_s: float = 120.0,
) -> Process:
    """Start the server on an AP's host and wait until it listens.

    ``wep_key`` (hex) is handed out by EAPOL-Key. Over ``hostapd_socket`` the station's challenge
    reaches the RADIUS exchange, and WPA keys follow. With neither, LEAP only opens the port.
    """
    base = f"{folder}/leap-{host.name}"
    settings = Server(
        user=USER,
        password=credentials.password,
        secret=credentials.radius_secret,
        interface=interface,
        listen=bridge or interface,
        wep_key=wep_key or "",
        hostapd=hostapd_socket or "",
        own=f"{base}.sock",
        ready=f"{base}.ready",
    )
    return await programs.serve(host, base, __name__, settings, limit_s)


class Exchange:
    """The handshake of one station at a time, from identity to keys."""

    def __init__(self, settings: Server) -> None:
        seed = secrets.randbits(64)
        self._machine = _native.Handshake(border.to_json(settings.role()), [_SERVER], seed)

    def radius(self, packet: bytes) -> list[bytes]:
        """Answers to a RADIUS packet."""
        sent = self._machine.deliver("access-point", _SERVER, "radius", packet)
        return [octets for _, _, _, octets in sent]

    def heard(self, frame: bytes) -> list[tuple[str, bytes]]:
        """Frames that follow from a station's EAPOL frame, each with its receiver.

        Receivers are ``station``, and ``access-point`` for a frame that hostapd takes as response.
        """
        sent = self._machine.deliver("station", _SERVER, "eapol", frame)
        return [(to, octets) for _, to, _, octets in sent]


def serve(settings: Server) -> None:
    """Answer until the process ends."""
    exchange = Exchange(settings)
    radius = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    radius.bind(("127.0.0.1", PORT))
    air = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_EAPOL))
    # A bridge takes frames from its ports before a socket bound to the port would see them.
    air.bind((settings.listen, _EAPOL))
    chooser = selectors.DefaultSelector()
    for source in (radius, air):
        chooser.register(source, selectors.EVENT_READ)
    Path(settings.ready).touch()
    while True:
        for ready, _ in chooser.select():
            if ready.fileobj is radius:
                packet, sender = radius.recvfrom(4096)
                for answer in exchange.radius(packet):
                    radius.sendto(answer, sender)
                continue
            frame, place = air.recvfrom(2048)
            if place[2] == socket.PACKET_OUTGOING:
                continue
            for to, octets in exchange.heard(frame):
                if to == "station":
                    air.sendto(octets, (settings.interface, _EAPOL, 0, 0, place[4]))
                else:
                    _inject(settings, place[4], octets)


def _inject(settings: Server, station: bytes, frame: bytes) -> None:
    own = Path(settings.own)
    own.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as control:
        control.bind(str(own))
        address = ":".join(f"{octet:02x}" for octet in station[:6])
        control.sendto(f"EAPOL_RX {address} {frame.hex()}".encode(), settings.hostapd)
    own.unlink(missing_ok=True)


if __name__ == "__main__":
    serve(read(Server, json.loads(Path(sys.argv[2]).read_text())))
