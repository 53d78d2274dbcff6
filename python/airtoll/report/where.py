"""Rows of a table by levels: ``--where KEY=VALUE[,VALUE...]``.

Takes texts and the levels of each row; gives the numbers of the rows. A key or a value that no row
has is refused with those that there are.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from attrs import frozen

from airtoll.errors import PolicyError, UsageError
from airtoll.policies import resolve

#: Levels that a refusal lists.
_MOST_LISTED: Final = 20


@frozen
class Where:
    """Chosen levels as they were written: key and text, in the order of the call."""

    wanted: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, texts: Iterable[str]) -> Where:
        """Parse ``KEY=VALUE`` texts. Raises ``UsageError`` for anything else."""
        found = []
        for text in texts:
            key, sign, value = text.partition("=")
            if not sign or not key.strip() or not value.strip():
                raise UsageError(
                    f"--where {text}: write KEY=VALUE or KEY=VALUE,VALUE, e.g. policy=open"
                )
            found.append((key.strip(), value.strip()))
        return cls(tuple(found))

    def __bool__(self) -> bool:
        return bool(self.wanted)

    def __str__(self) -> str:
        return " ".join(f"--where {key}={value}" for key, value in self.wanted)

    def chosen(self, levels: Sequence[Mapping[str, str]]) -> dict[str, tuple[str, ...]]:
        """The levels by key, as the rows have them; those of one key that is named twice together.

        Raises ``UsageError`` for a key or a value that no row has.
        """
        there: dict[str, dict[str, None]] = {}
        for of in levels:
            for key, level in of.items():
                there.setdefault(key, {})[level] = None
        found: dict[str, dict[str, None]] = {}
        for key, text in self.wanted:
            if key not in there:
                raise UsageError(f"--where {key}={text}: {_no_key(key, sorted(there))}")
            mine = found.setdefault(key, {})
            for level in _levels(key, text, list(there[key])):
                mine[level] = None
        return {key: tuple(values) for key, values in found.items()}

    def rows(self, levels: Sequence[Mapping[str, str]]) -> list[int]:
        """The numbers of the rows that have one of the levels of every key.

        Raises ``UsageError`` where no row is left.
        """
        chosen = self.chosen(levels)
        kept = [
            at
            for at, of in enumerate(levels)
            if all(of.get(key) in values for key, values in chosen.items())
        ]
        if chosen and not kept:
            raise UsageError(f"{self}: no row has all of these levels")
        return kept


def _levels(key: str, text: str, there: Sequence[str]) -> list[str]:
    """The levels that a text names: one, or several with commas between."""
    parts = [part.strip() for part in text.split(",")]
    each = [_level(key, part, there) for part in parts]
    if None in each and (whole := _level(key, text, there)) is not None:
        # A level, or another name of a policy, may have a comma in it.
        return [whole]
    found = []
    for one, level in zip(parts, each, strict=True):
        if level is None:
            raise UsageError(f"--where {key}={one}: {_no_level(key, one, there)}")
        found.append(level)
    return found


def _level(key: str, text: str, there: Sequence[str]) -> str | None:
    """The level that is meant: a policy by any of its names, a number in any form."""
    if text in there:
        return text
    for level in there:
        if level.lower() == text.lower() or _number(level, text):
            return level
    if key == "policy":
        try:
            name = resolve(text).name
        except PolicyError:
            return None
        return name if name in there else None
    return None


def _number(level: str, text: str) -> bool:
    try:
        return float(level) == float(text)
    except ValueError:
        return False


def _no_key(key: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(key, known, n=2)
    # `clients` is `scenario.clients`.
    near += [one for one in known if one.rpartition(".")[2] == key and one not in near]
    hint = f"did you mean {' or '.join(near)}; " if near else ""
    return f"no such key; {hint}keys are {', '.join(known) or 'none'}"


def _no_level(key: str, text: str, there: Sequence[str]) -> str:
    near = difflib.get_close_matches(text, there, n=2)
    near = near or [level for level in there if text and text.lower() in level.lower()][:2]
    hint = f"did you mean {' or '.join(near)}; " if near else ""
    listed = ", ".join(there[:_MOST_LISTED])
    more = len(there) - _MOST_LISTED
    return f"no such {key}; {hint}there are {listed}" + (f" and {more} more" if more > 0 else "")
