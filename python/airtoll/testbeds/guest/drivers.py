"""Guest drivers by name, their requirements, and the default choice.

Takes a driver's name or none; gives a guest that is ready to start. Never builds anything.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from attrs import frozen

from airtoll.errors import EnvironmentProblem, UsageError
from airtoll.testbeds.guest import initramfs, kernel, uml, uml_kernel
from airtoll.testbeds.guest.contract import Guest
from airtoll.testbeds.guest.qemu import ICOUNT, Qemu, kvm_works

NAMES: Final = ("qemu", "uml")
_BUILD: Final = "airtoll guest build --driver uml"
#: Says which driver to take where no option does.
VARIABLE: Final = "AIRTOLL_VM_DRIVER"


@frozen
class State:
    """Whether a driver can be used here. ``found``: the parts found. ``mend``: the remedy."""

    driver: str
    ready: bool
    found: str
    mend: str = ""


def check_name(name: str | None) -> str | None:
    """The requested driver, by this name or the environment; None: the best one here.

    Raises ``UsageError`` for an unknown one.
    """
    asked = name or os.environ.get(VARIABLE) or None
    if asked is not None and asked not in NAMES:
        origin = "--vm-driver" if name else VARIABLE
        raise UsageError(f"{origin} {asked}: no such guest driver; choose from {', '.join(NAMES)}")
    return asked


def make(share: Path, driver: str | None = None, *, dilated: bool = False) -> Guest:
    """A guest of this driver; without one: KVM where it works, else User-Mode-Linux where its
    kernel is built and boots, else emulation.

    ``dilated``: an emulated guest's clock is to count instructions, so that nothing in it is late
    because the host is slow. Raises ``EnvironmentProblem`` naming what is not built.
    """
    asked = check_name(driver)
    if asked == "uml" or (asked is None and _uml_is_best()):
        return uml.Uml(share)
    guest = Qemu(share)
    if dilated and guest.accelerator == "tcg":
        return Qemu(share, accelerator=ICOUNT)
    return guest


def has_virtual_time(driver: str | None = None) -> bool:
    """Whether trials run in guests with virtual time: where User-Mode-Linux is asked for, or
    nothing is and its kernel is built and boots.

    Raises ``EnvironmentProblem`` where it is asked for and not built.
    """
    asked = check_name(driver)
    if asked is None:
        built = uml_kernel.find()
        return built is not None and uml.works(built)
    if asked == "uml" and uml_kernel.find() is None:
        raise EnvironmentProblem(f"guest: no User-Mode-Linux kernel in the cache: {_BUILD}")
    return asked == "uml"


def shortfall() -> str:
    """Why the default guest is slower than the one that was built here before; else empty."""
    if check_name(None) is None and uml_kernel.is_outdated() and not _kvm_is_there():
        return f"the User-Mode-Linux kernel in the cache is that of an earlier version: {_BUILD}"
    return ""


def is_emulated() -> bool:
    """Whether the guest chosen by default has an emulated CPU: ten times slower than the others."""
    asked = check_name(None)
    return asked != "uml" and not _kvm_is_there() and not (asked is None and _uml_is_best())


def states() -> list[State]:
    """The state of each driver on this host, read without starting anything that takes long."""
    return [_qemu(), _uml()]


def _uml_is_best() -> bool:
    if _kvm_is_there():
        return False
    built = uml_kernel.find()
    return built is not None and uml.works(built)


def _kvm_is_there() -> bool:
    found = kernel.find()
    if found is None or shutil.which("qemu-system-x86_64") is None:
        return False
    return kvm_works(found, initramfs.for_qemu(found))


def _qemu() -> State:
    if shutil.which("qemu-system-x86_64") is None:
        mend = "apt-get install --no-install-recommends qemu-system-x86"
        return State("qemu", False, "qemu-system-x86_64 is missing", mend)
    found = kernel.find()
    if found is None:
        return State("qemu", False, "no kernel in the cache", "airtoll guest build")
    try:
        how = "KVM" if _kvm_is_there() else "emulation: KVM does not work here"
    except EnvironmentProblem as problem:
        return State("qemu", False, str(problem))
    return State("qemu", True, f"kernel {found.release}, {how}")


def _uml() -> State:
    found = uml_kernel.find()
    if found is None:
        found_there = (
            "the kernel in the cache is that of an earlier version"
            if uml_kernel.is_outdated()
            else "no kernel in the cache"
        )
        return State("uml", False, found_there, f"{_BUILD} (minutes)")
    try:
        booted = uml.works(found)
    except EnvironmentProblem as problem:
        return State("uml", False, str(problem))
    if not booted:
        return State("uml", False, f"kernel {found.release} does not boot here", "allow ptrace(2)")
    return State("uml", True, f"kernel {found.release}")
