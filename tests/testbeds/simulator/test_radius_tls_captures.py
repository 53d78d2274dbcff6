"""RADIUS over TLS in captures: TCP streams of TLS records that tshark and our own reader read."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")

#: Header, content type and tag of a record of application data (RFC 8446 section 5.2).
RECORD = 5 + 1 + 16
WIRES = ("ap-proxy-1", "proxy-1-radius")


@pytest.fixture(params=["up", "on-request"])
def connection(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def radius(connection: str, **more: object) -> dict[str, object]:
    return {"transport": "tls", "connection": connection, "delay_ms": 5, "proxies": 1, **more}


@pytest.fixture
def trial(connection: str, cell: Any, record: Any, tmp_path: Path) -> Any:
    join = {"chain": "p256"}
    return record(cell("wpa2-eap-tls-ccmp", radius=radius(connection), join=join), tmp_path)


def segments(of: Any, *fields: str, wire: str | None = None) -> list[list[str]]:
    """Fields of each TCP segment of RADIUS over TLS, on one wire or all."""
    chosen = "tcp.port == 2083" + (f' && frame.interface_name == "{wire}"' if wire else "")
    return [line.split("\t") for line in of.tshark(chosen, *fields, path=of.wire)]


def test_nothing_is_malformed_lost_repeated_or_out_of_order(trial: Any) -> None:
    assert trial.wrong() == []
    assert len(segments(trial, "frame.number")) > 15
    assert trial.passing("tcp.analysis.flags", path=trial.wire) == []


def test_numbers_continue_in_both_directions(trial: Any, connection: str) -> None:
    for wire in WIRES:
        due: dict[str, int] = {}
        acknowledged: dict[str, int] = {}
        for sender, receiver, start, length, ack, flags in segments(
            trial,
            "ip.src",
            "ip.dst",
            "tcp.seq_raw",
            "tcp.len",
            "tcp.ack_raw",
            "tcp.flags",
            wire=wire,
        ):
            syn = int(flags, 16) >> 1 & 1
            if sender in due:
                assert int(start) == due[sender]
            else:
                assert syn == (connection == "on-request")
            due[sender] = int(start) + int(length) + syn
            if receiver in due:
                # An acknowledgement covers what was sent, and never goes back.
                assert acknowledged.get(sender, 0) <= int(ack) <= due[receiver]
                acknowledged[sender] = int(ack)
        assert len(due) == 2


def test_the_ends_open_a_connection_by_tls_1_3_with_certificates(
    trial: Any, connection: str
) -> None:
    for wire in WIRES:
        chosen = f'tls.handshake && frame.interface_name == "{wire}"'
        hellos = trial.tshark(chosen, "tls.handshake.type", path=trial.wire)
        # ClientHello and ServerHello; TLS 1.3 encrypts what follows (RFC 8446 section 2).
        assert hellos == ([] if connection == "up" else ["1", "2"])
    versions = trial.tshark(
        "tls.handshake.type == 2",
        "tls.handshake.extensions.supported_version",
        path=trial.wire,
    )
    assert set(versions) <= {"0x0304"}


def test_each_radius_packet_is_a_record_of_its_length(
    trial: Any, connection: str, cell: Any, record: Any, tmp_path_factory: Any
) -> None:
    over_udp = record(
        cell(
            "wpa2-eap-tls-ccmp",
            radius={"delay_ms": 5, "proxies": 1},
            join={"chain": "p256"},
        ),
        tmp_path_factory.mktemp("udp"),
    )
    for wire in WIRES:
        # The server's ticket (RFC 8446 section 4.6.1) follows the client's first request.
        for port, udp in (("dstport", "radius.code == 1"), ("srcport", "radius.code != 1")):
            of_wire = f'frame.interface_name == "{wire}"'
            packets = over_udp.tshark(f"{udp} && {of_wire}", "radius.length", path=over_udp.wire)
            chosen = f"tls.record && tcp.{port} == 2083 && {of_wire}"
            lines = trial.tshark(chosen, "tls.record.length", path=trial.wire)
            found = [int(length) + 5 for line in lines for length in line.split(",")]
            # A handshake comes before.
            assert (len(found) > len(packets)) == (connection == "on-request")
            assert [octets - RECORD for octets in found[-len(packets) :]] == pytest.approx(
                [int(octets) for octets in packets], abs=2
            )


def test_a_repeated_segment_has_the_octets_of_the_first(
    cell: Any, record: Any, tmp_path: Path
) -> None:
    planned = cell(
        "wpa2-eap-tls-ccmp",
        radius=radius("on-request", loss_ratio=0.05),
        join={"chain": "ml-dsa-44", "tls": "1.3"},
    )
    lossy = record(planned, tmp_path)
    assert lossy.wrong() == []
    seen: dict[tuple[str, str, str, int], str] = {}
    repeated = 0
    for wire, sender, receiver, start, payload in segments(
        lossy, "frame.interface_name", "ip.src", "ip.dst", "tcp.seq_raw", "tcp.payload"
    ):
        for place, octet in enumerate(bytes.fromhex(payload)):
            key = (wire, sender, receiver, int(start) + place)
            repeated += key in seen
            assert seen.setdefault(key, octet) == octet
    assert lossy.passing("tcp.analysis.retransmission", path=lossy.wire)
    assert len(seen) > 10_000


def test_our_own_reader_reads_the_join_beside_the_streams(trial: Any) -> None:
    found = trial.report()
    assert found["refused"] == {}
    assert found["undecrypted"] == {}
    assert found["eap_frames"] > 5
