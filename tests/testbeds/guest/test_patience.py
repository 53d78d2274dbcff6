"""A guest's limit is of CPU time, which a busy host may give it slowly."""

from __future__ import annotations

import subprocess
import sys

import pytest

from airtoll.testbeds.guest import uml


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("while True: pass", "s of CPU time"),
        ("import sys; sys.stdin.read()", "without any CPU time"),
    ],
)
def test_a_guest_that_does_not_end(
    monkeypatch: pytest.MonkeyPatch, program: str, said: str
) -> None:
    monkeypatch.setattr(uml, "_LOOK_S", 0.02)
    monkeypatch.setattr(uml, "_STALL_S", 3.0)
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE) as machine:
        try:
            with pytest.raises(TimeoutError, match=said):
                uml._wait(machine, 1.0)
        finally:
            machine.kill()


def test_the_end_of_a_guest_is_noticed() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as machine:
        uml._wait(machine, 60.0)
        assert machine.returncode == 0
