"""The work that a guided build of the native module is trained on: cells of every shipped study.

`maturin build --pgo` and `maturin develop --pgo` run this with an instrumented module and build it
again for what it did most. Cells are spread evenly over a study; long ones are left out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from airtoll.errors import AirtollError
from airtoll.plan import Cell, make_plan
from airtoll.study import load, shipped
from airtoll.testbeds.simulator import Simulator

#: Most cells of one study, and the longest expected time of one of them, s.
_CELLS, _LONGEST_S = 16, 0.4


def chosen(testbed: Simulator, cells: tuple[Cell, ...]) -> Iterator[Cell]:
    """Cells that the simulator carries out in a short time, spread over the study."""
    left = _CELLS
    for cell in cells[:: max(1, len(cells) // (2 * _CELLS))]:
        if left and testbed.check(cell) is None and testbed.expected_s(cell) <= _LONGEST_S:
            left -= 1
            yield cell


def main() -> None:
    """Simulate them, one trial each."""
    testbed = Simulator()
    for name in shipped():
        plan = make_plan(load(name).study)
        done = 0
        for cell in chosen(testbed, plan.cells):
            try:
                testbed.measure(plan.trial(cell, 1, 1))
            except AirtollError as error:
                print(f"{cell.name}: {error}", file=sys.stderr)
            done += 1
        print(f"{name}: {done} cells", flush=True)


if __name__ == "__main__":
    main()
