"""Ten thousand cells: planned, run and reported in bounded memory, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

#: Peak resident set of a whole run of ten thousand cells, report included, octets. Interpreter and
#: libraries take 133 MB of it before the first cell.
LIMIT = 1_000_000_000
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
from airtoll.report import write_report

peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
started = peak()
result = run(Path(sys.argv[1]), out=Path(sys.argv[2]))
ran = peak()
write_report([result.path])
print(json.dumps({"started": started, "ran": ran, "reported": peak()}))
"""


def peaks(cells: int, place: Path) -> dict[str, int]:
    """Peak resident set before, after the run and after the report, octets."""
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
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
def test_ten_thousand_cells_stay_in_bounded_memory(tmp_path):
    few, many = peaks(CELLS // 10, tmp_path), peaks(CELLS, tmp_path)
    assert many["reported"] < LIMIT
    # Ten times the cells take less than four times the memory that the first tenth took.
    assert many["ran"] - many["started"] < 4 * (few["ran"] - few["started"])
    assert (tmp_path / f"run{CELLS}" / "report.html").stat().st_size > 0
