"""The cost of added octets for one frame on the air: whole OFDM symbols, not octets.

PHY, rate and octets give symbols and microseconds of one PPDU, the full-size data frame of a flow.
The cost of several frames together is in the ledger.

Airtimes: IEEE 802.11-2020 equation 17-29 (OFDM, ERP-OFDM), clause 16.2.3.5 (DSSS, HR/DSSS).
"""

from __future__ import annotations

from attrs import frozen

from airtoll.analyse.ceiling import airtime_us, symbols
from airtoll.plan import Cell
from airtoll.study.generations import HIGHEST_MBPS

_MAC = 28  # header 24, FCS 4
_ADDRESS_4 = 6
_LLC = 8
_IP = {"ipv4": 20, "ipv6": 40}
_UDP, _TCP = 8, 20


@frozen
class FullFrame:
    """The full-size data frame of a flow: ``octets`` of its MPDU without security."""

    phy: str
    rate_mbps: float
    preamble: str
    octets: int

    def symbols(self, added: int = 0) -> int | None:
        """OFDM symbols of the frame with ``added`` octets; None on a PHY without symbols."""
        return symbols(self.phy, self.rate_mbps, self.octets + added)

    def step_us(self, added: int) -> float:
        """Airtime that ``added`` octets cost the frame, microseconds."""
        return airtime_us(self.phy, self.rate_mbps, self.preamble, self.octets + added) - (
            airtime_us(self.phy, self.rate_mbps, self.preamble, self.octets)
        )

    @property
    def airtime_us(self) -> float:
        """Airtime of the frame without security, microseconds."""
        return airtime_us(self.phy, self.rate_mbps, self.preamble, self.octets)


def full_frame(cell: Cell) -> FullFrame | None:
    """The full-size frame of a cell's flow; None where aggregation or EDCA makes another frame."""
    settings, load = cell.settings, cell.load
    if settings.phy not in HIGHEST_MBPS or settings.edca or settings.rate_control != "fixed":
        return None
    if any(station.rate_mbps or station.phy for station in settings.stations):
        return None
    head = _IP[load.ip]
    if load.transport == "udp":
        packet = head + _UDP + (load.payload_bytes or 1500 - head - _UDP)
        if packet > 1500:
            packet = 1500  # IP fragments: all but the last are full
    else:
        packet = min(1500, head + _TCP + (load.mss_bytes or 1500 - head - _TCP))
    mac = _MAC + (_ADDRESS_4 if settings.four_addresses else 0)
    return FullFrame(
        settings.phy,
        settings.rate_mbps or HIGHEST_MBPS[settings.phy],
        settings.preamble or "short",
        mac + _LLC + packet,
    )
