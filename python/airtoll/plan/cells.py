"""Cells and trials of a study's grid, in order, with their seeds.

A checked study becomes frozen cells and an ordered stream of trials. A seed depends on the study's
seed, the cell's name, the trial and the attempt alone, so that neither the order nor the number of
workers changes a result. With common random numbers the name leaves the policy out: trials of equal
number draw the same numbers under every policy.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import random
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, TypeVar, cast

from attrs import define, field, frozen

from airtoll.errors import StudyError
from airtoll.policies import Policy, resolve
from airtoll.study import Level, Scenario, Study, Traffic, with_level

DEFAULT_SEED = 1
#: Most trials of a run. More take hours and gigabytes.
MOST_TRIALS = 500_000

_Table = TypeVar("_Table", Scenario, Traffic)
_AXES = ("scenario", "policy", "traffic")


# Every answer about a cell is looked up by it, and a hash of its tables takes a millisecond.
@define(frozen=True, slots=False, cache_hash=True)
class Cell:
    """One (scenario, policy, traffic) with its factor levels.

    ``settings`` and ``load`` are the scenario and traffic with the factor levels applied.
    ``profile_names`` substitutes device profiles by name (the level of ``profile_set``);
    ``profile_label`` is the label of that level.
    """

    scenario: str
    policy: str
    traffic: str
    factors: tuple[tuple[str, Level], ...]
    settings: Scenario
    load: Traffic
    profile_names: tuple[tuple[str, str], ...] = ()
    profile_label: str = ""

    @cached_property
    def name(self) -> str:
        """Canonical name: ``scenario/policy/traffic`` and ``?key=value;...`` with factors."""
        tail = ";".join(f"{key}={_text(value)}" for key, value in self.factors)
        return f"{self.scenario}/{self.policy}/{self.traffic}" + (f"?{tail}" if tail else "")

    @cached_property
    def place(self) -> str:
        """The name without the policy: what a secured cell and its baseline share."""
        tail = ";".join(f"{key}={_text(value)}" for key, value in self.factors)
        return f"{self.scenario}/{self.traffic}" + (f"?{tail}" if tail else "")

    @cached_property
    def factors_json(self) -> str:
        """The factor levels as a canonical JSON object."""
        return json.dumps(dict(self.factors), sort_keys=True, separators=(",", ":"))

    @property
    def security(self) -> Policy:
        """The policy itself."""
        return resolve(self.policy)

    def profile(self, name: str | None) -> str:
        """The device profile that replaces a profile name in this cell."""
        wanted = name or "ideal"
        return dict(self.profile_names).get(wanted, wanted)


@frozen
class Trial:
    """One repetition of a cell: ``number`` and ``attempt`` count from 1; 0 marks a warm-up."""

    cell: Cell
    number: int
    attempt: int
    seed: int
    warm_up: bool = False
    #: Whether its control variate is recorded.
    control: bool = False

    @property
    def key(self) -> tuple[str, int, int]:
        """The identity of this attempt in a run."""
        return (self.cell.name, self.number, self.attempt)


@frozen
class Plan:
    """The cells of a study and their trials.

    ``repetitions``: trials of every cell; ``further``: cell -> trials, of the cells that have more.
    """

    study: Study
    seed: int
    repetitions: int
    cells: tuple[Cell, ...] = field(repr=False)
    further: Mapping[str, int] = field(factory=dict, repr=False)

    def trials_of(self, cell: str) -> int:
        """Trials of a cell, by its name."""
        return self.further.get(cell, self.repetitions)

    @property
    def repetitions_words(self) -> str:
        """Trials per cell: ``20``, or ``10 to 40`` where some have more."""
        counts = [self.trials_of(cell.name) for cell in self.cells]
        least, most = min(counts), max(counts)
        return f"{least}" if least == most else f"{least} to {most}"

    def trials(self) -> Iterator[Trial]:
        """The planned trials (first attempts) in the study's order, warm-ups first per cell."""
        settings = self.study.trials
        last = {cell.name: self.trials_of(cell.name) for cell in self.cells}
        numbers = range(1 - settings.discard_first, max(last.values()) + 1)
        if settings.order == "sequential":
            pairs: Iterator[tuple[int, Cell]] = (
                (number, cell)
                for cell in self.cells
                for number in numbers
                if number <= last[cell.name]
            )
        else:
            pairs = (
                (number, cell)
                for number in numbers
                for cell in self.cells
                if number <= last[cell.name]
            )
        if settings.order == "random":
            shuffled = list(pairs)
            random.Random(self.seed).shuffle(shuffled)
            pairs = iter(shuffled)
        for number, cell in pairs:
            yield self.trial(cell, number, 1)

    def trial(self, cell: Cell, number: int, attempt: int) -> Trial:
        """One attempt of one trial, with its seed."""
        common = self.study.trials.pairing == "common"
        name = cell.place if common else cell.name
        return Trial(
            cell,
            number,
            attempt,
            trial_seed(self.seed, name, number, attempt),
            warm_up=number < 1,
            control=self.study.trials.control == "backoff",
        )


