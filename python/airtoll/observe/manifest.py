"""The keys that ``run.json`` must hold, and their kinds.

Takes the parsed file; gives the first key that is missing or of another kind. A folder may have
been cut short, edited or made by another program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

Check = Callable[[Any], bool]


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _texts(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_text, value.values()))


def _table(value: Any) -> bool:
    return isinstance(value, dict)


def _tables(value: Any) -> bool:
    return isinstance(value, list) and all(map(_texts, value))


def _count(least: int, most: int) -> Check:
    def check(value: Any) -> bool:
        return type(value) is int and least <= value <= most

    return check


def _counts(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_count(1, 1_000_000_000), value.values()))


def _time(value: Any) -> bool:
    try:
        return datetime.fromisoformat(value).tzinfo is not None
    except (TypeError, ValueError):
        return False


def _end(value: Any) -> bool:
    return value is None or _time(value)


def _options(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    counts = (value.get(key) for key in ("trials", "real_stations", "most_trials"))
    known = all(one is None or (type(one) is int and one > 0) for one in counts)
    wanted = value.get("until_precision")
    known = known and (wanted is None or (isinstance(wanted, float) and 0 < wanted < 1))
    return known and isinstance(value.get("as_printed", False), bool)


#: Key -> what it holds, in words, and its check. A key with a question mark may be missing.
_KEYS: Final[dict[str, tuple[str, Check]]] = {
    "airtoll": ("a version", _text),
    "state": ("a state", lambda value: value in ("running", "interrupted", "finished")),
    "study": ("a table", _table),
    "study.name": ("a text", _text),
    "study.title": ("a text", _text),
    "study.path": ("a text", _text),
    "study.from_run?": ("a text", _text),
    "study.sha256": ("a text", _text),
    "study.text": ("a text", _text),
    "study.values": ("a table", _table),
    "testbed": ("a text", _text),
    "seed": ("a number from 0 on", _count(0, (1 << 64) - 1)),
    "repetitions": ("a number from 1 on", _count(1, 1_000_000_000)),
    "further?": ("a table of numbers from 1 on", _counts),
    "options?": ("a table of options", _options),
    "environment": ("a table of texts", _texts),
    "earlier_environments?": ("a list of tables", _tables),
    "machine": ("a table of texts", _texts),
    "started": ("a time", _time),
    "ended": ("a time or null", _end),
}


def mistake(manifest: Any) -> str | None:
    """The first key of a manifest that is missing or wrong, in words."""
    if not isinstance(manifest, dict):
        return "is no table"
    for place, (words, check) in _KEYS.items():
        key = place.removesuffix("?")
        table: Any = manifest
        *outer, last = key.split(".")
        for part in outer:
            table = table[part]
        if last not in table:
            if place.endswith("?"):
                continue
            return f"{key} is missing"
        if not check(table[last]):
            return f"{key} is {_shown(table[last])}, not {words}"
    return None


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return "a table"
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
