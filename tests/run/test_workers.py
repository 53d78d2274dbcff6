"""Threads that measure trials."""

from __future__ import annotations

import threading

from airtoll.run.workers import Threads
from airtoll.testbeds.contract import Measured


class Slow:
    """A testbed whose trial lasts until it is cancelled."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.began = threading.Event()
        self.cancelled = threading.Event()

    def measure(self, trial, captures):
        self.begun.append(trial)
        self.began.set()
        assert self.cancelled.wait(30)
        return Measured(failure="cancelled")

    def cancel(self) -> None:
        self.cancelled.set()


def test_a_trial_that_waits_for_a_thread_never_begins_after_a_cancel():
    testbed = Slow()
    workers = Threads(testbed, 1, None)
    assert workers.width == 2
    workers.submit("first")
    assert testbed.began.wait(30)
    workers.submit("second")
    workers.cancel()
    workers.close()
    assert testbed.begun == ["first"]
