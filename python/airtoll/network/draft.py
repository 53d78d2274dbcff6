"""A network while a reader goes through its source.

Takes what each line says; gives fields and lines that ``judging`` makes a network of. Never keeps
the value of a line that it does not understand: it may hold a secret.
"""

from __future__ import annotations

from typing import Final

from attrs import define, field, frozen

from airtoll.network.hostap import Element
from airtoll.network.model import Line, Pmf, Role
from airtoll.network.radio import Band, band_of_channel, channel_at
from airtoll.policies import Akm, Cipher, EapMethod

#: A key longer than this is a line without one.
_LONGEST_KEY: Final = 60
_SECRET: Final = "a secret; not kept"
_NO_MATTER: Final = "changes neither policy nor radio"
_UNKNOWN: Final = "unknown to airtoll"


@frozen
class Offered:
    """The offer of one element, of WPA version 1 or RSN."""

    element: Element
    akms: tuple[Akm, ...]
    pairwise: tuple[Cipher, ...]


@define
class Security:
    """The security of a network by its source.

    ``known``: whether it says anything. ``wep``: cipher of static or dynamic WEP, 104 bits where
    the source names no length (``wep_length_unknown``). ``methods``: EAP methods that are stated.
    """

    known: bool = False
    offered: list[Offered] = field(factory=list)
    group: Cipher | None = None
    pmf: Pmf | None = None
    wep: Cipher | None = None
    shared_key: bool = False
    wep_length_unknown: bool = False
    port_control: bool = False
    dynamic_wep: bool = False
    methods: list[EapMethod] = field(factory=list)
    strange_methods: list[str] = field(factory=list)
    strange_akms: list[str] = field(factory=list)
    owe_transition: bool = False
    overriding: bool = False
    mac_filter: bool = False


@define
class Draft:
    """The fields of a network so far; names as those of ``Network``."""

    source: str
    format: str
    role: Role
    security: Security = field(factory=Security)
    ssid: str | None = None
    bssid: str | None = None
    interface: str | None = None
    in_use: bool | None = None
    enabled: bool = True
    phy: str | None = None
    band: Band | None = None
    channel: int | None = None
    width_mhz: int | None = None
    rate_mbps: float | None = None
    basic_rates_mbps: tuple[float, ...] = ()
    beacon_interval_tu: int | None = None
    signal_dbm: float | None = None
    stations: int | None = None
    country: str | None = None
    remarks: list[str] = field(factory=list)
    assumed: list[str] = field(factory=list)
    contradictions: list[str] = field(factory=list)
    understood: list[Line] = field(factory=list)
    set_aside: list[Line] = field(factory=list)
    not_understood: list[Line] = field(factory=list)

    def read(self, number: int, key: str, value: str, meaning: str) -> None:
        """Note a line that was understood."""
        self.understood.append(Line(number, key, value, meaning, self.source))

    def secret(self, number: int, key: str) -> None:
        """Note a line with a secret, without it."""
        self.set_aside.append(Line(number, key, None, _SECRET, self.source))

    def aside(self, number: int, key: str, why: str = _NO_MATTER) -> None:
        """Note a known line of no consequence here."""
        self.set_aside.append(Line(number, key, None, why, self.source))

    def strange(self, number: int, key: str, why: str = _UNKNOWN) -> None:
        """Note a line that is not understood, without its value."""
        name = key.strip() if len(key) <= _LONGEST_KEY else ""
        self.not_understood.append(Line(number, name or "?", None, why, self.source))

    def at_frequency(self, mhz: int) -> bool:
        """Set band and channel; False outside the bands."""
        found = channel_at(mhz)
        if found is not None:
            self.band, self.channel = found
        return found is not None

    def on_channel(self, channel: int) -> None:
        """Set the channel, and the band where the number tells it."""
        self.channel = channel
        self.band = self.band or band_of_channel(channel)

    def lines_of(self, other: Draft) -> None:
        """Take over the lines of a part of the source that holds for this network, too."""
        self.understood += other.understood
        self.set_aside += other.set_aside
        self.not_understood += other.not_understood
