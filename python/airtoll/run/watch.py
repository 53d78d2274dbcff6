"""Short campaigns repeated on a live link, every one kept.

Takes a study and a rhythm; gives a folder of rounds, each a run folder of its own, and what they
say together. A watch that was stopped goes on at its next round. The clock and the wait are
handed in, so that a test needs neither.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
from attrs import frozen

from airtoll.analyse import Estimate, analyse
from airtoll.analyse.analysis import THROUGHPUT
from airtoll.analyse.contrast import Contrast
from airtoll.analyse.drift import Drift, drift, over_rounds
from airtoll.analyse.pairing import pairs_trials
from airtoll.errors import Interrupted, RunError, UsageError
from airtoll.observe.folder import MANIFEST, RunFolder
from airtoll.plan import DEFAULT_SEED
from airtoll.run.api import RUNS, Run, open_run, prepare, run
from airtoll.run.execute import Progress
from airtoll.study import Level
from airtoll.testbeds.contract import Testbed


@frozen
class Watched:
    """The combined result of the rounds for one secured cell."""

    cell: str
    rounds: int
    overhead: Estimate
    throughput_drift: Drift


def watch(  # noqa: PLR0913 - keywords of the library
    study: str | Path,
    *,
    every_s: float,
    rounds: int,
    on: str = "simulator",
    vm: bool | str = False,
    out: str | Path | None = None,
    trials: int | None = None,
    seed: int = DEFAULT_SEED,
    jobs: int | None = None,
    values: Mapping[str, Level] | None = None,
    testbed: Callable[[], Testbed] | None = None,
    clock: Callable[[], float] = time.monotonic,
    wait: Callable[[float], None] = time.sleep,
    ended: Callable[[int, Run], None] | None = None,
    progress: Progress | None = None,
    on_phase: Callable[[str], None] | None = None,
) -> Path:
    """Repeat a study, a round every ``every_s`` seconds; returns the folder of rounds.

    Rounds already there count. A round that takes longer than the rhythm is followed at once.
    ``progress`` and ``on_phase`` are those of ``run``. Raises ``Interrupted`` with every finished
    round kept.
    """
    if rounds < 1 or every_s < 0:
        raise UsageError("watch: needs at least one round and an interval that is not negative")
    name = prepare(study, values=values).study.study.name
    folder = Path(out) if out else RUNS / f"{name}-watch"
    number = len(round_folders(folder))
    while number < rounds:
        begun = clock()
        number += 1
        place = folder / f"round-{number:05}"
        try:
            result = run(
                study,
                on=on,
                vm=vm,
                out=place,
                trials=trials,
                seed=seed + number - 1,
                jobs=jobs,
                resume=(place / MANIFEST).exists(),
                values=values,
                testbed=testbed() if testbed else None,
                progress=progress,
                on_phase=on_phase,
            )
            if ended:
                ended(number, result)
            left = every_s - (clock() - begun)
            if number < rounds and left > 0:
                if on_phase:
                    on_phase(f"waiting for round {number + 1} of {rounds}")
                wait(left)
        except (KeyboardInterrupt, Interrupted) as error:
            raise Interrupted(
                f"{folder}: stopped in round {number}; the same command continues"
            ) from error
    return folder


def round_folders(folder: Path) -> list[Path]:
    """The finished rounds of a watch, in order."""
    found = []
    for place in sorted(folder.glob("round-*")):
        if not (place / MANIFEST).exists():
            continue
        if RunFolder(place).manifest()["state"] == "finished":
            found.append(place)
    return found


def together(folder: Path, level: float = 0.95) -> list[Watched]:
    """The combined result of the rounds. Raises ``RunError`` if there are none."""
    places = round_folders(folder)
    if not places:
        raise RunError(f"{folder}: holds no finished round")
    overheads: dict[str, list[float]] = {}
    rates: dict[str, list[tuple[float, float]]] = {}
    begun: datetime | None = None
    for place in places:
        result = open_run(place)
        manifest: dict[str, Any] = result.folder.manifest()
        start = datetime.fromisoformat(manifest["started"])
        begun = begun or start
        hours = (start - begun).total_seconds() / 3600
        study = result.folder.study_file().study
        analysis = analyse(
            result.observations(),
            result.trials(),
            contrast=Contrast.of(study.study),
            baseline=study.study.baseline,
            overhead=study.study.overhead,
            select=study.trials.select,
            level=level,
            paired=pairs_trials(study.trials.order, manifest["testbed"], study.trials.pairing),
            answers=study.answers,
        )
        whole = pl.col("flow").is_null() & pl.col("station").is_null()
        for row in analysis.overheads.filter(whole).iter_rows(named=True):
            overheads.setdefault(row["cell"], []).append(row["value"])
        estimates = analysis.estimates.filter(whole, pl.col("metric") == THROUGHPUT)
        for row in estimates.iter_rows(named=True):
            rates.setdefault(row["cell"], []).append((hours, row["value"]))
    unit = "bit/s" if study.study.overhead == "difference_bps" else "1"
    return [
        Watched(
            cell,
            len(found),
            over_rounds(found, unit, level),
            drift([h for h, _ in rates[cell]], [v for _, v in rates[cell]], "bit/s", level),
        )
        for cell, found in overheads.items()
    ]
