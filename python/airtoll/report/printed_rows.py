"""Printed values beside ours, one row each: for the terminal, CSV and LaTeX.

A summary gives rows with their levels; the overheads over several kinds of traffic are among them.
"""

from __future__ import annotations

import math
from typing import Any, Final

import polars as pl
from attrs import evolve, field, frozen

from airtoll.analyse import Comparison, Estimate
from airtoll.analyse.analysis import THROUGHPUT
from airtoll.analyse.quantities import Shown, show_estimate, show_overhead
from airtoll.observe.datasets import load_dataset
from airtoll.plan import Cell
from airtoll.report.printed_overheads import printed_combined
from airtoll.report.summary import RunSummary

#: Columns of printed values, on the terminal as in LaTeX; CSV has the parts of the numbers.
POLICY: Final = "policy"
PRINTED: Final = "printed"
OURS: Final = "ours"
ERROR: Final = "error"
TRIALS: Final = "n"
COLUMNS: Final = (POLICY, PRINTED, OURS, ERROR, TRIALS)
#: Axis of the variants of the study's devices.
PROFILES: Final = "profile_set"
#: Unit of a data set -> ours.
_UNITS: Final = {"%": "%", "Mbps": "Mb/s", "Mb/s": "Mb/s", "ms": "ms", "s": "s", "kbps": "kb/s"}


@frozen
class PrintedRow:
    """One printed value and ours.

    ``place`` leaves out the policy and the ``variant``, which is the profile set, and the
    instrument through which ours was seen. ``n``: trials that count, of one policy. ``group``: of
    a mean over kinds of traffic, which ones. ``levels``: by which rows are chosen.
    """

    dataset: str
    table: str
    quantity: str
    policy: str
    place: str
    variant: str
    client: str
    published: Estimate
    printed: str
    ours: Estimate
    n: str
    note: str
    cells: tuple[Cell, ...] = field(repr=False)
    levels: dict[str, str] = field(repr=False)
    comparison: Comparison | None = field(default=None, repr=False)
    group: str = ""

    @property
    def is_share(self) -> bool:
        """Whether the value is an overhead as a share."""
        return self.quantity == "overhead" and self.published.unit == "1"

    @property
    def error(self) -> str:
        """Ours less the printed value: points of an overhead, else a share of it."""
        difference = self.ours.value - self.published.value
        if self.is_share:
            return _shown_error(f"{100 * difference:+.1f} points", difference, self.ours)
        if self.published.value == 0:
            return ""
        share = difference / self.published.value
        return _shown_error(f"{100 * share:+.1f} %", share, self.ours)

    @property
    def shown(self) -> str:
        """Ours, with its interval."""
        return show_overhead(self.ours) if self.is_share else show_estimate(self.ours)


def _shown_error(text: str, share: float, ours: Estimate) -> Shown:
    """An error as text, with its share (of an overhead: a difference of shares) for programs."""
    nothing = math.nan
    return Shown(text, evolve(ours, value=share, low=nothing, high=nothing, unit="1"))


def printed_rows(summary: RunSummary, dataset: str | None = None) -> list[PrintedRow]:
    """Every printed value beside ours, in the order of the study; of one data set, or of all."""
    counts = _counts(summary)
    names = dict.fromkeys(entry.dataset for entry in summary.study.compare)
    rows = [_row(summary, one, counts.get(one.cell, "")) for one in summary.comparisons]
    for name in [dataset] if dataset else names:
        rows += _combined(summary, name, counts)
    return [row for row in rows if dataset in (None, row.dataset)]


def levels_of(cell: Cell, **further: str) -> dict[str, str]:
    """The axes and factors of a cell as texts, and further levels of its row."""
    axes = {"scenario": cell.scenario, "policy": cell.policy, "traffic": cell.traffic}
    return axes | {key: str(value) for key, value in cell.factors} | further


def _row(summary: RunSummary, one: Comparison, count: str) -> PrintedRow:
    cell = summary.cells[one.cell]
    share = one.quantity == "overhead" and one.published.unit == "1"
    quantity = one.quantity.removesuffix("_bps")
    return PrintedRow(
        dataset=one.dataset,
        table=one.table,
        quantity=quantity,
        policy=one.policy,
        place=summary.names.place(
            cell.scenario, cell.traffic, cell.factors_json, ("policy", PROFILES)
        ),
        variant=_variant(summary, cell, one.instrument),
        client=one.client,
        published=one.published,
        printed=_digits(one, share=share),
        ours=one.ours,
        n=count,
        note=summary.note(one),
        cells=(cell,),
        levels=levels_of(
            cell,
            table=one.table,
            client=one.client or "all",
            quantity=quantity,
            dataset=one.dataset,
        ),
        comparison=one,
    )


def _variant(summary: RunSummary, cell: Cell, instrument: str) -> str:
    found = []
    profiles = dict(cell.factors).get(PROFILES)
    if PROFILES in summary.names.levels and profiles is not None:
        found.append(summary.names.level(PROFILES, profiles))
    if instrument:
        found.append(f"as {instrument} shows it")
    return ", ".join(found)


def _digits(one: Comparison, *, share: bool) -> str:
    """The printed value with the digits of the paper; with an interval, as ours is shown."""
    unit = _UNITS.get(one.printed_unit)
    if unit is None or one.published.has_interval:
        return show_overhead(one.published) if share else show_estimate(one.published)
    return Shown(f"{one.printed} {unit}", one.published)


def _counts(summary: RunSummary) -> dict[str, str]:
    """By cell: its trials that count, ``5 of 20`` where a rule selects."""
    found: dict[str, str] = {}
    frame = summary.analysis.estimates.sort(pl.col("metric") != THROUGHPUT, maintain_order=True)
    for cell, n, n_all in frame.select("cell", "n", "n_all").iter_rows():
        found.setdefault(str(cell), str(n) if n == n_all else f"{n} of {n_all}")
    return found


def _combined(summary: RunSummary, dataset: str, counts: dict[str, str]) -> list[PrintedRow]:
    rows = []
    for one in printed_combined(summary.combined, load_dataset(dataset)):
        groups = summary.study.study.combine
        traffics = groups.get(one.group, tuple(name for of in groups.values() for name in of))
        cells = tuple(
            cell
            for cell in summary.plan.cells
            if (cell.scenario, cell.policy, cell.factors_json)
            == (one.scenario, one.policy, one.factors)
            and cell.traffic in traffics
        )
        place = summary.names.place(one.scenario, "", one.factors, ("traffic", PROFILES))
        factors: dict[str, Any] = dict(cells[0].factors) if cells else {}
        published = Estimate(one.published, math.nan, math.nan, one.ours.level, 0, "printed", "1")
        rows.append(
            PrintedRow(
                dataset=dataset,
                table=one.table,
                quantity="overhead",
                policy=one.policy,
                place=", ".join(filter(None, (place or one.scenario, one.group))),
                variant=_variant(summary, cells[0], "") if cells else "",
                client="",
                published=published,
                printed=Shown(f"{one.printed} %", published),
                ours=one.ours,
                n=_same(counts.get(cell.name, "") for cell in cells),
                note="",
                cells=cells,
                levels={key: str(value) for key, value in factors.items()}
                | {
                    "table": one.table,
                    "scenario": one.scenario,
                    "policy": one.policy,
                    "quantity": "overhead",
                    "dataset": dataset,
                    "client": "all",
                },
                group=one.group,
            )
        )
    return rows


def _same(counts: Any) -> str:
    """Counts of trials as one text, those that differ with a comma between."""
    return ", ".join(dict.fromkeys(filter(None, counts)))
