"""Fit a device profile to readings: the cells, the numbers, and the fitted profile.

Takes a run folder or a published data set with the study whose cells correspond to it, a profile
and the numbers to fit; gives a :class:`Calibration` and the text of a profile file whose fitted
numbers name the readings of the fit. Runs the testbed for its predictions; never touches the
readings, and never fits a cell that it then predicts.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from attrs import evolve, frozen

from airtoll.analyse.calibration import Calibration, Observed, Parameter, calibrate
from airtoll.analyse.estimate import Estimate
from airtoll.errors import ProfileError, UsageError
from airtoll.observe.datasets import load_dataset
from airtoll.observe.tables import counted
from airtoll.plan import Cell, Trial, make_plan
from airtoll.policies import resolve
from airtoll.profiles import Profile
from airtoll.profiles import load as load_profile
from airtoll.run.api import open_run
from airtoll.study import StudyFile, load
from airtoll.testbeds.contract import Testbed
from airtoll.testbeds.registry import make

#: Start value of a cost that the profile lacks: cycles per frame or octet that affect a CPU of its
#: time. It is only the start of the fit, never its result.
_START = {"cycles": 5000.0, "octet_cycles": 5.0, "us": 10.0, "ns": 5.0}


@frozen
class Fitted:
    """Outcome: the calibration, the new profile's text and the cells' readings."""

    calibration: Calibration
    profile_text: str
    seen: tuple[Mapping[str, str], ...]


@frozen
class _Source:
    """Readings by cell, and their name in the profile."""

    cells: dict[str, Cell]
    readings: dict[str, tuple[float, ...]]
    names: dict[str, dict[str, str]]
    unit: str


def fit_profile(
    subject: str,
    profile: str,
    parameters: Sequence[str],
    see: Sequence[str],
    *,
    study: str | None = None,
    scenario: str | None = None,
    metric: str = "throughput_bps",
    on: str = "simulator",
    testbed: Testbed | None = None,
    trials: int = 3,
    seed: int = 1,
    level: float = 0.95,
    generations: int = 20,
    hold_out: Sequence[str] = (),
) -> Fitted:
    """Fit ``parameters`` of ``profile`` to the cells whose policy is in ``see``; predict the rest.

    Cells of the scenarios ``hold_out`` are predicted under every policy. ``subject``: a run
    folder, or a data set (then ``study`` names the study whose ``[[compare]]`` tables map cells to
    readings). ``parameters``: dotted places of a profile, such as ``host.tx_packet_cycles`` or
    ``cipher.tkip.frame_cycles``.
    """
    base = load_profile(profile)
    if base.clock_hz.value == 0 and any(place.endswith("cycles") for place in parameters):
        raise UsageError(
            f"profile {profile!r} has no clock, so cycles have no duration: fit another profile"
        )
    source = (
        _of_run(subject, metric)
        if (Path(subject) / "run.json").is_file()
        else _of_dataset(subject, study, metric)
    )
    policies = {resolve(name).name for name in see}
    chosen = {
        name: cell
        for name, cell in source.cells.items()
        if (scenario is None or cell.scenario == scenario) and _uses(cell, profile)
    }
    if not chosen:
        raise UsageError(
            f"{subject}: no cell of it uses profile {profile!r}"
            + (f" in scenario {scenario!r}" if scenario else "")
        )
    unknown = sorted(set(hold_out) - {cell.scenario for cell in chosen.values()})
    if unknown:
        known = ", ".join(sorted({cell.scenario for cell in chosen.values()}))
        raise UsageError(f"{subject}: no scenario {unknown[0]!r} to hold out; known: {known}")
    observed: list[Observed] = []
    unseen: list[Observed] = []
    for name, cell in chosen.items():
        fits = cell.policy in policies and cell.scenario not in hold_out
        (observed if fits else unseen).append(Observed(name, source.readings[name], source.unit))
    quantities = [_parameter(base, place) for place in parameters]
    bed = testbed or make(on)
    try:
        with tempfile.TemporaryDirectory(prefix="airtoll-calibrate-") as scratch:
            predictor = _Predictor(bed, chosen, profile, base, metric, trials, seed, Path(scratch))
            outcome = calibrate(
                observed,
                unseen,
                quantities,
                predictor,
                np.random.default_rng(seed),
                level=level,
                generations=generations,
            )
    finally:
        bed.close()
    seen = _unique([source.names[cell.cell] for cell in observed])
    text = profile_text(
        profile,
        base,
        {q.name: outcome.parameters[q.name].value for q in quantities},
        seen,
        outcome.parameters,
        subject,
    )
    return Fitted(outcome, text, tuple(seen))


def profile_text(
    name: str,
    base: Profile,
    values: Mapping[str, float],
    seen: Sequence[Mapping[str, str]],
    estimates: Mapping[str, Estimate] | None = None,
    subject: str = "a trial value",
) -> str:
    """A profile file with base ``name`` and the fitted numbers with their source."""
    lines = [f'base = "{name}"', f'about = "{base.about}; fitted to {subject}"']
    tables: dict[str, list[str]] = {}
    for place, value in values.items():
        table, _, key = place.rpartition(".")
        source = f"fitted by least squares to {subject}"
        if estimates is not None:
            e = estimates[place]
            source += f"; {100 * e.level:g} % interval {e.low:.6g} to {e.high:.6g}"
        tables.setdefault(table, []).append(
            f'{key} = {{ value = {value!r}, source = "{source}", fitted = true }}'
        )
    for table, entries in tables.items():
        lines.append(f"\n[{_quoted(table)}]" if table else "")
        cipher = table.removeprefix("cipher.")
        if table.startswith("cipher.") and cipher not in base.cipher:
            lines.append('engine = "cpu"')
        lines += entries
    for reading in seen:
        lines.append("\n[[seen]]")
        lines += [f'{key} = "{value}"' for key, value in reading.items() if value]
    return "\n".join(lines) + "\n"


class _Predictor:
    """Means of cells under parameter values, as a function for ``calibrate``."""

    def __init__(
        self,
        bed: Testbed,
        cells: Mapping[str, Cell],
        name: str,
        base: Profile,
        metric: str,
        trials: int,
        seed: int,
        scratch: Path,
    ) -> None:
        self._bed, self._cells, self._name, self._base = bed, cells, name, base
        self._metric, self._trials, self._seed, self._scratch = metric, trials, seed, scratch
        self._known: dict[tuple[tuple[float, ...], str], float] = {}
        self._files = 0

    def __call__(self, values: Mapping[str, float], cells: Sequence[str]) -> list[float]:
        key = tuple(round(value, 9) for value in values.values())
        missing = [cell for cell in cells if (key, cell) not in self._known]
        if missing:
            self._files += 1
            file = self._scratch / f"trial-{self._files}.toml"
            file.write_text(
                profile_text(self._name, self._base, values, [{"dataset": "trial"}]), "utf-8"
            )
            for cell in missing:
                self._known[key, cell] = self._measure(self._cells[cell], file)
        return [self._known[key, cell] for cell in cells]

    def _measure(self, cell: Cell, file: Path) -> float:
        names = {**dict(cell.profile_names), self._name: str(file)}
        moved = evolve(cell, profile_names=tuple(names.items()))
        found = []
        for trial in _trials(moved, self._trials, self._seed):
            measured = self._bed.measure(trial)
            if measured.failure:
                raise UsageError(f"{cell.name}: {self._bed.name} failed: {measured.failure}")
            found += [
                row.value
                for row in measured.rows
                if row.metric == self._metric
                and row.flow is None
                and row.station is None
                and row.second is None
            ]
        if not found:
            raise UsageError(f"{cell.name}: {self._bed.name} gives no {self._metric}")
        return float(np.mean(found))


def _trials(cell: Cell, trials: int, seed: int) -> list[Trial]:
    """Some trials of one cell, with seeds that do not depend on the profile."""
    return [Trial(cell, number, 1, seed * 1_000_003 + number) for number in range(1, trials + 1)]


def _of_run(folder: str, metric: str) -> _Source:
    run = open_run(Path(folder))
    plan = run.folder.plan()
    rows = counted(run.observations(), run.trials()).filter(
        (pl.col("metric") == metric)
        & pl.col("flow").is_null()
        & pl.col("station").is_null()
        & pl.col("second").is_null()
    )
    cells = {cell.name: cell for cell in plan.cells}
    readings = {
        str(name): tuple(group["value"].to_list())
        for (name,), group in rows.group_by(["cell"], maintain_order=True)
    }
    names = {
        name: {
            "dataset": Path(folder).name,
            "configuration": cells[name].scenario,
            "security": cells[name].policy,
            "transport": cells[name].load.transport.upper(),
        }
        for name in readings
    }
    unit = str(rows["unit"][0]) if rows.height else "1"
    return _Source({n: cells[n] for n in readings}, readings, names, unit)


def _of_dataset(name: str, study: str | None, metric: str) -> _Source:
    dataset = load_dataset(name)
    if study is None:
        raise UsageError(f"{name}: say which study's cells answer to it: --study NAME")
    file: StudyFile = load(study)
    plan = make_plan(file.study)
    theirs = {ours: printed for printed, ours in dataset.meta.get("metrics", {}).items()}
    # A study without printed trials has printed means.
    counts = (pl.col("kind") == "trial") | (pl.col("statistic") == "mean")
    figures = dataset.figures.filter(counts & (pl.col("metric") == theirs.get(metric, metric)))
    cells: dict[str, Cell] = {}
    readings: dict[str, tuple[float, ...]] = {}
    names: dict[str, dict[str, str]] = {}
    for entry in file.study.compare:
        if (entry.dataset, entry.metric, entry.statistic) != (name, metric, "mean"):
            continue
        rows = figures
        for column, value in entry.readings.items():
            rows = rows.filter(pl.col(column) == str(value))
        for cell in plan.cells:
            wanted = {"scenario": cell.scenario, "traffic": cell.traffic, **dict(cell.factors)}
            if any(str(wanted.get(key)) != str(value) for key, value in entry.cells.items()):
                continue
            own = rows.filter(policy=cell.policy)
            if own.is_empty():
                continue
            trials = own.filter(kind="trial")
            own = own if trials.is_empty() else trials
            first = own.row(0, named=True)
            cells[cell.name] = cell
            readings[cell.name] = tuple(own["si"].to_list())
            names[cell.name] = {
                "dataset": name,
                "table": first["table"],
                "configuration": first["configuration"],
                "security": first["security"],
                "transport": first["transport"],
            }
    if not cells:
        raise UsageError(f"{study}: no [[compare]] table of it answers to {name}")
    return _Source(cells, readings, names, "bit/s" if metric == "throughput_bps" else "1")


def _uses(cell: Cell, profile: str) -> bool:
    names = [s.profile for s in cell.settings.stations]
    names += [cell.settings.ap.profile, cell.settings.server.profile]
    return any(cell.profile(name) == profile for name in names)


def _parameter(base: Profile, place: str) -> Parameter:
    numbers = base.numbers()
    parts = place.split(".")
    host = {f"host.{name}" for name in type(base.host).model_fields}
    cipher = len(parts) == 3 and parts[0] == "cipher"
    costs = ("frame_cycles", "octet_cycles", "frame_us", "octet_ns")
    if place not in host and not (cipher and parts[2] in costs):
        raise ProfileError(
            f"{place}: cannot be fitted; allowed are {', '.join(sorted(host))} and "
            "cipher.NAME.frame_cycles, octet_cycles, frame_us or octet_ns"
        )
    known = numbers.get(place)
    kind = "octet_cycles" if "octet_cycles" in place else place.rpartition("_")[2]
    start = known.value if known is not None and known.value > 0 else _START[kind]
    unit = {"us": "us", "ns": "ns"}.get(kind, "cycle")
    return Parameter(place, start, unit=unit)


def _unique(readings: Sequence[Mapping[str, str]]) -> list[Mapping[str, str]]:
    return [dict(items) for items in dict.fromkeys(tuple(r.items()) for r in readings)]


def _quoted(table: str) -> str:
    return ".".join(
        part if part.replace("_", "").isalnum() else f'"{part}"' for part in table.split(".")
    )
