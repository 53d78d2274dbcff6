"""A page of imported readings: what they say, beside printed ones, and what an audit finds.

Takes a folder that ``airtoll import`` wrote; gives the readings, analysed, and their page. Knows
nothing of how they came about: no study, no closed form, no ledger. Never changes a reading.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

import polars as pl
from attrs import frozen

from airtoll.analyse import Analysis, Comparison, analyse, compare
from airtoll.analyse.analysis import THROUGHPUT, estimate_of_row
from airtoll.analyse.audit import Finding, audit_run
from airtoll.analyse.overhead import Definition
from airtoll.analyse.quantities import NOTHING, scale_of, show_estimate, show_overhead, show_value
from airtoll.drawing import Developed, Panel, Picture, Plate, develop
from airtoll.drawing.plate import INK, new_plate
from airtoll.errors import StorageError
from airtoll.observe.datasets import load_dataset
from airtoll.observe.tables import read_observations, read_trials
from airtoll.report.html import page, placed
from airtoll.report.palette import colour

MANIFEST: Final = "import.json"
_MOST_ROWS: Final = 40


@frozen
class Beside:
    """All cells of a scenario beside the readings that some columns pick."""

    scenario: str
    readings: Mapping[str, str]
    metric: str = THROUGHPUT
    caveat: str = ""

    @property
    def cells(self) -> dict[str, str]:
        """Our cells."""
        return {"scenario": self.scenario}


@frozen(eq=False)
class Imported:
    """Imported readings, analysed."""

    path: Path
    manifest: dict[str, Any]
    observations: pl.DataFrame
    analysis: Analysis
    comparisons: tuple[Comparison, ...]
    findings: tuple[Finding, ...]


def is_imported(folder: Path) -> bool:
    """Whether a folder holds imported readings."""
    return (folder / MANIFEST).is_file()


def read_imported(folder: Path) -> Imported:
    """Read and analyse a folder of imported readings.

    Raises ``StorageError`` if it cannot be read, ``DatasetError`` for an unknown data set.
    """
    file = folder / MANIFEST
    try:
        manifest: dict[str, Any] = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise StorageError(f"{file}: cannot be read: {error}") from error
    observations, trials = read_observations(folder), read_trials(folder)
    against = manifest.get("against")
    dataset = load_dataset(against) if against else None
    definition = cast(Definition, (dataset and dataset.overhead) or "of_baseline")
    analysis = analyse(
        observations, trials, baseline=manifest.get("baseline", "open"), overhead=definition
    )
    found: list[Comparison] = []
    if dataset is not None:
        scenarios = observations["scenario"].unique(maintain_order=True)
        pairs = [Beside(scenario, manifest.get("readings", {})) for scenario in scenarios]
        found = compare(analysis, dataset, pairs)
    findings = audit_run(folder.name, observations, trials)
    return Imported(folder, manifest, observations, analysis, tuple(found), tuple(findings))


def headline(imported: Imported) -> list[str]:
    """What the readings say, in two sentences at most."""
    analysis = imported.analysis
    cells = analysis.estimates["cell"].n_unique()
    files = len(imported.manifest["files"])
    lines = [
        f"{files} file{'s' if files != 1 else ''} with {imported.observations.height} values of "
        f"{cells} cell{'s' if cells != 1 else ''}."
    ]
    overheads = _whole(analysis.overheads).filter(pl.col("value").is_finite())
    if overheads.is_empty():
        lines.append(f"No secured policy stands beside {analysis.baseline}, so none has a cost.")
        return lines
    cost = -1.0 if analysis.definition == "difference_bps" else 1.0
    worst = overheads.sort(cost * pl.col("value")).row(-1, named=True)
    verdict = _whole(analysis.comparisons).filter(cell=worst["cell"], metric=THROUGHPUT)["verdict"]
    lines.append(
        f"The largest overhead is {show_overhead(estimate_of_row(worst, analysis.level))} in "
        f"{worst['cell']}: {verdict[0]}."
    )
    return lines


def pictures(imported: Imported) -> list[Picture]:
    """Every reading of the throughput, by cell."""
    rows = _whole(
        imported.observations.filter((pl.col("metric") == THROUGHPUT) & pl.col("second").is_null())
    )
    if rows.is_empty():
        return []
    draw = partial(_dots, imported, rows)
    return [
        Picture(
            "throughput",
            "throughput",
            "What was read?",
            "Every trial's throughput, and the mean of its cell with its interval.",
            (Panel("throughput", draw),),
        )
    ]


def render(imported: Imported, drawings: Sequence[Developed]) -> str:
    """The page."""
    analysis = imported.analysis
    return page(
        "imported.html.j2",
        {
            "title": f"Imported readings: {imported.path.name}",
            "headline": [line.replace(" %", "\u00a0%") for line in headline(imported)],
            "pictures": placed(drawings),
            "level": f"{100 * analysis.level:.0f} %",
            "definition": analysis.definition,
            "baseline": analysis.baseline,
            "costs": [
                _cost(analysis, row) for row in _whole(analysis.overheads).iter_rows(named=True)
            ],
            "estimates": [
                _estimate(row, analysis.level) for row in analysis.estimates.iter_rows(named=True)
            ],
            "against": imported.manifest.get("against"),
            "comparisons": [_beside(c) for c in imported.comparisons],
            "findings": imported.findings,
            "format": imported.manifest.get("format", NOTHING),
            "files": [
                {"name": name, "sha256": digest}
                for digest, name in imported.manifest["files"].items()
            ],
        },
    )


def developed(imported: Imported, forms: Sequence[str]) -> list[Developed]:
    """The pictures, drawn."""
    return develop(pictures(imported), forms)


def _whole(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows of whole cells; where a cell has flows alone, those."""
    whole = frame.filter(pl.col("flow").is_null() & pl.col("station").is_null())
    rest = frame.filter(~pl.col("cell").is_in(whole["cell"].unique().implode()))
    return pl.concat([whole, rest])


