"""Throughputs freed of a chance that is known: a control variate.

A trial with more drawn back-off than expected delivers less. The excess of the drawn slots over
their expectation has an expectation of zero in every scenario, because whether a draw takes place
depends on earlier draws alone. ``trials.control = "backoff"`` records the excess, and each reading
is replaced by reading - slope x excess (Lavenberg and Welch 1981). The slope of a trial is the
regression slope of the other trials of its cell, so that the mean stays unbiased and the replaced
readings go into intervals and tests as independent ones do (the jackknife of Avramidis and Wilson
1993). Their intervals hold the truth in 94 % of cases from eight trials on
(``benchmarks/coverage_suite.py``).
"""

from __future__ import annotations

from typing import Final

import polars as pl

#: The control, a metric of whole trials.
CONTROL: Final = "backoff_excess_slots"
#: Metrics whose readings are replaced.
CONTROLLED: Final = ("throughput_bps",)
#: Fewest trials of a row: with five, intervals hold the truth in 93 % of cases.
FEWEST: Final = 8
#: Ends the method of a mean of replaced readings.
METHOD: Final = ", back-off as control variate"

_TRIAL: Final = ["cell", "trial", "attempt"]


def controlled(rows: pl.DataFrame, by: list[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The readings without the control, those with one replaced; and the cells with replaced ones.

    ``by``: the columns that name a row of estimates. Rows of fewer than ``FEWEST`` trials, of
    trials without a control, and of controls without spread keep their readings.
    """
    control = rows.filter(metric=CONTROL)
    if control.is_empty():
        return rows, pl.DataFrame(schema={"cell": pl.String()})
    columns = rows.columns
    order = [name for name in (*by, "trial", "attempt") if name in columns]
    rows = (
        rows.filter(pl.col("metric") != CONTROL)
        .join(control.select(*_TRIAL, c="value"), on=_TRIAL, how="left", maintain_order="left")
        # Sums in one order: equal observations, equal digits.
        .sort(order, nulls_last=False, maintain_order=True)
    )
    slope = _slope_of_others(by)
    usable = (
        pl.col("metric").is_in(list(CONTROLLED))
        & (pl.len().over(by) >= FEWEST)
        & (pl.col("c").null_count().over(by) == 0)
        & slope.is_finite()
    )
    rows = rows.with_columns(
        value=pl.when(usable).then(pl.col("value") - slope * pl.col("c")).otherwise("value"),
        used=usable.fill_null(value=False),
    )
    return rows.select(columns), rows.filter("used").select("cell").unique()


def _slope_of_others(by: list[str]) -> pl.Expr:
    """The regression slope of the readings on the control over the other trials of the row."""
    c, y = pl.col("c"), pl.col("value") - pl.col("value").mean().over(by)
    others = pl.len().over(by) - 1
    c_sum, y_sum = c.sum().over(by) - c, y.sum().over(by) - y
    square = (c * c).sum().over(by) - c * c - c_sum * c_sum / others
    product = (c * y).sum().over(by) - c * y - c_sum * y_sum / others
    return pl.when(square > 0).then(product / square)
