"""Names for the parts of an overhead, and the symbol step of a cell in words.

Takes a cell; gives short text for figures and tables. Never computes an overhead.
"""

from __future__ import annotations

from typing import Final

from airtoll.analyse.decomposition import REMAINDER
from airtoll.analyse.symbols import full_frame
from airtoll.plan import Cell

#: ledger part -> label of its bar
SHORT: Final[dict[str, str]] = {
    "airtime_security_s": "security octets",
    "airtime_payload_s": "lost PHY modes",
    "airtime_ip_transport_s": "headers, fragments",
    "airtime_mac_phy_s": "preambles, padding",
    "airtime_ack_s": "acknowledgements",
    "airtime_contention_s": "medium access",
    "airtime_card_s": "waiting for the card",
    "airtime_interference_s": "interference",
    "airtime_neighbours_s": "neighbours",
    "airtime_retry_s": "retries, collisions",
    "airtime_protection_s": "RTS and CTS",
    "airtime_management_s": "handshakes",
    "crypto_exposed_s": "crypto not hidden",
    "airtime_idle_s": "hosts, wires (idle)",
    REMAINDER: "unexplained",
}


def symbol_step(cell: Cell) -> str:
    """The cost of the policy's octets for a full-size frame: octets, symbols and microseconds.

    Empty where the PHY has no symbols of its own per frame (aggregation) or a tunnel changes
    the packet.
    """
    frame, policy = full_frame(cell), cell.security
    added = policy.octets_per_mpdu + policy.octets_per_msdu
    if frame is None or policy.tunnels or added == 0:
        return ""
    before, after = frame.symbols(), frame.symbols(added)
    step = f"{frame.step_us(added):+.0f} us of {frame.airtime_us:.0f}"
    if before is None or after is None:
        return f"full frame: +{added} octets, {step}"
    return f"full frame: +{added} octets, {before} to {after} symbols, {step}"
