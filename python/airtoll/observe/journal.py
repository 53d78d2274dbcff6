"""The journal of a running study: every trial is recorded when it ends.

Takes finished trials; gives them back after a crash. One JSON line per attempt, appended with one
write and synced to the disk. A torn last line (power cut, full disk) is cut off on opening, so the
trial before it is the last one. Never rewrites a line that was finished.

Version 2 writes values in columns. A line of keys says what the values are of, and holds for the
lines of attempts after it that name its number, until a later line takes that number:

    {"journal": 2}
    {"keys": 1, "metric": [...], "flow": [...], "station": [...], "second": [...], "unit": [...]}
    {"cell": ..., "trial": 1, "attempt": 1, "keys": 1, ..., "values": [...], "sketches": [...]}

Version 1 has no first line, and writes every attempt as rows of keys with their value ("rows").
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from attrs import frozen

from airtoll.errors import StorageError
from airtoll.observe.keys import NO_KEYS, Keys, RowTuple, in_columns, keys_of
from airtoll.observe.replacing import storage_error

#: Distribution of a metric over the packets of one flow: metric, flow, station, bin middles in
#: nanoseconds upwards, and the values counted in each bin. Equal bins add up over trials.
SketchTuple = tuple[str, str | None, str | None, tuple[int, ...], tuple[int, ...]]

#: Version of the format that is written; older ones are read.
VERSION: Final = 2

#: Keys that a writer remembers the numbers of; with more it begins again at 1.
_NUMBERED: Final = 256

_SYNC_INTERVAL_S = 0.05


#: Begins the reason of a failed attempt whose testbed broke: nothing is known about the policy.
BROKEN: Final = "the testbed broke: "
#: Begins the reason of a failed attempt in which airtoll itself failed. Equal seeds fail alike.
FAULT: Final = "failed inside: "


@frozen
class Record:
    """One attempt of one trial: its identity, its status, its values and what they are of."""

    cell: str
    trial: int
    attempt: int
    seed: int
    status: str
    reason: str | None
    caveats: tuple[str, ...]
    keys: Keys = NO_KEYS
    values: tuple[float, ...] = ()
    sketches: tuple[SketchTuple, ...] = ()

    @property
    def rows(self) -> tuple[RowTuple, ...]:
        """The values one by one, each with its keys."""
        keys = self.keys
        columns = (keys.metric, keys.flow, keys.station, keys.second, self.values, keys.unit)
        return tuple(zip(*columns, strict=True))

    @property
    def key(self) -> tuple[str, int, int]:
        """The identity of the attempt."""
        return (self.cell, self.trial, self.attempt)

    @property
    def broken(self) -> bool:
        """Whether the testbed failed, not the trial: a resumed run tries again."""
        return self.status == "failed" and (self.reason or "").startswith(BROKEN)

    @property
    def faulty(self) -> bool:
        """Whether airtoll failed: a resumed run tries again only where it is asked to."""
        return self.status == "failed" and (self.reason or "").startswith(FAULT)


class Journal:
    """An append-only journal. Use as a context manager; one writer at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._synced = 0.0
        self._numbers: dict[Keys, int] = {}
        try:
            _cut_torn_tail(path)
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise storage_error(path, error) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._file)
            raise StorageError(
                f"{path}: another airtoll writes this run; wait for it or choose another --out"
            ) from error

    def append(self, record: Record) -> None:
        """Write one record.

        Records that end within 50 ms share one sync; a killed process loses none of them.
        Raises ``StorageError`` if the disk refuses; what stood there before stays.
        """
        size = os.fstat(self._file).st_size
        lines = self._lines(record, fresh=size == 0)
        try:
            written = 0
            while written < len(lines):
                written += os.write(self._file, lines[written:])
            self._sync()
        except OSError as error:
            os.ftruncate(self._file, size)
            self._numbers.clear()
            raise storage_error(self.path, error) from error

    def _lines(self, record: Record, *, fresh: bool) -> bytes:
        """The line of a record, after those that it needs and the file lacks."""
        number = self._numbers.get(record.keys)
        if number is not None:
            return _line(_attempt(record, number))
        if len(self._numbers) >= _NUMBERED:
            self._numbers.clear()
        number = len(self._numbers) + 1
        first = _line({"journal": VERSION}) if fresh else b""
        lines = first + _line(_numbered(number, record.keys)) + _line(_attempt(record, number))
        self._numbers[record.keys] = number
        return lines

    def close(self) -> None:
        """Sync and close."""
        if self._file >= 0:
            os.fsync(self._file)
            os.close(self._file)
            self._file = -1

    def _sync(self) -> None:
        now = time.monotonic()
        if now - self._synced >= _SYNC_INTERVAL_S:
            os.fsync(self._file)
            self._synced = time.monotonic()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def read(path: Path) -> Iterator[Record]:
    """The finished records of a journal, in the order in which they were written.

    Raises ``StorageError`` for a missing file, a damaged line that is not the last, and a journal
    of a later version.
    """
    known: dict[Any, Keys] = {}
    for number, _offset, line in _lines_of(path):
        try:
            data = _object(line)
            if "metric" in data:
                known[data["keys"]] = _keys(data)
            elif "journal" in data:
                _check_version(data["journal"], path)
            else:
                yield _record(data, known)
        except _DAMAGE as error:
            raise _damaged(path, number) from error


