"""DNS of the real stack: messages, and lookups over loopback."""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from airtoll.testbeds.linux.daemons.credentials import Chain, Credentials, fresh
from airtoll.testbeds.linux.on_hosts import dns
from airtoll.testbeds.linux.traffic import dns as driven


@pytest.fixture(scope="module")
def chain(new_credentials: Credentials) -> Chain:
    return new_credentials.dns


@pytest.fixture
def resolver(chain: Chain, tmp_path: Path) -> Iterator[dns.Resolver]:
    certificate = tmp_path / "server.pem"
    certificate.write_text(chain.server + chain.server_key)
    found = dns.Resolver(str(certificate), (0, 0))
    threading.Thread(target=found.serve, daemon=True).start()
    return found


def settings(resolver: dns.Resolver, authority: Path | None, server: str) -> dns.Client:
    source = resolver.udp if authority is None else resolver.tcp
    return dns.Client(
        server=server,
        port=source.getsockname()[1],
        authority=None if authority is None else str(authority),
        duration_s=0.2,
    )


def test_messages_have_the_lengths_that_the_simulator_takes() -> None:
    # Header 12, name 17, type and class 4, option record 11; the A record has 16.
    assert len(dns.query(7)) == 44
    assert len(dns.answer(dns.query(7))) == 60
    assert dns.query(7)[:12].hex() == "000701000001000000000001"
    assert dns.is_answer(dns.answer(dns.query(7)), 7)
    assert not dns.is_answer(dns.answer(dns.query(7)), 8)
    assert not dns.is_answer(dns.query(7), 7)


@pytest.mark.parametrize("cut", [0, 11, 12, 20, 32])
def test_a_query_that_is_cut_short_is_refused(cut: int) -> None:
    with pytest.raises(ValueError, match=r"octets|cut short"):
        dns.answer(dns.query(7)[:cut])


def test_an_answer_is_no_query() -> None:
    with pytest.raises(ValueError, match="not a query"):
        dns.answer(dns.answer(dns.query(7)))


@pytest.mark.parametrize("server", ["127.0.0.1", "::1"])
def test_lookups_over_udp(resolver: dns.Resolver, server: str) -> None:
    found = dns.look_up(settings(resolver, None, server))
    assert found.unanswered == 0
    assert found.response_s


def test_lookups_over_tls(resolver: dns.Resolver, chain: Chain, tmp_path: Path) -> None:
    authority = tmp_path / "authority.pem"
    authority.write_text(chain.authority)
    found = dns.look_up(settings(resolver, authority, "127.0.0.1"))
    assert found.unanswered == 0
    assert found.response_s


def test_another_authority_is_refused(resolver: dns.Resolver, tmp_path: Path) -> None:
    authority = tmp_path / "authority.pem"
    authority.write_text(fresh().dns.authority)
    with pytest.raises(OSError, match="certificate verify failed"):
        dns.look_up(settings(resolver, authority, "127.0.0.1"))


def test_quantiles_are_of_the_lookups() -> None:
    times = tuple(number / 100 for number in range(1, 101))
    found = {v.metric: v.value for v in driven.values(dns.Lookups(times, 0), "A")}
    assert found == {
        "response_time_s": pytest.approx(0.505),
        "response_p50_s": 0.5,
        "response_p95_s": 0.95,
        "response_p99_s": 0.99,
    }
    every = driven.distribution(dns.Lookups(times, 0), "A")
    assert every.nanoseconds == tuple(10_000_000 * number for number in range(1, 101))


def test_the_length_before_a_message_is_its_own() -> None:
    whole = struct.pack(">H", len(dns.query(1))) + dns.query(1)

    def in_pieces(octets: bytes) -> Callable[[int], bytes]:
        pieces = iter([octets[at : at + 5] for at in range(0, len(octets), 5)])
        return lambda _most: next(pieces, b"")

    assert dns.framed(in_pieces(whole)) == dns.query(1)
    assert dns.framed(in_pieces(whole[:-1])) is None
