"""Workers that measure trials in parallel: threads of this process, or a Dask cluster.

Takes trials; gives their results in the order in which they end. Never decides which trial is
next, and never writes anything.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from pathlib import Path
from typing import Protocol

from airtoll.plan import Trial
from airtoll.testbeds.contract import Measured, Testbed

#: A finished trial: the measured values, or the error.
Ended = tuple[Trial, Measured | BaseException]


class Workers(Protocol):
    """A pool of parallel workers."""

    @property
    def width(self) -> int:
        """The number of trials that the pool wants at a time."""

    def submit(self, trial: Trial) -> None:
        """Start a trial."""

    def next_ended(self) -> Ended:
        """Wait for a trial to end."""

    def cancel(self) -> None:
        """End the running trials soon; their results are dropped."""

    def close(self) -> None:
        """Stop the workers."""


class Threads:
    """Threads of this process; the testbed releases the interpreter lock while it measures."""

    def __init__(self, testbed: Testbed, width: int, captures: Path | None) -> None:
        # One trial more than threads: a thread does not wait while the journal reaches the disk.
        self.width = width + 1
        self._testbed = testbed
        self._captures = captures
        self._tasks: queue.SimpleQueue[Trial | None] = queue.SimpleQueue()
        self._ended: queue.SimpleQueue[Ended] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._work, name=f"trial-{number}") for number in range(width)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, trial: Trial) -> None:
        """Start a trial."""
        self._tasks.put(trial)

    def next_ended(self) -> Ended:
        """Wait for a trial to end."""
        return self._ended.get()

    def cancel(self) -> None:
        """End the running trials soon; those that wait for a thread never begin."""
        with contextlib.suppress(queue.Empty):
            while True:
                self._tasks.get_nowait()
        self._testbed.cancel()

    def close(self) -> None:
        """Stop the threads."""
        for _thread in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while (trial := self._tasks.get()) is not None:
            try:
                self._ended.put((trial, self._testbed.measure(trial, self._captures)))
            except BaseException as error:
                self._ended.put((trial, error))
