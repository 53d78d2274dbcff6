"""Canonical JSON of a request: sorted keys, no spaces, no field that has its default value.

Equal requests give equal text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from airtoll.border.value import Value

_AS_IT_IS = frozenset({str, int, float, bool, type(None)})


def to_json(request: Value) -> str:
    """The canonical JSON of a request."""
    return json.dumps(plain(request), sort_keys=True, separators=(",", ":"))


def plain(value: object) -> Any:
    """The same value in dictionaries, lists, strings and numbers.

    Objects that the value holds several times are the same dictionary in the result.
    """
    return _plain(value, {}, {})


def _plain(
    value: object, known: dict[int, dict[str, Any]], unlike: dict[tuple[int, int], bool]
) -> Any:
    """``known``: dictionaries of the objects so far; ``unlike``: do two of the objects differ?"""
    if isinstance(value, str | int | float) or value is None:
        return value
    if isinstance(value, Mapping):
        return {key: _plain(one, known, unlike) for key, one in value.items()}
    if isinstance(value, tuple | list | bytes):
        return [_plain(one, known, unlike) for one in value]
    if not isinstance(value, Value):
        raise TypeError(f"{type(value).__name__} is no class of airtoll.border")
    if id(value) in known:
        return known[id(value)]
    found = {}
    for name, always, default in _fields(type(value)):
        one = getattr(value, name)
        if type(one) in _AS_IT_IS:
            # Most fields are numbers and names: they need no call.
            if always or (one is not default and one != default):
                found[name] = one
            continue
        if not always and default is not None:
            # The stations of a cell share most of their objects.
            pair = (id(one), id(default))
            if pair not in unlike:
                unlike[pair] = one is not default and one != default
            if not unlike[pair]:
                continue
        found[name] = known[id(one)] if id(one) in known else _plain(one, known, unlike)
    known[id(value)] = found
    return found


#: class -> name, whether it is always written, and default of each field
_FIELDS: dict[type[Value], tuple[tuple[str, bool, object], ...]] = {}


def _fields(kind: type[Value]) -> tuple[tuple[str, bool, object], ...]:
    """The field that names a variant has a default and is no argument of ``__init__``."""
    if kind not in _FIELDS:
        _FIELDS[kind] = tuple((of.name, not of.init, of.default) for of in kind.__attrs_attrs__)
    return _FIELDS[kind]
