"""Standard output and error of a command: a closed pipe, a full disk, a terminal without Unicode.

Takes the streams of the process; gives streams that never raise what a user cannot read. A reader
that closed the pipe gets nothing more, and the command goes on: its exit code says what it did, not
who read it. A disk that refuses is a ``StorageError``. Characters that the encoding lacks become
ASCII.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
import unicodedata
from typing import Any, Final, TextIO

from airtoll.errors import StorageError

#: Name of the handler for characters that an encoding lacks.
_HANDLER: Final = "airtoll.plain"
#: Characters without a decomposition to ASCII, and what stands for them.
_PLAIN: Final = str.maketrans(
    {
        "±": "+/-",
        "–": "-",
        "—": "-",
        "−": "-",
        "µ": "u",
        "μ": "u",
        "×": "x",
        "·": ".",
        "…": "...",
        "≤": "<=",
        "≥": ">=",
        "→": "->",
        "σ": "sigma",
        "‘": "'",
        "’": "'",
        "“": '"',
        "”": '"',
        "█": "#",
    }
)


class Guarded(io.RawIOBase):
    """The octets of one stream; ``None`` for a stream that the caller closed."""

    def __init__(self, number: int | None, label: str, *, required: bool) -> None:
        super().__init__()
        self._number = number
        self._label = label
        #: Without it, what cannot be written is dropped: there is no place to say so.
        self._required = required
        self._refused = False
        self.reader_gone = False

    def writable(self) -> bool:
        """It is (a method of io's protocol)."""
        return True

    def fileno(self) -> int:
        """The descriptor of the stream."""
        if self._number is None:
            raise OSError(f"{self._label} is closed")
        return self._number

    def isatty(self) -> bool:
        """Whether a terminal reads."""
        return self._number is not None and os.isatty(self._number)

    def write(self, octets: Any) -> int:
        """Write; octets without a reader are dropped.

        Raises ``StorageError`` once, if the disk refuses.
        """
        size = len(memoryview(octets).cast("B"))
        if self.reader_gone or self._refused:
            return size
        try:
            return os.write(-1 if self._number is None else self._number, octets)
        except BrokenPipeError:
            self.reader_gone = True
        except OSError as error:
            self._refused = True
            if self._required:
                reason = error.strerror or str(error)
                raise StorageError(f"{self._label}: {reason}; the output is not whole") from error
        return size


def guard() -> None:
    """Guard the process's own streams; a caller's are left alone."""
    codecs.register_error(_HANDLER, _without)
    if sys.stdout is sys.__stdout__:
        sys.stdout = _guarded(sys.stdout, 1, "standard output", required=True)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _guarded(sys.stderr, 2, "standard error", required=False)


def flush() -> None:
    """Write what is left. Raises ``StorageError`` where the disk refuses."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()


def reader_gone() -> bool:
    """Whether the reader of standard output closed the pipe: a command without an end stops."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return isinstance(raw, Guarded) and raw.reader_gone


def holds_unicode() -> bool:
    """Whether standard output can hold every character."""
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
    return encoding.replace("-", "").replace("_", "").startswith("utf")


def _guarded(stream: TextIO | None, number: int, label: str, *, required: bool) -> TextIO:
    if stream is not None:
        stream.flush()
    raw = Guarded(None if stream is None else number, label, required=required)
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding="utf-8" if stream is None else stream.encoding,
        errors=_HANDLER,
        newline=None,
        # stderr is read while the command works.
        line_buffering=not required or raw.isatty(),
        write_through=False,
    )


def _without(error: UnicodeError) -> tuple[str, int]:
    """ASCII for the characters that an encoding lacks: a handler of :mod:`codecs`."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_PLAIN)
    plain = unicodedata.normalize("NFKD", text)
    kept = (c for c in plain if not unicodedata.combining(c))
    return "".join(c if c.isascii() else "?" for c in kept), error.end
