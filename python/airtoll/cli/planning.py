"""``airtoll plan STUDY``: how many trials to detect a difference, or for an interval of a width.

Takes a study, what is wanted, and the spread of a pilot; gives trials per cell. The pilot is an
earlier run, or a few trials that run now and are discarded.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import polars as pl
import typer
from attrs import frozen

from airtoll.analyse import Analysis
from airtoll.analyse.estimate import Array
from airtoll.analyse.power import Spread, corrected, minimum_detectable, trials_needed
from airtoll.analyse.precision import LEAST_TRIALS, Known, how_known
from airtoll.analyse.quantities import show_value
from airtoll.cli.options import command
from airtoll.cli.output import (
    JsonOption,
    emit_json,
    err,
    out,
    say_rest,
    shown_rows,
    table,
)
from airtoll.cli.places import named
from airtoll.cli.progress import View
from airtoll.cli.studying import OnOption, StudyArgument, fraction
from airtoll.errors import RunError, UsageError
from airtoll.observe.tables import read_trials
from airtoll.plan import Cell, make_plan
from airtoll.report.summary import RunSummary, summarise
from airtoll.run import prepare
from airtoll.run import run as run_study
from airtoll.run.outcome import refuse_no_result
from airtoll.study import Study

_PILOT_TRIALS = 5
#: Probability of the forecast of a run's trials: as many runs take more as take fewer.
_MEDIAN = 0.5


@frozen(kw_only=True)
class PlanOptions:
    """Options of ``airtoll plan``."""

    study: StudyArgument
    detect: Annotated[
        str | None,
        typer.Option("--detect", help="Difference to detect, as a share of the baseline, e.g. 1%."),
    ] = None
    within: Annotated[
        str | None,
        typer.Option(
            "--within", help="Precision: the interval of each overhead is at most +- this, e.g. 1%."
        ),
    ] = None
    power: Annotated[
        float,
        typer.Option(
            help="Probability of detecting it, or of an interval that narrow.", min=0.5, max=0.9999
        ),
    ] = 0.8
    level: Annotated[float, typer.Option(help="Confidence level.", min=0.5, max=0.9999)] = 0.95
    comparisons: Annotated[
        int,
        typer.Option(
            min=1,
            max=100_000,
            help="Comparisons that hold together at --level: Bonferroni's correction, an upper "
            "bound for Holm's.",
        ),
    ] = 1
    pilot: Annotated[
        Path | None,
        typer.Option(
            "--pilot", parser=named("--pilot"), help="Run folder to take the spread from."
        ),
    ] = None
    on: OnOption = "simulator"
    json: JsonOption = False

    def __attrs_post_init__(self) -> None:
        if (self.detect is None) == (self.within is None):
            raise UsageError(
                "plan for --detect D, a difference that a test finds, or for --within D, the width "
                "of an interval: name one of them"
            )
        # Before a pilot runs.
        fraction(self._wanted, self._option)

    @property
    def _option(self) -> str:
        return "--detect" if self.within is None else "--within"

    @property
    def _wanted(self) -> str:
        return str(self.detect if self.within is None else self.within)

    @property
    def wanted(self) -> float:
        """The difference or half width to plan for, a fraction."""
        return fraction(self._wanted, self._option)

    @property
    def said(self) -> str:
        """The same in percent."""
        return f"{100 * self.wanted:.6g} %"

    @property
    def level_of_each(self) -> float:
        """The level of one comparison."""
        return corrected(self.level, self.comparisons)


@frozen
class Course:
    """The trials that a run of the study will have.

    ``first``: of every cell. ``precision``: half an overhead's interval (a fraction) to which a
    cell goes on, up to ``most`` trials; None: no cell goes on.
    """

    first: int
    precision: float | None
    most: int

    @classmethod
    def of(cls, study: Study) -> Course:
        """The course of a run with the study's own number and precision."""
        trials = study.trials
        first = trials.repetitions
        if trials.until_precision:
            first = max(first, LEAST_TRIALS)
        return cls(first, trials.until_precision, max(trials.most_trials, first))

    def trials(self, spread: Spread | None, level: float) -> int:
        """The forecast for a cell whose overhead has this spread (None: unknown)."""
        if self.precision is None or spread is None:
            return self.first
        more = spread.trials_within(self.precision, level, _MEDIAN)
        return self.most if more is None else min(max(self.first, more), self.most)

    def half_width(self, trials: int, known: float) -> float:
        """Half the interval that so many trials give: a run goes on until it is narrow enough."""
        if self.precision is None or trials >= self.most:
            return known
        return min(known, self.precision)

    @property
    def title(self) -> str:
        """The heading of the column with the trials."""
        return "planned" if self.precision is None else "in the run"

    def then(self, verb: str) -> str:
        """The heading of the column with what these trials do."""
        return f"{'planned' if self.precision is None else 'which'} {verb}"

    @property
    def words(self) -> str | None:
        """A note on the trials that a run adds; None where it adds none."""
        if self.precision is None:
            return None
        return (
            f"note: the study has until_precision = {100 * self.precision:g} %: a run has "
            f"{self.first} trials of each cell, then goes on where an overhead is wider than that, "
            f'to {self.most} at most. The column "in the run" is the forecast for each '
            "cell; --trials N sets another number"
        )


