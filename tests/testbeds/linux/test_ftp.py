"""FTP of the real stack: transfers over loopback, and other clients."""

from __future__ import annotations

import ftplib
import io
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import evolve

from airtoll.testbeds.linux.hosts.tcp_options import TcpOptions
from airtoll.testbeds.linux.on_hosts import ftp
from airtoll.testbeds.linux.on_hosts.ftp import Client, Received, Sent, Transfer
from airtoll.testbeds.linux.traffic import ftp as driven


@pytest.fixture
def server() -> Iterator[ftp.Server]:
    found = ftp.Server(0, TcpOptions(window_octets=65_536))
    threading.Thread(target=found.serve, daemon=True).start()
    yield found
    found.control.close()


def client(server: ftp.Server, *, upload: bool, octets: int | None) -> Client:
    port = server.control.getsockname()[1]
    return Client("127.0.0.1", port, "127.0.0.1", upload, octets, duration_s=0.4, warm_up_s=0.1)


@pytest.mark.parametrize("upload", [True, False])
@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_a_file_arrives_whole(server: ftp.Server, upload: bool, address: str) -> None:
    settings = client(server, upload=upload, octets=3_000_001)
    found = ftp.transfer(
        evolve(settings, server=address, source=None, duration_s=20.0, warm_up_s=0.0)
    )
    assert found.whole
    assert found.received.octets == found.received.window_octets == 3_000_001
    rows = {row.metric: row.value for row in driven.values(found, "A", "A", series=False)}
    assert 0 < rows["transfer_delay_s"] < 20
    assert rows["throughput_bps"] == pytest.approx(8 * 3_000_001 / rows["transfer_delay_s"])


@pytest.mark.parametrize("upload", [True, False])
def test_a_transfer_without_end_lasts_its_time(server: ftp.Server, upload: bool) -> None:
    found = ftp.transfer(client(server, upload=upload, octets=None))
    assert not found.whole
    assert found.span_s == pytest.approx(0.3)
    assert 0 < found.received.window_octets < found.received.octets
    assert found.received.last_s - found.sent.began_s == pytest.approx(0.4, abs=0.1)
    rows = {row.metric: row.value for row in driven.values(found, "A", "A", series=False)}
    assert rows.keys() == {"throughput_bps", "tcp_retransmissions"}
    assert rows["throughput_bps"] == found.received.window_octets * 8 / found.span_s


def test_a_file_that_takes_too_long_has_no_transfer_delay(server: ftp.Server) -> None:
    found = ftp.transfer(client(server, upload=True, octets=10**13))
    assert not found.whole


def test_values_of_a_transfer_by_hand() -> None:
    received = Received(12.0, 1000, 600, (500, 100))
    found = Transfer(Sent(10.0, 3), received, True, 5.0, 4.0)
    rows = [(r.metric, r.value, r.second) for r in driven.values(found, "A:up", "A", series=True)]
    assert rows == [
        ("throughput_bps", 2400.0, None),
        ("transfer_delay_s", 2.0, None),
        ("tcp_retransmissions", 3.0, None),
        ("throughput_bps", 4000.0, 0),
        ("throughput_bps", 800.0, 1),
    ]


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_pythons_client_uploads_and_downloads(server: ftp.Server, address: str) -> None:
    with ftplib.FTP() as session:
        session.connect(address, server.control.getsockname()[1], timeout=10)
        session.login()
        assert session.size("70000") == 70_000
        got: list[bytes] = []
        session.retrbinary("RETR 70000", got.append)
        assert sum(map(len, got)) == 70_000
        told = session.storbinary("STOR file", io.BytesIO(b"y" * 12_345))
        assert '"octets": 12345' in told
        with pytest.raises(ftplib.error_perm, match="its length"):
            session.retrbinary("RETR secrets", got.append)
        with pytest.raises(ftplib.error_perm, match="not implemented"):
            session.mkd("folder")


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_curl_downloads(server: ftp.Server, tmp_path: Path) -> None:
    url = f"ftp://127.0.0.1:{server.control.getsockname()[1]}/5000"
    subprocess.run(["curl", "-sS", "-o", tmp_path / "file", url], check=True, timeout=20)
    assert (tmp_path / "file").stat().st_size == 5000


def test_a_server_of_another_protocol_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]

        def answer() -> None:
            link, _ = other.accept()
            with link:
                link.sendall(b"SSH-2.0-airtoll\r\n")

        threading.Thread(target=answer, daemon=True).start()
        with pytest.raises(ftp.FtpError, match=r"SSH-2\.0"):
            ftp.transfer(Client("127.0.0.1", port, None, True, 10, duration_s=0.2))
