"""The guest's first user space: load a few modules, mount the host's files, start the agent.

Takes a kernel and the host's busybox; gives a cpio archive (newc, gzip). Never needs
root and never copies more of the host than busybox and the libraries it links.

Archive layout: Linux Documentation/driver-api/early-userspace/buffer-format.rst.
"""

from __future__ import annotations

import gzip
import hashlib
import lzma
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Final

from airtoll.errors import EnvironmentProblem
from airtoll.testbeds.guest.contract import SHARE_IN_GUEST
from airtoll.testbeds.guest.kernel import Kernel

MODULES: Final = ("virtio_pci", "9pnet_virtio", "9p", "overlay", "virtio_console", "virtio_rng")

#: 9p tags and the port's name, shared with the QEMU driver.
ROOT_TAG: Final = "airtoll_root"
SHARE_TAG: Final = "airtoll_share"

_P9: Final = "trans=virtio,version=9p2000.L,msize=512000"
#: Driver -> how it mounts the host's files on /host, its share, and its kernel's modules.
#: $modules: airtoll.modules; paths of hostfs are those of the sandbox.
_MOUNTS: Final = {
    "qemu": (
        f"mount -t 9p -o {_P9},ro,cache=loose {ROOT_TAG} /host",
        f"mount -t 9p -o {_P9},cache=none {SHARE_TAG} .{SHARE_IN_GUEST}",
        "ln -s $modules lib/modules/$(uname -r)",
    ),
    "uml": (
        "mount -t hostfs -o ro,/host none /host",
        f"mount -t hostfs -o /share none .{SHARE_IN_GUEST}",
        "mkdir lib/modules/$(uname -r); mount -t hostfs -o ro,/kernel/lib/modules/$(uname -r) "
        "none lib/modules/$(uname -r)",
    ),
}

# airtoll.probe powers off at once: it only shows that the accelerator runs code.
_INIT: Final = """#!/bin/busybox sh
export PATH=/bin
/bin/busybox --install -s /bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
exec >/dev/console 2>&1
case " $(cat /proc/cmdline) " in *" airtoll.probe "*) poweroff -f;; esac
for m in $(cat /modules/order); do insmod /modules/$m || echo "airtoll: insmod $m failed"; done
for word in $(cat /proc/cmdline); do case $word in
  airtoll.modules=*) modules=${word#*=};;
esac; done
mkdir -p /host /layer /new
@ROOT@ || { echo "airtoll: cannot mount the host's files"; poweroff -f; }
mount -t tmpfs -o size=75% tmpfs /layer; mkdir /layer/upper /layer/work
mount -t overlay -o lowerdir=/host,upperdir=/layer/upper,workdir=/layer/work overlay /new
cd /new
mount -t tmpfs tmpfs run
mount --move /proc proc; mount --move /sys sys; mount --move /dev dev
mkdir -p dev/pts dev/shm run/lock run/netns .@SHARE@
mount -t devpts devpts dev/pts; mount -t tmpfs tmpfs dev/shm
mount -t debugfs debugfs sys/kernel/debug; mount -t cgroup2 cgroup2 sys/fs/cgroup
ln -sf /proc/self/fd dev/fd; ln -sf fd/0 dev/stdin; ln -sf fd/1 dev/stdout; ln -sf fd/2 dev/stderr
mkdir -p lib/modules; mount -t tmpfs tmpfs lib/modules
@MODULES@
@SHARE_MOUNT@
hostname airtoll-guest
exec switch_root /new /bin/sh @SHARE@/start.sh
"""


def for_qemu(kernel: Kernel) -> Path:
    """The archive for this kernel under QEMU, made once and kept beside it.

    Raises ``EnvironmentProblem`` if busybox or a module is missing.
    """
    return _kept(kernel.root, "qemu", kernel)


def for_uml(folder: Path) -> Path:
    """The archive for User-Mode-Linux kernels in this folder, made once and kept there.

    Raises ``EnvironmentProblem`` if busybox is missing.
    """
    return _kept(folder, "uml", None)


def _kept(folder: Path, driver: str, kernel: Kernel | None) -> Path:
    busybox = shutil.which("busybox")
    if busybox is None:
        raise EnvironmentProblem("guest: busybox is missing: apt-get install busybox")
    init = _init(driver)
    digest = hashlib.sha256(init + Path(busybox).read_bytes()).hexdigest()[:12]
    target = folder / f"initramfs-{digest}.cpio.gz"
    if target.exists():
        return target
    entries: list[tuple[str, int, bytes]] = [
        *((name, 0o040755, b"") for name in ("bin", "proc", "sys", "dev", "modules", "mnt")),
        ("init", 0o100755, init),
        ("bin/busybox", 0o100755, Path(busybox).read_bytes()),
    ]
    entries += _libraries(busybox)
    order: list[str] = []
    for path in _module_files(kernel) if kernel is not None else ():
        content = path.read_bytes()
        if path.suffix == ".xz":
            content = lzma.decompress(content)
        name = path.name.split(".ko")[0] + ".ko"
        entries.append((f"modules/{name}", 0o100644, content))
        order.append(name)
    entries.append(("modules/order", 0o100644, " ".join(order).encode()))
    fresh = target.with_suffix(".new")
    fresh.write_bytes(gzip.compress(archive(entries), compresslevel=1, mtime=0))
    fresh.rename(target)
    return target


def _init(driver: str) -> bytes:
    root, share, modules = _MOUNTS[driver]
    text = _INIT.replace("@ROOT@", root).replace("@SHARE_MOUNT@", share)
    text = text.replace("@MODULES@", modules)
    return text.replace("@SHARE@", SHARE_IN_GUEST).encode()


def archive(entries: list[tuple[str, int, bytes]]) -> bytes:
    """A newc cpio archive of (path, mode, content); folders carry no content."""
    out = bytearray()
    for inode, (path, mode, content) in enumerate([*entries, ("TRAILER!!!", 0, b"")], start=1):
        name = path.encode() + b"\0"
        links = 2 if stat.S_ISDIR(mode) else 1
        fields = (inode, mode, 0, 0, links, 0, len(content), 0, 0, 0, 0, len(name), 0)
        out += b"070701" + b"".join(b"%08X" % field for field in fields) + name
        out += b"\0" * (-len(out) % 4)
        out += content
        out += b"\0" * (-len(out) % 4)
    return bytes(out)


def _module_files(kernel: Kernel) -> list[Path]:
    found: dict[Path, None] = {}
    for module in MODULES:
        done = subprocess.run(
            ["modprobe", "-d", str(kernel.root), "-S", kernel.release, "--show-depends", module],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise EnvironmentProblem(
                f"guest: kernel {kernel.release} has no module {module}: {done.stderr.strip()}"
            )
        for line in done.stdout.splitlines():
            if line.startswith("insmod "):
                found[Path(line.split()[1])] = None
    return list(found)


def _libraries(program: str) -> list[tuple[str, int, bytes]]:
    """The libraries that a dynamically linked program needs; empty for a static one."""
    done = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return []
    words = [word for word in done.stdout.split() if word.startswith("/")]
    entries: dict[str, tuple[str, int, bytes]] = {}
    for word in words:
        path = Path(word)
        for parent in reversed(path.parents[:-1]):
            name = str(parent).lstrip("/")
            entries.setdefault(name, (name, 0o040755, b""))
        name = word.lstrip("/")
        entries[name] = (name, 0o100755, path.read_bytes())
    return list(entries.values())
