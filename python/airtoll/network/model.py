"""A network and its settings: values only.

Takes nothing; gives the frozen types that readers fill. A value that a source does not name is
None, never a default. Secrets are in none of them.
"""

from __future__ import annotations

from typing import Literal

from attrs import asdict, frozen

from airtoll.network.radio import Band
from airtoll.policies import Cipher, EapMethod, Policy, resolve

#: Origin of the view: settings of an access point or a station, or frames that a station heard.
Role = Literal["access point", "station", "heard"]
Pmf = Literal["off", "optional", "required"]


@frozen
class Line:
    """One line of a source.

    ``number``: from 1; 0 where a source has no lines. ``value``: None where it is a secret or was
    not understood. ``meaning``: what it says, or why it was left out.
    """

    number: int
    key: str
    value: str | None
    meaning: str
    source: str = ""


@frozen
class Network:
    """One network (BSS) and what its sources say.

    ``policy``: the airtoll policy, None where the sources leave it open without a usual choice.
    ``candidates``: all policies that agree with the sources, ``policy`` first. ``offers``: links
    that stations may choose, those that a new station prefers first. ``remarks``: facts that the
    policy's name does not have. ``assumed``: choices made where the sources are silent.
    ``contradictions``: settings that exclude or defeat one another. ``rate_mbps``: PHY rate of the
    link of a station now. ``signal_dbm``: level at the station. ``in_use``: whether a station is
    connected to it; ``enabled``: whether its settings let it start. ``set_aside``: lines that
    change neither policy nor radio.
    """

    sources: tuple[str, ...]
    formats: tuple[str, ...]
    role: Role
    ssid: str | None = None
    bssid: str | None = None
    interface: str | None = None
    in_use: bool | None = None
    enabled: bool = True
    policy: str | None = None
    candidates: tuple[str, ...] = ()
    offers: tuple[str, ...] = ()
    pmf: Pmf | None = None
    group_cipher: Cipher | None = None
    eap_method: EapMethod | None = None
    fast_transition: bool = False
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
    remarks: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    contradictions: tuple[str, ...] = ()
    understood: tuple[Line, ...] = ()
    set_aside: tuple[Line, ...] = ()
    not_understood: tuple[Line, ...] = ()

    @property
    def name(self) -> str:
        """The SSID, or what else tells the network apart."""
        if self.ssid:
            return self.ssid
        return f"hidden network {self.bssid}" if self.bssid else "network without a name"

    @property
    def security(self) -> Policy | None:
        """The policy with its parts."""
        return None if self.policy is None else resolve(self.policy)

    def to_json(self) -> dict[str, object]:
        """Plain values: the fields, and ``name``."""
        return {"name": self.name, **asdict(self)}
