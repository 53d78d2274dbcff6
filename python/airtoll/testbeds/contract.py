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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, overload

from attrs import field, frozen

from airtoll.analyse.fairness import jain
from airtoll.observe.journal import SketchTuple
from airtoll.observe.keys import NO_KEYS, Keys, extended, in_columns, keys_of, without
from airtoll.plan import Cell, Trial

if TYPE_CHECKING:
    from airtoll.border.answers import AnalyticColumns, Columns


@frozen
class Skip:
    """Why a testbed cannot carry out a cell."""

    reason: str


@frozen
class Caution:
    """A likely mistake in a cell that a testbed can run, in one line.

    ``is_grave``: frames do not arrive, so that the values of the cell answer nothing.
    """

    text: str
    is_grave: bool = False


class Row(NamedTuple):
    """One observed value; units as in ``airtoll.observe.metrics.METRICS``."""

    metric: str
    value: float
    unit: str
    flow: str | None = None
    station: str | None = None
    second: int | None = None


class Observed(Sequence[Row]):
    """Observed values as columns: the keys that trials share, and the values of this one.

    A sequence of its :class:`Row` for those who look at few of them.
    """

    __slots__ = ("keys", "values")

    def __init__(self, keys: Keys = NO_KEYS, values: tuple[float, ...] = ()) -> None:
        self.keys = keys
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Row, ...]: ...

    def __getitem__(self, index: int | slice) -> Row | tuple[Row, ...]:
        if isinstance(index, slice):
            return tuple(map(self._row, range(len(self))[index]))
        return self._row(range(len(self))[index])

    def __iter__(self) -> Iterator[Row]:
        keys = self.keys
        table = (keys.metric, self.values, keys.unit, keys.flow, keys.station, keys.second)
        return map(Row._make, zip(*table, strict=True))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Observed):
            return self.keys == other.keys and self.values == other.values
        return isinstance(other, Sequence) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash((self.keys, self.values))

    def __repr__(self) -> str:
        return f"Observed({list(self)!r})"

    def whole(self, metric: str) -> list[Row]:
        """The rows of a metric that are of the whole trial, not of a second."""
        return list(map(self._row, self.keys.whole.get(metric, ())))

    def without(self, metrics: frozenset[str]) -> Observed:
        """The rows of other metrics."""
        if not any(metric in self.keys.whole for metric in metrics):
            return self
        keys, kept = without(self.keys, metrics)
        return Observed(keys, tuple(map(self.values.__getitem__, kept)))

    def and_rows(self, more: Sequence[Row]) -> Observed:
        """These rows, and ``more`` after them."""
        if not more:
            return self
        keys = extended(
            self.keys, tuple([(r.metric, r.flow, r.station, r.second, r.unit) for r in more])
        )
        return Observed(keys, self.values + tuple([row.value for row in more]))

    def _row(self, index: int) -> Row:
        metric, flow, station, second, unit = self.keys.one(index)
        return Row(metric, self.values[index], unit, flow, station, second)


def observed(rows: Iterable[Row]) -> Observed:
    """Rows as columns."""
    if isinstance(rows, Observed):
        return rows
    return Observed(
        *in_columns([(r.metric, r.flow, r.station, r.second, r.value, r.unit) for r in rows])
    )


@frozen
class Measured:
    """The result of a trial.

    ``failure`` is ``None`` when the policy and the traffic came about; otherwise one line that
    names the state reached. ``caveats`` say what the values must not be taken for. ``rows`` may be
    given row by row.
    """

    rows: Observed = field(default=Observed(), converter=observed)
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

    def cautions(self, cell: Cell) -> tuple[Caution, ...]:
        """Likely mistakes in a cell that the testbed can run, grave ones first."""

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


def with_whole_cell(rows: Sequence[Row]) -> Observed:
    """The rows, and the values of the whole cell that follow from them.

    These are the throughput (the sum over the flows) if it is missing, the fairness of the
    throughputs of several stations, and the retransmitted share of airtime where the ledger has
    retries and acknowledgements.
    """
    given = observed(rows)
    rates = given.whole("throughput_bps")
    return given.and_rows([*_throughput(rates), *_fairness(rates), *_retry_share(given)])


def _fairness(rates: Sequence[Row]) -> list[Row]:
    of_stations: dict[str, float] = {}
    for row in rates:
        if row.station is not None:
            of_stations[row.station] = of_stations.get(row.station, 0.0) + row.value
    if len(of_stations) < 2 or not any(of_stations.values()):
        return []
    return [Row("fairness_ratio", jain(list(of_stations.values())), "1")]


def _retry_share(given: Observed) -> list[Row]:
    places = _ledger(given.keys)
    if not places.keys() >= _NEEDED:
        return []
    spent = {metric: given.values[index] for metric, index in places.items()}
    frames = math.fsum(spent.values())
    if frames <= 0:
        return []
    return [Row("airtime_retry_share", spent["airtime_retry_s"] / frames, "1")]


@lru_cache(maxsize=128)
def _ledger(keys: Keys) -> Mapping[str, int]:
    """Where the seconds of the ledger's parts with frames are."""
    return {
        metric: index
        for index, (metric, unit) in enumerate(zip(keys.metric, keys.unit, strict=True))
        if metric.startswith("airtime_") and unit == "s" and metric not in _SILENT
    }


def _throughput(rates: Sequence[Row]) -> list[Row]:
    """The sum of the flows' throughputs where no row has that of the cell."""
    if not rates or any(row.flow is None and row.station is None for row in rates):
        return []
    return [Row("throughput_bps", math.fsum(row.value for row in rates), "bit/s")]


def observed_of(columns: Columns | AnalyticColumns) -> Observed:
    """The observed values of one trial in the columns that the native module returns."""
    keys = keys_of(
        tuple(columns["metric"]),
        tuple(columns["flow"]),
        tuple(columns["station"]),
        tuple(columns["second"]),
        tuple(columns["unit"]),
    )
    return Observed(keys, tuple(columns["value"]))


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
