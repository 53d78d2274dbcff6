"""Capabilities: one table per testbed, with an entry for each field of a study's cells and trials.

Takes a cell; gives the reason for which a testbed skips it. A testbed states what differs from the
treatment of a field that it does not name; the fields themselves come from the study's model. A
table holds capability only: the ranges of values are in the types of ``study``, and the consistency
of a cell in ``joining``, ``roaming`` and ``bridging``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from types import MappingProxyType
from typing import get_args

from attrs import frozen
from pydantic import BaseModel

from airtoll.plan import Cell
from airtoll.policies import Policy
from airtoll.study import Scenario, Traffic, Trials

#: The tables of a cell, and that of a study's trials, by the name of the table.
ROOTS: Mapping[str, type[BaseModel]] = {
    "scenario": Scenario,
    "traffic": Traffic,
    "trials": Trials,
}


@frozen
class Entry:
    """Treatment of one field.

    ``values``: those that are carried out, ``None``: all of them. ``reason``: why a cell with
    another value is skipped. ``note``: what a carried-out value means on this testbed. ``medium``:
    whether a value other than the default needs a medium between the radios. ``virtual``: whether
    it needs virtual time.
    """

    values: tuple[object, ...] | None = None
    reason: str = ""
    note: str = ""
    medium: bool = False
    virtual: bool = False


def acts(note: str = "", *, medium: bool = False, virtual: bool = False) -> Entry:
    """Every value is carried out."""
    return Entry(note=note, medium=medium, virtual=virtual)


def only(*values: object, reason: str, note: str = "") -> Entry:
    """These values are carried out; a cell with another one is skipped for this reason."""
    return Entry(values, reason, note)


@frozen
class Feature:
    """A combination of values that a testbed does not carry out.

    ``about``: the combination in words. ``asked``: whether a cell has it. ``reason``: why it is
    skipped; ``{policy}`` is the policy of the cell, ``{count}`` the number of its stations.
    """

    about: str
    asked: Callable[[Cell], bool]
    reason: str


@frozen
class PolicyFeature:
    """A kind of policy that a testbed does not carry out.

    ``about``: the kind in words. ``asked``: whether a policy is of the kind. ``reason``: why it is
    skipped; ``{version}`` is that of the access point's daemon. ``since``: the version that carries
    it out, or None. ``of_daemon``: only this testbed's daemon of the access point lacks it.
    """

    about: str
    asked: Callable[[Policy], bool]
    reason: str
    since: tuple[int, int] | None = None
    of_daemon: bool = False


@frozen
class Capability:
    """The table of a testbed.

    ``fields``: dotted path -> entry; an entry of a table that is carried out only at its default
    covers the fields in it. ``where``: dotted path of a table -> whether a cell uses the table at
    all. ``features``: combinations that are skipped. ``policies``: policies that are skipped.
    ``laboratory``: combinations that are skipped in a laboratory only. ``left_out``: dotted path of
    a field or table that only a model has -> why a laboratory goes without it. ``set_there``:
    fields of a laboratory's access point or hosts, although this testbed skips them elsewhere.
    """

    fields: Mapping[str, Entry]
    where: Mapping[str, Callable[[Cell], bool]]
    features: tuple[Feature, ...]
    policies: tuple[PolicyFeature, ...] = ()
    laboratory: tuple[Feature, ...] = ()
    left_out: Mapping[str, str] = MappingProxyType({})
    set_there: frozenset[str] = frozenset()

    def why_not_policy(
        self, policy: Policy, version: tuple[int, int], *, foreign: bool = False
    ) -> str | None:
        """Why a policy is skipped with this version of the AP's daemon, or None.

        ``foreign``: the access point is another one, without that daemon.
        """
        for kind in self.policies:
            if foreign and kind.of_daemon:
                continue
            if kind.asked(policy) and (kind.since is None or version < kind.since):
                return kind.reason.format(version=".".join(map(str, version)))
        return None

    def why_not_trials(self, trials: Trials) -> str | None:
        """Why the testbed does not carry out a study with these trials, or None."""
        for path, value, _ in _values("trials", trials):
            entry = self.fields.get(path)
            if entry is not None and entry.values is not None and value not in entry.values:
                return f"{path} = {_shown(value)}: {entry.reason}"
        return None

    def why_not_in_laboratory(self, cell: Cell) -> str | None:
        """Why a laboratory skips a cell that this testbed carries out elsewhere, or None."""
        reasons = (feature.reason for feature in self.laboratory if feature.asked(cell))
        return next(reasons, None)

    def why_not(
        self,
        cell: Cell,
        *,
        medium: str | None = None,
        virtual: str | None = None,
        laboratory: bool = False,
    ) -> str | None:
        """Why the testbed skips the cell, or None.

        ``medium``: why there is no medium between the radios; ``None`` where there is one or the
        testbed needs none. ``virtual``: the same of virtual time. ``laboratory``: fields that a
        laboratory leaves out or sets by other means skip nothing.
        """
        for feature in self.features:
            if feature.asked(cell):
                count = cell.settings.clients or len(cell.settings.stations)
                return feature.reason.format(policy=cell.policy, count=count)
        limited = self._limited
        for path, value, default in values_of(cell, limited):
            entry = self.fields[path]
            if not self._used(path, cell):
                continue
            if laboratory and (path in self.set_there or self.why_left_out(path)):
                continue
            key = path.removeprefix("scenario.").removeprefix("traffic.")
            if entry.values is not None and value not in entry.values:
                return f"{key} = {_shown(value)}: {entry.reason}"
            if entry.medium and medium is not None and value != default:
                return f"{key} needs a medium; {medium}"
            if entry.virtual and virtual is not None and value != default:
                return f"{key} = {_shown(value)} needs virtual time: {virtual}"
        return None

    def why_left_out(self, path: str) -> str | None:
        """Why a laboratory leaves out a field, or None where it does not."""
        parts = path.split(".")
        heads = (".".join(parts[:count]) for count in range(len(parts), 0, -1))
        return next((self.left_out[head] for head in heads if head in self.left_out), None)

    def left_out_of(self, cell: Cell) -> dict[str, str]:
        """Fields that a cell sets and a laboratory leaves out -> why."""
        found: dict[str, str] = {}
        for path, value, default in values_of(cell):
            if value == default or isinstance(value, BaseModel) or not self._used(path, cell):
                continue
            if isinstance(value, tuple) and any(isinstance(one, BaseModel) for one in value):
                continue
            reason = self.why_left_out(path)
            if reason is not None:
                found[path.removeprefix("scenario.")] = reason
        return found

    @cached_property
    def _limited(self) -> frozenset[str]:
        """Paths of the fields of which some values are not carried out."""
        return frozenset(
            path
            for path, entry in self.fields.items()
            if entry.values is not None or entry.medium or entry.virtual
        )

    def _used(self, path: str, cell: Cell) -> bool:
        return all(used(cell) for table, used in self.where.items() if path.startswith(f"{table}."))


def every_field(
    stated: Mapping[str, Entry], otherwise: Callable[[object], Entry]
) -> dict[str, Entry]:
    """An entry for each field of a cell and of trials, in the order of the model.

    ``stated``: dotted path of a field or table -> entry. ``otherwise``: the entry of a field that
    is neither stated nor in a table that is, from its default. Raises ``ValueError`` for a stated
    path that the model does not have.
    """
    found: dict[str, Entry] = {}
    for path, default in paths():
        parts = path.split(".")
        heads = (".".join(parts[:count]) for count in range(len(parts), 0, -1))
        head = next((one for one in heads if one in stated), path)
        found.setdefault(head, stated[head] if head in stated else otherwise(default))
    if unknown := stated.keys() - found.keys():
        raise ValueError(f"no field of a study: {', '.join(sorted(unknown))}")
    return found


#: Fields that are words in sentences; no testbed carries them out.
_WORDS = frozenset({"label"})


def paths() -> Iterator[tuple[str, object]]:
    """Dotted path and default of every field of a cell or of trials that is no table itself."""
    for root, table in ROOTS.items():
        yield from _paths(root, table)


def _paths(at: str, table: type[BaseModel]) -> Iterator[tuple[str, object]]:
    for name, field in table.model_fields.items():
        inner = _table(field.annotation)
        if name in _WORDS:
            continue
        if inner is None:
            yield f"{at}.{name}", field.get_default(call_default_factory=True)
        else:
            yield from _paths(f"{at}.{name}", inner)


def _table(annotation: object) -> type[BaseModel] | None:
    """The table that a field holds, alone, optionally or as a list."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = (_table(part) for part in get_args(annotation))
    return next((table for table in found if table is not None), None)


