"""Tables on disk: the journal compacted to Parquet, and read back.

Takes a journal and the columns of its cells; gives ``observations.parquet`` and
``trials.parquet`` in canonical order. Equal journals give equal files, whatever the order in
which their trials ended. Works through the journal in slices: memory does not grow with it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from attrs import frozen

from airtoll.errors import StorageError
from airtoll.observe.journal import STATUSES, Place, Record, read_at, read_index
from airtoll.observe.metrics import NOT_RADIO
from airtoll.observe.replacing import refuse_other_encodings, replacing, scratch_folder
from airtoll.observe.schema import OBSERVATIONS, SCHEMA_VERSION, TRIALS, WITHOUT_CHANCE
from airtoll.plan import Plan

#: Rows of the records that are in memory at a time.
_SLICE_ROWS = 20_000

SKETCHES_FILE = "sketches.parquet"

#: Rows from which a compact table is read column by column.
_MANY_ROWS = 50_000

#: Columns that the keys of a record have, and those that both tables have of a record.
_OF_KEYS = ("metric", "flow", "station", "second", "unit")
_OF_ATTEMPTS = tuple(name for name in OBSERVATIONS if name in TRIALS)

#: Columns in which a value may be missing; imported readings have no seed.
_MAY_BE_NULL = frozenset({"flow", "station", "second", "reason", "caveats", "seed"})

#: Columns with one value for a whole run.
_OF_THE_RUN = ("schema_version", "study", "testbed")

#: Distributions over the packets of a trial (see ``journal.SketchTuple``).
SKETCHES: dict[str, pl.DataType] = {
    "cell": pl.String(),
    "trial": pl.UInt32(),
    "attempt": pl.UInt32(),
    "metric": pl.String(),
    "flow": pl.String(),
    "station": pl.String(),
    "nanoseconds": pl.List(pl.Int64()),
    "counts": pl.List(pl.UInt32()),
}
_LISTS = {"nanoseconds": pl.Int64(), "counts": pl.UInt32()}


def has_no_chance(observations: pl.DataFrame, testbed: str | None = None) -> bool:
    """Whether all readings are of models that draw no random numbers.

    ``testbed``: that of all of them; None: that of each row.
    """
    if testbed is not None:
        return testbed in WITHOUT_CHANCE
    if "testbed" not in observations.columns or observations.is_empty():
        return False
    return set(observations["testbed"].unique().to_list()) <= WITHOUT_CHANCE


@frozen
class CellLabels:
    """The columns of a cell: its axes and factors."""

    scenario: str
    policy: str
    traffic: str
    factors: str


def write_tables(
    journal: Path, folder: Path, *, study: str, testbed: str, cells: Mapping[str, CellLabels]
) -> None:
    """Compact a journal into the two tables of a run.

    Raises ``StorageError`` if the disk refuses; the journal stays as it was.
    """
    index = sorted(read_index(journal), key=lambda entry: (entry[0], entry[1].record))
    # A killed run may have written one attempt twice after resuming; the first one counts.
    first: dict[tuple[str, int, int], tuple[Place, int]] = {}
    for key, place, rows in index:
        first.setdefault(key, (place, rows))
    for cell, _trial, _attempt in first:
        if cell not in cells:
            raise StorageError(
                f"{journal}: names the cell {cell!r}, which the study does not have; move the run "
                "folder away and run again"
            )
    trials_path = folder / "trials.parquet"
    try:
        with scratch_folder(folder) as scratch:
            parts, trial_parts, sketch_parts = [], [], []
            for number, places in enumerate(_slices(first.values())):
                records = list(read_at(journal, places))
                part = scratch / f"o{number:06}.parquet"
                observations_frame(records, study, testbed, cells).write_parquet(part)
                parts.append(part)
                part = scratch / f"t{number:06}.parquet"
                trials_frame(records, study, testbed, cells).write_parquet(part)
                trial_parts.append(part)
                part = scratch / f"s{number:06}.parquet"
                sketches_frame(records).write_parquet(part)
                sketch_parts.append(part)
            _join(parts, folder / "observations.parquet", OBSERVATIONS)
            _join(trial_parts, trials_path, TRIALS)
            _join(sketch_parts, folder / SKETCHES_FILE, SKETCHES)
    except pl.exceptions.PolarsError as error:
        raise StorageError(f"{folder}: tables could not be written: {error}") from error


def _slices(records: Iterable[tuple[Place, int]]) -> Iterator[list[Place]]:
    """Places of records (place, number of rows) in slices of ``_SLICE_ROWS`` rows or a little
    more; a record counts for one row at least."""
    held, rows = [], 0
    for place, own in records:
        held.append(place)
        rows += max(1, own)
        if rows >= _SLICE_ROWS:
            yield held
            held, rows = [], 0
    if held:
        yield held


def observations_frame(
    records: Sequence[Record], study: str, testbed: str, cells: Mapping[str, CellLabels]
) -> pl.DataFrame:
    """Observation rows of some records, each record's rows in canonical order."""
    attempts = pl.DataFrame(
        _attempt_columns(records, study, testbed, cells),
        schema={name: OBSERVATIONS[name] for name in _OF_ATTEMPTS},
    )
    kinds = {keys: number for number, keys in enumerate({record.keys: None for record in records})}
    names = {
        name: list(itertools.chain.from_iterable(getattr(keys, name) for keys in kinds))
        for name in _OF_KEYS
    }
    keys_frame = pl.DataFrame(names, schema={name: OBSERVATIONS[name] for name in _OF_KEYS})
    starts = np.cumsum([0, *map(len, kinds)])
    orders = [np.array(keys.order, np.intp) for keys in kinds]
    of = [kinds[record.keys] for record in records]
    places = [starts[kind] + orders[kind] for kind in of]
    lengths = [len(record.keys) for record in records]
    values = [
        np.array(record.values, np.float64)[orders[kind]]
        for record, kind in zip(records, of, strict=True)
    ]
    return pl.concat(
        [
            attempts[np.repeat(np.arange(len(records)), lengths)],
            keys_frame[np.concatenate([np.empty(0, np.intp), *places])],
            pl.DataFrame({"value": np.concatenate([np.empty(0), *values])}),
        ],
        how="horizontal",
    ).select(*OBSERVATIONS)


