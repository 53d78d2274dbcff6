"""QEMU driver: a guest on KVM when that has proved itself on this machine, else emulated (TCG).

Takes an unpacked kernel and a share folder; gives a running :class:`Qemu`. Never needs root.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Final

from airtoll.errors import EnvironmentProblem
from airtoll.testbeds.guest import agent, initramfs, kernel
from airtoll.testbeds.guest.contract import Guest, GuestError, start_script
from airtoll.testbeds.guest.probe import PROBE_WORD, ends_in_time, remembered

#: Emulated boots take 11-19 s on two busy cores; a loaded machine takes several times that.
BOOT_LIMIT_S: Final = 240.0
KVM_PROBE_LIMIT_S: Final = 8.0
#: The accelerator whose guest counts instructions for a clock.
ICOUNT: Final = "tcg-icount"
#: How many seconds of the host a busy second of such a guest may take, in the mean. Seen: 9 beside
#: nine other busy processes on two cores.
DILATION_LIMIT: Final = 10.0


class Qemu(Guest):
    """A guest on QEMU.

    ``accelerator``: kvm, tcg, or tcg-icount; None: KVM where it works, else TCG.

    tcg-icount dilates time: the guest's clock counts instructions, one a nanosecond, and stands
    still while the host runs other processes. In the guest, the speed of the CPU does not depend on
    the load of the host; while the guest idles, its clock is the host's.
    """

    def __init__(
        self, share: Path, *, memory_mib: int = 1024, cpus: int = 2, accelerator: str | None = None
    ) -> None:
        super().__init__(share)
        found = kernel.find()
        if found is None:
            raise EnvironmentProblem("guest: no kernel in the cache: airtoll guest build")
        self._kernel = found
        self._archive = initramfs.for_qemu(found)
        self.accelerator = accelerator or ("kvm" if kvm_works(found, self._archive) else "tcg")
        self.boot_limit_s = BOOT_LIMIT_S * (3 if self.dilated else 1)
        self._memory_mib = memory_mib
        # Instructions are counted on one CPU only.
        self._cpus = 1 if self.dilated else cpus

    @property
    def dilated(self) -> bool:
        """Whether the guest's clock counts instructions."""
        return self.accelerator == ICOUNT

    @property
    def patience(self) -> float:
        """Factor from a limit in the guest's time to the host's clock."""
        return DILATION_LIMIT if self.dilated else 1.0

    @property
    def clock(self) -> str:
        """The clock and the CPU that times in this guest refer to, for the run's record."""
        return {
            "kvm": "the host's time; the host's CPU, virtualised",
            ICOUNT: "counts instructions: a made-up CPU of 10^9 instructions a second",
        }.get(self.accelerator, "the host's time; an emulated CPU, as fast as the host lets it be")

    @property
    def kernel_release(self) -> str:
        """The guest kernel's release, as ``uname -r`` says there."""
        return self._kernel.release

    def _launch(self, folder: Path, console: Path) -> socket.socket:
        (self.share / "start.sh").write_text(start_script("/dev/ttyS0"))
        port = folder / "agent.sock"
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(port))
        listener.listen(1)
        command = _command(
            self._kernel,
            self._archive,
            accelerator=self.accelerator,
            memory_mib=self._memory_mib,
            cpus=self._cpus,
            console=console,
            share=self.share,
            port=port,
        )
        process = self._spawn(command, subprocess.DEVNULL)
        with listener:
            listener.settimeout(0.2)
            while True:
                with contextlib.suppress(TimeoutError):
                    return listener.accept()[0]
                if process.poll() is not None:
                    raise GuestError(f"guest: qemu did not start: {self._last_words()}")


def kvm_works(found: kernel.Kernel, archive: Path, *, remember: bool = True) -> bool:
    """Whether KVM runs a guest here: KVM may open, create a machine and then hang.

    The answer is kept in the cache for this host kernel and this QEMU.
    """
    device = Path("/dev/kvm")
    if not os.access(device, os.R_OK | os.W_OK):
        return False
    argv = [
        _qemu_program(),
        *("-M", "q35", "-accel", "kvm", "-cpu", "host", "-m", "256M", "-nodefaults"),
        *("-display", "none", "-no-reboot", "-kernel", str(found.image), "-initrd", str(archive)),
        *("-append", f"quiet panic=-1 {PROBE_WORD}"),
    ]
    return remembered(
        "kvm", _qemu_version(), lambda: ends_in_time(argv, KVM_PROBE_LIMIT_S), remember=remember
    )


def _command(
    found: kernel.Kernel,
    archive: Path,
    *,
    accelerator: str,
    memory_mib: int,
    cpus: int,
    console: Path,
    share: Path,
    port: Path,
) -> list[str]:
    accel = {
        "tcg": "tcg,thread=multi,tb-size=512",
        ICOUNT: "tcg,thread=single,tb-size=512",
    }.get(accelerator, accelerator)
    clock = ["-icount", "shift=0,sleep=on"] if accelerator == ICOUNT else []
    p9 = "security_model=none,multidevs=remap"
    append = (
        "console=ttyS0 quiet loglevel=4 panic=-1 mitigations=off nokaslr random.trust_cpu=on "
        f"airtoll.modules={found.modules}"
    )
    nice = [] if accelerator == "kvm" else ["nice", "-n", "4"]
    return [
        *nice,
        _qemu_program(),
        *("-M", "q35", "-accel", accel, "-cpu", "max", "-smp", str(cpus), "-m", f"{memory_mib}M"),
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *("-serial", f"file:{console}"),
        *("-fsdev", f"local,id=root,path=/,readonly=on,{p9}"),
        *("-device", f"virtio-9p-pci,fsdev=root,mount_tag={initramfs.ROOT_TAG}"),
        *("-fsdev", f"local,id=share,path={share.resolve()},{p9}"),
        *("-device", f"virtio-9p-pci,fsdev=share,mount_tag={initramfs.SHARE_TAG}"),
        *("-device", "virtio-serial-pci", "-chardev", f"socket,id=agent,path={port}"),
        *("-device", f"virtserialport,chardev=agent,name={agent.PORT_NAME}"),
        *("-device", "virtio-rng-pci"),
        *clock,
        *("-kernel", str(found.image), "-initrd", str(archive), "-append", append),
    ]


def _qemu_program() -> str:
    program = shutil.which("qemu-system-x86_64")
    if program is None:
        raise EnvironmentProblem(
            "guest: qemu-system-x86_64 is missing: "
            "apt-get install --no-install-recommends qemu-system-x86"
        )
    return program


def _qemu_version() -> str:
    done = subprocess.run(
        [_qemu_program(), "--version"], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()[0]
