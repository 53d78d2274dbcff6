"""No result is no success: all trials failed, all cells skipped, a data set without relation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from airtoll.observe.folder import create
from airtoll.observe.journal import Journal, Record
from airtoll.run.api import write
from airtoll.study import load

STUDY = """
[study]
name = "lost"
title = "No station joins"
[trials]
repetitions = 2
[scenario.home]
phy = "802.11g"
authenticate = true
stations = [{{ name = "A" }}]
{join}
[traffic.udp]
transport = "udp"
duration_s = 0.2
[grid]
policy = ["open", "wpa2-psk-ccmp"]
"""


@pytest.fixture(scope="module")
def place(airtoll: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose trials all failed, and one whose cells were all skipped."""
    folder = tmp_path_factory.mktemp("exit")
    (folder / "failed.toml").write_text(STUDY.format(join="join = { limit_s = 0.0001 }"))
    skipped = STUDY.format(join="").replace('"802.11g"', '"802.11g"\nhandover = { at_s = 0.1 }')
    (folder / "skipped.toml").write_text(skipped)
    assert airtoll("run", "failed.toml", "--out", "failed", cwd=folder).returncode == 3
    run = airtoll("run", "skipped.toml", "--on", "analytic", "--out", "skipped", cwd=folder)
    assert run.returncode == 3, run.stderr
    assert "all 2 cells are skipped; first, home/" in run.stderr
    # Such a run leaves no folder; those of earlier versions had one.
    assert not (folder / "skipped").exists()
    file = load(folder / "skipped.toml")
    made = create(folder / "skipped", file, values={}, testbed="analytic", seed=1, repetitions=2,
                  environment={}, options={})  # fmt: skip
    with Journal(made.journal) as journal:
        for cell in made.plan().cells:
            journal.append(Record(cell.name, 0, 1, 0, "skipped", "no closed form", ()))
    write(made, made.plan(), "analytic")
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        ("report", "RUN"),
        ("report", "RUN", "--format", "csv"),
        ("audit", "RUN"),
        ("compare", "RUN", "tripathi2008"),
        ("plan", "quickstart", "--pilot", "RUN", "--detect", "1%"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize(
    ("run", "words"), [("failed", "all 4 trials failed"), ("skipped", "all 2 cells are skipped")]
)
def test_a_run_without_a_result_is_no_success(
    airtoll: Any, place: Path, run: str, words: str, arguments: tuple[str, ...]
) -> None:
    done = airtoll(*(run if word == "RUN" else word for word in arguments), cwd=place)
    assert done.returncode == 3
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"airtoll: {run}: {words}; first, home/")
    if run == "failed":
        assert "raise scenario.NAME.join.limit_s" in last


@pytest.mark.parametrize(
    "arguments",
    [
        ("plan", "failed.toml", "--detect", "1%"),
        ("watch", "failed.toml", "--every", "0s", "--for", "1s"),
        ("check", "skipped.toml", "--on", "analytic"),
        ("plan", "skipped.toml", "--detect", "1%", "--on", "analytic"),
    ],
    ids=" ".join,
)
def test_a_command_that_measures_nothing_is_no_success(
    airtoll: Any, place: Path, arguments: tuple[str, ...]
) -> None:
    done = airtoll(*arguments, cwd=place)
    assert done.returncode == 3
    assert " are skipped; first" in done.stderr or "trials failed; first" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("--run", "failed"),
        ("--run", "skipped"),
        ("--run", "skipped", "--policy", "wpa2-psk-ccmp"),
        # A shipped scenario of which no candidate has a closed form.
        ("--scenario", "agarwal2005/N1", "--on", "analytic"),
    ],
    ids=" ".join,
)
def test_advice_on_nothing_says_that_nothing_was_measured(
    airtoll: Any, place: Path, arguments: tuple[str, ...]
) -> None:
    done = airtoll("advise", *arguments, cwd=place)
    assert done.returncode == 5
    assert "nothing was measured, so no policy is judged: " in done.stderr
    assert ": all " in done.stderr
    assert "; first, " in done.stderr
    assert "meets the needs" not in done.stdout


def test_nothing_to_choose_from_is_no_success(airtoll: Any, place: Path) -> None:
    run = airtoll(
        "run", "quickstart", "--on", "analytic", "--out", "fine", "--no-report", cwd=place
    )
    assert run.returncode == 0, run.stderr
    for arguments, says in (
        (("compare", "fine", "mccarter2006"), "no reading of mccarter2006"),
        (("advise", "--run", "fine", "--scenario", "elsewhere"), "the run has home"),
        (("advise", "--run", "fine", "--against", "mccarter2006"), "mccarter2006"),
        (("audit", "elsewhere"), "neither a data set"),
        (("ciphers", "bench", "--only", "rot13"), "rot13"),
        (
            (
                "run",
                "quickstart",
                "--set",
                "exclude=[{scenario=['home']}]",
            ),
            "exclude",
        ),
    ):
        done = airtoll(*arguments, cwd=place)
        assert done.returncode in (2, 3), (arguments, done.stdout)
        assert says in done.stderr
        # `ciphers bench` says so of a quick build before the error.
        lines = [
            x for x in done.stderr.splitlines() if not x.startswith("This module is the quick")
        ]
        assert len(lines) == 1
