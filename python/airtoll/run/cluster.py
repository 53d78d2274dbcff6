"""Trials on a Dask cluster: many machines, the same observations.

Takes a scheduler's address, or nothing for a cluster of this machine's own; gives a pool of
workers. If a worker dies, another one repeats its trial; the seed is the trial's, so the result is
the same. A trial whose workers die again and again fails alone. A cluster without workers is said,
and after a while it is an error. Only testbeds without hardware of their own can run on other
machines.
"""

from __future__ import annotations

import os
import queue
import time
from collections.abc import Callable
from typing import Any, Final

from airtoll.errors import AirtollError, EnvironmentProblem, UsageError
from airtoll.observe.journal import BROKEN
from airtoll.plan import Trial
from airtoll.run.workers import Ended, measured
from airtoll.testbeds.contract import Measured
from airtoll.testbeds.registry import make

#: Number of worker deaths in one trial after which the trial counts as failed.
_DEATHS = 3
#: How long a scheduler's address may stay without an answer, s.
_CONNECT_S: Final = 20.0
#: How long a cluster may be without a worker, s, and how often it is looked at.
_NO_WORKER_S: Final = 120.0
_LOOK_S: Final = 1.0
#: How long the place of a worker that died may stay empty, s: longer than any run.
_LOST_S: Final = 10**8
_SENDABLE = ("simulator", "analytic")


class Cluster:
    """A pool of Dask workers.

    ``on_phase`` is told that the cluster has no worker. Raises ``EnvironmentProblem`` where no
    scheduler answers and where no worker comes for two minutes.
    """

    def __init__(
        self,
        testbed: str,
        scheduler: str | None,
        width: int | None,
        on_phase: Callable[[str], None] | None = None,
    ) -> None:
        try:
            import dask
            from distributed import Client
        except ImportError as error:
            raise EnvironmentProblem(
                "--executor dask: the package is missing; pip install 'airtoll[dask]'"
            ) from error
        dask.config.set(
            {
                "distributed.scheduler.allowed-failures": _DEATHS,
                # So long after a death Dask looks whether the worker is back, and closes its place
                # where the next death has just taken it: in the end no place was left.
                "distributed.deploy.lost-worker-timeout": _LOST_S,
            }
        )
        self._testbed = testbed
        self._on_phase = on_phase
        self._place = scheduler or "the cluster of this machine"
        try:
            self._client: Any = (
                Client(scheduler, timeout=_CONNECT_S)
                if scheduler
                else Client(
                    n_workers=width or os.cpu_count() or 1,
                    threads_per_worker=1,
                    dashboard_address=None,
                )
            )
        except (OSError, TimeoutError, ValueError) as error:
            raise EnvironmentProblem(
                f"--scheduler {scheduler}: no Dask scheduler answers there; start one with "
                "`dask scheduler`"
            ) from error
        # Dask cancels a future without a reference.
        self._flying: dict[str, tuple[Trial, Any]] = {}
        self._ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        # Trials on workers that died, which may be another trial's fault: each runs again alone.
        self._suspects: list[Trial] = []
        self._alone: set[tuple[str, int, int]] = set()
        try:
            threads = self._wait_for_workers()
        except BaseException:
            self._client.close()
            raise
        # Twice the threads: no worker waits for the transfer of the next trial.
        self.width = max(1, 2 * threads)

    def submit(self, trial: Trial) -> None:
        """Send a trial to the cluster."""
        future = self._client.submit(_measure, self._testbed, trial, pure=False)
        self._flying[future.key] = (trial, future)
        future.add_done_callback(self._ended.put)

    def next_ended(self) -> Ended:
        """Wait for the result of a trial."""
        while True:
            if self._suspects and not self._flying:
                self.submit(self._suspects.pop(0))
            future = self._next_future()
            trial, _future = self._flying.pop(future.key)
            try:
                return trial, future.result()
            except AirtollError as error:
                return trial, error
            except Exception as error:
                if self._client.status != "running":
                    return trial, self._lost()
                kind = type(error).__name__
                key = (trial.cell.name, trial.number, trial.attempt)
                if kind == "KilledWorker" and key not in self._alone:
                    self._alone.add(key)
                    self._suspects.append(trial)
                    continue
                what = "its workers died" if kind == "KilledWorker" else f"{kind}: {error}"
                return trial, Measured(failure=f"{BROKEN}dask: {' '.join(what.split())[:300]}")

    def cancel(self) -> None:
        """Cancel the running trials."""
        self._client.cancel([future for _trial, future in self._flying.values()])

    def close(self) -> None:
        """Leave the cluster; one that was started here ends."""
        self._client.close()

    def _next_future(self) -> Any:
        while True:
            try:
                return self._ended.get(timeout=_LOOK_S)
            except queue.Empty:
                self._wait_for_workers()

    def _lost(self) -> EnvironmentProblem:
        return EnvironmentProblem(
            f"--scheduler {self._place}: the connection is lost; --resume continues"
        )

    def _wait_for_workers(self) -> int:
        """The threads of the workers; waits, and says so, while there is no worker."""
        begun = time.monotonic()
        said = False
        while True:
            if self._client.status != "running":
                raise self._lost()
            try:
                threads: int = sum(self._client.nthreads().values())
            except (OSError, TimeoutError) as error:
                raise self._lost() from error
            if threads:
                if said and self._on_phase:
                    self._on_phase("")
                return threads
            if time.monotonic() - begun > _NO_WORKER_S:
                raise EnvironmentProblem(
                    f"--scheduler {self._place}: has no worker for {_NO_WORKER_S:g} s; start one "
                    f"with `dask worker {self._place}`"
                )
            if not said and self._on_phase:
                self._on_phase(
                    f"waiting for a worker: {self._place} has none; start one with `dask worker`"
                )
            said = True
            time.sleep(_LOOK_S)


def _measure(testbed: str, trial: Trial) -> Measured:
    bed = make(testbed)
    try:
        return measured(bed, trial, None)
    finally:
        bed.close()


def refuse(testbed: str, *, captures: bool) -> None:
    """Raise ``UsageError`` for a testbed with hardware of its own.

    Also if captures are wanted: they would stay on the workers.
    """
    if testbed not in _SENDABLE:
        raise UsageError(
            f"--executor dask: {testbed} cannot be sent to other machines; "
            f"it works with {', '.join(_SENDABLE)}"
        )
    if captures:
        raise UsageError("--executor dask: --captures stay on the workers; run them with --jobs")
