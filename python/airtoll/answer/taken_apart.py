"""The parts of a change of throughput, from the ledger of the air."""

from __future__ import annotations

import polars as pl

from airtoll.analyse import Estimate
from airtoll.analyse.analysis import THROUGHPUT
from airtoll.analyse.decomposition import PARTS, REMAINDER, decompose
from airtoll.answer.claims import Compare, Parts
from airtoll.answer.measured import Measured


def parts(claim: Compare, measured: Measured) -> Parts | None:
    """Where the cost of one candidate at one place goes; None without a ledger."""
    if claim.metric != THROUGHPUT or claim.change is None:
        return None
    mine, other = claim.place.cells[claim.have], claim.place.cells[claim.to]
    spans = {cell.name: cell.load.duration_s - cell.load.warm_up_s for cell in (mine, other)}
    rows = (
        measured.observations.filter(pl.col("cell").is_in(list(spans)))
        .with_columns(pl.col(pl.Categorical).cast(pl.String))
        .with_columns(
            policy=pl.col("cell").replace_strict({mine.name: "have", other.name: "to"}),
            scenario=pl.lit("here"),
            traffic=pl.lit("all"),
            factors=pl.lit("{}"),
        )
    )
    if not rows["metric"].str.starts_with("airtime_").any():
        return None
    frame = decompose(
        rows,
        spans,
        baseline="have",
        definition="of_baseline",
        level=measured.analysis.level,
    )
    found = {
        str(row["part"]): Estimate(
            row["value"], row["low"], row["high"], measured.analysis.level, int(row["n"]),
            str(row["method"]), "1",
        )
        for row in frame.iter_rows(named=True)
        if row["value"] is not None
    }  # fmt: skip
    if not found:
        return None
    ordered = tuple((part, found[part]) for part in (*PARTS, REMAINDER) if part in found)
    return Parts(claim, ordered, -claim.change.value)
