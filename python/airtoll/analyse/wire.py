"""The capacity of the cable between access point and server for a saturated flow."""

from __future__ import annotations

from typing import Final

from airtoll.plan import Cell
from airtoll.study.generations import wire_mbps

#: Octets of a packet on a cable besides its payload: Ethernet, preamble and gap, IPv4, UDP or TCP.
_OCTETS: Final = {"udp": 66, "tcp": 78}
#: Share of a cable's capacity from which the cable counts as full.
_FULL: Final = 0.98


def is_saturated(cell: Cell) -> bool:
    """Whether the cell's flows send as much as they can for the whole trial."""
    load = cell.load
    return (
        load.application == "stream" and load.offered_mbps is None and load.transfer_bytes is None
    )


def fills_the_wire(cell: Cell, throughput_bps: float) -> bool:
    """Whether a saturated flow of one direction with this throughput fills the cable."""
    settings, load = cell.settings, cell.load
    wired = settings.topology in ("uplink", "downlink")
    if not wired or load.direction == "both" or load.beside or not is_saturated(cell):
        return False
    payload = (load.payload_bytes or 1472) if load.transport == "udp" else 1460
    share = payload / (payload + _OCTETS[load.transport])
    most = 1e6 * wire_mbps(settings.wired, settings.phy) * share
    return throughput_bps >= _FULL * most
