"""Between two runs: which cells differ, by how much, and whether the trials tell them apart.

Two analyses of the same cells (before and after, simulator and closed form, simulator and Linux)
give one :class:`Change` per cell, metric, flow and station that both have. Cells are paired by
name. Tests form the families of ``analyse.families``, with the primary metrics of the first run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl
from attrs import evolve, frozen

from airtoll.analyse.analysis import Analysis, estimate_of_row, repeats_its_cell
from airtoll.analyse.comparison import (
    least_p,
    least_p_of_pairs,
    trials_for_ranks,
    trials_for_signs,
    welch_p,
)
from airtoll.analyse.estimate import DETERMINISTIC, EQUAL, ROUNDING, Estimate
from airtoll.analyse.evidence import Evidence, evidence_of
from airtoll.analyse.families import adjusted
from airtoll.analyse.overhead import Summary, difference, ratio_fieller
from airtoll.analyse.pairing import fieller_paired_ends, paired_interval

#: Metrics on which two runs are compared, in this order.
METRICS: Final = (
    "throughput_bps",
    "loss_ratio",
    "delay_s",
    "jitter_s",
    "response_time_s",
    "transfer_delay_s",
    "association_time_s",
    "eap_time_s",
    "key_handshake_time_s",
    "negotiation_time_s",
    "handover_gap_s",
)
_KEYS: Final = ["cell", "flow", "station", "metric", "unit"]


@frozen
class Change:
    """One quantity in two runs.

    ``difference`` is second - first with Welch's interval or that of pairs (NaN ends where one side
    or the pairs have no spread). ``share``: the same as a share of the first; None where the first
    is zero. ``p`` is that of the test alone, ``p_adjusted`` corrected over its family of ``among``
    comparisons.
    ``evidence``: what the test shows; ``needs``: the trials a side that it takes, where there are
    too few. ``is_primary``: whether it is of a metric that the first run answers with.
    """

    cell: str
    flow: str | None
    station: str | None
    metric: str
    first: Estimate
    second: Estimate
    difference: Estimate
    share: Estimate | None
    p: float
    p_adjusted: float = math.nan
    evidence: Evidence = Evidence.UNDETECTED
    needs: int | None = None
    among: int = 1
    is_primary: bool = True

    @property
    def relative(self) -> float:
        """(second - first) / first; NaN where the first is zero."""
        return self.difference.value / self.first.value if self.first.value else math.nan

    @property
    def differs(self) -> bool:
        """Whether the two are told apart, at the estimates' level."""
        return self.evidence.differs


@frozen
class Readings:
    """The observations and trials of a run."""

    observations: pl.DataFrame
    trials: pl.DataFrame


def pairs_of(first: Readings, second: Readings) -> dict[tuple[object, ...], dict[str, float]]:
    """Means, their variances and covariance over trials of equal number of two runs that drew the
    same random numbers, and how far their differences reach, by cell, flow, station, metric and
    unit.
    """
    by = list(_KEYS)
    one, two = (_counted(readings) for readings in (first, second))
    joined = one.rename({"value": "x"}).join(two, on=[*by, "trial"], how="inner", nulls_equal=True)
    rows = joined.group_by(by).agg(
        a=pl.col("value").mean(),
        b=pl.col("x").mean(),
        va=pl.col("value").var(ddof=1) / pl.len(),
        vb=pl.col("x").var(ddof=1) / pl.len(),
        covariance=pl.cov("value", "x", ddof=1) / pl.len(),
        spread=(pl.col("value") - pl.col("x")).var(ddof=1) / pl.len(),
        reach=(pl.col("value") - pl.col("x")).max() - (pl.col("value") - pl.col("x")).min(),
        n=pl.len(),
    )
    return {tuple(row[name] for name in by): row for row in rows.iter_rows(named=True)}


