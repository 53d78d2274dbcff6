"""``airtoll run|check|plan``: from a study file to a run folder.

Takes a study and options; gives a run folder, and the comparison table on stdout.
Never holds logic that ``airtoll.run`` lacks.
"""

from __future__ import annotations

import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ParamSpec

import typer
from attrs import frozen

from airtoll.analyse.precision import LEAST_TRIALS
from airtoll.cli import gate as gates
from airtoll.cli.gate import EarlierOptions
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
from airtoll.cli.reporting import print_run
from airtoll.cli.studying import (
    RealStationsOption,
    SettingOptions,
    StudyArgument,
    TestbedOptions,
    fraction,
)
from airtoll.cli.what_if import WhatIfOption, panel_of
from airtoll.errors import RunError, UsageError
from airtoll.observe.folder import RunFolder
from airtoll.plan import Plan, make_plan
from airtoll.report import page_of, write_report
from airtoll.report.summary import summarise
from airtoll.run import MOST_JOBS, CellCheck
from airtoll.run import check as check_study
from airtoll.run import run as run_study
from airtoll.run.api import Cautions, grave_first, prepare
from airtoll.run.outcome import refuse_faults, refuse_no_result
from airtoll.run.pace import duration
from airtoll.testbeds import neighbours, probe_traffic, station_rates
from airtoll.testbeds.captured import octets_of_captures
from airtoll.testbeds.contract import Caution

if TYPE_CHECKING:
    from airtoll.run.live import Live

P = ParamSpec("P")

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
#: Warnings of a run before its first trial; `airtoll check` has the others.
_MOST_WARNED = 3
#: CPU seconds of a report, and of one of its cells, for the estimate of `airtoll check`.
_REPORT_S, _REPORT_CELL_S = 0.5, 0.003
#: CPU seconds of a cell besides its trials: resolved, built, in the tables.
_CELL_S = 0.006


@frozen(kw_only=True)
class LiveOptions:
    """The page of a run in the making."""

    live: Annotated[
        bool,
        typer.Option(
            "--live",
            help="Serve the report in the making as a page on this machine while the run goes on.",
        ),
    ] = False
    live_port: Annotated[
        int | None,
        typer.Option("--live-port", min=1, max=65535, help="Port of --live; default: a free one."),
    ] = None
    live_wait: Annotated[
        bool, typer.Option("--live-wait", help="With --live: serve the report until Ctrl-C.")
    ] = False

    def __attrs_post_init__(self) -> None:
        if not self.live and (self.live_port is not None or self.live_wait):
            raise UsageError("--live-port and --live-wait go with --live")


@frozen(kw_only=True)
class RunOptions:
    """Options of ``airtoll run``."""

    study: StudyArgument
    testbed: TestbedOptions
    real_stations: RealStationsOption = None
    out_: Annotated[
        Path | None,
        typer.Option("--out", parser=named("--out"), help="Run folder; default runs/NAME."),
    ] = None
    trials: Annotated[
        int | None,
        typer.Option(
            "--trials", min=1, help="Trials per cell, instead of the study's number or precision."
        ),
    ] = None
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, help="Seed of the run; default: 1, with --resume the run's."),
    ] = None
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-j", min=1, max=MOST_JOBS, help="Parallel trials; default: all cores."
        ),
    ] = None
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted run.")] = False
    repeat_faults: Annotated[
        bool,
        typer.Option(
            "--repeat-faults",
            help="With --resume: run trials that failed inside again, each with a new seed.",
        ),
    ] = False
    settings: SettingOptions
    captures: Annotated[
        bool, typer.Option("--captures", help="Keep a pcapng capture of every trial.")
    ] = False
    executor: Annotated[
        str, typer.Option("--executor", help="local, or dask for many machines.")
    ] = "local"
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", help="Address of a Dask scheduler.")
    ] = None
    until_precision: Annotated[
        str | None,
        typer.Option(
            "--until-precision",
            help="Add trials of the cells whose overhead is known less precisely than this, e.g. "
            "0.5%; default: the study's.",
        ),
    ] = None
    most_trials: Annotated[
        int | None,
        typer.Option("--most-trials", min=2, help="Cap for --until-precision; default: 1000."),
    ] = None
    report: Annotated[bool, typer.Option(help="Write report.html and figures.")] = True
    what_if: WhatIfOption = True
    live: LiveOptions
    gate: Annotated[
        bool,
        typer.Option(
            "--gate",
            help="Check the study's requirements: exit code 1 if one fails, 5 if one cannot be "
            "told.",
        ),
    ] = False
    earlier: EarlierOptions
    json: JsonOption = False

    def __attrs_post_init__(self) -> None:
        if not self.gate and (self.earlier.compare_with, self.earlier.junit) != (None, None):
            raise UsageError("--compare-with and --junit go with --gate")

    @property
    def precision(self) -> float | None:
        """The wanted precision as a fraction. Raises ``UsageError``."""
        text = self.until_precision
        return None if text is None else fraction(text, "--until-precision")


