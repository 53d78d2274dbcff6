"""Fixtures of several test folders: a small study and the fake testbed."""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import io
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import hypothesis
import pytest

# As the command does it (airtoll.cli): collections of garbage walk over every module that a worker
# holds, the threads of OpenBLAS spin beside those of the other workers, and a search for plugins of
# pydantic reads the metadata of every package.
gc.set_threshold(100_000)
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

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


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """With ``--dist loadgroup`` one worker per folder has all tests with a guest, and one guest.

    A guest for the daemons' peers waits in real time for most of its life, a guest for the testbed
    computes in its own time: both run beside each other.
    """
    for item in items:
        if item.get_closest_marker("guest") is not None:
            folder = item.path.relative_to(Path(__file__).parent).parts[0]
            item.add_marker(pytest.mark.xdist_group(folder))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """With AIRTOLL_RESULTS: adds to its tests.jsonl what passed, failed and was skipped."""
    folder = os.environ.get("AIRTOLL_RESULTS")
    if not folder or hasattr(config, "workerinput"):
        return
    outcomes = ("passed", "failed", "error", "skipped")
    found = {name: terminalreporter.stats.get(name, []) for name in outcomes}
    row = {
        "passed": len(found["passed"]),
        "failed": len(found["failed"]) + len(found["error"]),
        "skipped": Counter(_reason(report) for report in found["skipped"]),
    }
    Path(folder).mkdir(parents=True, exist_ok=True)
    with Path(folder, "tests.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def _reason(report: pytest.TestReport) -> str:
    said = report.longrepr
    text = str(said[2] if isinstance(said, tuple) else said)
    return text.removeprefix("Skipped: ").strip()


def _airtoll(
    *arguments: str | Path, cwd: Path | None = None, stdin: bytes = b"", **environment: str
) -> CompletedProcess[str]:
    from airtoll.cli import main

    words = list(map(str, arguments))
    if stdin:
        # The native module reads the descriptor.
        done = subprocess.run(
            [sys.executable, "-m", "airtoll.cli", *words],
            cwd=cwd, env=os.environ | environment, input=stdin, capture_output=True, check=False,
        )  # fmt: skip
        return CompletedProcess(words, done.returncode, done.stdout.decode(), done.stderr.decode())
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n") for _ in range(2)]
    thresholds = gc.get_threshold()
    with (
        contextlib.chdir(cwd or "."),
        contextlib.redirect_stdout(streams[0]),
        contextlib.redirect_stderr(streams[1]),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(sys, "argv", ["airtoll", *words])
        for name, value in environment.items():
            patch.setenv(name, value)
        try:
            main()
        except SystemExit as end:
            code = end.code
        finally:
            gc.set_threshold(*thresholds)
            gc.enable()
            gc.unfreeze()
    assert isinstance(code, int)
    for stream in streams:
        stream.flush()
    out, err = (stream.buffer.getvalue().decode() for stream in streams)  # type: ignore[attr-defined]
    return CompletedProcess(words, code, out, err)


@pytest.fixture(scope="session")
def airtoll() -> Callable[..., CompletedProcess[str]]:
    """Calls the entry point of ``airtoll`` in this process: exit code and both streams.

    A process of its own imports for half a second; it is taken for octets on standard input.
    Signals, closed pipes and the environment at the start of a process are tested with one.
    """
    return _airtoll


@pytest.fixture(scope="session")
def new_credentials() -> Any:
    """The credentials of one run, whose certificates take a second."""
    from airtoll.testbeds.linux.daemons.credentials import fresh

    return fresh()


FakeTestbed = _fake_module().FakeTestbed  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def fake() -> type:
    return FakeTestbed


@pytest.fixture(autouse=True)
def _no_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Expected times are those of the formulas, not of the machine that runs the tests."""
    monkeypatch.setattr("airtoll.run.speed.BUDGET_S", 0.0)


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
