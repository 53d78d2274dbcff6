"""Every shipped study observes the metrics that it calls its answers."""

import pytest
from attrs import evolve

from airtoll.observe.metrics import METRICS
from airtoll.plan import make_plan
from airtoll.study import load, shipped
from airtoll.testbeds.simulator import Simulator

#: Simulated seconds of a shortened trial.
_SHORT_S = 0.5
#: Most stations of such a trial.
_FEW = 5


def shortened(cell):
    """The cell with a short trial, where nothing in it waits for an instant of the whole one."""
    settings = cell.settings
    waits = settings.handover is not None or settings.ap.restart_at_s is not None
    floods = settings.join.flood_per_s > 0
    if waits or settings.join.group_rekey_s or floods or not settings.group_load.is_empty:
        return cell
    length = min(cell.load.duration_s, _SHORT_S)
    fewer = min(cell.settings.clients or 1, _FEW)
    settings = cell.settings.model_copy(
        update={"clients": fewer if cell.settings.clients else None}
    )
    load = cell.load.model_copy(update={"duration_s": length, "warm_up_s": 0.0})
    return evolve(cell, settings=settings, load=load)


def some_of_each(cells):
    """The first secured and the last cell of every traffic and scenario, in this order."""
    last = {(cell.traffic, cell.scenario): cell for cell in cells}
    secured = [cell for cell in cells if not cell.security.is_baseline]
    first = {(cell.traffic, cell.scenario): cell for cell in reversed(secured)}
    return [*first.values(), *last.values()]


@pytest.mark.parametrize("name", sorted(shipped()))
def test_the_answers_of_a_study_are_observed(name):
    study = load(name).study
    missing = set(study.study.answers)
    assert missing
    assert missing <= set(METRICS)
    plan = make_plan(study, repetitions=1)
    testbed = Simulator()
    for cell in some_of_each(plan.cells):
        if testbed.check(cell) is not None:
            continue
        short = shortened(cell)
        measured = testbed.measure(plan.trial(short, 1, 1))
        missing -= {row.metric for row in measured.rows if row.second is None}
        if not missing:
            return
    pytest.fail(f"{name}: no cell observes {', '.join(sorted(missing))}")