def _attempt_columns(
    records: Sequence[Record], study: str, testbed: str, cells: Mapping[str, CellLabels]
) -> dict[str, Sequence[object]]:
    """Columns of what both tables say of each record."""
    labels = [cells[record.cell] for record in records]
    return {
        "schema_version": [SCHEMA_VERSION] * len(records),
        "study": [study] * len(records),
        "testbed": [testbed] * len(records),
        "cell": [record.cell for record in records],
        "scenario": [one.scenario for one in labels],
        "policy": [one.policy for one in labels],
        "traffic": [one.traffic for one in labels],
        "factors": [one.factors for one in labels],
        "trial": [record.trial for record in records],
        "attempt": [record.attempt for record in records],
        "seed": [record.seed for record in records],
    }


def trials_frame(
    records: Sequence[Record], study: str, testbed: str, cells: Mapping[str, CellLabels]
) -> pl.DataFrame:
    """One row per record, with its status."""
    # Few texts, many records: Polars makes a list from Python in 20 microseconds.
    kinds = {said: n for n, said in enumerate({record.caveats: None for record in records})}
    caveats = pl.Series("caveats", list(kinds), TRIALS["caveats"])
    columns = {
        **_attempt_columns(records, study, testbed, cells),
        "status": [record.status for record in records],
        "reason": [record.reason for record in records],
        "caveats": caveats[[kinds[record.caveats] for record in records]],
    }
    return pl.DataFrame(columns, schema=TRIALS)


