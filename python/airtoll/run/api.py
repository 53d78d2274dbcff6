"""Run a study from Python; ``airtoll run`` uses these functions.

Takes a study's name or path and options; gives a :class:`Run`. Never prints.
"""

from __future__ import annotations

import math
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import polars as pl
from attrs import evolve, frozen

from airtoll.analyse import Analysis, analyse
from airtoll.analyse.contrast import Contrast
from airtoll.analyse.pairing import pairs_trials
from airtoll.analyse.precision import LEAST_TRIALS, how_known
from airtoll.analyse.published import refuse_readings
from airtoll.errors import (
    AllSkipped,
    DiskRefused,
    EnvironmentProblem,
    Interrupted,
    RunError,
    StorageError,
    StudyError,
    UsageError,
)
from airtoll.observe import folder as folders
from airtoll.observe import journal as journals
from airtoll.observe.datasets import Dataset, load_dataset
from airtoll.observe.folder import RunFolder
from airtoll.observe.locking import Held, locked, release, take
from airtoll.observe.metrics import METRICS, OF_JOINS, meant
from airtoll.observe.tables import (
    CellLabels,
    fitting,
    read_observations,
    read_trials,
    write_tables,
)
from airtoll.observe.unfinished import resuming, unfinished
from airtoll.plan import DEFAULT_SEED, Cell, Plan, make_plan
from airtoll.question import refuse_questions, required
from airtoll.run import cluster, speed
from airtoll.run.cluster import Cluster
from airtoll.run.execute import Progress, Totals, execute
from airtoll.run.precision import Look, in_pairs, look
from airtoll.run.theory import write_theory
from airtoll.run.workers import Workers
from airtoll.study import Level, Study, StudyFile, built, load, with_values
from airtoll.testbeds import captured, station_rates
from airtoll.testbeds.contract import Caution, Skip, Testbed
from airtoll.testbeds.registry import capability, make
from airtoll.testbeds.station_rates import StationRate

RUNS = Path("runs")
#: Most trials at once; each has a thread of its own.
MOST_JOBS = 512
#: Cells in which a run looks for likely mistakes before its first trial.
MOST_LOOKED_AT = 150
#: Where trials run.
EXECUTORS = ("local", "dask")


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
        """The measured values (schema: ``airtoll.observe.schema.OBSERVATIONS``)."""
        return fitting(read_observations(self.path), self.path, self.folder.plan())

    def trials(self) -> pl.DataFrame:
        """The status of every attempt (schema: ``airtoll.observe.schema.TRIALS``)."""
        return fitting(read_trials(self.path), self.path, self.folder.plan())

    def analysis(self, level: float = 0.95) -> Analysis:
        """Estimates, overheads and comparisons by the settings of the study.

        ``level``: of the intervals.
        """
        from airtoll.report.summary import summarise

        return summarise(self.path, level=level).analysis

    def answer(self) -> list[str]:
        """The answers to the questions of the study, one sentence each."""
        from airtoll.present.words import Teller
        from airtoll.report.summary import summarise

        summary = summarise(self.path)
        told = map(Teller(summary.names).answer, summary.answered)
        return [sentence for one in told for sentence in (*one.leads, *one.reasons)]

    @property
    def places(self) -> list[str]:
        """Where the trials were carried out, if in more than one place: a run that was resumed."""
        return folders.places(self.folder)

    def to_pandas(self) -> Any:
        """The measured values as a ``pandas.DataFrame``; needs ``airtoll[notebook]``.

        Raises EnvironmentProblem where pandas or pyarrow is missing.
        """
        try:
            return self.observations().to_pandas()
        except ModuleNotFoundError as error:
            raise EnvironmentProblem(
                f"to_pandas: {error.name or 'pandas'} is missing; pip install 'airtoll[notebook]'"
            ) from error


@frozen
class CellCheck:
    """The check of one cell: skipped or not, and the expected duration of a trial, seconds.

    ``slower``: how many times longer this machine takes than the testbed's formula expects.
    """

    cell: Cell
    skip: Skip | None
    expected_s: float
    cautions: tuple[Caution, ...] = ()
    #: The fixed rates of its stations.
    rates: tuple[StationRate, ...] = ()
    slower: float = 1.0

    @property
    def warning(self) -> str | None:
        """All cautions in one line; None without any."""
        return "; ".join(one.text for one in self.cautions) or None


