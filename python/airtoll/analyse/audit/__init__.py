"""Audit: findings of a careful referee in a data set or a run.

A published data set (or the tables of a run) and the statements of its study give findings: place,
printed, recomputed, severity, evidence. No rule knows a study by name.

    columns.py      readings and printed figures, looked up
    arithmetic.py   means, deviations, totals, percentages, ratios, ranges
    likeness.py     copied columns, derived series, constant differences, clock steps
    ceiling.py      what a link can carry
    limits.py       readings beyond link, airtime or offered load
    inference.py    differences without support, outliers and selection rules
    granularity.py  means and deviations that the stated resolution does not allow
    order.py        throughputs that rise with clients or key bits
    counts.py       announced against counted items
    consistency.py  one quantity, one value; services; definitions
    claims.py       statements of the text as tests of its figures
    statements.py   statements that need no readings
    runs.py         the rules for runs
"""

from collections.abc import Callable
from typing import Final

from airtoll.analyse.audit import (
    arithmetic,
    claims,
    consistency,
    counts,
    granularity,
    inference,
    likeness,
    limits,
    order,
)
from airtoll.analyse.audit.columns import Figures
from airtoll.analyse.audit.finding import KINDS, SEVERITIES, Finding, ordered
from airtoll.analyse.audit.runs import audit_run
from airtoll.observe.datasets import Dataset

RULES: Final[tuple[Callable[[Figures], list[Finding]], ...]] = (
    arithmetic.means_and_deviations,
    arithmetic.totals,
    arithmetic.percentages,
    arithmetic.ratios,
    arithmetic.ranges,
    likeness.copied_columns,
    likeness.copied_figures,
    likeness.copied_rows,
    likeness.derived_series,
    likeness.clock_steps,
    likeness.additive_tables,
    likeness.composed_sums,
    limits.above_ceiling,
    limits.below_floor,
    limits.offered_load,
    inference.unsupported_differences,
    inference.no_spread,
    inference.warm_up,
    inference.resolution,
    inference.outlier_rules,
    inference.selection_rules,
    inference.outliers,
    granularity.granularity,
    order.key_bits,
    order.more_clients,
    counts.announced,
    counts.readings,
    consistency.repeated_figures,
    consistency.wider_extremes,
    consistency.services,
    consistency.stated_definition,
    claims.claims,
)


def audit(dataset: Dataset) -> list[Finding]:
    """All findings of a data set, gravest first."""
    figures = Figures(dataset)
    return ordered([finding for rule in RULES for finding in rule(figures)])


__all__ = ["KINDS", "RULES", "SEVERITIES", "Finding", "audit", "audit_run"]
