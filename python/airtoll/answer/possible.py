"""Candidates that cannot be had, or not with the PHY of the study, and why."""

from __future__ import annotations

import re
from typing import Final

import polars as pl

from airtoll.answer.claims import Fallback, Possible
from airtoll.answer.measured import Measured
from airtoll.question import Arm, Asked, Place

#: A testbed's words for a station that its network refuses (see ``testbeds.contract``).
_REFUSED: Final = " did not authenticate: "
#: A testbed's words for a policy below the requirements of a PHY (see docs/reference/gates.md).
_FALLS: Final = ": the link falls back to "


def impossible(question: Asked, measured: Measured) -> list[Possible]:
    """The arms that no trial of a place could have, by reason: skipped or refused."""
    reasons = _reasons(measured)
    found: dict[tuple[Arm, str], list[Place]] = {}
    for place in question.places:
        for arm in (question.have, *question.to):
            cell = place.cells.get(arm)
            if cell is not None and cell.name in reasons:
                found.setdefault((arm, reasons[cell.name]), []).append(place)
    return [Possible(arm, reason, tuple(places)) for (arm, reason), places in found.items()]


def fallbacks(question: Asked, measured: Measured) -> list[Fallback]:
    """The arms whose link falls back, by link and reason, as the trials' caveats say."""
    caveats: dict[str, set[str]] = {}
    rows = measured.trials.filter(pl.col("status") == "ok").explode("caveats")
    for cell, caveat in rows.select("cell", "caveats").unique().iter_rows():
        if caveat and _FALLS in caveat:
            caveats.setdefault(str(cell), set()).add(caveat.partition(_FALLS)[2])
    found: dict[tuple[Arm, str], list[Place]] = {}
    for arm in (question.have, *question.to):
        for place in question.places:
            cell = place.cells.get(arm)
            for said in sorted(caveats.get(cell.name, ())) if cell is not None else ():
                found.setdefault((arm, said), []).append(place)
    return [
        Fallback(arm, said.partition(": ")[0], said.partition(": ")[2], tuple(places))
        for (arm, said), places in found.items()
        if ": " in said
    ]


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
    cause = reason.partition(_REFUSED)[2].partition("; nor did ")[0]
    return re.sub(r", reason code \d+(; \d+ attempts in \d+ s)?$", "", cause)