@frozen
class Cautions:
    """Likely mistakes in the cells of a run. ``cells``: how many were looked at, of ``of``.

    ``counts``: caution -> cells that have it, grave ones first, then the most frequent.
    """

    counts: Mapping[Caution, int]
    cells: int
    of: int


#: A path, the name of a shipped study, or a study that was built in Python.
StudyLike = str | Path | Study | Mapping[str, Any]


def run(  # noqa: PLR0913 - keywords of the library
    study: StudyLike,
    *,
    on: str = "simulator",
    out: str | Path | None = None,
    trials: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    resume: bool = False,
    instead: bool = False,
    as_printed: bool = False,
    values: Mapping[str, Level] | None = None,
    testbed: Testbed | None = None,
    vm: bool | str = False,
    real_stations: int | None = None,
    captures: bool = False,
    repeat_faults: bool = False,
    executor: str = "local",
    scheduler: str | None = None,
    until_precision: float | None = None,
    most_trials: int | None = None,
    progress: Progress | None = None,
    started: Callable[[RunFolder, Plan], None] | None = None,
    on_phase: Callable[[str], None] | None = None,
    on_look: Callable[[Look], None] | None = None,
    on_cautions: Callable[[Cautions], None] | None = None,
) -> Run:
    """Expand a study, run it, and write the tables.

    ``study``: a path, the name of a shipped study, a :class:`Study`, or its tables as a mapping.
    ``out`` defaults to ``runs/NAME``, with a number appended if that folder holds a run.
    ``seed`` defaults to 1. ``resume`` continues the run there and keeps its seed, trials and
    values; an option that differs is refused. ``instead`` removes the files of the run that is
    there. ``values`` sets dotted keys of the study.
    ``executor`` is ``local`` or ``dask`` (with the address of a ``scheduler``).
    ``until_precision`` adds trials of the cells whose overhead is known less precisely (a fraction,
    to either side) and of their references, after at least 10 of all cells, up to ``most_trials``;
    both default to the study's, and ``trials`` alone switches it off. Cells that are compared in
    pairs go on together. ``on_look`` is told each look at the intervals. A trial that fails inside
    is kept as failed, and ``Totals.faults`` counts it; ``repeat_faults`` runs such trials of a
    resumed run again, with new seeds. ``real_stations`` is for the real stack in
    virtual time: so many stations of each cell have daemons, and the medium simulates the others.
    ``on_phase`` is told what
    the run waits for between trials, in words; an empty text ends the wait. ``on_cautions`` is told
    the likely mistakes of a fresh run before its first trial.
    Raises ``StudyError`` before anything runs, ``RunError`` where the testbed skips every cell,
    ``StorageError`` where another process writes the folder, ``Interrupted`` with everything kept.

    >>> import tempfile
    >>> from airtoll.run import run
    >>> values = {"grid.traffic": ["udp"], "traffic.udp.duration_s": 0.1}
    >>> done = run("quickstart", out=tempfile.mkdtemp(), trials=2, values=values)
    >>> done.trials()["status"].unique().to_list()
    ['ok']
    """
    file = prepare(study, as_printed=as_printed, values=values)
    most = most_trials or file.study.trials.most_trials
    if (until_precision or file.study.trials.until_precision) and most < LEAST_TRIALS:
        raise UsageError(
            f"--most-trials {most}: a wanted precision needs at least {LEAST_TRIALS} trials"
        )
    if executor not in EXECUTORS:
        raise UsageError(f"--executor {executor}: choose {' or '.join(EXECUTORS)}")
    if scheduler is not None and executor != "dask":
        raise UsageError(f"--scheduler {scheduler}: goes with --executor dask")
    if scheduler is not None and (not scheduler or jobs is not None):
        problem = "--jobs is for workers of this machine" if scheduler else "is empty"
        raise UsageError(f"--scheduler {scheduler or repr(scheduler)}: {problem}")
    if jobs is not None and not 1 <= jobs <= MOST_JOBS:
        raise UsageError(f"--jobs {jobs}: allowed are 1 to {MOST_JOBS}")
    if seed is not None and not 0 <= seed < 1 << 64:
        raise UsageError(f"--seed {seed}: allowed are 0 to {(1 << 64) - 1}")
    if repeat_faults and not resume:
        raise UsageError("--repeat-faults goes with --resume: it repeats trials of an earlier run")
    if resume and real_stations is None and testbed is None:
        real_stations = _real_stations(file, on, out)
    bed = testbed or make(on, vm=vm, real_stations=real_stations, on_phase=on_phase)
    with ExitStack() as open_:
        open_.callback(bed.close)
        _refuse_trials(file.study, bed)
        _refuse_unmeasured(file.study, bed)
        if executor == "dask":
            cluster.refuse(bed.name, captures=captures)
        if not resume:
            _refuse_all_skipped(file.study, bed, trials)
        if captures:
            _refuse_without_room(file.study, bed, trials, out or _base(file, bed.name))
        # One process writes a run folder: nothing of it is read before the lock is held.
        place = open_.enter_context(_place(_base(file, bed.name), out, resume=resume))
        if instead:
            folders.discard(place)
        folder = _folder(file, bed, place, seed, trials, resume, as_printed, values, real_stations)
        _note_precision(folder, until_precision, most_trials)
        try:
            conduct = _Conduct(
                jobs=jobs,
                captures=folder.path / "captures" if captures else None,
                executor=executor,
                scheduler=scheduler,
                repeat_faults=repeat_faults,
                progress=progress,
                started=started,
                on_phase=on_phase,
                on_look=on_look,
                on_cautions=None if resume else on_cautions,
            )
            return _run(file, bed, folder, conduct)
        except Interrupted as error:
            raise Interrupted(f"{folder.path}: {_left(folder, study)}") from error
        except DiskRefused as error:
            raise DiskRefused(f"{error}; {_left(folder, study)}") from error