def sketches_frame(records: Iterable[Record]) -> pl.DataFrame:
    """One row per sketch of some records, in the order of its names."""
    rows = [
        (record.cell, record.trial, record.attempt, *sketch)
        for record in records
        for sketch in sorted(record.sketches, key=lambda s: (s[0], s[1] or "", s[2] or ""))
    ]
    *names, nanoseconds, counts = zip(*rows, strict=True) if rows else [()] * len(SKETCHES)
    own = {name: kind for name, kind in SKETCHES.items() if name not in _LISTS}
    frame = pl.DataFrame(dict(zip(own, names, strict=True)), schema=own).with_row_index("at")
    bins = pl.DataFrame(
        {
            "at": np.repeat(np.arange(len(rows)), list(map(len, nanoseconds))),
            "nanoseconds": list(itertools.chain.from_iterable(nanoseconds)),
            "counts": list(itertools.chain.from_iterable(counts)),
        },
        schema={"at": pl.UInt32(), **_LISTS},
    )
    lists = bins.group_by("at", maintain_order=True).agg(*_LISTS)
    empty = [pl.col(name).fill_null(pl.lit([], SKETCHES[name])) for name in _LISTS]
    joined = frame.join(lists, on="at", how="left", maintain_order="left")
    return joined.with_columns(empty).select(*SKETCHES)


def read_sketches(folder: Path) -> pl.DataFrame:
    """The sketches of a run folder; no row for runs and testbeds without any.

    Raises ``StorageError`` for a file that is no table of sketches.
    """
    path = folder / SKETCHES_FILE
    return read_table(path, SKETCHES) if path.exists() else pl.DataFrame(schema=SKETCHES)


def read_table(path: Path, schema: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """A table with the columns of a schema. Raises ``StorageError`` where it has others."""
    return _with_columns(_read(path), path, schema)


def read_observations(folder: Path) -> pl.DataFrame:
    """The observations of a run folder. Raises ``StorageError`` if there are none."""
    return _checked(_read(folder / "observations.parquet"), folder, OBSERVATIONS)


def read_compact_observations(folder: Path) -> pl.DataFrame:
    """The same as :func:`compact` leaves them, in less memory than the whole table takes.

    Raises ``StorageError`` if there are none.
    """
    path = folder / "observations.parquet"
    try:
        small = not path.exists() or _rows(path) < _MANY_ROWS
    except (OSError, pl.exceptions.PolarsError):
        small = True  # the reader below says what is wrong
    if small:
        return compact(read_observations(folder))
    schema = pl.read_parquet_schema(path)
    wanted = {name: kind for name, kind in OBSERVATIONS.items() if name not in _OF_THE_RUN}
    if not wanted.keys() <= schema.keys():
        return compact(read_observations(folder))
    columns = (
        compact(_checked(_read(path, [name]), folder, {name: kind}))
        for name, kind in wanted.items()
    )
    return pl.concat(columns, how="horizontal")


def fitting(frame: pl.DataFrame, folder: Path, plan: Plan) -> pl.DataFrame:
    """The table of a run, whose cells are those of its plan.

    Raises ``StorageError`` for a cell that the plan lacks or that has other labels there.
    """
    columns = ("cell", "scenario", "policy", "traffic", "factors")
    known = {
        (cell.name, cell.scenario, cell.policy, cell.traffic, cell.factors_json)
        for cell in plan.cells
    }
    name = "trials" if "status" in frame.columns else "observations"
    for row in frame.select(columns).unique().cast(pl.String()).iter_rows():
        if row not in known:
            raise StorageError(
                f"{folder / name}.parquet: cell {row[0]!r} is none of the study in run.json; the "
                "files are of different runs"
            )
    return frame


def compact(frame: pl.DataFrame) -> pl.DataFrame:
    """A table of one run in a fifth of the memory, for tables with many rows.

    Text is categorical: 4 octets a row instead of 16 and the text. Columns with one value for the
    whole run (``schema_version``, ``study``, ``testbed``) are left out. Tables that are joined have
    to be compact on both sides.
    """
    kept = [name for name in frame.columns if name not in _OF_THE_RUN]
    return frame.select(kept).cast({pl.String: pl.Categorical()})


def is_observations(path: Path) -> bool:
    """Whether a file is a table of observations."""
    try:
        return pl.read_parquet_schema(path).keys() >= OBSERVATIONS.keys()
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return False


def read_trials(folder: Path) -> pl.DataFrame:
    """The trials of a run folder. Raises ``StorageError`` if there are none."""
    trials = _read(folder / "trials.parquet")
    if "caveats" not in trials.columns:
        # Runs from before this column have their caveats in the journal only.
        trials = trials.with_columns(pl.lit([], TRIALS["caveats"]).alias("caveats"))
    return _checked(trials, folder, TRIALS)


def counted(observations: pl.DataFrame, trials: pl.DataFrame) -> pl.DataFrame:
    """The observations of the counted trials: no warm-ups, no repeated attempts."""
    key = ["cell", "trial", "attempt"]
    kept = trials.filter(pl.col("status") == "ok").select(key)
    # Rows of a trial are adjacent: few rows begin one.
    begins = pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).shift()) for name in key)
    if observations.select(key).filter(begins).join(kept, on=key, how="anti").is_empty():
        return observations  # no copy of a large table
    return observations.join(kept, on=key, how="semi")


