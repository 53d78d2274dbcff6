"""Plain tables on stdout: rows in columns as wide as their widest cell."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def say(line: str) -> None:
    """Print a line."""
    sys.stdout.write(line + "\n")


def columns(rows: Sequence[tuple[str, ...]], right: range = range(0)) -> None:
    """Print rows in columns, those in ``right`` at their right; the last one takes the rest."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        cells = [
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        say("  ".join(cells).rstrip())
