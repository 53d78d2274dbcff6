"""Tables for programs: numbers in columns of their own, with the names of the report's CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from airtoll.report.number_columns import COUNTS, PARTS, counts_of
from airtoll.report.summary import summarise
from airtoll.report.views import VIEWS
from airtoll.run import run


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, fake: Any) -> Path:
    place = tmp_path_factory.mktemp("numbers") / "run"
    run("tripathi2008", testbed=fake(), out=place, trials=6, jobs=1)
    return place


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("view", VIEWS)
def test_every_column_of_numbers_has_numbers_alone(
    finished: Path, airtoll: Callable[..., Any], view: str
) -> None:
    shown = VIEWS[view](summarise(finished))
    if not shown.rows:
        pytest.skip("the fake testbed measures nothing of it")
    found = rows(airtoll("show", str(finished), view, "--csv").stdout)
    assert len(found) == len(shown.rows)
    checked = 0
    for name in shown.numbers:
        parts = [f"{name}_{part}" for part in PARTS[:-1]]
        columns = [one for one in (name, *parts, *COUNTS) if one in found[0]]
        for row in found:
            for column in columns:
                checked += bool(row[column])
                assert not row[column] or float(row[column]) is not None
    assert checked


def test_the_names_and_values_are_those_of_the_report(
    finished: Path, airtoll: Callable[..., Any]
) -> None:
    report = rows(airtoll("report", str(finished), "--format", "csv", "--out", "-").stdout)
    assert {*PARTS, *COUNTS} <= set(report[0])
    of_report = {
        row["value_all"]: (row["low"], row["high"], row["unit"])
        for row in report
        if row["metric"] == "throughput_bps"
    }
    name = "throughput of all trials"
    for row in rows(airtoll("show", str(finished), "costs", "--csv").stdout):
        ends = tuple(row[f"{name}_{part}"] for part in PARTS[1:])
        assert of_report[row[f"{name}_value"]] == ends


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("20", ["20", "20"]),
        ("5 of 20", ["5", "20"]),
        ("5 of 20, 6 of 20", ["", ""]),
        ("", ["", ""]),
    ],
)
def test_counts_are_two_numbers(text: str, counts: list[str]) -> None:
    assert counts_of(text) == counts
