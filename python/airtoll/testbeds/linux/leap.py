"""A small LEAP server: both halves of the exchange, and the keys that follow from it.

The server answers RADIUS requests (RFC 2865, 3579) on the AP. hostapd does not relay the station's
own challenge, so the server answers that challenge on a packet socket. It knows the one user of the
run. FreeRADIUS has no LEAP any more. LEAP itself is broken.

LEAP as analysed by C. Macnally, "Cisco LEAP protocol description", 2001; the challenge response
is MS-CHAP's (RFC 2433, appendix A); EAPOL-Key with RC4 is IEEE 802.1X-2001 clause 7.6.

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

import hashlib
import hmac
import json
import os
import selectors
import socket
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from attrs import frozen

import airtoll
from airtoll.testbeds.linux.credentials import USER, Credentials
from airtoll.testbeds.linux.hosts import Host, Process

PORT: Final = 1812
#: The EAP method that this server runs.
METHOD: Final = "leap"
_EAPOL: Final = 0x888E
_LEAP: Final = 17
_ACCEPT, _REJECT, _CHALLENGE = 2, 3, 11
_REQUEST, _RESPONSE, _SUCCESS, _FAILURE = 1, 2, 3, 4


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
    settings = {
        "user": USER,
        "password": credentials.password,
        "secret": credentials.radius_secret,
        "interface": interface,
        "listen": bridge or interface,
        "wep_key": wep_key or "",
        "hostapd": hostapd_socket or "",
        "own": f"{base}.sock",
        "ready": f"{base}.ready",
    }
    await host.run(["rm", "-f", f"{base}.ready"])
    await host.put(f"{base}.json", json.dumps(settings))
    process = await host.start(
        [sys.executable, "-m", "airtoll.testbeds.linux.leap", f"{base}.json"],
        log=f"{base}.log",
        env={"PYTHONPATH": str(Path(airtoll.__file__).resolve().parent.parent)},
    )
    await host.wait_for(f"{base}.ready", limit_s, process)
    return process


def md4(message: bytes) -> bytes:
    """The MD4 digest (RFC 1320), which OpenSSL 3 no longer offers by default."""
    mask = 0xFFFFFFFF

    def rotated(value: int, count: int) -> int:
        value &= mask
        return (value << count | value >> (32 - count)) & mask

    length = len(message) * 8
    padded = message + b"\x80" + b"\0" * ((55 - len(message)) % 64) + struct.pack("<Q", length)
    state = [0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476]
    orders = (
        range(16),
        [4 * (i % 4) + i // 4 for i in range(16)],
        [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15],
    )
    shifts = ((3, 7, 11, 19), (3, 5, 9, 13), (3, 9, 11, 15))
    functions: tuple[Callable[[int, int, int], int], ...] = (
        lambda x, y, z: x & y | ~x & z,
        lambda x, y, z: x & y | x & z | y & z,
        lambda x, y, z: x ^ y ^ z,
    )
    constants = (0, 0x5A827999, 0x6ED9EBA1)
    for start_ in range(0, len(padded), 64):
        words = struct.unpack("<16I", padded[start_ : start_ + 64])
        a, b, c, d = state
        for order, shift, function, constant in zip(
            orders, shifts, functions, constants, strict=True
        ):
            for step, index in enumerate(order):
                mixed = a + function(b, c, d) + words[index] + constant
                a, b, c, d = d, rotated(mixed, shift[step % 4]), b, c
        state = [(x + y) & mask for x, y in zip(state, (a, b, c, d), strict=True)]
    return struct.pack("<4I", *state)


def nt_hash(password: str) -> bytes:
    """MD4 of the password in UTF-16 (RFC 2433 section A.3)."""
    return md4(password.encode("utf-16le"))


def challenge_response(challenge: bytes, password_hash: bytes) -> bytes:
    """24 octets: the challenge under three DES keys made of the hash (RFC 2433 section A.5)."""
    from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
    from cryptography.hazmat.primitives.ciphers import Cipher, modes

    out = b""
    material = password_hash + b"\0" * 5
    for start_ in (0, 7, 14):
        bits = int.from_bytes(material[start_ : start_ + 7], "big")
        # Seven bits to an octet; the lowest bit is parity, which DES does not use.
        key = bytes((bits >> (49 - 7 * i) & 0x7F) << 1 for i in range(8))
        out += Cipher(TripleDES(key * 3), modes.ECB()).encryptor().update(challenge)
    return out


def session_key(
    password_hash: bytes, to_ap: bytes, by_ap: bytes, to_station: bytes, by_station: bytes
) -> bytes:
    """16 octets: MD5 over the hash's hash and both challenges with their responses."""
    return hashlib.md5(md4(password_hash) + to_ap + by_ap + to_station + by_station).digest()


