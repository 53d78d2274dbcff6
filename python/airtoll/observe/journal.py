"""The journal of a running study: every trial is recorded when it ends.

Takes finished trials; gives them back after a crash. One JSON line per attempt, appended with one
write and synced to the disk. A torn last line (power cut, full disk) is cut off on opening, so the
trial before it is the last one. Never rewrites a line that was finished.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, TypeVar

from attrs import frozen

from airtoll.errors import StorageError
from airtoll.observe.replacing import storage_error

#: Distribution of a metric over the packets of one flow: metric, flow, station, bin middles in
#: nanoseconds upwards, and the values counted in each bin. Equal bins add up over trials.
SketchTuple = tuple[str, str | None, str | None, tuple[int, ...], tuple[int, ...]]

#: An observed value: metric, flow, station, second, value, unit.
RowTuple = tuple[str, str | None, str | None, int | None, float, str]

_SYNC_INTERVAL_S = 0.05

T = TypeVar("T")


#: Begins the reason of a failed attempt whose testbed broke: nothing is known about the policy.
BROKEN: Final = "the testbed broke: "
#: Begins the reason of a failed attempt in which airtoll itself failed. Equal seeds fail alike.
FAULT: Final = "failed inside: "


@frozen
class Record:
    """One attempt of one trial: its identity, its status, and its rows."""

    cell: str
    trial: int
    attempt: int
    seed: int
    status: str
    reason: str | None
    caveats: tuple[str, ...]
    rows: tuple[RowTuple, ...]
    sketches: tuple[SketchTuple, ...] = ()

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
        line = _encode(record)
        size = os.fstat(self._file).st_size
        try:
            written = 0
            while written < len(line):
                written += os.write(self._file, line[written:])
            self._sync()
        except OSError as error:
            os.ftruncate(self._file, size)
            raise storage_error(self.path, error) from error

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

    Raises ``StorageError`` for a missing file, or a damaged line that is not the last.
    """
    for _offset, record in _read_lines(path, _decode):
        yield record


def read_index(path: Path) -> Iterator[tuple[tuple[str, int, int], int, int]]:
    """The key of each record, the octet at which it starts, and the number of its rows.

    Raises the errors of :func:`read`.
    """
    for offset, (key, rows) in _read_lines(path, _key_and_rows):
        yield key, offset, rows


def _read_lines(path: Path, decode: Callable[[bytes], T]) -> Iterator[tuple[int, T]]:
    offset = 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    return
                try:
                    found = decode(line)
                except _DAMAGE as error:
                    raise StorageError(
                        f"{path}: line {number} is damaged; move the run folder away and run again"
                    ) from error
                yield offset, found
                offset += len(line)
    except OSError as error:
        raise storage_error(path, error) from error


def read_at(path: Path, offsets: Sequence[int]) -> Iterator[Record]:
    """The records that start at the given octets, in that order."""
    try:
        with path.open("rb") as file:
            for offset in offsets:
                file.seek(offset)
                yield _decode(file.readline())
    except OSError as error:
        raise storage_error(path, error) from error
    except _DAMAGE as error:
        raise StorageError(f"{path}: is damaged; move the run folder away and run again") from error


def _encode(record: Record) -> bytes:
    data = {
        "cell": record.cell,
        "trial": record.trial,
        "attempt": record.attempt,
        "seed": record.seed,
        "status": record.status,
        "reason": record.reason,
        "caveats": record.caveats,
        "rows": record.rows,
        "sketches": record.sketches,
    }
    return json.dumps(data, separators=(",", ":"), allow_nan=False).encode() + b"\n"


#: Errors of a line that is no record.
_DAMAGE: Final = (ValueError, KeyError, TypeError, OverflowError, RecursionError)
STATUSES: Final = frozenset({"ok", "warm_up", "rerun", "skipped", "failed"})


def _decode(line: bytes) -> Record:
    """The record of a line. Raises one of ``_DAMAGE`` where a value is missing or of another kind.

    A journal may have been edited, or made by another program.
    """
    data = json.loads(line)
    if not isinstance(data, dict):
        raise ValueError("no record")  # noqa: TRY004 - damage of the file, no wrong argument
    if not all(isinstance(data.get(key, []), list) for key in ("caveats", "rows", "sketches")):
        raise ValueError("no lists")
    record = Record(
        cell=data["cell"],
        trial=data["trial"],
        attempt=data["attempt"],
        seed=data["seed"],
        status=data["status"],
        reason=data["reason"],
        caveats=tuple(data["caveats"]),
        rows=tuple([(m, f, s, n, float(v), u) for m, f, s, n, v, u in data["rows"]]),
        sketches=tuple(
            (m, f, s, tuple(ns), tuple(counts)) for m, f, s, ns, counts in data.get("sketches", ())
        ),
    )
    _check(record)
    return record


def _key_and_rows(line: bytes) -> tuple[tuple[str, int, int], int]:
    data = json.loads(line)
    key = data["cell"], data["trial"], data["attempt"]
    _check_key(*key)
    return key, len(data["rows"])


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
    for metric, flow, station, second, value, unit in record.rows:
        if (
            type(metric) is not str
            or type(unit) is not str
            or type(flow) not in _NAMES
            or type(station) not in _NAMES
            or not (second is None or (type(second) is int and 0 <= second <= _MOST))
            or not math.isfinite(value)
        ):
            raise ValueError("no observed value")
    for metric, flow, station, ns, counts in record.sketches:
        if (
            type(metric) is not str
            or type(flow) not in _NAMES
            or type(station) not in _NAMES
            or len(ns) != len(counts)
            or not all(type(one) is int and -_MOST_NS <= one <= _MOST_NS for one in ns)
            or not all(type(one) is int and 0 <= one <= _MOST for one in counts)
        ):
            raise ValueError("no distribution")


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
