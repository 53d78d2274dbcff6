"""Several runs compared: before and after, simulator and closed form or Linux.

Takes summaries; gives the differences, in words and rows. Draws nothing. The other runs are
compared with the first one. Cells are paired by name; cells of only one run are listed.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

from attrs import frozen

from airtoll.analyse.analysis import THROUGHPUT
from airtoll.analyse.between import Change, Readings, changes, pairs_of
from airtoll.analyse.pairing import how_runs_are_compared, runs_share_draws
from airtoll.analyse.quantities import NOTHING, show_estimate, show_value
from airtoll.answer import Stated, Verdict, of_change, unnoticed_of
from airtoll.observe.metrics import name_of
from airtoll.observe.spoken import NOTHING_NOTICED
from airtoll.present.words import stated
from airtoll.report.summary import RunSummary


@frozen
class Against:
    """One later run against the first."""

    first: RunSummary
    second: RunSummary
    changes: tuple[Change, ...]

    @property
    def title(self) -> str:
        """The names of the two compared runs."""
        return f"{run_name(self.second)} against {run_name(self.first)}"

    def stated(self, change: Change) -> Stated:
        """The verdict on a change, by what the first run's study calls unnoticed."""
        return of_change(change, unnoticed_of(self.first.plan, change.metric))

    def verdict(self, change: Change) -> str:
        """The verdict in words, with a label where a side is no radio throughput."""
        said = stated(self.stated(change))
        if change.metric != THROUGHPUT:
            return said
        for summary in (self.first, self.second):
            if change.cell in summary.not_radio:
                return f"no radio throughput in {run_name(summary)}; {said}"
        return said

    def throughputs(self) -> list[Change]:
        """Changes of whole-cell throughput."""
        return [
            c
            for c in self.changes
            if c.metric == THROUGHPUT and c.flow is None and c.station is None
        ]


def run_name(summary: RunSummary) -> str:
    """Folder and testbed."""
    return f"{summary.path.name} ({summary.manifest['testbed']})"


def against_first(summaries: Sequence[RunSummary]) -> list[Against]:
    """Every later run against the first."""
    first = summaries[0]
    return [_against(first, other) for other in summaries[1:]]


def _against(first: RunSummary, other: RunSummary) -> Against:
    pairs = None
    if share_draws(first, other):
        one, two = (Readings(run.observations, run.trials) for run in (first, other))
        pairs = pairs_of(one, two)
    return Against(first, other, tuple(changes(first.analysis, other.analysis, pairs)))


def share_draws(first: RunSummary, second: RunSummary) -> bool:
    """Whether two runs drew the same random numbers, so that their trials are compared in pairs."""
    one, two = first.manifest, second.manifest
    return one["testbed"] == two["testbed"] and runs_share_draws(
        one["seed"], two["seed"], one["testbed"]
    )


def words(pair: Against) -> list[str]:
    """The result of the comparison, in two sentences, and the rule of statistics."""
    found = pair.throughputs()
    if not found:
        return [f"{pair.title}: no cell with a throughput is in both runs."]
    differing = [c for c in found if c.differs]
    relative = [c.relative for c in found if math.isfinite(c.relative)]
    worst = max(found, key=lambda c: abs(c.relative) if math.isfinite(c.relative) else 0.0)
    small = sum(pair.stated(c).claim.verdict is Verdict.UNNOTICED for c in differing)
    noticed = f" ({small} of them by {NOTHING_NOTICED})" if small else ""
    lines = [
        f"{pair.title}: {len(differing)} of {len(found)} throughputs differ{noticed}; the median "
        f"difference is {100 * statistics.median(relative):+.2f} %."
    ]
    lines.append(
        f"The largest is {100 * worst.relative:+.2f} % in {worst.cell}: "
        f"{show_value(worst.first.value, worst.first.unit)} became "
        f"{show_value(worst.second.value, worst.second.unit)}."
    )
    return [*lines, how_runs_are_compared(in_pairs=share_draws(pair.first, pair.second))]


def rows(pair: Against) -> list[dict[str, Any]]:
    """Every change as plain values."""
    return [
        {
            "first": pair.first.path.name,
            "second": pair.second.path.name,
            "cell": c.cell,
            "flow": c.flow,
            "station": c.station,
            "metric": c.metric,
            "value_first": c.first.to_json(),
            "value_second": c.second.to_json(),
            "difference": c.difference.to_json(),
            "relative": c.relative if math.isfinite(c.relative) else None,
            "p_adjusted": c.p_adjusted if math.isfinite(c.p_adjusted) else None,
            "verdict": pair.verdict(c),
        }
        for c in pair.changes
    ]


def shown(pair: Against, change: Change) -> dict[str, str]:
    """A change as text."""
    relative = f" ({100 * change.relative:+.2f} %)" if math.isfinite(change.relative) else ""
    part = change.station or change.flow
    return {
        "cell": change.cell + (f" {part}" if part else ""),
        "metric": name_of(change.metric),
        "first": show_estimate(change.first),
        "second": show_estimate(change.second),
        "difference": show_estimate(change.difference) + relative,
        "p": NOTHING if math.isnan(change.p_adjusted) else f"{change.p_adjusted:.3g}",
        "verdict": pair.verdict(change),
    }
