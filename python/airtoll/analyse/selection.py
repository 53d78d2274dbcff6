"""The selection rules of the published studies, as named functions.

A rule takes readings in the order of their trials and returns a Boolean mask of the same length
(True: counts). The rules of ``LOOKS_AT_VALUES`` keep readings by their values, so that an interval
over the readings kept is too narrow: ``bias_of_rule`` measures its coverage by simulation. An
analysis takes the point estimate by the rule, and intervals and tests from all readings.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import polars as pl
from attrs import frozen
from numpy.typing import ArrayLike, NDArray

from airtoll.analyse.estimate import Array, mean_t, sample
from airtoll.errors import UsageError

#: Rules that look at the readings. An interval over the readings that they keep is too narrow.
LOOKS_AT_VALUES = ("closest_to_mean", "agreement")

Mask = NDArray[np.bool_]
Rule = Callable[[Array], Mask]


def keep_all() -> Rule:
    """Every reading counts."""
    return lambda values: np.ones(values.size, dtype=np.bool_)


def closest_to_mean(keep: int) -> Rule:
    """The ``keep`` readings closest to the mean of all (Tripathi: 5 of 20, section V).

    Of equally close readings the earlier one counts.
    """
    _positive("closest_to_mean", "keep", keep)

    def rule(values: Array) -> Mask:
        mask = np.zeros(values.size, dtype=np.bool_)
        if values.size:
            order = np.argsort(np.abs(values - values.mean()), kind="stable")
            mask[order[:keep]] = True
        return mask

    return rule


def discard_first(count: int) -> Rule:
    """All but the first ``count`` (Gheryani, Tepšić: 2)."""
    if count < 0:
        raise UsageError(f"discard_first: count must be 0 or more, got {count}")
    return lambda values: np.arange(values.size) >= count


def agreement(ratio: float) -> Rule:
    """Readings that agree with the one before or after: min / max >= ratio (Tepšić: 0.9)."""
    if not 0 < ratio <= 1:
        raise UsageError(f"agreement: ratio must be above 0 and at most 1, got {ratio}")

    def rule(values: Array) -> Mask:
        if values.size < 2:
            return np.zeros(values.size, dtype=np.bool_)
        low = np.minimum(values[1:], values[:-1])
        high = np.maximum(values[1:], values[:-1])
        agrees = low >= ratio * high
        mask = np.zeros(values.size, dtype=np.bool_)
        mask[1:] |= agrees
        mask[:-1] |= agrees
        return mask

    return rule


def sigma_rule(below_sigma: float, minimum_trials: int = 2) -> Rule:
    """McCarter's re-run rule (section 5.4.1.3): False marks a trial that had to be run again.

    A new trial is compared with mean and sample deviation of the accepted ones before it.
    """

    def rule(values: Array) -> Mask:
        mask = np.ones(values.size, dtype=np.bool_)
        for index in range(values.size):
            earlier = values[:index][mask[:index]]
            mask[index] = not needs_rerun(earlier, values[index], below_sigma, minimum_trials)
        return mask

    return rule


def needs_rerun(
    earlier: ArrayLike, new: float, below_sigma: float, minimum_trials: int = 2
) -> bool:
    """Whether ``new`` lies more than ``below_sigma`` deviations below the ``earlier`` mean.

    With fewer than ``minimum_trials`` (at least two) earlier trials the rule cannot speak.
    """
    before = sample(earlier)
    if before.size < max(minimum_trials, 2):
        return False
    return bool(new < before.mean() - below_sigma * before.std(ddof=1))


def largest_possible_z(n: int) -> float:
    """Largest |z| that one of n readings can have when it is part of mean and deviation.

    (n - 1) / sqrt(n) for the sample deviation (Shiffler 1988). A rule that asks for more,
    applied to a finished set, can never fire: n = 10 gives 2.85.
    """
    return (n - 1) / math.sqrt(n) if n > 0 else 0.0


def select_rows(
    frame: pl.DataFrame, by: list[str], rule: str, number: float | None
) -> pl.DataFrame:
    """Apply a rule to ``value`` within the groups ``by``, in the order of ``trial``.

    Vectorised over groups; ``number`` is the rule's keep, count or ratio.
    """
    if rule == "all":
        return frame
    if number is None:
        raise UsageError(f"selection rule {rule!r} lacks its number")
    frame = frame.sort([*by, "trial"])
    if rule == "closest_to_mean":
        distance = (pl.col("value") - pl.col("value").mean()).abs()
        return frame.filter(distance.rank("ordinal").over(by) <= int(number))
    if rule == "discard_first":
        return frame.filter(pl.int_range(pl.len()).over(by) >= int(number))
    if rule == "agreement":
        value = pl.col("value")

        def agrees(shift: int) -> pl.Expr:
            other = value.shift(shift)
            near = pl.min_horizontal(value, other) >= number * pl.max_horizontal(value, other)
            return (near & other.is_not_null()).over(by)

        return frame.filter(agrees(1) | agrees(-1))
    raise UsageError(
        f"selection rule {rule!r}: allowed are all, closest_to_mean, discard_first, agreement"
    )


@frozen
class RuleBias:
    """The effect of a rule on the interval of a mean, by simulation of normal readings.

    ``coverage``: share of nominal ``level`` t intervals over the selected readings that hold
    the true mean. ``width_ratio``: their mean width over that of all readings. ``bias``: mean
    error of the selected mean, in deviations of one reading.
    """

    n: int
    level: float
    coverage: float
    width_ratio: float
    bias: float
    simulations: int


def bias_of_rule(
    rule: Rule, n: int, rng: np.random.Generator, level: float = 0.95, simulations: int = 2000
) -> RuleBias:
    """Simulate ``n`` standard normal readings and measure the coverage of the rule's interval."""
    hits, width, full, error, counted = 0, 0.0, 0.0, 0.0, 0
    for row in rng.standard_normal((simulations, n)):
        kept = row[rule(row)]
        if kept.size < 2:
            continue
        estimate = mean_t(kept, "1", level)
        counted += 1
        hits += estimate.contains(0.0)
        width += estimate.half_width
        full += mean_t(row, "1", level).half_width
        error += estimate.value
    if counted == 0:
        return RuleBias(n, level, math.nan, math.nan, math.nan, simulations)
    return RuleBias(n, level, hits / counted, width / full, error / counted, simulations)


def _positive(rule: str, name: str, value: int) -> None:
    if value < 1:
        raise UsageError(f"{rule}: {name} must be 1 or more, got {value}")