def _left(folder: RunFolder, study: StudyLike) -> str:
    """How far an interrupted run came, and what goes on with it."""
    named = isinstance(study, str | Path)
    again = f"run(study, out={str(folder.path)!r}, resume=True)"
    if named:
        again = f"`{resuming(folder, str(study))}`"
    try:
        left = unfinished(folder, read_trials(folder.path), str(study) if named else None)
    except (RunError, StorageError):
        left = None
    if left is None:
        return f"interrupted; {again} goes on"
    return f"interrupted after {left.done:,} of {left.planned:,} trials; {again} goes on"


@frozen(kw_only=True)
class _Conduct:
    """How the trials of a run are carried out, as :func:`run` says it."""

    jobs: int | None
    captures: Path | None
    executor: str
    scheduler: str | None
    repeat_faults: bool
    progress: Progress | None
    started: Callable[[RunFolder, Plan], None] | None
    on_phase: Callable[[str], None] | None
    on_look: Callable[[Look], None] | None
    on_cautions: Callable[[Cautions], None] | None

    def workers(self, bed: Testbed) -> Workers | None:
        """Those of another executor than this process."""
        if self.executor == "local":
            return None
        return Cluster(bed.name, self.scheduler, self.jobs, self.on_phase)


def _run(file: StudyFile, bed: Testbed, folder: RunFolder, conduct: _Conduct) -> Run:
    """Carry out the plan of a folder whose lock is held."""
    plan = folder.plan()
    repeat_faults = conduct.repeat_faults
    options = folder.manifest()["options"]
    precision = folders.precision_of(options, file.study)
    most = options.get("most_trials") or file.study.trials.most_trials
    if conduct.started:
        conduct.started(folder, plan)
    if conduct.on_cautions:
        conduct.on_cautions(cautions_of(plan, bed))
    folder.update(state="running")
    state = "interrupted"
    try:
        with journals.Journal(folder.journal) as journal:
            while True:
                totals = execute(
                    plan,
                    bed,
                    journal,
                    # One by one: the rows of all records would take gigabytes in a long run.
                    journals.read(folder.journal),
                    jobs=conduct.jobs or os.cpu_count() or 1,
                    workers=conduct.workers(bed),
                    captures=conduct.captures,
                    progress=conduct.progress,
                    repeat_faults=repeat_faults,
                )
                # Trials that were repeated once are not repeated for a finer interval.
                repeat_faults = False
                if precision is None:
                    break
                seen = _look(folder, plan, bed.name, precision, most)
                if conduct.on_look:
                    conduct.on_look(seen)
                if not seen.on:
                    break
                counts = {**seen.trials, **seen.on}
                least = min(counts.values())
                further = {cell: count for cell, count in counts.items() if count > least}
                folder.update(repetitions=least, further=further)
                plan = folder.plan()
        state = "finished"
    finally:
        folders.note_environment(folder, bed.environment())
        if state == "finished":
            if conduct.on_phase:
                conduct.on_phase("writing the tables")
            write(folder, plan, bed.name)
            write_theory(folder, plan)
            folders.finish(folder, state)
        else:
            _save_what_can_be(folder, plan, bed.name, state)
    return Run(folder, totals)


