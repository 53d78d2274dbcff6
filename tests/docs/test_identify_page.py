"""The tables of identifications on the guide are those that the command gives now."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("airtoll._native", reason="needs the native module: make build")
ROOT = Path(__file__).resolve().parents[2]


def _check(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "identify_pages.py"), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.pages
def test_the_row_without_a_device_is_up_to_date() -> None:
    _check("--mechanism", "octets only")


@pytest.mark.slow
def test_every_table_is_up_to_date() -> None:
    _check("--check")
