"""Faults of radios and drivers under a policy: ``card`` of a scenario.

Takes a cell; gives why a fault cannot occur in it, and a line about one that does.
"""

from __future__ import annotations

from airtoll.plan import Cell, multi_link
from airtoll.policies import display_name

#: PHYs before A-MPDUs.
_UNAGGREGATED = ("802.11b", "802.11a", "802.11g")


def why_not(cell: Cell) -> str | None:
    """Why a fault of the cell's radios cannot occur, or None."""
    if not stops_aggregation(cell):
        return None
    phys = {one.phy for one in multi_link.each(cell.settings)}
    if phys <= set(_UNAGGREGATED):
        return f"card.no_aggregation: {cell.settings.phy} has no A-MPDU that could be missing"
    return None


def stops_aggregation(cell: Cell) -> bool:
    """Whether radios send no A-MPDU under the policy of the cell."""
    return cell.policy in cell.settings.card.no_aggregation


def notes(cell: Cell) -> tuple[str, ...]:
    """Faults that act in the cell, one line each."""
    if not stops_aggregation(cell):
        return ()
    return (
        f"card.no_aggregation: under {display_name(cell.security)} each frame carries one MPDU, "
        "because the driver begins no block ack session",
    )