@frozen
class Place:
    """Where a record is in its journal: octets from the start; ``None``: it has keys of its own."""

    record: int
    keys: int | None


def read_index(path: Path) -> Iterator[tuple[tuple[str, int, int], Place, int]]:
    """The key of each record, its place, and the number of its values.

    The values themselves are not looked at. Raises the errors of :func:`read`.
    """
    known: dict[Any, tuple[int, int]] = {}
    for number, offset, line in _lines_of(path):
        try:
            start = _START.match(line)
            if start is not None:
                # Most lines: the rest of them need not be parsed twice.
                key = start[1].decode(), int(start[2]), int(start[3])
                named: Any = int(start[4])
            else:
                data = _object(line)
                if "metric" in data:
                    known[data["keys"]] = offset, len(_keys(data))
                    continue
                if "journal" in data:
                    _check_version(data["journal"], path)
                    continue
                key, named = (data["cell"], data["trial"], data["attempt"]), data.get("keys")
                if named is None:
                    _check_key(*key)
                    yield key, Place(offset, None), len(data["rows"])
                    continue
            _check_key(*key)
            keys_at, count = known[named]
            yield key, Place(offset, keys_at), count
        except _DAMAGE as error:
            raise _damaged(path, number) from error


def read_at(path: Path, places: Sequence[Place]) -> Iterator[Record]:
    """The records at the given places, in that order. Raises ``StorageError``."""
    keys_at: dict[int, Keys] = {}
    try:
        with path.open("rb") as file:
            for place in places:
                known: dict[Any, Keys] = {}
                if place.keys is not None and place.keys not in keys_at:
                    file.seek(place.keys)
                    keys_at[place.keys] = _keys(_object(file.readline()))
                file.seek(place.record)
                data = _object(file.readline())
                if place.keys is not None:
                    known[data["keys"]] = keys_at[place.keys]
                yield _record(data, known)
    except OSError as error:
        raise storage_error(path, error) from error
    except _DAMAGE as error:
        raise StorageError(f"{path}: is damaged; move the run folder away and run again") from error