def prepare(
    study: StudyLike, *, as_printed: bool = False, values: Mapping[str, Level] | None = None
) -> StudyFile:
    """A study with the values of the options. Raises ``StudyError``."""
    file = load(study) if isinstance(study, str | Path) else built(study)
    merged = {**(file.study.as_printed if as_printed else {}), **(values or {})}
    file = with_values(file, merged) if merged else file
    for name in file.study.answers:
        if name not in METRICS:
            raise StudyError(
                f"{file.study.study.name}: study.answers: {name!r} is no metric; {meant(name)}"
            )
    head = file.study.study.name
    datasets: dict[str, Dataset] = {}
    for index, entry in enumerate(file.study.compare):
        if entry.dataset not in datasets:
            datasets[entry.dataset] = load_dataset(entry.dataset)
        problem = refuse_readings(datasets[entry.dataset], entry)
        if problem is not None:
            raise StudyError(f"{head}: compare[{index}].readings: {problem}")
    refuse_questions(file.study)
    if file.study.require:
        required(make_plan(file.study))
    return file


def check(
    study: StudyLike,
    *,
    on: str = "simulator",
    as_printed: bool = False,
    values: Mapping[str, Level] | None = None,
    testbed: Testbed | None = None,
    vm: bool | str = False,
    real_stations: int | None = None,
) -> tuple[Plan, list[CellCheck]]:
    """The cells to run, the skipped cells with reasons, and the expected durations.

    Those of the simulator are seconds of one core of this machine: a few trials tell its speed.

    >>> from airtoll.run import check
    >>> plan, checks = check("quickstart", values={"trials.repetitions": 2})
    >>> len(plan.cells), sum(one.skip is not None for one in checks)
    (9, 0)
    """
    file = prepare(study, as_printed=as_printed, values=values)
    plan = make_plan(file.study)
    bed = testbed or make(on, vm=vm, real_stations=real_stations)
    try:
        _refuse_trials(file.study, bed)
        _refuse_unmeasured(file.study, bed)
        # Cell by cell: a testbed remembers the scenario of the last few cells alone.
        checked = []
        for cell in plan.cells:
            skip = bed.check(cell)
            cautions = () if skip else bed.cautions(cell)
            rates = () if skip else station_rates.of_cell(cell)
            expected_s = 0.0 if skip else bed.expected_s(cell)
            checked.append(CellCheck(cell, skip, expected_s, cautions, rates))
        if testbed is not None or bed.name != "simulator":
            return plan, checked
        runs = [one.cell for one in checked if one.skip is None]
        here = speed.measured(bed, plan, runs, budget_s=speed.BUDGET_S)
        return plan, [
            evolve(one, expected_s=here.of(one.cell) * one.expected_s, slower=here.overall)
            for one in checked
        ]
    finally:
        bed.close()


