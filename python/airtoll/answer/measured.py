"""The measured values that claims are made from."""

from __future__ import annotations

import polars as pl
from attrs import field, frozen

from airtoll.analyse import Analysis, Comparison
from airtoll.plan import Plan


@frozen(eq=False)
class Measured:
    """A run, read and analysed.

    ``observations`` and ``sketches``: those of the trials that count. ``comparisons``: with printed
    figures. ``paired``: trials of equal number share their random numbers under every policy, or
    the state of a drifting testbed (``by_policy_alone``: the former).
    """

    plan: Plan
    testbed: str
    observations: pl.DataFrame = field(repr=False)
    trials: pl.DataFrame = field(repr=False)
    analysis: Analysis = field(repr=False)
    sketches: pl.DataFrame | None = field(default=None, repr=False)
    comparisons: tuple[Comparison, ...] = field(default=(), repr=False)
