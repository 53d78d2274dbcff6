"""The quickstart study, trial by trial, against figures kept here.

A change of the simulator that moves them is either a mistake or belongs into the changelog:
``python tests/validation/test_golden.py`` writes them anew.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import polars as pl

from airtoll.run import run

KEPT = Path(__file__).parent / "golden_quickstart.json"
METRICS = ("throughput_bps", "airtime_payload_s", "airtime_security_s", "octets_security")


def figures() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        result = run("quickstart", out=Path(folder) / "run", trials=2, jobs=2)
        frame = result.observations().filter(
            pl.col("metric").is_in(METRICS) & pl.col("flow").is_null() & pl.col("second").is_null()
        )
    return {
        f"{row['cell']} {row['trial']} {row['metric']}": row["value"]
        for row in frame.iter_rows(named=True)
    }


def test_quickstart_gives_the_kept_figures() -> None:
    kept = json.loads(KEPT.read_text())
    found = figures()
    assert found.keys() == kept.keys()
    # Bit for bit: the same seed gives the same values on every machine.
    assert found == kept


if __name__ == "__main__":
    KEPT.write_text(json.dumps(figures(), indent=1, sort_keys=True) + "\n")
    sys.stdout.write(f"wrote {KEPT}\n")
