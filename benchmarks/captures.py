"""The capture reader against tshark: frames per CPU second, and peak memory.

Takes a size in megabytes; makes a CCMP capture of that size in a temporary folder (the crate's
example ``generate``), reads it with the crate's example ``report`` without and with the key, and
with ``tshark`` (decryption on: one line a frame, and ``-T fields``) where that is installed.
Writes the figures as JSON; the capture is deleted afterwards.

    python benchmarks/captures.py --megabytes 300 --out benchmarks/results/captures.json
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--target", type=Path, help="cargo's target folder")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    target = options.target or Path(os.environ.get("CARGO_TARGET_DIR", "target"))
    programs = target / "release" / "examples"
    with tempfile.TemporaryDirectory() as folder:
        capture = Path(folder) / "air.pcapng"
        made = subprocess.run(
            [programs / "generate", capture, str(options.megabytes)],
            check=True,
            capture_output=True,
            text=True,
        )
        key = made.stdout.strip()
        result = _measure(programs / "report", capture, key, options.rounds)
        result["megabytes"] = capture.stat().st_size / 1e6
    text = json.dumps(result, indent=2) + "\n"
    sys.stdout.write(text)
    if options.out:
        options.out.write_text(text)


def _measure(report: Path, capture: Path, key: str, rounds: int) -> dict[str, Any]:
    commands = {
        "airtoll, no key": [str(report), str(capture)],
        "airtoll, CCMP": [str(report), "--key", key, str(capture)],
    }
    tshark = shutil.which("tshark")
    if tshark:
        uat = 'uat:80211_keys:"wpa-psk","{}"'.format(key.removeprefix("pmk:"))
        base = [tshark, "-r", str(capture), "-o", "wlan.enable_decryption:TRUE", "-o", uat]
        commands["tshark, one line"] = base
        commands["tshark, -T fields"] = [*base, "-T", "fields", "-e", "frame.number", "-e", "eapol"]
    frames = json.loads(
        subprocess.run(commands["airtoll, CCMP"], check=True, capture_output=True, text=True).stdout
    )
    rows = {}
    for name, command in commands.items():
        best, memory = min(_run(command) for _ in range(rounds if "airtoll" in name else 1))
        rows[name] = {
            "cpu_s": round(best, 4),
            "frames_per_cpu_s": round(frames["frames"] / best),
            "peak_rss_mb": round(memory / 1e3, 1),
        }
    one_line = rows.get("tshark, one line")
    return {
        "frames": frames["frames"],
        "decrypted": frames["decrypted"],
        "rounds": rounds,
        "statistic": "least CPU time (user + system) of the rounds; tshark once",
        "processor": _processor(),
        "tshark": _version(tshark) if tshark else None,
        "programs": rows,
        "ratio_to_tshark_one_line": (
            round(one_line["cpu_s"] / rows["airtoll, CCMP"]["cpu_s"], 1) if one_line else None
        ),
    }


def _run(command: list[str]) -> tuple[float, int]:
    """CPU seconds and peak resident kilobytes of a command, output thrown away."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command[0]} failed with status {status}")
    return usage.ru_utime + usage.ru_stime, _kilobytes(usage)


def _kilobytes(usage: resource.struct_rusage) -> int:
    return usage.ru_maxrss // (1024 if sys.platform == "darwin" else 1)


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()


def _version(tshark: str) -> str:
    done = subprocess.run([tshark, "--version"], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()[0]


if __name__ == "__main__":
    main()
