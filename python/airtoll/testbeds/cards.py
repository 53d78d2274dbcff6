"""Faults of radios and drivers under a policy: ``card`` of a scenario.

Takes a cell; gives why a fault cannot occur in it, and a line about one that does.
"""

from __future__ import annotations

from airtoll.plan import Cell, multi_link
from airtoll.policies import display_name

#: Link ciphers without packet numbers that a receiver compares.
_UNNUMBERED = ("open", "wep-40", "wep-104")
#: PHYs before A-MPDUs.
_UNAGGREGATED = ("802.11b", "802.11a", "802.11g")


def why_not(cell: Cell) -> str | None:
    """Why a fault of the cell's radios cannot occur, or None."""
    if cell.settings.card.reorders_packet_numbers and cell.settings.queue_type != "fq_codel":
        return (
            'card.reorders_packet_numbers needs queue_type = "fq_codel": other queues keep the '
            "order of frames for a station"
        )
    if not stops_aggregation(cell):
        return None
    phys = {one.phy for one in multi_link.each(cell.settings)}
    if phys <= set(_UNAGGREGATED):
        return f"card.no_aggregation: {cell.settings.phy} has no A-MPDU that could be missing"
    return None


def no_closed_form(cell: Cell) -> str | None:
    """Why a fault of the cell's radios has no closed form, or None."""
    if _drops_replays(cell):
        return "card.reorders_packet_numbers: no closed form has the order of packets in queues"
    return None


def _drops_replays(cell: Cell) -> bool:
    """Whether receivers compare packet numbers that are out of order."""
    return (
        cell.settings.card.reorders_packet_numbers
        and cell.security.link.cipher.value not in _UNNUMBERED
    )


def stops_aggregation(cell: Cell) -> bool:
    """Whether radios send no A-MPDU under the policy of the cell."""
    return cell.policy in cell.settings.card.no_aggregation


def notes(cell: Cell) -> tuple[str, ...]:
    """Faults that act in the cell, one line each."""
    said = []
    if stops_aggregation(cell):
        said.append(
            f"card.no_aggregation: under {display_name(cell.security)} each frame carries one "
            "MPDU, because the driver begins no block ack session"
        )
    if _drops_replays(cell):
        said.append(
            "card.reorders_packet_numbers: frames get their packet numbers before the queues of "
            "their flows, and receivers drop those that come late as replays"
        )
    return tuple(said)
