"""Keys of observed values (metric, flow, station, second, unit), as columns that trials share.

Takes columns of names; gives one object for equal columns, with the places of a metric and the
canonical order worked out once. The trials of a cell have equal keys, so a trial is its values.
Holds no value and does no IO.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Any, Final, TypeVar

from attrs import frozen

#: An observed value: metric, flow, station, second, value, unit.
RowTuple = tuple[str, str | None, str | None, int | None, float, str]

#: Key of one value: metric, flow, station, second, unit.
KeyTuple = tuple[str, str | None, str | None, int | None, str]

_Name = TypeVar("_Name", str, str | None)

#: Sets of keys that stay known. Those of a run are few: cells with equal stations and traffic share
#: theirs. A series of stations may have 10,000 keys, which take half a megabyte.
_KNOWN: Final = 128


@frozen(slots=False, cache_hash=True)
class Keys:
    """Five columns of equal length, one entry for each value of a trial; see ``RowTuple``.

    Made by :func:`keys_of` or :func:`in_columns`, which give one object for equal columns.
    """

    metric: tuple[str, ...]
    flow: tuple[str | None, ...]
    station: tuple[str | None, ...]
    second: tuple[int | None, ...]
    unit: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.metric)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy from another process is the object that this process has for these columns."""
        return keys_of, (self.metric, self.flow, self.station, self.second, self.unit)

    @cached_property
    def whole(self) -> Mapping[str, tuple[int, ...]]:
        """For each metric the indices of its values of the whole trial, those of no second."""
        found: dict[str, list[int]] = {}
        for index, (metric, second) in enumerate(zip(self.metric, self.second, strict=True)):
            if second is None:
                found.setdefault(metric, []).append(index)
        return {metric: tuple(indices) for metric, indices in found.items()}

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The indices in canonical order: by metric, flow, station and second, none first."""
        columns = zip(self.metric, self.flow, self.station, self.second, strict=True)
        sort_keys = [(m, f or "", s or "", -1 if n is None else n) for m, f, s, n in columns]
        return tuple(sorted(range(len(sort_keys)), key=sort_keys.__getitem__))

    def one(self, index: int) -> KeyTuple:
        """The key of the value at an index."""
        return (
            self.metric[index],
            self.flow[index],
            self.station[index],
            self.second[index],
            self.unit[index],
        )


@lru_cache(maxsize=_KNOWN)
def keys_of(
    metric: tuple[str, ...],
    flow: tuple[str | None, ...],
    station: tuple[str | None, ...],
    second: tuple[int | None, ...],
    unit: tuple[str, ...],
) -> Keys:
    """The keys with these columns. Raises ``ValueError`` for columns of different lengths."""
    if not len(metric) == len(flow) == len(station) == len(second) == len(unit):
        raise ValueError("columns of different lengths")
    return Keys(_shared(metric), _shared(flow), _shared(station), second, _shared(unit))


def _shared(names: tuple[_Name, ...]) -> tuple[_Name, ...]:
    """The names, each text once in this process."""
    return tuple([name if name is None else sys.intern(name) for name in names])


#: Keys of an attempt without a value.
NO_KEYS: Final = keys_of((), (), (), (), ())


def in_columns(rows: Iterable[RowTuple]) -> tuple[Keys, tuple[float, ...]]:
    """The keys and the values of rows, in their order."""
    columns = tuple(zip(*rows, strict=True))
    if not columns:
        return NO_KEYS, ()
    metric, flow, station, second, values, unit = columns
    return keys_of(metric, flow, station, second, unit), values


@lru_cache(maxsize=_KNOWN)
def extended(keys: Keys, more: tuple[KeyTuple, ...]) -> Keys:
    """The keys, and ``more`` at their end."""
    metric, flow, station, second, unit = zip(*more, strict=True)
    return keys_of(
        keys.metric + metric,
        keys.flow + flow,
        keys.station + station,
        keys.second + second,
        keys.unit + unit,
    )


@lru_cache(maxsize=_KNOWN)
def without(keys: Keys, metrics: frozenset[str]) -> tuple[Keys, tuple[int, ...]]:
    """The keys of other metrics than these, and their indices."""
    kept = tuple(index for index, metric in enumerate(keys.metric) if metric not in metrics)
    if not kept:
        return NO_KEYS, ()
    return keys_of(*zip(*map(keys.one, kept), strict=True)), kept
