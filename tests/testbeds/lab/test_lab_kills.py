"""A campaign in a laboratory that something breaks: nothing measured is lost, and it goes on.

The runner is killed, a host loses its power, the network is cut, disks fill. The hosts are those of
``machines``, over real sshd.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from airtoll.observe.journal import BROKEN, Record, read

from .machines import Machines, end, machines
from .test_namespaces import airtoll, study

#: Each carries out a campaign or two over SSH.
pytestmark = pytest.mark.slow

LOADS = ("asks", "names")
TRIALS = 3


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Machines]:
    with machines(tmp_path, "desk", "laptop") as made:
        yield made


class Run:
    """A run that a test disturbs."""

    def __init__(self, of: Machines, folder: Path, patience_s: float = 60) -> None:
        self.machines, self.out = of, folder / "run"
        lab = of.lab_file("desk", ["laptop"], f"patience_s = {patience_s}")
        self.lab = folder / "lab" / "bench.toml"
        self.lab.parent.mkdir(exist_ok=True)
        self.lab.write_text(lab.read_text())
        file = study(folder, *LOADS, trials=TRIALS)
        self._command = airtoll(of, "run", str(file), "--on", "linux", "--lab", str(self.lab))
        self._command += ["--out", str(self.out)]

    def start(self, *more: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self._command, *more],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def ok(self) -> list[Record]:
        journal = self.out / "journal.jsonl"
        return [r for r in read(journal) if r.status == "ok"] if journal.exists() else []

    def after(self, count: int, disturb: Callable[[], None]) -> tuple[int, str]:
        """Run, and disturb it once so many trials are kept; gives exit status and output."""
        process = self.start()
        try:
            give_up = time.monotonic() + 120
            while len(self.ok()) < count:
                assert process.poll() is None, process.communicate()[0]
                assert time.monotonic() < give_up
                time.sleep(0.05)
            disturb()
            said, _ = process.communicate(timeout=240)
        finally:
            end(process)
        return process.returncode, said

    def resumed(self) -> None:
        process = self.start("--resume")
        said, _ = process.communicate(timeout=240)
        assert process.returncode == 0, said

    def check_whole(self) -> None:
        """Every trial is there once, and no host has anything left of the run."""
        found = sorted((record.cell, record.trial) for record in self.ok())
        assert len(found) == len(LOADS) * TRIALS
        assert found == sorted(set(found))
        for machine in self.machines.of.values():
            assert self.on(machine.name, "ls -A /run/airtoll 2>/dev/null; true") == ""
            assert self.on(machine.name, "pgrep -f '[a]irtoll.testbeds'; true") == ""

    def on(self, name: str, line: str) -> str:
        """The output of a shell's line on a machine."""
        folder, machine = self.machines.folder, self.machines.of[name]
        done = subprocess.run(
            [
                *("ip", "netns", "exec", self.machines.runner),
                *("ssh", "-i", f"{folder}/user", "-o", f"UserKnownHostsFile={folder}/known"),
                *(f"root@{machine.control}", line),
            ],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        return done.stdout.strip()


@pytest.mark.parametrize("name", ["laptop", "desk"])
def test_a_host_that_loses_its_power_comes_back(bench: Machines, tmp_path: Path, name: str) -> None:
    run = Run(bench, tmp_path)

    def reboot() -> None:
        bench.of[name].cut_power()
        time.sleep(2)
        bench.of[name].switch_on()

    status, said = run.after(1, reboot)
    assert status == 0, said
    run.check_whole()
    events = [json.loads(line) for line in (tmp_path / "lab" / "bench.log.jsonl").open()]
    assert [event["event"] for event in events].count("trouble") >= 1
    (report,) = (tmp_path / "lab").glob("bench.report-*.txt")
    assert f"trials: {len(LOADS) * TRIALS} measured" in report.read_text()


@pytest.mark.parametrize("count", [1, 3])
def test_a_killed_runner_goes_on_where_it_was(bench: Machines, tmp_path: Path, count: int) -> None:
    run = Run(bench, tmp_path)
    process = run.start()
    while len(run.ok()) < count:
        assert process.poll() is None
        time.sleep(0.05)
    end(process)
    kept = [(record.cell, record.trial, record.rows) for record in run.ok()]
    run.resumed()
    run.check_whole()
    assert [(r.cell, r.trial, r.rows) for r in run.ok()][: len(kept)] == kept


def test_a_killed_sshd_loses_nothing_and_leaves_nothing(bench: Machines, tmp_path: Path) -> None:
    run = Run(bench, tmp_path)

    def kill() -> None:
        # Those of the connections: what they had started goes on, and keeps its ports.
        run.on("desk", "pkill -KILL -f 'sshd: root'")
        run.on("laptop", "pkill -KILL -f 'sshd: root'")

    status, said = run.after(1, kill)
    assert status == 0, said
    run.check_whole()


@pytest.mark.parametrize("cut_s", [5, 90])
def test_a_cut_network_loses_nothing(bench: Machines, tmp_path: Path, cut_s: float) -> None:
    run = Run(bench, tmp_path, patience_s=200)

    def cut() -> None:
        bench.of["laptop"].plug("control0", "down")
        time.sleep(cut_s)
        bench.of["laptop"].plug("control0", "up")

    status, said = run.after(1, cut)
    assert status == 0, said
    run.check_whole()


def test_a_full_disk_of_a_host_is_named_and_its_trials_are_made_up_for(
    bench: Machines, tmp_path: Path
) -> None:
    run = Run(bench, tmp_path, patience_s=4)

    def fill() -> None:
        run.on("laptop", "mount -o remount,size=4m /run; cat /dev/zero > /run/full")

    run.after(1, fill)
    records = read(run.out / "journal.jsonl")
    failed = [record.reason or "" for record in records if record.status == "failed"]
    assert failed
    assert all(one.startswith(BROKEN) and "No space left on device" in one for one in failed)
    run.on("laptop", "rm /run/full")
    run.resumed()
    run.check_whole()


def test_a_full_disk_of_the_runner_ends_the_run_and_keeps_its_trials(
    bench: Machines, tmp_path: Path
) -> None:
    small = tmp_path / "lab"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "small", str(small)], check=True)
    try:
        run = Run(bench, tmp_path)

        def fill() -> None:
            log = small / "bench.log.jsonl"
            with log.open("a") as lines:  # to the end of its last page, or the next line would fit
                pad = 4096 - log.stat().st_size % 4096
                lines.write(json.dumps({"event": "pad", "x": "x" * (pad + 4096 - 40)}) + "\n")
            subprocess.run(["sh", "-c", f"cat /dev/zero > {small}/full"], capture_output=True)

        status, said = run.after(1, fill)
        assert status == 3, said
        assert "No space left on device" in said
        kept = len(run.ok())
        assert kept >= 2  # the trial whose line the log did not take, too
        (small / "full").unlink()
        run.resumed()
        run.check_whole()
        for line in (small / "bench.log.jsonl").read_text().splitlines():
            json.loads(line)
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)
