"""The remaining time of a run, from the trials of this part of it alone.

Takes the counts that a run tells and a clock; gives seconds, and durations in words.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from airtoll.observe.journal import Record


class Pace:
    """Counts of a run, and how long the rest takes at the pace so far."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.done = 0
        self.planned = 0
        self._clock = clock
        self._first: tuple[float, int] | None = None

    def advance(self, done: int, planned: int, record: Record | None) -> bool:
        """Take the counts; whether the clock starts here.

        The clock starts at the first call and at every call without a record: trials of an earlier
        part of the run took no time of this part.
        """
        self.done, self.planned = done, planned
        starts = record is None or self._first is None
        if starts:
            self._first = (self._clock(), done)
        return starts

    def left(self) -> str:
        """The remaining time in words; empty before the first trial has ended."""
        if self._first is None or self.done <= self._first[1]:
            return ""
        each_s = (self._clock() - self._first[0]) / (self.done - self._first[1])
        return f"about {duration(each_s * (self.planned - self.done))} left"


def duration(seconds: float) -> str:
    """A duration in a suitable unit."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
