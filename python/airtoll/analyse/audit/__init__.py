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
    rules.py        the list of the rules for data sets
"""

from airtoll.analyse.audit.finding import KINDS, SEVERITIES, Finding, ordered
from airtoll.analyse.audit.runs import audit_run
from airtoll.observe.datasets import Dataset


def audit(dataset: Dataset) -> list[Finding]:
    """All findings of a data set, gravest first."""
    # A run needs none of them, and they take a tenth of the imports of its report.
    from airtoll.analyse.audit.columns import Figures
    from airtoll.analyse.audit.rules import RULES

    figures = Figures(dataset)
    return ordered([finding for rule in RULES for finding in rule(figures)])


__all__ = ["KINDS", "SEVERITIES", "Finding", "audit", "audit_run"]
