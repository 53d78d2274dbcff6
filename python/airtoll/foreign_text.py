"""Texts that others wrote: names that are allowed, and values in messages of one line.

Takes names and values of studies, imports and captures; gives texts without control characters.
"""

from __future__ import annotations

import unicodedata

#: Longest key, and longest name of a scenario, traffic, profile set or station.
LONGEST_NAME = 100
_LONGEST_SHOWN = 60
#: Characters that reorder the text around them on a terminal.
_REORDERING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def name_problem(name: object) -> str | None:
    """Why a text cannot be a key or a name; ``None`` if it can."""
    if not isinstance(name, str) or not name:
        return "a name needs at least one character"
    if len(name) > LONGEST_NAME:
        return f"a name has at most {LONGEST_NAME} characters, this one has {len(name)}"
    if unprintable(name, allowed=""):
        return "a name has no control characters"
    if name[0] in "=+-@":
        return "a name does not start with =, +, - or @ (a spreadsheet reads a formula)"
    return None


def shown(value: object) -> str:
    """A value for a one-line message, shortened and without control characters."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        text = f"({type(value).__name__})"
    return shown_line(text)


def shown_line(text: str) -> str:
    """A text as a part of one line, shortened and without control characters."""
    plain = "".join(c if c.isprintable() else "?" for c in text[: 10 * _LONGEST_SHOWN])
    return plain if len(plain) <= 4 * _LONGEST_SHOWN else f"{plain[:_LONGEST_SHOWN]}..."


def unprintable(text: str, *, allowed: str) -> bool:
    """Whether a text has control characters, or characters that change the order of others."""
    if text.isprintable():
        # Such a text has no character of these categories.
        return False
    return any(
        c not in allowed
        and (unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") or c in _REORDERING)
        for c in text
    )
