"""``airtoll plan STUDY --detect D``: the number of trials to detect a difference.

Takes a study, the difference to detect, and the spread of a pilot; gives trials per cell.
The pilot is an earlier run, or a few trials that run now and are discarded.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer
from attrs import frozen

from airtoll.analyse import analyse
from airtoll.analyse.analysis import THROUGHPUT
from airtoll.analyse.power import minimum_detectable, trials_needed
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
from airtoll.observe.tables import read_observations, read_trials
from airtoll.run import prepare
from airtoll.run import run as run_study
from airtoll.run.outcome import refuse_no_result
from airtoll.run.precision import LEAST_TRIALS

_PILOT_TRIALS = 5


@frozen(kw_only=True)
class PlanOptions:
    """Options of ``airtoll plan``."""

    study: StudyArgument
    detect: Annotated[
        str,
        typer.Option("--detect", help="Difference to detect, as a share of the baseline, e.g. 1%."),
    ]
    power: Annotated[
        float, typer.Option(help="Probability of detecting it.", min=0.5, max=0.9999)
    ] = 0.8
    level: Annotated[float, typer.Option(help="Confidence level.", min=0.5, max=0.9999)] = 0.95
    pilot: Annotated[
        Path | None,
        typer.Option(
            "--pilot", parser=named("--pilot"), help="Run folder to take the spread from."
        ),
    ] = None
    on: OnOption = "simulator"
    json: JsonOption = False


@command
def plan_command(options: PlanOptions) -> None:
    """Compute the trials per cell that detect a given difference against the baseline."""
    wanted = fraction(options.detect, "--detect")
    file = prepare(options.study)
    frame = (
        _pilot(options.study, options.on)
        if options.pilot is None
        else _estimates(options.pilot, str(options.pilot))
    )
    rows, equal = [], []
    baseline = file.study.study.baseline
    for cell in frame.filter(pl.col("policy") != baseline).iter_rows(named=True):
        zero = frame.filter(
            policy=baseline,
            scenario=cell["scenario"],
            traffic=cell["traffic"],
            factors=cell["factors"],
        )
        if zero.is_empty() or cell["deviation"] is None or zero["deviation"][0] is None:
            continue
        if not cell["deviation"] or not zero["deviation"][0]:
            # Equal trials have an unknown spread: two would seem to be enough for anything.
            equal.append(str(cell["cell"]))
            continue
        open_value, spread = float(zero["value"][0]), float(zero["deviation"][0])
        try:
            needed: int | None = trials_needed(
                wanted * open_value, spread, cell["deviation"], options.level, options.power
            )
        except UsageError:
            needed = None
        planned = file.study.trials.repetitions
        if file.study.trials.until_precision:
            planned = max(planned, LEAST_TRIALS)
        smallest = minimum_detectable(
            spread, cell["deviation"], planned, options.level, options.power
        )
        rows.append(
            {
                "cell": cell["cell"],
                "baseline_bps": open_value,
                "deviation_bps": cell["deviation"],
                "trials_needed": needed,
                "trials_planned": planned,
                "detectable_when_run_as_planned": smallest / open_value,
            }
        )
    if not rows:
        raise RunError(
            f"{options.study}: no secured cell of the pilot has throughputs that vary, and a "
            "baseline beside it; there is nothing to plan for"
        )
    if equal:
        others = f" and {len(equal) - 1} more" if len(equal) > 1 else ""
        err().print(
            f"left out: {equal[0]}{others}: the pilot's trials are equal, so that their spread is "
            "unknown; --pilot takes a run with more trials"
        )
    if options.json:
        emit_json(rows)
        return
    columns = ["cell", "spread", f"trials for {options.detect}", "planned", "planned detects"]
    view = table(None, columns, right=columns[1:])
    for row in rows[: shown_rows(len(rows))]:
        view.add_row(
            str(row["cell"]),
            show_value(float(str(row["deviation_bps"])), "bit/s", 3),
            str(row["trials_needed"] or "too many"),
            str(row["trials_planned"]),
            f"{100 * float(str(row['detectable_when_run_as_planned'])):.3f} %",
        )
    out().print(view)
    say_rest(len(rows), "all of them with --json")
    err().print(
        f"Welch's test, level {options.level:g}, power {options.power:g}; spread from a pilot"
    )


def _pilot(study: str, on: str) -> pl.DataFrame:
    with tempfile.TemporaryDirectory(prefix="airtoll-pilot-") as folder, View(on) as view:
        place = Path(folder) / "pilot"
        run_study(
            study,
            on=on,
            out=place,
            trials=_PILOT_TRIALS,
            progress=view.advance,
            started=view.start,
            on_phase=view.phase,
        )
        return _estimates(place, study)


def _estimates(folder: Path, name: str) -> pl.DataFrame:
    """Throughputs of a pilot's cells; errors call it ``name``."""
    trials = read_trials(folder)
    refuse_no_result(Path(name), trials)
    result: Any = analyse(read_observations(folder), trials)
    frame: pl.DataFrame = result.estimates
    return frame.filter(
        (pl.col("metric") == THROUGHPUT) & pl.col("flow").is_null() & pl.col("station").is_null()
    )
