"""User-Mode-Linux driver: a kernel that is a program of the host, with the host's speed and time.

Takes a built kernel and a share folder; gives a running :class:`Uml`. Never needs root, a virtual
machine monitor or KVM: it needs ptrace(2), which some containers forbid.

Guest processes are processes of this host that the kernel traces; they die with it. Its files are
the host's (hostfs), with the rights of the user who started it.
"""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from pathlib import Path
from typing import Final

from airtoll.errors import EnvironmentProblem
from airtoll.testbeds.guest import initramfs, uml_kernel
from airtoll.testbeds.guest.contract import Guest, start_script
from airtoll.testbeds.guest.probe import PROBE_WORD, ends_in_time, remembered

#: It boots in about a second; a loaded machine takes several times that.
BOOT_LIMIT_S: Final = 60.0
PROBE_LIMIT_S: Final = 20.0
ACCELERATOR: Final = "uml"
_NAME: Final = "machine"


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
        (self.share / "start.sh").write_text(start_script("/dev/console", "/dev/ttyS0"))
        # The kernel's command line ends a word at a space; a share may have some in its name.
        (folder / initramfs.SHARE_LINK).symlink_to(self.share.resolve())
        ours, theirs = socket.socketpair()
        with theirs, console.open("wb") as out:
            argv = _command(
                self._kernel,
                self._archive,
                memory_mib=self._memory_mib,
                folder=folder,
                line=theirs.fileno(),
            )
            environment = {**os.environ, "TMPDIR": memory_folder(self._memory_mib)}
            self._spawn(argv, out, pass_fds=(theirs.fileno(),), env=environment)
        return ours


def works(found: uml_kernel.UmlKernel, *, remember: bool = True) -> bool:
    """Whether this kernel boots here: a container may forbid operations that it needs.

    The answer is kept in the cache for this boot of the host and this kernel.
    """

    def probe() -> bool:
        with tempfile.TemporaryDirectory(prefix="airtoll-uml-") as scratch:
            archive = initramfs.for_uml(found.root)
            argv = _command(found, archive, memory_mib=64, folder=Path(scratch), line=None)
            environment = {**os.environ, "TMPDIR": memory_folder(64)}
            return ends_in_time([*argv, PROBE_WORD], PROBE_LIMIT_S, environment)

    return remembered("uml", found.root.name, probe, remember=remember)


def memory_folder(memory_mib: int) -> str:
    """Where the guest's memory, a file that is executed, may lie: in memory if possible."""
    memory = Path("/dev/shm")
    if memory.is_dir() and os.access(memory, os.W_OK):
        executable = not os.statvfs(memory).f_flag & os.ST_NOEXEC
        if executable and shutil.disk_usage(memory).free > memory_mib << 20:
            return str(memory)
    return tempfile.gettempdir()


def _command(
    found: uml_kernel.UmlKernel, archive: Path, *, memory_mib: int, folder: Path, line: int | None
) -> list[str]:
    return [
        # A kernel that panics aborts, and its core would be as large as the guest's memory.
        *("sh", "-c", 'ulimit -c 0; exec "$0" "$@"'),
        str(found.program),
        f"mem={memory_mib}M",
        f"initrd={archive}",
        # Its control socket and pid file: in a folder that goes with the guest.
        *(f"uml_dir={folder}/", f"umid={_NAME}"),
        *("con=null", "con0=null,fd:1", "ssl=null"),
        *([] if line is None else [f"ssl0=fd:{line}"]),
        *("console=tty0", "quiet", "loglevel=4", "random.trust_cpu=on"),
        *(f"airtoll.modules={found.modules}", f"airtoll.folder={folder}"),
    ]
