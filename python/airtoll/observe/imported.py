"""The manifest of a folder of imported readings: its files, and the settings of its report.

``airtoll.observe.imports.folder`` writes it. A folder with this file holds imported readings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen

from airtoll.errors import StorageError

MANIFEST: Final = "import.json"


@frozen
class Manifest:
    """``import.json``: the files by digest, and the settings of the report.

    ``left_out``: parts of these files. ``refused``: files that could not be read, and the reasons;
    one that is imported later is no longer among them.
    """

    files: Mapping[str, str]
    formats: tuple[str, ...] = ()
    baseline: str = "open"
    against: str | None = None
    readings: Mapping[str, str] = field(factory=dict)
    left_out: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(factory=dict)


def read_manifest(path: Path) -> Manifest:
    """The manifest of a folder. Raises ``StorageError`` where there is none or it is damaged."""
    file = path / MANIFEST
    try:
        data = json.loads(file.read_text("utf-8"))
        against = data.get("against")
        found = Manifest(
            as_texts(data["files"]),
            tuple(map(as_text, data.get("formats", [data.get("format", "")]))),
            as_text(data.get("baseline", "open")),
            None if against is None else as_text(against),
            as_texts(data.get("readings", {})),
            tuple(map(as_text, data.get("left_out", ()))),
            as_texts(data.get("refused", {})),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else error
        raise StorageError(f"{file}: cannot be read: {reason}") from error
    return found


def as_text(value: Any) -> str:
    """The value. Raises ``TypeError`` if it is no text."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def as_texts(value: Any) -> dict[str, str]:
    """The value, a mapping of texts. Raises ``TypeError`` or ``AttributeError`` if it is none."""
    return {as_text(key): as_text(inner) for key, inner in value.items()}
