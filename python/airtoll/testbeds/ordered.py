"""Testbeds with an order of their own.

Takes a plan; gives a rank for each of its trials. The order of trials never changes a value of a
deterministic testbed; elsewhere it decides how often an access point is touched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from airtoll.plan import Plan

#: Rank of (index of the cell, number of the trial); trials with a smaller rank come first.
Turn = Callable[[int, int], tuple[float, ...]]


@runtime_checkable
class Ordered(Protocol):
    """A testbed that orders the trials of a plan."""

    def order(self, plan: Plan) -> Turn | None:
        """The rank of every trial, or None for the plan's own order."""
