"""Our estimates beside printed ones.

An analysis, a published data set and the cells that answer to its readings give one
:class:`Comparison` per quantity that both have. Our overhead is recomputed by the study's own
definition.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Protocol

import numpy as np
import polars as pl
from attrs import frozen

from airtoll.analyse.analysis import THROUGHPUT, Analysis
from airtoll.analyse.estimate import Estimate, mean_t
from airtoll.analyse.overhead import Summary, difference, ratio_fieller
from airtoll.observe.datasets import Dataset

#: A row of a data set's figures.
_Row = Mapping[str, Any]

_AXES = ("scenario", "policy", "traffic")
_COLUMNS = (
    "table",
    "configuration",
    "security",
    "transport",
    "ip",
    "offered_mbps",
    "packet_bytes",
    "client",
)


class Correspondence(Protocol):
    """Which cells answer to which readings; the ``[[compare]]`` table of a study file is one."""

    @property
    def cells(self) -> Mapping[str, Any]:
        """Scenario, traffic and factor levels of our cells."""

    @property
    def readings(self) -> Mapping[str, Any]:
        """Columns of the readings they answer to."""

    @property
    def metric(self) -> str:
        """Metric compared."""

    @property
    def statistic(self) -> str:
        """``mean``: cell by cell; ``max`` or ``min``: an extreme over the cells."""

    @property
    def minus(self) -> Mapping[str, Any]:
        """With an extreme: levels of the cells whose values are subtracted."""

    @property
    def over(self) -> Mapping[str, Any]:
        """With an extreme: levels of the cells by whose values ours are divided."""

    @property
    def instrument(self) -> str:
        """Name of the instrument through which our readings are seen; empty: none."""

    @property
    def fitted(self) -> Sequence[str]:
        """Policies to whose readings a number of the study is fitted."""

    @property
    def caveat(self) -> str:
        """A caveat about these readings."""


@frozen
class Comparison:
    """One published quantity and ours, both in SI units.

    ``quantity``: the metric, or ``overhead``. ``relative_error``: (ours - published) /
    published; for ``overhead`` use ``absolute_error`` (fractions). ``printed``: the digits.
    ``extreme``: for an extreme over cells, which one in words; ``cell`` is then the cell that has
    it, and the interval is that cell's alone. ``differs``: whether it is a difference of two cells,
    whose relative error says nothing. ``instrument``: the one through which ours was seen.
    ``fitted``: whether a number of the study, beside its profiles, is fitted to the printed value.
    ``configuration``: that of the printed value, as the data set names it.
    """

    dataset: str
    table: str
    cell: str
    scenario: str
    policy: str
    traffic: str
    client: str
    quantity: str
    published: Estimate
    ours: Estimate
    printed: str
    printed_unit: str
    caveat: str
    extreme: str = ""
    differs: bool = False
    instrument: str = ""
    fitted: bool = False
    configuration: str = ""

    @property
    def absolute_error(self) -> float:
        """Ours - published, in their unit."""
        return self.ours.value - self.published.value

    @property
    def relative_error(self) -> float:
        """(ours - published) / published; NaN for a published zero."""
        if self.published.value == 0:
            return math.nan
        return self.absolute_error / self.published.value


def compare(
    of_run: Analysis,
    dataset: Dataset,
    mapping: Sequence[Correspondence],
    through: Mapping[tuple[str, str], Analysis] | None = None,
) -> list[Comparison]:
    """Every printed mean, overhead and extreme that our cells answer to, in the mapping's order.

    ``through``: instrument and metric -> the analysis of the readings that it shows.
    """
    names = {ours: theirs for theirs, ours in dataset.meta.get("metrics", {}).items()}
    found: list[Comparison] = []
    for entry in mapping:
        analysis = of_run
        if entry.instrument and through:
            analysis = through[entry.instrument, entry.metric]
        cells = _our_cells(analysis, entry.cells)
        figures = _their_rows(dataset.figures, entry.readings)
        if entry.statistic != "mean":
            found += _extremes(analysis, dataset, entry, cells, figures)
            continue
        theirs = names.get(entry.metric, entry.metric)
        # Each cell asks for a handful of rows, and a filter of a frame takes longer than a loop.
        by_policy: dict[str, list[_Row]] = {}
        for row in figures.iter_rows(named=True):
            by_policy.setdefault(row["policy"], []).append(row)
        for cell in cells.iter_rows(named=True):
            of_policy = by_policy.get(cell["policy"], [])
            found += _quantity(
                analysis, dataset, entry, cell, of_policy, entry.metric, theirs, "mean"
            )
            if entry.metric == THROUGHPUT and cell["policy"] != analysis.baseline:
                found += _quantity(
                    analysis, dataset, entry, cell, of_policy, "overhead", "overhead", "overhead"
                )
    return found


def _our_cells(analysis: Analysis, wanted: Mapping[str, Any]) -> pl.DataFrame:
    frame = analysis.estimates.select("cell", *_AXES, "factors").unique(maintain_order=True)
    for key, value in wanted.items():
        if key in _AXES:
            keep = [fnmatchcase(name, str(value)) for name in frame[key]]
            frame = frame.filter(pl.Series(keep, dtype=pl.Boolean))
        elif key not in ("flow", "station"):
            keep = [_level(json.loads(text).get(key)) == _level(value) for text in frame["factors"]]
            frame = frame.filter(pl.Series(keep, dtype=pl.Boolean))
    return frame


def refuse_readings(dataset: Dataset, entry: Correspondence) -> str | None:
    """Why the readings of a correspondence select nothing of a data set, or None."""
    for key in entry.readings:
        if key not in dataset.figures.columns:
            allowed = ", ".join(dataset.figures.columns)
            return f"{key}: no column of {dataset.name}; allowed: {allowed}"
    if _their_rows(dataset.figures, entry.readings).is_empty():
        wanted = ", ".join(f"{key} = {value}" for key, value in entry.readings.items())
        return f"{dataset.name} has no reading with {wanted}"
    return None


def _their_rows(figures: pl.DataFrame, wanted: Mapping[str, Any]) -> pl.DataFrame:
    for key, value in wanted.items():
        if key in _COLUMNS:
            figures = figures.filter(
                pl.col(key).map_elements(_level, return_dtype=pl.String) == _level(value)
            )
        elif key in figures.columns:
            figures = figures.filter(pl.col(key).cast(pl.String) == str(value))
    return figures


def _quantity(
    analysis: Analysis,
    dataset: Dataset,
    entry: Correspondence,
    cell: Mapping[str, Any],
    rows: Sequence[_Row],
    quantity: str,
    theirs: str,
    statistic: str,
) -> list[Comparison]:
    flow, station = entry.cells.get("flow"), entry.cells.get("station")
    if quantity == "overhead":
        ours = analysis.overhead(cell["cell"], flow, station)
    else:
        ours = analysis.estimate(cell["cell"], quantity, flow, station)
    if ours is None:
        return []
    about = [row for row in rows if row["metric"] == theirs]
    printed = [row for row in about if (row["statistic"], row["kind"]) == (statistic, "published")]
    if not str(entry.readings.get("table", "")).startswith("prose"):
        # The text repeats tables, rounded; only who asks for a figure of the text gets it.
        printed = [row for row in printed if not row["table"].startswith("prose")]
    if quantity == "overhead":
        printed = [row for row in printed if row["unit"] == "%"]
    readings = [row for row in about if row["kind"] == "trial"]
    if not printed and statistic == "mean":
        printed = _means_of_readings(readings)
    results = []
    seen: set[tuple[str, str]] = set()
    for row in printed:
        key = (row["client"], row["value"])
        if key in seen:  # a mean that a later table repeats
            continue
        seen.add(key)
        place = (row["table"], row["client"])
        sample = [one["si"] for one in readings if (one["table"], one["client"]) == place]
        interval = mean_t(np.asarray(sample, dtype=float), row["si_unit"], analysis.level)
        published = Estimate(
            row["si"],
            interval.low if quantity != "overhead" else math.nan,
            interval.high if quantity != "overhead" else math.nan,
            analysis.level,
            len(sample) if quantity != "overhead" else 0,
            _published_method(row["kind"], len(sample)),
            row["si_unit"],
        )
        results.append(_comparison(dataset, entry, cell, row, quantity, published, ours))
    return results


def _extremes(
    analysis: Analysis,
    dataset: Dataset,
    entry: Correspondence,
    cells: pl.DataFrame,
    figures: pl.DataFrame,
) -> list[Comparison]:
    """The extreme of our cells beside each printed figure that the readings select."""
    values = [
        (cell, value)
        for cell in cells.iter_rows(named=True)
        if (value := _value(analysis, entry, cell)) is not None and math.isfinite(value.value)
    ]
    if not values:
        return []
    extreme = max if entry.statistic == "max" else min
    cell, ours = extreme(values, key=lambda pair: pair[1].value)
    kind = "difference" if entry.minus else "ratio" if entry.over else ""
    words = f"the {kind} of two cells" if kind else ""
    if len(values) > 1:
        which = "largest" if entry.statistic == "max" else "smallest"
        words = f"the {which} of {len(values)} {f'{kind}s' if kind else 'cells'}"
    found = []
    for row in figures.filter(pl.col("kind") == "published").iter_rows(named=True):
        published = Estimate(
            row["si"], math.nan, math.nan, analysis.level, 0, "printed", row["si_unit"]
        )
        one = _comparison(dataset, entry, cell, row, entry.metric, published, ours, words)
        found.append(one)
    return found


def _comparison(
    dataset: Dataset,
    entry: Correspondence,
    cell: Mapping[str, Any],
    row: Mapping[str, Any],
    quantity: str,
    published: Estimate,
    ours: Estimate,
    extreme: str = "",
) -> Comparison:
    """The comparison of one of our cells with one row of the data set's figures."""
    return Comparison(
        dataset=dataset.name,
        table=row["table"],
        cell=cell["cell"],
        scenario=cell["scenario"],
        policy=cell["policy"],
        traffic=cell["traffic"],
        client=row["client"],
        quantity=quantity,
        published=published,
        ours=ours,
        printed=row["value"],
        printed_unit=row["unit"],
        caveat=entry.caveat,
        extreme=extreme,
        differs=bool(entry.minus),
        instrument=entry.instrument,
        fitted=cell["policy"] in entry.fitted and quantity == entry.metric,
        configuration=row["configuration"],
    )


