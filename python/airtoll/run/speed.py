"""The speed of this machine: how many times longer a simulated trial takes than expected.

The expectation of ``Simulator.expected_s`` is that of one core of a fast machine with nothing
beside it. Short trials of a shipped study, simulated once per process, say how far this one is off.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import Final

from airtoll.plan import Plan, make_plan
from airtoll.study import load, with_values
from airtoll.testbeds.contract import Testbed
from airtoll.testbeds.simulator import Simulator

#: The study of the short trials: a saturated link with datagrams and with TCP.
_STUDY: Final = "quickstart"
_SHORT_S: Final = 0.3
#: Rounds, of which the fastest counts: the first one has caches to fill.
_ROUNDS: Final = 3


def slowness(bed: Testbed, plan: Plan, clock: Callable[[], float] = time.thread_time) -> float:
    """Measured over expected processor time of a trial of each cell, in the fastest of some rounds.

    ``clock``: processor time of this thread, seconds: a machine that is busy with other work makes
    no trial longer by it.
    """
    expected = sum(bed.expected_s(cell) for cell in plan.cells)
    rounds = []
    for number in range(1, _ROUNDS + 1):
        start = clock()
        for cell in plan.cells:
            bed.measure(plan.trial(cell, number, 1))
        rounds.append(clock() - start)
    return min(rounds) / expected


@cache
def of_this_machine() -> float:
    """The slowness of the simulator here, measured in the first call: some 0.1 s."""
    values = {f"traffic.{name}.duration_s": _SHORT_S for name in ("udp", "tcp", "small")}
    file = with_values(load(_STUDY), {**values, "grid.policy": ["open"]})
    return slowness(Simulator(), make_plan(file.study))
