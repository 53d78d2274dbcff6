"""Imported readings: estimates, comparison with printed ones, and findings of an audit.

Takes a folder that ``airtoll import`` wrote; gives the readings, analysed. There is no study, no
closed form and no ledger for them. Never changes a reading, and draws nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import polars as pl
from attrs import frozen

from airtoll.analyse import Analysis, Comparison, analyse, compare
from airtoll.analyse.analysis import THROUGHPUT
from airtoll.analyse.cost import cost_sign
from airtoll.analyse.overhead import Definition
from airtoll.answer.brought import Brought, brought
from airtoll.observe.datasets import load_dataset
from airtoll.observe.imported import MANIFEST, Manifest, read_manifest
from airtoll.observe.tables import read_observations, read_trials
from airtoll.present.names import Names
from airtoll.present.words import Teller

if TYPE_CHECKING:
    from airtoll.analyse.audit import Finding

#: Files that could not be read that are named.
_MOST_NAMED: Final = 3


@frozen
class Beside:
    """All cells of a scenario, and the readings that column values select."""

    scenario: str
    readings: Mapping[str, str]
    metric: str = THROUGHPUT
    statistic: str = "mean"
    caveat: str = ""

    @property
    def over(self) -> dict[str, str]:
        """Nothing is divided."""
        return {}

    @property
    def instrument(self) -> str:
        """Readings are compared as they were taken."""
        return ""

    @property
    def fitted(self) -> tuple[str, ...]:
        """Nothing is fitted to them."""
        return ()

    @property
    def minus(self) -> dict[str, str]:
        """No cells are subtracted."""
        return {}

    @property
    def cells(self) -> dict[str, str]:
        """Our cells."""
        return {"scenario": self.scenario}


@frozen(eq=False)
class Imported:
    """Imported readings, analysed."""

    path: Path
    manifest: Manifest
    observations: pl.DataFrame
    analysis: Analysis
    comparisons: tuple[Comparison, ...]
    findings: tuple[Finding, ...]
    caveats: Mapping[str, int]
    claims: tuple[Brought, ...] = ()


def is_imported(folder: Path) -> bool:
    """Whether a folder holds imported readings."""
    return (folder / MANIFEST).is_file()


def read_imported(folder: Path) -> Imported:
    """Read and analyse a folder of imported readings.

    Raises ``StorageError`` if it cannot be read, ``DatasetError`` for an unknown data set.
    """
    manifest = read_manifest(folder)
    observations, trials = read_observations(folder), read_trials(folder)
    dataset = load_dataset(manifest.against) if manifest.against else None
    definition = cast(Definition, (dataset and dataset.overhead) or "of_baseline")
    analysis = analyse(observations, trials, baseline=manifest.baseline, overhead=definition)
    found: list[Comparison] = []
    if dataset is not None:
        scenarios = observations["scenario"].unique(maintain_order=True)
        pairs = [Beside(scenario, manifest.readings) for scenario in scenarios]
        found = compare(analysis, dataset, pairs)
    from airtoll.analyse.audit import audit_run

    findings = audit_run(folder.name, observations, trials)
    said = trials.explode("caveats").drop_nulls("caveats")
    counts = said.group_by("caveats", maintain_order=True).len().sort("len", descending=True)
    caveats = dict(counts.iter_rows())
    return Imported(
        folder,
        manifest,
        observations,
        analysis,
        tuple(found),
        tuple(findings),
        caveats,
        tuple(brought(analysis)),
    )


def headline(imported: Imported) -> list[str]:
    """The result of the readings, in two sentences at most."""
    analysis = imported.analysis
    cells = analysis.estimates["cell"].n_unique()
    files = len(imported.manifest.files)
    lines = [
        f"{files} file{'s' if files != 1 else ''} with {imported.observations.height} values of "
        f"{cells} cell{'s' if cells != 1 else ''}{_refused(imported)}."
    ]
    overheads = whole_cells(analysis.overheads).filter(pl.col("value").is_finite())
    if overheads.is_empty():
        lines.append(_without_cost(imported))
        return lines
    sign = cost_sign(str(overheads["unit"][0]))
    worst = overheads.sort(sign * pl.col("value")).row(-1, named=True)
    said = [one for one in imported.claims if one.claim.metric == THROUGHPUT]
    lines += [sentence(imported, one) for one in said if one.cell == worst["cell"]][:1]
    return lines


def _without_cost(imported: Imported) -> str:
    """The reason for which no policy of the readings has a cost."""
    baseline = imported.analysis.baseline
    policies = list(dict.fromkeys(imported.observations["policy"].cast(pl.String)))
    others = [one for one in policies if one != baseline]
    if not others:
        return f"There is no secured policy to compare with {baseline}, so none has a cost."
    if baseline not in policies:
        return (
            f"The baseline, {baseline}, has no reading, so no policy has a cost; there are "
            f"{', '.join(others)} (import with --baseline {others[0]}, or add readings of "
            f"{baseline})."
        )
    return (
        f"No reading of {', '.join(others)} has one of {baseline} beside it, of the same metric, "
        "scenario and traffic, so none has a cost."
    )


def _refused(imported: Imported) -> str:
    """The files that could not be read, up to three by name."""
    names = list(imported.manifest.refused)
    if not names:
        return ""
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    are = "file could" if len(names) == 1 else "files could"
    return f"; {len(names)} {are} not be read: {', '.join(names[:_MOST_NAMED])}{more}"


def sentences(imported: Imported) -> list[str]:
    """Every claim in words, throughputs first."""
    return [sentence(imported, one) for one in imported.claims]


def sentence(imported: Imported, one: Brought) -> str:
    """A claim in words; where the readings have several places or flows, with its own."""
    policies = list(dict.fromkeys(imported.observations["policy"].cast(pl.String)))
    said = Teller(Names((), policies)).measured(one.claim, one.p)
    places = {tuple(other.claim.place.levels) for other in imported.claims}
    where = [str(level) for _, level in one.claim.place.levels] if len(places) > 1 else []
    where += [part for part in (one.flow, one.station) if part is not None]
    return f"{', '.join(where)}: {said}" if where else said


def whole_cells(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows of whole cells; for a cell with flows only, the flows' rows."""
    whole = frame.filter(pl.col("flow").is_null() & pl.col("station").is_null())
    rest = frame.filter(~pl.col("cell").is_in(whole["cell"].unique().implode()))
    return pl.concat([whole, rest])
