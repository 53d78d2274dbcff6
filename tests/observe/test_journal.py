"""The journal: values in columns, runs of the version before, and keys that change."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path

import polars as pl
import pytest

from airtoll import __version__
from airtoll.observe.journal import Journal, Record, read, read_at, read_index
from airtoll.observe.keys import NO_KEYS, Keys, in_columns
from airtoll.observe.tables import CellLabels, write_tables
from airtoll.run import open_run, run
from airtoll.run.api import write

#: A run that stopped after three of its four trials; airtoll wrote its journal as rows then.
BEFORE = Path(__file__).parent / "version1"


@pytest.fixture
def before(tmp_path: Path) -> Path:
    place = tmp_path / "before"
    shutil.copytree(BEFORE, place)
    manifest = json.loads((place / "run.json").read_text())
    (place / "run.json").write_text(json.dumps(manifest | {"airtoll": __version__}))
    return place


def written(journal: Path) -> list[tuple]:
    """The rows that the lines of version 1 in a file have: cell, trial, and the row's columns."""
    lines = map(json.loads, journal.read_text().splitlines())
    return [(one["cell"], one["trial"], *row) for one in lines for row in one.get("rows", ())]


def test_a_run_of_rows_has_the_tables_that_it_had(before: Path) -> None:
    opened = open_run(before)
    write(opened.folder, opened.folder.plan(), "simulator")
    table = opened.observations()
    columns = ("cell", "trial", "metric", "flow", "station", "second", "value", "unit")
    expected = written(BEFORE / "journal.jsonl")
    assert len(expected) == 176
    assert sorted(table.select(columns).rows(), key=str) == sorted(expected, key=str)
    sketches = [record.sketches for record in read(before / "journal.jsonl")]
    assert all(sketches)
    assert pl.read_parquet(before / "sketches.parquet").height == sum(map(len, sketches))


def test_a_run_of_rows_goes_on_in_columns(before: Path, tmp_path: Path) -> None:
    study = tmp_path / "before.toml"
    study.write_text(json.loads((BEFORE / "run.json").read_text())["study"]["text"])
    journal = before / "journal.jsonl"
    kept = journal.read_bytes().splitlines(keepends=True)[:3]
    journal.write_bytes(b"".join(kept) + b'{"cell":"home/op')
    run(study, out=before, resume=True, jobs=1)
    octets = journal.read_bytes()
    assert octets.startswith(b"".join(kept))
    assert b'"rows"' not in octets[len(b"".join(kept)) :]
    trials = open_run(before).trials()
    assert sorted(zip(trials["cell"], trials["trial"], strict=True)) == [
        (cell, trial) for cell in ("home/open/udp", "home/wpa2-psk-ccmp/udp") for trial in (1, 2)
    ]
    index = list(read_index(journal))
    places = [place for _key, place, _rows in index]
    assert [one.rows for one in read_at(journal, places)] == [one.rows for one in read(journal)]


def attempt(trial: int, keys: Keys = NO_KEYS, values: tuple[float, ...] = ()) -> Record:
    return Record("s/p/t", trial, 1, trial, "ok", None, (), keys, values)


def of_seconds(count: int) -> tuple[Keys, tuple[float, ...]]:
    """Values of a series of some seconds."""
    rows = [("throughput_bps", None, None, n, 0.1 * n, "bit/s") for n in range(count)]
    return in_columns([*rows, ("delay_s", "A-up", "A", None, 1e-3 / 3, "s")])


def test_every_kind_of_keys_is_read_where_it_holds(tmp_path: Path) -> None:
    """More kinds than a writer numbers, twice over, in two parts of a run."""
    records = [attempt(n, *of_seconds(n % 300)) for n in range(1, 701)]
    records.insert(350, attempt(701))
    path = tmp_path / "journal.jsonl"
    for part in (records[:400], records[400:]):
        with Journal(path) as journal:
            for record in part:
                journal.append(record)
    assert list(read(path)) == records
    index = list(read_index(path))
    assert [key for key, _place, _rows in index] == [record.key for record in records]
    assert [rows for _key, _place, rows in index] == [len(record.rows) for record in records]
    backwards = [place for _key, place, _rows in reversed(index)]
    assert list(read_at(path, backwards)) == records[::-1]
    labels = {"s/p/t": CellLabels("s", "p", "t", "{}")}
    write_tables(path, tmp_path, study="s", testbed="simulator", cells=labels)
    table = pl.read_parquet(tmp_path / "observations.parquet")
    columns = ("trial", "metric", "flow", "station", "second", "value", "unit")
    expected = [
        (record.trial, *row)
        for record in sorted(records, key=lambda record: record.trial)
        # By metric, and by second among those of one metric.
        for row in sorted(record.rows, key=lambda row: (row[0], row[3] or 0))
    ]
    assert table.select(columns).rows() == expected


def test_names_of_a_trial_are_written_once(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.jsonl") as journal:
        for trial in range(1, 51):
            journal.append(attempt(trial, *of_seconds(40)))
    text = (tmp_path / "journal.jsonl").read_text()
    assert text.count("throughput_bps") == 40
    assert text.count("delay_s") == 1


def test_keys_of_another_process_are_those_of_this_one() -> None:
    keys, _values = of_seconds(3)
    assert pickle.loads(pickle.dumps(keys)) is keys