@command
def plan_command(options: PlanOptions) -> None:
    """Compute the trials per cell that detect a difference against the baseline, or that give each
    overhead an interval of a wanted width.
    """
    file = prepare(options.study)
    course = Course.of(file.study)
    if options.pilot is not None:
        pilot = _summary(options.pilot, str(options.pilot))
        _refuse_other(options, pilot, make_plan(file.study).cells)
        _plan(options, pilot, course)
        return
    with tempfile.TemporaryDirectory(prefix="airtoll-pilot-") as folder, View(options.on) as view:
        place = Path(folder) / "pilot"
        run_study(
            options.study,
            on=options.on,
            out=place,
            trials=_PILOT_TRIALS,
            progress=view.advance,
            started=view.start,
            on_phase=view.phase,
        )
        _plan(options, _summary(place, options.study), course)


def _refuse_other(options: PlanOptions, pilot: RunSummary, cells: Iterable[Cell]) -> None:
    """Raise ``UsageError`` for a pilot without a cell of the study: its spread is another one."""
    mine, theirs = ({cell.name for cell in of} for of in (cells, pilot.plan.cells))
    if mine & theirs:
        return
    raise UsageError(
        f"--pilot {options.pilot}: a run of {pilot.study.study.name} that has no cell of "
        f"{options.study}; name a run of this study, or leave --pilot out: {_PILOT_TRIALS} trials "
        "run now"
    )


def _summary(folder: Path, name: str) -> RunSummary:
    """A pilot, analysed as its study says; errors call it ``name``."""
    refuse_no_result(Path(name), read_trials(folder))
    return summarise(folder)


def _plan(options: PlanOptions, pilot: RunSummary, course: Course) -> None:
    rows = (_detecting if options.within is None else _narrow)(options, pilot, course)
    if options.json:
        _say_assumptions(options, pilot, rows, course)
        emit_json(rows)
        return
    if options.within is None:
        columns = [
            "cell",
            "spread",
            f"trials for {options.said}",
            course.title,
            course.then("detects"),
        ]
    else:
        columns = [
            "cell",
            "pilot",
            f"trials for ± {options.said}",
            course.title,
            course.then("gives"),
        ]
    view = table(None, columns, right=columns[1:])
    for row in rows[: shown_rows(len(rows))]:
        if options.within is None:
            spread = show_value(float(str(row["deviation_bps"])), "bit/s", 3)
            then = f"{100 * float(str(row['detectable_when_run_as_planned'])):.3f} %"
        else:
            spread = f"± {100 * float(str(row['pilot_half_width'])):.3g} %"
            then = f"± {100 * float(str(row['half_width_when_run_as_planned'])):.3g} %"
        needed = str(row["trials_needed"] or "too many")
        view.add_row(str(row["cell"]), spread, needed, str(row["trials_planned"]), then)
    out().print(view)
    say_rest(len(rows), "all of them with --json")
    _say_assumptions(options, pilot, rows, course)


