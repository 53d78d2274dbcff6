"""Mobile IPv4 messages (RFC 5944): layout, authentication, replay."""

from __future__ import annotations

import os
import time

import pytest
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
)
def test_messages_come_back_as_they_went(
    home: str, agent: str, care_of: str, identification: int, lifetime: int, code: int | None
) -> None:
    sent = mip.Registration(
        home, agent, care_of if code is None else "0.0.0.0", identification, lifetime, code
    )
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