def values_of(
    cell: Cell, wanted: frozenset[str] | None = None
) -> Iterator[tuple[str, object, object]]:
    """Dotted path, value and default of every field of a cell; tables without default too.

    With ``wanted``, of the fields at these paths only.
    """
    yield from _values("scenario", cell.settings, wanted)
    yield from _values("traffic", cell.load, wanted)


def _values(
    at: str, table: BaseModel, wanted: frozenset[str] | None = None
) -> Iterator[tuple[str, object, object]]:
    for name, path, default, asked, tables in _fields(at, type(table), wanted):
        value = getattr(table, name)
        if asked:
            yield path, value, default
        if tables:
            for one in value if isinstance(value, tuple) else (value,):
                if isinstance(one, BaseModel):
                    yield from _values(path, one, wanted)


@cache
def _fields(
    at: str, table: type[BaseModel], wanted: frozenset[str] | None
) -> tuple[tuple[str, str, object, bool, bool], ...]:
    """Name, path, default (``None`` without one), whether it is wanted, whether it holds tables.

    Fields of which neither they nor a table below them are wanted are left out.
    """
    found = []
    for name, field in table.model_fields.items():
        path = f"{at}.{name}"
        default = None if field.is_required() else field.get_default(call_default_factory=True)
        asked = wanted is None or path in wanted
        tables = _table(field.annotation) is not None and (
            wanted is None or any(one.startswith(f"{path}.") for one in wanted)
        )
        if asked or tables:
            found.append((name, path, default, asked, tables))
    return tuple(found)


def _shown(value: object) -> str:
    if isinstance(value, BaseModel):
        changed = value.model_dump(exclude_defaults=True)
        return "{" + ", ".join(f"{key} = {_shown(one)}" for key, one in changed.items()) + "}"
    if isinstance(value, tuple | list):
        return "[" + ", ".join(map(_shown, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else f"{value}"
