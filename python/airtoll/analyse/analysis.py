"""From observations to estimates, overheads and comparisons of a whole run.

Takes the two tables of a run (or of a data set); gives a frozen :class:`Analysis`: estimates per
cell and metric over the selected trials, overhead against the baseline policy in the same
scenario, traffic and factors, and Holm-corrected comparisons. Vectorised over cells.
Never reads a file and never runs a trial.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Protocol

import numpy as np
import polars as pl
from attrs import frozen

from airtoll.analyse.comparison import holm_adjust, tost_p_values, verdict, welch_p_values
from airtoll.analyse.estimate import Estimate
from airtoll.analyse.overhead import (
    DEFINITIONS,
    Definition,
    fieller_ends,
    mean_of_estimates,
    satterthwaite,
)
from airtoll.analyse.pairing import (
    fieller_paired_ends,
    paired_interval,
    paired_rows,
    paired_tost,
)
from airtoll.analyse.selection import select_rows
from airtoll.analyse.student import t_quantile
from airtoll.errors import UsageError

#: The metric that overhead is defined on.
THROUGHPUT: Final = "throughput_bps"

_CELL: Final = ["cell", "scenario", "policy", "traffic", "factors"]
_PART: Final = ["flow", "station"]
_SAME: Final = ["scenario", "traffic", "factors", "flow", "station", "metric"]

#: Metrics of which more is better; of the others less is, or neither.
_MORE_IS_FASTER: Final = (THROUGHPUT,)


class Selection(Protocol):
    """Which trials count; the ``select`` table of a study file is one."""

    @property
    def rule(self) -> str:
        """Name of the rule."""

    @property
    def keep(self) -> int | None:
        """closest_to_mean: how many to keep."""

    @property
    def count(self) -> int | None:
        """discard_first: how many to drop."""

    @property
    def ratio(self) -> float | None:
        """agreement: least ratio between two attempts."""


@frozen(eq=False)
class Analysis:
    """Estimates of one set of observations.

    ``estimates``: one row per cell, metric, flow and station with value, deviation, low, high,
    n, n_all (trials before selection), unit, method. ``overheads``: one row per secured cell
    with value, low, high, n, unit, definition, baseline_cell. ``comparisons``: one row per
    secured cell and metric with difference, low, high, p, p_holm, equivalence_p, effect (Hedges'
    g), unit, n, method, verdict. Intervals hold at ``level``. ``paired``: whether trials of equal
    number were compared in pairs.
    """

    level: float
    baseline: str
    definition: Definition
    selection: str
    estimates: pl.DataFrame
    overheads: pl.DataFrame
    comparisons: pl.DataFrame
    paired: bool = False

    def estimate(
        self, cell: str, metric: str, flow: str | None = None, station: str | None = None
    ) -> Estimate | None:
        """Estimate of one metric of one cell, or None if it was not observed."""
        return self._at(self.estimates, self._estimate_rows.get((cell, metric, flow, station)))

    def overhead(
        self, cell: str, flow: str | None = None, station: str | None = None
    ) -> Estimate | None:
        """Overhead of one secured cell, or None if there is no baseline cell for it."""
        return self._at(self.overheads, self._overhead_rows.get((cell, flow, station)))

    def combined_overhead(self, cells: Sequence[str]) -> Estimate | None:
        """Mean of the overheads of some cells (TCP and UDP, say); None if one is missing."""
        parts = [self.overhead(cell) for cell in cells]
        known = [part for part in parts if part is not None]
        return mean_of_estimates(known) if known and len(known) == len(parts) else None

    # Looked up once per mark of a figure: to query the frame takes longer than to draw the mark.
    @cached_property
    def _estimate_rows(self) -> Mapping[Hashable, int]:
        return rows_by(self.estimates, "cell", "metric", *_PART)

    @cached_property
    def _overhead_rows(self) -> Mapping[Hashable, int]:
        return rows_by(self.overheads, "cell", *_PART)

    def _at(self, frame: pl.DataFrame, row: int | None) -> Estimate | None:
        return None if row is None else estimate_of_row(frame.row(row, named=True), self.level)


_IS_PART: Final = (pl.col("flow").is_not_null() | pl.col("station").is_not_null()).alias("part")


def repeats_its_cell() -> pl.Expr:
    """Whether a row is of the only flow or station of a cell that has a row as a whole.

    Such a row says again what the whole says, and would count twice among comparisons.
    """
    parts = _IS_PART.sum().over("cell", "metric")
    return _IS_PART & (parts == 1) & (~_IS_PART).any().over("cell", "metric")


def rows_by(frame: pl.DataFrame, *columns: str) -> dict[Hashable, int]:
    """The number of the first row that holds each combination of these columns' values."""
    keys = list(zip(*(frame[column].to_list() for column in columns), strict=True))
    return {key: len(keys) - 1 - back for back, key in enumerate(reversed(keys))}


