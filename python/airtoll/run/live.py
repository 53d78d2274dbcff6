"""A running study as a page: progress, and the report of what its journal holds so far.

Takes what a run tells (the callbacks of ``run``); serves one page on this machine. It reads the run
folder and writes nothing there, so the run's results are the same with and without it.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from airtoll.observe import journal as journals
from airtoll.observe.folder import RunFolder
from airtoll.observe.journal import Record
from airtoll.plan import Plan
from airtoll.report.figures.narrowing import Look
from airtoll.report.unfinished import unfinished, waiting
from airtoll.run.api import write
from airtoll.run.loopback import Document, Loopback
from airtoll.run.pace import Pace

#: Least time between two looks at the journal, s.
_LEAST_PAUSE_S: Final = 1.0
#: A look waits for this many times the time that the last one took: a tenth of one core at most.
REST: Final = 9.0
#: Most reasons on the page, and looks that are drawn.
_MOST_REASONS: Final = 20
_MOST_LOOKS: Final = 60
#: A page asks every second, and later where its browser is busy. One that asked this recently is
#: still open, s.
_OPEN_S: Final = 10.0
#: How long the end of a run waits for open pages to take the report, s.
_FAREWELL_S: Final = 10.0

#: Status of an attempt -> its words.
_STATUSES: Final = {
    "ok": "trials count",
    "failed": "failed",
    "rerun": "run again",
    "skipped": "cells skipped",
    "warm_up": "warm-ups",
}


class Live:
    """The page of one run; a context manager.

    ``start``, ``advance`` and ``phase`` are the callbacks ``started``, ``progress`` and
    ``on_phase`` of :func:`airtoll.run.run`. ``rest``: the pause after a look at the journal, in
    durations of that look. ``clock``: monotonic seconds.
    """

    def __init__(
        self, port: int = 0, *, rest: float = REST, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rest = rest
        self._clock = clock
        self._pace = Pace(clock)
        self._guard = threading.Condition()
        self._folder: RunFolder | None = None
        self._title = "airtoll"
        self._phase = "reading the study"
        self._counts: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self._problem = ""
        self._page: str | None = None
        self._final: str | None = None
        self._revision = 0
        self._looks: list[Look] = []
        self._stale = False
        self._closed = False
        self._asked_at: float | None = None
        self._taken = False
        self._server = Loopback(
            {
                "": self._whole,
                "report": self._part,
                "state": self._state,
            },
            port,
        )
        self._maker = threading.Thread(target=self._make, name="report", daemon=True)
        self._maker.start()

    @property
    def url(self) -> str:
        """The address of the page, with its token."""
        return self._server.url

    def start(self, folder: RunFolder, plan: Plan) -> None:
        """Take the folder of the run, with what an earlier part of it left there."""
        with self._guard:
            self._folder, self._title = folder, plan.study.study.title
            self._stale = folder.journal.exists()
            for record in journals.read(folder.journal) if self._stale else ():
                self._count(record)
            self._guard.notify_all()

    def phase(self, text: str) -> None:
        """Show what the run waits for; an empty text ends the wait."""
        with self._guard:
            self._phase = text

    def advance(self, done: int, planned: int, record: Record | None) -> None:
        """Count a trial; without a record: those of an earlier part of the run."""
        with self._guard:
            self._pace.advance(done, planned, record)
            self._phase = ""
            if record is None:
                return
            self._count(record)
            self._stale = True
            self._guard.notify_all()

    def finish(self, page: str) -> None:
        """Show the finished report: every open page is given it."""
        with self._guard:
            self._final = page
            self._stale = False
            self._guard.notify_all()

    def farewell(self) -> None:
        """Wait until an open page has taken the finished report; at once where none is open."""
        end = self._clock() + _FAREWELL_S
        with self._guard:
            while (
                not self._taken
                and self._asked_at is not None
                and self._clock() - self._asked_at < _OPEN_S
                and self._clock() < end
            ):
                self._guard.wait(0.1)

    def close(self) -> None:
        """End the page."""
        with self._guard:
            self._closed = True
            self._guard.notify_all()
        self._server.close()
        self._maker.join()

    def __enter__(self) -> Self:
        """Take the page."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the page."""
        self.close()

    def _count(self, record: Record) -> None:
        self._counts[record.status] += 1
        if record.reason and record.status in ("failed", "skipped", "rerun"):
            self._reasons[f"{_STATUSES[record.status]}: {record.reason}"] += 1

    def _make(self) -> None:
        """Write the page anew while the journal grows."""
        while True:
            with self._guard:
                self._guard.wait_for(lambda: self._closed or self._stale)
                if self._closed:
                    return
                self._stale = False
                folder, looks = self._folder, list(self._looks)
            begun = self._clock()
            if folder is not None:
                self._look(folder, looks)
            rest = max(_LEAST_PAUSE_S, self._rest * (self._clock() - begun))
            with self._guard:
                if self._guard.wait_for(lambda: self._closed or self._final is not None, rest):
                    return

    def _look(self, folder: RunFolder, looks: list[Look]) -> None:
        page, now, problem = None, None, ""
        try:
            page, now = unfinished(folder, looks, _tables)
        except Exception as error:
            # The page says so: a run must not end because of its page.
            problem = f"The report of the trials so far could not be made: {error}"
        with self._guard:
            self._problem = problem
            if page is None:
                return
            self._page = page
            self._revision += 1
            if now is not None:
                self._looks = _thinned([*looks, now])

    def _whole(self) -> Document:
        with self._guard:
            if self._final is not None:
                return Document("text/html", self._final, self._take)
        return self._part()

    def _part(self) -> Document:
        # An open page takes its newest figures from it and stays what it is: it still has to ask
        # for the whole report.
        with self._guard:
            return Document("text/html", self._final or self._page or waiting(self._title))

    def _take(self) -> None:
        with self._guard:
            self._taken = True
            self._guard.notify_all()

    def _state(self) -> Document:
        with self._guard:
            self._asked_at = self._clock()
            refused = sum(self._reasons.values())
            reasons = [
                text if count == 1 else f"{text} ({count} times)"
                for text, count in self._reasons.most_common(_MOST_REASONS)
            ]
            if len(self._reasons) > _MOST_REASONS:
                reasons.append(f"{len(self._reasons) - _MOST_REASONS} other reasons")
            state: dict[str, Any] = {
                "phase": self._phase or f"{self._pace.done} of {self._pace.planned} trials",
                "done": self._pace.done,
                "planned": self._pace.planned,
                "left": self._pace.left(),
                "counts": ", ".join(
                    f"{self._counts[status]} {words}"
                    for status, words in _STATUSES.items()
                    if self._counts[status]
                ),
                "refused": refused,
                "reasons": reasons,
                "problem": self._problem,
                "revision": self._revision,
                "ended": self._final is not None,
            }
        return Document("application/json", json.dumps(state))


def _thinned(looks: list[Look]) -> list[Look]:
    """At most ``_MOST_LOOKS``: beyond, every second of the older ones."""
    return looks if len(looks) <= _MOST_LOOKS else [*looks[:-1:2], looks[-1]]


def _tables(run: RunFolder, place: Path) -> None:
    write(run, run.plan(), run.manifest()["testbed"], place)
