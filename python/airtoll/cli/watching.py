"""``airtoll watch STUDY --every T --for T``: short campaigns repeated on a live link.

Takes a study and an interval; gives a folder of rounds, the drift and the averaged overhead.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from attrs import asdict, frozen

from airtoll.analyse.quantities import show_estimate, show_overhead
from airtoll.cli.options import command
from airtoll.cli.output import JsonOption, emit_json, err, out, table
from airtoll.cli.places import named
from airtoll.cli.progress import View
from airtoll.cli.studying import (
    SetOption,
    StudyArgument,
    TestbedOptions,
    parse_values,
    values_in,
)
from airtoll.errors import RunError, UsageError
from airtoll.observe.tables import read_trials
from airtoll.plan import DEFAULT_SEED
from airtoll.run import MOST_JOBS, Run
from airtoll.run.outcome import refuse_faults, refuse_no_result
from airtoll.run.watch import round_folders, together
from airtoll.run.watch import watch as watch_study
from airtoll.testbeds.contract import Testbed
from airtoll.testbeds.linux.hosts import crypto

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def seconds(text: str, option: str) -> float:
    """``90s``, ``15m``, ``24h``, ``2d`` in seconds. Raises ``UsageError``."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd])", text.strip())
    if match is None:
        raise UsageError(f"{option} {text}: write a length such as 90s, 15m, 24h or 2d")
    return float(match[1]) * _UNITS[match[2]]


@frozen(kw_only=True)
class WatchOptions:
    """Options of ``airtoll watch``."""

    study: StudyArgument
    every: Annotated[str, typer.Option("--every", help="Interval between rounds, e.g. 15m.")]
    for_: Annotated[str, typer.Option("--for", help="Total duration, e.g. 24h.")]
    testbed: TestbedOptions
    out_: Annotated[
        Path | None,
        typer.Option(
            "--out", parser=named("--out"), help="Folder of rounds; default runs/NAME-watch."
        ),
    ] = None
    trials: Annotated[int | None, typer.Option("--trials", min=1)] = None
    seed: Annotated[int, typer.Option("--seed", min=0)] = DEFAULT_SEED
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=1, max=MOST_JOBS)] = None
    set_: SetOption = None
    json: JsonOption = False


@command
def watch(options: WatchOptions) -> None:
    """Repeat a short campaign, keep every round, and report drift and the averaged overhead.

    Each round interleaves the policies with the baseline in the study's order; in a laboratory it
    follows the settings of the access point. After Ctrl-C the same command continues with the next
    round.
    """
    bed = options.testbed
    rhythm, length = seconds(options.every, "--every"), seconds(options.for_, "--for")
    rounds = max(1, int(length // rhythm) if rhythm else 1)
    console = err()

    faulty: list[Run] = []

    def ended(number: int, result: Run) -> None:
        if result.totals is not None and result.totals.faults:
            faulty.append(result)
        console.print(f"round {number} of {rounds}: {result.path}", markup=False)

    def opened() -> Testbed:
        campaign = bed.campaign()
        assert campaign is not None
        return campaign

    if bed.lab is not None:
        opened().close()  # mistakes of the lab file come before the first round
    with View(bed.on, quiet=True) as progress:
        folder = watch_study(
            options.study,
            every_s=rhythm,
            rounds=rounds,
            on=bed.on,
            vm=bed.guest,
            out=options.out_,
            trials=options.trials,
            seed=options.seed,
            jobs=options.jobs,
            values=values_in(bed.lab, options.study, parse_values(options.set_ or [])),
            testbed=opened if bed.lab is not None else None,
            ended=ended,
            progress=progress.advance,
            on_phase=progress.phase,
        )
    for place in round_folders(folder):
        refuse_no_result(place, read_trials(place))
    found = together(folder)
    if not found:
        raise RunError(f"{folder}: no round has an overhead: add a secured policy to grid.policy")
    if options.json:
        emit_json([asdict(w) for w in found])
        for result in faulty[:1]:
            refuse_faults(result, options.study)
        return
    view = table(
        f"{rounds} rounds in {folder}",
        ["cell", "rounds", "overhead over the rounds", "drift of throughput per hour", "verdict"],
        right=["rounds", "overhead over the rounds", "drift of throughput per hour"],
    )
    for watched in found:
        slope = watched.throughput_drift.slope_per_hour
        view.add_row(
            watched.cell,
            str(watched.rounds),
            show_overhead(watched.overhead),
            show_estimate(slope),
            watched.throughput_drift.verdict,
        )
    out().print(view)
    for text, trials in encryption(round_folders(folder)).items():
        out().print(f"{text}, in {trials} trials")
    for result in faulty[:1]:
        refuse_faults(result, options.study)


def encryption(rounds: Sequence[Path]) -> dict[str, int]:
    """Sentences on the place of encryption, and the number of trials that say each."""
    found: Counter[str] = Counter()
    for place in rounds:
        said = read_trials(place).filter(status="ok").explode("caveats")["caveats"].drop_nulls()
        found.update(text for text in said if text.endswith((crypto.HARDWARE, crypto.SOFTWARE)))
    return dict(found.most_common())
