"""The tables against real devices are those that the tool gives now."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("airtoll._native", reason="needs the native module: make build")
ROOT = Path(__file__).resolve().parents[2]


def _check(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "real_devices.py"), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.pages
def test_the_rows_of_one_chip_and_of_wireguard_are_up_to_date() -> None:
    _check("--chip", "IW416", "--machines")


def test_the_readme_has_the_number_of_the_page() -> None:
    page = (ROOT / "docs" / "reference" / "real-devices.md").read_text("utf-8")
    (median,) = re.findall(r"as stations, median error ([\d.]+ %)", page)
    readme = (ROOT / "README.md").read_text("utf-8")
    assert f"within {median} (median)" in " ".join(readme.split())


def test_the_goal_of_udp_that_the_air_limits_is_met() -> None:
    page = (ROOT / "docs" / "reference" / "real-devices.md").read_text("utf-8")
    (median,) = re.findall(r"as stations, median error ([\d.]+) %", page)
    assert float(median) <= 3.0


@pytest.mark.slow
def test_the_page_and_its_picture_are_up_to_date() -> None:
    _check("--check")
