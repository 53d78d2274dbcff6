"""Runs a case in the ns-3 of the PyPI wheel ``ns3``.

Takes a case and a run number, gives octets, delays and CPU seconds. ``ns3/main.cc`` is compiled
with ``g++`` against headers and libraries of the wheel (half a minute; the wheel's own interpreter
takes more than a quarter of an hour for it). Each run is a process of its own, because ns-3 keeps
global state and a crash must not take the table along.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scenarios import Case

VERSION = "3.44"
#: Modules of ns-3 that the program uses.
_MODULES = (
    "applications",
    "core",
    "internet",
    "mobility",
    "network",
    "point-to-point",
    "propagation",
    "spectrum",
    "wifi",
)


@dataclass(frozen=True)
class Reading:
    """The result of one ns-3 run."""

    octets: list[int]
    others: list[int]  # of the flows of neighbours
    delay_s: float | None
    beacon_octets: int
    cpu_s: float


def importable() -> str | None:
    """None where the wheel can be used, else why not."""
    if _wheel() is None:
        return "the ns3 wheel is not installed (pip install --no-deps ns3==3.44.post0)"
    if shutil.which("g++") is None:
        return "g++ is not installed"
    return None


def _wheel() -> Path | None:
    found = importlib.util.find_spec("ns3")
    places = (found and found.submodule_search_locations) or []
    folders = [Path(place) for place in places if (Path(place) / "include" / "ns3").is_dir()]
    return folders[0] if folders else None


def load() -> Path:
    """Compiles ``ns3/main.cc``; call once before the first :func:`run`. Gives the program."""
    wheel = _wheel()
    assert wheel is not None
    libraries = wheel / "lib64"
    program = Path(tempfile.mkdtemp(prefix="airtoll-ns3-")) / "scenario"
    source = Path(__file__).parent / "ns3" / "main.cc"
    command = [
        "g++",
        "-std=c++20",
        "-O1",
        "-fno-access-control",  # of its scheduler's private parts
        f"-I{wheel / 'include'}",
        str(source),
        "-o",
        str(program),
    ]
    command += [str(libraries / f"libns{VERSION}-{module}.so") for module in _MODULES]
    command += [f"-Wl,-rpath,{libraries}", "-Wl,--allow-shlib-undefined"]
    subprocess.run(command, check=True)
    return program


def run(bench: Path, case: Case, number: int) -> Reading:
    """One run with random run number ``number``."""
    made = subprocess.run(
        [str(bench), *(_argument(name, value) for name, value in case.ns3(number).items())],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if made.returncode != 0:
        raise RuntimeError(f"ns-3 failed on {case.name} (run {number})")
    *lines, beacon, cpu = made.stdout.splitlines()
    all_rows = [line.split() for line in lines]
    rows = all_rows[: len(case.flows)]
    others = [int(r[0]) for r in all_rows[len(case.flows) :]]
    packets = sum(int(r[2]) for r in rows)
    delay = sum(float(r[1]) for r in rows) / packets if packets and case.kind != "tcp" else None
    return Reading([int(r[0]) for r in rows], others, delay, int(beacon), float(cpu))


def _argument(name: str, value: Any) -> str:
    return f"{name}={int(value) if isinstance(value, bool) else value}"
