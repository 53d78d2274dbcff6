"""Equality, hash and text of the classes of requests.

One method serves all classes. attrs would compile its own for each of them, which takes half of
the time that their import takes.
"""

from __future__ import annotations

from typing import Any

from attrs import fields


class Value:
    """A base of frozen attrs classes: equal where class and fields are equal."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and _values(self) == _values(other)

    def __hash__(self) -> int:
        return hash((type(self), *_values(self)))

    def __repr__(self) -> str:
        given = (f"{name}={getattr(self, name)!r}" for name in _names(self))
        return f"{type(self).__name__}({', '.join(given)})"


def _values(value: object) -> tuple[Any, ...]:
    return tuple([getattr(value, name) for name in _names(value)])


#: class -> names of its fields
_NAMES: dict[type, tuple[str, ...]] = {}


def _names(value: object) -> tuple[str, ...]:
    kind: type[Any] = type(value)
    if kind not in _NAMES:
        _NAMES[kind] = tuple(one.name for one in fields(kind))
    return _NAMES[kind]