def _cost(analysis: Analysis, row: Mapping[str, Any]) -> dict[str, str]:
    hit = analysis.comparisons.filter(
        (pl.col("cell") == row["cell"])
        & (pl.col("metric") == THROUGHPUT)
        & pl.col("flow").eq_missing(row["flow"])
        & pl.col("station").eq_missing(row["station"])
    ).row(0, named=True)
    return {
        "cell": _named(row),
        "overhead": show_overhead(estimate_of_row(dict(row), analysis.level)),
        "verdict": hit["verdict"],
        "p": NOTHING if hit["p_holm"] != hit["p_holm"] else f"{hit['p_holm']:.3g}",
        "n": str(row["n"]),
    }


def _estimate(row: Mapping[str, Any], level: float) -> dict[str, str]:
    return {
        "cell": _named(row),
        "metric": row["metric"].rsplit("_", 1)[0].replace("_", " "),
        "value": show_estimate(estimate_of_row(dict(row), level)),
        "n": str(row["n"]),
        "method": row["method"],
    }


def _beside(c: Comparison) -> dict[str, str]:
    overhead = c.quantity == "overhead"
    return {
        "cell": c.cell,
        "quantity": c.quantity.rsplit("_", 1)[0],
        "table": c.table,
        "published": (show_overhead if overhead else show_estimate)(c.published),
        "ours": (show_overhead if overhead else show_estimate)(c.ours),
        "error": f"{100 * c.absolute_error:+.2f} points"
        if overhead
        else f"{100 * c.relative_error:+.1f} %",
    }


def _named(row: Mapping[str, Any]) -> str:
    part = row["station"] or row["flow"]
    return str(row["cell"]) + (f" {part}" if part else "")


def _dots(imported: Imported, rows: pl.DataFrame) -> Plate:
    cells = rows["cell"].unique(maintain_order=True).to_list()[:_MOST_ROWS]
    policies = list(dict.fromkeys(rows["policy"]))
    plate, axes = new_plate(0.7 + 0.3 * len(cells), "")
    factor, unit = scale_of(float(rows["value"].max() or 0.0), "bit/s")  # type: ignore[arg-type]
    estimates = _whole(imported.analysis.estimates.filter(metric=THROUGHPUT))
    for place, cell in enumerate(cells):
        here = rows.filter(cell=cell)
        for value in here["value"]:
            ink = colour(policies.index(here["policy"][0]))
            (dot,) = axes.plot(value / factor, place, "o", ms=4, alpha=0.6, color=ink)
            plate.say(dot, f"{cell}: {show_value(value, 'bit/s')}")
        for row in estimates.filter(cell=cell).head(1).iter_rows(named=True):
            found = estimate_of_row(row, imported.analysis.level)
            if found.has_interval:
                ends = [found.low / factor, found.high / factor]
                axes.plot(ends, [place + 0.25] * 2, color=INK, lw=1.2)
            (mean,) = axes.plot(found.value / factor, place + 0.25, "|", ms=8, color=INK)
            plate.say(mean, f"{cell}: {show_estimate(found)}")
    axes.set_yticks(range(len(cells)), cells)
    axes.invert_yaxis()
    axes.set_xlabel(f"throughput, {unit}")
    return plate