def _lines_of(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """The finished lines of a file: number from 1, octet at which it starts, and the line."""
    offset = 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    return
                yield number, offset, line
                offset += len(line)
    except OSError as error:
        raise storage_error(path, error) from error


def _damaged(path: Path, number: int) -> StorageError:
    return StorageError(f"{path}: line {number} is damaged; move the run folder away and run again")


def _check_version(version: Any, path: Path) -> None:
    if type(version) is not int or version < 1:
        raise ValueError("no version")
    if version > VERSION:
        raise StorageError(
            f"{path}: has format {version}, this airtoll reads up to {VERSION}; use the airtoll "
            "that wrote the run"
        )


_encode: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def _line(data: dict[str, Any]) -> bytes:
    return _encode(data).encode() + b"\n"


def _numbered(number: int, keys: Keys) -> dict[str, Any]:
    return {
        "keys": number,
        "metric": keys.metric,
        "flow": keys.flow,
        "station": keys.station,
        "second": keys.second,
        "unit": keys.unit,
    }


def _attempt(record: Record, number: int) -> dict[str, Any]:
    return {
        "cell": record.cell,
        "trial": record.trial,
        "attempt": record.attempt,
        "keys": number,
        "seed": record.seed,
        "status": record.status,
        "reason": record.reason,
        "caveats": record.caveats,
        "values": record.values,
        "sketches": record.sketches,
    }


#: How the line of an attempt of version 2 begins; names with escapes are left to the parser.
_START: Final = re.compile(
    rb'\{"cell":"([^"\\]*)","trial":(\d{1,10}),"attempt":(\d{1,10}),"keys":(\d{1,10}),'
)

#: Errors of a line that is no record.
_DAMAGE: Final = (ValueError, KeyError, TypeError, OverflowError, RecursionError)
STATUSES: Final = frozenset({"ok", "warm_up", "rerun", "skipped", "failed"})


def _object(line: bytes) -> dict[str, Any]:
    data = json.loads(line)
    if not isinstance(data, dict):
        raise ValueError("no record")  # noqa: TRY004 - damage of the file, no wrong argument
    return data


def _keys(data: dict[str, Any]) -> Keys:
    """The keys of a line of keys. Raises one of ``_DAMAGE`` as :func:`_record` does."""
    if type(data["keys"]) is not int:
        raise ValueError("no number of keys")
    columns = [data[name] for name in ("metric", "flow", "station", "second", "unit")]
    if not all(isinstance(column, list) for column in columns):
        raise ValueError("no columns")
    _check_columns(*columns)
    return keys_of(*map(tuple, columns))


def _record(data: dict[str, Any], known: Mapping[Any, Keys]) -> Record:
    """The record of a line. Raises one of ``_DAMAGE`` where a value is missing or of another kind.

    A journal may have been edited, or made by another program. ``known``: keys by number.
    """
    lists = ("caveats", "values", "rows", "sketches")
    if not all(isinstance(data.get(name, []), list) for name in lists):
        raise ValueError("no lists")
    if "rows" in data:
        rows = [(m, f, s, n, float(v), u) for m, f, s, n, v, u in data["rows"]]
        _check_columns(*([row[at] for row in rows] for at in (0, 1, 2, 3, 5)))
        keys, values = in_columns(rows)
    else:
        keys, values = known[data["keys"]], tuple(map(float, data["values"]))
    record = Record(
        cell=data["cell"],
        trial=data["trial"],
        attempt=data["attempt"],
        seed=data["seed"],
        status=data["status"],
        reason=data["reason"],
        caveats=tuple(data["caveats"]),
        keys=keys,
        values=values,
        sketches=tuple(
            (m, f, s, tuple(ns), tuple(counts)) for m, f, s, ns, counts in data.get("sketches", ())
        ),
    )
    _check(record)
    return record


def _check_key(cell: Any, trial: Any, attempt: Any) -> None:
    whole = type(trial) is int and type(attempt) is int
    if not (whole and isinstance(cell, str) and 0 <= trial <= _MOST and 1 <= attempt <= _MOST):
        raise ValueError("no attempt of a trial")


#: Ends of the integers of the tables: trial and attempt, counts; seeds; nanoseconds.
_MOST: Final = (1 << 32) - 1
_MOST_SEED: Final = (1 << 64) - 1
_MOST_NS: Final = (1 << 63) - 1


def _check(record: Record) -> None:
    """Raise ``ValueError`` for a value of another kind than the tables have."""
    _check_key(*record.key)
    texts = (*record.caveats, "" if record.reason is None else record.reason)
    if (
        record.status not in STATUSES
        or type(record.seed) is not int
        or not 0 <= record.seed <= _MOST_SEED
        or not all(isinstance(text, str) for text in texts)
    ):
        raise ValueError("no status of a trial")
    if len(record.values) != len(record.keys) or not all(map(math.isfinite, record.values)):
        raise ValueError("no observed values")
    for metric, flow, station, ns, counts in record.sketches:
        if (
            type(metric) is not str
            or type(flow) not in _NAMES
            or type(station) not in _NAMES
            or len(ns) != len(counts)
            or not _integers(ns, -_MOST_NS, _MOST_NS)
            or not _integers(counts, 0, _MOST)
        ):
            raise ValueError("no distribution")


def _integers(values: tuple[Any, ...], least: int, most: int) -> bool:
    """Whether all values are integers from ``least`` to ``most``."""
    whole = set(map(type, values)) <= {int}
    return whole and (not values or (min(values) >= least and max(values) <= most))


def _check_columns(
    metric: Sequence[Any],
    flow: Sequence[Any],
    station: Sequence[Any],
    second: Sequence[Any],
    unit: Sequence[Any],
) -> None:
    """Raise ``ValueError`` for columns of keys with an entry of another kind than the tables."""
    if (
        not all(type(text) is str for text in (*metric, *unit))
        or not all(type(name) in _NAMES for name in (*flow, *station))
        or not all(n is None or (type(n) is int and 0 <= n <= _MOST) for n in second)
    ):
        raise ValueError("no keys of observed values")


#: Types of the name of a flow or station.
_NAMES: Final = (str, type(None))


def _cut_torn_tail(path: Path) -> None:
    """Cut an unfinished last line off, so that appending starts on a fresh one."""
    if not path.exists():
        return
    with path.open("r+b") as file:
        end = file.seek(0, os.SEEK_END)
        step = 1 << 16
        position = end
        while position > 0:
            start = max(0, position - step)
            file.seek(start)
            block = file.read(position - start)
            newline = block.rfind(b"\n")
            if newline >= 0:
                file.truncate(start + newline + 1)
                return
            position = start
        file.truncate(0)