def _say_assumptions(
    options: PlanOptions,
    pilot: RunSummary,
    rows: Sequence[Mapping[str, object]],
    course: Course,
) -> None:
    """The test or interval, the correction, and how far the pilot's spread may be off."""
    analysis = pilot.analysis
    what = "intervals of pairs" if analysis.paired else "intervals of independent trials"
    if options.within is None:
        what = "Welch's test" + (", which pairs only make stronger" if analysis.paired else "")
    wanted = "a difference of" if options.within is None else "±"
    err().print(
        f"{wanted} {options.said}: {what}, level {options.level:g}, power "
        f"{options.power:g}; spread from a pilot"
    )
    if course.words is not None:
        err().print(course.words, markup=False)
    trials = min(pilot.plan.trials_of(cell.name) for cell in pilot.plan.cells)
    times = Spread(1.0, max(trials, 2), analysis.paired).uncertainty
    err().print(
        f"note: the pilot has {trials} trials, so that the true spread may be {times:.2g} times as "
        "large (97.5 % limit), and the trials its square; --pilot takes a longer run"
    )
    if options.comparisons > 1:
        err().print(
            f"note: {options.comparisons} comparisons hold together: each at level "
            f"{100 * options.level_of_each:.4g} % (Bonferroni; Holm's correction needs no more)"
        )
    elif len(rows) > 1:
        err().print(
            f"note: each comparison by itself; the run corrects for all of its own by Holm: "
            f"--comparisons {len(rows)} plans for these"
        )


def _narrow(options: PlanOptions, pilot: RunSummary, course: Course) -> list[dict[str, object]]:
    """A row per overhead: the trials for an interval of the wanted width."""
    analysis, level = pilot.analysis, options.level_of_each
    rows: list[dict[str, object]] = []
    left_out = []
    for one in how_known(analysis):
        spread = _spread(analysis, one)
        if spread is None:
            left_out.append(one.cell)
            continue
        planned = course.trials(spread, analysis.level)
        rows.append(
            {
                "cell": one.cell,
                "pilot_trials": _pilot_trials(analysis, one),
                "pilot_half_width": one.half,
                "trials_needed": spread.trials_within(options.wanted, level, options.power),
                "trials_planned": planned,
                "half_width_when_run_as_planned": course.half_width(
                    planned, spread.half_width(planned, level, options.power)
                ),
            }
        )
    return _told(options, rows, left_out)


def _pilot_trials(analysis: Analysis, one: Known) -> int:
    return min(analysis.throughputs_of(name).height for name in (one.cell, one.reference))


def _spread(analysis: Analysis, one: Known) -> Spread | None:
    """The spread behind an overhead of the pilot; None where it is not known."""
    trials = _pilot_trials(analysis, one)
    if not 0 < one.half < math.inf or trials < 2:
        return None
    return Spread.of(one.half, trials, analysis.paired, analysis.level)


def _detecting(options: PlanOptions, pilot: RunSummary, course: Course) -> list[dict[str, object]]:
    """A row per secured cell: the trials that detect the wanted difference."""
    analysis, level = pilot.analysis, options.level_of_each
    rows: list[dict[str, object]] = []
    left_out = []
    references = dict(
        analysis.overheads.filter(pl.col("flow").is_null() & pl.col("station").is_null())
        .select("cell", "baseline_cell")
        .iter_rows()
    )
    spreads_of = {one.cell: _spread(analysis, one) for one in how_known(analysis)}
    for cell, reference in references.items():
        planned = course.trials(spreads_of.get(cell), analysis.level)
        own, zero = (_readings(analysis, str(name)) for name in (cell, reference))
        if len(own) < 2 or len(zero) < 2:
            continue
        spreads = (float(zero.std(ddof=1)), float(own.std(ddof=1)))
        if not all(spreads):
            # Equal trials have an unknown spread: two would seem to be enough for anything.
            left_out.append(str(cell))
            continue
        value = float(zero.mean())
        try:
            needed: int | None = trials_needed(
                options.wanted * value, *spreads, level, options.power
            )
        except UsageError:
            needed = None
        rows.append(
            {
                "cell": cell,
                "baseline_bps": value,
                "deviation_bps": spreads[1],
                "trials_needed": needed,
                "trials_planned": planned,
                "detectable_when_run_as_planned": minimum_detectable(
                    *spreads, planned, level, options.power
                )
                / value,
            }
        )
    return _told(options, rows, left_out)


def _readings(analysis: Analysis, cell: str) -> Array:
    return analysis.throughputs_of(cell)["value"].to_numpy()


def _told(
    options: PlanOptions, rows: list[dict[str, object]], left_out: Sequence[str]
) -> list[dict[str, object]]:
    """The rows; those that the pilot says nothing about are named."""
    if not rows:
        raise RunError(
            f"{options.study}: no secured cell of the pilot has throughputs that vary, and a "
            "baseline beside it; there is nothing to plan for"
        )
    if left_out:
        others = f" and {len(left_out) - 1} more" if len(left_out) > 1 else ""
        err().print(
            f"left out: {left_out[0]}{others}: the pilot's trials are equal, so that their spread "
            "is unknown; --pilot takes a run with more trials"
        )
    return rows
