"""The content of a device profile.

Takes a parsed TOML mapping; gives frozen values. Every number has its source. A fitted number and
the profile as a whole name the readings of the fit. Never does IO.

Costs on the CPU are in cycles, so that one published cost serves devices of different clocks;
costs of an engine of its own are in time.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from airtoll.border import AkmSuite, CipherSuite, Meanwhile, Overlap, TcpSystem

Engine = Literal["inline", "coprocessor", "cpu"]


#: Encodings of the Minimum MPDU Start Spacing, us (IEEE 802.11-2020, table 9-184).
MPDU_START_SPACINGS_US = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
#: Ciphers without HT rates (IEEE 802.11-2020, 12.6.1.1), and none.
_WITHOUT_AMPDU = (CipherSuite.OPEN, CipherSuite.WEP_40, CipherSuite.WEP_104, CipherSuite.TKIP)


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Number(_Table):
    """A number and its source."""

    value: float = Field(ge=0)
    source: str = Field(min_length=3, description="datasheet, publication, or method of the fit")
    fitted: bool = Field(False, description="true for a number fitted to readings")
    error: float | None = Field(
        None,
        ge=0,
        description="of a fitted number: median size of the error of what it predicts, a share",
    )


class Reading(_Table):
    """Readings of a data set that a number was fitted to; empty keys mean every value."""

    dataset: str
    table: str | None = None
    configuration: str | None = None
    security: str | None = None
    transport: str | None = None
    offered_mbps: str | None = None
    quantity: str | None = Field(
        None, description="metric that was fitted, or `overhead`; default: every one"
    )


_ZERO = Number.model_construct(value=0.0, source="by definition: this part takes no time")


class Host(_Table):
    """Cost of the network stack of the operating system, CPU cycles."""

    tx_packet_cycles: Number = _ZERO
    rx_packet_cycles: Number = _ZERO
    tx_octet_cycles: Number = _ZERO
    rx_octet_cycles: Number = _ZERO


class CipherCost(_Table):
    """Cost of one cipher operation on one frame.

    ``engine``: ``inline`` (in the radio's data path), ``coprocessor`` (a queue of its own) or
    ``cpu`` (competes with the stack). Cycles go with ``cpu``, times with the others.
    """

    engine: Engine
    frame_cycles: Number | None = None
    octet_cycles: Number | None = None
    frame_us: Number | None = None
    octet_ns: Number | None = None

    @model_validator(mode="after")
    def _units(self) -> CipherCost:
        wrong = (
            (self.frame_us, self.octet_ns)
            if self.engine == "cpu"
            else (self.frame_cycles, self.octet_cycles)
        )
        if any(number is not None for number in wrong):
            wanted = "cycles" if self.engine == "cpu" else "frame_us and octet_ns"
            raise ValueError(f"engine {self.engine!r} takes its cost in {wanted}")
        return self


class TunnelCost(_Table):
    """Cost of one end of a tunnel for one packet, CPU cycles.

    ``packet_cycles`` plus ``octet_cycles`` for each octet of the outer packet. ``parallel``: the
    kernel spreads this work over all cores. ``serial_cycles``: the part of a flow's packet that
    one core does, whatever the number of cores. ``unknown``: why there is no cost.
    """

    packet_cycles: Number | None = None
    octet_cycles: Number | None = None
    serial_cycles: Number | None = None
    parallel: bool = False
    unknown: str | None = Field(None, min_length=3)

    @model_validator(mode="after")
    def _known_or_not(self) -> TunnelCost:
        known = (self.packet_cycles, self.octet_cycles, self.serial_cycles)
        if (self.unknown is None) != any(number is not None for number in known):
            raise ValueError("give packet_cycles or octet_cycles, or say why the cost is unknown")
        return self


class Energy(_Table):
    """Power draw by state, watts, and the energy of packets.

    ``idle_w``: awake. ``tx_w``, ``rx_w``, ``cpu_w``: on top while the radio transmits or receives
    and while the CPU works. ``doze_w``: in place of ``idle_w`` while it dozes. ``packet_mj``:
    energy of a packet that crosses the host, millijoules. ``beacon_awake_ms``: time awake for a
    beacon. ``sleep_w``: deep sleep, off the network. ``wake_w``: from a wake-up to the first frame
    of a join; ``idle_w`` where it is not stated.
    """

    tx_w: Number
    rx_w: Number
    idle_w: Number
    cpu_w: Number
    doze_w: Number | None = None
    beacon_awake_ms: Number | None = None
    packet_mj: Number = _ZERO
    sleep_w: Number | None = None
    wake_w: Number | None = None

    @model_validator(mode="after")
    def _dozing(self) -> Energy:
        if (self.doze_w is None) != (self.beacon_awake_ms is None):
            raise ValueError("doze_w and beacon_awake_ms come together")
        return self


class Radio(_Table):
    """Settings of the radio and its driver.

    ``mpdu_start_spacing_us`` and ``cipher_delimiters`` act where the PHY of the study has A-MPDUs
    (802.11n and later): the first on what the device is sent, the second on what it sends.
    """

    frame_burst_us: Number = Number.model_construct(
        value=0.0, source="IEEE 802.11-2020 clause 10.3: one frame per contention"
    )
    msdu_lifetime_ms: Number | None = Field(
        None, description="age at which the driver drops a frame; 0: it never does"
    )
    mpdu_start_spacing_us: Number | None = Field(
        None,
        description="Minimum MPDU Start Spacing that the device announces: 0 (no restriction), "
        "0.25, 0.5, 1, 2, 4, 8 or 16 us (IEEE 802.11-2020, table 9-184)",
    )
    cipher_delimiters: dict[CipherSuite, Number] = Field(
        default_factory=dict,
        description="delimiters of 4 octets that the device puts after each encrypted MPDU of an "
        "A-MPDU but the last, by cipher",
    )

    @model_validator(mode="after")
    def _in_range(self) -> Radio:
        spacing = self.mpdu_start_spacing_us
        if spacing is not None and spacing.value not in MPDU_START_SPACINGS_US:
            raise ValueError(
                f"mpdu_start_spacing_us: {spacing.value:g} is none of 0, 0.25, 0.5, 1, 2, 4, 8, 16"
            )
        for cipher, count in self.cipher_delimiters.items():
            if cipher in _WITHOUT_AMPDU:
                raise ValueError(f"cipher_delimiters: {cipher} is never in an A-MPDU")
            if not (count.value.is_integer() and 1 <= count.value <= 255):
                raise ValueError(f"cipher_delimiters.{cipher}: {count.value:g} is not 1 to 255")
        return self


class CardCost(_Table):
    """Time of a network card for one frame: ``frame_us`` plus ``octet_ns`` for each octet.

    ``random_us``: mean of a further time that is drawn for each frame (exponential distribution).
    """

    frame_us: Number
    octet_ns: Number | None = None
    random_us: Number | None = None


class Card(_Table):
    """A network card that prepares frames before it contends for the air.

    ``overlap``: ``serial`` (the next frame is prepared when the last exchange is over),
    ``pipelined`` or ``cut_through``. ``meanwhile``: the part of contention that passes while a
    frame is prepared. ``cipher``: costs by cipher suite, in addition to ``fetch``, which every
    frame costs.
    """

    overlap: Overlap
    meanwhile: Meanwhile = Meanwhile.NOTHING
    fetch: CardCost | None = None
    cipher: dict[CipherSuite, CardCost] = Field(default_factory=dict)


class Names(_Table):
    """Everything of a kind that a device has, by name, and the source; it lacks all else."""

    values: tuple[str, ...]
    source: str = Field(min_length=3, description="datasheet, driver, or list of the device")

    def __contains__(self, name: object) -> bool:
        return name in self.values


class Count(_Table):
    """A whole number and its source."""

    value: int = Field(ge=0)
    source: str = Field(min_length=3)


class Flag(_Table):
    """Whether a device has something, and the source."""

    value: bool
    source: str = Field(min_length=3)


class Capabilities(_Table):
    """Abilities of a device's radio. A field that is left out is unknown, not absent.

    ``chips``: the radios that the other fields hold for, where boards have several.
    ``ciphers``: pairwise ciphers that it can use at all; ``hardware_ciphers``: those of them that
    the radio works out. ``akms``: key managements, by the names of ``airtoll policies``. ``pmf``:
    protected management frames. ``phys``, ``bands`` (GHz), ``widths_mhz``, ``streams``: of its
    radio; ``mcs``: highest MCS by PHY. ``ampdu``: aggregates MPDUs. ``power_save``: legacy,
    wmm (U-APSD), twt. ``mlo``: several links at the same time; enhanced single-radio operation
    is not.
    """

    chips: Names | None = None
    ciphers: Names | None = None
    hardware_ciphers: Names | None = None
    akms: Names | None = None
    pmf: Flag | None = None
    phys: Names | None = None
    bands: Names | None = None
    widths_mhz: Names | None = None
    streams: Count | None = None
    mcs: dict[str, Count] = Field(default_factory=dict)
    ampdu: Flag | None = None
    power_save: Names | None = None
    mlo: Flag | None = None

    @model_validator(mode="after")
    def _hardware_is_a_part(self) -> Capabilities:
        if self.ciphers and self.hardware_ciphers:
            missing = sorted(set(self.hardware_ciphers.values) - set(self.ciphers.values))
            if missing:
                raise ValueError(f"hardware_ciphers: {missing[0]} is not among the ciphers")
        known = {
            "ciphers": (self.ciphers, CipherSuite),
            "hardware_ciphers": (self.hardware_ciphers, CipherSuite),
            "akms": (self.akms, AkmSuite),
        }
        for field, (names, suites) in known.items():
            for name in names.values if names else ():
                if name not in {str(suite) for suite in suites}:
                    raise ValueError(f"{field}: unknown {name!r}")
        return self

    def works_out(self, suite: str) -> bool | None:
        """Whether the radio works out a cipher, so that the CPU does not; None where unknown."""
        hardware = self.hardware_ciphers
        return None if hardware is None else suite in hardware.values

    def stated(self) -> dict[str, tuple[str, str]]:
        """Every stated field: its value in words and its source."""
        found: dict[str, tuple[str, str]] = {}
        for field in type(self).model_fields:
            value = getattr(self, field)
            if isinstance(value, Names):
                found[field] = (", ".join(value.values) or "none", value.source)
            elif isinstance(value, Flag):
                found[field] = ("yes" if value.value else "no", value.source)
            elif isinstance(value, Count):
                found[field] = (str(value.value), value.source)
        for phy, count in self.mcs.items():
            found[f"mcs.{phy}"] = (str(count.value), count.source)
        return found


class Profile(_Table):
    """A device."""

    name: str
    about: str
    clock_hz: Number
    tcp: TcpSystem = Field(TcpSystem.GENERIC, description="operating system, by its TCP")
    host: Host = Host.model_construct()
    radio: Radio = Radio.model_construct()
    card: Card | None = None
    cipher: dict[str, CipherCost] = Field(default_factory=dict)
    cores: Number | None = Field(None, description="cores of the CPU; one where unknown")
    tunnel: dict[str, TunnelCost] = Field(
        default_factory=dict, description="costs of the ends of tunnels, by suite"
    )
    operation: dict[str, Number] = Field(
        default_factory=dict, description="cycles per handshake operation"
    )
    energy: Energy | None = None
    capabilities: Capabilities = Capabilities.model_construct()
    seen: tuple[Reading, ...] = Field((), description="readings of the fit")
    gaps: tuple[str, ...] = Field((), description="costs without a published source")

    @model_validator(mode="after")
    def _fits_name_their_readings(self) -> Profile:
        if bool(self.fitted_numbers()) != bool(self.seen):
            raise ValueError("fitted numbers and the readings in `seen` must come together")
        return self

    def numbers(self) -> dict[str, Number]:
        """Every number of the profile by its dotted place."""
        return dict(_numbers("", self))

    def fitted_numbers(self) -> dict[str, Number]:
        """The numbers that were fitted to readings."""
        return {place: number for place, number in self.numbers().items() if number.fitted}

    def tunnel_seconds(self, suite: str, octets: int) -> tuple[float, float] | None:
        """Time of one end of a tunnel per packet and per octet, seconds, where packets of
        ``octets`` (outer) follow one another; None without a cost.

        With several cores the work of successive packets overlaps, so that a packet takes its
        share of all cores, or the part that one core does for each packet of a flow, whichever is
        longer.
        """
        cost = self.tunnel.get(suite)
        if cost is None or cost.unknown is not None or self.clock_hz.value == 0:
            return None
        cores = self.cores.value if cost.parallel and self.cores is not None else 1.0
        fixed = self.seconds(cost.packet_cycles) / cores
        each = self.seconds(cost.octet_cycles) / cores
        serial = self.seconds(cost.serial_cycles)
        return (serial, 0.0) if serial > fixed + each * octets else (fixed, each)

    def seconds(self, cycles: Number | None) -> float:
        """The time that some cycles take on this device."""
        if cycles is None or self.clock_hz.value == 0:
            return 0.0
        return cycles.value / self.clock_hz.value


def _numbers(place: str, value: object) -> list[tuple[str, Number]]:
    if isinstance(value, Number):
        return [(place, value)]
    if isinstance(value, BaseModel):
        items = [(name, getattr(value, name)) for name in type(value).model_fields]
    elif isinstance(value, dict):
        items = list(value.items())
    else:
        return []
    found = []
    for name, inner in items:
        found += _numbers(f"{place}.{name}" if place else name, inner)
    return found
