"""Random kills: of every program of a trial, of its guest and of the runner.

Each kill is drawn from a seed. A killed program fails its trial by its name. A killed guest fails
its trial, and the next one runs. A killed runner leaves nothing behind, and ``--resume`` finishes
its run with every trial once. AIRTOLL_KILLS says how many kills of each kind there are.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from airtoll.errors import TestbedError
from airtoll.observe.journal import BROKEN, read
from airtoll.testbeds.guest import uml_kernel
from airtoll.testbeds.linux.air import medium
from airtoll.testbeds.linux.hosts import environment
from airtoll.testbeds.linux.job import Flow, Job
from airtoll.testbeds.linux.testbed import Linux

pytestmark = [
    pytest.mark.guest,
    pytest.mark.slow,
    pytest.mark.skipif(
        uml_kernel.find() is None
        or medium.find() is None
        or any(shutil.which(tool) is None for tool in environment.TOOLS),
        reason="needs the daemons, `make build` and `airtoll guest build --driver uml`",
    ),
]

KILLS = int(os.environ.get("AIRTOLL_KILLS", "50"))
#: Program -> a policy that needs it.
VICTIMS = {
    "hostapd": "wpa2-psk-ccmp",
    "wpa_supplicant": "wpa3-sae-ccmp",
    "airtoll-medium": "open",
    "tcpdump": "open",
    "iperf3": "open",
    "irtt": "wpa2-psk-ccmp",
    "freeradius": "wpa2-eap-tls-ccmp",
    "charon-systemd": "ipsec-aes-gcm",
}
FLOW = Flow(transport="udp", offered_bps=2e5, payload_octets=500, duration_s=1)
#: Virtual time from the beginning of a trial to its end, roughly.
TRIAL_S = 4.0
STUDY = """
[study]
name = "killed"
title = "Killed"
baseline = "open"
[trials]
repetitions = 2
[scenario.one]
phy = "802.11g"
rate_mbps = 54
[traffic.load]
transport = "udp"
offered_mbps = 0.2
payload_bytes = 500
duration_s = 1
[grid]
scenario = ["one"]
policy = ["open", "wpa2-psk-ccmp"]
traffic = ["load"]
"""


@pytest.fixture(scope="module")
def testbed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Linux]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(tmp_path_factory.mktemp("scratch")))
        one = Linux(vm="uml")
        try:
            assert one.carry_out(Job("first", "open", flow=FLOW)).failure is None
            yield one
        finally:
            one.close()


@pytest.mark.parametrize("number", range(KILLS))
def test_a_killed_program_fails_its_trial_by_name(testbed: Linux, number: int) -> None:
    draws = random.Random(f"program {number}")
    victim = sorted(VICTIMS)[number % len(VICTIMS)]
    at_s = round(draws.uniform(0, TRIAL_S), 3)
    job = Job(
        "killed", VICTIMS[victim], flow=FLOW, seed=number, kill=(victim, at_s), capture_traffic=True
    )
    measured = testbed.carry_out(job)
    if any(f"{victim} was killed" in caveat for caveat in measured.caveats):
        assert measured.failure is not None, (victim, at_s)
        assert victim in measured.failure, (at_s, measured.failure)
        assert not measured.rows
    else:
        assert measured.failure is None, (victim, at_s, measured.failure)


@pytest.mark.parametrize("number", range(KILLS))
def test_a_killed_guest_fails_its_trial_and_the_next_one_runs(
    testbed: Linux, number: int, tmp_path: Path
) -> None:
    after_s = random.Random(f"guest {number}").uniform(0.2, 8)
    ended = threading.Event()

    def kill() -> None:
        ended.wait(after_s)
        for process in _machines():
            process.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    killed = False
    try:
        measured = testbed.carry_out(Job("killed", "open", flow=FLOW, seed=number), tmp_path)
    except TestbedError as error:
        assert "guest died" in str(error) or str(error).startswith(BROKEN)  # noqa: PT017
        killed = True
    finally:
        ended.set()
        killer.join()
    if killed:
        assert not list(tmp_path.iterdir())
        assert testbed.carry_out(Job("next", "open", flow=FLOW)).failure is None
    else:
        assert measured.failure is None
    assert not _machines()


@pytest.fixture(scope="module")
def run_s(tmp_path_factory: pytest.TempPathFactory) -> float:
    """How long a run that nothing kills takes here, s."""
    folder = tmp_path_factory.mktemp("whole")
    study = folder / "killed.toml"
    study.write_text(STUDY)
    began = time.monotonic()
    subprocess.run(
        [*_command(study), "--out", str(folder / "run")], capture_output=True, check=True
    )
    return time.monotonic() - began


@pytest.mark.parametrize("number", range(KILLS))
def test_a_killed_runner_leaves_nothing_and_resumes(
    run_s: float, number: int, tmp_path: Path
) -> None:
    draws = random.Random(f"runner {number}")
    how = draws.choice([signal.SIGTERM, signal.SIGKILL])
    study, out, scratch = tmp_path / "killed.toml", tmp_path / "run", tmp_path / "scratch"
    study.write_text(STUDY)
    scratch.mkdir()
    environment = {**os.environ, "TMPDIR": str(scratch)}
    command = [*_command(study), "--out", str(out)]
    first = psutil.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    family: list[psutil.Process] = []
    try:
        first.wait(draws.uniform(1, run_s))
    except psutil.TimeoutExpired:
        family = first.children(recursive=True)
        first.send_signal(how)
    first.wait(60)
    _, left = psutil.wait_procs(family, timeout=30)
    assert not left
    again = [*command, "--resume"] if (out / "run.json").exists() else command
    done = subprocess.run(again, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    records = [record for record in read(out / "journal.jsonl") if record.status == "ok"]
    assert sorted((record.cell, record.trial) for record in records) == sorted(
        {(record.cell, record.trial) for record in records}
    )
    assert len(records) == 4
    assert not list(scratch.iterdir())


def _command(study: Path) -> list[str]:
    command = [sys.executable, "-m", "airtoll", "run", str(study), "--on", "linux", "--vm"]
    return [*command, "--vm-driver", "uml"]


def _machines() -> list[psutil.Process]:
    """The guests' kernels that this process started and that still run."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if process.cmdline()[:1] == ["/kernel/linux"]:
                found.append(process)
        except psutil.Error:
            continue
    return found
