"""Run a study from Python: the same that ``airtoll run`` does.

Takes a study's name or path and options; gives a :class:`Run`. Never prints.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
from attrs import frozen

from airtoll.errors import Interrupted, RunError
from airtoll.observe import folder as folders
from airtoll.observe import journal as journals
from airtoll.observe.folder import RunFolder
from airtoll.observe.tables import CellLabels, read_observations, read_trials, write_tables
from airtoll.plan import DEFAULT_SEED, Cell, Plan, make_plan
from airtoll.run.execute import Progress, Totals, execute, skips
from airtoll.study import Level, StudyFile, load, with_values
from airtoll.testbeds.contract import Skip, Testbed
from airtoll.testbeds.registry import make

RUNS = Path("runs")


@frozen
class Run:
    """A finished or interrupted run."""

    folder: RunFolder
    totals: Totals | None = None

    @property
    def path(self) -> Path:
        """The run folder."""
        return self.folder.path

    def observations(self) -> pl.DataFrame:
        """What was measured (schema: ``airtoll.observe.schema.OBSERVATIONS``)."""
        return read_observations(self.path)

    def trials(self) -> pl.DataFrame:
        """What became of every attempt (schema: ``airtoll.observe.schema.TRIALS``)."""
        return read_trials(self.path)


@frozen
class CellCheck:
    """What would happen to one cell."""

    cell: Cell
    skip: Skip | None
    expected_s: float


def run(
    study: str | Path,
    *,
    on: str = "simulator",
    out: str | Path | None = None,
    trials: int | None = None,
    seed: int = DEFAULT_SEED,
    jobs: int | None = None,
    resume: bool = False,
    as_printed: bool = False,
    values: Mapping[str, Level] | None = None,
    testbed: Testbed | None = None,
    captures: bool = False,
    progress: Progress | None = None,
    started: Callable[[RunFolder, Plan], None] | None = None,
) -> Run:
    """Expand a study, carry it out, and write the tables.

    ``out`` defaults to ``runs/NAME`` (with a number behind it where a run stands already).
    ``resume`` continues the run there; ``values`` sets dotted keys of the study.
    Raises ``StudyError`` before anything runs, ``Interrupted`` with everything kept.
    """
    file = prepare(study, as_printed=as_printed, values=values)
    bed = testbed or make(on)
    try:
        folder = _folder(file, bed, out, seed, trials, resume, as_printed, values)
        plan = folder.plan()
        if started:
            started(folder, plan)
        folder.update(state="running")
        done = list(journals.read(folder.journal)) if folder.journal.exists() else []
        state = "interrupted"
        try:
            with journals.Journal(folder.journal) as journal:
                totals = execute(
                    plan,
                    bed,
                    journal,
                    done,
                    jobs=jobs or os.cpu_count() or 1,
                    captures=folder.path / "captures" if captures else None,
                    progress=progress,
                )
            state = "finished"
        except Interrupted as error:
            raise Interrupted(
                f"{folder.path}: interrupted; `airtoll run {study} --resume --out {folder.path}` "
                "continues"
            ) from error
        finally:
            write(folder, plan, bed.name)
            folders.finish(folder, state)
    finally:
        bed.close()
    return Run(folder, totals)


def prepare(
    study: str | Path, *, as_printed: bool = False, values: Mapping[str, Level] | None = None
) -> StudyFile:
    """A study with the options' values put in. Raises ``StudyError``."""
    file = load(study)
    merged = {**(file.study.as_printed if as_printed else {}), **(values or {})}
    return with_values(file, merged) if merged else file


def check(
    study: str | Path,
    *,
    on: str = "simulator",
    as_printed: bool = False,
    values: Mapping[str, Level] | None = None,
    testbed: Testbed | None = None,
) -> tuple[Plan, list[CellCheck]]:
    """What would run, what would be skipped and why, and how long it would take."""
    file = prepare(study, as_printed=as_printed, values=values)
    plan = make_plan(file.study)
    bed = testbed or make(on)
    try:
        skipped = {cell.name: skip for cell, skip in skips(plan, bed)}
        return plan, [
            CellCheck(cell, skipped.get(cell.name), bed.expected_s(cell)) for cell in plan.cells
        ]
    finally:
        bed.close()


def open_run(path: str | Path) -> Run:
    """A run from its folder. Raises ``RunError`` if this is none."""
    folder = RunFolder(Path(path))
    folder.manifest()
    return Run(folder)


def write(folder: RunFolder, plan: Plan, testbed: str) -> None:
    """Compact the journal of a run into its tables."""
    if not folder.journal.exists():
        raise RunError(f"{folder.path}: has no journal; run the study again")
    write_tables(
        folder.journal,
        folder.path,
        study=plan.study.study.name,
        testbed=testbed,
        cells={
            cell.name: CellLabels(cell.scenario, cell.policy, cell.traffic, cell.factors_json)
            for cell in plan.cells
        },
    )


def _folder(
    file: StudyFile,
    bed: Testbed,
    out: str | Path | None,
    seed: int,
    trials: int | None,
    resume: bool,
    as_printed: bool,
    values: Mapping[str, Level] | None,
) -> RunFolder:
    base = file.study.study.name + ("" if bed.name == "simulator" else f"-{bed.name}")
    if resume:
        place = Path(out) if out else _latest(RUNS / base)
        folder = RunFolder(place)
        folders.check_same(folder, file, testbed=bed.name)
        return folder
    place = Path(out) if out else folders.free_place(RUNS / base)
    merged: dict[str, Any] = {
        **(file.study.as_printed if as_printed else {}),
        **(values or {}),
    }
    return folders.create(
        place,
        file,
        values=merged,
        testbed=bed.name,
        seed=seed,
        repetitions=trials or file.study.trials.repetitions,
        environment=bed.environment(),
        options={"as_printed": as_printed},
    )


def _latest(base: Path) -> Path:
    """The newest run of that name that can be resumed."""
    places = [
        place
        for place in base.parent.glob(f"{base.name}*")
        if (place / folders.MANIFEST).exists()
        and place.name.removeprefix(base.name).lstrip("-").isdigit() | (place.name == base.name)
    ]
    if not places:
        raise RunError(f"{base}: no run to resume; leave --resume out, or name it with --out")
    return max(places, key=lambda place: (place / folders.MANIFEST).stat().st_mtime_ns)
