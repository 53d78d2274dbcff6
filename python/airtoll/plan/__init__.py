"""The ordered, seeded list of trials to which a study expands.

Takes a study; gives cells, trials, and the cell as its devices carry it out. Never measures and
never reads a clock.
"""

from airtoll.plan.cells import DEFAULT_SEED, Cell, Plan, Trial, make_plan, trial_seed
from airtoll.plan.resolved_cell import ResolvedCell, resolved

__all__ = [
    "DEFAULT_SEED",
    "Cell",
    "Plan",
    "ResolvedCell",
    "Trial",
    "make_plan",
    "resolved",
    "trial_seed",
]