@command
def run(options: RunOptions) -> None:
    """Run a study, write its tables and report, and print the results.

    Each trial is saved when it ends. --resume continues a run after Ctrl-C.
    """
    bed = options.testbed
    values = options.settings.values(options.study, bed.lab)
    earlier = None
    if options.gate:
        file = prepare(options.study, as_printed=options.settings.as_printed, values=values)
        earlier = gates.prepared(
            make_plan(file.study), bed.on if bed.lab is None else None, options.earlier
        )
    console = err()
    # The end that a system asks for is one by Ctrl-C: what was started is stopped.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with ExitStack() as open_:
        page = _live_page(open_, options.live.live_port) if options.live.live else None
        with View(bed.on) as view:
            on_phase = _each(view.phase, page.phase if page else None)
            result = run_study(
                options.study,
                on=bed.on,
                vm=bed.guest,
                testbed=bed.campaign(options.real_stations, on_phase),
                real_stations=options.real_stations,
                out=options.out_,
                trials=options.trials,
                seed=options.seed,
                jobs=options.jobs,
                resume=options.resume,
                repeat_faults=options.repeat_faults,
                as_printed=options.settings.as_printed,
                values=values,
                captures=options.captures,
                executor=options.executor,
                scheduler=options.scheduler,
                until_precision=options.precision,
                most_trials=options.most_trials,
                progress=_each(view.advance, page.advance if page else None),
                started=_each(
                    _each(view.start, page.start if page else None),
                    _say_captures if options.captures else None,
                ),
                on_phase=on_phase,
                on_look=view.look,
                on_cautions=_warner(options),
            )
        totals = result.totals
        if totals is not None:
            parts = [f"{totals.ok} trial{'' if totals.ok == 1 else 's'}"]
            for count, word in (
                (totals.failed, "failed"),
                (totals.rerun, "run again"),
                (totals.skipped, f"cell{'' if totals.skipped == 1 else 's'} skipped"),
            ):
                if count:
                    parts.append(f"{count} {word}")
            console.print(", ".join(parts))
        if several := result.places:
            console.print(f"trials in {len(several)} places: {'; '.join(several)}")
        written = summary = None
        if options.report:
            with console.status("writing the report"):
                panel = panel_of([result.path], wanted=options.what_if)
                summary = summarise(result.path)
                written = write_report([result.path], panel=panel, summary=summary)
            console.print(f"report: {written}", soft_wrap=True)
        if page is not None:
            page.finish(written.read_text("utf-8") if written else page_of(result.path))
            open_.callback(_until_interrupted if options.live.live_wait else page.farewell)
        if options.gate:
            summary = summary or summarise(result.path)
        print_run(result, json=options.json, summary=summary)
        checked = None
        if options.gate and summary is not None:
            checked = gates.checked(summary, earlier)
            gates.tell(checked, options.earlier.junit, err() if options.json else out())
        refuse_faults(result, options.study)
        refuse_no_result(result.path, result.trials())
        if checked is not None:
            gates.refuse(checked)


