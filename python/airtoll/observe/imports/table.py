"""A CSV table of the user's readings.

Takes a CSV file with a header: ``metric``, ``value`` and ``unit`` in every row, and, where the
table has more than one of them, ``scenario``, ``policy``, ``traffic``, ``trial``, ``second``,
``flow``, ``station``. Gives observation rows in the schema's units; policy aliases are resolved.
Mistakes name file and line. Never fills a gap.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any, Final

import polars as pl

from airtoll.errors import DatasetError, PolicyError
from airtoll.observe.datasets import UNITS
from airtoll.observe.metrics import METRICS
from airtoll.observe.schema import OBSERVATIONS, SCHEMA_VERSION
from airtoll.policies import resolve
from airtoll.study.source import name_problem, shown

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


def read_table(
    path: Path, study: str, scenario: str, policy: str, traffic: str | None, trial: int
) -> pl.DataFrame:
    """Observations of a CSV table; the arguments replace missing columns."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            first = file.readline()
            if ";" in first and "," not in first:
                raise DatasetError(
                    f"{path}: columns are separated by semicolons; separate them by commas and "
                    "write decimal points"
                )
            file.seek(0)
            reader = csv.DictReader(file)
            header = [name.strip() for name in reader.fieldnames or []]
            reader.fieldnames = header
            for name in ("metric", "value", "unit"):
                if name not in header:
                    raise DatasetError(
                        f"{path}: column {name!r} is missing; it needs metric, value, unit"
                    )
            rows = [
                _row(f"{path}:{line}", row, study, scenario, policy, traffic, trial)
                for line, row in enumerate(reader, 2)
            ]
    except FileNotFoundError as error:
        raise DatasetError(f"{path}: no such file") from error
    except UnicodeDecodeError as error:
        raise DatasetError(
            f"{path}: is not UTF-8 text (octet {error.object[error.start]:#04x}); save it as UTF-8"
        ) from error
    except (OSError, csv.Error) as error:
        raise DatasetError(f"{path}: not readable as CSV: {error}") from error
    if not rows:
        raise DatasetError(f"{path}: holds no row")
    _each_once(path, rows)
    return pl.DataFrame(rows, schema=OBSERVATIONS)


def _each_once(path: Path, rows: list[dict[str, Any]]) -> None:
    """Refuse a table with two values of one metric, trial, flow, station and second."""
    seen: dict[tuple[Any, ...], int] = {}
    for line, row in enumerate(rows, 2):
        key = tuple(row[name] for name in ("cell", "trial", "flow", "station", "second", "metric"))
        if key in seen:
            raise DatasetError(
                f"{path}:{line}: {row['metric']} of trial {row['trial']} in {row['cell']} is also "
                f"in line {seen[key]}; give each reading its own trial"
            )
        seen[key] = line


def _row(
    place: str,
    row: dict[str, str | None],
    study: str,
    scenario: str,
    policy: str,
    traffic: str | None,
    trial: int,
) -> dict[str, Any]:
    given = {key: value.strip() for key, value in row.items() if key and value and value.strip()}
    metric = _METRICS.get(given.get("metric", "").lower(), given.get("metric", ""))
    if metric not in METRICS:
        known = ", ".join([*_METRICS, *METRICS])
        raise DatasetError(f"{place}: metric {metric!r}: known are {known}")
    unit = given.get("unit", "")
    si_unit, factor = UNITS.get(unit) or _MORE_UNITS.get(unit.lower(), ("", 0.0))
    if si_unit != METRICS[metric][0]:
        raise DatasetError(f"{place}: unit {unit!r} does not fit {metric} ({METRICS[metric][0]})")
    try:
        value = float(given.get("value", "")) * factor
        number = int(given.get("trial", trial))
        second = int(given["second"]) if "second" in given else None
    except ValueError as error:
        raise DatasetError(f"{place}: no number: {error}") from error
    if not math.isfinite(value):
        raise DatasetError(f"{place}: value {given['value']!r}: must be a finite number")
    if value < 0 and si_unit != "dBm":
        raise DatasetError(f"{place}: value {given['value']!r}: {metric} is not negative")
    if not 0 <= number < 2**32 or not 0 <= (second or 0) < 2**32:
        raise DatasetError(f"{place}: trial and second are 0 to {2**32 - 1}")
    for key in ("scenario", "traffic", "flow", "station"):
        problem = name_problem(given[key]) if key in given else None
        if problem:
            raise DatasetError(f"{place}: {key} {shown(given[key])}: {problem}")
    try:
        name = resolve(given["policy"]).name if "policy" in given else policy
    except PolicyError as error:
        raise DatasetError(f"{place}: {error}") from error
    where, load = given.get("scenario", scenario), given.get("traffic", traffic or "none")
    return {
        "schema_version": SCHEMA_VERSION,
        "study": study,
        "testbed": "imported",
        "cell": f"{where}/{name}/{load}",
        "scenario": where,
        "policy": name,
        "traffic": load,
        "factors": "{}",
        "trial": number,
        "attempt": 1,
        "seed": None,
        "flow": given.get("flow"),
        "station": given.get("station"),
        "second": second,
        "metric": metric,
        "value": value,
        "unit": METRICS[metric][0],
    }
