"""The stack behind one function, for the guest's agent: open, measure, close.

A worker keeps one stack between calls, on an event loop in its own thread, and serves one trial at
a time.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, Literal, TypedDict, TypeVar

from airtoll.errors import TestbedError
from airtoll.testbeds.linux.air.medium import PROGRAM
from airtoll.testbeds.linux.daemons import credentials
from airtoll.testbeds.linux.daemons.credentials import Credentials
from airtoll.testbeds.linux.hosts import environment
from airtoll.testbeds.linux.job import Job, Outcome
from airtoll.testbeds.linux.stack import ACCESS_POINTS, STATIONS, Stack

T = TypeVar("T")


class Open(TypedDict):
    """Build the nodes; the answer is the kernel's side of the environment."""

    op: Literal["open"]
    run_id: str
    credentials: dict[str, object]
    results: str
    medium: str | None


class Measure(TypedDict):
    """Carry out a trial; the answer is an ``Outcome`` in plain values."""

    op: Literal["measure"]
    job: dict[str, object]


class Close(TypedDict):
    """Stop everything; the answer is empty."""

    op: Literal["close"]


class Errand(TypedDict):
    """One trial from the nodes to its outcome, in a guest of its own; fields as above."""

    run_id: str
    credentials: dict[str, object]
    results: str
    medium: str
    job: dict[str, object]


class Worker:
    """A stack on its own event loop; the same object serves a local run and the guest."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._stack: Stack | None = None

    def _wait(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def open(
        self, run_id: str, secret: Credentials, results: Path, medium: str | None = None
    ) -> dict[str, str]:
        """Build the nodes; gives the kernel's side of the environment."""
        return self.open_stack(Stack(run_id, secret, results, medium))

    def open_stack(self, stack: Stack) -> dict[str, str]:
        """Build a stack's nodes; gives the kernel's side of the environment."""
        self._wait(stack.__aenter__())
        self._stack = stack
        described: dict[str, str] = self._wait(environment.kernel(stack.root))
        if stack.virtual:
            described["air"] = "none" if stack.medium is None else PROGRAM
        return described

    def ask(self, work: Callable[[Stack], Coroutine[Any, Any, T]]) -> T:
        """The findings of ``work`` on the nodes of the open stack."""
        if self._stack is None:
            raise TestbedError("linux: the stack is not open")
        found: T = self._wait(work(self._stack))
        return found

    def measure(self, job: Job) -> Outcome:
        """Carry out one trial; gives its outcome."""
        if self._stack is None:
            raise TestbedError("linux: the stack is not open")
        outcome: Outcome = self._wait(self._stack.measure(job))
        return outcome

    def close(self) -> None:
        """Stop everything that the stack started."""
        stack, self._stack = self._stack, None
        if stack is not None:
            self._wait(stack.close())


def prepare(_: object) -> dict[str, object]:
    """New credentials, as a guest's seed gives them, for all trials of a run in virtual time."""
    return credentials.fresh().to_json()


def carry_out(errand: Errand) -> dict[str, object]:
    """Open a stack in virtual time and carry out its one trial; the guest's end ends the stack."""
    worker = Worker()
    secret = Credentials.from_json(errand["credentials"])
    results = Path(errand["results"])
    job = Job.from_json(errand["job"])
    stack = Stack(
        errand["run_id"],
        secret,
        results,
        errand["medium"],
        virtual_time=True,
        stations=max(STATIONS, len(job.stations)),
        access_points=max(ACCESS_POINTS, job.access_points),
    )
    described = worker.open_stack(stack)
    outcome = worker.measure(job)
    return {"described": described, "outcome": outcome.to_json()}


_WORKER: Worker | None = None


def handle(request: Open | Measure | Close) -> Mapping[str, object]:
    """Carry out one request of the guest's owner."""
    global _WORKER
    if _WORKER is None:
        _WORKER = Worker()
    if request["op"] == "open":
        secret = Credentials.from_json(request["credentials"])
        results = Path(request["results"])
        return _WORKER.open(request["run_id"], secret, results, request["medium"])
    if request["op"] == "measure":
        return _WORKER.measure(Job.from_json(request["job"])).to_json()
    _WORKER.close()
    return {}
