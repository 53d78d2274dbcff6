"""A station's host from one measurement: what it adds to the air, and other policies with it.

Takes a cell of a study (one station, one flow) under the policy of the measurement and the
throughput that was measured there; gives the time that the station's host spends on each packet,
and predictions under other policies. The measurement is the one reading of the fit.

Where the measured throughput is close to that of the air, the difference says nothing of the host
(losses, rate control, the other end): predictions then keep its share. Further below, the host is
the limit: the simulator gives it the time per packet, sent or received, with which the measured
policy has the measured throughput.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal

from attrs import evolve, frozen

from airtoll.errors import DatasetError, UsageError
from airtoll.observe.imports.files import Place, import_files
from airtoll.plan import Cell, Trial, make_plan
from airtoll.policies import resolve
from airtoll.profiles import load
from airtoll.study import StudyFile
from airtoll.testbeds.contract import Testbed
from airtoll.testbeds.simulator import Simulator

#: A measured throughput above this share of the air's is that of the air.
AIR_FROM: Final = 0.85
#: A throughput above this share of the air's is that of another network than the scenario's.
_TOO_MUCH: Final = 1.1
#: A throughput above this share of iperf3's target is the target.
_AT_TARGET: Final = 0.97
#: The wire of a scenario that states none, Mb/s: it is no part of the question.
_WIRE_MBPS: Final = 1000
#: Relative distance to the measured throughput at which the search ends.
_CLOSE: Final = 0.003
_STEPS: Final = 40
#: The clock of a profile that has none.
_NANOSECOND: Final = '{ value = 1e9, source = "by definition: a cycle is a nanosecond" }'
_TRIALS: Final = 3

Limit = Literal["air", "host"]


@frozen
class HostLimit:
    """A station's host by one measurement.

    ``packet_s``: time of each packet in the host, sent or received; 0 where the air is the limit.
    ``share``: measured throughput over that of the simulated air alone.
    """

    limit: Limit
    packet_s: float
    share: float
    measured_bps: float
    air_bps: float


@frozen
class PolicyPrediction:
    """Throughput of a policy on the measured device, and on the air alone; ``why``: no value."""

    policy: str
    predicted_bps: float
    air_bps: float
    why: str | None = None


def host_limit(cell: Cell, measured_bps: float, testbed: Testbed | None = None) -> HostLimit:
    """The host of a cell's station by the throughput that was measured.

    Raises UsageError where the cell has no single station and flow, or cannot be simulated.
    """
    if not math.isfinite(measured_bps) or measured_bps <= 0:
        raise UsageError("the measured throughput must be a number above zero")
    if len(cell.settings.stations) != 1 or (cell.settings.clients or 1) != 1:
        raise UsageError(f"scenario {cell.scenario}: one measurement needs one station")
    bed = testbed or Simulator()
    air = throughput_bps(cell, bed)
    share = measured_bps / air
    if share > _TOO_MUCH:
        raise UsageError(
            f"{measured_bps / 1e6:.4g} Mb/s were measured, and scenario {cell.scenario} carries "
            f"{air / 1e6:.4g}: name a scenario with the PHY of that network"
        )
    if share >= AIR_FROM:
        return HostLimit("air", 0.0, share, measured_bps, air)
    low, high = 0.0, 8 * 1500 / measured_bps
    while _with_host(cell, high, bed) > measured_bps:
        low, high = high, 2 * high
    for _ in range(_STEPS):
        middle = (low + high) / 2
        found = _with_host(cell, middle, bed)
        if abs(found / measured_bps - 1) <= _CLOSE:
            break
        low, high = (middle, high) if found > measured_bps else (low, middle)
    return HostLimit("host", middle, share, measured_bps, air)


def predict(
    cell: Cell, limit: HostLimit, policies: Sequence[str], testbed: Testbed | None = None
) -> list[PolicyPrediction]:
    """Throughput under other policies on the measured device."""
    bed = testbed or Simulator()
    found = []
    for name in policies:
        moved = evolve(cell, policy=resolve(name).name)
        skip = bed.check(moved)
        if skip is not None:
            found.append(PolicyPrediction(name, math.nan, math.nan, skip.reason))
            continue
        air = throughput_bps(moved, bed)
        if limit.limit == "air":
            value = limit.share * air
        else:
            value = _with_host(moved, limit.packet_s, bed)
        found.append(PolicyPrediction(moved.policy, value, air))
    return found


def throughput_bps(cell: Cell, testbed: Testbed) -> float:
    """Mean throughput of a cell over a few trials. Raises UsageError where it cannot be had."""
    skip = testbed.check(cell)
    if skip is not None:
        raise UsageError(f"{cell.name}: {skip.reason}")
    values = []
    for number in range(1, _TRIALS + 1):
        measured = testbed.measure(Trial(cell=cell, number=number, attempt=1, seed=number))
        if measured.failure:
            raise UsageError(f"{cell.name}: {testbed.name} failed: {measured.failure}")
        values += [
            row.value
            for row in measured.rows
            if row.metric == "throughput_bps"
            and (row.flow, row.station, row.second) == (None, None, None)
        ]
    return sum(values) / len(values)


def _with_host(cell: Cell, packet_s: float, testbed: Testbed) -> float:
    with _profile(cell, packet_s) as moved:
        return throughput_bps(moved, testbed)


@contextmanager
def _profile(cell: Cell, packet_s: float) -> Iterator[Cell]:
    """The cell whose station has a host that takes this time for each packet."""
    (station,) = cell.settings.stations
    with tempfile.TemporaryDirectory(prefix="airtoll-host-") as folder:
        place = Path(folder) / "measured.toml"
        place.write_text(profile_text(cell, packet_s, "a trial value"), "utf-8")
        moved = station.model_copy(update={"profile": str(place)})
        yield evolve(cell, settings=cell.settings.model_copy(update={"stations": (moved,)}))


def profile_text(cell: Cell, packet_s: float, subject: str) -> str:
    """A profile file of the measured host, on top of the profile of the cell's station."""
    (station,) = cell.settings.stations
    base = cell.profile(station.profile)
    known = load(base).clock_hz.value
    clock = "" if known else f"clock_hz = {_NANOSECOND}\n"
    source = json.dumps(f"time of a packet in the host, fitted to {subject}")
    number = f"{{ value = {packet_s * (known or 1e9):.1f}, fitted = true, source = {source} }}"
    return (
        f"base = {json.dumps(base)}\n"
        f"about = {json.dumps(f'{base} with a host that was fitted to {subject}')}\n"
        f"{clock}\n[host]\ntx_packet_cycles = {number}\nrx_packet_cycles = {number}\n\n"
        f"[[seen]]\ndataset = {json.dumps(subject)}\n"
    )


