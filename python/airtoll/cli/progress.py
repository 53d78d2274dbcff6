"""Progress of a run on stderr, from the first second.

Takes what a run tells; shows a bar in a terminal, and elsewhere a line now and then. The clock is
handed in.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.table import Column
from rich.text import Text

from airtoll.cli.output import err
from airtoll.observe.folder import RunFolder
from airtoll.observe.journal import Record
from airtoll.plan import Plan
from airtoll.run.pace import Pace
from airtoll.run.precision import Look

#: Seconds between two lines where there is no terminal.
LINE_EVERY_S: Final = 30.0

#: testbed -> its work on a trial
_VERBS: Final = {"simulator": "simulating", "analytic": "computing", "linux": "measuring"}


class View:
    """The progress of a run; a context manager.

    ``quiet``: without the title and the size of the run.
    """

    def __init__(
        self,
        on: str,
        *,
        quiet: bool = False,
        console: Console | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._console = console or err()
        self._verb = _VERBS.get(on, "running")
        self._quiet = quiet
        self._clock = clock
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            _Left(),
            TextColumn(
                "{task.fields[cell]}",
                style="dim",
                table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis"),
            ),
            console=self._console,
            transient=True,
            expand=True,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task("reading the study", total=None, cell="")
        self._pace = Pace(clock)
        self._measured = False
        self._said_at = clock()

    def __enter__(self) -> Self:
        """Show the bar."""
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take the bar away."""
        self._bar.stop()

    def start(self, folder: RunFolder, plan: Plan) -> None:
        """Print the title and the size of the run."""
        if self._quiet:
            return
        self._console.print(plan.study.study.title, style="bold")
        self._console.print(
            f"{len(plan.cells)} cells x {plan.repetitions} trials into {folder.path}",
            soft_wrap=True,
        )

    def look(self, seen: Look) -> None:
        """Print how precisely the overheads are known, and the cells that go on."""
        self._console.print(words_of(seen), markup=False, highlight=False, soft_wrap=True)

    def phase(self, text: str) -> None:
        """Show what the run waits for; an empty text shows the trials again."""
        if text and (not self._measured or self._clock() - self._said_at >= LINE_EVERY_S):
            self._line(text)
        self._bar.update(self._task, description=text or self._trials(), cell="")

    def advance(self, done: int, planned: int, record: Record | None) -> None:
        """Show the trials that are done; without a record: those of an earlier part of the run."""
        self._measured = record is not None
        cell = record.cell if record else ""
        if self._pace.advance(done, planned, record):
            if done:
                self._line(f"{done} of {planned} trials are done")
            self._bar.reset(
                self._task, completed=done, total=planned, description=self._trials(), cell=cell
            )
        else:
            self._bar.update(
                self._task, completed=done, total=planned, description=self._trials(), cell=cell
            )
        self._bar.update(self._task, left=self._pace.left())
        if self._clock() - self._said_at >= LINE_EVERY_S:
            left = self._pace.left()
            self._line(self._trials() + (f", {left}" if left else ""))

    def _line(self, text: str) -> None:
        """A line of its own, where there is no terminal."""
        self._said_at = self._clock()
        if not self._console.is_terminal:
            self._console.print(text)

    def _trials(self) -> str:
        done, planned = self._pace.done, self._pace.planned
        return f"{self._verb} {done} of {planned}" if planned else self._verb


def words_of(seen: Look) -> str:
    """A look at the intervals of a run in a line."""
    wanted = f"± {100 * seen.wanted:g} %"
    if not seen.known:
        return f"no overhead to know within {wanted}: the trials are as planned"
    counts = sorted({seen.trials[name] for one in seen.known for name in (one.cell, one.reference)})
    trials = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
    count = f"{len(seen.known)} overhead{'' if len(seen.known) == 1 else 's'}"
    if not seen.wide and not seen.on:
        return f"{trials} trials per cell: all of {count} known within {wanted}"
    words = f"{trials} trials per cell: {len(seen.wide)} of {count} wider than {wanted}"
    if seen.wide:
        needs = [need for one in seen.wide if (need := seen.needs(one)) is not None]
        widest = seen.wide[0]
        spread = f"± {100 * widest.half:.2g} %" if math.isfinite(widest.half) else "no interval yet"
        words += f", the widest {spread} ({widest.cell})"
        if needs:
            words += f"; forecast from the spread so far: about {max(needs)} trials there"
    if seen.on:
        return f"{words}; {len(seen.on)} of {len(seen.trials)} cells go on"
    return f"{words}; --most-trials ends it"


class _Left(ProgressColumn):
    """Remaining time."""

    def render(self, task: Task) -> Text:
        return Text(str(task.fields.get("left", "")))
