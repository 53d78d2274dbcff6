"""Imports against the summaries of the tools themselves, on runs made in the test (loopback)."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from airtoll.analyse.audit import audit_run
from airtoll.cli.app import app
from airtoll.observe.imports.files import Place, import_files, trials_of

IPERF3, IRTT = shutil.which("iperf3"), shutil.which("irtt")
FLENT = importlib.util.find_spec("flent") is not None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(ready) -> None:
    """Wait until a server answers."""
    end = time.monotonic() + 10
    while not ready():
        assert time.monotonic() < end, "the server does not answer"
        time.sleep(0.02)


@contextlib.contextmanager
def server(command: list[str], listening) -> Iterator[None]:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(listening)
        yield
    finally:
        process.terminate()
        process.wait(10)


def iperf3(path: Path, *options: str) -> dict:
    """One iperf3 test over loopback, its JSON in a file and parsed."""
    port = free_port()

    def listening() -> bool:
        hexport = f":{port:04X} "
        return any(
            hexport in line and line.split()[3] == "0A"
            for name in ("tcp", "tcp6")
            for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]
        )

    with server([str(IPERF3), "-s", "-p", str(port)], listening):
        command = [str(IPERF3), "-c", "127.0.0.1", "-p", str(port), "-t", "1", "--json", *options]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    path.write_text(text)
    return json.loads(text)


def whole(frame: pl.DataFrame, metric: str, flow: str | None = None) -> float:
    rows = frame.filter(
        (pl.col("metric") == metric)
        & pl.col("second").is_null()
        & pl.col("flow").eq_missing(pl.lit(flow))
    )
    assert rows.height == 1, (metric, flow)
    return float(rows["value"][0])


needs_iperf3 = pytest.mark.skipif(IPERF3 is None, reason="iperf3 is not installed: apt-get install")
needs_irtt = pytest.mark.skipif(IRTT is None, reason="irtt is not installed: apt-get install it")


@needs_iperf3
def test_a_healthy_udp_run_is_imported_and_audited_without_a_finding(tmp_path):
    # One datagram of 32 KiB per tick: iperf3 sends 2 to 6 % more than -b asks for in a second.
    data = iperf3(tmp_path / "u.json", "-u", "-b", "3M", "-l", "32768")
    end = data["end"]
    assert end["sum_sent"]["bits_per_second"] > 3e6 * 1.01
    frame = import_files([tmp_path / "u.json"], "iperf3", Place())
    assert whole(frame, "offered_bps") == end["sum_sent"]["bits_per_second"]
    assert whole(frame, "throughput_bps") == end["sum_received"]["bits_per_second"]
    assert whole(frame, "packets_lost") == end["sum_received"]["lost_packets"]
    assert whole(frame, "jitter_s") == pytest.approx(end["sum_received"]["jitter_ms"] / 1e3)
    assert audit_run("u", frame, trials_of(frame)) == []


@needs_iperf3
@pytest.mark.parametrize("udp", [(), ("-u",)])
def test_both_directions_of_bidir_are_kept(tmp_path, udp):
    end = iperf3(tmp_path / "b.json", "--bidir", "-b", "8M", "-l", "16384", *udp)["end"]
    frame = import_files([tmp_path / "b.json"], "iperf3", Place())
    forward = end["sum_received"]["bits_per_second"]
    reverse = end["sum_received_bidir_reverse"]["bits_per_second"]
    assert whole(frame, "throughput_bps", "forward") == forward
    assert whole(frame, "throughput_bps", "reverse") == reverse
    assert whole(frame, "throughput_bps") == pytest.approx(forward + reverse)
    if udp:
        offered = end["sum_sent_bidir_reverse"]["bits_per_second"]
        assert whole(frame, "offered_bps", "reverse") == offered
        assert whole(frame, "loss_ratio") == 0
    assert audit_run("b", frame, trials_of(frame)) == []


@needs_iperf3
def test_several_files_and_several_results_in_one_file_are_trials(tmp_path):
    for number in (1, 2):
        iperf3(tmp_path / f"{number}.json", "-b", "5M")
    one, two = (tmp_path / f"{n}.json" for n in (1, 2))
    both = import_files([one, two], "iperf3", Place())
    log = tmp_path / "log.json"
    log.write_text(one.read_text() + two.read_text())
    logged = import_files([log], "iperf3", Place())
    assert logged.equals(both)
    assert sorted(both["trial"].unique()) == [1, 2]
    called = CliRunner().invoke(
        app,
        [
            "import",
            "--format",
            "iperf3",
            "--out",
            str(tmp_path / "o"),
            "--json",
            str(one),
            str(two),
        ],
    )
    assert called.exit_code == 0, called.output
    estimates = json.loads(called.stdout)["estimates"]
    assert {e["n"] for e in estimates if e["metric"] == "throughput_bps"} == {2}


@needs_irtt
def test_irtt_agrees_with_its_own_summary(tmp_path):
    port = free_port()

    def listening() -> bool:
        return f":{port:04X} " in Path("/proc/net/udp").read_text()

    file = tmp_path / "irtt.json"
    with server([str(IRTT), "server", "-b", f"127.0.0.1:{port}"], listening):
        command = [str(IRTT), "client", "-d", "1s", "-i", "20ms", "-o", str(file)]
        printed = subprocess.run(
            [*command, f"127.0.0.1:{port}"], capture_output=True, text=True, check=True
        ).stdout
    frame = import_files([file], "irtt", Place())
    rtt = re.search(r"RTT\s+\S+\s+(\S+?)(ms|µs|us)", printed)
    assert rtt, printed
    shown = float(rtt[1]) * (1e-3 if rtt[2] == "ms" else 1e-6)
    assert whole(frame, "response_time_s") == pytest.approx(shown, rel=0.01)
    sent, received = re.search(r"packets sent/received: (\d+)/(\d+)", printed).groups()
    assert whole(frame, "packets_sent") == int(sent)
    assert whole(frame, "packets_received") == int(received)
    assert whole(frame, "loss_ratio") == pytest.approx(1 - int(received) / int(sent), abs=1e-4)


@pytest.mark.skipif(not FLENT, reason="flent is not installed: pip install flent")
@needs_irtt
@pytest.mark.skipif(shutil.which("ping") is None, reason="ping is not installed: apt-get install")
def test_flent_agrees_with_its_own_summary(tmp_path):
    def listening() -> bool:
        return ":0840 " in Path("/proc/net/udp").read_text()  # flent asks irtt's port, 2112

    if listening():
        pytest.skip("port 2112 is taken: flent cannot be told another one")
    with server([str(IRTT), "server", "-b", "127.0.0.1:2112"], listening):
        command = ["-m", "flent", "ping", "-H", "127.0.0.1", "-l", "3", "-D", str(tmp_path)]
        out = tmp_path / "summary.txt"
        subprocess.run(
            [sys.executable, *command, "-f", "summary", "-o", str(out)],
            check=True,
            capture_output=True,
            env={**os.environ, "LC_ALL": "C"},
        )
    frame = import_files(list(tmp_path.glob("*.flent.gz")), "flent", Place())
    for name in ("Ping (ms) ICMP", "Ping (ms) UDP"):
        average = re.search(re.escape(name) + r"\s*:\s*(\S+)", out.read_text())
        assert average, out.read_text()
        # flent prints two decimals of a mean over its own interpolated grid.
        assert whole(frame, "response_time_s", name) == pytest.approx(
            float(average[1]) / 1e3, abs=2e-5
        )


def test_csv_agrees_with_a_summary_made_elsewhere(tmp_path):
    values = [24.1, 25.3, 24.7, 24.9, 25.0, 24.4]
    file = tmp_path / "mine.csv"
    lines = [f"open,{n},throughput,{v},Mbps" for n, v in enumerate(values, 1)]
    file.write_text("policy,trial,metric,value,unit\n" + "\n".join(lines) + "\n")
    awk = subprocess.run(
        ["awk", "-F,", "NR>1{s+=$4;q+=$4*$4;n++}END{print s/n, sqrt((q-s*s/n)/(n-1))}", str(file)],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    called = CliRunner().invoke(
        app, ["import", "--format", "csv", "--out", str(tmp_path / "o"), "--json", str(file)]
    )
    row = json.loads(called.stdout)["estimates"][0]
    assert row["value"] / 1e6 == pytest.approx(float(awk[0]), rel=1e-4)
    assert row["deviation"] / 1e6 == pytest.approx(float(awk[1]), rel=1e-3)
