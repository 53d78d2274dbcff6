"""Studies that a program builds instead of a file.

Takes a :class:`Study` or a mapping of the same tables; gives a checked :class:`StudyFile` with the
TOML text that says the same, so that the run folder of such a study is as complete as any.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from airtoll.errors import StudyError
from airtoll.study.load import StudyFile, parse
from airtoll.study.model import Study

#: Name in errors of a study without one.
_NAMELESS = "study"


def built(study: Study | Mapping[str, Any]) -> StudyFile:
    """A study that was built in Python, checked as a file is.

    Raises ``StudyError`` that names key, value and what is allowed.

    >>> from airtoll.study import built
    >>> file = built({
    ...     "study": {"name": "mine", "title": "My network"},
    ...     "scenario": {"home": {"phy": "802.11g", "stations": [{"name": "A"}]}},
    ...     "traffic": {"udp": {"transport": "udp", "duration_s": 1}},
    ...     "grid": {"policy": ["open", "wpa2-psk-ccmp"]},
    ... })
    >>> file.study.grid["policy"]
    ('open', 'wpa2-psk-ccmp')
    >>> built({"study": {"name": "mine", "title": "My network"}})
    Traceback (most recent call last):
        ...
    airtoll.errors.StudyError: mine.toml: scenario: is missing (and 2 more)
    """
    if isinstance(study, Study):
        study = _tables(study)
    head = study.get("study")
    name = head.get("name") if isinstance(head, Mapping) else None
    path = Path(f"{name if isinstance(name, str) else _NAMELESS}.toml")
    # Twice: a mapping and the Study of the same tables have one text.
    return parse(as_toml(_tables(parse(as_toml(study), path).study)), path)


def _tables(study: Study) -> dict[str, Any]:
    return study.model_dump(mode="json", by_alias=True, exclude_unset=True)


def as_toml(tables: Mapping[str, Any]) -> str:
    """The tables as TOML text; values that are None are left out.

    Raises ``StudyError`` for a value that TOML cannot say.

    >>> print(as_toml({"trials": {"repetitions": 5}, "grid": {"policy": ["open"]}}), end="")
    trials = { repetitions = 5 }
    grid = { policy = ["open"] }
    """
    return "".join(
        f"{_key(key)} = {_value(value, str(key))}\n"
        for key, value in tables.items()
        if value is not None
    )


def _value(value: Any, at: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        pairs = [
            f"{_key(key)} = {_value(one, f'{at}.{key}')}"
            for key, one in value.items()
            if one is not None
        ]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return f"[{', '.join(_value(one, f'{at}[{n}]') for n, one in enumerate(value))}]"
    raise StudyError(f"{at}: a {type(value).__name__} is no value of a study")


def _text(value: str) -> str:
    # A JSON string is a basic string of TOML, but for the delete character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(key: Any) -> str:
    text = str(key)
    return text if re.fullmatch(r"[A-Za-z0-9_-]+", text) else _text(text)