def _counted(readings: Readings) -> pl.DataFrame:
    """Values of whole trials that count."""
    ok = readings.trials.filter(pl.col("status") == "ok").select(
        pl.col("cell").cast(pl.String), "trial", "attempt"
    )
    texts = ("cell", "flow", "station", "metric", "unit")
    return (
        readings.observations.filter(pl.col("second").is_null())
        .select(*(pl.col(name).cast(pl.String) for name in texts), "trial", "attempt", "value")
        .filter(pl.col("metric").is_in(METRICS))
        .join(ok, on=["cell", "trial", "attempt"], how="inner")
        .drop("attempt")
    )


def _in_pairs(change: Change, pair: dict[str, float] | None, level: float) -> Change:
    """The change with the interval and the p value of its pairs; as it is where not every trial
    has a partner, or where a value is no mean of the trials.
    """
    sides = (change.first, change.second)
    if pair is None or pair["n"] < _LEAST_PAIRS or any(one.n != pair["n"] for one in sides):
        return change
    if not all(one.method.startswith("mean") for one in sides):
        return change
    delta = pair["a"] - pair["b"]
    exact = ROUNDING * max(abs(pair["a"]), abs(pair["b"]))
    if pair["reach"] <= exact:
        return _of_equal_pairs(change, 0.0 if abs(delta) <= exact else delta)
    found = {name: np.array([float(value)]) for name, value in pair.items() if name in _OF_PAIRS}
    low, high, p = paired_interval(np.array([delta]), np.array([pair["spread"]]), found["n"], level)
    difference = evolve(
        change.difference, value=delta, low=float(low[0]), high=float(high[0]), method="paired t"
    )
    share = change.share
    if share is not None:
        ends = fieller_paired_ends(**found, level=level)
        share = evolve(
            share,
            value=delta / pair["b"],
            low=float(ends[0][0]) - 1,
            high=float(ends[1][0]) - 1,
            method="paired Fieller",
        )
    return evolve(change, difference=difference, share=share, p=float(p[0]))


def _of_equal_pairs(change: Change, delta: float) -> Change:
    """The change where the difference is ``delta`` in every pair: their spread is not known.

    Pairs that all differ to one side have the p value of the sign test; those without a difference
    have none, as there is nothing to test.
    """

    def told(of: Estimate, value: float) -> Estimate:
        return evolve(of, value=value, low=math.nan, high=math.nan, method=f"pairs, {EQUAL}")

    first = change.first.value
    return evolve(
        change,
        difference=told(change.difference, delta),
        share=None if change.share is None else told(change.share, delta / first),
        p=least_p_of_pairs(change.first.n) if delta else math.nan,
    )


#: Pairs from which on their differences say how far they vary.
_LEAST_PAIRS: Final = 2
_OF_PAIRS: Final = ("a", "b", "va", "vb", "covariance", "n")


def changes(
    first: Analysis,
    second: Analysis,
    pairs_by_key: Mapping[tuple[object, ...], dict[str, float]] | None = None,
) -> list[Change]:
    """The changes from the first to the second run, in the order of the first.

    ``pairs_by_key``: of runs that drew the same random numbers, their pairs (:func:`pairs_of`).
    """
    wanted = pl.col("metric").is_in(METRICS)
    rank = {name: place for place, name in enumerate(METRICS)}
    pairs = first.estimates.filter(wanted).join(
        second.estimates.filter(wanted).select(
            *_KEYS, *(pl.col(c).alias(f"{c}_2") for c in _VALUES)
        ),
        on=_KEYS,
        how="inner",
        nulls_equal=True,
        maintain_order="left",
    )
    pairs = pairs.filter(~repeats_its_cell())
    found = []
    for row in pairs.iter_rows(named=True):
        there = {name: row[f"{name}_2"] for name in _VALUES} | {"unit": row["unit"]}
        one = estimate_of_row(row, first.level)
        two = estimate_of_row(there, second.level)
        a, b = _summary(row), _summary(there)
        delta = difference(b, a, row["unit"], first.level)
        key = tuple(row[name] for name in _KEYS)
        pair = None if pairs_by_key is None else pairs_by_key.get(key)
        found.append(
            _in_pairs(
                Change(
                    row["cell"],
                    row["flow"],
                    row["station"],
                    row["metric"],
                    one,
                    two,
                    delta,
                    _share(b, a, first.level),
                    _p_value(b, a),
                ),
                pair,
                first.level,
            )
        )
    order = sorted(range(len(found)), key=lambda i: rank[found[i].metric])
    alone = np.array([c.p for c in found], dtype=np.float64)
    totals = {(c.cell, c.metric) for c in found if c.flow is None and c.station is None}
    primary = np.array(
        [
            c.metric in first.answers
            and ((c.flow is None and c.station is None) or (c.cell, c.metric) not in totals)
            for c in found
        ],
        dtype=np.bool_,
    )
    corrected, sizes = adjusted(alone, primary, np.zeros(alone.shape, dtype=np.bool_))
    return [
        _with_evidence(
            evolve(
                found[i],
                p_adjusted=float(corrected[i]),
                among=int(sizes[i]),
                is_primary=bool(primary[i]),
            )
        )
        for i in order
    ]