def estimate_of_row(row: dict[str, Any], level: float) -> Estimate:
    """The Estimate in a row of ``Analysis.estimates`` or ``Analysis.overheads``."""

    def number(value: float | None) -> float:
        return math.nan if value is None else value

    return Estimate(
        number(row["value"]),
        number(row["low"]),
        number(row["high"]),
        level,
        int(row["n"]),
        row["method"],
        row["unit"],
    )


def analyse(
    observations: pl.DataFrame,
    trials: pl.DataFrame | None = None,
    *,
    baseline: str = "open",
    overhead: Definition = "of_baseline",
    select: Selection | None = None,
    level: float = 0.95,
    margin: float | None = None,
    paired: bool = False,
) -> Analysis:
    """Analyse the observations of a run.

    ``paired``: overheads and comparisons are taken over pairs of trials of equal number (see
    ``pairing``); estimates are not.

    ``margin``: a share of the baseline's mean within which two cells count as equivalent (two
    one-sided tests); None: equivalence is not asked for.

    ``trials``: the run's trials table; attempts whose status is not ``ok`` are left out (None:
    every observation counts). Values of a series (``second`` not null) take no part.
    """
    if overhead not in DEFINITIONS:
        raise UsageError(f"overhead definition {overhead!r}: allowed are {', '.join(DEFINITIONS)}")
    if not 0 < level < 1:
        raise UsageError(f"level must lie between 0 and 1, got {level}")
    rows = observations.filter(pl.col("second").is_null() & pl.col("value").is_finite())
    if trials is not None and not trials.is_empty():
        good = trials.filter(pl.col("status") == "ok").select("cell", "trial", "attempt").unique()
        rows = rows.join(good, on=["cell", "trial", "attempt"], how="semi")
    by = [*_CELL, *_PART, "metric", "unit"]
    rule, number = _rule(select)
    counts = rows.group_by(by).agg(n_all=pl.len())
    chosen = select_rows(rows, by, rule, number)
    estimates = _estimates(chosen, by, level).join(counts, on=by, nulls_equal=True)
    estimates = estimates.sort([*_CELL, "metric", *_PART], nulls_last=False)
    if paired:
        pairs = paired_rows(chosen, _SAME, [*_CELL, *_PART], baseline)
        pairs = pairs.sort([*_CELL, "metric", *_PART], nulls_last=False)
    else:
        pairs = _pairs(estimates, baseline)
    return Analysis(
        level=level,
        baseline=baseline,
        definition=overhead,
        selection=rule if number is None else f"{rule}({number:g})",
        estimates=estimates,
        overheads=_overheads(pairs.filter(metric=THROUGHPUT), overhead, level),
        comparisons=_comparisons(pairs, level, margin),
        paired=paired,
    )


def _rule(select: Selection | None) -> tuple[str, float | None]:
    if select is None or select.rule == "all":
        return "all", None
    number = {
        "closest_to_mean": select.keep,
        "discard_first": select.count,
        "agreement": select.ratio,
    }.get(select.rule)
    return select.rule, number


