"""Run a plan: order of trials, number of workers, and status of attempts.

Takes a plan, a testbed and a journal; gives journal records. The order of trials and the number of
workers never change a value: each trial has its own seed, and a cell's re-run rule reads only that
cell. A finished trial is in the journal before the next one starts.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from attrs import define, field, frozen

from airtoll.analyse.rerun import disagreement_reason, rerun_reason
from airtoll.errors import Interrupted
from airtoll.observe.journal import FAULT, Journal, Record
from airtoll.observe.keys import Keys
from airtoll.observe.metrics import METRICS
from airtoll.plan import Cell, Plan, Trial
from airtoll.run.workers import Threads, Workers, measured
from airtoll.testbeds.contract import Measured, Skip, Testbed
from airtoll.testbeds.ordered import Ordered

#: Called with (trials done, trials planned, the record): once before the first trial, without a
#: record, and after every attempt.
Progress = Callable[[int, int, Record | None], None]


@frozen
class Totals:
    """Counts of a run's trials by status.

    ``faults``: those of the failed ones that failed inside (airtoll or its testbed, not the
    policy); ``first_fault`` is the first of them, in words.
    """

    ok: int
    failed: int
    skipped: int
    rerun: int
    faults: int = 0
    first_fault: str | None = None


@define
class _Lane:
    """A running cell: the values that its re-run rule reads (of trials that stand, and of the last
    attempts), and whether the testbed was asked.

    The testbed is asked when the first trial comes up, so that earlier cells run meanwhile.
    """

    cell: Cell
    index: int
    accepted: dict[int, float]
    attempted: dict[int, float] = field(factory=dict)
    checked: bool = False
    skipped: bool = False


def execute(
    plan: Plan,
    testbed: Testbed,
    journal: Journal,
    done: Iterable[Record],
    *,
    jobs: int = 1,
    workers: Workers | None = None,
    captures: Path | None = None,
    progress: Progress | None = None,
    repeat_faults: bool = False,
) -> Totals:
    """Run every trial of a plan that the journal does not hold yet.

    A trial that fails inside is kept as failed, and the others go on. With ``repeat_faults`` such
    trials of the journal are run again, each with the seed of its next attempt.

    ``workers`` measure instead of ``jobs`` threads of this process, and are closed at the end.

    Raises ``Interrupted`` on Ctrl-C (finished trials are kept), ``StorageError`` if the disk
    refuses, and ``TestbedError`` if the testbed fails.
    """
    run = _Run(plan, testbed, journal, done, progress, captures, repeat_faults=repeat_faults)
    if workers is not None:
        run.together(workers)
    elif jobs > 1 and testbed.parallel:
        run.together(Threads(testbed, min(jobs, max(run.planned, 1)), captures))
    else:
        run.alone()
    return run.totals()


class _Run:
    def __init__(
        self,
        plan: Plan,
        testbed: Testbed,
        journal: Journal,
        done: Iterable[Record],
        progress: Progress | None,
        captures: Path | None,
        *,
        repeat_faults: bool,
    ) -> None:
        self.plan = plan
        self.testbed = testbed
        self.journal = journal
        self.progress = progress
        self.captures = captures
        self.rule = plan.study.trials.rerun
        self.first = 1 - plan.study.trials.discard_first
        self.planned = sum(map(self._count_of, plan.cells))
        self.finished = 0
        self.counts = {"ok": 0, "failed": 0, "skipped": 0, "rerun": 0, "warm_up": 0}
        self.faults = 0
        self.first_fault: str | None = None
        self.repeat_faults = repeat_faults
        self.lanes = {cell.name: _Lane(cell, index, {}) for index, cell in enumerate(plan.cells)}
        self.rank = _ranks(plan) if plan.study.trials.order == "random" else None
        self.turn = testbed.order(plan) if isinstance(testbed, Ordered) else None
        self.heap: list[tuple[tuple[float, ...], str, int, int]] = []
        self._fill(done)
        if progress:
            progress(self.finished, self.planned, None)

    def _count_of(self, cell: Cell) -> int:
        """Planned trials of a cell, warm-ups included."""
        return self.plan.trials_of(cell.name) + 1 - self.first

    def alone(self) -> None:
        """Run all trials in this thread, in sequence: Ctrl-C reaches the native code."""
        try:
            while (trial := self._next()) is not None:
                self._keep(trial, measured(self.testbed, trial, self.captures))
        except KeyboardInterrupt as error:
            raise Interrupted("interrupted; --resume continues") from error

    def together(self, workers: Workers) -> None:
        """Run as many trials at once as the workers accept."""
        flying = 0
        try:
            while True:
                while flying < workers.width and (trial := self._next()) is not None:
                    workers.submit(trial)
                    flying += 1
                if not flying:
                    break
                trial, result = workers.next_ended()
                flying -= 1
                self._keep(trial, _unwrap(result))
        except BaseException as error:
            workers.cancel()
            if isinstance(error, KeyboardInterrupt):
                raise Interrupted("interrupted; --resume continues") from error
            raise
        finally:
            workers.close()

    def totals(self) -> Totals:
        """Counts of the trials, those of earlier parts of the run included."""
        counts = self.counts
        return Totals(
            counts["ok"],
            counts["failed"],
            counts["skipped"],
            counts["rerun"],
            self.faults,
            self.first_fault,
        )

    def _fill(self, done: Iterable[Record]) -> None:
        """Take the records of the journal, and queue the other trials."""
        attempts: dict[tuple[str, int], int] = {}
        settled: set[tuple[str, int]] = set()
        for record in done:
            lane = self.lanes.get(record.cell)
            if lane is None:
                continue
            lane.checked = True
            if record.broken or (record.faulty and self.repeat_faults):
                place = (record.cell, record.trial)
                attempts[place] = max(attempts.get(place, 0), record.attempt)
                continue
            self._count(record)
            if record.status == "skipped":
                last = self.plan.trials_of(record.cell)
                settled.update((record.cell, n) for n in range(self.first, last + 1))
                continue
            if record.trial == 0:
                settled.add((record.cell, self.first + record.attempt - 1))
                continue
            place = (record.cell, record.trial)
            attempts[place] = max(attempts.get(place, 0), record.attempt)
            if record.status != "rerun":
                settled.add(place)
                self._remember(lane, record)
            elif self.rule is not None:
                value = headline(record.keys, record.values, self.rule.metric)
                if value is not None:
                    lane.attempted[record.trial] = value
        for cell in self.plan.cells:
            numbers = range(self.first, self.plan.trials_of(cell.name) + 1)
            open_numbers = [n for n in numbers if (cell.name, n) not in settled]
            self.finished += len(numbers) - len(open_numbers)
            for number in open_numbers[: 1 if self.rule else None]:
                self._push(cell.name, number, attempts.get((cell.name, number), 0) + 1)

    def _skip(self, cell: Cell, skip: Skip) -> None:
        record = Record(cell.name, 0, 1, 0, "skipped", skip.reason, ())
        self.journal.append(record)
        self.counts["skipped"] += 1
        self.finished += self._count_of(cell)
        if self.progress:
            self.progress(self.finished, self.planned, record)

    def _count(self, record: Record) -> None:
        self.counts[record.status] += 1
        if record.faulty or record.broken:
            self.faults += 1
            if self.first_fault is None:
                self.first_fault = f"{record.cell}, trial {record.trial}: {record.reason}"

    def _push(self, cell: str, number: int, attempt: int) -> None:
        index = self.lanes[cell].index
        order = self.plan.study.trials.order
        if self.turn is not None:
            key: tuple[float, ...] = self.turn(index, number)
        elif self.rank is not None:
            key = (self.rank[index, number],)
        elif order == "sequential":
            key = (index, number)
        else:
            key = (number, index)
        heapq.heappush(self.heap, (key, cell, number, attempt))

    def _next(self) -> Trial | None:
        while self.heap:
            _key, name, number, attempt = heapq.heappop(self.heap)
            lane = self.lanes[name]
            if not lane.checked:
                lane.checked = True
                skip = self.testbed.check(lane.cell)
                if skip is not None:
                    lane.skipped = True
                    self._skip(lane.cell, skip)
            if not lane.skipped:
                return self.plan.trial(lane.cell, number, attempt)
        return None

    def _keep(self, trial: Trial, measured: Measured) -> None:
        """Classify an attempt, record it, and queue a repetition if the rule requires it."""
        lane = self.lanes[trial.cell.name]
        measured = _without_impossible(measured)
        status, reason = self._judge(trial, measured, lane)
        record = Record(
            cell=trial.cell.name,
            trial=max(trial.number, 0),
            attempt=trial.attempt if trial.number > 0 else trial.number - self.first + 1,
            seed=trial.seed,
            status=status,
            reason=reason,
            caveats=measured.caveats,
            keys=measured.rows.keys,
            values=measured.rows.values,
            sketches=measured.sketches,
        )
        self.journal.append(record)
        self._count(record)
        if status == "rerun":
            self._push(trial.cell.name, trial.number, trial.attempt + 1)
        else:
            self.finished += 1
            self._remember(lane, record)
            if self.rule and trial.number < self.plan.trials_of(trial.cell.name):
                self._push(trial.cell.name, trial.number + 1, 1)
        if self.progress:
            self.progress(self.finished, self.planned, record)

    def _judge(self, trial: Trial, measured: Measured, lane: _Lane) -> tuple[str, str | None]:
        if measured.failure is not None:
            return "failed", measured.failure
        if trial.warm_up:
            return "warm_up", "unrecorded warm-up"
        rule = self.rule
        if rule is None or trial.attempt >= rule.limit:
            return "ok", None
        value = headline(measured.rows.keys, measured.rows.values, rule.metric)
        if value is None:
            return "ok", None
        if rule.agreement is not None:
            attempt_before = lane.attempted.get(trial.number)
            lane.attempted[trial.number] = value
            unit = METRICS[rule.metric][0] if rule.metric in METRICS else ""
            reason = disagreement_reason(value, attempt_before, unit, rule.agreement)
            return ("rerun", reason) if reason else ("ok", None)
        before = [lane.accepted[n] for n in sorted(lane.accepted) if n < trial.number]
        reason = rerun_reason(
            value,
            before,
            METRICS[rule.metric][0] if rule.metric in METRICS else "",
            below_sigma=rule.below_sigma,
            minimum_trials=rule.minimum_trials,
        )
        return ("rerun", reason) if reason else ("ok", None)

    def _remember(self, lane: _Lane, record: Record) -> None:
        if self.rule and record.status == "ok":
            value = headline(record.keys, record.values, self.rule.metric)
            if value is not None:
                lane.accepted[record.trial] = value


def headline(keys: Keys, values: Sequence[float], metric: str) -> float | None:
    """The value of a whole trial: that without flow, station and second, or the sum over flows."""
    named = keys.whole.get(metric, ())
    for index in named:
        if keys.flow[index] is None and keys.station[index] is None:
            return values[index]
    return sum(values[index] for index in named) if named else None


def _without_impossible(measured: Measured) -> Measured:
    """A trial with a value that is no number failed inside."""
    if all(map(math.isfinite, measured.rows.values)):
        return measured
    wrong = next(row for row in measured.rows if not math.isfinite(row.value))
    return Measured(failure=f"{FAULT}{wrong.metric} of {wrong.flow or 'the cell'} is {wrong.value}")


def _unwrap(result: Measured | BaseException) -> Measured:
    if isinstance(result, BaseException):
        raise result
    return result


def skips(plan: Plan, testbed: Testbed) -> Sequence[tuple[Cell, Skip]]:
    """The cells that a testbed cannot run, with the reasons."""
    checked = ((cell, testbed.check(cell)) for cell in plan.cells)
    return [(cell, skip) for cell, skip in checked if skip is not None]


def _ranks(plan: Plan) -> dict[tuple[int, int], int]:
    first = 1 - plan.study.trials.discard_first
    places = [
        (index, number)
        for index, cell in enumerate(plan.cells)
        for number in range(first, plan.trials_of(cell.name) + 1)
    ]
    random.Random(plan.seed).shuffle(places)
    return {place: rank for rank, place in enumerate(places)}
