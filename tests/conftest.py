"""Fixtures of several test folders: a small study and the fake testbed."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import hypothesis
import pytest

# The same examples every time; `--hypothesis-profile explore` draws others.
hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None)
hypothesis.settings.register_profile("explore", deadline=None)
hypothesis.settings.load_profile("repeatable")

SMALL = """
[study]
name = "small"
title = "A small study"
baseline = "open"

[trials]
repetitions = 6
{trials}

[scenario.home]
phy = "802.11a"
stations = [{{ name = "A", position_m = [5.0, 0.0] }}]

[traffic.udp]
transport = "udp"
duration_s = 0.2

[traffic.tcp]
transport = "tcp"
duration_s = 0.2

[grid]
policy = ["open", "wpa2-psk-ccmp"{policies}]
traffic = ["udp", "tcp"]
"""


def _fake_module() -> object:
    path = Path(__file__).parent / "contract" / "fake.py"
    spec = importlib.util.spec_from_file_location("airtoll_fake_testbed", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Longest first: the files that boot a guest, then those that open a browser."""
    items.sort(key=lambda item: (_guest(item.path) is None, not _has(item.path, "mark.browser")))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """A file's tests stay on one worker; so do files that boot a guest for the same folder.

    A guest for the daemons' peers waits in real time for most of its life, a guest for the testbed
    computes in its own time: both run beside each other.
    """
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = str(super()._split_scope(nodeid))
            guest = _guest(config.rootpath / file)
            return file if guest is None else guest

    return Scheduling(config, log)


@cache
def _guest(file: Path) -> str | None:
    """Which of the two guests the tests of a file need, if any."""
    if not _has(file, "mark.guest"):
        return None
    return "guest for peers" if file.parent.name == "peers" else "guest for the testbed"


@cache
def _has(file: Path, mark: str) -> bool:
    # The process that hands out tests collects none: it has names, and no marks.
    return mark in file.read_text("utf-8")


FakeTestbed = _fake_module().FakeTestbed  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def fake() -> type:
    return FakeTestbed


@pytest.fixture
def small_study(tmp_path: Path):
    """Writes a small study file and returns its path; extra text goes into [trials]."""

    def write(trials: str = "", policies: str = "") -> Path:
        path = tmp_path / "small.toml"
        path.write_text(SMALL.format(trials=trials, policies=policies))
        return path

    return write


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium; skips with the reason where there is none."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("chromium is not installed: apt-get install it")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield opened
        opened.close()
