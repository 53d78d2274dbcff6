"""A folder of imported readings: what was imported, and the tables that follow from it.

``imported.jsonl`` is the truth: one line for each imported file, with its digest, the identities of
its tests and its trials. A line is appended with one write and synced; a torn last line is no
line. The tables and ``import.json`` are made from it: each is written beside its place and then
replaces the old one, so that a reader finds the old state or the new one. One process writes a
folder at a time: others wait.

    FOLDER/imported.jsonl            what was imported
    FOLDER/import.json               files, and the settings of the report
    FOLDER/observations.parquet      the readings
    FOLDER/trials.parquet            every trial, with what is unknown about it
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NoReturn

import polars as pl
from attrs import evolve, frozen

from airtoll.errors import DatasetError, StorageError
from airtoll.foreign_text import shown_line
from airtoll.observe.imported import MANIFEST, as_text, as_texts, read_manifest
from airtoll.observe.imports.files import Source
from airtoll.observe.imports.trial import Row, Trial, observations_of, trials_of
from airtoll.observe.metrics import METRICS
from airtoll.observe.tables import read_observations

JOURNAL: Final = "imported.jsonl"
_TABLES: Final = ("observations.parquet", "trials.parquet")
#: Time after which a process no longer waits for another one that writes, s.
_PATIENCE_S: Final = 120.0
_POLL_S: Final = 0.01


@frozen
class Entry:
    """One line of the journal: a file, or all files of a folder from before the journal."""

    files: Mapping[str, str]
    formats: tuple[str, ...]
    identities: tuple[str | None, ...]
    trials: tuple[Trial, ...]
    left_out: tuple[str, ...] = ()


@frozen
class Added:
    """The files that an import added, and notes about the others and about left out parts."""

    files: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()


class ImportFolder:
    """A folder that this process alone writes; see :func:`opened`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._entries: list[Entry] = []
        self._files: dict[str, Entry] = {}
        self._tests: dict[str, str] = {}
        self._highest: dict[tuple[str, str], int] = {}
        self._there: dict[tuple[str, int | None], list[Trial]] = {}
        for entry in _entries(path):
            self._hold(entry)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was imported yet."""
        return not self._entries

    @property
    def policies(self) -> frozenset[str]:
        """The policies with readings."""
        return frozenset(policy for _scenario, policy in self._highest)

    def add(self, sources: Sequence[Source]) -> Added:
        """Append files; a file or a test that the folder has is left out and named.

        Of two records of one test in ``sources`` that with more values counts. Raises
        ``DatasetError`` for a reading that the folder has under the same trial, and
        ``StorageError`` if the disk refuses. Then none of the files was added.
        """
        best = _best(sources)
        fresh: list[Entry] = []
        files: list[Path] = []
        notes: list[str] = []
        for source in sources:
            entry, said = self._entry(source, best)
            notes += said
            if entry is not None:
                self._hold(entry)
                fresh.append(entry)
                files.append(source.path)
        if fresh:
            _append(self.path, fresh)
        return Added(tuple(files), tuple(notes))

    def write(self, **settings: Any) -> None:
        """Make the tables and the manifest. Raises ``StorageError`` if the disk refuses."""
        trials = [trial for entry in self._entries for trial in entry.trials]
        observations = observations_of(trials, self.path.resolve().name)
        _put(self.path / _TABLES[0], observations.write_parquet)
        _put(self.path / _TABLES[1], trials_of(observations, trials).write_parquet)
        manifest = {
            "formats": _once(fmt for entry in self._entries for fmt in entry.formats),
            "files": {k: v for entry in self._entries for k, v in entry.files.items()},
            **settings,
            "left_out": _once(text for entry in self._entries for text in entry.left_out),
        }
        text = json.dumps(manifest, indent=2) + "\n"
        _put(self.path / MANIFEST, lambda place: place.write_text(text, "utf-8"))

    def _hold(self, entry: Entry) -> None:
        self._entries.append(entry)
        name = next(iter(entry.files.values()), "?")
        self._files |= dict.fromkeys(entry.files, entry)
        self._tests |= {one: name for one in entry.identities if one is not None}
        for trial in entry.trials:
            key = (trial.scenario, trial.policy)
            self._highest[key] = max(self._highest.get(key, 0), trial.number or 0)
            self._there.setdefault((trial.cell, trial.number), []).append(trial)

    def _entry(self, source: Source, best: Mapping[str, Source]) -> tuple[Entry | None, list[str]]:
        """The line of a file, ``None`` where nothing is new, and what there is to say."""
        name = shown_line(source.path.name)
        before = self._files.get(source.sha256)
        if before is not None:
            cells = ", ".join(sorted({trial.cell for trial in before.trials})[:3])
            alias = shown_line(before.files[source.sha256])
            other = "" if alias == name else f" as {alias}"
            return None, [f"{name}: imported before{other} (in {cells}); left out"]
        trials: list[Trial] = []
        identities: list[str | None] = []
        notes: list[str] = []
        for place, trial in enumerate(source.trials):
            one = source.identities[place] if source.identities else None
            twin = self._tests.get(one) if one is not None else None
            if twin is None and one is not None and best[one] is not source:
                twin = best[one].path.name
            if twin is not None:
                notes.append(f"{name}: has the same test as {shown_line(twin)}; left out")
                continue
            trials.append(trial)
            identities.append(one)
        notes += [f"{name}: {text}" for text in source.left_out]
        if not trials:
            return None, notes
        left_out = tuple(f"{name}: {text}" for text in source.left_out)
        files = {source.sha256: name}
        numbered = self._numbered(source, trials)
        return Entry(files, (source.fmt,), tuple(identities), numbered, left_out), notes

    def _numbered(self, source: Source, trials: Sequence[Trial]) -> tuple[Trial, ...]:
        """Trials with their numbers: those that a table has, else the next of scenario and policy.

        Rows of a table without a number are one trial. Raises ``DatasetError`` for a reading that
        the folder has under the same number.
        """
        highest = dict(self._highest)
        for trial in trials:
            if trial.number is not None:
                _refuse_known(source.path, trial, self._there.get((trial.cell, trial.number), ()))
                key = (trial.scenario, trial.policy)
                highest[key] = max(highest.get(key, 0), trial.number)
        found: list[Trial] = []
        of_table = dict(highest)
        for trial in trials:
            key = (trial.scenario, trial.policy)
            if trial.number is None and source.is_table:
                trial = evolve(trial, number=of_table.get(key, 0) + 1)
            elif trial.number is None:
                highest[key] = highest.get(key, 0) + 1
                trial = evolve(trial, number=highest[key])
            found.append(trial)
        return tuple(found)


def files_and_trials(path: Path) -> Iterator[tuple[str, tuple[str, ...], Trial]]:
    """Every trial of a folder with its file and formats, in the order of the imports.

    Trials of several files from before the journal have all their names. Raises ``StorageError``
    where the folder cannot be read.
    """
    for entry in _entries(path):
        for trial in entry.trials:
            yield ", ".join(entry.files.values()), entry.formats, trial


@contextmanager
def opened(path: Path) -> Iterator[ImportFolder]:
    """The folder, made if it is missing; other processes wait.

    Raises ``StorageError`` if it cannot be made, holds something else, or another process writes it
    for two minutes.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = os.open(path, os.O_RDONLY)
    except OSError as error:
        _refused(path, error)
    try:
        _lock(path, lock)
        for name in (*_TABLES, MANIFEST):
            _scratch(path / name).unlink(missing_ok=True)
        yield ImportFolder(path)
    finally:
        os.close(lock)


