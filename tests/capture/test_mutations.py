"""Damaged captures end in a report or in a refusal: no crash, no traceback, no endless reading."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("mutations.py")


def _campaign(seed: int, count: int, folder: Path, seconds: float) -> int:
    """Reads so many damaged captures in a process of its own; gives how many were captures."""
    command = [sys.executable, str(PROGRAM), str(seed), str(count), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    return int(done.stdout)


def test_damaged_captures_are_read_or_refused(tmp_path: Path) -> None:
    assert _campaign(1, 50, tmp_path, 300) > 25


@pytest.mark.thorough
def test_hundreds_of_damaged_captures_are_read_or_refused(tmp_path: Path) -> None:
    assert _campaign(1, 300, tmp_path, 600) > 200


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_thousands_of_damaged_captures_are_read_or_refused(tmp_path: Path, seed: int) -> None:
    assert _campaign(seed, 2_000, tmp_path, 1_800) > 1_000
