"""Overheads combined over traffics, and the printed ones.

Takes combined overheads and printed figures; gives one row per scenario, policy and group of
traffics, and one for their mean. A printed figure belongs to a scenario whose name is its
configuration, and to the groups whose names its transport joins with a plus sign. Never averages
printed figures itself.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence

import polars as pl
from attrs import frozen

from airtoll.analyse import Comparison, Estimate
from airtoll.answer import Printed, Reproduces, within
from airtoll.observe.datasets import Dataset, load_dataset

#: The name of the mean over groups.
MEAN = "mean"


@frozen
class Combined:
    """Overhead of one policy in one scenario, by group of traffics and averaged over them."""

    scenario: str
    policy: str
    factors: str
    groups: dict[str, Estimate]
    mean: Estimate


@frozen
class PrintedCombined:
    """A printed combined overhead and ours, fractions; ``printed``: the digits, percent."""

    table: str
    scenario: str
    policy: str
    factors: str
    group: str
    published: float
    printed: str
    ours: Estimate

    @property
    def absolute_error(self) -> float:
        """Ours - published, a fraction."""
        return self.ours.value - self.published


def printed_combined(combined: Iterable[Combined], dataset: Dataset) -> list[PrintedCombined]:
    """Every combined overhead that the data set prints too, in the order of the run."""
    figures = dataset.figures.filter(
        (pl.col("metric") == "overhead")
        & (pl.col("kind") == "published")
        & (pl.col("unit") == "%")
        & ~pl.col("table").str.starts_with("prose")
    )
    return [row for c in combined for row in _rows(c, figures)]


def reproduced_combined(
    combined: Sequence[Combined], comparisons: Iterable[Comparison]
) -> list[Reproduces]:
    """How many printed overheads over several kinds of traffic are met, by data set."""
    found = []
    for name in dict.fromkeys(one.dataset for one in comparisons):
        rows = printed_combined(combined, load_dataset(name))
        if not rows:
            continue
        limit = within("overhead", "1")
        published, ours = [row.published for row in rows], [row.ours.value for row in rows]
        found.append(
            Reproduces(
                dataset=name,
                quantity="overhead",
                kind=Printed.COMBINED,
                axis="",
                variant="",
                instrument="",
                within=limit,
                met=sum(abs(row.absolute_error) <= limit for row in rows),
                total=len(rows),
                fitted_met=0,
                fitted=0,
                median=statistics.median(abs(row.absolute_error) for row in rows),
                printed=(min(published), max(published)),
                ours=(min(ours), max(ours)),
                unit="1",
            )
        )
    return found


def _rows(combined: Combined, figures: pl.DataFrame) -> list[PrintedCombined]:
    here = figures.filter(configuration=combined.scenario, policy=combined.policy)
    whole = "+".join(combined.groups).upper()
    # The table with the mean is the one whose parts correspond to the groups.
    tables = here.filter(transport=whole)["table"].to_list()
    found = []
    for group, ours in [*combined.groups.items(), (MEAN, combined.mean)]:
        transport = whole if group == MEAN else group.upper()
        rows = here.filter((pl.col("transport") == transport) & pl.col("table").is_in(tables))
        found += [
            PrintedCombined(
                row["table"],
                combined.scenario,
                combined.policy,
                combined.factors,
                group,
                row["si"],
                row["value"],
                ours,
            )
            for row in rows.iter_rows(named=True)
            if math.isfinite(row["si"])
        ]
    return found
