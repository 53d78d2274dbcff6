"""Candidates that cannot be had, and why."""

from __future__ import annotations

from airtoll.answer.claims import Possible
from airtoll.answer.measured import Measured
from airtoll.question import Asked


def impossible(question: Asked, measured: Measured) -> list[Possible]:
    """The candidates whose cells were skipped at some places, by reason."""
    skipped = {
        str(cell): str(reason)
        for cell, status, reason in measured.trials.select("cell", "status", "reason").iter_rows()
        if status == "skipped" and reason
    }
    counts: dict[tuple[object, str], int] = {}
    for place in question.places:
        for arm in question.to:
            cell = place.cells.get(arm)
            if cell is not None and cell.name in skipped:
                key = (arm, skipped[cell.name])
                counts[key] = counts.get(key, 0) + 1
    return [Possible(arm, reason, n) for (arm, reason), n in counts.items()]  # type: ignore[arg-type]
