"""Closed forms of a run's cells, so that its report can show a third, independent result.

Takes a plan; gives ``theory.parquet`` in the run folder with one throughput per cell that has a
closed form. Never changes an observation.
"""

from __future__ import annotations

import math

import polars as pl

from airtoll.errors import TrialFault
from airtoll.observe.folder import RunFolder
from airtoll.observe.tables import put_table
from airtoll.plan import Plan
from airtoll.testbeds.analytic import Analytic

FILE = "theory.parquet"


def write_theory(folder: RunFolder, plan: Plan) -> None:
    """Compute the cells with a closed form. Raises ``StorageError`` if the disk refuses."""
    bed = Analytic()
    rows = []
    for cell in plan.cells:
        if bed.check(cell) is not None:
            continue
        try:
            measured = bed.measure(plan.trial(cell, 1, 1))
        except TrialFault:
            continue
        values = [r.value for r in measured.rows if r.metric == "throughput_bps" and r.flow]
        if values:
            rows.append({"cell": cell.name, "value": math.fsum(values)})
    frame = pl.DataFrame(rows, schema={"cell": pl.String(), "value": pl.Float64()})
    put_table(frame, folder.path / FILE)