def _lock(path: Path, lock: int) -> None:
    end = time.monotonic() + _PATIENCE_S
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > end:
                raise StorageError(
                    f"{path}: another airtoll writes this folder; wait for it or name another "
                    "folder with --out"
                ) from error
            time.sleep(_POLL_S)
        except OSError as error:
            _refused(path, error)
        else:
            return


def _refused(path: Path, error: OSError) -> NoReturn:
    raise StorageError(
        f"{path}: {error.strerror or error}; make room or name another folder with --out, then "
        "import again"
    ) from error


def _entries(path: Path) -> list[Entry]:
    """The lines of the journal; a torn last line is cut off."""
    file = path / JOURNAL
    if not file.exists():
        return _from_before(path)
    try:
        octets = file.read_bytes()
        whole = octets[: octets.rfind(b"\n") + 1]
        if len(whole) < len(octets):
            os.truncate(file, len(whole))
    except OSError as error:
        _refused(file, error)
    entries = []
    for number, line in enumerate(whole.splitlines(), 1):
        try:
            entries.append(_decoded(line))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise StorageError(
                f"{file}: line {number} is damaged; move the folder away and import again"
            ) from error
    return entries


def _from_before(path: Path) -> list[Entry]:
    """The readings of a folder without a journal, which earlier versions wrote."""
    if not (path / MANIFEST).exists():
        if any((path / name).exists() for name in _TABLES):
            raise StorageError(
                f"{path}: holds tables that no import wrote; name another folder with --out"
            )
        return []
    manifest = read_manifest(path)
    rows: dict[tuple[str, str, str, int], list[Row]] = {}
    for row in read_observations(path).iter_rows(named=True):
        key = (row["scenario"], row["policy"], row["traffic"], row["trial"])
        value = (row["metric"], row["flow"], row["station"], row["second"], row["value"])
        rows.setdefault(key, []).append(value)
    trials = tuple(Trial(*key, tuple(own)) for key, own in rows.items())
    entry = Entry(manifest.files, manifest.formats, (), trials, manifest.left_out)
    _append(path, [entry])
    return [entry]


