"""Printed values: one value has one verdict, whatever is near it."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from airtoll.analyse import Comparison, Estimate
from airtoll.analyse.audit.limits import severity_above
from airtoll.analyse.ceiling import BEYOND
from airtoll.answer.claims import Reproduces
from airtoll.answer.reproduced import reproduced
from airtoll.plan import Cell, make_plan
from airtoll.profiles import Profile
from airtoll.study import load

CELL = make_plan(load("quickstart").study, seed=1, repetitions=2).cells[0]


@frozen
class Limits:
    """A PHY that carries ``ceiling`` and stations that send ``offered``, bit/s; nothing fitted."""

    ceiling: float
    offered: float

    def seen(self, comparison: Comparison) -> bool:
        return comparison is None

    def above_ceiling(self, comparison: Comparison) -> bool:
        return comparison.published.value > self.ceiling

    def above_offered(self, comparison: Comparison) -> bool:
        return comparison.published.value > self.offered

    def profiles_of(self, cell: Cell) -> list[Profile]:
        assert cell is CELL
        return []


def claim(printed: Sequence[float], limits: Limits) -> Reproduces:
    ours = Estimate(10e6, 9.9e6, 10.1e6, 0.95, 5, "t", "bit/s")
    of_paper = [Estimate(one, one, one, 0.95, 1, "printed", "bit/s") for one in printed]
    rows = [
        Comparison(
            "paper", "1", CELL.name, CELL.scenario, CELL.policy, CELL.traffic, "",
            "throughput_bps", one, ours, f"{one.value / 1e6:g}", "Mb/s", "",
        )
        for one in of_paper
    ]  # fmt: skip
    (found,) = reproduced(rows, {CELL.name: CELL}, limits, load("quickstart").study)
    return found


def test_a_value_above_a_limit_is_not_met_however_near_ours_is() -> None:
    found = claim([9.9e6, 10.3e6, 10.4e6, 14e6], Limits(ceiling=10.35e6, offered=10.2e6))
    assert (found.met, found.excess, found.above, found.total) == (1, 1, 2, 4)
    assert found.of_all is not None
    assert found.of_all.met == found.by_traffic[0].met == 1


def test_the_margin_of_above_is_that_of_an_audit() -> None:
    bound, most = 10e6, 20e6
    assert severity_above(bound * (1 + 0.99 * BEYOND), bound, most) == "note"
    assert severity_above(bound * (1 + 1.01 * BEYOND), bound, most) == "warning"