_VALUES: Final = ("value", "value_all", "low", "high", "deviation", "n", "n_all", "method")


def _summary(row: dict[str, float]) -> Summary:
    deviation = math.nan if row["deviation"] is None else row["deviation"]
    exact = str(row["method"]).endswith(DETERMINISTIC)
    return Summary(row["value_all"], deviation, int(row["n_all"]), exact)


def _p_value(b: Summary, a: Summary) -> float:
    """Welch's p; that of an exact test of ranks where both sides have equal readings that differ.

    NaN where only one side has a spread: how many readings of it lie beyond the other is not known.
    """
    if not (a.has_unknown_spread or b.has_unknown_spread):
        return welch_p(b, a)
    same = abs(b.mean - a.mean) <= ROUNDING * max(abs(a.mean), abs(b.mean))
    both = a.deviation == 0 == b.deviation
    return least_p(a.n, b.n) if both and not same else math.nan


def _share(b: Summary, a: Summary, level: float) -> Estimate | None:
    """(second - first) / first with its interval; None where the first is zero."""
    if not a.mean:
        return None
    ratio = ratio_fieller(b, a, level)
    return evolve(ratio, value=ratio.value - 1, low=ratio.low - 1, high=ratio.high - 1)


def _with_evidence(change: Change) -> Change:
    """Where one side is a single figure (a closed form), the other's interval decides."""
    sides = (change.first, change.second)
    if not all(e.is_settled for e in sides):
        return evolve(change, evidence=Evidence.NOT_SETTLED)
    single = [e for e in sides if e.n == 1]
    spread = [e for e in sides if e.n > 1 and e.has_interval]
    if single and spread:
        is_within = spread[0].contains(single[0].value)
        return _held(change, Evidence.WITHIN if is_within else Evidence.OUTSIDE)
    needs = None
    if change.difference.is_equal and not math.isnan(change.p):
        alpha = (1 - change.difference.level) / (max(change.among, 1) if change.is_primary else 1)
        of_pairs = change.difference.method.startswith("pairs")
        fewest = trials_for_signs(alpha) if of_pairs else trials_for_ranks(alpha)
        needs = fewest if change.p >= alpha else None
    outcome = evidence_of(
        change.difference, change.p_adjusted, math.nan, alone=change.p, needs=needs
    )
    return evolve(change, evidence=outcome, needs=needs if outcome is Evidence.TOO_FEW else None)


def _held(change: Change, outcome: Evidence) -> Change:
    """A change whose interval is that of the side with several readings."""
    one, two = change.first, change.second
    ends = (
        (two.low - one.value, two.high - one.value)
        if one.n == 1
        else (two.value - one.high, two.value - one.low)
    )
    method = "a single figure against an interval"
    delta = evolve(change.difference, low=ends[0], high=ends[1], method=method)
    share = None if change.share is None else evolve(change.share, method=method)
    if share is not None and one.n == 1:
        share = evolve(share, low=ends[0] / one.value, high=ends[1] / one.value)
    elif share is not None and one.low > 0:
        share = evolve(share, low=two.value / one.high - 1, high=two.value / one.low - 1)
    return evolve(change, difference=delta, share=share, evidence=outcome)
