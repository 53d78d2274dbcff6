"""Reports on captures: what the native reader says, as Python values.

Takes files and keys; gives a :class:`CaptureReport`. Never opens a capture itself.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

from airtoll import _native
from airtoll.errors import CaptureError


@dataclass(frozen=True)
class CaptureReport:
    """What captures hold.

    ``data`` is the JSON object of ``airtoll capture report --json``: frames are counts, times are
    seconds, octets are on air with FCS; what is unknown is ``None``, never zero.
    """

    data: dict[str, Any]

    @property
    def sessions(self) -> list[dict[str, Any]]:
        """Sessions in order of their first frame."""
        sessions: list[dict[str, Any]] = self.data["sessions"]
        return sessions

    @property
    def ledger(self) -> dict[str, Any]:
        """Airtime (s) and octets by kind: total, per station, per access point, over time."""
        ledger: dict[str, Any] = self.data["ledger"]
        return ledger

    @property
    def damage(self) -> dict[str, Any] | None:
        """Where the first broken file broke, or ``None``."""
        damage: dict[str, Any] | None = self.data["damage"]
        return damage


def capture_report(
    files: Sequence[str | PathLike[str]],
    keys: Sequence[str] = (),
    key_logs: Sequence[str | PathLike[str]] = (),
) -> CaptureReport:
    """Analyse captures as one, in the order of their times.

    ``files`` are pcap or pcapng, plain or packed with gzip or zstd; ``-`` is standard input.
    ``keys`` are ``wpa-pwd:PASS:SSID`` (percent-escapes in either part), ``wpa-psk:HEX``,
    ``pmk:HEX``, ``msk:HEX``, ``tk:HEX``, ``wep:HEX``; a key log holds one of them a line.

    Raises:
        CaptureError: a file that is no capture, or a key that cannot be meant.
    """
    try:
        text = _native.capture_report(
            [fspath(file) for file in files], list(keys), [fspath(log) for log in key_logs]
        )
    except _native.BadCapture as error:
        raise CaptureError(str(error)) from None
    return CaptureReport(json.loads(text))
