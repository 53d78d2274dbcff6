"""Build backend (PEP 517): maturin's, after the parts that are not the native module.

The simulator for browsers is built by ``tools/web.sh``, which says so where Rust lacks its target.

The Linux testbed finds the program beside the interpreter, where an installer puts a wheel's
scripts. maturin packs the files of ``airtoll._native.data/scripts``; this backend builds the
program there first.
``python tools/backend.py`` does so for ``tools/wheel.sh``.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "airtoll._native.data"


def _profile() -> str:
    """cargo's profile: that of maturin's own options for builds by an installer."""
    words = shlex.split(os.environ.get("MATURIN_PEP517_ARGS", ""))
    return words[words.index("--profile") + 1] if "--profile" in words[:-1] else "release"


def lay_parts() -> None:
    """Build the simulator for browsers and, on Linux, the medium, where maturin packs them."""
    shutil.rmtree(DATA, ignore_errors=True)
    if os.name == "posix":
        subprocess.run(["sh", "tools/web.sh"], cwd=ROOT, check=True)
    if not sys.platform.startswith("linux"):
        return
    cargo = os.environ.get("CARGO", "cargo")
    told = subprocess.run(
        [cargo, "metadata", "--no-deps", "--format-version", "1", "--locked"],
        cwd=ROOT, check=True, stdout=subprocess.PIPE,
    )  # fmt: skip
    # Named beside the native module it gets the same features of its dependencies, built once.
    profile = _profile()
    command = [cargo, "build", "--profile", profile, "--quiet", "--locked"]
    command += ["-p", "airtoll-python", "-p", "airtoll-medium", "--bin", "airtoll-medium"]
    command += ["--features", "airtoll-python/aws-lc,airtoll-medium/aws-lc"]
    subprocess.run(command, cwd=ROOT, check=True)
    program = DATA / "scripts" / "airtoll-medium"
    program.parent.mkdir(parents=True)
    shutil.copy2(Path(json.loads(told.stdout)["target_directory"], profile, program.name), program)
    with suppress(OSError):
        subprocess.run(["strip", program], check=False)


@contextmanager
def _parts() -> Iterator[Any]:
    import maturin

    lay_parts()
    try:
        yield maturin
    finally:
        shutil.rmtree(DATA, ignore_errors=True)


def build_wheel(directory: str, settings: Any = None, metadata: str | None = None) -> str:
    """A wheel in the directory; its file name."""
    with _parts() as maturin:
        return str(maturin.build_wheel(directory, settings, metadata))


def build_sdist(directory: str, settings: Any = None) -> str:
    """A source distribution in the directory; its file name."""
    import maturin

    return str(maturin.build_sdist(directory, settings))


def build_editable(directory: str, settings: Any = None, metadata: str | None = None) -> str:
    """An editable wheel; the medium comes with ``make build``."""
    import maturin

    return str(maturin.build_editable(directory, settings, metadata))


def get_requires_for_build_wheel(settings: Any = None) -> list[str]:
    """As maturin says."""
    import maturin

    return list(maturin.get_requires_for_build_wheel(settings))


get_requires_for_build_sdist = get_requires_for_build_editable = get_requires_for_build_wheel


def prepare_metadata_for_build_wheel(directory: str, settings: Any = None) -> str:
    """The metadata of the wheel."""
    import maturin

    return str(maturin.prepare_metadata_for_build_wheel(directory, settings))


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


if __name__ == "__main__":
    lay_parts()
