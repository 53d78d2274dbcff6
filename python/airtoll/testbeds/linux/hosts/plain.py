"""Plain JSON values to the attrs classes that travel between host, guest and radio.

``attrs.asdict`` is the way there. A field that the class does not have, a missing field and a value
of another type are refused with the path of the field.
"""

from __future__ import annotations

import types
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import (
    Any,
    Literal,
    NotRequired,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import attrs

from airtoll.errors import TestbedError

_T = TypeVar("_T")


def read(kind: type[_T], value: object) -> _T:
    """An attrs class or typed dictionary of type ``kind``.

    Raises ``TestbedError`` naming the field.
    """
    made: _T = _read(kind, value, kind.__name__)
    return made


def _read(kind: Any, value: object, at: str) -> Any:
    origin, of = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        if value is None and type(None) in of:
            return None
        (kind,) = (one for one in of if one is not type(None))
        return _read(kind, value, at)
    if origin is tuple and isinstance(value, list | tuple):
        kinds = of[:1] * len(value) if of[-1] is Ellipsis else of
        if len(kinds) == len(value):
            pairs = enumerate(zip(kinds, value, strict=True))
            return tuple(_read(of, one, f"{at}[{i}]") for i, (of, one) in pairs)
    elif origin is list and isinstance(value, list):
        return [_read(of[0], one, f"{at}[{i}]") for i, one in enumerate(value)]
    elif origin is dict and isinstance(value, dict):
        return {key: _read(of[1], one, f"{at}.{key}") for key, one in value.items()}
    elif (attrs.has(kind) or is_typeddict(kind)) and isinstance(value, dict):
        hints = _hints(kind)
        _known(value.keys(), hints, _required(kind), at)
        return kind(**{name: _read(hints[name], value[name], f"{at}.{name}") for name in value})
    elif kind in (object, Any) or type(value) is kind or (origin is Literal and value in of):
        return value
    elif kind is float and type(value) is int:
        return float(value)
    if origin is Literal:
        raise TestbedError(f"{at}: {value!r} is none of {', '.join(map(repr, of))}")
    raise TestbedError(f"{at}: {value!r} is not of type {getattr(kind, '__name__', kind)}")


def _known(
    names: Iterable[str], hints: Mapping[str, object], required: Collection[str], at: str
) -> None:
    names = set(names)
    for name in sorted(names - hints.keys()):
        raise TestbedError(f"{at}: unknown field {name}; there are {', '.join(hints)}")
    for name in sorted(set(required) - names):
        raise TestbedError(f"{at}: the field {name} is missing")


@cache
def _required(kind: type) -> frozenset[str]:
    hints = get_type_hints(kind, include_extras=True)
    # `__required_keys__` does not see `NotRequired` in annotations that are strings.
    optional = {name for name, hint in hints.items() if get_origin(hint) is NotRequired}
    return frozenset(getattr(kind, "__required_keys__", hints.keys())) - optional


@cache
def _hints(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)
