"""The expected time of a study follows the speed at which its own trials run here."""

from __future__ import annotations

import pytest

from airtoll.plan import make_plan
from airtoll.run import speed
from airtoll.study import load
from airtoll.testbeds.contract import Measured


class Clock:
    """A clock that only trials move on."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Machine:
    """Trials of TCP take four times as long as expected, all others twice as long."""

    def __init__(self, clock: Clock, each_s: float = 0.01) -> None:
        self.clock, self.each_s = clock, each_s
        self.asked: list[str] = []

    def expected_s(self, cell):
        return self.each_s

    def measure(self, trial, captures=None):
        self.asked.append(trial.cell.name)
        self.clock.now += (4 if trial.cell.traffic == "tcp" else 2) * self.each_s
        return Measured()


def test_each_traffic_has_the_factor_of_its_own_trials():
    plan, clock = make_plan(load("quickstart").study), Clock()
    found = speed.measured(Machine(clock), plan, plan.cells, budget_s=1.0, clock=clock)
    factors = {cell.traffic: found.of(cell) for cell in plan.cells}
    assert factors == pytest.approx({"udp": 2.0, "tcp": 4.0, "small": 2.0})
    assert found.overall == pytest.approx(8 / 3)


def test_the_budget_ends_it_and_other_traffic_has_the_factor_of_all():
    plan, clock = make_plan(load("quickstart").study), Clock()
    machine = Machine(clock)
    found = speed.measured(machine, plan, plan.cells, budget_s=0.015, clock=clock)
    assert len(set(machine.asked)) == 1
    assert len({found.of(cell) for cell in plan.cells}) == 1


def test_long_trials_are_not_measured():
    plan, clock = make_plan(load("quickstart").study), Clock()
    machine = Machine(clock, each_s=30.0)
    found = speed.measured(machine, plan, plan.cells, budget_s=1.0, clock=clock)
    assert machine.asked == []
    assert found.overall == 1.0
