"""A CSV table of the user's readings.

Takes a CSV file with a header: ``metric``, ``value`` and ``unit`` in every row, and, where the
table has more than one of them, ``scenario``, ``policy``, ``traffic``, ``trial``, ``second``,
``flow``, ``station``. Gives trials with values in the schema's units; policy aliases are resolved.
Mistakes name file and line. Never fills a gap.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from airtoll.errors import DatasetError, PolicyError
from airtoll.foreign_text import name_problem, shown, shown_line
from airtoll.observe.datasets import UNITS
from airtoll.observe.imports.documents import text_of
from airtoll.observe.imports.trial import Place, Row, Trial
from airtoll.observe.imports.value import range_problem
from airtoll.observe.metrics import METRICS
from airtoll.policies import resolve

#: Most lines of a table.
MOST_LINES: Final = 200_000
#: Common short names of metrics.
_METRICS: Final = {
    "throughput": "throughput_bps",
    "goodput": "throughput_bps",
    "loss": "loss_ratio",
    "delay": "delay_s",
    "latency": "delay_s",
    "jitter": "jitter_s",
    "rtt": "response_time_s",
    "response_time": "response_time_s",
    "authentication_time": "negotiation_time_s",
}
_MORE_UNITS: Final = {
    "mbit/s": ("bit/s", 1e6),
    "mb/s": ("bit/s", 1e6),
    "mbps": ("bit/s", 1e6),
    "kbit/s": ("bit/s", 1e3),
    "kb/s": ("bit/s", 1e3),
    "bps": ("bit/s", 1.0),
    "gbit/s": ("bit/s", 1e9),
    "us": ("s", 1e-6),
}
_NEEDED: Final = ("metric", "value", "unit")
_COLUMNS: Final = (*_NEEDED, "scenario", "policy", "traffic", "trial", "second", "flow", "station")
_NUMBER: Final = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?|[-+]?(nan|inf)",
                            re.IGNORECASE)  # fmt: skip
#: The first fields of iperf 2's ``--reportstyle C``: an instant and an address.
_IPERF2: Final = re.compile(r"^[-+:0-9]*\d{14}(\.\d+)?,")


def read_table(path: Path, octets: bytes, place: Place) -> tuple[list[Trial], list[str]]:
    """The trials of a CSV table, and the columns that are not read, a sentence each.

    ``place`` replaces missing columns. Trials without a number have ``None``. Raises
    ``DatasetError``.
    """
    text = text_of(octets, lenient=False)
    if max(text.count("\n"), text.count("\r")) > MOST_LINES:
        raise DatasetError(f"{path}: has more than {MOST_LINES} lines; import a part of it")
    first = text.split("\n", 1)[0]
    _refuse_other_formats(path, text, first)
    delimiter = "\t" if "\t" in first and "," not in first else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    trials: dict[tuple[str, str, str, int | None], list[Row]] = {}
    seen: dict[tuple[Any, ...], int] = {}
    try:
        header = [name.strip().lower() for name in next(reader, [])]
        for name in _NEEDED:
            if name not in header:
                raise DatasetError(
                    f"{path}: column {name!r} is missing; it needs {', '.join(_NEEDED)}"
                )
        for name in _COLUMNS:
            if header.count(name) > 1:
                raise DatasetError(f"{path}: column {name!r} stands twice")
        for line, given in _given(reader, header):
            key, row = _row(f"{path}:{line}", given, place)
            _once(path, line, key, row, seen)
            trials.setdefault(key, []).append(row)
    except csv.Error as error:
        raise DatasetError(f"{path}: not readable as CSV: {error}") from error
    if not trials:
        raise DatasetError(f"{path}: holds no row")
    unread = [name for name in header if name not in _COLUMNS and name]
    notes = [f"column {shown(name)} is not read" for name in unread]
    return [Trial(*key, tuple(rows)) for key, rows in trials.items()], notes


def _refuse_other_formats(path: Path, text: str, first: str) -> None:
    if text.lstrip()[:1] in ("{", "["):
        raise DatasetError(f"{path}: is no CSV table but JSON; name its --format")
    if _IPERF2.match(first):
        raise DatasetError(
            f"{path}: is iperf 2's output, which airtoll does not read; use iperf3 --json, or a "
            f"table with {', '.join(_NEEDED)}"
        )
    if ";" in first and "," not in first:
        raise DatasetError(
            f"{path}: columns are separated by semicolons; separate them by commas and "
            "write decimal points"
        )


def _given(reader: Any, header: list[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Line and non-empty fields of each row that is not blank."""
    for fields in reader:
        if not fields:
            continue
        pairs = zip(header, (field.strip() for field in fields), strict=False)
        yield reader.line_num, {name: field for name, field in pairs if name and field}


