"""The guest's kernel: a stock distribution package, downloaded and unpacked, never installed.

Takes a Debian kernel package (by apt, or a .deb given by path); gives a folder with the kernel
image and its modules, indexed. Never installs a package and never touches /boot or /lib.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from attrs import frozen

from airtoll.errors import EnvironmentProblem

META_PACKAGE: Final = "linux-image-amd64"
#: Without these in the package there is no virtual radio; the "cloud" flavour lacks them.
NEEDED_MODULES: Final = ("mac80211_hwsim", "9pnet_virtio", "overlay", "virtio_console")


@frozen
class Kernel:
    """An unpacked kernel.

    ``release``: as ``uname -r`` says in the guest. ``root``: folder holding boot/ and lib/modules/.
    """

    release: str
    root: Path

    @property
    def image(self) -> Path:
        """The bootable image."""
        return self.root / "boot" / f"vmlinuz-{self.release}"

    @property
    def modules(self) -> Path:
        """The module tree of this release."""
        return self.root / "lib" / "modules" / self.release


def cache_folder() -> Path:
    """Folder of files that can be made again: AIRTOLL_CACHE, or ~/.cache/airtoll."""
    named = os.environ.get("AIRTOLL_CACHE")
    return Path(named) if named else Path.home() / ".cache" / "airtoll"


def find() -> Kernel | None:
    """The newest unpacked kernel of the cache, or None."""
    ready = sorted(
        (path.parent for path in cache_folder().glob("kernel/*/.complete")),
        key=lambda folder: [int(p) if p.isdigit() else 0 for p in _numbers(folder.name)],
    )
    return Kernel(ready[-1].name, ready[-1]) if ready else None


def build(package: Path | None = None) -> Kernel:
    """Unpack a kernel into the cache, downloading it with apt unless ``package`` is given.

    Raises ``EnvironmentProblem`` naming the tool or package that is missing.
    """
    for tool, home in (("dpkg-deb", "dpkg"), ("depmod", "kmod")):
        if shutil.which(tool) is None:
            raise EnvironmentProblem(f"guest: {tool} is missing: apt-get install {home}")
    base = cache_folder() / "kernel"
    base.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".unpack-", dir=base) as scratch:
        folder = Path(scratch)
        deb = package if package is not None else _download(folder)
        tree = folder / "tree"
        _run(["dpkg-deb", "--extract", str(deb), str(tree)], "unpack the kernel package")
        return _moved_into_place(tree, base)


def drop() -> None:
    """Remove the unpacked kernels and the cached answers about KVM."""
    shutil.rmtree(cache_folder() / "kernel", ignore_errors=True)
    (cache_folder() / "kvm.json").unlink(missing_ok=True)


def _moved_into_place(tree: Path, base: Path) -> Kernel:
    # A merged /usr puts modules under usr/lib in newer packages.
    if not (tree / "lib").exists() and (tree / "usr" / "lib").exists():
        (tree / "usr" / "lib").rename(tree / "lib")
    images = sorted(tree.glob("boot/vmlinuz-*"))
    if not images:
        raise EnvironmentProblem("guest: the package holds no boot/vmlinuz-*; give a kernel image")
    release = images[0].name.removeprefix("vmlinuz-")
    modules = tree / "lib" / "modules" / release
    names = {path.name.split(".ko")[0].replace("-", "_") for path in modules.rglob("*.ko*")}
    missing = [name for name in NEEDED_MODULES if name not in names]
    if missing:
        raise EnvironmentProblem(
            f"guest: kernel {release} lacks {', '.join(missing)}; "
            f"use {META_PACKAGE}, not a cloud or trimmed kernel"
        )
    _run(["depmod", "--basedir", str(tree), release], "index the kernel's modules")
    target = base / release
    if target.exists():
        shutil.rmtree(target)
    tree.rename(target)
    (target / ".complete").touch()
    return Kernel(release, target)


def _download(folder: Path) -> Path:
    if shutil.which("apt-get") is None:
        raise EnvironmentProblem(
            "guest: no apt-get here; give a Debian kernel package: airtoll guest build --deb FILE"
        )
    depends = _run(
        ["apt-cache", "depends", "--important", META_PACKAGE], "ask apt for the kernel's name"
    )
    names = [
        line.split("Depends:", 1)[1].strip()
        for line in depends.splitlines()
        if "Depends: linux-image-" in line
    ]
    if not names:
        raise EnvironmentProblem(
            f"guest: apt knows no {META_PACKAGE}; refresh its lists: apt-get update"
        )
    _run(["apt-get", "download", names[0]], f"download {names[0]} (try apt-get update)", cwd=folder)
    return next(iter(folder.glob("linux-image-*.deb")))


def _numbers(release: str) -> list[str]:
    return release.replace("-", ".").replace("+", ".").split(".")


def _run(argv: list[str], purpose: str, cwd: Path | None = None) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, cwd=cwd, check=False)
    if done.returncode != 0:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no message"]
        raise EnvironmentProblem(f"guest: cannot {purpose}: {last[0]}")
    return done.stdout
