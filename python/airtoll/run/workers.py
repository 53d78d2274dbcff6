"""Workers that measure trials in parallel: threads of this process, or a Dask cluster.

Takes trials; gives their results in the order in which they end. Never decides which trial is
next, and never writes anything.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from pathlib import Path
from typing import Final, Protocol

from airtoll import _native
from airtoll.errors import AirtollError, Interrupted, StorageError, TestbedError, TrialFault
from airtoll.observe.journal import FAULT
from airtoll.plan import Trial
from airtoll.testbeds.contract import Measured, Testbed

#: Most characters of an unforeseen error in the reason of a failed trial.
_MOST_WORDS: Final = 300
#: A finished trial: the measured values, or the error.
Ended = tuple[Trial, Measured | BaseException]


def measured(testbed: Testbed, trial: Trial, captures: Path | None) -> Measured:
    """Carry out one trial; one that fails inside is a failed trial with its reason.

    Errors that concern every trial are raised: the user stopped, the disk refuses, a tool is
    missing, the testbed could not be set up.
    """
    try:
        return testbed.measure(trial, captures)
    except TrialFault as error:
        return Measured(failure=f"{FAULT}{error}")
    except (Interrupted, StorageError, TestbedError):
        raise
    except (Exception, _native.PanicException) as error:
        kind = "" if isinstance(error, AirtollError) else f"{type(error).__name__}: "
        said = " ".join(f"{kind}{error}".split())
        return Measured(failure=f"{FAULT}{said[:_MOST_WORDS]}")


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

    def submit(self, trial: Trial) -> None:
        """Start a trial; the first one starts the threads."""
        # The one who submits also closes. Ctrl-C may come between making and using the pool, and
        # the interpreter does not end before its threads.
        for thread in self._threads:
            if thread.ident is None:
                thread.start()
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
        started = [thread for thread in self._threads if thread.ident is not None]
        for _thread in started:
            self._tasks.put(None)
        for thread in started:
            thread.join()

    def _work(self) -> None:
        while (trial := self._tasks.get()) is not None:
            try:
                self._ended.put((trial, measured(self._testbed, trial, self._captures)))
            except BaseException as error:
                self._ended.put((trial, error))