def _estimates(rows: pl.DataFrame, by: list[str], level: float) -> pl.DataFrame:
    frame = rows.group_by(by).agg(
        value=pl.col("value").mean(), deviation=pl.col("value").std(ddof=1), n=pl.len()
    )
    n = frame["n"].to_numpy().astype(np.float64)
    deviation = frame["deviation"].fill_null(math.nan).to_numpy()
    with np.errstate(invalid="ignore", divide="ignore"):
        half = t_quantile(level, n - 1) * deviation / np.sqrt(n)
    value = frame["value"].to_numpy()
    return frame.with_columns(
        low=pl.Series(value - half),
        high=pl.Series(value + half),
        method=pl.when(pl.col("n") > 1).then(pl.lit("mean, t")).otherwise(pl.lit("single reading")),
    )


def _pairs(estimates: pl.DataFrame, baseline: str) -> pl.DataFrame:
    """Every secured row beside the baseline's row (columns ending in ``_0``)."""
    keep = [*_SAME, "cell", "value", "deviation", "n"]
    zero = estimates.filter(policy=baseline).select(keep)
    zero = zero.rename({name: f"{name}_0" for name in ("cell", "value", "deviation", "n")})
    secured = estimates.filter(pl.col("policy") != baseline)
    return secured.join(zero, on=_SAME, how="inner", nulls_equal=True)


def _arrays(pairs: pl.DataFrame) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
    n1 = pairs["n_0"].to_numpy().astype(np.float64)
    n2 = pairs["n"].to_numpy().astype(np.float64)
    paired = "covariance" in pairs.columns
    return {
        "c": pairs["covariance"].fill_null(math.nan).to_numpy()
        if paired
        else np.full(n1.shape, np.nan),
        "t1": pairs["value_0"].to_numpy(),
        "t2": pairs["value"].to_numpy(),
        "s1": pairs["deviation_0"].fill_null(math.nan).to_numpy(),
        "s2": pairs["deviation"].fill_null(math.nan).to_numpy(),
        "n1": n1,
        "n2": n2,
        "v1": pairs["deviation_0"].fill_null(math.nan).to_numpy() ** 2 / n1,
        "v2": pairs["deviation"].fill_null(math.nan).to_numpy() ** 2 / n2,
    }


def _overheads(pairs: pl.DataFrame, definition: Definition, level: float) -> pl.DataFrame:
    a = _arrays(pairs)
    paired = "covariance" in pairs.columns
    with np.errstate(divide="ignore", invalid="ignore"):
        if definition == "of_baseline":
            value = 1 - a["t2"] / a["t1"]
            low, high = _ratio_ends(a, "2", "1", level, paired)
            low, high = 1 - high, 1 - low
        elif definition == "of_secured":
            value = a["t1"] / a["t2"] - 1
            low, high = _ratio_ends(a, "1", "2", level, paired)
            low, high = low - 1, high - 1
        else:
            value, low, high, _p = _difference(a, level, paired)
    unit = "bit/s" if definition == "difference_bps" else "1"
    method = _METHODS[definition != "difference_bps", paired]
    known = np.isfinite(a["v1"]) & np.isfinite(a["v2"])
    return pairs.select(
        *_CELL,
        *_PART,
        pl.col("cell_0").alias("baseline_cell"),
        value=pl.Series(value),
        low=pl.Series(np.where(known, low, np.nan)),
        high=pl.Series(np.where(known, high, np.nan)),
        n=pl.col("n") + pl.col("n_0"),
        unit=pl.lit(unit),
        method=pl.lit(f"{definition}, {method}"),
    )


#: (a ratio?, in pairs?) -> method in words
_METHODS: Final = {
    (False, False): "Welch",
    (False, True): "paired t",
    (True, False): "Fieller",
    (True, True): "Fieller on pairs",
}


def _ratio_ends(
    a: dict[str, np.ndarray[Any, np.dtype[np.float64]]],
    top: str,
    bottom: str,
    level: float,
    paired: bool,
) -> tuple[Any, Any]:
    means = (a[f"t{top}"], a[f"t{bottom}"], a[f"v{top}"], a[f"v{bottom}"])
    if paired:
        return fieller_paired_ends(*means, a["c"], a["n1"], level)
    return fieller_ends(*means, a[f"n{top}"], a[f"n{bottom}"], level)


