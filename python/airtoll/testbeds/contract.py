"""The contract of every testbed.

Takes nothing; gives the :class:`Testbed` protocol and the values that cross it. Never measures.

A testbed checks every cell before the first trial: a cell that it cannot carry out is a
:class:`Skip` with a reason, never an error during the run and never a zero. ``measure`` returns
observations, or a failure by name (for example "did not authenticate: MIC failure, reason 23").
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from attrs import field, frozen

from airtoll.analyse.fairness import jain
from airtoll.observe.journal import SketchTuple
from airtoll.plan import Cell, Trial

if TYPE_CHECKING:
    from airtoll.border.answers import AnalyticColumns, Columns


@frozen
class Skip:
    """Why a testbed cannot carry out a cell."""

    reason: str


class Row(NamedTuple):
    """One observed value; units as in ``airtoll.observe.metrics.METRICS``."""

    metric: str
    value: float
    unit: str
    flow: str | None = None
    station: str | None = None
    second: int | None = None


@frozen
class Measured:
    """The result of a trial.

    ``failure`` is ``None`` when the policy and the traffic came about; otherwise one line that
    names the state reached. ``caveats`` say what the values must not be taken for.
    """

    rows: tuple[Row, ...] = ()
    sketches: tuple[SketchTuple, ...] = ()
    failure: str | None = None
    caveats: tuple[str, ...] = ()
    files: tuple[Path, ...] = field(default=())


class Testbed(Protocol):
    """A testbed carries out trials."""

    @property
    def name(self) -> str:
        """``simulator``, ``linux`` or ``analytic``."""

    @property
    def parallel(self) -> bool:
        """Whether several trials may be measured at once."""

    def check(self, cell: Cell) -> Skip | None:
        """``None`` if the cell can be carried out. Cheap, and without side effects."""

    def warning(self, cell: Cell) -> str | None:
        """A likely mistake in a cell that the testbed can run, in one line."""

    def expected_s(self, cell: Cell) -> float:
        """Rough wall time of one trial, seconds, for ``airtoll check``."""

    def measure(self, trial: Trial, captures: Path | None = None) -> Measured:
        """Carry out one trial; captures go into the folder if one is given.

        Raises ``TrialFault`` if the trial failed inside: it fails alone, and the others go on.
        Raises ``TestbedError`` if the testbed itself broke: the run ends without this trial.
        """

    def environment(self) -> dict[str, str]:
        """Versions and settings that shape the results, for ``run.json``."""

    def cancel(self) -> None:
        """Make every running ``measure`` end soon with ``Interrupted``; from any thread."""

    def close(self) -> None:
        """Stop everything that was started."""


#: Characters of a cell's name in a folder's; file names end at 255 octets.
_MOST_OF_A_NAME: Final = 180


def folder_of(trial: Trial) -> str:
    """A folder name for captures that no other attempt of a run has.

    The cell's name is in it as far as a file name can hold it. A name that loses something gets a
    part of its SHA-256: cells that differ in a blank or in letters beyond ASCII differ in it.
    """
    name = trial.cell.name
    cell = re.sub(r"[^A-Za-z0-9.+=-]+", "_", name)[:_MOST_OF_A_NAME]
    if cell.replace("_", "/") != name:
        cell += f"~{hashlib.sha256(name.encode(errors='replace')).hexdigest()[:12]}"
    return f"{cell}_{trial.number}_{trial.attempt}"


#: Parts of the airtime ledger that no frame of the cell fills.
_SILENT = (
    "airtime_contention_s",
    "airtime_card_s",
    "airtime_interference_s",
    "airtime_neighbours_s",
    "airtime_idle_s",
)
#: Parts that must be known for the airtime of all frames.
_NEEDED = {"airtime_retry_s", "airtime_ack_s"}


def with_whole_cell(rows: Sequence[Row]) -> list[Row]:
    """The rows, and the values of the whole cell that follow from them.

    These are the throughput (the sum over the flows) if it is missing, the fairness of the
    throughputs of several stations, and the retransmitted share of airtime where the ledger has
    retries and acknowledgements.
    """
    return [*_with_throughput(rows), *_fairness(rows), *_retry_share(rows)]


def _fairness(rows: Sequence[Row]) -> list[Row]:
    of_stations: dict[str, float] = {}
    for row in rows:
        if row.metric == "throughput_bps" and row.second is None and row.station is not None:
            of_stations[row.station] = of_stations.get(row.station, 0.0) + row.value
    if len(of_stations) < 2 or not any(of_stations.values()):
        return []
    return [Row("fairness_ratio", jain(list(of_stations.values())), "1")]


def _retry_share(rows: Sequence[Row]) -> list[Row]:
    spent = {
        row.metric: row.value
        for row in rows
        if row.metric.startswith("airtime_") and row.unit == "s" and row.metric not in _SILENT
    }
    frames = math.fsum(spent.values())
    if not spent.keys() >= _NEEDED or frames <= 0:
        return []
    return [Row("airtime_retry_share", spent["airtime_retry_s"] / frames, "1")]


def _with_throughput(rows: Sequence[Row]) -> list[Row]:
    rates = [row for row in rows if row.metric == "throughput_bps" and row.second is None]
    if not rates or any(row.flow is None and row.station is None for row in rates):
        return list(rows)
    return [*rows, Row("throughput_bps", math.fsum(row.value for row in rates), "bit/s")]


def rows_of(columns: Columns | AnalyticColumns) -> list[Row]:
    """Rows from the columns that the native module returns."""
    table = zip(
        columns["metric"],
        columns["value"],
        columns["unit"],
        columns["flow"],
        columns["station"],
        columns["second"],
        strict=True,
    )
    return list(map(Row._make, table))


def sketches_of(columns: Columns) -> tuple[SketchTuple, ...]:
    """Distributions over the packets of one trial, from the columns of the native module."""
    sketches = columns["sketches"]
    return tuple(
        (metric, flow, station, tuple(nanoseconds), tuple(counts))
        for metric, flow, station, nanoseconds, counts in zip(
            sketches["metric"],
            sketches["flow"],
            sketches["station"],
            sketches["nanoseconds"],
            sketches["counts"],
            strict=True,
        )
    )
