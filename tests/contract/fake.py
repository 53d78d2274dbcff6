"""A deterministic testbed for tests: values follow from the seed, failures from the name.

It runs under the contract suite like the real ones, so that the runner can be tested without
waiting for a simulation. It is never offered to users.
"""

from __future__ import annotations

import random
from pathlib import Path

from airtoll.errors import Interrupted
from airtoll.plan import Cell, Trial
from airtoll.testbeds.contract import Measured, Row, Skip


class FakeTestbed:
    name = "fake"
    parallel = True

    def __init__(self, *, interrupt_after: int | None = None, outlier: bool = False) -> None:
        self.measured: list[tuple[str, int, int]] = []
        self.interrupt_after = interrupt_after
        self.outlier = outlier
        self.closed = False

    def check(self, cell: Cell) -> Skip | None:
        return Skip("the fake knows no WEP-40") if cell.policy == "wep-40" else None

    def cautions(self, cell: Cell) -> tuple[()]:
        return ()

    def expected_s(self, cell: Cell) -> float:
        return 0.001

    def measure(self, trial: Trial, captures: Path | None = None) -> Measured:
        if self.interrupt_after is not None and len(self.measured) >= self.interrupt_after:
            raise Interrupted("as asked")
        self.measured.append(trial.key)
        if trial.cell.policy == "owe-ccmp":
            return Measured(failure="did not authenticate: reason 23")
        draw = random.Random(trial.seed)
        base = 25e6 - 1e5 * (trial.cell.security.octets_per_mpdu)
        value = base + draw.gauss(0, 2e4)
        if self.outlier and trial.number == 4 and trial.attempt == 1:
            value = base / 2
        return Measured(
            rows=(
                Row("throughput_bps", value, "bit/s"),
                Row("throughput_bps", value, "bit/s", flow="A-up", station="A"),
                Row("delay_s", abs(draw.gauss(1e-3, 1e-5)), "s", flow="A-up", station="A"),
            )
        )

    def environment(self) -> dict[str, str]:
        return {"fake": "1"}

    def cancel(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True