def make_plan(
    study: Study,
    *,
    seed: int = DEFAULT_SEED,
    repetitions: int | None = None,
    further: Mapping[str, int] | None = None,
) -> Plan:
    """Expand a study's grid. ``further``: cell -> trials, of those that have more than the others.

    Raises ``StudyError`` for a grid without cells, for two cells of the same name, and for more
    than ``MOST_TRIALS`` trials.
    """
    factors = [key for key in study.grid if key not in _AXES]
    tables: dict[Any, Scenario | Traffic] = {}
    cells = []
    patterns = _patterns(study)
    for scenario, policy, traffic in itertools.product(*(study.grid[axis] for axis in _AXES)):
        of_axes = (
            patterns["scenario"][scenario]
            & patterns["policy"][policy]
            & patterns["traffic"][traffic]
        )
        for levels in itertools.product(*(study.grid[key] for key in factors)):
            left = of_axes
            for key, level in zip(factors, levels, strict=True):
                if not left:
                    break
                left &= patterns[key][level]
            if left:
                continue
            cells.append(
                _cell(study, str(scenario), str(policy), str(traffic), factors, levels, tables)
            )
    if not cells:
        raise StudyError(f"{study.study.name}: exclude: leaves no cell of the grid")
    count = repetitions or study.trials.repetitions
    plan = Plan(study, seed, count, tuple(cells), further or {})
    if sum(plan.trials_of(cell.name) for cell in cells) > MOST_TRIALS:
        raise StudyError(
            f"{study.study.name}: {plan.repetitions_words} trials of {len(cells)} cells; "
            f"a run has at most {MOST_TRIALS} trials"
        )
    if len({cell.name for cell in cells}) != len(cells):
        raise StudyError(f"{study.study.name}: two cells of the grid have the same name")
    _categories_act(study, cells)
    return plan


def trial_seed(study_seed: int, cell: str, number: int, attempt: int) -> int:
    """A 64-bit seed: the first eight octets of SHA-256 over the identity of the attempt."""
    text = f"airtoll\0{study_seed}\0{cell}\0{number}\0{attempt}".encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "big")


def _categories_act(study: Study, cells: list[Cell]) -> None:
    """Access categories are of EDCA: one that is stated acts in a cell at least."""
    acts: dict[str, bool] = {}
    for cell in cells:
        if any(load.wmm != "best-effort" for load in cell.load.loads):
            acts[cell.traffic] = acts.get(cell.traffic, False) or cell.settings.with_edca
    for name, does in acts.items():
        if not does:
            raise StudyError(
                f"{study.study.name}: traffic.{name}.wmm: no cell of this traffic has access "
                "categories; say edca = true in its scenario, or leave wmm out"
            )


def _patterns(study: Study) -> dict[str, dict[Level, int]]:
    """Axis -> level -> the patterns of ``exclude`` that the level is in, one bit each.

    A pattern that does not name the axis has all of its levels. A cell is left out where one bit
    is left by all of its levels: a few operations a cell, whatever the number of patterns.
    """
    tables = [table for table in study.exclude if table and table.keys() <= study.grid.keys()]
    of: dict[str, dict[Level, int]] = {}
    for axis, levels in study.grid.items():
        free = sum(1 << number for number, table in enumerate(tables) if axis not in table)
        own: dict[Level, list[int]] = {}
        for number, table in enumerate(tables):
            for level in table.get(axis, ()):
                own.setdefault(level, []).append(number)
        of[axis] = {
            level: free | sum(1 << number for number in set(own.get(level, ()))) for level in levels
        }
    return of


def _cell(
    study: Study,
    scenario: str,
    policy: str,
    traffic: str,
    factors: list[str],
    levels: tuple[Level, ...],
    tables: dict[Any, Scenario | Traffic],
) -> Cell:
    """One cell of the grid. ``tables`` keeps scenarios and traffics with their levels applied."""
    own = tuple(sorted(zip(factors, levels, strict=True)))
    names: tuple[tuple[str, str], ...] = ()
    label = ""
    for key, level in own:
        if key == "profile_set":
            chosen = study.profile_set[str(level)]
            names, label = tuple(sorted(chosen.profiles.items())), chosen.label
    return Cell(
        scenario=scenario,
        policy=policy,
        traffic=traffic,
        factors=own,
        settings=_leveled(study.scenario[scenario], "scenario", scenario, own, tables),
        load=_leveled(study.traffic[traffic], "traffic", traffic, own, tables),
        profile_names=names,
        profile_label=label,
    )


def _leveled(
    table: _Table,
    axis: str,
    name: str,
    factors: tuple[tuple[str, Level], ...],
    known: dict[Any, Scenario | Traffic],
) -> _Table:
    """A scenario or traffic with its factor levels; cells with equal levels share one object."""
    own = tuple((key, level) for key, level in factors if key.startswith(f"{axis}."))
    # 1, 1.0 and true are equal, and different levels.
    place = (axis, name, own, tuple(type(level) for _, level in own))
    found = known.get(place)
    if found is None:
        found = table
        for key, level in own:
            merged = with_level(found.model_dump(exclude_unset=True), key.partition(".")[2], level)
            found = type(table).model_validate(merged)
        known[place] = found
    return cast(_Table, found)


def _text(value: Level) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