def _once(
    path: Path,
    line: int,
    key: tuple[str, str, str, int | None],
    row: Row,
    seen: dict[tuple[Any, ...], int],
) -> None:
    """Refuse a table with two values of one metric, trial, flow, station and second."""
    scenario, policy, traffic, trial = key
    whole = (*key, *row[:4])
    if whole in seen:
        number = "1" if trial is None else str(trial)
        raise DatasetError(
            f"{path}:{line}: {row[0]} of trial {number} in {scenario}/{policy}/{traffic} is also "
            f"in line {seen[whole]}; give each reading its own trial"
        )
    seen[whole] = line


def _row(
    place: str, given: dict[str, str], default: Place
) -> tuple[tuple[str, str, str, int | None], Row]:
    metric = _METRICS.get(given.get("metric", "").lower(), given.get("metric", ""))
    if metric not in METRICS:
        near = get_close_matches(metric, [*_METRICS, *METRICS], n=3)
        hint = f"near it are {', '.join(near)}" if near else f"known are {', '.join(_METRICS)}"
        raise DatasetError(
            f"{place}: metric {shown(metric)}: {hint}; all metrics are in "
            "docs/reference/observations.md"
        )
    unit = given.get("unit", "")
    si_unit, factor = UNITS.get(unit) or _MORE_UNITS.get(unit.lower(), ("", 0.0))
    if si_unit != METRICS[metric][0]:
        raise DatasetError(
            f"{place}: unit {shown(unit)} does not fit {metric} ({METRICS[metric][0]})"
        )
    value = _number(place, given.get("value", "")) * factor
    problem = range_problem(metric, value)
    if problem:
        raise DatasetError(f"{place}: value {shown(given['value'])}: {problem}")
    trial, second = (_whole(place, given[key]) if key in given else None
                     for key in ("trial", "second"))  # fmt: skip
    for key in ("scenario", "traffic", "flow", "station"):
        problem = _name_problem(given[key]) if key in given else None
        if problem:
            raise DatasetError(f"{place}: {key} {shown(given[key])}: {problem}")
    try:
        policy = _policy(given["policy"]) if "policy" in given else default.policy
    except PolicyError as error:
        raise DatasetError(f"{place}: {shown_line(str(error))}") from error
    scenario = given.get("scenario", default.scenario)
    traffic = given.get("traffic", default.traffic or "none")
    row = (metric, given.get("flow"), given.get("station"), second, value)
    return (scenario, policy, traffic, trial), row


@lru_cache(maxsize=1000)
def _name_problem(name: str) -> str | None:
    return name_problem(name)


@lru_cache(maxsize=1000)
def _policy(name: str) -> str:
    return resolve(name).name


def _number(place: str, text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise DatasetError(f"{place}: no number: {shown(text)}")
    return float(text)


def _whole(place: str, text: str) -> int:
    if not re.fullmatch(r"\+?[0-9]+", text):
        raise DatasetError(f"{place}: no number: {shown_line(text)} is no whole number")
    number = int(text[:20])
    if len(text) > 20 or number >= 2**32:
        raise DatasetError(f"{place}: trial and second are 0 to {2**32 - 1}")
    return number
