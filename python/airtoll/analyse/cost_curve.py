"""Throughput against a time per frame that a device adds, from few values of it.

Takes a function that measures the throughput at one cost; gives throughputs at any cost of the
search. The time per bit of one sender grows by straight lines: with the cost itself where a device
works alone, and not at all as long as it works beside something longer. Values are asked for where
a straight line has not been confirmed. Never runs a testbed itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Final

#: The longest time per frame of the search, us.
LONGEST_US: Final = 480.0
#: Costs at which every curve is measured, us.
_FIRST_US: Final = (0.0, 60.0, 120.0, 240.0, LONGEST_US)
#: Relative error of a time per bit from which on a line is divided, and the shortest line, us.
_CROOKED: Final = 0.01
_SHORTEST_US: Final = 15.0


def measured(measure: Callable[[float], float], first: Sequence[float] = ()) -> dict[float, float]:
    """Throughputs (bit/s) by cost (us), at ``first`` or the usual costs and where lines bend."""
    known = {cost: measure(cost) for cost in first or _FIRST_US}
    open_lines = list(itertools.pairwise(sorted(known)))
    while open_lines:
        low, high = open_lines.pop()
        middle = (low + high) / 2
        if high - low < 2 * _SHORTEST_US or _straight(known, low, high):
            continue
        expected = at(known, middle)
        known[middle] = measure(middle)
        if abs(known[middle] / expected - 1) > _CROOKED:
            open_lines += [(low, middle), (middle, high)]
    return dict(sorted(known.items()))


def _straight(known: Mapping[float, float], low: float, high: float) -> bool:
    """Whether the neighbours of a line lie on it."""
    costs = sorted(known)
    place = costs.index(low)
    outer = costs[max(0, place - 1) : place + 3]
    if len(outer) < 3:
        return False
    inner = [cost for cost in outer if cost not in (outer[0], outer[-1])]
    rest = {cost: known[cost] for cost in (outer[0], outer[-1])}
    return all(abs(known[cost] / at(rest, cost) - 1) < _CROOKED for cost in inner)


def at(known: Mapping[float, float], cost_us: float) -> float:
    """The throughput at a cost, by a straight line of the time per bit; at most the last one."""
    costs = sorted(known)
    if cost_us <= costs[0]:
        return known[costs[0]]
    for low, high in itertools.pairwise(costs):
        if cost_us <= high:
            share = (cost_us - low) / (high - low)
            return 1 / ((1 - share) / known[low] + share / known[high])
    return known[costs[-1]]
