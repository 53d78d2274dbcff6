"""The source text of a study: encoding, size, depth, characters and numbers.

Takes a path or a TOML text; gives a mapping of plain values. Every mistake becomes one
:class:`StudyError` line. The meaning of the keys belongs to :mod:`airtoll.study.model`.
"""

from __future__ import annotations

import codecs
import math
import re
import tomllib
from pathlib import Path
from typing import Any

from airtoll.errors import StudyError
from airtoll.foreign_text import name_problem, shown, shown_line, unprintable

#: Largest study file, octets. The largest shipped one has 20,000.
MOST_OCTETS = 1 << 20
#: Deepest nesting of tables and lists.
MOST_LEVELS = 32
#: Longest value of the keys that hold prose, and longest other text.
LONGEST_PROSE = 10_000
LONGEST_TEXT = 200
_PROSE = frozenset({"about", "title", "question", "source", "caveat", "leaves_out"})
#: Largest integer that the testbeds can represent, and largest number.
_LARGEST_INTEGER = 2**63 - 1
_LARGEST_NUMBER = 1e15

_OTHER_ENCODINGS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
#: A chain of dotted key parts. The TOML reader needs quadratic time for a long one.
_CHAIN = re.compile(rf"(?:(?:[\w-]+|\"[^\"\n]*\"|'[^'\n]*')[ \t]*\.[ \t]*){{{MOST_LEVELS}}}")


def read_text(path: Path) -> str:
    """The text of a study file; a byte order mark is removed.

    Raises ``StudyError`` for a file that is missing, too large or not UTF-8.
    """
    try:
        with path.open("rb") as file:
            octets = file.read(MOST_OCTETS + 1)
    except OSError as error:
        raise StudyError(f"{path}: cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise StudyError(f"{shown(str(path))}: is no path: {error}") from error
    if len(octets) > MOST_OCTETS:
        raise StudyError(f"{path}: is too large; a study file has at most {MOST_OCTETS} octets")
    for mark, name in _OTHER_ENCODINGS.items():
        if octets.startswith(mark):
            raise StudyError(f"{path}: is {name} text; save it as UTF-8")
    try:
        return octets.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = octets.count(b"\n", 0, error.start) + 1
        raise StudyError(
            f"{path}: line {line}: octet {octets[error.start]:#04x} is not UTF-8 text; "
            "save the file as UTF-8"
        ) from error


def parse_toml(text: str, path: Path) -> dict[str, Any]:
    """The values of a TOML text. Raises ``StudyError``."""
    if _CHAIN.search(text):
        raise StudyError(f"{path}: a dotted key has more than {MOST_LEVELS} parts")
    try:
        data = tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{path}: no valid TOML: {shown_line(str(error))}") from error
    except RecursionError as error:
        raise StudyError(
            f"{path}: no valid TOML: nested too deep; at most {MOST_LEVELS} levels"
        ) from error
    except ValueError as error:
        raise StudyError(f"{path}: no valid TOML: a number is out of range") from error
    check_values(data, path)
    return data


def check_values(data: dict[str, Any], path: Path) -> None:
    """Refuse values that no key of a study takes.

    Raises ``StudyError`` for nesting beyond ``MOST_LEVELS``, long names and texts, control
    characters, and numbers that are not finite or out of range.
    """
    todo: list[tuple[str, Any, int]] = [("", data, 0)]
    while todo:
        place, value, depth = todo.pop()
        if depth > MOST_LEVELS:
            raise StudyError(
                f"{path}: {shown_line(place)}: nested too deep; at most {MOST_LEVELS} levels"
            )
        if isinstance(value, dict):
            before = f"{place}." if place else ""
            for key, inner in value.items():
                problem = name_problem(key)
                if problem:
                    raise StudyError(f"{path}: {before}{shown(key)}: {problem}")
                todo.append((f"{before}{key}", inner, depth + 1))
        elif isinstance(value, list | tuple):
            todo += [(f"{place}[{index}]", inner, depth + 1) for index, inner in enumerate(value)]
        else:
            prose = re.split(r"[.\[]", place.rstrip("]0123456789["))[-1] in _PROSE
            problem = _value_problem(value, LONGEST_PROSE if prose else LONGEST_TEXT)
            if problem:
                raise StudyError(f"{path}: {place}: {shown(value)}: {problem}")


def _value_problem(value: object, longest: int) -> str | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        if len(value) > longest:
            return f"a text has at most {longest} characters, this one has {len(value)}"
        if unprintable(value, allowed="\n\t"):
            return "a text has no control characters but line feeds and tabs"
        return None
    if isinstance(value, int):
        return None if abs(value) <= _LARGEST_INTEGER else "the number is out of range"
    if isinstance(value, float):
        if not math.isfinite(value):
            return "must be a finite number"
        return None if abs(value) <= _LARGEST_NUMBER else "the number is out of range"
    return "must be a text, a number, true or false, a list or a table"
