"""Between two runs: which cells differ, by how much, and whether the trials tell them apart.

Two analyses of the same cells (before and after, simulator and closed form, simulator and Linux)
give one :class:`Change` per cell, metric, flow and station that both have. Cells are paired by
name. Tests form the families of ``analyse.families``, with the primary metrics of the first run.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import polars as pl
from attrs import evolve, frozen

from airtoll.analyse.analysis import Analysis, estimate_of_row, repeats_its_cell
from airtoll.analyse.comparison import least_p, trials_for_ranks, verdict, welch_p
from airtoll.analyse.estimate import DETERMINISTIC, NOT_SETTLED, ROUNDING, Estimate
from airtoll.analyse.families import EXPLORATORY, adjusted
from airtoll.analyse.overhead import Summary, difference

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

    ``difference`` is second - first with Welch's interval (NaN ends where one side has no
    spread). ``p_adjusted``: corrected over its family. ``verdict`` in words.
    """

    cell: str
    flow: str | None
    station: str | None
    metric: str
    first: Estimate
    second: Estimate
    difference: Estimate
    p_adjusted: float
    verdict: str

    @property
    def relative(self) -> float:
        """(second - first) / first; NaN where the first is zero."""
        return self.difference.value / self.first.value if self.first.value else math.nan

    @property
    def differs(self) -> bool:
        """Whether the two are told apart, at the estimates' level."""
        words = self.verdict.removeprefix(f"{EXPLORATORY}: ")
        return words in ("higher", "lower") or words.startswith("outside")


def changes(first: Analysis, second: Analysis) -> list[Change]:
    """The changes from the first to the second run, in the order of the first."""
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
    found, p_values = [], []
    for row in pairs.iter_rows(named=True):
        there = {name: row[f"{name}_2"] for name in _VALUES} | {"unit": row["unit"]}
        one = estimate_of_row(row, first.level)
        two = estimate_of_row(there, second.level)
        a, b = _summary(row), _summary(there)
        delta = difference(b, a, row["unit"], first.level)
        p_values.append(_p_value(b, a))
        found.append(
            Change(
                row["cell"],
                row["flow"],
                row["station"],
                row["metric"],
                one,
                two,
                delta,
                math.nan,
                "",
            )
        )
    order = sorted(range(len(found)), key=lambda i: rank[found[i].metric])
    alone = np.array(p_values, dtype=np.float64)
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
        evolve(
            found[i],
            p_adjusted=float(corrected[i]),
            verdict=_words(
                found[i], float(corrected[i]), float(alone[i]), int(sizes[i]), bool(primary[i])
            ),
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


def _words(change: Change, p: float, alone: float, family: int, primary: bool) -> str:
    """Where one side is a single figure (a closed form), the other's interval decides."""
    sides = (change.first, change.second)
    if not all(e.is_settled for e in sides):
        return NOT_SETTLED
    single = [e for e in sides if e.n == 1]
    spread = [e for e in sides if e.n > 1 and e.has_interval]
    if single and spread:
        place = "within" if spread[0].contains(single[0].value) else "outside"
        return f"{place} the other's interval"
    needs = None
    if change.difference.is_equal and not math.isnan(alone):
        alpha = (1 - change.difference.level) / (max(family, 1) if primary else 1)
        needs = trials_for_ranks(alpha) if alone >= alpha else None
    return ("" if primary else f"{EXPLORATORY}: ") + verdict(
        change.difference, p, math.nan, math.nan, "higher", "lower", alone=alone, family=family,
        n=f"{change.first.n} + {change.second.n}", needs=needs,
    )  # fmt: skip
