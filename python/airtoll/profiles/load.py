"""Device profiles from the package or from a file.

Takes a name or a path; gives a :class:`Profile`, or a :class:`ProfileError` that names file and
key. A profile may extend another (``base = "NAME"``) and state only the differences.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from airtoll.errors import ProfileError
from airtoll.profiles.model import Profile

#: Profiles that an error names.
_MOST_NAMED: Final = 3


def shipped() -> dict[str, Profile]:
    """Every shipped profile by name."""
    return {name: _shipped(name) for name in _texts()}


def load(name: str, fits: Callable[[Profile], bool] | None = None) -> Profile:
    """The profile of a name in any case of letters, or of a TOML file.

    ``fits``: whether an error may suggest a profile; None: any. Raises ``ProfileError`` if there
    is none.
    """
    if name.endswith(".toml"):
        return load_file(Path(name))
    known, wanted = _texts(), name.strip().lower()
    if wanted in known:
        return _shipped(wanted)
    able = [one for one in known if fits is None or fits(_shipped(one))]
    described = [one for one in _described(wanted) if one in able]
    near = difflib.get_close_matches(wanted, able, 1) or described
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "see airtoll profiles list"
    raise ProfileError(f"profile {name!r}: unknown; {hint}")


def _described(wanted: str) -> list[str]:
    """The profiles whose text has the word, such as a system on a chip, or that it shortens:
    ``pi4`` and ``rpi4`` are ``raspberry-pi-4``.
    """
    found = []
    for name, text in _texts().items():
        first, *others = name.split("-")
        shortened = wanted in ("".join(others), first[:1] + "".join(others))
        word = rf"\b{re.escape(wanted)}\b"
        if shortened or re.search(word, tomllib.loads(text)["about"], re.IGNORECASE):
            found.append(name)
    return found[:_MOST_NAMED]


@cache
def _shipped(name: str) -> Profile:
    # One at a time: a run names two or three of some forty.
    return _profile(name, _texts()[name], _texts(), name)


def load_file(path: Path) -> Profile:
    """The profile in a TOML file. Raises ``ProfileError``."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ProfileError(f"{path}: cannot be read: {error}") from error
    return _profile(path.stem, text, _texts(), str(path))


@cache
def _texts() -> dict[str, str]:
    """The texts of the shipped profiles, in the order of their names."""
    folder = resources.files(__package__).joinpath("data")
    texts = {
        entry.name.removesuffix(".toml"): entry.read_text("utf-8")
        for entry in folder.iterdir()
        if entry.name.endswith(".toml")
    }
    return dict(sorted(texts.items()))


def _profile(name: str, text: str, texts: dict[str, str], place: str) -> Profile:
    try:
        return Profile.model_validate({"name": name, **_merged(name, text, texts, place)})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "file"
        message = first["msg"].removeprefix("Value error, ")
        raise ProfileError(f"profile {place}: {where}: {message}") from error


def _merged(name: str, text: str, texts: dict[str, str], place: str) -> dict[str, Any]:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ProfileError(f"profile {place}: no valid TOML: {error}") from error
    base = data.pop("base", None)
    if base is None:
        return data
    if base == name or base not in texts:
        raise ProfileError(f"profile {place}: base: there is no profile {base!r}")
    return _overlay(_merged(base, texts[base], texts, base), data)


def _overlay(under: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    result = dict(under)
    for key, value in over.items():
        inner = result.get(key)
        # A number replaces a number. A cipher with an engine replaces the whole cipher, because the
        # costs of one engine are invalid for another.
        whole = isinstance(value, dict) and ("value" in value or "engine" in value)
        if isinstance(value, dict) and isinstance(inner, dict) and not whole:
            result[key] = _overlay(inner, value)
        else:
            result[key] = value
    return result