def eap(code: int, identifier: int, body: bytes = b"") -> bytes:
    """An EAP packet (RFC 3748 section 4)."""
    return struct.pack(">BBH", code, identifier, 4 + len(body)) + body


def leap_body(value: bytes, name: bytes) -> bytes:
    """Type, version 1, a zero, the count and the value, then the user's name."""
    return bytes([_LEAP, 1, 0, len(value)]) + value + name


def rc4(key: bytes, data: bytes) -> bytes:
    """RC4 under ``key``."""
    from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4
    from cryptography.hazmat.primitives.ciphers import Cipher

    return Cipher(ARC4(key), mode=None).encryptor().update(data)


def eapol_key(session: bytes, wep_key: bytes, index: int, counter: int, vector: bytes) -> bytes:
    """An EAPOL frame with an RC4 key descriptor that carries ``wep_key``.

    ``index``: the key's index, with 0x80 for the unicast key.
    """
    head = struct.pack(">BHQ", 1, len(wep_key), counter) + vector + bytes([index])
    data = rc4(vector + session, wep_key)
    frame = struct.pack(">BBH", 1, 3, len(head) + 16 + len(data)) + head + b"\0" * 16 + data
    signature = hmac.new(session, frame, "md5").digest()
    return frame[: 4 + len(head)] + signature + data


@frozen
class Request:
    """A RADIUS Access-Request: what this server needs of it."""

    identifier: int
    authenticator: bytes
    eap: bytes


def parse_request(packet: bytes) -> Request:
    """Raises ``ValueError`` for a packet that is none or is cut short."""
    if len(packet) < 20 or packet[0] != 1:
        raise ValueError("not an Access-Request")
    message, offset = b"", 20
    while offset + 2 <= len(packet):
        kind, length = packet[offset], packet[offset + 1]
        if length < 2 or offset + length > len(packet):
            raise ValueError("an attribute is cut short")
        if kind == 79:
            message += packet[offset + 2 : offset + length]
        offset += length
    if len(message) < 5:
        raise ValueError("no EAP message")
    return Request(packet[1], packet[4:20], message)


def answer(
    request: Request, code: int, message: bytes, secret: bytes, *, key: bytes | None = None,
    salt: bytes = b"\x80\x01\x80\x02",
) -> bytes:  # fmt: skip
    """A RADIUS answer with an EAP message, Message-Authenticator and, with ``key``, MPPE keys.

    MS-MPPE-Recv-Key and -Send-Key: RFC 2548 sections 2.4.2 and 2.4.3.
    """
    body = b""
    for start_ in range(0, len(message), 253):
        part = message[start_ : start_ + 253]
        body += bytes([79, 2 + len(part)]) + part
    body += bytes([24, 3, 1])
    if key is not None:
        for kind, mark in ((17, salt[:2]), (16, salt[2:])):
            hidden = _hidden(key, secret, request.authenticator, mark)
            inner = bytes([kind, 4 + len(hidden)]) + mark + hidden
            body += bytes([26, 6 + len(inner)]) + struct.pack(">I", 311) + inner
    head = struct.pack(">BBH", code, request.identifier, 20 + len(body) + 18)
    proof = hmac.new(
        secret, head + request.authenticator + body + b"\x50\x12" + b"\0" * 16, "md5"
    ).digest()
    body += b"\x50\x12" + proof
    return head + hashlib.md5(head + request.authenticator + body + secret).digest() + body


def _hidden(key: bytes, secret: bytes, authenticator: bytes, salt: bytes) -> bytes:
    plain = bytes([len(key)]) + key
    plain += b"\0" * (-len(plain) % 16)
    out, previous = b"", authenticator + salt
    for start_ in range(0, len(plain), 16):
        pad = hashlib.md5(secret + previous).digest()
        block = bytes(a ^ b for a, b in zip(plain[start_ : start_ + 16], pad, strict=True))
        out += block
        previous = block
    return out