def _difference(
    a: dict[str, np.ndarray[Any, np.dtype[np.float64]]], level: float, paired: bool
) -> tuple[Any, Any, Any, Any]:
    """Secured - baseline with its ends and p value."""
    if paired:
        value = a["t2"] - a["t1"]
        return (value, *paired_interval(value, _paired_variance(a), a["n1"], level))
    value, low, high = _welch_interval(a, level)
    return value, low, high, welch_p_values(value, a["v2"], a["v1"], a["n2"], a["n1"])


def _paired_variance(a: dict[str, np.ndarray[Any, np.dtype[np.float64]]]) -> Any:
    return np.maximum(a["v1"] + a["v2"] - 2 * a["c"], 0.0)


def _welch_interval(
    a: dict[str, np.ndarray[Any, np.dtype[np.float64]]], level: float
) -> tuple[Any, Any, Any]:
    value = a["t2"] - a["t1"]
    with np.errstate(divide="ignore", invalid="ignore"):
        degrees = satterthwaite(a["v1"], a["v2"], a["n1"], a["n2"])
        half = t_quantile(level, degrees) * np.sqrt(a["v1"] + a["v2"])
    half = np.where((a["v1"] == 0) & (a["v2"] == 0), 0.0, half)
    return value, value - half, value + half


def _comparisons(pairs: pl.DataFrame, level: float, margin: float | None) -> pl.DataFrame:
    a = _arrays(pairs)
    paired = "covariance" in pairs.columns
    method = _METHODS[False, paired]
    value, low, high, p = _difference(a, level, paired)
    with np.errstate(divide="ignore", invalid="ignore"):
        degrees = a["n1"] + a["n2"] - 2
        pooled = np.sqrt(((a["n1"] - 1) * a["s1"] ** 2 + (a["n2"] - 1) * a["s2"] ** 2) / degrees)
        effect = value / pooled * (1 - 3 / (4 * degrees - 1))
    effect = np.where((pooled == 0) & (value == 0), 0.0, effect)
    limits = np.full(p.shape, np.nan) if margin is None else np.abs(a["t1"]) * margin
    alike = (
        paired_tost(value, _paired_variance(a), a["n1"], limits)
        if paired
        else tost_p_values(value, a["v2"], a["v1"], a["n2"], a["n1"], limits)
    )
    metrics = pairs["metric"].to_numpy()
    is_part, repeats = pairs.select(_IS_PART, repeats=repeats_its_cell()).to_numpy().T
    adjusted, sizes = np.full(p.shape, np.nan), np.zeros(p.shape, dtype=np.int64)
    for metric in np.unique(metrics) if metrics.size else []:
        family = (metrics == metric) & ~repeats
        adjusted[family] = holm_adjust(p[family])
        sizes[metrics == metric] = (~np.isnan(p[family])).sum()
    whole = {
        (cell, metric): q
        for cell, metric, q, part in zip(pairs["cell"], metrics, adjusted, is_part, strict=True)
        if not part
    }
    for row in np.flatnonzero(repeats):
        adjusted[row] = whole[pairs["cell"][int(row)], metrics[row]]
    words = [
        verdict(
            Estimate(v, lo, hi, level, int(n), f"difference, {method}", unit),
            q,
            e,
            m,
            "faster" if metric in _MORE_IS_FASTER else "higher",
            "slower" if metric in _MORE_IS_FASTER else "lower",
            alone=alone,
            family=size,
        )
        for v, lo, hi, n, unit, q, e, m, metric, alone, size in zip(
            value,
            low,
            high,
            a["n1"] + a["n2"],
            pairs["unit"].to_list(),
            adjusted,
            alike,
            limits,
            metrics,
            p,
            sizes,
            strict=True,
        )
    ]
    return pairs.select(
        *_CELL,
        *_PART,
        "metric",
        "unit",
        pl.col("cell_0").alias("baseline_cell"),
        difference=pl.Series(value),
        low=pl.Series(low),
        high=pl.Series(high),
        p=pl.Series(p),
        p_holm=pl.Series(adjusted),
        equivalence_p=pl.Series(alike),
        effect=pl.Series(effect),
        n=pl.col("n") + pl.col("n_0"),
        method=pl.lit(method),
        verdict=pl.Series(words, dtype=pl.String),
    )