def _append(folder: Path, entries: Sequence[Entry]) -> None:
    """Append lines to the journal in one write, and sync. A refusing disk leaves it as it was."""
    lines = "".join(_encoded(entry) for entry in entries).encode()
    path = folder / JOURNAL
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            size = os.fstat(file).st_size
            try:
                written = 0
                while written < len(lines):
                    written += os.write(file, lines[written:])
                os.fsync(file)
            except OSError:
                os.ftruncate(file, size)
                raise
        finally:
            os.close(file)
    except OSError as error:
        _refused(path, error)


def _put(place: Path, write: Callable[[Path], Any]) -> None:
    """Write a file beside its place, sync it, and let it replace the old one."""
    scratch = _scratch(place)
    try:
        try:
            write(scratch)
            with scratch.open("rb") as file:
                os.fsync(file.fileno())
            scratch.replace(place)
        finally:
            scratch.unlink(missing_ok=True)
    except OSError as error:
        _refused(place, error)
    except pl.exceptions.PolarsError as error:
        raise StorageError(f"{place}: cannot be written: {error}") from error


def _scratch(place: Path) -> Path:
    return place.with_name(f".{place.name}.tmp")


def _best(sources: Sequence[Source]) -> dict[str, Source]:
    """The file with the most values of each test."""
    found: dict[str, tuple[int, Source]] = {}
    for source in sources:
        for identity, trial in zip(source.identities, source.trials, strict=False):
            values = sum(row[3] is None for row in trial.rows)
            if identity is not None and values > found.get(identity, (-1, source))[0]:
                found[identity] = (values, source)
    return {identity: source for identity, (_values, source) in found.items()}


def _refuse_known(path: Path, trial: Trial, there: Sequence[Trial]) -> None:
    known = {row[:4] for other in there for row in other.rows}
    for row in trial.rows:
        if row[:4] in known:
            raise DatasetError(
                f"{path}: {row[0]} of trial {trial.number} in {trial.cell} is in the folder "
                "already; number the trials on"
            )


def _encoded(entry: Entry) -> str:
    data = {
        "files": dict(entry.files),
        "formats": entry.formats,
        "identities": entry.identities,
        "left_out": entry.left_out,
        "trials": [
            {
                "scenario": trial.scenario,
                "policy": trial.policy,
                "traffic": trial.traffic,
                "trial": trial.number,
                "caveats": trial.caveats,
                "rows": trial.rows,
            }
            for trial in entry.trials
        ],
    }
    return json.dumps(data, separators=(",", ":"), allow_nan=False) + "\n"


def _decoded(line: bytes) -> Entry:
    data = json.loads(line, parse_constant=_no_number)
    return Entry(
        as_texts(data["files"]),
        tuple(map(as_text, data["formats"])),
        tuple(None if one is None else as_text(one) for one in data["identities"]),
        tuple(
            Trial(
                as_text(one["scenario"]),
                as_text(one["policy"]),
                as_text(one["traffic"]),
                _count(one["trial"]),
                tuple(_row(*row) for row in one["rows"]),
                tuple(map(as_text, one["caveats"])),
            )
            for one in data["trials"]
        ),
        tuple(map(as_text, data["left_out"])),
    )


def _row(metric: Any, flow: Any, station: Any, second: Any, value: Any) -> Row:
    if metric not in METRICS:
        raise ValueError(f"metric {metric}")
    return (
        metric,
        None if flow is None else as_text(flow),
        None if station is None else as_text(station),
        None if second is None else _count(second),
        float(value),
    )


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**32:
        raise ValueError(f"{value} is no number of a trial or second")
    return value


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _once(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))
