"""Which cells of a run go on, and to how many trials, until its overheads are as precise as wanted.

A run that stops when its interval is narrow enough stops more often than not after a small sample
deviation. From fewer than ten trials on, the interval then covers less than it says; its coverage
from ten on is in docs/statistics.md (benchmarks/stopping.py).

An overhead that is too wide takes its cell and the reference further. Cells that are compared in
pairs of trials go on together: a pair has one trial of each, so that a trial of one cell alone
would be in no pair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from attrs import frozen

from airtoll.analyse.precision import LEAST_TRIALS, Known, forecast
from airtoll.plan import Cell

#: Growth of the number of trials from one look to the next.
_LEAST_GROWTH: Final = 1.25
_MOST_GROWTH: Final = 2.0


def next_repetitions(
    repetitions: int, half_width: float, precision: float, most: int
) -> int | None:
    """Trials per cell to go on to; None where they are enough.

    ``half_width``: of the interval, in the unit of ``precision``.
    """
    if repetitions >= most:
        return None
    if repetitions < LEAST_TRIALS:
        return min(most, LEAST_TRIALS)
    if half_width <= precision:
        return None
    # A half width falls with the root of the trials. At most double: the deviation may settle.
    growth = min(_MOST_GROWTH, max(_LEAST_GROWTH, (half_width / precision) ** 2))
    return min(most, max(repetitions + 1, int(repetitions * growth)))


@frozen
class Look:
    """A look at a run: how precisely its overheads are known, and what follows.

    ``known``: the overheads. ``trials``: cell -> its trials so far, of all cells. ``wanted``: half
    widths that are narrow enough, as a share. ``on``: cell -> trials, of the cells that go on;
    empty at the end.
    """

    known: tuple[Known, ...]
    trials: Mapping[str, int]
    wanted: float
    on: Mapping[str, int]

    @property
    def wide(self) -> list[Known]:
        """The overheads that are not known as precisely as wanted, widest first."""
        return sorted(
            (one for one in self.known if one.half > self.wanted), key=lambda one: -one.half
        )

    def needs(self, one: Known) -> int | None:
        """Forecast of the trials per cell that an overhead needs, from its spread so far."""
        return forecast(
            min(self.trials[one.cell], self.trials[one.reference]), one.half, self.wanted
        )


def look(
    known: Sequence[Known],
    trials: Mapping[str, int],
    wanted: float,
    most: int,
    together: Mapping[str, str],
) -> Look:
    """The cells that go on, and to how many trials each.

    ``together``: cell -> the name of the cells with which it is compared in pairs, which go on with
    it; empty where trials are independent.
    """
    goals: dict[str, int] = {}

    def raise_to(cell: str, count: int) -> None:
        goals[cell] = max(goals.get(cell, trials[cell]), count)

    if known:
        for cell, count in trials.items():
            if count < LEAST_TRIALS:
                raise_to(cell, min(most, LEAST_TRIALS))
    for one in known:
        now = max(trials[one.cell], trials[one.reference])
        more = next_repetitions(now, one.half, wanted, most)
        if more is not None:
            raise_to(one.cell, more)
            raise_to(one.reference, more)
    groups: dict[str, int] = {}
    for cell, count in goals.items():
        if (group := together.get(cell)) is not None:
            groups[group] = max(groups.get(group, 0), count)
    for cell, group in together.items():
        if group in groups:
            raise_to(cell, groups[group])
    on = {cell: goals[cell] for cell in trials if goals.get(cell, 0) > trials[cell]}
    return Look(tuple(known), dict(trials), wanted, on)


def in_pairs(cells: Sequence[Cell], known: Sequence[Known]) -> dict[str, str]:
    """Cell -> a name of those with which it is compared in pairs of trials of equal number: the
    policies of its place, and the cells of one reference."""
    parent = {cell.name: cell.name for cell in cells}

    def root(name: str) -> str:
        while parent[name] != name:
            name = parent[name]
        return name

    first: dict[str, str] = {}
    for cell in cells:
        parent[root(cell.name)] = root(first.setdefault(cell.place, cell.name))
    for one in known:
        parent[root(one.cell)] = root(one.reference)
    return {cell.name: root(cell.name) for cell in cells}
