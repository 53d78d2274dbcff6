"""The observation schema: names, types, units and row order.

Takes nothing; gives the two Parquet schemas of a run. Never does IO. The known metrics are in
:mod:`airtoll.observe.metrics`. Rows contain no wall-clock time, so equal runs are equal files.

``observations.parquet`` has one row per trial, metric, flow and (for a series) second.
``trials.parquet`` has one row per attempt of a trial with its status: a skipped or failed trial is
a row in that table and never a zero in the observations.
"""

from __future__ import annotations

from typing import Final

import polars as pl

SCHEMA_VERSION: Final = 1

OBSERVATIONS: Final[dict[str, pl.DataType]] = {
    "schema_version": pl.UInt16(),
    "study": pl.String(),
    "testbed": pl.String(),  # simulator | linux | analytic | published | imported | capture
    "cell": pl.String(),  # canonical cell name, "single/open/udp" (+ "?key=value;...")
    "scenario": pl.String(),
    "policy": pl.String(),  # catalogue name, never an alias
    "traffic": pl.String(),
    "factors": pl.String(),  # canonical JSON object of the other factor levels, "{}" if none
    "trial": pl.UInt32(),  # 1-based
    "attempt": pl.UInt32(),  # 1-based; above 1 after a re-run by the study's rule
    "seed": pl.UInt64(),
    "flow": pl.String(),  # null for a metric of the whole cell
    "station": pl.String(),  # null for a metric of the whole cell
    "second": pl.UInt32(),  # 0-based second of a series; null for a value of the whole trial
    "metric": pl.String(),
    "value": pl.Float64(),
    "unit": pl.String(),
}

TRIALS: Final[dict[str, pl.DataType]] = {
    "schema_version": pl.UInt16(),
    "study": pl.String(),
    "testbed": pl.String(),
    "cell": pl.String(),
    "scenario": pl.String(),
    "policy": pl.String(),
    "traffic": pl.String(),
    "factors": pl.String(),
    "trial": pl.UInt32(),
    "attempt": pl.UInt32(),
    "seed": pl.UInt64(),
    "status": pl.String(),  # ok | warm_up | rerun | skipped | failed
    "reason": pl.String(),  # reason of every status but ok; null for ok
    "caveats": pl.List(pl.String()),  # limits of the values' meaning
}

#: Testbeds that draw no random numbers: trials of a cell are one trial by their model.
WITHOUT_CHANCE: Final = frozenset({"analytic"})

ROW_ORDER: Final = ("cell", "trial", "attempt", "metric", "flow", "station", "second")
TRIAL_ORDER: Final = ("cell", "trial", "attempt")
