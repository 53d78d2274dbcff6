"""User-Mode-Linux driver: a kernel that is a program of the host, with the host's speed.

Takes a built kernel and a share folder; gives a running :class:`Uml` in the host's time, or an
:class:`Errand` in virtual time. Never needs root, a virtual machine monitor or KVM: it needs
ptrace(2) and a mount namespace, which some containers forbid.

Guest processes are processes of this host that the kernel traces; they die with it. Its files are
the host's (hostfs), in a :mod:`sandbox` that lets it write to its share alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import psutil

from airtoll.errors import EnvironmentProblem
from airtoll.testbeds.guest import agent, initramfs, sandbox, uml_kernel
from airtoll.testbeds.guest.contract import SHARE_IN_GUEST, Guest, GuestError, start_script
from airtoll.testbeds.guest.probe import PROBE_WORD, ends_in_time, remembered

#: It boots in about a second; a loaded machine takes several times that.
BOOT_LIMIT_S: Final = 60.0
PROBE_LIMIT_S: Final = 20.0
ACCELERATOR: Final = "uml"
VIRTUAL: Final = "uml-virtual-time"
_NAME: Final = "machine"
#: When every guest in virtual time begins, Unix s: 2024-01-01T00:00:00Z.
_EPOCH_S: Final = 1_704_067_200
#: How often a machine's CPU time is looked at, and how long it may take none.
_LOOK_S: Final = 1.0
_STALL_S: Final = 300.0


class _Cpus:
    """The CPUs of this process, of which each guest in virtual time has one.

    A guest's kernel and its processes never run at the same time, and each system call has them
    wake one another. Between two CPUs a wake is an interrupt of the other one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._guests: Counter[int] = Counter()

    @contextlib.contextmanager
    def one(self) -> Iterator[int]:
        """The CPU with the fewest guests of this process."""
        with self._lock:
            own = sorted(os.sched_getaffinity(0))
            turn = os.getpid() % len(own)
            cpu = min(own[turn:] + own[:turn], key=self._guests.__getitem__)
            self._guests[cpu] += 1
        try:
            yield cpu
        finally:
            with self._lock:
                self._guests[cpu] -= 1


_CPUS: Final = _Cpus()


class Uml(Guest):
    """A guest on User-Mode-Linux: one CPU, in real time."""

    accelerator = ACCELERATOR
    boot_limit_s = BOOT_LIMIT_S

    def __init__(self, share: Path, *, memory_mib: int = 1024) -> None:
        super().__init__(share)
        found = uml_kernel.find()
        if found is None:
            raise EnvironmentProblem(
                "guest: no User-Mode-Linux kernel in the cache: airtoll guest build --driver uml"
            )
        self._kernel = found
        self._archive = initramfs.for_uml(found.root)
        self._memory_mib = memory_mib

    @property
    def kernel_release(self) -> str:
        """The guest kernel's release, as ``uname -r`` says there."""
        return self._kernel.release

    @property
    def clock(self) -> str:
        """The clock and the CPU that times in this guest refer to, for the run's record."""
        return (
            "the host's time; one CPU of the host, which other processes share, with system calls "
            "some microseconds dearer than on a kernel of its own"
        )

    def _launch(self, folder: Path, console: Path) -> socket.socket:
        script = start_script("/dev/console", {agent.PORT_VARIABLE: "/dev/ttyS0"})
        (self.share / "start.sh").write_text(script)
        ours, theirs = socket.socketpair()
        with theirs, console.open("wb") as out:
            line = theirs.fileno()
            argv = self._command(folder, f"ssl0=fd:{line}", "random.trust_cpu=on")
            self._spawn(argv, out, pass_fds=(line,))
        return ours

    def _command(
        self, folder: Path, *words: str, mortal: bool = False, cpu: int | None = None
    ) -> list[str]:
        return _command(
            self._kernel,
            self._archive,
            *words,
            memory_mib=self._memory_mib,
            base=folder,
            share=self.share,
            mortal=mortal,
            cpu=cpu,
        )


