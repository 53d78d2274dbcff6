"""Ten thousand cells planned and run in bounded memory, each run in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

#: Peak resident set of a run of ten thousand cells, octets. Measured: 311 MB, of which interpreter
#: and libraries take 133 MB before the first cell; a thousand cells take 197 MB.
LIMIT = 500_000_000
CELLS = 10_000

STUDY = """
[study]
name = "many"
title = "Many cells"
baseline = "open"
[trials]
repetitions = 1
[scenario.one]
topology = "uplink"
phy = "802.11a"
stations = [{{ name = "A" }}]
[traffic.udp]
transport = "udp"
offered_mbps = 1
payload_bytes = 1000
duration_s = 0.05
[grid]
policy = ["open", "wpa2-psk-ccmp"]
"traffic.payload_bytes" = {payloads}
"scenario.queue_packets" = [10, 20, 30, 40, 50]
"""

PROGRAM = """
import json, resource, sys
from pathlib import Path
from airtoll.run import run

peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
started = peak()
run(Path(sys.argv[1]), out=Path(sys.argv[2]))
print(json.dumps({"started": started, "ran": peak()}))
"""


def peaks(cells: int, place: Path) -> dict[str, int]:
    """Peak resident set before and after the run, octets."""
    study = place / f"many{cells}.toml"
    study.write_text(STUDY.format(payloads=list(range(100, 100 + cells // 10))))
    out = place / f"run{cells}"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(study), str(out)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert pl.scan_parquet(out / "trials.parquet").select(pl.len()).collect().item() == cells
    found: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.slow
def test_ten_thousand_cells_stay_in_bounded_memory(tmp_path: Path) -> None:
    few, many = peaks(CELLS // 10, tmp_path), peaks(CELLS, tmp_path)
    assert many["ran"] < LIMIT
    # Ten times the cells take less than four times the memory that the first tenth took.
    assert many["ran"] - many["started"] < 4 * (few["ran"] - few["started"])
