"""Run folders that were cut short, edited or made by another program: one line, no traceback.

Each probe changes one file of a small run: a key or column that is gone, of another kind, or out of
range, octets that were flipped, a file that was cut. The folder is then read, reported and resumed.
The outcome is a result or an error of airtoll, whose message is one line.
"""

from __future__ import annotations

import io
import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

from airtoll.cli.app import app
from airtoll.errors import AirtollError, RunError, StorageError
from airtoll.observe.journal import read
from airtoll.report import report_text
from airtoll.run import run
from airtoll.run.api import write

STUDY = """
[study]
name = "small"
title = "Small"
[trials]
repetitions = 2
[scenario.home]
[traffic.udp]
transport = "udp"
duration_s = 0.02
[grid]
policy = ["open", "wpa2-psk-ccmp"]
"""

#: Name of a probe, and the files that it changes; ``None`` removes one.
Probe = tuple[str, dict[str, bytes | None]]

#: A value of another kind or out of range, by name.
VALUES: dict[str, Any] = {
    "null": None,
    "text": "x",
    "negative": -3,
    "half": 1.5,
    "nan": float("nan"),
    "list": [1],
    "lists": [[1, 2]],
    "table": {"a": 1},
    "huge": 10**30,
    "true": True,
}
TABLES = ("observations.parquet", "trials.parquet", "sketches.parquet", "theory.parquet")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hostile") / "small.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture(scope="module")
def good(study: Path) -> Path:
    return run(study, out=study.parent / "good", jobs=1).path


