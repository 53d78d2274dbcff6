"""The ordered, seeded list of trials to which a study expands.

Takes a study; gives cells and trials. Never measures and never reads a clock.
"""

from airtoll.plan.cells import DEFAULT_SEED, Cell, Plan, Trial, make_plan, trial_seed

__all__ = ["DEFAULT_SEED", "Cell", "Plan", "Trial", "make_plan", "trial_seed"]
