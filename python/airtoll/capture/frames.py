"""Captures frame by frame: what each frame is and what was inside.

Takes files and keys; gives one :class:`CapturedFrame` each, all in memory: for captures small
enough to look into. Never opens a capture itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike, fspath

from airtoll import _native
from airtoll.errors import CaptureError


@dataclass(frozen=True)
class CapturedFrame:
    """One frame, numbered from 1 in the order of the capture.

    ``unix_s`` is its time in seconds since the epoch. ``protected`` is set for data frames with the
    protected bit only. ``state`` is ``clear``, ``decrypted`` or why the frame stays closed.
    ``plain`` is the body of a protected frame after decryption, without MIC, ICV and Michael's
    octets; ``None`` for every other frame.
    """

    number: int
    unix_s: float
    state: str
    protected: bool
    eapol: bool
    eap: bool
    plain: bytes | None


def capture_frames(
    files: Sequence[str | PathLike[str]],
    keys: Sequence[str] = (),
    key_logs: Sequence[str | PathLike[str]] = (),
) -> list[CapturedFrame]:
    """Read captures as one, frame by frame; arguments as of :func:`capture_report`.

    Raises:
        CaptureError: a file that is no capture, or an invalid key.
    """
    try:
        rows = _native.capture_frames(
            [fspath(file) for file in files], list(keys), [fspath(log) for log in key_logs]
        )
    except _native.BadCapture as error:
        raise CaptureError(str(error)) from None
    return [CapturedFrame(*row) for row in rows]