class Errand(Uml):
    """A guest that carries out one request in virtual time, and is gone.

    Its clock moves only when every process in it waits, and then jumps to the next timer. Its CPU
    takes no time but 256 ns for a look at the clock, its randomness follows from a seed, and
    nothing reaches it from outside: the same request with the same seed takes the same course,
    however busy the host is.
    """

    accelerator = VIRTUAL

    def __init__(self, share: Path, *, memory_mib: int = 1024, modules: Path | None = None) -> None:
        """``modules``: a folder of the host whose modules the guest can import, besides airtoll."""
        super().__init__(share, memory_mib=memory_mib)
        self._modules = modules

    @property
    def clock(self) -> str:
        """The clock and the CPU that times in this guest refer to, for the run's record."""
        return (
            "virtual time from 2024-01-01, in which the CPU takes no time; each trial has a guest"
        )

    def carry_out(self, function: str, argument: object, *, seed: int, limit_s: float) -> object:
        """Call ``package.module:function`` in the guest with one JSON value.

        ``limit_s`` is CPU time of the host, which a busy host gives slowly. Raises
        :class:`GuestError` with the error's own message, or when the guest dies, takes more, or
        takes no CPU time for minutes.
        """
        folder = self._prepare()
        try:
            return self._answer(folder, function, argument, seed, limit_s)
        finally:
            self.stop()

    def _answer(
        self, folder: Path, function: str, argument: object, seed: int, limit_s: float
    ) -> object:
        request = agent.Call(id=1, op="call", function=function, argument=argument)
        (self.share / "request.json").write_text(json.dumps(request))
        variables = {agent.ERRAND_VARIABLE: SHARE_IN_GUEST, "PYTHONHASHSEED": "0"}
        script = start_script("/dev/console", variables, modules=self._modules)
        (self.share / "start.sh").write_text(script)
        words = ("time-travel=inf-cpu", f"time-travel-start={_EPOCH_S * 10**9}")
        environment = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            uml_kernel.SEED_VARIABLE: str(seed % 2**64),
        }
        with _CPUS.one() as cpu:
            with (self.share / "console.log").open("wb") as out:
                command = self._command(folder, *words, mortal=True, cpu=cpu)
                process = self._spawn(command, out, env=environment)
            try:
                _wait(process, limit_s)
            except TimeoutError as spent:
                raise GuestError(f"guest: no end after {spent}: {self._last_words()}") from None
        path = self.share / "answer.json"
        if not path.exists():
            raise GuestError(f"guest: the guest died: {self._last_words()}")
        answer: agent.Result | agent.Refusal = json.loads(path.read_text())
        if "error" in answer:
            failure = GuestError(answer["error"]["message"])
            failure.add_note(answer["error"].get("trace", ""))
            raise failure
        return answer["result"]


def _wait(process: subprocess.Popen[bytes], limit_s: float) -> None:
    """Wait for the end of a machine; raises ``TimeoutError`` saying what it spent."""
    spent_s, moved_at = 0.0, time.monotonic()
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_LOOK_S)
            return
        now_s = _cpu_s(process.pid)
        if now_s > spent_s:
            spent_s, moved_at = now_s, time.monotonic()
        if spent_s > limit_s:
            raise TimeoutError(f"{spent_s:.0f} s of CPU time")
        if time.monotonic() - moved_at > _STALL_S:
            raise TimeoutError(f"{_STALL_S:.0f} s without any CPU time")


def _cpu_s(pid: int) -> float:
    """CPU time of a machine and of those of its processes that have ended, s."""
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return 0.0
    return times.user + times.system + times.children_user + times.children_system


def works(found: uml_kernel.UmlKernel, *, remember: bool = True) -> bool:
    """Whether this kernel boots here: a container may forbid operations that it needs.

    The answer is kept in the cache for this boot of the host and this kernel.
    """

    def probe() -> bool:
        with tempfile.TemporaryDirectory(prefix="airtoll-uml-") as scratch:
            base, share = Path(scratch) / "base", Path(scratch) / "share"
            base.mkdir()
            share.mkdir()
            archive = initramfs.for_uml(found.root)
            argv = _command(found, archive, PROBE_WORD, memory_mib=64, base=base, share=share)
            return ends_in_time(argv, PROBE_LIMIT_S)

    return remembered("uml", found.root.name, probe, remember=remember)


def _command(
    found: uml_kernel.UmlKernel,
    archive: Path,
    *words: str,
    memory_mib: int,
    base: Path,
    share: Path,
    mortal: bool = False,
    cpu: int | None = None,
) -> list[str]:
    layout = sandbox.Layout(
        base=str(base),
        kernel=str(found.root),
        share=str(share.resolve()),
        memory_mib=memory_mib,
        mortal=mortal,
        cpu=cpu,
    )
    return [
        *(sys.executable, "-I", "-S", str(Path(sandbox.__file__).resolve()), json.dumps(layout)),
        f"/kernel/{found.program.name}",
        f"mem={memory_mib}M",
        f"initrd=/kernel/{archive.name}",
        # Its control socket and pid file: in a folder that goes with the guest.
        *("uml_dir=/scratch/", f"umid={_NAME}"),
        *("con=null", "con0=null,fd:1", "ssl=null"),
        *("console=tty0", "quiet", "loglevel=4"),
        *words,
    ]
