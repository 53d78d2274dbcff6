"""The instruction gate: how much twelve cells of the simulator and three commands may cost.

``python benchmarks/instructions.py`` (``make bench-gate``) counts instructions with callgrind,
which a loaded machine does not change, and compares them with ``results/instructions.json``. It
exits with 1 and names each entry that rose by more than 3 %. ``--record`` writes the counts
instead, with the versions of callgrind, the compiler and the interpreter. Another compiler gives
other counts: record anew with it before a comparison.

A cell is a process of the example ``simulate`` of ``airtoll-wlan`` (release profile) that reads one
scenario with ledger, cipher and host costs. A command is a process of the interpreter after one run
that is not counted, so that no bytecode is compiled.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from scenarios import Case
from simulator import CASES, with_costs

ROOT = Path(__file__).parents[1]
RECORDED = Path(__file__).parent / "results" / "instructions.json"

#: Greatest rise of a count, as a share.
RISE = 0.03

#: Cells by name; those of the speed table first.
CELLS: dict[str, Case] = {name: case for name, (case, _, _) in CASES.items()} | {
    case.name: case
    for case in (
        Case("b11x5", "udp", "b", stations=5, rate=11),
        Case("g54rts10", "udp", "g", stations=10, rate=54, rts=True),
        Case("a54hidden2", "udp", "a", stations=2, rate=54, hidden=True),
        Case("n20amsdu3", "udp", "n", stations=3, mcs=7, amsdu_max=3839),
        Case("ac80tcp2", "tcp", "ac", stations=2, mcs=9, width=80, payload=1460),
        Case("a54x200", "udp", "a", stations=200, rate=54),
    )
}

#: Simulated seconds of a cell, after half a second of warm-up.
SIMULATED_S = 2.0

#: Arguments of ``airtoll`` by name. They start the interpreter and read studies; a command that
#: simulates repeats the cells, and its threads wait for each other by the clock.
COMMANDS: dict[str, tuple[str, ...]] = {
    "help": ("--help",),
    "studies": ("studies", "list"),
    "check": ("check", "quickstart"),
}


#: Environment of what is counted, with a home of its own.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8"}


def risen(
    recorded: Mapping[str, int], measured: Mapping[str, int], rise: float = RISE
) -> list[str]:
    """One line for each entry that has no record, was not measured, or costs too much more."""
    lines = []
    for name in sorted(recorded.keys() | measured.keys()):
        if name not in recorded:
            lines.append(f"{name}: no record; run with --record")
        elif name not in measured:
            lines.append(f"{name}: recorded, but not measured")
        elif measured[name] > recorded[name] * (1 + rise):
            share = measured[name] / recorded[name] - 1
            lines.append(
                f"{name}: {measured[name]:,} instructions, {share:+.1%} against"
                f" {recorded[name]:,}; at most {rise:+.0%}"
            )
    return lines


def instructions(command: list[str], stdin: str = "", folder: Path | None = None) -> int:
    """Instructions of a process under callgrind; its standard output is dropped.

    Raises ``SystemExit`` with the end of its messages where it fails.
    """
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    home = str(folder or ROOT)
    done = subprocess.run(
        [*valgrind, *command],
        input=stdin,
        capture_output=True,
        text=True,
        cwd=home,
        env=ENVIRONMENT | {"HOME": home},
    )
    count = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or count is None:
        raise SystemExit(f"{' '.join(command[:4])} failed under callgrind: {done.stderr[-500:]}")
    return int(count[1])


def example() -> str:
    """The example ``simulate``, built with the release profile."""
    build = [
        "cargo",
        "build",
        "--release",
        "--quiet",
        "-p",
        "airtoll-wlan",
        "--example",
        "simulate",
    ]
    done = subprocess.run(
        [*build, "--message-format=json"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    messages = (json.loads(line) for line in done.stdout.splitlines())
    found = [str(m["executable"]) for m in messages if m.get("executable")]
    return found[-1]


def count_cells() -> dict[str, int]:
    """Instructions of each cell."""
    program = example()
    counts = {}
    for name, case in CELLS.items():
        text = json.dumps(with_costs(case.airtoll(SIMULATED_S, warm_up_s=0.5)))
        counts[name] = instructions([program], stdin=text + "\n")
        print(f"{name:12} {counts[name]:>15,}", flush=True)
    return counts


def count_commands() -> dict[str, int]:
    """Instructions of each command, after a first run that is not counted."""
    counts = {}
    for name, arguments in COMMANDS.items():
        command = [sys.executable, "-m", "airtoll.cli", *arguments]
        with tempfile.TemporaryDirectory() as folder:
            # In the same environment: the shell's may keep the interpreter from writing bytecode.
            environment = ENVIRONMENT | {"HOME": folder}
            subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
            counts[name] = instructions(command, folder=Path(folder))
        print(f"{name:12} {counts[name]:>15,}", flush=True)
    return counts


def versions() -> dict[str, str]:
    """Programs that the counts depend on."""
    first = {"valgrind": ["valgrind", "--version"], "rustc": ["rustc", "--version"]}
    found = {
        name: subprocess.run(
            command, cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout.strip()
        for name, command in first.items()
    }
    return found | {"python": platform.python_version(), "machine": platform.machine()}


def main() -> int:
    """Counts, prints, judges or records."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help="write the counts")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("valgrind is not installed: run tools/system-packages.sh", file=sys.stderr)
        return 2
    with_versions = versions()
    known = json.loads(RECORDED.read_text()) if RECORDED.exists() else {"counts": {}}
    if not options.record and known.get("versions") != with_versions:
        print(f"recorded with {known.get('versions')}, measured with {with_versions}")
    counts = count_cells() | count_commands()
    if options.record:
        record = {"versions": with_versions, "counts": counts}
        RECORDED.write_text(json.dumps(record, indent=1) + "\n")
        return 0
    lines = risen(known["counts"], counts)
    print("\n".join(lines) or f"no entry rose by more than {RISE:.0%}")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
