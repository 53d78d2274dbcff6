"""A run that was interrupted says so wherever its figures are read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from airtoll.errors import Interrupted, RunError
from airtoll.observe.folder import RunFolder
from airtoll.report import page_of
from airtoll.report.headline import headline
from airtoll.report.summary import summarise
from airtoll.run import run

#: 4 cells of 6 trials.
DONE = "interrupted after 10 of 24 trials; `airtoll run"


@pytest.fixture
def interrupted(small_study, fake, tmp_path) -> Path:
    place = tmp_path / "run"
    with pytest.raises(Interrupted) as error:
        run(small_study(), testbed=fake(interrupt_after=10), out=place, jobs=1)
    assert f"{place}: {DONE} {tmp_path / 'small.toml'} --on fake --resume" in str(error.value)
    assert str(error.value).endswith(f"--out {place}` goes on")
    return place


def test_the_answer_begins_with_it(interrupted, airtoll):
    assert DONE in headline(summarise(interrupted))[0]
    assert "interrupted after 10 of 24 trials" in page_of(interrupted)
    shown = airtoll("show", str(interrupted))
    assert shown.stdout.count(DONE) == 1
    assert shown.stderr == ""


@pytest.mark.parametrize(
    "words",
    [
        ("show", "{}", "costs"),
        ("show", "{}", "costs", "--csv"),
        ("show", "{}", "--json"),
        ("report", "{}", "--format", "csv", "--out", "-"),
        ("report", "{}", "--format", "markdown"),
    ],
)
def test_tables_have_it_beside_them(interrupted, airtoll, words):
    shown = airtoll(*(word.format(interrupted) for word in words))
    assert shown.stderr.count(DONE) == 1
    if "--json" in words:
        left = json.loads(shown.stdout)["unfinished"]
        assert (left["trials"], left["trials_planned"]) == (10, 24)


def test_the_caption_of_a_table_for_a_paper_has_it(interrupted, small_study, fake, airtoll):
    words = ("show", str(interrupted), "costs", "--latex")
    assert "Not finished: 10 of 24 trials of the run." in airtoll(*words).stdout
    run(small_study(), testbed=fake(), out=interrupted, resume=True, jobs=1)
    assert "Not finished" not in airtoll(*words).stdout


def test_a_run_that_was_resumed_to_its_end_says_nothing(interrupted, small_study, fake, airtoll):
    run(small_study(), testbed=fake(), out=interrupted, resume=True, jobs=1)
    shown = airtoll("show", str(interrupted), "costs")
    assert "interrupted" not in shown.stdout + shown.stderr
    assert "interrupted" not in headline(summarise(interrupted))[0]


def test_a_run_without_an_end_may_be_under_way(interrupted, airtoll):
    RunFolder(interrupted).update(state="running")
    shown = airtoll("show", str(interrupted))
    assert "under way in another process, or stopped without notice" in shown.stderr


def test_cells_that_were_skipped_are_not_waited_for(small_study, fake, tmp_path):
    study = small_study(policies=', "wep-40"')
    with pytest.raises(Interrupted, match="after 10 of 24 trials"):
        run(study, testbed=fake(interrupt_after=10), out=tmp_path / "run", jobs=1)


def test_another_number_of_trials_is_refused_with_the_planned_one(interrupted, small_study, fake):
    with pytest.raises(RunError, match="plans 6 trials per cell, not 9;"):
        run(small_study(), testbed=fake(), out=interrupted, resume=True, trials=9)


def test_a_run_until_a_precision_is_refused_any_number(small_study, fake, tmp_path):
    """Its number grows: no user asked for the one that it has by now."""
    place = tmp_path / "run"
    run(small_study(), testbed=fake(), out=place, until_precision=0.9, jobs=1)
    for number in (6, 10):
        with pytest.raises(RunError, match=f"known within 90 %, not {number} trials per cell"):
            run(small_study(), testbed=fake(), out=place, resume=True, trials=number)


def test_a_resumed_run_goes_on_to_the_precision_that_it_began_with(small_study, fake, tmp_path):
    parts, whole = tmp_path / "parts", tmp_path / "whole"
    with pytest.raises(Interrupted):
        run(
            small_study(),
            testbed=fake(interrupt_after=5),
            out=parts,
            until_precision=1e-9,
            most_trials=12,
            jobs=1,
        )
    run(small_study(), testbed=fake(), out=parts, resume=True, jobs=1)
    run(small_study(), testbed=fake(), out=whole, until_precision=1e-9, most_trials=12, jobs=1)
    tables = [(one / "trials.parquet").read_bytes() for one in (parts, whole)]
    assert tables[0] == tables[1]
