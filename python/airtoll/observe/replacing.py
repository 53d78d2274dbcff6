"""Files that are written as a whole or not at all.

Takes a place and what writes there; gives the finished file. A reader sees the old file or the new
one, and a full disk leaves the old one and nothing beside it. A killed process leaves a scratch
file, which :func:`sweep` removes once the process is gone.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Final

from airtoll.errors import DiskRefused, StorageError

_SCRATCH: Final = re.compile(r"\.airtoll-(\d+)-\d+\.tmp")
#: Scratch of earlier versions in run folders.
_FORMER: Final = re.compile(r"\.run-.*\.json|\.compact-.*|(observations|trials|sketches)\.tmp")
_NUMBERS: Final = itertools.count()
_ROOM: Final = (errno.ENOSPC, errno.EDQUOT)


@contextlib.contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A scratch file beside ``target`` that takes its place at the end.

    A symbolic link keeps its file's place. A pipe or a device is written to directly. Raises
    ``StorageError`` if the disk refuses, and removes the scratch on every error.
    """
    try:
        direct = target.exists() and not target.is_file() and not target.is_dir()
        place = target.resolve() if target.is_symlink() and not direct else target
    except (OSError, ValueError) as error:
        raise storage_error(target, error) from error
    scratch = place if direct else place.with_name(_scratch_name())
    try:
        yield scratch
        if not direct:
            scratch.replace(place)
    except OSError as error:
        raise storage_error(target, error) from error
    finally:
        if not direct:
            with contextlib.suppress(OSError):
                scratch.unlink()


def put(target: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file by a function of its octets' stream. Raises ``StorageError``."""
    with replacing(target) as scratch, scratch.open("wb") as file:
        write(file)


def put_text(target: Path, text: str) -> None:
    """Write a text as UTF-8. Raises ``StorageError``."""
    put(target, lambda file: file.write(text.encode(errors="replace")))


def remove(path: Path) -> None:
    """Remove a file, if it is there. Raises ``StorageError``."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise storage_error(path, error) from error


@contextlib.contextmanager
def scratch_folder(place: Path) -> Iterator[Path]:
    """A folder in ``place`` that is removed at the end. Raises ``StorageError``."""
    folder = place / _scratch_name()
    try:
        folder.mkdir()
        yield folder
    except OSError as error:
        raise storage_error(place, error) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sweep(folder: Path) -> None:
    """Remove the scratch of processes that are gone. One writer at a time may call this."""
    with contextlib.suppress(OSError):
        for path in list(folder.iterdir()):
            match = _SCRATCH.fullmatch(path.name)
            if match is None and not _FORMER.fullmatch(path.name):
                continue
            if match is not None and _runs(int(match[1])):
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def storage_error(path: Path, error: OSError | ValueError) -> DiskRefused:
    """The error of a refusing disk, with the remedy."""
    # Libraries in Rust say the number, and the name of the scratch file.
    said = str(error).partition(" (os error")[0]
    reason = (error.strerror if isinstance(error, OSError) else None) or said
    code = error.errno if isinstance(error, OSError) else None
    remedy = "make room, or name another place" if code in _ROOM else "name another place"
    return DiskRefused(f"{path}: {reason}; {remedy}")


def refuse_other_encodings(path: Path) -> None:
    """Raise ``StorageError`` for a name that is no UTF-8: tables cannot be written there."""
    try:
        os.fspath(path).encode()
    except UnicodeEncodeError as error:
        raise StorageError(f"{path}: the name is no UTF-8; choose another one") from error


def _scratch_name() -> str:
    return f".airtoll-{os.getpid()}-{next(_NUMBERS)}.tmp"


def _runs(process: int) -> bool:
    if process == os.getpid():
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
