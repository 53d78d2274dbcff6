"""A root of its own for a guest's machine: the host's files read-only, one writable folder.

Run as ``python -P sandbox.py LAYOUT PROGRAM ARGUMENT...``, with the layout in JSON. Takes the place
of itself by the program, in a mount namespace whose paths are the same on every host:

    /host     the host's files, read-only, without devices
    /kernel   the folder of the guest's kernel, read-only
    /share    the guest's share, the one writable folder of the host
    /scratch  a file system in memory: the machine's own memory and sockets

A guest's kernel is a process of the host that can be made to execute any of its system calls, and
its hostfs reaches every file that this process reaches. The mounts hold whatever runs in it: the
program has no capability but those over files (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH), and cannot
get one. Standard library only.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
from pathlib import Path
from typing import TypedDict, final

# Numbers of linux/mount.h, sched.h, prctl.h, capability.h and personality.h.
_RDONLY, _NOSUID, _NODEV = 1, 2, 4
_BIND, _REC, _PRIVATE = 0x1000, 0x4000, 0x40000
_ATTR_RDONLY, _ATTR_NOSUID, _ATTR_NODEV = 1, 2, 4
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_DETACH = 2
_NEWNS, _NEWUSER = 0x20000, 0x10000000
_SET_PDEATHSIG, _CAPBSET_DROP, _SET_NO_NEW_PRIVS = 1, 24, 38
_DAC_OVERRIDE, _DAC_READ_SEARCH, _LAST_CAPABILITY = 1, 2, 63
_ADDR_NO_RANDOMIZE = 0x0040000
#: x86-64; User-Mode-Linux guests are for no other machine.
_SYS_MOUNT_SETATTR, _SYS_PIVOT_ROOT = 442, 155

#: Exit status where the host forbids what this program needs, with a line on standard error.
REFUSED = 87


@final
class Layout(TypedDict):
    """``base``: an empty folder. ``memory_mib``: size of the file system in memory.

    ``mortal``: whether the machine dies with the thread that started it. ``cpu``: the one CPU of
    the host that it runs on, or None.
    """

    base: str
    kernel: str
    share: str
    memory_mib: int
    mortal: bool
    cpu: int | None


class _Attributes(ctypes.Structure):
    _fields_ = (
        ("attr_set", ctypes.c_uint64),
        ("attr_clr", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    )


_LIBC = ctypes.CDLL(None, use_errno=True)


def _must(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _mount(source: str, target: Path, kind: str | None, flags: int, data: str = "") -> None:
    result = _LIBC.mount(
        source.encode(),
        str(target).encode(),
        None if kind is None else kind.encode(),
        ctypes.c_ulong(flags),
        data.encode(),
    )
    _must(result, f"mount {source} on {target}")


def _read_only(target: Path) -> None:
    attributes = _Attributes(_ATTR_RDONLY | _ATTR_NOSUID | _ATTR_NODEV, 0, 0, 0)
    result = _LIBC.syscall(
        ctypes.c_long(_SYS_MOUNT_SETATTR),
        ctypes.c_int(_AT_FDCWD),
        str(target).encode(),
        ctypes.c_uint(_AT_RECURSIVE),
        ctypes.byref(attributes),
        ctypes.c_size_t(ctypes.sizeof(attributes)),
    )
    _must(result, "make the host's files read-only (Linux 5.12)")


def _unshare() -> None:
    user, group = os.getuid(), os.getgid()
    if user == 0:
        _must(_LIBC.unshare(_NEWNS), "a mount namespace")
        return
    _must(_LIBC.unshare(_NEWNS | _NEWUSER), "a user namespace")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def _build(layout: Layout) -> None:
    base = Path(layout["base"])
    _mount("none", Path("/"), None, _REC | _PRIVATE)
    _mount("tmpfs", base, "tmpfs", _NOSUID | _NODEV, "mode=0755,size=1m")
    for name in ("host", "kernel", "share", "scratch", "old"):
        (base / name).mkdir()
    _mount("/", base / "host", None, _BIND | _REC)
    _read_only(base / "host")
    _mount(layout["kernel"], base / "kernel", None, _BIND)
    _read_only(base / "kernel")
    _mount(layout["share"], base / "share", None, _BIND)
    size = f"mode=0700,size={layout['memory_mib'] + 16}m"
    _mount("tmpfs", base / "scratch", "tmpfs", _NOSUID | _NODEV, size)
    # The machine's own libraries, and what its C library looks up.
    for name in ("usr", "lib", "lib32", "lib64", "libx32", "bin", "etc", "proc"):
        if Path("/", name).exists():
            (base / name).symlink_to(f"host/{name}")
    # The one device: the machine opens it for lines that lead nowhere.
    (base / "dev").mkdir()
    (base / "dev" / "null").touch()
    _mount("/dev/null", base / "dev" / "null", None, _BIND)
    os.chdir(base)
    _must(_LIBC.syscall(ctypes.c_long(_SYS_PIVOT_ROOT), b".", b"old"), "pivot_root")
    os.chdir("/")
    _must(_LIBC.umount2(b"/old", _DETACH), "let go of the old root")
    (Path("/") / "old").rmdir()


def _prctl(option: int, value: int) -> int:
    return int(_LIBC.prctl(option, ctypes.c_ulong(value), 0, 0, 0))


def main(arguments: list[str]) -> None:
    """Build the root, give up every other right, and become the program."""
    layout: Layout = json.loads(arguments[0])
    # A kernel that panics aborts, and its core would be as large as the guest's memory.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # A kernel without randomized addresses has the same memory in every guest.
    _must(_LIBC.personality(ctypes.c_ulong(_ADDR_NO_RANDOMIZE)), "fixed addresses")
    if layout["cpu"] is not None:
        os.sched_setaffinity(0, {layout["cpu"]})
    if layout["mortal"]:
        _must(_prctl(_SET_PDEATHSIG, signal.SIGKILL), "die with the owner")
    try:
        _unshare()
        _build(layout)
        for capability in range(_LAST_CAPABILITY + 1):
            if capability not in (_DAC_OVERRIDE, _DAC_READ_SEARCH):
                _prctl(_CAPBSET_DROP, capability)  # numbers that this kernel lacks are refused
        _must(_prctl(_SET_NO_NEW_PRIVS, 1), "give up privileges")
    except OSError as error:
        print(f"sandbox: this host does not allow {error.strerror}", file=sys.stderr)
        raise SystemExit(REFUSED) from None
    environment = {**os.environ, "TMPDIR": "/scratch"}
    os.execve(arguments[1], arguments[1:], environment)


if __name__ == "__main__":
    main(sys.argv[1:])
