"""Candidates that cannot be had, and why."""

from __future__ import annotations

from typing import Final

from airtoll.answer.claims import Possible
from airtoll.answer.measured import Measured
from airtoll.question import Arm, Asked, Place

#: A testbed's words for a station that its network refuses (see ``testbeds.contract``).
_REFUSED: Final = " did not authenticate: "


def impossible(question: Asked, measured: Measured) -> list[Possible]:
    """The candidates that no trial of a place could have, by reason: skipped or refused."""
    reasons = _reasons(measured)
    found: dict[tuple[Arm, str], list[Place]] = {}
    for place in question.places:
        for arm in question.to:
            cell = place.cells.get(arm)
            if cell is not None and cell.name in reasons:
                found.setdefault((arm, reasons[cell.name]), []).append(place)
    return [Possible(arm, reason, tuple(places)) for (arm, reason), places in found.items()]


def _reasons(measured: Measured) -> dict[str, str]:
    """Cell -> the reason for which none of its trials was carried out."""
    found: dict[str, str] = {}
    had: set[str] = set()
    rows = measured.trials.select("cell", "status", "reason").iter_rows()
    for cell, status, reason in rows:
        cause = str(reason or "") if status == "skipped" else _refusal(str(reason or ""))
        if status in ("skipped", "failed") and cause:
            found.setdefault(str(cell), cause)
        else:
            had.add(str(cell))
    return {cell: reason for cell, reason in found.items() if cell not in had}


def _refusal(reason: str) -> str:
    """The cause for which the network refused the first station; empty for other failures."""
    cause = reason.partition(_REFUSED)[2]
    return cause.partition("; nor did ")[0]