def _value(analysis: Analysis, entry: Correspondence, cell: Mapping[str, Any]) -> Estimate | None:
    """The value of one cell, less or over that of its counterpart where the entry names one."""
    flow, station = entry.cells.get("flow"), entry.cells.get("station")
    if entry.metric == "overhead":
        return analysis.overhead(cell["cell"], flow, station)
    other = entry.minus or entry.over
    if not other:
        return analysis.estimate(cell["cell"], entry.metric, flow, station)
    axes = {axis: other.get(axis, cell[axis]) for axis in _AXES}
    factors = json.loads(cell["factors"])
    factors |= {key: value for key, value in other.items() if key not in _AXES}
    others = _our_cells(analysis, axes | factors)
    if others.height != 1:
        return None
    try:
        rows = [
            analysis.estimates.row(analysis.row_of(name, entry.metric, flow, station), named=True)
            for name in (cell["cell"], others["cell"][0])
        ]
    except KeyError:
        return None
    a, b = (
        Summary(r["value"], math.nan if r["deviation"] is None else r["deviation"], r["n"])
        for r in rows
    )
    if entry.over:
        return ratio_fieller(a, b, analysis.level)
    return difference(a, b, rows[0]["unit"], analysis.level)


def _published_method(kind: str, readings: int) -> str:
    if kind == "trial":
        return "mean of its printed readings, t"
    return "printed; t of its readings" if readings > 1 else "printed"


def _means_of_readings(readings: Sequence[_Row]) -> list[_Row]:
    """One row per table and client with the mean of its readings, where no mean is printed."""
    samples: dict[tuple[Any, Any], list[_Row]] = {}
    for row in readings:
        samples.setdefault((row["table"], row["client"]), []).append(row)
    rows: list[_Row] = []
    for sample in samples.values():
        mean = statistics.fmean(row["si"] for row in sample)
        rows.append({**sample[0], "si": mean, "value": f"{mean:.6g}"})
    return rows


def _level(value: Any) -> str:
    """Factor levels and printed cells as comparable text: 140, 140.0 and "140" are one."""
    try:
        return f"{float(value):g}"
    except (TypeError, ValueError):
        return str(value)