def not_radio(trials: pl.DataFrame) -> frozenset[str]:
    """Cells with a counted trial whose caveat says that the CPU limited its throughput."""
    return frozenset(with_caveat(trials, NOT_RADIO))


def with_caveat(trials: pl.DataFrame, prefix: str) -> dict[str, str]:
    """Cells with a counted trial that has a caveat of this prefix, and the first one without it."""
    if "caveats" not in trials.columns:
        return {}
    said = trials.filter(pl.col("status") == "ok").select("cell", "caveats").explode("caveats")
    found = said.filter(pl.col("caveats").str.starts_with(prefix)).unique(
        "cell", keep="first", maintain_order=True
    )
    return {str(cell): str(text).removeprefix(prefix) for cell, text in found.iter_rows()}


def _join(parts: Sequence[Path], target: Path, schema: Mapping[str, pl.DataType]) -> None:
    with replacing(target) as scratch:
        if parts:
            pl.scan_parquet(list(parts), glob=False).sink_parquet(scratch, maintain_order=True)
        else:
            pl.DataFrame(schema=dict(schema)).write_parquet(scratch)


def put_table(frame: pl.DataFrame, target: Path) -> None:
    """Write a table as Parquet. Raises ``StorageError`` if the disk refuses."""
    refuse_other_encodings(target)
    try:
        with replacing(target) as scratch:
            frame.write_parquet(scratch)
    except pl.exceptions.PolarsError as error:
        raise StorageError(f"{target}: cannot be written: {error}") from error


def _checked(frame: pl.DataFrame, folder: Path, schema: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """The table with the columns of the schema. Raises ``StorageError`` if one is missing."""
    name = "trials" if "status" in schema else "observations"
    return _with_columns(frame, folder / f"{name}.parquet", schema)


def _with_columns(
    frame: pl.DataFrame, path: Path, schema: Mapping[str, pl.DataType]
) -> pl.DataFrame:
    for column, kind in schema.items():
        if column not in frame.columns:
            raise StorageError(f"{path}: column {column!r} is missing; needed: {', '.join(schema)}")
        try:
            if frame.schema[column] != kind:
                frame = frame.with_columns(pl.col(column).cast(kind))
        except pl.exceptions.PolarsError as error:
            raise StorageError(
                f"{path}: column {column!r} is {frame.schema[column]}, not {kind}"
            ) from error
        problem = _impossible(frame[column], column)
        if problem is not None:
            raise StorageError(f"{path}: column {column!r} {problem}")
    return frame


def _impossible(values: pl.Series, column: str) -> str | None:
    """Why a column of observations or trials cannot be what a run wrote, or ``None``."""
    if column not in _MAY_BE_NULL and values.null_count():
        return "lacks values"
    if column == "value" and not values.is_finite().all():
        return "holds values that are no numbers"
    if column == "status" and not values.is_in(sorted(STATUSES)).all():
        return f"holds others than {', '.join(sorted(STATUSES))}"
    return None


def _rows(path: Path) -> int:
    count: int = pl.scan_parquet(path, glob=False).select(pl.len()).collect().item()
    return count


def _read(path: Path, columns: list[str] | None = None) -> pl.DataFrame:
    if not path.exists():
        raise StorageError(
            f"{path}: no such table; name a run folder, or finish the run with --resume"
        )
    try:
        return pl.read_parquet(path, columns=columns)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        said = str(error).partition("\n")[0]
        raise StorageError(f"{path}: no readable Parquet table: {said}") from error