class Server:
    """The exchange of one station at a time, from identity to keys."""

    def __init__(self, settings: dict[str, str]) -> None:
        self._secret = settings["secret"].encode()
        self._name = settings["user"].encode()
        self._hash = nt_hash(settings["password"])
        self._wep = bytes.fromhex(settings["wep_key"]) if settings["wep_key"] else None
        self._relayed = bool(settings["hostapd"])
        self._challenge = b""
        self._response = b""
        self._session = b""
        self._counter = 0

    def radius(self, packet: bytes) -> bytes | None:
        """The answer to one RADIUS packet."""
        try:
            request = parse_request(packet)
        except ValueError:
            return None
        identifier, kind = request.eap[1], request.eap[4]
        if kind == 1:
            self._challenge = os.urandom(8)
            body = leap_body(self._challenge, request.eap[5:])
            message = eap(_REQUEST, (identifier + 1) % 256, body)
            return answer(request, _CHALLENGE, message, self._secret)
        if kind == _LEAP and request.eap[7] == 24:
            self._response = request.eap[8:32]
            if self._response != challenge_response(self._challenge, self._hash):
                return answer(request, _REJECT, eap(_FAILURE, identifier), self._secret)
            code = _CHALLENGE if self._relayed else _ACCEPT
            return answer(request, code, eap(_SUCCESS, identifier), self._secret)
        if kind == _LEAP and request.eap[7] == 8:
            message = eap(_RESPONSE, identifier, self.proof(request.eap))
            # HMAC pads its key with zeros, so 32 octets give the station's 16-octet PMK's keys.
            key = self._session + b"\0" * 16
            return answer(request, _ACCEPT, message, self._secret, key=key)
        return answer(request, _REJECT, eap(_FAILURE, identifier), self._secret)

    def proof(self, challenge: bytes) -> bytes:
        """The LEAP body that proves the network to the station; the session key follows."""
        asked = challenge[8:16]
        given = challenge_response(asked, md4(self._hash))
        self._session = session_key(self._hash, asked, given, self._challenge, self._response)
        return leap_body(given, challenge[16:] or self._name)

    def frames(self, challenge: bytes) -> list[bytes]:
        """EAPOL frames without WPA: the proof, then the broadcast and the unicast WEP key."""
        message = eap(_RESPONSE, challenge[1], self.proof(challenge))
        frames = [struct.pack(">BBH", 1, 0, len(message)) + message]
        if self._wep is None:
            return frames
        for index in (0x00, 0x80):
            self._counter += 1
            frames.append(eapol_key(self._session, self._wep, index, self._counter, os.urandom(16)))
        return frames

    @staticmethod
    def injected(challenge: bytes) -> bytes:
        """The station's challenge as an EAPOL frame that hostapd relays: code Response."""
        message = bytes([_RESPONSE]) + challenge[1:]
        return struct.pack(">BBH", 1, 0, len(message)) + message


def serve(settings: dict[str, str]) -> None:
    """Answer until the process ends."""
    server = Server(settings)
    radius = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    radius.bind(("127.0.0.1", PORT))
    interface = settings["interface"]
    air = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_EAPOL))
    # A bridge takes frames from its ports before a socket bound to the port would see them.
    air.bind((settings["listen"], _EAPOL))
    chooser = selectors.DefaultSelector()
    for source in (radius, air):
        chooser.register(source, selectors.EVENT_READ)
    Path(settings["ready"]).touch()
    while True:
        for ready, _ in chooser.select():
            if ready.fileobj is radius:
                packet, sender = radius.recvfrom(4096)
                reply = server.radius(packet)
                if reply is not None:
                    radius.sendto(reply, sender)
                continue
            frame, place = air.recvfrom(2048)
            message = frame[4:]
            outgoing = place[2] == socket.PACKET_OUTGOING
            if outgoing or frame[1] != 0 or message[0] != _REQUEST or message[4] != _LEAP:
                continue
            if not settings["hostapd"]:
                for answer_ in server.frames(message):
                    air.sendto(answer_, (interface, _EAPOL, 0, 0, place[4]))
            else:
                _inject(settings, place[4], Server.injected(message))


def _inject(settings: dict[str, str], station: bytes, frame: bytes) -> None:
    own = Path(settings["own"])
    own.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as control:
        control.bind(str(own))
        address = ":".join(f"{octet:02x}" for octet in station[:6])
        control.sendto(f"EAPOL_RX {address} {frame.hex()}".encode(), settings["hostapd"])
    own.unlink(missing_ok=True)


if __name__ == "__main__":
    serve(json.loads(Path(sys.argv[1]).read_text()))
