"""Ten thousand cells planned, run and reported in bounded memory, in processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from airtoll.report.costs import MAX_ROWS

#: Peak resident set of a run of ten thousand cells, octets. Measured: 218 MB, of which interpreter
#: and libraries take 80 MB before the first cell.
LIMIT = 500_000_000
#: Peak resident set of the report of that run, octets. Measured: 326 to 334 MB for 360,000
#: observations.
REPORT_LIMIT = 370_000_000
#: Largest size of a page, octets, for any size of the run.
PAGE_LIMIT = 5_000_000
#: CPU time after which a process of the report is killed, s.
LIMIT_S = 300
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

# getrusage's maximum would be that of the process that started this one, where that is larger.
PEAK = """
import re

def peak():
    status = open("/proc/self/status").read()
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", status)[1])

"""
PROGRAM = """
import json, sys
from pathlib import Path
from airtoll.run import run

started = peak()
run(Path(sys.argv[1]), out=Path(sys.argv[2]))
print(json.dumps({"started": started, "ran": peak()}))
"""

REPORT = """
import json, resource, sys
from pathlib import Path
from airtoll.report import write_report

# Processor time: the wall time is that of the machine's other work.
resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S))
page = write_report([Path(sys.argv[1])])
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
seconds = sum(usage.ru_utime + usage.ru_stime for usage in used)
print(json.dumps({"peak": peak(), "page": page.stat().st_size, "seconds": seconds}))
"""


def peaks(cells: int, place: Path) -> dict[str, int]:
    """Peak resident set before and after the run, octets."""
    study = place / f"many{cells}.toml"
    study.write_text(STUDY.format(payloads=list(range(100, 100 + cells // 10))))
    out = place / f"run{cells}"
    done = subprocess.run(
        [sys.executable, "-c", PEAK + PROGRAM, str(study), str(out)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert pl.scan_parquet(out / "trials.parquet").select(pl.len()).collect().item() == cells
    found: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return found


def reported(run: Path) -> dict[str, float]:
    """Peak resident set (octets), size of the page (octets) and CPU time (s) of a report."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK + REPORT.replace("LIMIT_S", str(LIMIT_S)), str(run)],
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.slow
def test_ten_thousand_cells_stay_in_bounded_memory(tmp_path: Path) -> None:
    few, many = peaks(CELLS // 10, tmp_path), peaks(CELLS, tmp_path)
    assert many["ran"] < LIMIT
    # Ten times the cells take less than four times the memory that the first tenth took.
    assert many["ran"] - many["started"] < 4 * (few["ran"] - few["started"])
    report = reported(tmp_path / f"run{CELLS}")
    print(f"report of {CELLS} cells: {report['seconds']:.0f} s, {report['peak'] / 1e6:.0f} MB")
    assert report["peak"] < REPORT_LIMIT
    assert report["page"] < PAGE_LIMIT
    # The page names the rows that it leaves out, and the files next to it have them.
    page = (tmp_path / f"run{CELLS}" / "report.html").read_text()
    assert f"{CELLS - MAX_ROWS} more rows are left out here; costs.csv" in page
    assert "more levels of payload" in page
    costs = pl.read_csv(tmp_path / f"run{CELLS}" / "costs.csv")
    assert costs["cell"].n_unique() == CELLS
    parts = pl.read_csv(tmp_path / f"run{CELLS}" / "decomposition.csv")
    assert parts["cell"].n_unique() == CELLS // 2