def of_octets(name: str, octets: bytes, flips: int) -> Iterator[Probe]:
    """A file that is gone, empty, cut, another one, nested without end, or flipped in places."""
    yield f"{name}: gone", {name: None}
    yield f"{name}: empty", {name: b""}
    yield f"{name}: cut", {name: octets[: len(octets) // 2]}
    yield f"{name}: not text", {name: bytes(range(256)) + b"\n"}
    yield f"{name}: nested", {name: b"[" * 200_000 + b"\n" + octets}
    draw = random.Random(name)
    for number in range(flips):
        changed = bytearray(octets)
        for _ in range(3):
            changed[draw.randrange(len(changed))] = draw.randrange(256)
        yield f"{name}: flipped {number}", {name: bytes(changed)}


def of_manifest(good: Path) -> Iterator[Probe]:
    whole = json.loads((good / "run.json").read_text())

    def places(value: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
        if place:
            yield place
        for key in value if isinstance(value, dict) else ():
            yield from places(value[key], (*place, key))

    for place in places(whole):
        for name, value in {"gone": ..., **VALUES}.items():
            changed = json.loads(json.dumps(whole))
            table = changed
            for key in place[:-1]:
                table = table[key]
            if value is ...:
                del table[place[-1]]
            else:
                table[place[-1]] = value
            yield f"run.json: {'.'.join(place)} {name}", {"run.json": json.dumps(changed).encode()}


def of_journal(good: Path) -> Iterator[Probe]:
    lines = (good / "journal.jsonl").read_bytes().splitlines(keepends=True)
    version, keys, record = map(json.loads, lines[:3])
    before = {name: value for name, value in record.items() if name not in ("keys", "values")}
    before["rows"] = [list(row) for row in next(read(good / "journal.jsonl")).rows]
    infinite = {**VALUES, "infinite": 10**400}

    def with_line(at: int, name: str, changed: Any) -> Probe:
        """The journal with another line; blanks after commas and colons, as an editor writes."""
        line = json.dumps(changed).encode() + b"\n"
        octets = b"".join([*lines[:at], line, *lines[at + 1 :]])
        return f"journal: line {at + 1}: {name}", {"journal.jsonl": octets}

    for at, held in (0, version), (1, keys), (2, record), (2, before):
        for key in held:
            yield with_line(at, f"{key} gone", {k: v for k, v in held.items() if k != key})
            for name, value in VALUES.items():
                yield with_line(at, f"{key} {name}", {**held, key: value})
        for part in sorted(held.keys() & {"rows", "sketches"}):
            for column in range(len(held[part][0])):
                for name, value in infinite.items():
                    rows = [list(row) for row in held[part]]
                    rows[0][column] = value
                    yield with_line(at, f"{part} {column} {name}", {**held, part: rows})
    for column in ("metric", "flow", "station", "second", "unit", "values"):
        at, held = (2, record) if column == "values" else (1, keys)
        for name, value in infinite.items():
            yield with_line(at, f"{column} 0 {name}", {**held, column: [value, *held[column][1:]]})
        yield with_line(at, f"{column} short", {**held, column: held[column][1:]})
    yield with_line(2, "keys of no line", {**record, "keys": 99})
    yield with_line(0, "a later version", {"journal": 3})
    for at, held in (2, record), (2, before):
        yield with_line(at, "a status of no kind", {**held, "status": "great"})
        yield with_line(at, "a cell of no kind", {**held, "cell": "no/such/cell"})
    yield with_line(2, "a list", [1, 2])


def of_table(good: Path, name: str) -> Iterator[Probe]:
    frame = pl.read_parquet(good / name)

    def dumped(what: str, changed: pl.DataFrame) -> Probe:
        buffer = io.BytesIO()
        changed.write_parquet(buffer)
        return f"{name}: {what}", {name: buffer.getvalue()}

    yield dumped("no rows", frame.head(0))
    yield dumped("no columns", frame.select())
    for column, kind in frame.schema.items():
        yield dumped(f"{column} gone", frame.drop(column))
        for what, value in (
            ("null", pl.lit(None).cast(kind)),
            ("text", pl.lit("x")),
            ("negative", pl.lit(-3)),
            *([("nan", pl.lit(float("nan")))] if kind == pl.Float64 else []),
        ):
            yield dumped(f"{column} {what}", frame.with_columns(value.alias(column)))


def probes(good: Path, flips: int) -> list[Probe]:
    found = [*of_manifest(good), *of_journal(good)]
    for name in TABLES:
        found += of_table(good, name)
    for name in ("run.json", "journal.jsonl", *TABLES):
        found += of_octets(name, (good / name).read_bytes(), flips)
    return found


def spoilt(good: Path, place: Path, files: dict[str, bytes | None]) -> Path:
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(good, place)
    for name, content in files.items():
        if content is None:
            (place / name).unlink()
        else:
            (place / name).write_bytes(content)
    return place


def outcome(step: Callable[[], object]) -> BaseException | None:
    """The error that a step ends with; panics of libraries are no ``Exception``."""
    try:
        step()
    except BaseException as error:
        return error
    return None


def in_one_line(error: BaseException) -> bool:
    """Whether it is an error of airtoll with one line."""
    return isinstance(error, AirtollError) and "\n" not in str(error)


@pytest.mark.thorough
def test_a_changed_folder_is_read_and_resumed_without_a_traceback(
    good: Path, study: Path, tmp_path: Path
) -> None:
    """Every 31st probe: each file, and each kind of change."""
    refused = 0
    for name, files in probes(good, flips=2)[::31]:
        place = spoilt(good, tmp_path / "run", files)
        for step in (
            lambda place=place: report_text([place], form="csv"),
            lambda place=place: run(study, out=place, resume=True, jobs=1),
        ):
            error = outcome(step)
            assert error is None or in_one_line(error), f"{name}: {type(error).__name__}: {error}"
            refused += error is not None
    assert refused > 5


@pytest.mark.slow
def test_every_command_on_every_change(good: Path, study: Path, tmp_path: Path) -> None:
    place = tmp_path / "run"
    commands = [
        ["report", str(place), "--no-what-if"],
        ["report", str(place), str(good), "--format", "csv"],
        ["advise", "--run", str(place)],
        ["audit", str(place)],
        ["compare", str(place), "tripathi2008"],
        ["plan", str(study), "--detect", "1%", "--pilot", str(place)],
        ["run", str(study), "--resume", "--out", str(place), "--no-report"],
    ]
    tracebacks = []
    for name, files in probes(good, flips=30):
        for command in commands:
            spoilt(good, place, files)
            error = CliRunner().invoke(app, command).exception
            known = error is None or isinstance(error, SystemExit)
            if not known and not in_one_line(error):
                tracebacks.append(f"{name}: {command[0]}: {type(error).__name__}: {error}")
    assert tracebacks == []


def further(*values: str) -> Any:
    """A further fault of a kind."""
    return pytest.param(*values, marks=pytest.mark.thorough)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("run.json: seed text", "seed is 'x', not a number from 0 on"),
        ("run.json: study.text gone", "study.text is missing"),
        further("run.json: study null", "study is None, not a table"),
        further("run.json: repetitions huge", "repetitions is 10000.*, not a number from 1 on"),
        further("run.json: cut", "no run manifest"),
        ("run.json: nested", "nested too deeply"),
        ("observations.parquet: value nan", "'value' holds values that are no numbers"),
        ("observations.parquet: cell null", "'cell' lacks values"),
        ("observations.parquet: policy text", "is none of the study in run.json"),
        ("trials.parquet: status text", "'status' holds others than failed, ok"),
        further("trials.parquet: cell gone", "column 'cell' is missing"),
        ("trials.parquet: cut", "no readable Parquet table"),
        further("sketches.parquet: counts gone", "column 'counts' is missing"),
    ],
)
def test_the_message_names_file_and_fault(
    good: Path, tmp_path: Path, name: str, words: str
) -> None:
    files = dict(probes(good, flips=0))[name]
    place = spoilt(good, tmp_path / "run", files)
    with pytest.raises((RunError, StorageError), match=words) as caught:
        report_text([place], form="csv")
    assert str(place / next(iter(files))) in str(caught.value)


@pytest.mark.parametrize(
    "name",
    ["line 3: rows 4 nan", "line 3: rows 0 null", "line 3: rows 3 half", "line 3: seed negative",
     "line 3: trial half", "line 3: a cell of no kind", "line 3: a status of no kind",
     "line 3: a list", "line 3: sketches 4 negative", "line 3: caveats text",
     "line 3: attempt true", "line 3: values 0 nan", "line 3: values 0 text",
     "line 3: values 0 infinite", "line 3: values short", "line 3: keys of no line",
     "line 3: keys gone", "line 2: metric 0 null", "line 2: flow 0 half",
     "line 2: second 0 true", "line 2: second 0 negative", "line 2: unit short",
     "line 2: keys gone", "line 1: journal half"],
)  # fmt: skip
def test_a_journal_of_another_kind_writes_no_table(good: Path, tmp_path: Path, name: str) -> None:
    from airtoll.run import open_run

    place = spoilt(good, tmp_path / "run", dict(of_journal(good))[f"journal: {name}"])
    before = (place / "observations.parquet").read_bytes()
    opened = open_run(place)
    with pytest.raises(
        StorageError, match=r"journal\.jsonl: (line \d )?(is damaged|names the cell)"
    ):
        write(opened.folder, opened.folder.plan(), "simulator")
    assert (place / "observations.parquet").read_bytes() == before


def test_a_journal_of_a_later_version_is_not_called_damaged(good: Path, tmp_path: Path) -> None:
    files = dict(of_journal(good))["journal: line 1: a later version"]
    place = spoilt(good, tmp_path / "run", files)
    with pytest.raises(StorageError, match="has format 3, this airtoll reads up to 2"):
        list(read(place / "journal.jsonl"))
