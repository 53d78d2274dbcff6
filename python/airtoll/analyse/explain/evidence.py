"""Readings before and after a change, and the setting in which they were taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from attrs import field, frozen

Quantity = Literal[
    "throughput_bps",
    "loss_ratio",
    "delay_s",
    "retry_share",
    "legacy_share",
    "mpdus_per_frame",
    "reordered_share",
]
#: Quantities whose changes are factors; of the others changes are differences of shares.
FACTORS: Final = ("throughput_bps", "delay_s", "mpdus_per_frame")
#: Octets of IP and transport headers of a UDP datagram and of a TCP segment (IPv4, time stamps).
HEADERS: Final = {"udp": 28, "tcp": 52}
#: Octets that a TCP segment carries over an MTU of 1500.
SEGMENT: Final = 1448


@frozen
class Flow:
    """Traffic of a measurement. ``payload``: octets of a datagram, or of a full TCP segment.

    ``down``: towards the station. ``flows``: number of flows at once. ``mtu``: MTU of the tunnel's
    interface, octets (None: as the tunnel has it, or no tunnel).
    """

    transport: Literal["udp", "tcp"]
    down: bool
    payload: int = SEGMENT
    flows: int = 1
    mtu: int | None = None

    @property
    def packet(self) -> int:
        """Octets of the IP packet."""
        return self.payload + HEADERS[self.transport]

    @property
    def words(self) -> str:
        """``UDP down, 200 octets``."""
        way = f"{self.transport.upper()} {'down' if self.down else 'up'}"
        size = f", {self.payload} octets" if self.transport == "udp" else ""
        many = f", {self.flows} flows" if self.flows > 1 else ""
        mtu = f", MTU {self.mtu}" if self.mtu is not None else ""
        return way + size + many + mtu


@frozen
class Reading:
    """One quantity before and after; SI units, shares as fractions.

    ``before`` or ``after`` is None where it was not measured. ``error``: standard deviation of the
    change by the spread of the trials (of the logarithm for factors); 0 where it is unknown.
    """

    quantity: Quantity
    flow: Flow
    before: float | None
    after: float | None
    error: float = 0.0


@frozen
class Air:
    """Throughputs of one flow that the air carries without any fault, bit/s.

    ``before``, ``after``: with the policies before and after. ``single``: with the policy after and
    one MPDU per frame. ``legacy``: with the policy after at the highest rate without HT; None where
    the PHY has no such fall-back. ``slower``: with the policy after at lower MCSs, highest first.
    ``rate_bps``: PHY rate. ``aggregates``: whether frames carry several MPDUs.
    """

    before: float
    after: float
    single: float
    legacy: float | None
    slower: tuple[float, ...]
    rate_bps: float
    aggregates: bool


@frozen
class Setting:
    """The link and the devices.

    ``air``: figures by flow. ``device_bps``: throughput with the policy after where a device has
    the costs of its profile, by device and flow; empty where no profile is named. ``tunnel``: whether the policy after has a tunnel that the policy before lacks. ``falls_back``:
    whether the policy after forbids HT (IEEE Std 802.11-2020, 12.2.4: WEP and TKIP). ``encrypts``:
    whether the policy after encrypts data and that before does not. ``adds_pmf``: whether the
    policy after protects management frames and that before does not.
    """

    air: Mapping[Flow, Air] = field(repr=False)
    device_bps: Mapping[str, Mapping[Flow, float]] = field(factory=dict, repr=False)
    tunnel: bool = False
    falls_back: bool = False
    encrypts: bool = True
    adds_pmf: bool = False
