"""Reports on captures: the native reader's report as Python values.

Takes files, keys, a window of time and a selection of sessions; gives a :class:`CaptureReport`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from os import PathLike, fspath
from typing import Any, BinaryIO

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


@dataclass(frozen=True)
class Window:
    """The part of a capture that is counted, in seconds; frames before it still give keys.

    Unix time, or with ``relative`` time after the capture's first frame.
    """

    since_s: float | None = None
    until_s: float | None = None
    relative: bool = False


@dataclass(frozen=True)
class Selection:
    """The sessions that a report lists; the others stay in its counts.

    ``stations`` and ``aps`` are MAC addresses; empty means all. ``slowest`` puts the longest join
    first. ``most`` bounds their number. ``steps`` keeps the frames of each session.
    """

    stations: Sequence[str] = ()
    aps: Sequence[str] = ()
    ssids: Sequence[str] = ()
    slowest: bool = False
    most: int | None = None
    steps: bool = True


def capture_report(
    files: Sequence[str | PathLike[str]],
    keys: Sequence[str] = (),
    key_logs: Sequence[str | PathLike[str]] = (),
    *,
    window: Window | None = None,
    owners: Mapping[str, str] | None = None,
    selection: Selection | None = None,
) -> CaptureReport:
    """Analyse captures as one, in the order of their times.

    ``files`` are pcap or pcapng, plain or packed with gzip or zstd; ``-`` is standard input.
    ``keys`` are ``wpa-pwd:PASS:SSID`` (percent-escapes in either part), ``wpa-psk:HEX``,
    ``pmk:HEX``, ``msk:HEX``, ``tk:HEX``, ``wep:HEX``; a key log holds one of them a line.
    ``owners``: IP address -> MAC address of the station that owns it.

    Raises:
        CaptureError: a file that is no capture, or an invalid key or address.
    """
    options = _options(window, owners, selection)
    try:
        text = _native.capture_report(*_given(files, keys, key_logs), options)
    except _native.BadCapture as error:
        raise CaptureError(str(error)) from None
    return CaptureReport(json.loads(text))


def write_capture_report(
    sink: BinaryIO,
    files: Sequence[str | PathLike[str]],
    keys: Sequence[str] = (),
    key_logs: Sequence[str | PathLike[str]] = (),
    *,
    window: Window | None = None,
    selection: Selection | None = None,
) -> list[dict[str, Any]]:
    """Write the report as one JSON object to a file of octets, without a copy in memory.

    Gives the places where files broke. Arguments and errors as of :func:`capture_report`.
    """
    options = _options(window, None, selection)
    try:
        text = _native.write_capture_report(sink, *_given(files, keys, key_logs), options)
    except _native.BadCapture as error:
        raise CaptureError(str(error)) from None
    damages: list[dict[str, Any]] = json.loads(text)
    return damages


def watch_capture(
    path: str,
    tell: Callable[[dict[str, Any]], None],
    keys: Sequence[str] = (),
    key_logs: Sequence[str | PathLike[str]] = (),
) -> CaptureReport:
    """Follow a capture as it is written (``-``: standard input), in one pass.

    ``tell`` takes each session whose join ends, when it ends. Gives the report at the end.

    Raises:
        CaptureError: a stream that is no capture, or an invalid key.
    """
    try:
        text = _native.watch_capture(
            path, list(keys), [fspath(log) for log in key_logs], lambda line: tell(json.loads(line))
        )
    except _native.BadCapture as error:
        raise CaptureError(str(error)) from None
    return CaptureReport(json.loads(text))


def _given(
    files: Sequence[str | PathLike[str]],
    keys: Sequence[str],
    key_logs: Sequence[str | PathLike[str]],
) -> tuple[list[str], list[str], list[str]]:
    return [fspath(file) for file in files], list(keys), [fspath(log) for log in key_logs]


def _options(
    window: Window | None, owners: Mapping[str, str] | None, selection: Selection | None
) -> _native.CaptureOptions:
    window, selection = window or Window(), selection or Selection()
    return {
        "since_s": window.since_s,
        "until_s": window.until_s,
        "relative": window.relative,
        "owners": [(ip_address(ip), station) for ip, station in (owners or {}).items()],
        "stations": list(selection.stations),
        "aps": list(selection.aps),
        "ssids": list(selection.ssids),
        "slowest": selection.slowest,
        "most": selection.most,
        "steps": selection.steps,
    }
