"""Which files airtoll wrote: it replaces and removes these and no others.

Takes a path; gives whether its content is a report's. A page says so in its head, a figure in its
metadata, a table by the names of its columns.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from airtoll.errors import UsageError

#: Mark at the beginning or end of files that have room for one.
MARK: Final = "airtoll report"
#: Octets at either end of a file in which a mark stands.
_LOOK: Final = 8192
_MARKS: Final = (
    MARK.encode(),
    "– airtoll</title>".encode(),
    # Figures: SVG by its fonts and ink (no dates, no comments), PNG and PDF by their metadata.
    b'font-family="DejaVu Sans, Verdana, Arial, sans-serif" fill="#010101"',
    b"Software\0airtoll",
    b"/Creator (airtoll)",
)
#: Keys of the reports in JSON.
_KEYS: Final = ("headline", "estimates"), ("headline", "changes")


def is_own(path: Path, heading: str | None = None) -> bool:
    """Whether airtoll wrote a file. ``heading``: the first line of the table that it may be."""
    try:
        with path.open("rb") as file:
            head = file.read(_LOOK)
            end = file.seek(0, 2)
            file.seek(max(0, end - _LOOK))
            tail = file.read()
    except OSError:
        return False
    if any(mark in part for mark in _MARKS for part in (head, tail)):
        return True
    first = head.split(b"\n", 1)[0].decode(errors="replace").rstrip("\r")
    if heading is not None and first == heading:
        return True
    return head.lstrip()[:1] == b"{" and _is_report(path)


def _is_report(path: Path) -> bool:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(value, dict) and any(all(key in value for key in keys) for keys in _KEYS)


def refuse_foreign(path: Path, heading: str | None = None) -> None:
    """Raise ``UsageError`` for a file that is there and that airtoll did not write."""
    if path.is_dir():
        raise UsageError(f"{path}: is a folder; name a file")
    if path.is_file() and not is_own(path, heading):
        raise UsageError(
            f"{path}: exists, and airtoll did not write it; name another place with --out, or "
            "replace it with --force"
        )
