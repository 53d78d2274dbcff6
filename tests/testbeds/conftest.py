"""One guest of a trial at a time, whichever worker runs its tests: it computes all the time."""

from __future__ import annotations

import fcntl
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="module", autouse=True)
def one_guest_at_a_time(request: pytest.FixtureRequest) -> Iterator[None]:
    """Hold a lock for the time of a module that may start a guest."""
    if request.module.__name__.rpartition(".")[2] not in (
        "test_guest",
        "test_campaign",
        "test_virtual_time",
    ):
        yield
        return
    with (Path(tempfile.gettempdir()) / "airtoll-guest-tests.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
