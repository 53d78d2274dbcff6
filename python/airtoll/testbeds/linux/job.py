"""Jobs to the machine that carries out a trial, and their outcomes: plain values.

Takes and gives JSON-able values, so that the same trial runs on this host, in the guest or
beside a radio. Imports neither the study model nor the observation schema: in an emulated guest
every import counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

import attrs
from attrs import field, frozen

from airtoll.testbeds.linux.conditions import Conditions
from airtoll.testbeds.linux.hosts.cables import Cable
from airtoll.testbeds.linux.hosts.plain import read
from airtoll.testbeds.linux.walking import Walk

#: The device of the access points in ``Job.devices``: each of them has one of its own.
ACCESS_POINTS: Final = "ap"

#: Access category -> differentiated services code point whose first three bits are a priority of
#: it (IEEE 802.11-2020, table 10-1): the class selectors 1, 0, 5 and 6 (RFC 2474 section 4.2.2).
DSCP: Final = {"background": 8, "best-effort": 0, "video": 40, "voice": 48}

_PERCENTILES: Final = (50, 95, 99)


@frozen
class Flow:
    """The traffic of one trial; fields as in a study's traffic table.

    ``transport``: tcp or udp. ``direction``: up, down or both. Rates in bit/s, lengths in octets,
    times in seconds; None means as the tools do by default.
    """

    transport: str = "tcp"
    ip: str = "ipv4"
    direction: str = "up"
    application: str = "stream"
    offered_bps: float | None = None
    payload_octets: int | None = None
    write_octets: int | None = None
    mss_octets: int | None = None
    window_octets: int | None = None
    congestion_control: str | None = None
    access_category: str = "best-effort"
    transfer_octets: int | None = None
    request_octets: int = 64
    response_octets: int = 64
    duration_s: float = 10.0
    warm_up_s: float = 0.0
    per_station: int = 1
    stations: tuple[str, ...] | None = None
    series: bool = False

    @property
    def dscp(self) -> int:
        """The differentiated services field by which mac80211 chooses the access category."""
        return DSCP[self.access_category]


@frozen
class Foreign:
    """An access point that airtoll does not drive, as it was verified from the air."""

    bssid: str
    frequency_mhz: int


@frozen
class Job:
    """One trial.

    ``roam``: none, or the trigger of a move to the second AP: forced (the supplicant is told),
    signal (the first AP fades). ``handover``: none, or how the first station joins the second
    AP during the traffic (full, cached-pmk, fast-transition), ``handover_at_s`` after the
    traffic's start; ``roams`` then are the moves before it. ``handover_path``: the access points
    (from 1) that the station moves to, ``handover_every_s`` apart; with ``walk`` the levels along
    it decide. ``access_points``: how many there are. ``deauthenticate_at_s``: when, after the
    traffic's start, the AP deauthenticates all stations. ``mobile_ip``: the second AP is in
    another network, reached by Mobile IPv4. ``domains``: a home and a foreign domain, and which
    scenario in them (n1 to n5, r1 to r4; see ``airtoll.testbeds.domains``); ``registration``:
    whether its mobile node registers with Mobile IPv4 at home, from abroad (foreign), or not (off).
    ``bridges``: stations with four addresses and a host on a cable behind them.
    ``tls``: version of the EAP methods with TLS, 1.2 or 1.3.
    ``chain``: algorithm of the certificates of EAP (``credentials.ALGORITHMS``).
    ``capture_traffic``: keep the capture running during the traffic. ``fault``: none, or the
    injected fault: password (the station's is wrong), radius (the server is stopped before the
    station joins), hostapd (killed during the traffic), disk (the capture of the air gets 16 KiB of
    room). ``kill``: a program whose running processes are killed, and when, in seconds after the
    trial's beginning.

    For a medium: ``levels_dbm``: station and the level between it and the access points;
    ``hidden``: stations that never sense one another; ``queue_frames``: frames that wait per radio
    and access category; ``noise_figure_db`` of receivers; ``carrier_sense_dbm``: power that makes
    the medium busy; ``seed`` of back-offs and losses. None: as the medium has it by default.
    ``cable``: between access points and server; None: one that takes no time.
    ``radius_cable``: of a RADIUS server apart from that server; None: the server's own.
    ``proxies``: cables of RADIUS proxies, each towards the access point, whose proxy is the first.
    ``neighbours_known``: whether hosts of one subnet know all link-layer addresses from the start.
    ``devices``: whose processors take virtual time: the JSON of ``border.MediumDevices``, with
    names of stations and ACCESS_POINTS as radios; None: the CPU takes no time.
    ``simulated``: further stations, without daemons, whose traffic the medium simulates.
    ``foreign``: an access point in place of hostapd. ``hostapd_lines``: further lines of its
    configuration. ``rts_octets``, ``fragment_octets``: thresholds of stations; None: the driver's.
    ``joins_at_s``: station and when it begins to join, after the traffic's start; the others join
    before it.
    """

    name: str
    policy: str
    stations: tuple[str, ...] = ("A",)
    phy: str = "802.11g"
    channel: int = 1
    rate_mbps: float | None = None
    mcs: int | None = None
    streams: int = 1
    width_mhz: int = 20
    guard_interval_ns: int = 800
    beacon_interval_tu: int = 100
    channel_validation: bool = False
    tls: str = "1.2"
    chain: str = "rsa2048"
    station_to_station: bool = False
    flow: Flow | None = Flow()
    probe: bool = True
    roam: str = "none"
    roams: int = 1
    handover: str = "none"
    handover_at_s: float = 0.0
    handover_path: tuple[int, ...] = (2,)
    handover_every_s: float = 1.0
    walk: Walk | None = None
    access_points: int = 2
    deauthenticate_at_s: float | None = None
    mobile_ip: bool = False
    domains: str | None = None
    registration: str = "off"
    bridges: tuple[str, ...] = ()
    capture_traffic: bool = False
    connect_limit_s: float = 60.0
    fault: str = "none"
    kill: tuple[str, float] | None = None
    short_preamble: bool = False
    levels_dbm: tuple[tuple[str, float], ...] = ()
    hidden: tuple[tuple[str, str], ...] = ()
    queue_frames: int | None = None
    noise_figure_db: float | None = None
    carrier_sense_dbm: float | None = None
    seed: int = 0
    cable: Cable | None = None
    radius_cable: Cable | None = None
    proxies: tuple[Cable, ...] = ()
    neighbours_known: bool = True
    devices: str | None = None
    simulated: tuple[str, ...] = ()
    joins_at_s: tuple[tuple[str, float], ...] = ()
    foreign: Foreign | None = None
    hostapd_lines: tuple[str, ...] = ()
    rts_octets: int | None = None
    fragment_octets: int | None = None

    @property
    def between_stations(self) -> bool:
        """Whether there is one flow, from the first station to another party."""
        return self.station_to_station or self.domains is not None

    def to_json(self) -> dict[str, object]:
        """Plain values."""
        return attrs.asdict(self)

    @staticmethod
    def from_json(data: object) -> Job:
        """The job of :meth:`to_json`; raises ``TestbedError`` naming a wrong field."""
        return read(Job, data)


@frozen
class Value:
    """One observed value, as in ``airtoll.testbeds.contract.Row``."""

    metric: str
    value: float
    unit: str
    flow: str | None = None
    station: str | None = None
    second: int | None = None


@frozen
class Distribution:
    """A metric of every packet, nanoseconds, in the order of the packets. It has one packet."""

    metric: str
    flow: str
    station: str
    nanoseconds: tuple[int, ...]

    @staticmethod
    def of(metric: str, flow: str, station: str, seconds: Iterable[float]) -> Distribution:
        """From times in seconds."""
        return Distribution(metric, flow, station, tuple(round(one * 1e9) for one in seconds))

    def values(self) -> list[Value]:
        """Mean and quantiles, in seconds; quantiles by nearest rank, as the simulator's are."""
        ordered = sorted(self.nanoseconds)
        readings = [(self.metric, math.fsum(ordered) / len(ordered))]
        stem = self.metric.removesuffix("_s").removesuffix("_time")
        for percent in _PERCENTILES:
            rank = max(1, math.ceil(percent / 100 * len(ordered)))
            readings.append((f"{stem}_p{percent}_s", float(ordered[rank - 1])))
        return [
            Value(metric, nanoseconds / 1e9, "s", self.flow, self.station)
            for metric, nanoseconds in readings
        ]


@frozen
class Outcome:
    """Outcome of a job.

    ``failure``: one line, or None. ``negotiated``: station -> values read back. ``conditions``:
    radio and CPU. ``keys``: the key log. ``files``: names in the trial's folder. ``stations``:
    station -> MAC address. ``access_points``: BSSIDs. ``addresses``: station -> IPv4 addresses.
    """

    values: tuple[Value, ...] = ()
    distributions: tuple[Distribution, ...] = ()
    failure: str | None = None
    caveats: tuple[str, ...] = ()
    negotiated: dict[str, dict[str, str]] = field(factory=dict)
    conditions: Conditions = field(factory=Conditions)
    keys: tuple[dict[str, str], ...] = ()
    files: tuple[str, ...] = ()
    stations: dict[str, str] = field(factory=dict)
    access_points: tuple[str, ...] = ()
    addresses: dict[str, tuple[str, ...]] = field(factory=dict)

    def to_json(self) -> dict[str, object]:
        """Plain values."""
        return attrs.asdict(self)

    @staticmethod
    def from_json(data: object) -> Outcome:
        """The outcome of :meth:`to_json`; raises ``TestbedError`` naming a wrong field."""
        return read(Outcome, data)
