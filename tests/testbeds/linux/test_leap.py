"""LEAP on the real stack: a whole exchange of the native handshake against a station and an
authenticator that are written here from the published descriptions.

LEAP as analysed by C. Macnally, "Cisco LEAP protocol description", 2001; the challenge response
is MS-CHAP's (RFC 2433, appendix A); EAPOL-Key with RC4 is IEEE 802.1X-2001 clause 7.6.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import struct
from collections.abc import Callable

import pytest
from attrs import asdict

from airtoll.testbeds.linux.daemons import leap
from airtoll.testbeds.linux.hosts.plain import read

SECRET = "shared secret"
PASSWORD = "correct horse"
LEAP = 17
STATE = 24


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
    return bytes([LEAP, 1, 0, len(value)]) + value + name


def rc4(key: bytes, data: bytes) -> bytes:
    """RC4 under ``key``."""
    from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4
    from cryptography.hazmat.primitives.ciphers import Cipher

    return Cipher(ARC4(key), mode=None).encryptor().update(data)


@pytest.mark.parametrize(
    ("message", "digest"),
    [  # RFC 1320, section A.5
        (b"", "31d6cfe0d16ae931b73c59d7e0c089c0"),
        (b"abc", "a448017aaf21d8525fc10ae87aa6729d"),
        (b"message digest", "d9130a8164549fe818874806e1c7014b"),
        (
            b"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
            "e33b4ddc9c38f2199c3e7b164fcc0536",
        ),
    ],
)
def test_md4_vectors(message: bytes, digest: str) -> None:
    assert md4(message).hex() == digest


def test_challenge_response_vector() -> None:
    # RFC 2433 appendix B.1: password "MyPw"
    got = challenge_response(bytes.fromhex("102DB5DF085D3041"), nt_hash("MyPw"))
    assert got.hex() == "4e9d3c8f9cfd385d5bf4d3246791956ca4c351ab409a3d61"


def request(identifier: int, message: bytes, state: bytes = b"") -> tuple[bytes, bytes]:
    """An Access-Request as hostapd signs it (RFC 3579 section 3.2), and its authenticator."""
    authenticator = os.urandom(16)
    body = bytes([1, 6]) + b"user" + bytes([79, 2 + len(message)]) + message
    if state:
        body += bytes([STATE, 2 + len(state)]) + state
    head = struct.pack(">BBH", 1, identifier, 20 + len(body) + 18) + authenticator
    proof = hmac.new(SECRET.encode(), head + body + b"\x50\x12" + bytes(16), "md5").digest()
    return head + body + b"\x50\x12" + proof, authenticator


def checked(
    answers: list[bytes], authenticator: bytes
) -> tuple[int, bytes, bytes, dict[int, bytes]]:
    """Code, EAP message, State and vendor attributes; fails on a wrong authenticator."""
    (answer,) = answers
    code, _, length = struct.unpack(">BBH", answer[:4])
    assert length == len(answer)
    digest = hashlib.md5(answer[:4] + authenticator + answer[20:] + SECRET.encode()).digest()
    assert digest == answer[4:20]
    message, state, vendor, offset = b"", b"", {}, 20
    while offset < length:
        kind, size = answer[offset], answer[offset + 1]
        value = answer[offset + 2 : offset + size]
        if kind == 79:
            message += value
        elif kind == STATE:
            state = value
        elif kind == 26:
            vendor[value[4]] = value[6:]
        elif kind == 80:
            blank = answer[: offset + 2] + b"\0" * 16 + answer[offset + 18 :]
            signed = blank[:4] + authenticator + blank[20:]
            assert hmac.new(SECRET.encode(), signed, "md5").digest() == value
        offset += size
    return code, message, state, vendor


def plain_key(hidden: bytes, authenticator: bytes) -> bytes:
    salt, data = hidden[:2], hidden[2:]
    out, previous = b"", authenticator + salt
    for start in range(0, len(data), 16):
        pad = hashlib.md5(SECRET.encode() + previous).digest()
        previous = data[start : start + 16]
        out += bytes(a ^ b for a, b in zip(previous, pad, strict=True))
    return out[1 : 1 + out[0]]


def exchange(**changes: str) -> leap.Exchange:
    settings = leap.Server("user", PASSWORD, SECRET, interface="wlan0", listen="wlan0", **changes)
    # The settings travel to the access point as plain JSON values.
    return leap.Exchange(read(leap.Server, asdict(settings)))


def first_half(
    one: leap.Exchange, password: str = PASSWORD
) -> tuple[int, bytes, bytes, bytes, bytes]:
    """Code, EAP message and State of the answer to the response; the challenge; the response."""
    packet, proof = request(1, eap(2, 7, b"\x01user"))
    code, message, state, _ = checked(one.radius(packet), proof)
    assert (code, message[:2], message[4]) == (11, b"\x01\x08", LEAP)
    assert message == eap(1, 8, leap_body(message[8:16], b"user"))
    challenge = message[8:16]
    response = challenge_response(challenge, nt_hash(password))
    packet, proof = request(2, eap(2, message[1], leap_body(response, b"user")), state)
    answers = one.radius(packet)
    # hostapd repeats a request whose answer was lost: the answer is the same.
    assert one.radius(packet) == answers
    code, message, state, vendor = checked(answers, proof)
    assert not vendor
    return code, message, state, challenge, response


def test_a_wrong_password_is_rejected() -> None:
    code, message, *_ = first_half(exchange(), "wrong")
    assert (code, message) == (3, eap(4, 8))


def test_challenges_of_two_exchanges_differ() -> None:
    assert first_half(exchange())[3] != first_half(exchange())[3]


def test_wep_keys_reach_the_station() -> None:
    wep = os.urandom(13)
    one = exchange(wep_key=wep.hex())
    code, message, _, challenge, response = first_half(one)
    assert (code, message) == (2, eap(3, 8))
    own = os.urandom(8)
    asked = eap(1, message[1], leap_body(own, b"user"))
    sent = one.heard(struct.pack(">BBH", 1, 0, len(asked)) + asked)
    assert [to for to, _ in sent] == ["station"] * 3
    frames = [frame for _, frame in sent]
    hashed = nt_hash(PASSWORD)
    given = challenge_response(own, md4(hashed))
    proof = eap(2, message[1], leap_body(given, b"user"))
    assert frames[0] == struct.pack(">BBH", 1, 0, len(proof)) + proof
    session = session_key(hashed, own, given, challenge, response)
    for counter, (frame, index) in enumerate(zip(frames[1:], (0x00, 0x80), strict=True), 1):
        assert frame[:15] == struct.pack(">BBHBHQ", 1, 3, 57, 1, 13, counter)
        assert frame[4 + 27] == index
        blank = frame[: 4 + 28] + b"\0" * 16 + frame[4 + 44 :]
        assert hmac.new(session, blank, "md5").digest() == frame[4 + 28 : 4 + 44]
        assert rc4(frame[4 + 11 : 4 + 27] + session, frame[4 + 44 :]) == wep


def test_without_encryption_the_proof_is_alone() -> None:
    one = exchange()
    code, message, *_ = first_half(one)
    assert (code, message) == (2, eap(3, 8))
    asked = eap(1, 8, leap_body(os.urandom(8), b"user"))
    ((to, frame),) = one.heard(struct.pack(">BBH", 1, 0, len(asked)) + asked)
    assert (to, frame[:6]) == ("station", bytes.fromhex("010000240208"))


def test_wpa_keys_reach_the_access_point() -> None:
    one = exchange(hostapd="/socket")
    code, message, state, challenge, response = first_half(one)
    assert (code, message) == (11, eap(3, 8))  # success, but the exchange goes on
    own = os.urandom(8)
    asked = eap(1, message[1], leap_body(own, b"user"))
    ((to, relayed),) = one.heard(struct.pack(">BBH", 1, 0, len(asked)) + asked)
    # The challenge as an EAPOL frame that hostapd relays: code Response.
    assert (to, relayed) == ("access-point", b"\x01\x00\x00\x14\x02" + asked[1:])
    packet, proof = request(3, relayed[4:], state)
    code, message, _, vendor = checked(one.radius(packet), proof)
    hashed = nt_hash(PASSWORD)
    given = challenge_response(own, md4(hashed))
    assert (code, message) == (2, eap(2, 8, leap_body(given, b"user")))
    session = session_key(hashed, own, given, challenge, response)
    for kind in (16, 17):
        assert plain_key(vendor[kind], proof) == session + b"\0" * 16


def test_a_request_without_proof_or_state_is_not_answered() -> None:
    one = exchange()
    packet, _ = request(1, eap(2, 7, b"\x01user"))
    assert one.radius(packet[:-1] + bytes([packet[-1] ^ 1])) == []
    assert len(one.radius(packet)) == 1
    stray, _ = request(2, eap(2, 8, leap_body(bytes(24), b"user")), bytes(16))
    assert one.radius(stray) == []


@pytest.mark.parametrize(
    "packet", [b"", b"\x01" * 19, b"\x01\x01\x00\x16" + b"\0" * 16 + b"\x4f\xff"]
)
def test_broken_requests_are_ignored(packet: bytes) -> None:
    assert exchange().radius(packet) == []
    assert exchange().heard(packet) == []
