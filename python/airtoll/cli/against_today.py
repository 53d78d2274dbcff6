"""The cost of a policy of today at a place of a paper, beside the one that it replaces.

Takes a summary of the paper's run and a cell of it; runs the simulator on this cell alone with both
policies, and gives words. Writes nothing that stays.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

from airtoll.analyse import Estimate
from airtoll.analyse.cost import as_cost
from airtoll.analyse.quantities import show_overhead
from airtoll.errors import AirtollError
from airtoll.observe.metrics import OVERHEAD
from airtoll.plan import Cell
from airtoll.policies import display_name, resolve
from airtoll.report.answer import readings
from airtoll.report.summary import RunSummary, summarise
from airtoll.run import run
from airtoll.study import Level

#: Trials of each policy.
_TRIALS: Final = 5


def cost_today(summary: RunSummary, cell: Cell, old: str, new: str) -> str:
    """``it costs 1.4 ± 0.1 % of throughput (one client, TCP), the old one 1.4 ± 0.1 %``.

    The reason where the simulator does not carry the new policy out.
    """
    try:
        costs = _measured(summary, cell, list(dict.fromkeys((old, new))))
    except AirtollError as error:
        return f"its cost is not measured: {error}"
    place = summary.names.place(cell.scenario, cell.traffic, cell.factors_json, ("policy",))
    at = f" ({place})" if place else ""
    if new not in costs:
        return f"its cost is not measured{at}"
    told = f"it costs {_shown(costs[new])} of throughput{at}"
    if old in costs and old != new:
        told += f", {display_name(resolve(old)).replace(', ', ' ')} {_shown(costs[old])}"
    return told


def _shown(cost: Estimate) -> str:
    return show_overhead(as_cost(cost))


def _measured(summary: RunSummary, cell: Cell, policies: list[str]) -> dict[str, Estimate]:
    """The share of throughput that policies cost in one cell, by policy."""
    study = summary.study
    values: dict[str, Any] = {
        "grid": {
            "policy": list(dict.fromkeys((study.study.baseline, *policies))),
            "scenario": [cell.scenario],
            "traffic": [cell.traffic],
            **{axis: [level] for axis, level in cell.factors},
        },
        "question": [],
        "exclude": [],
        "study.overhead": "of_baseline",
        "trials.repetitions": _TRIALS,
        "trials.pairing": "common",
    }
    with tempfile.TemporaryDirectory(prefix="airtoll-today-") as folder:
        done = run(study, out=Path(folder) / "run", values=cast(Mapping[str, Level], values))
        found = readings(summarise(done.path), OVERHEAD)
    return {one.cell.policy: one.estimate for one in found}
