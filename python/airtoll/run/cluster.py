"""Trials on a Dask cluster: many machines, the same observations.

Takes a scheduler's address, or nothing for a cluster of this machine's own; gives a pool of
workers. If a worker dies, another one repeats its trial; the seed is the trial's, so the result is
the same. Only testbeds without hardware of their own can run on other machines.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

from airtoll.errors import EnvironmentProblem, Interrupted, TestbedError, UsageError
from airtoll.plan import Trial
from airtoll.run.workers import Ended
from airtoll.testbeds.contract import Measured
from airtoll.testbeds.registry import make

#: Number of worker deaths in one trial after which the trial counts as failed.
_DEATHS = 3
#: How long a scheduler's address may stay without an answer, s.
_CONNECT_S: Final = 20.0
_SENDABLE = ("simulator", "analytic")


class Cluster:
    """A pool of Dask workers."""

    def __init__(self, testbed: str, scheduler: str | None, width: int | None) -> None:
        if testbed not in _SENDABLE:
            raise UsageError(
                f"--executor dask: {testbed} cannot be sent to other machines; "
                f"it works with {', '.join(_SENDABLE)}"
            )
        try:
            import dask
            from distributed import Client, as_completed
        except ImportError as error:
            raise EnvironmentProblem(
                "--executor dask: the package is missing; pip install 'airtoll[dask]'"
            ) from error
        dask.config.set({"distributed.scheduler.allowed-failures": _DEATHS})
        self._testbed = testbed
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
        except (OSError, TimeoutError) as error:
            raise EnvironmentProblem(
                f"--scheduler {scheduler}: no Dask scheduler answers there; start one with "
                "`dask scheduler`"
            ) from error
        threads = sum(self._client.nthreads().values())
        # Twice the threads: no worker waits for the transfer of the next trial.
        self.width = max(1, 2 * threads)
        self._flying: Any = as_completed(with_results=False)
        self._trials: dict[str, Trial] = {}

    def submit(self, trial: Trial) -> None:
        """Send a trial to the cluster."""
        future = self._client.submit(_measure, self._testbed, trial, pure=False)
        self._trials[future.key] = trial
        self._flying.add(future)

    def next_ended(self) -> Ended:
        """Wait for the result of a trial."""
        future = next(self._flying)
        trial = self._trials.pop(future.key)
        try:
            return trial, future.result()
        except Interrupted as error:
            return trial, error
        except Exception as error:
            kind = type(error).__name__
            return trial, TestbedError(f"dask: {trial.cell.name}: {kind}: {error}")

    def cancel(self) -> None:
        """Cancel the running trials."""
        self._client.cancel(list(self._flying.futures))

    def close(self) -> None:
        """Leave the cluster; one that was started here ends."""
        self._client.close()


def _measure(testbed: str, trial: Trial) -> Measured:
    bed = make(testbed)
    try:
        return bed.measure(trial, None)
    finally:
        bed.close()


def captures_refused(captures: Path | None) -> None:
    """Raise ``UsageError`` if captures are wanted: they would stay on the workers."""
    if captures is not None:
        raise UsageError("--executor dask: --captures stay on the workers; run them with --jobs")
