"""Trials of imported files, and the observation tables that they make.

A trial is what one test or a number of a table has for one cell. Its rows have the units of the
observation schema.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl
from attrs import frozen

from airtoll.observe.metrics import METRICS
from airtoll.observe.schema import (
    OBSERVATIONS,
    ROW_ORDER,
    SCHEMA_VERSION,
    TRIAL_ORDER,
    TRIALS,
)

#: Metric, flow, station, second, value.
Row = tuple[str, str | None, str | None, int | None, float]


@frozen
class Place:
    """The cell that a file's readings belong to; a CSV table may name its own."""

    study: str = "imported"
    scenario: str = "imported"
    policy: str = "open"
    traffic: str | None = None


@frozen
class Trial:
    """A trial of a cell; ``number`` is ``None`` until a folder gives it one."""

    scenario: str
    policy: str
    traffic: str
    number: int | None
    rows: Sequence[Row]
    caveats: tuple[str, ...] = ()

    @property
    def cell(self) -> str:
        """The name of its cell."""
        return f"{self.scenario}/{self.policy}/{self.traffic}"


def observations_of(trials: Iterable[Trial], study: str) -> pl.DataFrame:
    """The observations of numbered trials, in canonical order."""
    columns: dict[str, list[Any]] = {name: [] for name in OBSERVATIONS}
    for trial in trials:
        count = len(trial.rows)
        labels: tuple[tuple[str, Any], ...] = (
            ("schema_version", SCHEMA_VERSION),
            ("study", study),
            ("testbed", "imported"),
            ("cell", trial.cell),
            ("scenario", trial.scenario),
            ("policy", trial.policy),
            ("traffic", trial.traffic),
            ("factors", "{}"),
            ("trial", trial.number),
            ("attempt", 1),
            ("seed", None),
        )
        for name, label in labels:
            columns[name] += [label] * count
        for metric, flow, station, second, value in trial.rows:
            columns["metric"].append(metric)
            columns["flow"].append(flow)
            columns["station"].append(station)
            columns["second"].append(second)
            columns["value"].append(value)
            columns["unit"].append(METRICS[metric].unit)
    return pl.DataFrame(columns, schema=OBSERVATIONS).sort(ROW_ORDER, nulls_last=False)


def trials_of(observations: pl.DataFrame, trials: Iterable[Trial] = ()) -> pl.DataFrame:
    """A trials table for imported observations; every trial counts. Caveats are of ``trials``."""
    said: dict[tuple[str, int | None], list[str]] = {}
    for trial in trials:
        own = said.setdefault((trial.cell, trial.number), [])
        own += [caveat for caveat in trial.caveats if caveat not in own]
    caveats = pl.DataFrame(
        [(cell, number, text) for (cell, number), text in said.items() if text],
        schema={"cell": pl.String(), "trial": pl.UInt32(), "caveats": TRIALS["caveats"]},
        orient="row",
    )
    keys = [name for name in TRIALS if name in OBSERVATIONS]
    return (
        observations.select(keys)
        .unique()
        .join(caveats, on=["cell", "trial"], how="left")
        .with_columns(
            pl.col("caveats").fill_null(pl.lit([], TRIALS["caveats"])),
            status=pl.lit("ok"),
            reason=pl.lit(None, pl.String),
        )
        .select([pl.col(name).cast(kind) for name, kind in TRIALS.items()])
        .sort(TRIAL_ORDER)
    )
