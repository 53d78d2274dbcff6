"""LEAP: published vectors, and a whole exchange against a station written from the other side."""

from __future__ import annotations

import hashlib
import hmac
import os
import struct

import pytest

from airtoll.testbeds.linux import leap

SECRET = "shared secret"
PASSWORD = "correct horse"


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
    assert leap.md4(message).hex() == digest


def test_challenge_response_vector() -> None:
    # RFC 2433 appendix B.1: password "MyPw"
    got = leap.challenge_response(bytes.fromhex("102DB5DF085D3041"), leap.nt_hash("MyPw"))
    assert got.hex() == "4e9d3c8f9cfd385d5bf4d3246791956ca4c351ab409a3d61"


def request(identifier: int, message: bytes) -> tuple[bytes, bytes]:
    authenticator = os.urandom(16)
    body = bytes([1, 6]) + b"user" + bytes([79, 2 + len(message)]) + message
    return struct.pack(">BBH", 1, identifier, 20 + len(body)) + authenticator + body, authenticator


def checked(answer: bytes | None, authenticator: bytes) -> tuple[int, bytes, dict[int, bytes]]:
    """Code, EAP message and vendor attributes; fails on a wrong authenticator."""
    assert answer is not None
    code, _, length = struct.unpack(">BBH", answer[:4])
    assert length == len(answer)
    digest = hashlib.md5(answer[:4] + authenticator + answer[20:] + SECRET.encode()).digest()
    assert digest == answer[4:20]
    message, vendor, offset = b"", {}, 20
    while offset < length:
        kind, size = answer[offset], answer[offset + 1]
        value = answer[offset + 2 : offset + size]
        if kind == 79:
            message += value
        elif kind == 26:
            vendor[value[4]] = value[6:]
        elif kind == 80:
            blank = answer[: offset + 2] + b"\0" * 16 + answer[offset + 18 :]
            signed = blank[:4] + authenticator + blank[20:]
            assert hmac.new(SECRET.encode(), signed, "md5").digest() == value
        offset += size
    return code, message, vendor


def plain_key(hidden: bytes, authenticator: bytes) -> bytes:
    salt, data = hidden[:2], hidden[2:]
    out, previous = b"", authenticator + salt
    for start in range(0, len(data), 16):
        pad = hashlib.md5(SECRET.encode() + previous).digest()
        previous = data[start : start + 16]
        out += bytes(a ^ b for a, b in zip(previous, pad, strict=True))
    return out[1 : 1 + out[0]]


def server(**changes: str) -> leap.Server:
    settings = {
        "secret": SECRET,
        "user": "user",
        "password": PASSWORD,
        "wep_key": "",
        "hostapd": "",
    }
    return leap.Server({**settings, **changes})


def first_half(one: leap.Server, password: str = PASSWORD) -> tuple[int, bytes, bytes, bytes]:
    packet, proof = request(1, leap.eap(2, 7, b"\x01user"))
    code, message, _ = checked(one.radius(packet), proof)
    assert (code, message[0], message[4]) == (11, 1, 17)
    challenge = message[8:16]
    response = leap.challenge_response(challenge, leap.nt_hash(password))
    packet, proof = request(2, leap.eap(2, message[1], leap.leap_body(response, b"user")))
    code, message, _ = checked(one.radius(packet), proof)
    return code, message, challenge, response


def test_a_wrong_password_is_rejected() -> None:
    code, message, _, _ = first_half(server(), "wrong")
    assert (code, message[0]) == (3, 4)


def test_wep_keys_reach_the_station() -> None:
    wep = os.urandom(13)
    one = server(wep_key=wep.hex())
    code, message, challenge, response = first_half(one)
    assert (code, message[0]) == (2, 3)
    own = os.urandom(8)
    frames = one.frames(leap.eap(1, message[1], leap.leap_body(own, b"user")))
    assert len(frames) == 3
    given = frames[0][4 + 8 : 4 + 32]
    hashed = leap.nt_hash(PASSWORD)
    assert given == leap.challenge_response(own, leap.md4(hashed))
    session = leap.session_key(hashed, own, given, challenge, response)
    for frame, index in zip(frames[1:], (0x00, 0x80), strict=True):
        assert frame[1] == 3
        assert frame[4 + 27] == index
        blank = frame[: 4 + 28] + b"\0" * 16 + frame[4 + 44 :]
        assert hmac.new(session, blank, "md5").digest() == frame[4 + 28 : 4 + 44]
        assert leap.rc4(frame[4 + 11 : 4 + 27] + session, frame[4 + 44 :]) == wep


def test_wpa_keys_reach_the_access_point() -> None:
    one = server(hostapd="/socket")
    code, message, challenge, response = first_half(one)
    assert (code, message[0]) == (11, 3)  # success, but the exchange goes on
    own = os.urandom(8)
    asked = leap.eap(1, message[1], leap.leap_body(own, b"user"))
    relayed = leap.Server.injected(asked)
    assert relayed[4] == 2
    packet, proof = request(3, relayed[4:])
    code, message, vendor = checked(one.radius(packet), proof)
    assert (code, message[0], message[4]) == (2, 2, 17)
    hashed = leap.nt_hash(PASSWORD)
    session = leap.session_key(hashed, own, message[8:32], challenge, response)
    for kind in (16, 17):
        assert plain_key(vendor[kind], proof) == session + b"\0" * 16


@pytest.mark.parametrize(
    "packet", [b"", b"\x01" * 19, b"\x01\x01\x00\x16" + b"\0" * 16 + b"\x4f\xff"]
)
def test_broken_requests_are_ignored(packet: bytes) -> None:
    assert server().radius(packet) is None
