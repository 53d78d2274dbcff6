"""A laboratory over real sshd: its hosts are namespaces of this machine, with cables for radios.

The runner is the command line in a namespace of its own. Everything of a trial goes through SSH.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from airtoll.observe.metrics import NOT_RADIO
from airtoll.run.api import open_run
from airtoll.testbeds.linux.trial.carrying import CABLED

from .machines import Machines, machines

STUDY = """
[study]
name = "cables"
title = "Cables"
baseline = "open"
[trials]
repetitions = {trials}
[scenario.one]
phy = "802.11g"
rate_mbps = 54.0
{traffic}
[grid]
scenario = ["one"]
policy = ["open", "wpa2-psk-ccmp"]
"""
LOADS = {
    "stream": 'transport = "udp"\noffered_mbps = 1.0\npayload_bytes = 500\nduration_s = 1.0',
    "asks": 'application = "request-response"\ntransport = "tcp"\nduration_s = 0.4',
    "names": 'application = "dns"\ntransport = "udp"\nduration_s = 0.4',
    "secure-names": 'application = "dns"\ntransport = "tcp"\nduration_s = 0.4',
    "web": 'application = "http"\ntransport = "tcp"\nrequest_bytes = 300\n'
    "response_bytes = 20000\nduration_s = 0.4",
    "file": 'application = "ftp"\ntransport = "tcp"\ntransfer_bytes = 300000\nduration_s = 5.0',
}

METRICS = {
    "stream": "throughput_bps",
    "asks": "response_time_s",
    "names": "response_time_s",
    "secure-names": "response_time_s",
    "web": "response_time_s",
    "file": "transfer_delay_s",
}


def study(folder: Path, *loads: str, trials: int = 1) -> Path:
    names = loads or tuple(LOADS)
    traffic = "\n".join(f"[traffic.{name}]\n{LOADS[name]}" for name in names)
    path = folder / "cables.toml"
    path.write_text(STUDY.format(trials=trials, traffic=traffic))
    return path


def airtoll(of: Machines, *arguments: str) -> list[str]:
    """A command line of airtoll in the runner's namespace."""
    return ["ip", "netns", "exec", of.runner, sys.executable, "-m", "airtoll.cli", *arguments]


def carried_out(of: Machines, *arguments: str, status: int = 0) -> str:
    done = subprocess.run(
        airtoll(of, *arguments), capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    with machines(tmp_path_factory.mktemp("machines"), "desk", "laptop") as made:
        yield made


@pytest.mark.parametrize(
    "loads", [("asks", "names"), pytest.param(tuple(LOADS), marks=pytest.mark.slow)]
)
def test_traffic_runs_over_ssh(bench: Machines, tmp_path: Path, loads: tuple[str, ...]) -> None:
    lab = str(bench.lab_file("desk", ["laptop"]))
    file = study(tmp_path, *loads)
    out = tmp_path / "run"
    carried_out(bench, "run", str(file), "--on", "linux", "--lab", lab, "--out", str(out))
    result = open_run(out)
    trials = result.trials()
    assert trials.filter(status="ok").height == len(loads)
    rows = result.observations().filter(station="A")
    found = {(row["cell"].split("/")[-1], row["metric"]) for row in rows.to_dicts()}
    assert {(load, METRICS[load]) for load in loads} <= found
    # A throughput of a cable is none of a radio's.
    assert result.trials().filter(cell="one/open/asks")["caveats"][0][0] == f"{NOT_RADIO}{CABLED}"


def test_hosts_are_asked_over_ssh(bench: Machines, tmp_path: Path) -> None:
    lab = str(bench.lab_file("desk", ["laptop"]))
    file = study(tmp_path, "asks", "names")
    said = carried_out(bench, "check", str(file), "--on", "linux", "--lab", lab)
    assert 'skipped: 2 cells: wpa2-psk-ccmp: link = "cable"' in said
    assert "not asked" not in said
    said = carried_out(bench, "doctor", "--lab", lab, "--json")
    found = {(one["name"], one["state"]) for one in json.loads(said)}
    assert {("laptop: tools", "ok"), ("desk: tools", "ok")} <= found
    assert not {name for name, _ in found if "radio" in name or "python" in name}