def cautions_of(plan: Plan, bed: Testbed, most: int = MOST_LOOKED_AT) -> Cautions:
    """Likely mistakes in the cells of a plan; of more than ``most``, in as many, evenly spread."""
    step = max(1, math.ceil(len(plan.cells) / most))
    cells = plan.cells[::step]
    found = Counter(
        caution for cell in cells if bed.check(cell) is None for caution in bed.cautions(cell)
    )
    return Cautions(grave_first(found), len(cells), len(plan.cells))


def grave_first(counts: Mapping[Caution, int]) -> dict[Caution, int]:
    """Cautions in the order in which people are told: grave ones, then the most frequent."""
    return dict(sorted(counts.items(), key=lambda one: (not one[0].is_grave, -one[1])))


def _refuse_unmeasured(study: Study, bed: Testbed) -> None:
    """A study that asks for joins where no station joins says so before the first trial.

    Stations of the real stack always join.
    """
    asked = [*study.study.answers, *(one.metric for one in study.question)]
    of_joins = [name for name in asked if name in OF_JOINS]
    if bed.name == "linux" or not of_joins:
        return
    if not any(cell.settings.authenticate for cell in make_plan(study).cells):
        raise StudyError(
            f"{study.study.name}: {of_joins[0]} is measured where stations join: set "
            "authenticate = true in a scenario"
        )


def _refuse_trials(study: Study, bed: Testbed) -> None:
    """A testbed that does not carry out the study's trials says so before the first."""
    table = capability(bed.name)
    reason = None if table is None else table.why_not_trials(study.trials)
    if reason is not None:
        raise StudyError(f"{study.study.name}: on {bed.name} {reason}")


def open_run(path: str | Path) -> Run:
    """A run from its folder. Raises ``RunError`` if the folder holds no run."""
    folder = RunFolder(Path(path))
    folder.manifest()
    return Run(folder)


def same_run(path: Path, study: str | Path, on: str, values: Mapping[str, Level]) -> Run | None:
    """The finished run at a place, if this version made it of the same study with these values."""
    file = prepare(study, values=values)
    folder = RunFolder(path)
    try:
        manifest = folder.manifest()
        folders.check_same(folder, file, testbed=on, seed=DEFAULT_SEED, values=values)
        found = Run(folder)
        found.trials()
        found.observations()
    except RunError:
        return None
    asked = manifest["study"]["values"].keys() == values.keys()
    return found if asked and manifest["state"] == "finished" else None


def write(folder: RunFolder, plan: Plan, testbed: str, into: Path | None = None) -> None:
    """Compact the journal of a run into its tables, in the run folder or ``into`` another."""
    if not folder.journal.exists():
        raise RunError(f"{folder.path}: has no journal; run the study again")
    write_tables(
        folder.journal,
        into or folder.path,
        study=plan.study.study.name,
        testbed=testbed,
        cells={
            cell.name: CellLabels(cell.scenario, cell.policy, cell.traffic, cell.factors_json)
            for cell in plan.cells
        },
    )


def _save_what_can_be(folder: RunFolder, plan: Plan, testbed: str, state: str) -> None:
    """Write the tables of an unfinished run; an error here must not hide the run's own error."""
    with suppress(StorageError):
        write(folder, plan, testbed)
        folders.finish(folder, state)


def _refuse_all_skipped(study: Study, bed: Testbed, trials: int | None) -> None:
    """A run without any cell leaves no folder. Raises ``AllSkipped`` with the first reason.

    Raises ``StudyError`` for more trials than a run has.
    """
    plan = make_plan(study, repetitions=trials)
    first = None
    for cell in plan.cells:
        skip = bed.check(cell)
        if skip is None:
            return
        first = first or f"{cell.name}: {skip.reason}"
    raise AllSkipped(f"{study.study.name}: all {len(plan.cells)} cells are skipped; first, {first}")


def octets_of_captures(plan: Plan, bed: Testbed) -> float:
    """Expected octets of a run's captures, of the cells that the testbed does not skip."""
    cells = (cell for cell in plan.cells if bed.check(cell) is None)
    return plan.repetitions * sum(map(captured.octets_of_captures, cells))