def _warner(options: RunOptions) -> Callable[[Cautions], None]:
    """Say the most important likely mistakes of a study before its first trial."""

    def warn(cautions: Cautions) -> None:
        some = "" if cautions.cells == cautions.of else f" of {cautions.cells} looked at"
        lines = _warnings(cautions.counts, some)
        rest = len(lines) - _MOST_WARNED
        if rest > 0:
            same = " with the same --set" if options.settings.set_ else ""
            lines[_MOST_WARNED:] = [
                f"{rest} more warning{'' if rest == 1 else 's'}: `airtoll check {options.study}`"
                f"{same} shows all"
            ]
        for line in lines:
            err().print(line, markup=False, highlight=False, soft_wrap=True)

    return warn


def _warnings(counts: Mapping[Caution, int], some: str = "") -> list[str]:
    """One line for each kind of likely mistake: one at several levels differs in numbers alone."""
    kinds: dict[str, list[tuple[str, int]]] = {}
    for caution, count in counts.items():
        kinds.setdefault(_NUMBER.sub("", caution.text), []).append((caution.text, count))
    lines = []
    for texts in kinds.values():
        cells = sum(count for _, count in texts)
        first = ", the first" if len(texts) > 1 else ""
        many = "" if cells == 1 else "s"
        lines.append(f"warning: {cells} cell{many}{some}{first}: {texts[0][0]}")
    return lines


def _say_captures(folder: RunFolder, plan: Plan) -> None:
    """How much disk the captures take, before the first trial."""
    octets = plan.repetitions * sum(map(octets_of_captures, plan.cells))
    err().print(f"captures: about {size(octets)} in {folder.path / 'captures'}", soft_wrap=True)


