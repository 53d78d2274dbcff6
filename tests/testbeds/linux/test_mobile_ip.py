"""Mobile IPv4 messages (RFC 5944): layout, authentication, replay."""

from __future__ import annotations

import os
import time

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from airtoll.testbeds.linux import mobile_ip as mip

KEY = bytes(range(16))
REQUEST = mip.Registration("10.77.0.11", "10.77.0.1", "10.80.0.2", 0xEB0000000000000A, 600)

addresses = st.ip_addresses(v=4).map(str)


def test_layout_of_a_request() -> None:
    octets = REQUEST.pack(KEY)
    assert octets[:24].hex() == "010002580a4d000b0a4d00010a500002eb0000000000000a"
    assert octets[24:30].hex() == "201400000100"
    assert len(octets) == 46


@given(
    home=addresses,
    agent=addresses,
    care_of=addresses,
    identification=st.integers(0, 2**64 - 1),
    lifetime=st.integers(0, 65535),
    code=st.none() | st.integers(0, 255),
    flags=st.integers(0, 255),
)
def test_messages_come_back_as_they_went(
    home: str, agent: str, care_of: str, identification: int, lifetime: int,
    code: int | None, flags: int,
) -> None:  # fmt: skip
    sent = mip.Registration(
        home, agent, care_of if code is None else "0.0.0.0", identification, lifetime, code,
        flags if code is None else 0,
    )  # fmt: skip
    octets = sent.pack(KEY)
    assert mip.parse(octets) == sent
    assert mip.authentic(octets, KEY)
    assert not mip.authentic(octets, KEY[::-1])


@given(st.integers(0, 45), st.integers(1, 255))
def test_a_changed_octet_is_noticed(place: int, change: int) -> None:
    octets = bytearray(REQUEST.pack(KEY))
    octets[place] ^= change
    assert not mip.authentic(bytes(octets), KEY)


@given(st.binary(max_size=60))
def test_anything_is_survived(octets: bytes) -> None:
    for reader in (mip.parse, mip.parse_advertisement):
        try:
            reader(octets)
        except ValueError:
            continue
    mip.authentic(octets, KEY)


def test_requests_are_judged() -> None:
    now = time.time()

    def code(stamp: float, key: bytes = KEY) -> int | None:
        request = mip.Registration("10.0.0.2", "10.0.0.1", "10.1.0.1", mip.identification(stamp))
        return mip.judge(request.pack(key), KEY, now).code

    assert code(now) == mip.ACCEPTED
    assert code(now - 60) == mip.IDENTIFICATION_MISMATCH
    assert code(now, os.urandom(16)) == mip.FAILED_AUTHENTICATION
    with pytest.raises(ValueError, match="reply"):
        mip.judge(mip.judge(REQUEST.pack(KEY), KEY, now).pack(KEY), KEY, now)


def test_an_advertisement_names_router_and_care_of_address() -> None:
    octets = mip.advertisement("10.79.0.1", "10.80.0.2", 65537)
    assert mip.checksum(octets) == 0
    assert mip.parse_advertisement(octets) == ("10.79.0.1", "10.80.0.2")
    with pytest.raises(ValueError, match="no router advertisement"):
        mip.parse_advertisement(octets[:-1] + b"\xff")


def test_a_home_agent_advertises_no_care_of_address() -> None:
    octets = mip.advertisement("10.77.0.1", None, 1)
    assert mip.parse_advertisement(octets) == ("10.77.0.1", None)
    # H and T (RFC 5944 section 2.1.1, RFC 3024 section 3.1); R and F are a foreign agent's.
    assert octets[22:24] == b"\x21\x00"
    assert mip.advertisement("10.79.0.1", "10.80.0.2", 1)[22:24] == b"\x91\x00"


def test_a_solicitation_is_known_from_other_messages() -> None:
    header = bytes([0x45]) + bytes(19)
    assert mip.solicitation()[:4] == b"\x0a\x00\xf5\xff"
    assert mip._solicited(header + mip.solicitation())
    assert not mip._solicited(header + mip.advertisement("10.77.0.1", None, 1))
    assert not mip._solicited(header + mip.solicitation()[:-1] + b"\1")
    assert not mip._solicited(b"")


def test_routes_of_a_node_away_and_at_home() -> None:
    settings = mip.MobileNode("00", "10.81.0.11", "10.81.0.1", "wlan0", "10.81.0.0/24")
    away = mip._routes(settings, "10.82.0.1")
    assert away[0] == "route flush dev wlan0"
    assert "route replace default via 10.82.0.1 dev wlan0 src 10.81.0.11" in away
    home = mip._routes(evolve(settings, gateway="10.81.0.1"), None)
    assert "route replace 10.81.0.0/24 dev wlan0 src 10.81.0.11" in home
    assert "route replace default via 10.81.0.1 dev wlan0 src 10.81.0.11" in home
    assert len(mip._routes(settings, None)) == 2


def test_reverse_tunnelling_is_done_when_it_was_asked_for() -> None:
    settings = mip.ForeignAgent("10.82.0.1", "10.82.0.1", "lan", local=("10.82.0.0/24",))
    plain = mip.Registration("10.81.0.11", "10.81.0.1", "10.82.0.1", 1)
    assert mip._reverse(settings, plain) == ()
    asked = mip._reverse(settings, mip.parse(evolve(plain, flags=mip.REVERSE).pack(KEY)))
    assert "rule add pref 100 from 10.81.0.11 iif lan lookup 77" in asked
    assert "route replace throw 10.82.0.0/24 table 77" in asked
