"""Cells of added-up tables that hold a part which their names leave out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl
import pytest

from airtoll.analyse.audit.columns import Figures
from airtoll.analyse.audit.composition import hidden_parts
from airtoll.analyse.audit.finding import Finding
from airtoll.observe.datasets import load_dataset


def found_with(changed: Mapping[tuple[str, str], float]) -> list[Finding]:
    """The rule on Agarwal's tables with other times at (configuration, policy) of table II."""
    dataset = load_dataset("agarwal2005")
    figures = dataset.figures
    for (configuration, security), value in changed.items():
        own = (
            (pl.col("table") == "II")
            & (pl.col("configuration") == configuration)
            & (pl.col("security") == security)
        )
        figures = figures.with_columns(
            **{
                column: pl.when(own).then(pl.lit(value)).otherwise(pl.col(column)).alias(column)
                for column in ("number", "si")
            },
            value=pl.when(own).then(pl.lit(f"{value:.3f}")).otherwise(pl.col("value")),
        )
    return hidden_parts(Figures(replace(dataset, figures=figures)))


def test_a_table_whose_ten_cells_are_sums_of_five_times_names_the_hidden_part():
    found = found_with({})
    assert {(f.table, f.printed, f.recomputed) for f in found} == {
        ("II", "1.749 s", "0.454 s without ipsec-3des-sha"),
        ("II", "3.144 s", "1.849 s without ipsec-3des-sha"),
        ("IV", "0.82", ""),
        ("IV", "0.46", ""),
    }
    assert "10 cells" in found[0].evidence
    assert "sums of 5 times" in found[0].evidence


@pytest.mark.parametrize(
    "changed",
    [
        # The cells hold what their names say.
        {("roaming", "8021x-md5"): 0.454, ("roaming", "8021x-tls"): 1.849},
        # One cell of the other column was measured: the table is no sum.
        {("roaming", "8021x-md5"): 1.731},
        # The compositions were measured.
        {("non-roaming", "8021x-md5+ipsec"): 1.698},
    ],
)
def test_other_tables_have_no_hidden_part(changed):
    assert found_with(changed) == []