def _refuse_without_room(study: Study, bed: Testbed, trials: int | None, out: str | Path) -> None:
    """Raise ``DiskRefused`` where captures take far more room than there is."""
    expected = octets_of_captures(make_plan(study, repetitions=trials), bed)
    place = next(path for path in (Path(out), *Path(out).absolute().parents) if path.exists())
    free = shutil.disk_usage(place).free
    if expected > 2 * free:
        raise DiskRefused(
            f"{out}: --captures: about {expected / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free; "
            "make room, choose another --out, or lower --trials or duration_s"
        )


@contextmanager
def _place(base: Path, out: str | Path | None, *, resume: bool) -> Iterator[Path]:
    """The place of a run, locked; a fresh folder that stays empty is removed.

    Raises ``StorageError`` where another process writes there.
    """
    if resume:
        place = _resumed(base, out).path
        RunFolder(place).manifest()
        with locked(place):
            yield place
        return
    fresh = Path(out) if out else None
    for place in [fresh] if fresh else folders.free_places(base):
        made = folders.make(place)
        try:
            file = take(place)
        except Held:
            if fresh is None:
                continue  # another run has just begun there
            raise
        if fresh is None and (place / folders.MANIFEST).exists():
            release(place, file)
            continue
        try:
            yield place
        finally:
            release(place, file)
            if made:
                with suppress(OSError):
                    place.rmdir()
        return


def _folder(
    file: StudyFile,
    bed: Testbed,
    place: Path,
    seed: int | None,
    trials: int | None,
    resume: bool,
    as_printed: bool,
    values: Mapping[str, Level] | None,
    real_stations: int | None,
) -> RunFolder:
    if resume:
        folder = RunFolder(place)
        folders.check_same(
            folder,
            file,
            testbed=bed.name,
            seed=seed,
            trials=trials,
            values=values,
            as_printed=as_printed,
            real_stations=real_stations,
        )
        return folder
    merged: dict[str, Any] = {
        **(file.study.as_printed if as_printed else {}),
        **(values or {}),
    }
    return folders.create(
        place,
        file,
        values=merged,
        testbed=bed.name,
        seed=DEFAULT_SEED if seed is None else seed,
        repetitions=trials or file.study.trials.repetitions,
        environment=bed.environment(),
        options={
            "as_printed": as_printed,
            "trials": trials,
            **({} if real_stations is None else {"real_stations": real_stations}),
        },
    )


def _note_precision(folder: RunFolder, precision: float | None, most: int | None) -> None:
    """Keep the wanted precision with the run, so that a resumed run goes on to it."""
    asked = {"until_precision": precision, "most_trials": most}
    new = {key: value for key, value in asked.items() if value is not None}
    if new:
        folder.update(options={**folder.manifest()["options"], **new})


def _base(file: StudyFile, testbed: str) -> Path:
    """The folder of a study's runs on a testbed, without a number."""
    return RUNS / (file.study.study.name + ("" if testbed == "simulator" else f"-{testbed}"))


def _resumed(base: Path, out: str | Path | None) -> RunFolder:
    return RunFolder(Path(out) if out else _latest(base))


def _real_stations(file: StudyFile, on: str, out: str | Path | None) -> int | None:
    """How many stations have daemons in the run that is resumed; None: all of them."""
    manifest = _resumed(_base(file, on), out).manifest()
    kept: int | None = manifest["options"].get("real_stations")
    # A run of another testbed is refused by that name.
    return kept if manifest.get("testbed") == on else None


def _look(folder: RunFolder, plan: Plan, testbed: str, wanted: float, most: int) -> Look:
    """How precisely the overheads of a run are known, and the cells that go on."""
    write(folder, plan, testbed)
    head = plan.study.study
    paired = pairs_trials(plan.study.trials.order, testbed, plan.study.trials.pairing)
    analysis = analyse(
        read_observations(folder.path),
        read_trials(folder.path),
        contrast=Contrast.of(head),
        baseline=head.baseline,
        overhead=head.overhead,
        select=plan.study.trials.select,
        paired=paired,
        answers=plan.study.answers,
    )
    known = how_known(analysis)
    trials = {cell.name: plan.trials_of(cell.name) for cell in plan.cells}
    return look(known, trials, wanted, most, in_pairs(plan.cells, known) if paired else {})


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
