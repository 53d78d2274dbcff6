"""The lock of a run folder: one process writes it at a time.

Takes the folder; gives the lock, which ends with the process whatever ends that. The lock file says
who holds it and is removed at the end; one that a killed process left behind locks nothing.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from airtoll.errors import StorageError
from airtoll.observe.replacing import storage_error, sweep

LOCK: Final = ".lock"


class Held(StorageError):
    """Another process holds the lock of the folder."""


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which must exist.

    Raises ``Held`` where another process holds it, and ``DiskRefused`` where the disk refuses.
    """
    file = take(folder)
    try:
        yield
    finally:
        release(folder, file)


def take(folder: Path) -> int:
    """Take the lock; gives the descriptor that holds it. Raises what :func:`locked` raises."""
    path = folder / LOCK
    while True:
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise storage_error(folder, error) from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is(path, file):
                os.ftruncate(file, 0)
                os.write(file, f"{os.getpid()} on {socket.gethostname()}\n".encode())
                sweep(folder)
                return file
        except BlockingIOError as error:
            holder = os.pread(file, 200, 0).decode(errors="replace").strip()
            os.close(file)
            raise Held(
                f"{folder}: another airtoll{f' (process {holder})' if holder else ''} writes this "
                "run; wait for it, or choose another --out"
            ) from error
        except OSError as error:
            os.close(file)
            raise storage_error(folder, error) from error
        # The holder before removed the file between the two calls.
        os.close(file)


def release(folder: Path, file: int) -> None:
    """Give the lock back. The file goes first: a process that opened it meanwhile looks again."""
    with contextlib.suppress(OSError):
        (folder / LOCK).unlink()
    os.close(file)


def _is(path: Path, file: int) -> bool:
    """Whether a descriptor is that of the file that has the name now."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file))
    except FileNotFoundError:
        return False
