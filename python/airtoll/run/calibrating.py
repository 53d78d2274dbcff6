"""Fit device profiles to readings: the cells, the numbers, and the fitted profiles.

Takes a run folder or a published data set with the study whose cells correspond to it, profiles
and the numbers to fit; gives a :class:`Calibration` and the texts of profile files whose fitted
numbers name the readings of the fit. Runs the testbed for its predictions; never touches the
readings, and never fits a cell that it then predicts.

An overhead is fitted as the ratio of the secured throughput to that of the baseline, so that its
relative residuals are points of overhead; predictions are overheads again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from attrs import Factory, evolve, frozen

from airtoll.analyse.calibration import (
    Calibration,
    Observed,
    Parameter,
    Prediction,
    calibrate,
)
from airtoll.analyse.estimate import Estimate
from airtoll.errors import ProfileError, UsageError
from airtoll.observe.datasets import load_dataset
from airtoll.observe.metrics import METRICS
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
    """Outcome: the calibration, the texts of the new profiles by name and the cells' readings.

    ``metric``: what was fitted; predictions of ``overhead`` are shares of one.
    """

    calibration: Calibration
    profile_texts: Mapping[str, str]
    seen: tuple[Mapping[str, str], ...]
    metric: str

    @property
    def profile_text(self) -> str:
        """The text of the first profile."""
        return next(iter(self.profile_texts.values()))


@frozen
class _Source:
    """Readings by cell, and their name in the profile."""

    cells: dict[str, Cell]
    readings: dict[str, tuple[float, ...]]
    names: dict[str, dict[str, str]]
    unit: str
    baseline: str
    overhead: str
    #: Flow and station whose rows are read, by cell; absent: those of the whole cell.
    ends: Mapping[str, tuple[str | None, str | None]] = Factory(dict)


@frozen
class _Place:
    """A number of a profile to fit; ``name``: as the caller wrote it."""

    name: str
    profile: str
    place: str


def fit_profile(  # noqa: PLR0913 - keywords of the library
    subject: str,
    profile: str | Sequence[str],
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
    """Fit ``parameters`` of profiles to the cells whose policy is in ``see``; predict the rest.

    Cells of the scenarios ``hold_out`` are predicted under every policy. ``subject``: a run
    folder, or a data set (then ``study`` names the study whose ``[[compare]]`` tables map cells to
    readings). ``parameters``: dotted places of a profile, such as ``host.tx_packet_cycles`` or
    ``cipher.tkip.frame_cycles``; with several profiles ``PROFILE:PLACE``. ``metric``: of the
    readings, or ``overhead``: throughputs against the study's baseline.
    """
    profiles = [profile] if isinstance(profile, str) else list(dict.fromkeys(profile))
    bases = {name: load_profile(name) for name in profiles}
    places = [_place(name, profiles) for name in parameters]
    for place in places:
        if bases[place.profile].clock_hz.value == 0 and place.place.endswith("cycles"):
            raise UsageError(
                f"profile {place.profile!r} has no clock, so cycles have no duration: fit another "
                "profile"
            )
    read = "throughput_bps" if metric == "overhead" else metric
    source = (
        _of_run(subject, read)
        if (Path(subject) / "run.json").is_file()
        else _of_dataset(subject, study, read)
    )
    policies = {resolve(name).name for name in see}
    chosen = {
        name: cell
        for name, cell in source.cells.items()
        if (scenario is None or cell.scenario == scenario)
        and any(_uses(cell, name) for name in profiles)
    }
    for name in profiles:
        if not any(_uses(cell, name) for cell in chosen.values()):
            raise UsageError(
                f"{subject}: no cell of it uses profile {name!r}"
                + (f" in scenario {scenario!r}" if scenario else "")
            )
    unknown = sorted(set(hold_out) - {cell.scenario for cell in chosen.values()})
    if unknown:
        known = ", ".join(sorted({cell.scenario for cell in chosen.values()}))
        raise UsageError(f"{subject}: no scenario {unknown[0]!r} to hold out; known: {known}")
    bases_of = _baselines(source, chosen) if metric == "overhead" else {}
    observed: list[Observed] = []
    unseen: list[Observed] = []
    for name, cell in chosen.items():
        if metric == "overhead":
            if name not in bases_of:
                continue
            free = source.readings[bases_of[name]]
            reading = Observed(name, _ratios(source.readings[name], free), "1")
        else:
            reading = Observed(name, source.readings[name], source.unit)
        fits = cell.policy in policies and cell.scenario not in hold_out
        (observed if fits else unseen).append(reading)
    if metric == "overhead" and not observed:
        raise UsageError("--see: name a policy other than the baseline, to whose cells to fit")
    quantities = [_parameter(bases[p.profile], p) for p in places]
    bed = testbed or make(on)
    try:
        with tempfile.TemporaryDirectory(prefix="airtoll-calibrate-") as scratch:
            predictor = _Predictor(
                bed, source, bases, places, read, trials, seed, Path(scratch), bases_of
            )
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
    wanted = [cell.cell for cell in observed]
    wanted += [bases_of[name] for name in wanted if name in bases_of]
    seen = _unique([{**source.names[name], "quantity": metric} for name in wanted])
    texts = {}
    for name, base in bases.items():
        own = {p.place: outcome.parameters[p.name] for p in places if p.profile == name}
        if own:
            values = {place: estimate.value for place, estimate in own.items()}
            texts[name] = profile_text(name, base, values, seen, own, subject)
    if metric == "overhead":
        kept = tuple(_as_overhead(p, source.overhead) for p in outcome.predictions)
        outcome = evolve(outcome, predictions=kept)
    return Fitted(outcome, texts, tuple(seen), metric)


def _place(name: str, profiles: Sequence[str]) -> _Place:
    profile, colon, place = name.rpartition(":")
    if not colon and len(profiles) > 1:
        raise UsageError(f"--parameter {name}: say of which profile: {profiles[0]}:{name}")
    if colon and profile not in profiles:
        raise UsageError(f"--parameter {name}: name {profile} with --fit, too")
    return _Place(name, profile or profiles[0], place)


def _baselines(source: _Source, chosen: Mapping[str, Cell]) -> dict[str, str]:
    """The cell of the baseline, by secured cell of the same place that has one with readings."""
    same = {
        (cell.scenario, cell.traffic, cell.factors): name
        for name, cell in source.cells.items()
        if cell.policy == source.baseline
    }
    found = {
        name: same[cell.scenario, cell.traffic, cell.factors]
        for name, cell in chosen.items()
        if cell.policy != source.baseline and (cell.scenario, cell.traffic, cell.factors) in same
    }
    if not found:
        raise UsageError(f"overhead: no cell has a reading of its baseline, {source.baseline}")
    return found


def _ratios(secured: Sequence[float], free: Sequence[float]) -> tuple[float, ...]:
    """Ratios of means, with the spread of both: trials in their order where both have as many."""
    if len(secured) == len(free):
        return tuple(s / f for s, f in zip(secured, free, strict=True))
    mean = float(np.mean(free))
    return tuple(s / mean for s in secured)


def _as_overhead(p: Prediction, definition: str) -> Prediction:
    def of(ratio: float) -> float:
        return 1 / ratio - 1 if definition == "of_secured" else 1 - ratio

    e = p.predicted
    # An overhead falls as the ratio rises.
    predicted = evolve(e, value=of(e.value), low=of(e.high), high=of(e.low))
    return evolve(p, predicted=predicted, observed=of(p.observed))


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
    """Means of cells under parameter values, as a function for ``calibrate``.

    A cell in ``bases_of`` is asked for the ratio to that baseline.
    """

    def __init__(
        self,
        bed: Testbed,
        source: _Source,
        profiles: Mapping[str, Profile],
        places: Sequence[_Place],
        metric: str,
        trials: int,
        seed: int,
        scratch: Path,
        bases_of: Mapping[str, str],
    ) -> None:
        self._bed, self._source, self._profiles = bed, source, profiles
        self._places, self._bases_of = places, bases_of
        self._metric, self._trials, self._seed, self._scratch = metric, trials, seed, scratch
        self._known: dict[tuple[tuple[float, ...], str], float] = {}
        self._sets = 0

    def __call__(self, values: Mapping[str, float], cells: Sequence[str]) -> list[float]:
        key = tuple(round(value, 9) for value in values.values())
        wanted = dict.fromkeys((*cells, *(self._bases_of[c] for c in cells if c in self._bases_of)))
        missing = [cell for cell in wanted if (key, cell) not in self._known]
        if missing:
            files = self._files(values)
            for cell in missing:
                self._known[key, cell] = self._measure(cell, files)
        found = []
        for cell in cells:
            value = self._known[key, cell]
            base = self._bases_of.get(cell)
            found.append(value / self._known[key, base] if base else value)
        return found

    def _files(self, values: Mapping[str, float]) -> dict[str, str]:
        """A file of every profile with the values, by the profile's name."""
        self._sets += 1
        files = {}
        for number, (name, base) in enumerate(self._profiles.items()):
            own = {p.place: values[p.name] for p in self._places if p.profile == name}
            if own:
                file = self._scratch / f"trial-{self._sets}-{number}.toml"
                file.write_text(profile_text(name, base, own, [{"dataset": "trial"}]), "utf-8")
                files[name] = str(file)
        return files

    def _measure(self, name: str, files: Mapping[str, str]) -> float:
        cell = self._source.cells[name]
        end = self._source.ends.get(name, (None, None))
        # A profile may stand in for another one, as a set of profiles says.
        names = {name: files.get(own, own) for name, own in cell.profile_names}
        moved = evolve(cell, profile_names=tuple({**files, **names}.items()))
        found = []
        for trial in _trials(moved, self._trials, self._seed):
            measured = self._bed.measure(trial)
            if measured.failure:
                raise UsageError(f"{cell.name}: {self._bed.name} failed: {measured.failure}")
            found += [
                row.value
                for row in measured.rows
                if row.metric == self._metric
                and (row.flow, row.station) == end
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
    study = plan.study.study
    return _Source(
        {n: cells[n] for n in readings}, readings, names, unit, study.baseline, study.overhead
    )


def _of_dataset(name: str, study: str | None, metric: str) -> _Source:
    dataset = load_dataset(name)
    if study is None:
        raise UsageError(f"{name}: say which study's cells answer to it: --study NAME")
    file: StudyFile = load(study)
    plan = make_plan(file.study)
    theirs = {ours: printed for printed, ours in dataset.meta.get("metrics", {}).items()}
    if metric not in METRICS:
        raise UsageError(f"--metric {metric}: there is no such metric; overhead is another target")
    # A study without printed trials has printed means.
    counts = (pl.col("kind") == "trial") | (pl.col("statistic") == "mean")
    figures = dataset.figures.filter(counts & (pl.col("metric") == theirs.get(metric, metric)))
    cells: dict[str, Cell] = {}
    readings: dict[str, tuple[float, ...]] = {}
    names: dict[str, dict[str, str]] = {}
    ends: dict[str, tuple[str | None, str | None]] = {}
    for entry in file.study.compare:
        if (entry.dataset, entry.metric, entry.statistic) != (name, metric, "mean"):
            continue
        rows = figures
        for column, value in entry.readings.items():
            rows = rows.filter(pl.col(column) == str(value))
        for cell in plan.cells:
            wanted = {"scenario": cell.scenario, "traffic": cell.traffic, **dict(cell.factors)}
            places = {k: v for k, v in entry.cells.items() if k not in ("flow", "station")}
            end = (entry.cells.get("flow"), entry.cells.get("station"))
            if any(str(wanted.get(key)) != str(value) for key, value in places.items()):
                continue
            # Throughput is fitted by the whole cell: its flows are no readings of their own.
            if entry.instrument or (any(end) and metric == "throughput_bps"):
                continue
            own = rows.filter(policy=cell.policy)
            if own.is_empty():
                continue
            trials = own.filter(kind="trial")
            own = own if trials.is_empty() else trials
            first = own.row(0, named=True)
            cells[cell.name] = cell
            if any(end):
                ends[cell.name] = (str(end[0]) if end[0] else None, str(end[1]) if end[1] else None)
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
    unit = METRICS[metric].unit
    head = file.study.study
    return _Source(cells, readings, names, unit, head.baseline, head.overhead, ends)


def _uses(cell: Cell, profile: str) -> bool:
    names = [s.profile for s in cell.settings.stations]
    names += [cell.settings.ap.profile, cell.settings.server.profile]
    return any(cell.profile(name) == profile for name in names)


def _parameter(base: Profile, wanted: _Place) -> Parameter:
    numbers, place = base.numbers(), wanted.place
    parts = place.split(".")
    host = {f"host.{name}" for name in type(base.host).model_fields}
    cipher = len(parts) == 3 and parts[0] == "cipher"
    costs = ("frame_cycles", "octet_cycles", "frame_us", "octet_ns")
    card = place.startswith("card.") and place in numbers
    if place not in host and not card and not (cipher and parts[2] in costs):
        raise ProfileError(
            f"{place}: cannot be fitted; allowed are {', '.join(sorted(host))}, "
            "cipher.NAME.frame_cycles, octet_cycles, frame_us or octet_ns, and the numbers of a "
            "network card that the profile has"
        )
    known = numbers.get(place)
    kind = "octet_cycles" if "octet_cycles" in place else place.rpartition("_")[2]
    start = known.value if known is not None and known.value > 0 else _START[kind]
    unit = {"us": "us", "ns": "ns"}.get(kind, "cycle")
    return Parameter(wanted.name, start, unit=unit)


def _unique(readings: Sequence[Mapping[str, str]]) -> list[Mapping[str, str]]:
    return [dict(items) for items in dict.fromkeys(tuple(r.items()) for r in readings)]


def _quoted(table: str) -> str:
    return ".".join(
        part if part.replace("_", "").isalnum() else f'"{part}"' for part in table.split(".")
    )
