"""Reports on captures: the native reader's report as Python values.

Takes files, keys, a window of time and a selection of sessions; gives a :class:`CaptureReport`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from os import PathLike, fspath
from typing import BinaryIO, Literal, cast

from airtoll import _native
from airtoll.border import CaptureOptions, to_json
from airtoll.border.answers import (
    ByKindOfdouble,
    ByKindOfuint64,
    Damage,
    LedgerReport,
    Report,
    SessionReport,
    SkippedKey,
)
from airtoll.errors import CaptureError, UsageError

#: A time of a session, in seconds.
SessionTime = Literal[
    "association_time_s",
    "eap_time_s",
    "key_handshake_time_s",
    "negotiation_time_s",
    "join_time_s",
    "time_to_data_s",
    "time_to_answer_s",
]


def by_kind(sums: ByKindOfdouble | ByKindOfuint64) -> dict[str, float]:
    """Airtime (s) or octets of a ledger by the name of their kind."""
    return cast("dict[str, float]", sums)


@dataclass(frozen=True)
class CaptureReport:
    """The report on captures.

    ``data`` is the JSON object of ``airtoll capture report --json``: frames are counts, times are
    seconds, octets are on air with FCS; an unknown value is ``None``, never zero.
    """

    data: Report

    @property
    def sessions(self) -> list[SessionReport]:
        """Sessions in order of their first frame."""
        return self.data["sessions"]

    @property
    def ledger(self) -> LedgerReport:
        """Airtime (s) and octets by kind: total, per station, per access point, over time."""
        return self.data["ledger"]

    @property
    def damage(self) -> Damage | None:
        """Where the first broken file broke, or ``None``."""
        return self.data["damage"]


@dataclass(frozen=True)
class Written:
    """Remarks on a report that was written.

    ``damages``: where files broke. ``skipped_keys``: rows of key logs that cannot be used.
    """

    damages: list[Damage]
    skipped_keys: list[SkippedKey]


@dataclass(frozen=True)
class Window:
    """The part of a capture that is counted, in seconds; frames before it still give keys.

    Unix time, or with ``relative`` time after the capture's first frame. Raises ``UsageError`` for
    a window that holds no time.
    """

    since_s: float | None = None
    until_s: float | None = None
    relative: bool = False

    def __post_init__(self) -> None:
        """Refuse what no frame can be in."""
        for option, value in (("--since", self.since_s), ("--until", self.until_s)):
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise UsageError(f"{option} {value:g}: allowed are seconds from 0 on")
        if self.until_s is not None and self.until_s <= (self.since_s or 0.0):
            since = f" is not after --since {self.since_s:g}" if self.since_s is not None else ""
            raise UsageError(f"--until {self.until_s:g}{since}: the window holds no time")


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
        CaptureError: a file that is no capture, captures of link types that are not read, or an
            invalid key or address.
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
) -> Written:
    """Write the report as one JSON object to a file of octets, without a copy in memory.

    Arguments and errors as of :func:`capture_report`.
    """
    options = _options(window, None, selection)
    try:
        text = _native.write_capture_report(sink, *_given(files, keys, key_logs), options)
    except _native.BadCapture as error:
        raise CaptureError(str(error)) from None
    return Written(**json.loads(text))


def watch_capture(
    path: str,
    tell: Callable[[SessionReport], None],
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
) -> str:
    window, selection = window or Window(), selection or Selection()
    options = CaptureOptions(
        since_s=window.since_s,
        until_s=window.until_s,
        relative=window.relative,
        owners=tuple((str(ip_address(ip)), station) for ip, station in (owners or {}).items()),
        stations=tuple(selection.stations),
        aps=tuple(selection.aps),
        ssids=tuple(selection.ssids),
        slowest=selection.slowest,
        most=selection.most,
        steps=selection.steps,
    )
    return to_json(options)
