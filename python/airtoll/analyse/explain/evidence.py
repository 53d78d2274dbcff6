"""Readings before and after a change, and the setting in which they were taken."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from attrs import evolve, field, frozen

from airtoll.analyse.student import t_quantile

Quantity = Literal[
    "throughput_bps",
    "loss_ratio",
    "delay_s",
    "retry_share",
    "busy_share",
    "others_share",
    "group_share",
    "rate_bps",
    "mpdus_per_frame",
    "reordered_share",
    "cpu_share",
    "again_bps",
    "cable_bps",
    "width_mhz",
    "streams",
    "guard_ns",
    "signal_dbm",
    "software_share",
]
#: Shares of a capture: ``busy_share`` of the time in which captured frames are on the air, and of
#: their airtime without acknowledgements ``others_share`` of other stations, ``group_share`` of
#: frames that are of no station. ``cpu_share``: load of the busiest core of a device on the path
#: (access point, station, end of a tunnel). ``software_share``: 1 where a CPU ciphers the link at
#: one of its ends, else 0, as ``airtoll doctor --radio`` says.
OF_AIRTIME: Final = ("busy_share", "others_share", "group_share")
#: Width of the channel, spatial streams and guard interval that the link uses during the test, as
#: ``iw dev wlan0 link`` and ``iw dev wlan0 station dump`` print them.
OF_FORM: Final = ("width_mhz", "streams", "guard_ns")
Form = Literal["width_mhz", "streams", "guard_ns"]
Transport = Literal["udp", "tcp"]
#: Quantities whose changes are factors; of the others changes are differences of shares.
FACTORS: Final = (
    "throughput_bps",
    "delay_s",
    "rate_bps",
    "mpdus_per_frame",
    "again_bps",
    "cable_bps",
    *OF_FORM,
)
#: Throughputs of a flow. ``again_bps``: with the first policy, measured once more. ``cable_bps``:
#: over a cable in place of the radio link.
THROUGHPUTS: Final = ("throughput_bps", "again_bps", "cable_bps")
#: Octets of IP and transport headers of a UDP datagram and of a TCP segment (IPv4, time stamps).
HEADERS: Final[Mapping[Transport, int]] = {"udp": 28, "tcp": 52}
#: Octets that a TCP segment carries over an MTU of 1500, and the largest UDP datagram there.
SEGMENT: Final = 1448
DATAGRAM: Final = 1472


@frozen
class Flow:
    """Traffic of a measurement. ``payload``: octets of a datagram, or of a full TCP segment.

    ``down``: towards the station. ``flows``: number of flows at once. ``mtu``: MTU of the tunnel's
    interface, octets (None: as the tunnel has it, or no tunnel).
    """

    transport: Transport
    down: bool
    payload: int = SEGMENT
    flows: int = 1
    mtu: int | None = None

    @property
    def packet(self) -> int:
        """Octets of the IP packet."""
        return self.payload + HEADERS[self.transport]

    @property
    def alone(self) -> Flow:
        """One flow of the kind: the air carries several of them as it carries one."""
        if self.flows == 1:
            return self
        return evolve(self, flows=1)

    @property
    def words(self) -> str:
        """``UDP down, 200 octets``."""
        way = f"{self.transport.upper()} {'down' if self.down else 'up'}"
        usual = DATAGRAM if self.transport == "udp" else SEGMENT
        size = f", {self.payload} octets" if self.payload != usual else ""
        many = f", {self.flows} flows" if self.flows > 1 else ""
        mtu = f", MTU {self.mtu}" if self.mtu is not None else ""
        return way + size + many + mtu


@frozen
class Reading:
    """One quantity before and after; SI units, shares as fractions.

    ``before`` or ``after`` is None where it was not measured. ``error``: standard deviation of the
    change by the spread of the trials (of the logarithm for factors); 0 where it is unknown.
    ``offered_bps``: load under which a loss was measured; None where it is unknown. ``spread``,
    ``freedom``: standard deviation of the change by the trials alone, and its degrees of freedom.
    ``supposed``: ``before`` follows from other readings (:func:`supposed`).
    """

    quantity: Quantity
    flow: Flow
    before: float | None
    after: float | None
    error: float = 0.0
    offered_bps: float | None = None
    spread: float = 0.0
    freedom: float = math.inf
    supposed: bool = False

    def margin(self, level: float) -> float:
        """Half of the interval of the change by the trials alone, at a level such as 0.95."""
        known = self.spread > 0
        freedom = self.freedom if known else math.inf
        return float(t_quantile(level, freedom)) * (self.spread if known else self.error)


@frozen
class Air:
    """Throughputs of one flow that the air carries without any fault, bit/s.

    ``before``, ``after``: with the policies before and after. ``single``: with the policy after and
    one MPDU per frame. ``legacy``: with the policy after at the highest rate without HT; None where
    the PHY has no such fall-back. ``slower``: with the policy after at lower rates, highest first;
    ``slower_rates``: these PHY rates.
    ``fragmented``: with the policy after where each full packet leaves a tunnel as two fragments.
    ``reduced``: with the policy after and one part of the link's form at another value, with the
    PHY rate then. ``carded``: with a card that does nothing while it ciphers, by its place (``ap``,
    ``station``) and the time per frame, us. ``rate_bps``: PHY rate. ``aggregates``: whether frames
    carry several MPDUs. ``answers_alone``: TCP with the policy after whose acknowledgements, one
    for two segments, travel one MPDU per frame; ``answers_merged``: one for 64 KiB; None of other
    flows, and without aggregation.
    """

    before: float
    after: float
    single: float
    legacy: float | None
    slower: tuple[float, ...]
    rate_bps: float
    aggregates: bool
    fragmented: float | None = None
    carded: Mapping[tuple[str, float], float] = field(factory=dict)
    slower_rates: tuple[float, ...] = ()
    answers_alone: float | None = None
    answers_merged: float | None = None
    reduced: Mapping[tuple[Form, float], tuple[float, float]] = field(factory=dict)


@frozen
class Change:
    """The difference that the change of policy makes to frames.

    ``cipher``: data frames have a cipher that they did not have. ``no_ht``: the cipher after is one
    that may not be used with HT (IEEE Std 802.11-2020, 12.2.4: WEP and TKIP), on a PHY with HT;
    ``no_ht_before``: so was that before. ``pmf``: management frames are protected, and were not;
    ``pmf_perhaps``: so they are where the station did without before, as it was free to;
    ``pmf_required``: the policy after cannot do without.
    ``tunnel``: the policy after has a tunnel; ``new_tunnel``: and it is another one than before.
    ``suite``: name of the cipher after, None without one.
    """

    cipher: bool = True
    no_ht: bool = False
    no_ht_before: bool = False
    pmf: bool = False
    pmf_perhaps: bool = False
    pmf_required: bool = False
    tunnel: bool = False
    new_tunnel: bool = False
    suite: str | None = None

    @property
    def of_frames(self) -> bool:
        """Whether any frame differs once the station is in."""
        return self.cipher or self.pmf or self.new_tunnel


@frozen
class Heard:
    """Other networks that were heard on the channel.

    ``networks``: their number; ``level_dbm``: at which they are heard, None where there is none.
    ``left``: share of each flow's throughput that is left beside them, where each of them always
    has something to send.
    """

    networks: int
    level_dbm: float | None = None
    left: Mapping[Flow, float] = field(factory=dict)

    @property
    def most_taken(self) -> float:
        """The largest share of a flow that they take."""
        return 1 - min(self.left.values(), default=1.0)


@frozen
class Setting:
    """The link and the devices.

    ``air``: figures by flow. ``device_bps``: throughput with the policy after where a device has
    the costs of its profile, by device and flow; empty where no profile is named. ``in_software``:
    devices whose profile lists ciphers in hardware, and not that of the policy after, with words;
    ``in_hardware``: those whose profile lists that cipher.
    ``aes_ns``: time per octet, ns, in which the CPU of a named device works out the cipher after,
    by the cost of an AES block in its profile; by device.
    ``without_pmf``: settings in the words of a file with which a station may do without 802.11w,
    where the policy after requires it; empty where nothing does.
    ``form``: width, streams and guard interval as stated. ``heard``: other networks on the channel;
    None where that is unknown.
    """

    air: Mapping[Flow, Air] = field(repr=False)
    change: Change = Change()
    device_bps: Mapping[str, Mapping[Flow, float]] = field(factory=dict, repr=False)
    in_software: Mapping[str, str] = field(factory=dict)
    in_hardware: Mapping[str, str] = field(factory=dict)
    aes_ns: Mapping[str, float] = field(factory=dict)
    without_pmf: str = ""
    policies: tuple[str, str] = ("open", "wpa2-psk-ccmp")
    phy: str = "802.11ac"
    form: Mapping[Form, float] = field(factory=dict)
    heard: Heard | None = None

    def of(self, flow: Flow) -> Air:
        """The air of a flow. Raises ``KeyError``."""
        return self.air[flow.alone]


def supposed(setting: Setting, reading: Reading, readings: Sequence[Reading]) -> Reading:
    """A throughput with a value before, where it has none and other readings suggest one.

    The flow then had the least share of the air that another one was measured to have.
    """
    if reading.before is not None or reading.quantity not in ("throughput_bps", "again_bps"):
        return reading
    firsts = {
        one.flow: one.before
        for one in readings
        if one.quantity == "throughput_bps" and one.before is not None
    }
    if reading.flow in firsts:
        return evolve(reading, before=firsts[reading.flow])
    shares = [before / setting.of(flow).before for flow, before in firsts.items()]
    if not shares:
        return reading
    return evolve(reading, before=min(shares) * setting.of(reading.flow).before, supposed=True)
