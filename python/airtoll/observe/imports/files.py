"""Files of other tools as observation rows and trials."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl
from attrs import frozen

from airtoll.errors import DatasetError
from airtoll.observe.imports import flent, iperf3, irtt
from airtoll.observe.imports.table import read_table
from airtoll.observe.imports.value import Value
from airtoll.observe.schema import OBSERVATIONS, ROW_ORDER, SCHEMA_VERSION, TRIAL_ORDER, TRIALS
from airtoll.policies import resolve

_READERS: Final[dict[str, Callable[[Any, str], list[Value]]]] = {
    "iperf3": iperf3.values,
    "irtt": irtt.values,
    "flent": flent.values,
}

FORMATS: Final = (*_READERS, "csv")


@frozen
class Place:
    """The cell that a file's readings belong to; a CSV table may name its own."""

    study: str = "imported"
    scenario: str = "imported"
    policy: str = "open"
    traffic: str | None = None


def import_files(
    paths: Sequence[Path], fmt: str, place: Place, first_trial: int = 1
) -> pl.DataFrame:
    """Observations of some files, one trial per result, in the order given.

    ``traffic`` defaults to the transport that the file names. Raises ``DatasetError`` that names
    the file and what is wrong, ``PolicyError`` for an unknown policy.
    """
    if fmt not in FORMATS:
        raise DatasetError(f"format {fmt!r}: allowed are {', '.join(FORMATS)}")
    policy = resolve(place.policy).name
    frames = []
    trial = first_trial
    for path in paths:
        if fmt == "csv":
            frame = read_table(path, place.study, place.scenario, policy, place.traffic, trial)
            frames.append(frame)
            trial += max(int(frame["trial"].n_unique()), 1)
            continue
        for found in _results(path, fmt):
            frames.append(_frame(found, place, policy, trial))
            trial += 1
    if not frames:
        raise DatasetError("no file to import: name at least one")
    return pl.concat(frames).sort(ROW_ORDER, nulls_last=False)


def trials_of(observations: pl.DataFrame) -> pl.DataFrame:
    """A trials table for imported observations: every trial counts."""
    keys = [name for name in TRIALS if name in OBSERVATIONS]
    return (
        observations.select(keys)
        .unique()
        .with_columns(status=pl.lit("ok"), reason=pl.lit(None, pl.String), caveats=pl.lit([]))
        .select([pl.col(name).cast(kind) for name, kind in TRIALS.items()])
        .sort(TRIAL_ORDER)
    )


def _results(path: Path, fmt: str) -> list[list[Value]]:
    """The values of each result in a file."""
    return [_values(data, path, fmt) for data in documents(path, fmt)]


def documents(path: Path, fmt: str) -> list[Any]:
    """The JSON documents of a file, plain or packed with gzip. Raises ``DatasetError``."""
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode().strip()
        return _documents(text)
    except FileNotFoundError as error:
        raise DatasetError(f"{path}: no such file") from error
    except (OSError, EOFError, ValueError) as error:
        raise DatasetError(f"{path}: not readable as JSON of {fmt}: {error}") from error


def _documents(text: str) -> list[Any]:
    """JSON documents that follow one another. Raises ValueError where there is none."""
    decoder = json.JSONDecoder()
    found: list[Any] = []
    end = 0
    while end < len(text) or not found:
        data, end = decoder.raw_decode(text, end)
        found.append(data)
        end += len(text[end:]) - len(text[end:].lstrip())
    return found


def _values(data: Any, path: Path, fmt: str) -> list[Value]:
    try:
        found = _READERS[fmt](data, str(path))
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise DatasetError(
            f"{path}: not a result of {fmt}: {type(error).__name__} at {error}"
        ) from error
    if not found:
        raise DatasetError(f"{path}: holds no value that airtoll knows")
    return found


def _frame(values: list[Value], place: Place, policy: str, trial: int) -> pl.DataFrame:
    traffic = place.traffic or next((v.transport for v in values if v.transport), "none")
    rows = [
        {
            "schema_version": SCHEMA_VERSION,
            "study": place.study,
            "testbed": "imported",
            "cell": f"{place.scenario}/{policy}/{traffic}",
            "scenario": place.scenario,
            "policy": policy,
            "traffic": traffic,
            "factors": "{}",
            "trial": trial,
            "attempt": 1,
            "seed": None,
            "flow": value.flow,
            "station": None,
            "second": value.second,
            "metric": value.metric,
            "value": value.value,
            "unit": value.unit,
        }
        for value in values
    ]
    return pl.DataFrame(rows, schema=OBSERVATIONS)


__all__ = ["FORMATS", "Place", "Value", "documents", "import_files", "trials_of"]
