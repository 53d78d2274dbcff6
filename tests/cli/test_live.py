"""``airtoll run --live`` as a process: one line with the address, the report at the end, Ctrl-C."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

SHORT = ("--set", "traffic.udp.duration_s=0.05", "--set", "traffic.tcp.duration_s=0.05")


@contextmanager
def live_run(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A running ``airtoll run quickstart --live`` and the address that it prints."""
    command = [sys.executable, "-m", "airtoll.cli", "run", "quickstart", *SHORT, "--live"]
    with subprocess.Popen(
        [*command, *options], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as started:
        try:
            assert started.stderr is not None
            line = started.stderr.readline()
            found = re.fullmatch(r"live: (http://127\.0\.0\.1:\d+/[\w-]{32}/)\n", line)
            assert found, line
            yield started, found[1]
        finally:
            if started.poll() is None:
                started.kill()


def fetch(url: str) -> str:
    time.sleep(0.05)
    with urllib.request.urlopen(url, timeout=20) as answer:
        return answer.read().decode()


def test_an_open_page_is_given_the_report_and_the_process_ends(airtoll, tmp_path):
    with live_run(tmp_path, "--out", "watched", "--trials", "4", "--jobs", "2") as (started, url):
        state = json.loads(fetch(url + "state"))
        while not state["ended"]:
            state = json.loads(fetch(url + "state"))
        page = fetch(url)
        assert started.wait(60) == 0
    assert page == (tmp_path / "watched" / "report.html").read_text()
    options = ("--out", "alone", "--trials", "4", "--no-report")
    assert airtoll("run", "quickstart", *SHORT, *options, cwd=tmp_path).returncode == 0
    for table in ("observations.parquet", "trials.parquet"):
        assert pl.read_parquet(tmp_path / "watched" / table).equals(
            pl.read_parquet(tmp_path / "alone" / table)
        )


def test_ctrl_c_ends_run_and_page_and_the_run_is_resumed_with_one(tmp_path):
    with live_run(tmp_path, "--out", "run", "--trials", "400", "--jobs", "2") as (started, url):
        while json.loads(fetch(url + "state"))["done"] < 20:
            pass
        started.send_signal(signal.SIGINT)
        assert started.wait(60) == 130
        assert started.stderr is not None
        assert "--resume" in started.stderr.read()
    with pytest.raises(OSError, match="refused"):
        fetch(url + "state")
    with live_run(tmp_path, "--out", "run", "--resume", "--jobs", "2") as (started, url):
        state = json.loads(fetch(url + "state"))
        while not state["planned"]:
            state = json.loads(fetch(url + "state"))
        assert state["done"] >= 20
        started.send_signal(signal.SIGINT)
        assert started.wait(60) == 130


def test_the_report_stays_until_ctrl_c_with_live_wait(tmp_path):
    options = ("--out", "run", "--trials", "2", "--live-wait", "--no-report")
    with live_run(tmp_path, *options) as (started, url):
        while not json.loads(fetch(url + "state"))["ended"]:
            pass
        assert "<svg" in fetch(url)
        assert 'id="making"' not in fetch(url)
        assert started.stderr is not None
        while "until Ctrl-C" not in started.stderr.readline():
            pass
        started.send_signal(signal.SIGINT)
        assert started.wait(60) == 0


def test_options_of_the_page_without_the_page_are_refused(airtoll, tmp_path):
    for option in (("--live-wait",), ("--live-port", "8000")):
        done = airtoll("run", "quickstart", *option, cwd=tmp_path)
        assert done.returncode == 2
        assert "go with --live" in done.stderr