def size(octets: float) -> str:
    """Octets with two digits: ``2.8 GB``."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6)):
        if octets >= factor:
            return f"{float(f'{octets / factor:.2g}'):g} {unit}"
    return f"{float(f'{octets / 1e3:.2g}'):g} kB"


def _live_page(open_: ExitStack, port: int | None) -> Live:
    """The page of ``--live``, open until the command ends; its address on stderr."""
    from airtoll.run.live import Live

    page = open_.enter_context(Live(port or 0))
    err().print(f"live: {page.url}", soft_wrap=True)
    return page


def _until_interrupted() -> None:
    """Wait for Ctrl-C, which ends the page and is no error: the run is done."""
    with suppress(KeyboardInterrupt):
        err().print("the report stays at its address until Ctrl-C")
        while True:
            # A signal that another thread takes wakes no wait without an end.
            time.sleep(0.3)


def _each(first: Callable[P, None], second: Callable[P, None] | None) -> Callable[P, None]:
    """One callback for both, the second where there is one."""

    def both(*values: P.args, **named: P.kwargs) -> None:
        first(*values, **named)
        if second is not None:
            second(*values, **named)

    return both


@frozen(kw_only=True)
class CheckOptions:
    """Options of ``airtoll check``."""

    study: StudyArgument
    testbed: TestbedOptions
    real_stations: RealStationsOption = None
    settings: SettingOptions
    json: JsonOption = False


@command
def check(options: CheckOptions) -> None:
    """List the cells to run, the skipped cells with reasons, and the expected duration.

    The duration is that of one core of this machine: a few trials of the study tell its speed.
    """
    bed = options.testbed
    campaign = bed.campaign(options.real_stations)
    plan, cells = check_study(
        options.study,
        on=bed.on,
        vm=bed.guest,
        testbed=campaign,
        real_stations=options.real_stations,
        as_printed=options.settings.as_printed,
        values=options.settings.values(options.study, bed.lab),
    )
    repetitions = plan.repetitions
    if plan.study.trials.until_precision:
        repetitions = max(repetitions, LEAST_TRIALS)
    run_s = sum(c.expected_s for c in cells if c.skip is None) * repetitions
    slower = max((c.slower for c in cells), default=1.0)
    run_s += slower * _CELL_S * sum(c.skip is None for c in cells)
    total = run_s + slower * report_s(len(cells))
    if options.json:
        emit_json(
            {
                "study": plan.study.study.name,
                "testbed": bed.on,
                "repetitions": repetitions,
                "expected_s": total,
                "expected_report_s": total - run_s,
                "cells": [
                    {
                        "cell": c.cell.name,
                        "runs": c.skip is None,
                        "reason": c.skip.reason if c.skip else None,
                        "warning": c.warning,
                        "neighbours": None if c.skip else neighbours.words(c.cell),
                        "passers_by": None if c.skip else probe_traffic.words(c.cell),
                        "rates": [
                            {
                                "station": one.station,
                                "link": one.link,
                                "mcs": one.mcs,
                                "streams": one.streams,
                                "mbps": one.mbps,
                                "by_level_dbm": one.chosen and one.chosen.level_dbm,
                            }
                            for one in c.rates
                        ],
                        "expected_s": c.expected_s * repetitions,
                    }
                    for c in cells
                ],
            }
        )
        _refuse_all_skipped(options.study, cells)
        return
    if campaign is not None:
        from airtoll.testbeds.lab import agenda

        for line in agenda.lines(plan, campaign, [c.skip for c in cells]):
            out().print(line, markup=False, highlight=False, soft_wrap=True)
        skipped = sum(c.skip is not None for c in cells)
        err().print(f"{len(cells)} cells x {repetitions} trials, {skipped} skipped")
        _refuse_all_skipped(options.study, cells)
        return
    view = table(None, ["cell", "trials", "runs", "rate", "why not"], right=["trials"])
    for c in cells[: shown_rows(len(cells))]:
        view.add_row(
            c.cell.name,
            str(repetitions) if c.skip is None else "0",
            "yes" if c.skip is None else "skipped",
            station_rates.shown(c.rates),
            c.skip.reason if c.skip else "",
        )
    out().print(view)
    say_rest(len(cells), "all of them with --json")
    reasons = Counter(c.skip.reason for c in cells if c.skip is not None)
    skipped = reasons.total()
    if len(cells) > shown_rows(len(cells)) and skipped:
        # The rows with the reasons may be among those left out.
        why = table("skipped, and why", ["cells", "why"], right=["cells"])
        for reason, count in reasons.most_common(shown_rows(len(reasons))):
            why.add_row(str(count), reason)
        out().print(why)
    err().print(
        f"{len(cells)} cells, {skipped} skipped, about {duration(total)} of one core on {bed.on}"
    )
    if precision := plan.study.trials.until_precision:
        most = max(plan.study.trials.most_trials, repetitions)
        longest = duration(total + run_s * (most / repetitions - 1))
        err().print(
            f"note: cells whose overhead is not known within {100 * precision:g} % go on, to "
            f"{most} trials at most: up to {longest}; `airtoll plan {options.study} --within "
            f"{100 * precision:g}%` forecasts how many each needs, --trials N sets their number"
        )
    warnings = Counter(caution for c in cells for caution in c.cautions)
    for line in _warnings(grave_first(warnings)):
        err().print(line, markup=False, highlight=False, soft_wrap=True)
    rates = Counter(note for c in cells if c.rates and (note := station_rates.note(c.cell)))
    for text, count in rates.most_common(shown_rows(len(rates))):
        err().print(f"note: {count} cells: {text}")
    for words in (neighbours.words, probe_traffic.words):
        around = Counter(said for c in cells if not c.skip and (said := words(c.cell)))
        for text, count in around.most_common(shown_rows(len(around))):
            err().print(f"note: {count} cells: {text}")
    _refuse_all_skipped(options.study, cells)


def report_s(cells: int) -> float:
    """Expected processor time of a report, seconds."""
    return _REPORT_S + _REPORT_CELL_S * cells


def _refuse_all_skipped(study: str, cells: list[CellCheck]) -> None:
    first = next((c.skip.reason for c in cells if c.skip is not None), None)
    if first and all(c.skip is not None for c in cells):
        raise RunError(f"{study}: all {len(cells)} cells are skipped; first: {first}")