@frozen
class Measurement:
    """One iperf3 result: throughput, transport, and whether the station sent or received."""

    throughput_bps: float
    transport: str
    direction: str


def read_iperf3(path: Path) -> Measurement:
    """The measurement in the output of ``iperf3 --json`` that ran on the station.

    With ``-R`` the station received. Raises DatasetError for several tests, both directions at
    once, or a file that is none of iperf3's.
    """
    frame = import_files([path], "iperf3", Place())
    rows = [
        row
        for row in frame.iter_rows(named=True)
        if row["metric"] == "throughput_bps" and row["second"] is None
    ]
    if len(rows) != 1:
        raise DatasetError(f"{path}: give one iperf3 test of one direction, not {len(rows)} flows")
    (row,) = rows
    try:
        data: Any = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise DatasetError(f"{path}: not readable as the JSON of one test: {error}") from error
    test = data["start"]["test_start"]
    target = float(test.get("target_bitrate", 0))
    if target and row["value"] > _AT_TARGET * target:
        raise DatasetError(
            f"{path}: it ran at its target of {target / 1e6:g} Mb/s, which says nothing of the "
            "limit; measure with iperf3 -b 0"
        )
    return Measurement(row["value"], row["traffic"], "down" if test.get("reverse") == 1 else "up")


def cell_of(file: StudyFile, scenario: str | None, policy: str, transport: str, way: str) -> Cell:
    """The cell of a study that answers to a measurement: saturated, one way.

    Raises UsageError for a scenario that the study does not have.
    """
    study = file.study
    names = list(study.scenario)
    name = scenario or names[0]
    if name not in study.scenario:
        raise UsageError(f"{study.study.name} has no scenario {name!r}; it has {', '.join(names)}")
    load = {"transport": transport, "direction": way, "duration_s": 1.0}
    data = study.model_dump(mode="python", exclude_unset=True)
    data |= {
        "scenario": {name: data["scenario"][name]},
        "traffic": {"measured": load},
        "grid": {"scenario": [name], "traffic": ["measured"], "policy": [policy]},
    }
    data["scenario"][name].setdefault("wired", {"rate_mbps": _WIRE_MBPS})
    for key in ("compare", "exclude"):
        data.pop(key, None)
    data["study"] = {**data["study"], "baseline": policy}
    (cell,) = make_plan(type(study).model_validate(data)).cells
    return cell
