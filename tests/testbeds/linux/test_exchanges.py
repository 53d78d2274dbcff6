"""Requests and responses over TCP: lengths on the wire, measured clients, and other programs."""

from __future__ import annotations

import contextlib
import http.client
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator

import pytest
from attrs import evolve

from airtoll.testbeds.linux.hosts.tcp_options import TcpOptions
from airtoll.testbeds.linux.on_hosts import exchanges
from airtoll.testbeds.linux.on_hosts.exchanges import Client, Exchanges
from airtoll.testbeds.linux.traffic import exchanges as driven


@pytest.fixture
def server() -> Iterator[exchanges.Server]:
    found = exchanges.Server((0, 0))
    threading.Thread(target=found.serve, daemon=True).start()
    yield found
    found.http.close()
    found.plain.close()


def client(server: exchanges.Server, protocol: str = "http") -> Client:
    source = server.http if protocol == "http" else server.plain
    return Client(
        server="127.0.0.1",
        port=source.getsockname()[1],
        source="127.0.0.1",
        protocol=protocol,
        request_octets=300,
        response_octets=10_000,
        duration_s=0.3,
        warm_up_s=0.1,
    )


@pytest.mark.parametrize("octets", [*range(29, 60), 300, 4030, 4031, 4032, 20_000, 1_000_049])
def test_messages_have_the_stated_lengths(octets: int) -> None:
    assert len(exchanges.http_request(octets, 64)) == octets
    if octets > 38:
        assert len(exchanges.http_response(octets)) == octets


def test_a_message_shorter_than_its_head_is_refused() -> None:
    assert exchanges.too_short(29, 64) is None
    assert exchanges.too_short(5, 64) == "request_bytes: a request takes at least 29 octets"
    assert "response_bytes: a message with a body takes at least" in str(exchanges.too_short(64, 5))


@pytest.mark.parametrize("protocol", ["http", "plain"])
@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_exchanges_are_counted_after_the_warm_up(
    server: exchanges.Server, protocol: str, address: str
) -> None:
    found = exchanges.ask(
        evolve(client(server, protocol), server=address, source=None, options=TcpOptions(65536))
    )
    assert found.span_s == pytest.approx(0.2)
    assert len(found.response_s) > 10
    assert all(0 < each < 0.2 for each in found.response_s)
    # Every counted exchange has both messages; two at most are cut off at the edges.
    whole = len(found.response_s) * 10_300
    assert whole - 10_300 <= found.octets <= whole + 2 * 10_300


def test_a_server_that_closes_is_an_error(server: exchanges.Server) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        threading.Thread(target=lambda: other.accept()[0].close(), daemon=True).start()
        settings = evolve(client(server), port=other.getsockname()[1])
        with pytest.raises((exchanges.ExchangeError, OSError), match=r"closed|reset|[Bb]roken"):
            exchanges.ask(settings)


def test_pythons_client_reads_the_responses(server: exchanges.Server) -> None:
    link = http.client.HTTPConnection("127.0.0.1", server.http.getsockname()[1], timeout=10)
    for octets in (50, 1000):
        link.request("GET", f"/{octets}")
        answer = link.getresponse()
        assert answer.status == 200
        head = len(exchanges.http_response(octets).split(b"\r\n\r\n")[0]) + 4
        assert len(answer.read()) == octets - head
    link.close()


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_curl_reads_the_responses(server: exchanges.Server) -> None:
    url = f"http://127.0.0.1:{server.http.getsockname()[1]}/10000"
    told = subprocess.run(
        [
            *("curl", "-sS", "-w", "%{http_code} %{size_header} %{size_download}\n"),
            *("-o", "/dev/null", "-o", "/dev/null", url, url, "--data-binary", "x" * 9000),
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=20,
    ).stdout
    for line in told.splitlines():
        code, head, body = (int(word) for word in line.split())
        assert (code, head + body) == (200, 10_000)
    assert len(told.splitlines()) == 2


@pytest.mark.parametrize("octets", [b"GET / FTP\r\n\r\n", b"nonsense\r\n\r\n", b"x" * 70_000])
def test_nonsense_ends_the_connection_and_not_the_server(
    server: exchanges.Server, octets: bytes
) -> None:
    with socket.create_connection(("127.0.0.1", server.http.getsockname()[1]), 10) as link:
        link.sendall(octets)
        link.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionResetError):
            assert link.recv(100) == b""
    assert exchanges.ask(client(server)).response_s


def test_values_are_of_both_directions() -> None:
    times = tuple(number / 100 for number in range(1, 101))
    found = {v.metric: v.value for v in driven.values(Exchanges(times, 5000, 2.0), "A", "A")}
    assert found == {
        "throughput_bps": 20_000.0,
        "response_time_s": pytest.approx(0.505),
        "response_p50_s": 0.5,
        "response_p95_s": 0.95,
        "response_p99_s": 0.99,
    }
    every = driven.distribution(Exchanges((0.01,), 1, 1.0), "A", "A")
    assert every.nanoseconds == (10_000_000,)
