"""The speed of this machine: how many times longer trials take than expected.

``expected_s`` of a testbed is a formula of few constants, of a fast machine with nothing beside it.
A few trials of the study itself, before it is run, say how far it is off here and for this traffic.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from attrs import frozen

from airtoll.plan import Cell, Plan
from airtoll.testbeds.contract import Testbed

#: Processor time that all trials may take, and expected time of the longest one of them, seconds.
BUDGET_S: Final = 0.5
_LONGEST_S: Final = 0.2


@frozen
class Speed:
    """Measured over expected time of a trial, by traffic and over all that were measured."""

    by_traffic: Mapping[str, float]
    overall: float = 1.0

    def of(self, cell: Cell) -> float:
        """The factor of a cell."""
        return self.by_traffic.get(cell.traffic, self.overall)


def measured(
    bed: Testbed,
    plan: Plan,
    cells: Sequence[Cell],
    *,
    budget_s: float = BUDGET_S,
    clock: Callable[[], float] = time.thread_time,
) -> Speed:
    """The speed by two trials of some cells, of which the faster counts: of each traffic the cell
    that is expected to be shortest and the one that is longest, as far as the budget goes.

    ``clock``: processor time of this thread, seconds: a machine that is busy with other work makes
    no trial longer by waiting. Cells of long trials are not measured.
    """
    expected = {cell.name: bed.expected_s(cell) for cell in cells}
    short = [cell for cell in cells if expected[cell.name] <= _LONGEST_S]
    by_traffic: dict[str, list[Cell]] = {}
    for cell in sorted(short, key=lambda one: expected[one.name]):
        by_traffic.setdefault(cell.traffic, []).append(cell)
    chosen = [of[0] for of in by_traffic.values()] + [of[-1] for of in by_traffic.values()]
    took: dict[str, float] = {}
    for cell in dict.fromkeys(chosen):
        if 2 * sum(took.values()) >= budget_s:
            break
        times = []
        # The first trial of a cell builds it.
        for number in (1, 2):
            start = clock()
            bed.measure(plan.trial(cell, number, 1))
            times.append(clock() - start)
        took[cell.name] = min(times)
    if not took:
        return Speed({})
    named = {cell.name: cell for cell in cells}

    def factor(names: Sequence[str]) -> float:
        return sum(took[name] for name in names) / sum(expected[name] for name in names)

    traffics = dict.fromkeys(named[name].traffic for name in took)
    own = {t: [name for name in took if named[name].traffic == t] for t in traffics}
    return Speed({t: factor(names) for t, names in own.items()}, factor(list(took)))
