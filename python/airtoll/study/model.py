"""The tables and keys of a study file, with units and limits.

Takes a parsed TOML mapping; gives frozen values. Never reads a file and never expands a grid.
Quantities carry their unit in the key. ``None`` means the value of the standard or the profile.
"""

import math
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from airtoll.errors import PolicyError
from airtoll.policies import resolve
from airtoll.study.generations import GENERATIONS, band_of, default_spaces, phy_name
from airtoll.study.handover import Handover
from airtoll.study.join import Join, Radius
from airtoll.study.question import Level, Question, Require
from airtoll.study.table import (
    Count,
    Db,
    Dbm,
    Metre,
    Name,
    NotNegative,
    Positive,
    Seconds,
    Table,
    Window,
    WireRate,
    unset,
)

Phy = Annotated[
    Literal["802.11b", "802.11a", "802.11g", "802.11n", "802.11ac", "802.11ax", "802.11be"],
    BeforeValidator(lambda value: phy_name(value) if isinstance(value, str) else value),
]
Topology = Literal[
    "uplink",
    "downlink",
    "station-to-station",
    "n1",
    "n2",
    "n3",
    "n4",
    "n5",
    "r1",
    "r2",
    "r3",
    "r4",
]
Overhead = Literal["of_baseline", "of_secured", "difference_bps"]
Order = Literal["interleaved", "random", "sequential"]
Pairing = Literal["independent", "common"]
Control = Literal["none", "backoff"]

#: Primary metrics of a study that names none; a run without joins has no negotiation time.
DEFAULT_ANSWERS = ("throughput_bps", "negotiation_time_s")
#: Widest channel of 802.11be by band, MHz (IEEE Std 802.11be-2024, 36.3.23.2).
_WIDEST_MHZ = {"2.4": 40, "5": 160, "6": 320}
_LABEL = "name in sentences, such as `one client`; default: the table's name"
#: Keys of a scenario that a link of `mlo` has of its own.
LINK_KEYS = ("band", "width_mhz", "mcs", "streams")


class EdcaParameters(Table):
    """Parameters of one access category; a key that is left out keeps its value.

    Ranges are those of the EDCA Parameter Set element (IEEE Std 802.11-2020, 9.4.2.28).
    """

    aifsn: Annotated[int, Field(ge=1, le=15)] | None = Field(
        None, description="slots after SIFS before the back-off (AIFSN); stations need 2 or more"
    )
    cw_min: Window | None = Field(None, description="CWmin, slots: 0, 1, 3, 7, ... 32767")
    cw_max: Window | None = Field(None, description="CWmax, slots: 0, 1, 3, 7, ... 32767")
    txop_us: Annotated[float, Field(ge=0, le=65_535 * 32)] | None = Field(
        None,
        description="TXOP limit, microseconds, a multiple of 32; 0 = one frame exchange",
    )

    @field_validator("txop_us")
    @classmethod
    def _in_units(cls, value: float | None) -> float | None:
        if value is not None and value % 32:
            below = value // 32 * 32
            raise ValueError(f"must be a multiple of 32, such as {below:g} or {below + 32:g}")
        return value

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.cw_min is not None and self.cw_max is not None and self.cw_max < self.cw_min:
            raise ValueError(f"cw_max must be at least cw_min, {self.cw_min}")
        return self


class Edca(Table):
    """EDCA parameters by access category; default: the standard's (table 9-155)."""

    background: EdcaParameters = Field(unset(EdcaParameters), description="AC_BK")
    best_effort: EdcaParameters = Field(unset(EdcaParameters), description="AC_BE")
    video: EdcaParameters = Field(unset(EdcaParameters), description="AC_VI")
    voice: EdcaParameters = Field(unset(EdcaParameters), description="AC_VO")

    @property
    def categories(self) -> tuple[EdcaParameters, ...]:
        """In the order background, best effort, video, voice."""
        return self.background, self.best_effort, self.video, self.voice


class Station(Table):
    """One wireless station."""

    name: Name = Field(description="name of the station in flows and results")
    profile: str | None = Field(None, description="device profile; default: `ideal`")
    rssi_dbm: Annotated[float, Field(ge=-110, le=0)] | None = Field(
        None, description="signal level at the AP and back, dBm; overrides positions"
    )
    position_m: tuple[Metre, Metre] | None = Field(None, description="place, metres")
    walls: Annotated[int, Field(ge=0, le=20)] = Field(0, description="walls between it and the AP")
    rate_mbps: Positive | None = Field(None, description="fixed rate of this station alone, Mb/s")
    mcs: Annotated[int, Field(ge=0, le=31)] | None = Field(
        None,
        description="MCS index of this station alone, both ways (n, ac, ax, be); default: the "
        "scenario's, or the highest that its level supports",
    )
    streams: Annotated[int, Field(ge=1, le=8)] | None = Field(
        None, description="spatial streams of this station alone; default: the scenario's"
    )
    edca_parameters: Edca | None = Field(
        None, description="EDCA parameters of this station alone; default: the scenario's"
    )
    phy: Phy | None = Field(None, description="PHY of this station alone (mixed b/g)")
    link: Annotated[int, Field(ge=1, le=3)] | None = Field(
        None,
        description="with `mlo`: the one link of a station without multi-link operation, counted "
        "from 1; default: the station uses all links",
    )
    mlo_mode: Literal["str", "emlsr"] | None = Field(
        None, description="with `mlo`: its radios; default: as `mlo.mode` says"
    )
    policy: str | None = Field(None, description="policy of this station alone (mixed cells)")
    joins_at_s: NotNegative | None = Field(
        None,
        description="with `authenticate = true`: the station joins during the traffic of the "
        "others, from this long after its start, s; its own flows start when it has joined, and "
        "their rates count from there (`measured_s`); the cell's join times are the means of such "
        "stations; default: it joins before the traffic",
    )
    client: Literal["wpa2", "wpa3", "wifi7"] | None = Field(
        None,
        description="age of the station: it chooses the best link that it knows of those that the "
        "AP offers (transition modes, RSN overriding), and does not associate where it knows none; "
        "default: it knows all",
    )
    listen_interval: Annotated[int, Field(ge=1, le=65_535)] | None = Field(
        None,
        description="the station dozes between its frames and wakes for each n-th beacon, "
        "and data for it wait for such a beacon; needs a profile with the power of dozing; "
        "default: it never dozes",
    )
    twt_interval_ms: Annotated[float, Field(gt=0)] | None = Field(
        None,
        description="the station dozes between service periods of target wake time at this "
        "interval, ms, implicit and unannounced (802.11ax-2021, 26.8); "
        "data for it wait for such a period, and `listen_interval` then says for which beacons it "
        "wakes beside them (default: for none); needs 802.11ax or 802.11be",
    )
    twt_duration_ms: Annotated[float, Field(gt=0)] = Field(
        8.192,
        description="with `twt_interval_ms`: nominal minimum wake duration of a service period, "
        "ms: a multiple of 0.256 up to 65.28, or of 1.024 up to 261.12 (802.11ax-2021, 9.4.2.199)",
    )
    twt_broadcast: bool = Field(
        False,
        description="with `twt_interval_ms`: the beacons announce the service periods, and all "
        "stations with this interval and duration share them (802.11ax-2021, 26.8.3); the interval "
        "is a multiple of 1.024 ms. Default: each station has an agreement and periods of its own "
        "(26.8.2)",
    )
    retrieval: Literal["active", "ps-poll", "u-apsd"] | None = Field(
        None,
        description="with `listen_interval`: the frames by which the station gets the data that "
        "wait for it (802.11-2020, 11.2.3). active: a null frame ends its doze, another one begins "
        "the next; ps-poll: a PS-Poll for each frame; u-apsd: a trigger frame for all that waits "
        "(needs EDCA). It listens on where it missed its beacon. Default: the access point knows "
        "without frames when it dozes",
    )
    doze_after_ms: NotNegative = Field(
        100.0,
        description="with `listen_interval` or `twt_interval_ms`: time from the last frame (with "
        "the latter: of its own data) to dozing, ms; default: that of Linux's cfg80211 "
        "(ps_timeout). With `retrieval` ps-poll and u-apsd it dozes as soon as nothing waits",
    )
    dtim_wake: bool = Field(
        False,
        description="with `listen_interval`: the station wakes for every DTIM, too, where nothing "
        "is sent to groups (it cannot know); where something is, it always does",
    )
    caches_psk: bool = Field(
        True,
        description="the station keeps the key that follows from its passphrase; false: it maps "
        "the passphrase (PBKDF2, 2 x 4096 rounds; IEEE Std 802.11-2020, J.4.1) before it joins, as "
        "after a cold boot (WPA and WPA2 with a passphrase)",
    )
    battery_wh: Positive | None = Field(
        None,
        description="energy of the station's battery, Wh, for `battery_h`, or `battery_days` with "
        "`duty`; needs a profile with power figures",
    )
    bridge: bool | None = Field(
        None, description="in a scenario with `bridge`: this station is a bridge; default: true"
    )
    frame_bursting_us: NotNegative | None = Field(
        None,
        description="burst of this station's frames, microseconds; 0 = none; default: the longer "
        "of the scenario's and its profile's",
    )

    @field_validator("policy")
    @classmethod
    def _known_policy(cls, name: str | None) -> str | None:
        return name if name is None else _canonical(name)

    @property
    def dozes(self) -> bool:
        """Whether the station dozes between beacons or service periods."""
        return self.listen_interval is not None or self.twt_interval_ms is not None

    @field_validator("twt_interval_ms")
    @classmethod
    def _wake_interval(cls, value: float | None) -> float | None:
        if value is None:
            return None
        mantissa = value * 1e3
        for _ in range(32):
            if mantissa <= 65_535 and math.isclose(mantissa, round(mantissa), abs_tol=1e-6):
                return value
            mantissa /= 2
        raise ValueError(
            "a wake interval is a number up to 65535 times a power of two, us (802.11ax-2021, "
            "9.4.2.199): such as 102.4, 512, 1024 or 10240 ms"
        )

    @field_validator("twt_duration_ms")
    @classmethod
    def _wake_duration(cls, value: float) -> float:
        for unit in (0.256, 1.024):
            count = value / unit
            if count <= 255 and math.isclose(count, round(count), abs_tol=1e-6):
                return value
        raise ValueError("a multiple of 0.256 up to 65.28, or of 1.024 up to 261.12")

    @model_validator(mode="after")
    def _service_periods(self) -> Self:
        if self.twt_interval_ms is not None and self.twt_duration_ms >= self.twt_interval_ms:
            raise ValueError("twt_duration_ms must be shorter than twt_interval_ms")
        if self.twt_broadcast and self.twt_interval_ms is not None:
            units = self.twt_interval_ms / 1.024
            if not math.isclose(units, round(units), abs_tol=1e-6):
                raise ValueError("twt_interval_ms with twt_broadcast is a multiple of 1.024")
        return self

    @model_validator(mode="after")
    def _one_rate(self) -> Self:
        if self.mcs is not None and self.rate_mbps is not None:
            raise ValueError("mcs and rate_mbps exclude one another: a rate has one name")
        if self.edca_parameters is not None:
            for category in self.edca_parameters.categories:
                if category.aifsn == 1:
                    raise ValueError("edca_parameters: aifsn of a station must be 2 to 15")
        return self


class Duty(Table):
    """A day of every station with power figures: it wakes, joins and sends messages now and then.

    The trial measures one join and some messages; the day is worked out of both.
    """

    joins_per_day: NotNegative = Field(
        1.0, description="joins in a day, each after a wake-up; needs `authenticate = true`"
    )
    messages_per_day: NotNegative = Field(
        0.0, description="messages in a day: UDP datagrams of the traffic at `offered_mbps`"
    )
    between: Literal["deep-sleep", "doze"] = Field(
        "deep-sleep",
        description="between joins: deep-sleep: the radio is off and the station leaves the "
        "network; doze: it stays associated and wakes for beacons (`listen_interval`)",
    )
    wake_ms: NotNegative | None = Field(
        None,
        description="from a wake-up to the first frame of the join, ms: start of the program, "
        "set-up of the radio, scan; needed with joins",
    )
    wake_mj: NotNegative | None = Field(
        None,
        description="energy of a wake-up, from power-on to the first frame of the join, mJ; needs "
        "`wake_ms` above 0; default: the profile's power while it wakes, or of its idle radio",
    )
    message_ms: NotNegative = Field(
        0.0,
        description="the station stays awake so long for a message, ms, on top of what it does in "
        "the trial: it waits for an answer",
    )


class MloLink(Table):
    """One link of multi-link operation."""

    band: Literal["2.4", "5", "6"] = Field(description="frequency band, GHz")
    width_mhz: Literal[20, 40, 80, 160, 320] = Field(20, description="channel width, MHz")
    mcs: Annotated[int, Field(ge=0, le=13)] | None = Field(
        None,
        description="MCS index; default: for each station the highest that its level on this link "
        "supports",
    )
    streams: Annotated[int, Field(ge=1, le=8)] = Field(1, description="spatial streams")
    rssi_dbm: Annotated[float, Field(ge=-110, le=0)] | None = Field(
        None,
        description="signal level of the stations on this link, dBm; default: as without links, "
        "with the path loss of the band",
    )

    @model_validator(mode="after")
    def _channel(self) -> Self:
        if self.width_mhz > _WIDEST_MHZ[self.band]:
            raise ValueError(f"width_mhz at {self.band} GHz is up to {_WIDEST_MHZ[self.band]}")
        return self


class LinkMapping(Table):
    """Links of an access category (TID-to-link mapping, IEEE 802.11be, 35.3.7.2)."""

    category: Literal["background", "best_effort", "video", "voice"] = Field(
        description="access category, with both of its TIDs"
    )
    direction: Literal["up", "down", "both"] = Field(
        "both", description="frames from the stations, to them, or both"
    )
    links: tuple[Annotated[int, Field(ge=1, le=3)], ...] = Field(
        min_length=1,
        description="links that its frames take, counted from 1; a category without a mapping "
        "takes all",
    )


class Mlo(Table):
    """Multi-link operation (IEEE 802.11be, 35.3)."""

    links: tuple[MloLink, ...] = Field(
        min_length=2,
        max_length=3,
        description="all links, each on a channel of its own; they take the place of band, "
        "width_mhz, mcs and streams of the scenario",
    )
    mode: Literal["str", "emlsr"] = Field(
        "str",
        description="radios of the stations; str: one for each link, and all transmit and receive "
        "at the same time; emlsr: one that listens on all links and exchanges frames on one at a "
        "time (35.3.17). The access point has one for each link",
    )
    padding_delay_us: Literal[0, 32, 64, 128, 256] = Field(
        32,
        description="emlsr: padding of the initial control frame (MU-RTS) before each exchange of "
        "the AP, microseconds; default: that of Linux's iwlwifi",
    )
    transition_delay_us: Literal[0, 16, 32, 64, 128, 256] = Field(
        64,
        description="emlsr: time from the end of an exchange until the station listens on all "
        "links again, microseconds; default: that of Linux's iwlwifi",
    )
    mapping: tuple[LinkMapping, ...] = Field(
        (), description="links of access categories; default: each takes all"
    )

    @model_validator(mode="after")
    def _mapped(self) -> Self:
        known: set[tuple[str, str]] = set()
        for one in self.mapping:
            if max(one.links) > len(self.links):
                raise ValueError(f"mapping of {one.category}: links are 1 to {len(self.links)}")
            ways = ("up", "down") if one.direction == "both" else (one.direction,)
            twice = known & {(one.category, way) for way in ways}
            if twice:
                raise ValueError(f"mapping of {one.category}: one for each direction")
            known |= {(one.category, way) for way in ways}
        return self


class AccessPoint(Table):
    """The access point."""

    profile: str | None = Field(None, description="device profile; default: `ideal`")
    position_m: tuple[Metre, Metre] = Field((0.0, 0.0), description="place, metres")
    edca_parameters: Edca | None = Field(
        None, description="EDCA parameters of the AP's frames; default: the scenario's"
    )
    frame_bursting_us: NotNegative | None = Field(
        None,
        description="burst of the AP's frames, microseconds; 0 = none; default: the longer of the "
        "scenario's and its profile's",
    )
    authentication_timeout_s: Annotated[float, Field(ge=0.01, le=3600)] | None = Field(
        None,
        description="SAE: time that the AP waits for the next authentication frame of a station "
        "before it deauthenticates the station (reason code 2), s; default: as long as a station "
        "repeats its frames",
    )
    multiplication_ms: NotNegative | None = Field(
        None,
        description="SAE: time of a multiplication of a point on the AP's CPU, ms; default: that "
        "of its profile",
    )
    restart_at_s: Positive | None = Field(
        None,
        description="time after the start of the traffic, s, at which the AP restarts at once and "
        "without a frame: associations, keys and PMKSAs are lost, and stations learn of it by the "
        "refusal of their data, with PMF after an SA Query; default: never",
    )


class Card(Table):
    """Faults of the radios or their drivers under a policy."""

    no_aggregation: tuple[str, ...] = Field(
        (),
        description="policies under which no A-MPDU is sent: the block ack session does not come "
        "about, as with drivers whose protected or software-encrypted frames are not aggregated",
    )
    reorders_packet_numbers: bool = Field(
        False,
        description="frames get their packet numbers before the queues of their flows "
        '(`queue_type = "fq_codel"`), which change their order; with TKIP, CCMP and GCMP the '
        "receiver drops those that come late as replays",
    )


class WiredHost(Table):
    """The wired host behind the AP."""

    profile: str | None = Field(None, description="device profile; default: `ideal`")


class WiredLink(Table):
    """The wired link between the AP and the wired host."""

    rate_mbps: WireRate | None = Field(
        None, description="rate, Mb/s; default: 100 (b, a, g), 1000 (n, ac), 2500 (ax), 10000 (be)"
    )
    delay_us: NotNegative = Field(5.0, description="one-way delay, microseconds")
    queue_packets: Count | None = Field(
        None, description="queue limit, packets; default: 1000, 10240 with `fq_codel`"
    )
    queue_type: Literal["fifo", "fq_codel"] | None = Field(
        None,
        description="queue discipline of both ends; `fifo`: one order, as Linux's `pfifo_fast`; "
        "`fq_codel`: a queue per flow with CoDel, as Linux's (RFC 8290), and the host's TCP waits "
        "for its own segments in it; default: `fq_codel` where the wired host at its end has the "
        "TCP `linux-6`, else `fifo`",
    )
    loss_ratio: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.0, description="share of packets that the path loses, in each direction"
    )


class Bridge(Table):
    """Wireless bridges: a wired host behind each station, data frames with four addresses.

    IEEE Std 802.11-2020, table 9-30. Linux calls such a station a 4-address or WDS station. The
    host behind a station sends and receives the station's traffic and terminates its tunnels.
    """

    host: WiredHost = Field(unset(WiredHost), description="the host behind each station")
    wired: WiredLink = Field(unset(WiredLink), description="the link between the two")


class GroupLoad(Table):
    """Group-addressed traffic of the clients and of their router; a field of 0 leaves it out.

    Each sender's messages are a Poisson process. Rates are for one client.
    """

    mdns_per_min: NotNegative = Field(
        0.0, description="multicast DNS announcements of a client per minute (RFC 6762)"
    )
    mdns_bytes: Annotated[int, Field(ge=35, le=1232)] = Field(
        200, description="length of the DNS message, octets"
    )
    arp_per_min: NotNegative = Field(
        0.0,
        description="ARP requests of a client per minute, for the wired host (for the next station "
        "where there is none)",
    )
    neighbor_per_min: NotNegative = Field(
        0.0, description="the same by IPv6 Neighbor Solicitations (RFC 4861)"
    )
    router_arp_per_min: NotNegative = Field(
        0.0, description="ARP requests of the wired host for a client, per client and minute"
    )
    advertisement_s: NotNegative = Field(
        0.0,
        description="mean time between Router Advertisements of the wired host, seconds; RFC 4861 "
        "allows 200 to 600 by default",
    )

    @property
    def is_empty(self) -> bool:
        """Whether no node sends a message."""
        rates = (self.mdns_per_min, self.arp_per_min, self.neighbor_per_min)
        return not any((*rates, self.router_arp_per_min, self.advertisement_s))


class Interferer(Table):
    """A source of energy that comes in bursts and defers to no one, at every node alike.

    Where stations sense it, they defer. At any level its power adds to the noise of the frames that
    it overlaps, or of the MPDUs of an A-MPDU.
    """

    kind: Literal["microwave", "neighbour"] = Field(
        description="microwave: an oven, one burst in each cycle of the mains, at 2.4 GHz; "
        "stations defer from -62 dBm on (energy detection, IEEE Std 802.11-2020, 17.3.10.6). "
        "neighbour: frames of a cell that does not hear this one, with exponentially distributed "
        "pauses; "
        "stations defer from `radio.carrier_sense_dbm` on"
    )
    level_dbm: Annotated[float, Field(ge=-120, le=20)] = Field(
        description="power at every node while it is on, dBm"
    )
    duty: Annotated[float, Field(gt=0, lt=1)] | None = Field(
        None,
        description="share of the time in which it is on; default: 0.5 for an oven, whose "
        "magnetron is off for half of each cycle (Kamerman and Erkocevic, PIMRC 1997); a "
        "neighbour's load has to be stated",
    )
    period_ms: Annotated[float, Field(ge=0.1, le=1e4)] | None = Field(
        None,
        description="cycle of an oven, ms, default 20 (50 Hz; 16.67 at 60 Hz); of a neighbour the "
        "mean time from burst to burst, which has to be stated",
    )
    present_s: Seconds | None = Field(
        None,
        description="mean time for which it comes, s, exponentially distributed; with `absent_s`; "
        "default: always there",
    )
    absent_s: Seconds | None = Field(None, description="mean time for which it stays away, s")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.kind == "neighbour" and (self.duty is None or self.period_ms is None):
            raise ValueError('kind = "neighbour" needs duty and period_ms')
        if (self.present_s is None) != (self.absent_s is None):
            raise ValueError("present_s and absent_s come together")
        return self

    @property
    def times_ms(self) -> tuple[float, float]:
        """Length of a burst and of a pause (its mean), ms."""
        duty, period = self.duty or 0.5, self.period_ms or 20.0
        return period * duty, period * (1 - duty)


class Neighbours(Table):
    """Cells of others on the channel: access points with active stations and beacons.

    Where nodes sense one another they contend; below carrier sense they interfere. Results are of
    the own cell, and the neighbours' airtime is a part of its ledger. PHY, beacons, access
    rules and queues are those of the scenario.
    """

    cells: Annotated[int, Field(ge=0, le=20)] | None = Field(
        None, description="number of cells; default: one, or one for each of `positions_m`"
    )
    level_dbm: Annotated[float, Field(ge=-150, le=0)] | None = Field(
        None,
        description="level at which nodes of different cells hear one another, dBm; this or "
        "`positions_m`",
    )
    positions_m: tuple[tuple[Metre, Metre], ...] = Field(
        (),
        max_length=20,
        description="places of their APs, metres, from which all levels follow; each station of "
        "the own cell then needs `position_m`",
    )
    stations: Annotated[int, Field(ge=0, le=100)] = Field(
        5, description="active stations of each cell; 0: the AP sends beacons alone"
    )
    station_dbm: Annotated[float, Field(ge=-110, le=0)] = Field(
        -55.0,
        description="with `level_dbm`: level between an AP and its stations in each cell, dBm",
    )
    station_m: Positive = Field(
        5.0, description="with `positions_m`: distance of its stations from each AP, metres"
    )
    offered_mbps: Positive | None = Field(
        None,
        description="rate of each of their flows, Mb/s, a Poisson process; default: saturated",
    )
    direction: Literal["up", "down", "both"] = Field(
        "both", description="direction of their flows, one for each station and direction"
    )
    payload_bytes: Annotated[int, Field(ge=1, le=1472)] = Field(
        1472, description="octets of a UDP datagram of the neighbours"
    )
    policy: Annotated[tuple[str, ...], Field(max_length=20)] = Field(
        (),
        description="their policies, one for all or one for each cell; `same`: that of the own "
        "cell; default: wpa2-psk-ccmp, at 6 GHz wpa3-sae-ccmp",
    )
    mcs: Annotated[int, Field(ge=0, le=31)] | None = Field(
        None,
        description="MCS index of their frames; default: the highest that the level between an AP "
        "and its stations supports",
    )
    rate_mbps: Positive | None = Field(
        None, description="their data rate b/a/g, Mb/s; default: highest"
    )
    width_mhz: Literal[20, 40, 80, 160, 320] | None = Field(
        None, description="width of their channel, MHz; default: that of the cell"
    )
    channel: Literal[
        "primary", "secondary-20", "secondary-40", "secondary-80", "secondary-160", "outside"
    ] = Field(
        "primary",
        description="where their primary 20 MHz channel lies: on that of the cell, in its "
        "secondary channel of 20, 40, 80 or 160 MHz, or on a channel that does not overlap (IEEE "
        "Std 802.11-2020, 10.23.2.5)",
    )

    @field_validator("policy", mode="before")
    @classmethod
    def _one_or_more(cls, names: Any) -> Any:
        return (names,) if isinstance(names, str) else names

    @field_validator("policy")
    @classmethod
    def _known_policies(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name if name == "same" else _canonical(name) for name in names)

    @model_validator(mode="after")
    def _reached(self) -> Self:
        if (self.level_dbm is None) == (not self.positions_m):
            raise ValueError("level_dbm or positions_m is needed, and one of the two")
        for names, key in ((self.positions_m, "positions_m"), (self.policy[1:], "policy")):
            count = len(self.policy) if key == "policy" else len(self.positions_m)
            if names and count < self.count:
                raise ValueError(f"{key}: {count} for {self.count} cells")
        if self.positions_m and self.station_dbm != -55.0:
            raise ValueError("station_dbm goes with level_dbm; with positions_m use station_m")
        if self.level_dbm is not None and self.station_m != 5.0:
            raise ValueError("station_m goes with positions_m; with level_dbm use station_dbm")
        return self

    @property
    def count(self) -> int:
        """The number of cells."""
        return max(1, len(self.positions_m)) if self.cells is None else self.cells


class PassersBy(Table):
    """Stations that pass by and look for networks: broadcast Probe Requests with the wildcard SSID.

    Each network of every access point that hears a request answers with a Probe Response (IEEE Std
    802.11-2020, 11.1.4.3). Requests and responses have the lowest basic rate. Own responses are
    management in the ledger, or retries where they get no Ack; requests, and neighbours' responses,
    are neighbours' airtime.
    """

    per_s: Annotated[float, Field(ge=0, le=1000)] = Field(
        description="Probe Requests per second on the channel, a Poisson process"
    )
    level_dbm: Annotated[float, Field(ge=-150, le=0)] = Field(
        -70.0, description="level at which they and all nodes of BSSs hear one another, dBm"
    )
    leaves_ratio: Annotated[float, Field(ge=0, le=1)] = Field(
        0.0,
        description="share of the requests whose sender has left the channel before a response "
        "arrives: the responses get no Ack, and are repeated to the last attempt",
    )
    response_attempts: Annotated[int, Field(ge=1, le=255)] | None = Field(
        None,
        description="attempts of a response; default: `retry_limit`. hostapd sends responses to "
        "the wildcard SSID once (1)",
    )
    response_delay_ms: Annotated[float, Field(ge=0, le=100)] = Field(
        1.0,
        description="an access point has its responses ready up to this after a request, ms, "
        "uniformly distributed",
    )


class Radio(Table):
    """Propagation and receivers."""

    tx_power_dbm: Dbm = Field(15.0, description="transmit power, dBm")
    noise_figure_db: Db = Field(7.0, description="receiver noise figure, dB")
    path_loss_exponent: Positive = Field(3.0, description="log-distance exponent")
    wall_db: Db = Field(6.0, description="loss of one wall, dB")
    carrier_sense_dbm: Dbm = Field(-82.0, description="energy that makes the medium busy, dBm")
    capture_db: Db | None = Field(
        None,
        description="capture: a frame this much stronger survives a collision, dB; default: none",
    )
    shadowing_db: Db = Field(
        0.0,
        description="standard deviation of log-normal shadowing, dB: the level of each pair of "
        "nodes differs from its mean by one draw per trial (4 to 10 dB indoors: Rappaport 2002, "
        "table 4.6)",
    )
    fading: Literal["none", "rayleigh", "rician"] = Field(
        "none",
        description="block fading: the power gain of each pair of nodes is drawn anew every "
        "`coherence_ms`, the same in both directions, and over the whole channel unless "
        "`delay_spread_ns` is set",
    )
    rician_k_db: Db | None = Field(
        None, description='Rician K-factor, dB; needed with `fading = "rician"` alone'
    )
    coherence_ms: Positive = Field(
        25.0,
        description="coherence time of fading, ms; default: 0.423 / Doppler shift (Rappaport 2002, "
        "5.40.c) at 1 m/s and 5.18 GHz",
    )
    delay_spread_ns: Annotated[float, Field(ge=0, le=200)] = Field(
        0.0,
        description="with `fading`: RMS delay spread of paths whose power falls exponentially, ns: "
        "the gain differs over the channel, and a frame has those of its own part. Channel models "
        "of IEEE 802.11-03/940r4: A 0, B 15 (home), C 30 (small office), D 50 (office), E 100 "
        "(large office), F 150 (hall). 0: one gain for the whole channel",
    )
    interferer: Interferer | None = Field(
        None, description="a source of interference that defers to no one; default: none"
    )
    obss_pd_dbm: Annotated[float, Field(ge=-82, le=-62)] | None = Field(
        None,
        description="with `neighbours`, 802.11ax and later: below this level, dBm, nodes sense "
        "frames of another BSS color until they have read it, and then send with at most 21 dBm "
        "less its excess over -82 dBm (OBSS PD, IEEE Std 802.11ax-2021, 26.10.2); default: no "
        "spatial reuse",
    )

    @model_validator(mode="after")
    def _fades(self) -> Self:
        if (self.fading == "rician") != (self.rician_k_db is not None):
            raise ValueError('rician_k_db and fading = "rician" come together')
        if self.fading == "none" and self.coherence_ms != 25.0:
            raise ValueError("coherence_ms needs fading")
        if self.fading == "none" and self.delay_spread_ns > 0:
            raise ValueError("delay_spread_ns needs fading")
        return self


class Scenario(Table):
    """Topology, radio set-up, positions."""

    about: str = Field("", description="set-up that the scenario models")
    label: str = Field("", max_length=60, description=_LABEL)
    topology: Topology = Field(
        "uplink",
        description="default senders and receivers; n1 to n5 and r1 to r4 are the two-domain "
        "scenarios of Agarwal and Wang, section IV",
    )
    phy: Phy = Field("802.11a", description="PHY standard")
    rate_mbps: Positive | None = Field(None, description="data rate b/a/g, Mb/s; default: highest")
    mcs: Annotated[int, Field(ge=0, le=31)] | None = Field(
        None,
        description="MCS index n/ac/ax/be; default: for each station the highest with which nine "
        "of ten frames of 1500 octets arrive at its level (with shadowing, fading or a walk: at "
        "the level that nine of ten places and instants have); `airtoll check` shows it",
    )
    band: Literal["2.4", "5", "6"] | None = Field(
        None, description="frequency band, GHz; default: 2.4 for b and g, 6 at 320 MHz, else 5"
    )
    security_gates: Literal["apply", "ignore"] = Field(
        "apply",
        description="apply: a policy below the requirements of the band or of Wi-Fi 7 is refused "
        "or falls back as devices do (reference/gates.md); ignore: every policy uses the PHY, "
        "which separates the cost of a cipher from that of a fallback",
    )
    width_mhz: Literal[20, 40, 80, 160, 320] = Field(20, description="channel width, MHz")
    guard_interval_ns: Literal[400, 800, 1600, 3200] | None = Field(
        None, description="guard interval, ns; default: 800"
    )
    coding: Literal["bcc", "ldpc"] = Field(
        "bcc",
        description="error-correcting code of data frames: convolutional, or LDPC (n/ac/ax/be), "
        "which needs 1 to 2 dB less",
    )
    streams: Annotated[int, Field(ge=1, le=8)] = Field(1, description="spatial streams")
    rate_control: Literal["fixed", "aarf", "minstrel"] = Field("fixed", description="rate control")
    preamble: Literal["long", "short"] | None = Field(None, description="DSSS preamble")
    protection: Literal["none", "cts-to-self", "rts-cts"] = Field(
        "none", description="protection of OFDM frames in a mixed b/g cell"
    )
    beacons: bool = Field(True, description="whether the AP sends beacons")
    beacon_interval_tu: Count = Field(100, description="beacon interval, time units of 1024 us")
    ssids: Annotated[int, Field(ge=1, le=32)] = Field(
        1, description="SSIDs; each has beacons of its own unless `multiple_bssid` is set"
    )
    multiple_bssid: bool | None = Field(
        None,
        description="one beacon for all SSIDs (Multiple BSSID elements); default: at 6 GHz alone",
    )
    reported_bsss: Annotated[int, Field(ge=0, le=12)] = Field(
        0,
        description="BSSs of the same access point in other bands that its beacons report "
        "(Reduced Neighbor Report)",
    )
    beacon_octets: Annotated[int, Field(ge=60, le=2304)] | None = Field(
        None,
        description="length of a beacon with FCS, octets; default: that of its elements, which "
        "follow from PHY, band and policy",
    )
    beacon_protection: bool | None = Field(
        None,
        description="beacons carry a MIC (BIGTK) where management frames are protected; default: "
        "with 802.11be alone",
    )
    operating_channel_validation: bool = Field(
        False,
        description="stations and access point prove the channel that they are on in handshakes "
        "(OCV), where management frames are protected",
    )
    ampdu_max_octets: Annotated[int, Field(ge=0)] | None = Field(
        None, description="A-MPDU limit, octets; 0 = off; default: the standard's limit"
    )
    amsdu_max_octets: Annotated[int, Field(ge=0)] = Field(
        0,
        description="A-MSDU limit, octets; 0 = off; an MPDU that may travel in an A-MPDU is "
        "bounded as well (802.11n: 4095 octets)",
    )
    rts_threshold_octets: Annotated[int, Field(ge=0)] | None = Field(
        None, description="RTS before longer frames, octets; default: never"
    )
    fragmentation_threshold_octets: Annotated[int, Field(ge=256)] | None = Field(
        None,
        description="longer frames are sent in MAC fragments, octets; default: never; has no "
        "effect on aggregated frames",
    )
    cw_min: Annotated[int, Field(ge=0)] | None = Field(None, description="CWmin, slots")
    cw_max: Annotated[int, Field(ge=0)] | None = Field(None, description="CWmax, slots")
    edca_parameters: Edca | None = Field(
        None,
        description="EDCA parameters of stations and AP by access category; default: the "
        "standard's, IEEE Std 802.11-2020 table 9-155",
    )
    txop_protection: Literal["single", "multiple"] = Field(
        "single",
        description="end of the time that frames of a TXOP reserve: the response, or the TXOP "
        "limit with a CF-End behind the last response (IEEE Std 802.11-2020, 9.2.5.2)",
    )
    block_ack_window: Annotated[int, Field(ge=1, le=1024)] | None = Field(
        None,
        description="most MPDUs in an A-MPDU and in flight (block ack buffer size); default: 64 "
        "(n, ac), 256 (ax), 1024 (be), which are also the limits",
    )
    basic_rates_mbps: Annotated[tuple[Positive, ...], Field(min_length=1, max_length=12)] | None = (
        Field(
            None,
            description="basic rates, Mb/s; a number stands for one rate. An acknowledgement has "
            "the highest that is not above the data rate, a beacon the lowest; default: the "
            "PHY's mandatory rates",
        )
    )
    ofdma: Literal["off", "downlink", "uplink", "both"] = Field(
        "off",
        description="802.11ax and later: PPDUs that stations share by OFDMA, in equal resource "
        "units over the stations that have frames; `downlink`: from the AP, with a MU-BAR for each "
        "station; `uplink`: asked for by Trigger frames, which also poll every 10 ms, and stations "
        "with acknowledged data contend no more for 2.09 s (MU EDCA as hostapd sets it); needs two "
        "stations of the PHY. Neighbours do without",
    )
    slot_time_us: Literal[9, 20] | None = Field(
        None,
        description="slot time of 802.11g, microseconds; default: 9, or 20 with an 802.11b station",
    )
    retry_limit: Annotated[int, Field(ge=1, le=255)] = Field(7, description="attempts per frame")
    frame_bursting_us: NotNegative = Field(
        0.0,
        description="burst of frames SIFS apart after one contention, microseconds; 0 = off; "
        "applies to every node without a value of its own",
    )
    edca: bool = Field(False, description="four access categories instead of one")
    queue_packets: Count | None = Field(
        None,
        description="queue limit of stations and AP, packets; default: that of a driver of the "
        "PHY, 100 (b, a, g: Linux 2.4's txqueuelen), 512 (n: ath9k), 1024 (ac: mt7615), 2048 (ax, "
        "be: mt7915, mt7996); 8192 with `fq_codel`",
    )
    mtu_octets: Annotated[int, Field(ge=256, le=2304)] = Field(
        1500, description="MTU of the stations and of all hosts, octets"
    )
    path_mtu_octets: Annotated[int, Field(ge=576, le=2304)] | None = Field(
        None,
        description="MTU of the way between the access point and the wired host, octets; default: "
        "`mtu_octets`. 1492: PPPoE (RFC 2516)",
    )
    pmtud: Literal["works", "black_hole"] = Field(
        "works",
        description="path MTU discovery where `path_mtu_octets` is smaller than `mtu_octets`. "
        "works: all hosts know the path's MTU from the start. black_hole: packets that exceed it "
        "and must not be fragmented (DF; IPv6) vanish (RFC 2923, 2.1)",
    )
    mss_clamping: bool = Field(
        False,
        description="the access point lowers the MSS of TCP connections to what `path_mtu_octets` "
        "allows; it cannot see into tunnels",
    )
    tunnel_mtu_octets: Annotated[int, Field(ge=576, le=9000)] | None = Field(
        None,
        description="MTU of the interfaces of tunnels, octets; longer datagrams are fragmented "
        "before they enter. Default: that of Linux. WireGuard: 80 below `mtu_octets` (wg-quick: "
        "1420); IPsec: what the overhead leaves of `mtu_octets`; OpenVPN: 1500 (`tun-mtu`), so "
        "that the outer packets of longer datagrams are fragmented",
    )
    tunnel_end: Literal["server", "access-point"] = Field(
        "server",
        description="the far end of a station's tunnels: the wired server, or the access point, "
        "which is then the VPN gateway of a router and passes on what comes out",
    )
    queue_max_delay_ms: NotNegative | None = Field(
        None,
        description="MSDU lifetime in these queues, ms; older frames are dropped; 0: no limit; "
        "default: `radio.msdu_lifetime_ms` of each device's profile, 500 without one",
    )
    queue_type: Literal["fifo", "codel", "fq_codel"] = Field(
        "fifo",
        description="discipline of these queues; `codel`: RFC 8289; `fq_codel`: a queue per flow "
        "with CoDel as in Linux's mac80211 (RFC 8290), whose queues hold 8192 packets",
    )
    airtime_fairness: bool = Field(
        False,
        description="the AP shares airtime equally between stations, as Linux's mac80211 with "
        "ath9k: PPDUs both ways count, Acks and contention do not; needs "
        '`queue_type = "fq_codel"`',
    )
    stations: tuple[Station, ...] = Field(
        (Station.model_construct(name="A"),),
        min_length=1,
        max_length=500,
        description="the stations",
    )
    clients: Annotated[int, Field(ge=1, le=500)] | None = Field(
        None, description="number of stations; the last station of the list is repeated"
    )
    rssi_dbm: Annotated[float, Field(ge=-110, le=0)] | None = Field(
        None, description="signal level of stations without a level of their own, dBm"
    )
    hidden: tuple[tuple[str, str], ...] = Field(
        (), description="pairs of stations that do not hear one another"
    )
    mlo: Mlo | None = Field(
        None, description="multi-link operation of the AP and its stations; default: one link"
    )
    card: Card = Field(unset(Card), description="faults of radios or drivers under a policy")
    ap: AccessPoint = Field(unset(AccessPoint), description="the access point")
    server: WiredHost = Field(unset(WiredHost), description="the wired host")
    wired: WiredLink = Field(unset(WiredLink), description="the wired link")
    bridge: Bridge | None = Field(
        None,
        description="stations are wireless bridges with a wired host each; default: no bridges",
    )
    radio: Radio = Field(unset(Radio), description="propagation and receivers")
    neighbours: Neighbours | None = Field(
        None,
        description="cells of others on the same channel, such as `{ cells = 2, level_dbm = -75, "
        "stations = 5 }`; default: none",
    )
    passers_by: PassersBy | None = Field(
        None,
        description="stations that pass by and probe, such as `{ per_s = 20 }`; default: none",
    )
    authenticate: bool = Field(
        False,
        description="true: stations authenticate, associate and negotiate in simulated time "
        "before they send; false: they are joined at the start. The linux testbed always "
        "authenticates",
    )
    radius: Radius = Field(unset(Radius), description="the RADIUS server (802.1X policies)")
    join: Join = Field(unset(Join), description="how stations join, with authenticate = true")
    device_costs: Literal["models", "everywhere"] = Field(
        "models",
        description="where the costs of device profiles take time; models: in the simulator and "
        "the closed forms; everywhere: also on real daemons in virtual time, where the medium "
        "spends them before and after the air",
    )
    address_resolution: Literal["static", "dynamic"] = Field(
        "static",
        description="static: hosts know all link-layer addresses from the start; dynamic: they "
        "resolve an address at first contact by ARP or Neighbour Discovery. The analytic testbed "
        "leaves this out; hosts of a laboratory and of two domains always resolve",
    )
    group_load: GroupLoad = Field(
        unset(GroupLoad), description="group-addressed traffic of the clients; default: none"
    )
    multicast_to_unicast: bool = Field(
        False,
        description="the AP sends each station an acknowledged copy of a group-addressed frame at "
        "its own rate, as hostapd's option of this name; false: one frame at the lowest basic rate",
    )
    per_client_gtk: bool = Field(
        False,
        description="each station has a group key of its own, so that no group-addressed frame can "
        "be forged by another station; without `multicast_to_unicast` the AP passes nothing on to "
        "groups (Passpoint: DGAF Disable)",
    )
    isolation: bool = Field(
        False,
        description="client isolation: the AP forwards nothing between its stations (hostapd's "
        "ap_isolate)",
    )
    proxy_arp: bool = Field(
        False,
        description="the AP answers ARP requests and Neighbor Solicitations for its stations and "
        "passes none on to them (IEEE Std 802.11-2020, 11.21.14)",
    )
    dtim_period: Annotated[int, Field(ge=1, le=255)] = Field(
        1,
        description="beacons from one DTIM to the next; group-addressed frames wait for it where a "
        "station dozes (`listen_interval`)",
    )
    duty: Duty | None = Field(
        None,
        description="a day of stations with a battery, for `day_energy_j` and `battery_days`; "
        "default: they do all day what they do in the trial",
    )
    handover: Handover | None = Field(
        None, description="a hand-over during the trial, with authenticate = true; default: none"
    )

    @field_validator("basic_rates_mbps", mode="before")
    @classmethod
    def _one_or_more(cls, rates: Any) -> Any:
        return (rates,) if isinstance(rates, int | float) else rates

    @model_validator(mode="before")
    @classmethod
    def _first_link(cls, given: Any) -> Any:
        """The first link of `mlo` is the scenario's own channel."""
        links = _links_of(given)
        if not links or not isinstance(links[0], dict):
            return given
        own = {key: links[0][key] for key in LINK_KEYS if key in links[0]}
        for key in LINK_KEYS:
            if key in given and given[key] != own.get(key, MloLink.model_fields[key].default):
                raise ValueError(f"{key} and mlo exclude one another: each link has its own {key}")
        return {**given, **own}

    @model_validator(mode="after")
    def _multi_link(self) -> Self:
        links = 0 if self.mlo is None else len(self.mlo.links)
        for station in self.stations:
            if station.link is not None and station.link > links:
                allowed = f"1 to {links}" if links else "absent without mlo"
                raise ValueError(f"station {station.name}: link is {allowed}")
            if station.mlo_mode is not None and (not links or station.link is not None):
                raise ValueError(
                    f"station {station.name}: mlo_mode is for a station on all links of mlo"
                )
            own = station.mcs is not None or station.streams is not None or station.phy is not None
            if links and station.link is None and own:
                raise ValueError(
                    f"station {station.name}: phy, mcs and streams need `link`, as a station on "
                    "all links has those of each link"
                )
        if links and self.phy != "802.11be":
            raise ValueError(f"mlo needs phy = '802.11be', not {self.phy}")
        return self

    @model_validator(mode="after")
    def _access(self) -> Self:
        own = GENERATIONS[self.phy]
        bands = [one["band"].removesuffix("ghz") for one in own["bands"]]
        if self.band is not None and self.band not in bands:
            raise ValueError(f"band of {self.phy} is {' or '.join(bands)} (GHz)")
        if self.basic_rates_mbps is not None:
            links = [self.band] if self.mlo is None else [link.band for link in self.mlo.links]
            # At 2.4 GHz stations with MCSs are ERP stations, too (IEEE 802.11-2020, 19.1.1).
            heir = "802.11g" if all(band == "2.4" for band in links) else "802.11a"
            known = own["rates_mbps"] or GENERATIONS[heir]["rates_mbps"]
            place = "" if own["rates_mbps"] else f" of {self.phy} at this band"
            for rate in self.basic_rates_mbps:
                if rate not in known:
                    rates = ", ".join(f"{k:g}" for k in known)
                    raise ValueError(
                        f"basic_rates_mbps: {rate:g} is no rate{place}; allowed: {rates}"
                    )
        if self.block_ack_window is not None:
            window = own["window"]
            if window is None:
                raise ValueError(f"block_ack_window: {self.phy} has no block ack of A-MPDUs")
            if self.block_ack_window > window:
                raise ValueError(f"block_ack_window of {self.phy} is 1 to {window}")
        if self.airtime_fairness and self.queue_type != "fq_codel":
            raise ValueError(
                'airtime_fairness needs queue_type = "fq_codel": other queues serve packets in the '
                "order in which they came"
            )
        self._near_dsss()
        if self.slot_time_us is not None:
            if self.phy != "802.11g":
                slot_us = default_spaces(self.phy)["slot_us"]
                raise ValueError(f"slot_time_us is for phy = '802.11g'; {self.phy} has {slot_us:g}")
            if self.slot_time_us == 9 and any(s.phy == "802.11b" for s in self.stations):
                raise ValueError("slot_time_us: a cell with an 802.11b station has 20")
        if self.ofdma != "off" and own["multi_user_mhz"] is None:
            sharing = [name for name, row in GENERATIONS.items() if row["multi_user_mhz"]]
            raise ValueError(f"ofdma: {self.phy} has none; {' and '.join(sharing)} have it")
        self._without_mcs()
        given: list[tuple[str, Edca | None]] = [("", self.edca_parameters)]
        given += [("ap.", self.ap.edca_parameters)]
        given += [(f"station {s.name}: ", s.edca_parameters) for s in self.stations]
        for where, parameters in given:
            if parameters is not None and not self.with_edca:
                raise ValueError(f"{where}edca_parameters need edca = true with {self.phy}")
        if self.edca_parameters is not None:
            for category in self.edca_parameters.categories:
                if category.aifsn == 1:
                    raise ValueError(
                        "edca_parameters: aifsn of stations is 2 to 15; 1 is for ap.edca_parameters"
                    )
        if self.neighbours is not None:
            if own["mcs_top"] is None and self.neighbours.mcs is not None:
                raise ValueError(f"neighbours.mcs: {own['name']} has no mcs")
            if own["mcs_top"] is not None and self.neighbours.rate_mbps is not None:
                raise ValueError(f"neighbours.rate_mbps: {own['name']} has MCSs (mcs)")
        for station in self.stations:
            phy = GENERATIONS[station.phy or self.phy]
            for key in ("mcs", "streams"):
                if getattr(station, key) is not None and phy["mcs_top"] is None:
                    raise ValueError(f"station {station.name}: {phy['name']} has no {key}")
        return self

    def _without_mcs(self) -> None:
        """Settings of PHYs with MCSs, in a cell that has none."""
        phys = {self.phy, *(station.phy or self.phy for station in self.stations)}
        if any(GENERATIONS[phy]["mcs_top"] is not None for phy in phys):
            return
        if self.streams != 1:
            raise ValueError(f"streams: {self.phy} has one spatial stream")
        if self.coding == "ldpc":
            raise ValueError(f"coding: {self.phy} has no LDPC codes")
        if self.ampdu_max_octets:
            raise ValueError(f"ampdu_max_octets: {self.phy} has no A-MPDUs")
        if self.amsdu_max_octets:
            raise ValueError(f"amsdu_max_octets: {self.phy} has no A-MSDUs")

    def _near_dsss(self) -> None:
        """DSSS frames, their preamble, and the frames that guard others from them: 2.4 GHz."""
        if self.protection == "none" and self.preamble is None:
            return
        links = () if self.mlo is None else self.mlo.links
        bands = [f"{one.band}ghz" for one in links] or [band_of(self)]
        if "2.4ghz" not in bands:
            place = f"{self.phy} here is at {' and '.join(bands).replace('ghz', '')} GHz"
            if self.protection != "none":
                raise ValueError(
                    f"protection is from stations of 802.11b, which are at 2.4 GHz; {place}"
                )
            raise ValueError(f"preamble is that of DSSS frames, which are at 2.4 GHz; {place}")
        if self.protection != "none" and self.phy == "802.11b":
            raise ValueError("protection is for OFDM frames; 802.11b has none")

    @model_validator(mode="after")
    def _names(self) -> Self:
        names = [s.name for s in self.stations]
        if len(set(names)) != len(names):
            raise ValueError(f"station names must differ, got {', '.join(names)}")
        for pair in self.hidden:
            for name in pair:
                if name not in names:
                    raise ValueError(f"hidden: no station {name!r}; there are {', '.join(names)}")
        if self.topology == "station-to-station" and len(names) < 2:
            raise ValueError("station-to-station needs two stations")
        if self.neighbours is not None and self.neighbours.positions_m:
            for station in self.stations:
                if station.position_m is None:
                    raise ValueError(
                        f"station {station.name}: neighbours.positions_m needs its position_m"
                    )
        if self.topology[0] in "nr" and (len(names) != 1 or self.clients):
            raise ValueError("two-domain topologies take one station, the mobile node")
        if self.bridge is None:
            for station in self.stations:
                if station.bridge:
                    raise ValueError(f"station {station.name}: bridge needs the scenario's bridge")
        elif self.topology[0] in "nr":
            raise ValueError("two-domain topologies have no wireless bridge")
        return self

    def bridges(self, station: Station) -> bool:
        """Whether a station is a wireless bridge."""
        return self.bridge is not None and station.bridge is not False

    @property
    def with_edca(self) -> bool:
        """Whether frames contend by access category: as `edca` says, and with every MCS."""
        return self.edca or GENERATIONS[self.phy]["mcs_top"] is not None

    @property
    def four_addresses(self) -> bool:
        """Whether every station is a wireless bridge, so that every data frame is longer."""
        return all(self.bridges(station) for station in self.stations)


def _links_of(given: object) -> list[Any]:
    mlo = given.get("mlo") if isinstance(given, dict) else None
    if isinstance(mlo, Mlo):
        return [link.model_dump() for link in mlo.links]
    links = mlo.get("links") if isinstance(mlo, dict) else None
    return list(links) if isinstance(links, list | tuple) else []


#: Keys of flows over TCP alone.
_TCP_KEYS = (
    "write_bytes",
    "mss_bytes",
    "window_kbytes",
    "tcp",
    "timestamps",
    "sack",
    "delayed_ack_segments",
    "delayed_ack_ms",
    "receive_offload",
    "hystart",
    "loss_detection",
)


#: Largest payload of a UDP datagram, octets: IPv4 total length less both headers (RFC 791, 3.1).
_LARGEST_DATAGRAM = 65_507
#: Applications whose messages travel in one datagram each over UDP.
_MESSAGES = {
    "request-response": ("request_bytes", "response_bytes"),
    "dns": ("query_bytes", "answer_bytes"),
}
#: Applications whose next message follows the answer, or the clock of a codec.
_PACED_BY_THEMSELVES = ("request-response", "voip", "http", "dns")


class Load(Table):
    """One kind of flow."""

    transport: Literal["udp", "tcp"] = Field(description="transport protocol")
    ip: Literal["ipv4", "ipv6"] = Field("ipv4", description="network protocol")
    application: Literal["stream", "request-response", "voip", "http", "ftp", "dns"] = Field(
        "stream",
        description="application that generates the data; `dns`: lookups one after the other, "
        'over UDP, or with `transport = "tcp"` over TLS on a new connection each',
    )
    direction: Literal["up", "down", "both"] | None = Field(
        None, description="direction of the data; default: that of the topology"
    )
    offered_mbps: Positive | None = Field(
        None, description="application rate per station, Mb/s; default: saturated"
    )
    arrivals: Literal["constant", "poisson"] = Field(
        "constant",
        description="spacing of the datagrams or writes at `offered_mbps`: equal, or exponential "
        "(a Poisson process)",
    )
    payload_bytes: Annotated[int, Field(ge=1, le=_LARGEST_DATAGRAM)] | None = Field(
        None,
        description="octets of a packet's payload. UDP: of a datagram, default 1472 (IPv4) or "
        "1452 (IPv6). TCP: of a segment, as `mss_bytes`, so that one grid sweeps both",
    )
    write_bytes: Count | None = Field(None, description="length of one TCP write, octets")
    mss_bytes: Annotated[int, Field(ge=64, le=9000)] | None = Field(
        None,
        description="TCP maximum segment size, octets; default, and at most: 1460 (IPv4), "
        "1440 (IPv6)",
    )
    path_mtu_discovery: bool = Field(
        True,
        description="TCP segments fit into every tunnel on the way (RFC 1191); false: they have "
        "the length of the interface, and are fragmented as datagrams are (`tunnel_mtu_octets`)",
    )
    mtu_probing: bool = Field(
        False,
        description="after three time-outs in a row TCP sends segments of 1024 octets (RFC 4821; "
        "Linux with net.ipv4.tcp_mtu_probing = 1, whose default is 0)",
    )
    window_kbytes: Annotated[float, Field(gt=0, le=1_048_576)] | None = Field(
        None,
        description="TCP window, 1024 octets; RFC 7323 allows 2^30 octets; default: the "
        "receiver's, which Linux 6 tunes from 64 up to 3072",
    )
    tcp: Literal["newreno", "cubic", "bbr"] | None = Field(
        None,
        description="congestion control; `bbr` is version 1 with pacing, as in Linux; default: the "
        "host profile's",
    )
    timestamps: bool | None = Field(None, description="TCP timestamps; default: the profile's")
    sack: bool | None = Field(None, description="TCP SACK; default: the profile's")
    delayed_ack_segments: Annotated[int, Field(ge=1, le=64)] | None = Field(
        None,
        description="TCP segments per acknowledgement, 1: none is delayed; default: the receiver's",
    )
    delayed_ack_ms: Annotated[float, Field(ge=0, le=1000)] | None = Field(
        None, description="longest delay of a TCP acknowledgement, ms; default: the receiver's"
    )
    receive_offload: bool | None = Field(
        None,
        description="TCP segments that arrive at one instant in order, as those of an A-MPDU, draw "
        "one acknowledgement (Linux's GRO); default: the receiver's, false with "
        "`delayed_ack_segments`",
    )
    hystart: Literal["off", "linux", "rfc-9406"] | None = Field(
        None,
        description="when slow start ends without a loss: HyStart of Linux's CUBIC, or HyStart++; "
        "`bbr` has none, `newreno` `rfc-9406` alone; default: the sender's",
    )
    loss_detection: Literal["duplicate-acks", "rack"] | None = Field(
        None,
        description="how a sender finds losses: by segments reported above (RFC 6675), or by time, "
        "with a probe of the tail (RACK-TLP, RFC 8985; needs SACK); default: the sender's",
    )
    socket_buffer_kbytes: Annotated[float, Field(gt=0, le=100_000)] | None = Field(
        None, description="UDP socket buffer, KB"
    )
    transfer_bytes: Count | None = Field(
        None, description="the flow ends after this many octets; `duration_s` is then a limit"
    )
    request_bytes: Count = Field(64, description="request of request-response, octets")
    response_bytes: Count = Field(64, description="response of request-response, octets")
    query_bytes: Count = Field(44, description="DNS message of a query, octets")
    answer_bytes: Count = Field(60, description="DNS message of an answer, octets")
    stations: tuple[str, ...] | None = Field(None, description="only these stations send")
    flows_per_station: Annotated[int, Field(ge=1, le=1_000)] = Field(
        1, description="parallel flows per station"
    )
    wmm: Literal["background", "best-effort", "video", "voice"] = Field(
        "best-effort", description="access category under EDCA"
    )

    @model_validator(mode="before")
    @classmethod
    def _payload_of_a_segment(cls, given: Any) -> Any:
        """With TCP the payload of a packet is the maximum segment size."""
        if not isinstance(given, dict) or given.get("transport") != "tcp":
            return given
        octets = given.get("payload_bytes")
        if octets is None:
            return given
        if given.get("mss_bytes") is not None:
            raise ValueError("payload_bytes and mss_bytes are the same with TCP; say one of them")
        rest = {key: value for key, value in given.items() if key != "payload_bytes"}
        return {**rest, "mss_bytes": octets}

    @model_validator(mode="after")
    def _belongs(self) -> Self:
        if self.transport == "udp":
            for key in _TCP_KEYS:
                if getattr(self, key) is not None:
                    raise ValueError(f"{key} is for transport = 'tcp'")
            for key in _MESSAGES.get(self.application, ()):
                octets = getattr(self, key)
                if octets > _LARGEST_DATAGRAM:
                    raise ValueError(
                        f"{key}: {octets} octets do not fit into one UDP datagram; at most "
                        f"{_LARGEST_DATAGRAM}, or transport = 'tcp'"
                    )
            if not self.path_mtu_discovery:
                raise ValueError("path_mtu_discovery is for transport = 'tcp'")
            if self.mtu_probing:
                raise ValueError("mtu_probing is for transport = 'tcp'")
        elif self.socket_buffer_kbytes is not None:
            raise ValueError("socket_buffer_kbytes is for transport = 'udp'")
        if self.loss_detection == "rack" and self.sack is False:
            raise ValueError("loss_detection = 'rack' needs sack (RFC 8985, section 3.1)")
        if self.hystart not in (None, "off"):
            if self.tcp == "bbr":
                raise ValueError("hystart: bbr has a startup of its own; off, or another tcp")
            if self.tcp == "newreno" and self.hystart == "linux":
                raise ValueError("hystart = 'linux' is part of cubic; rfc-9406 works with newreno")
        if self.offered_mbps is not None and self.application in _PACED_BY_THEMSELVES:
            raise ValueError(
                f"offered_mbps is for streams: {self.application} sends at a pace of its own"
            )
        if self.arrivals == "poisson":
            if self.application != "stream" or self.transfer_bytes is not None:
                raise ValueError("arrivals = 'poisson' is for a stream without transfer_bytes")
            if self.offered_mbps is None:
                raise ValueError("arrivals = 'poisson' needs offered_mbps")
        return self


class Beside(Load):
    """A further kind of flow that runs at the same time, often of other stations."""

    name: Name = Field(description="name of the kind, which begins the names of its flows")


class Traffic(Load):
    """One kind of flow, offered by every station (or those named), and others beside it."""

    about: str = Field("", description="use that the traffic models")
    label: str = Field("", max_length=60, description=_LABEL)
    duration_s: Seconds = Field(10.0, description="length of a trial, seconds")
    warm_up_s: NotNegative = Field(
        0.0, description="time at the start that is not measured, seconds"
    )
    series: bool = Field(False, description="also record one value per second")

    beside: Annotated[tuple[Beside, ...], Field(max_length=20)] = Field(
        (),
        description="further kinds of flow at the same time, with keys of their own except "
        "`about`, `duration_s`, `warm_up_s`, `series` and `beside`",
    )

    @property
    def loads(self) -> tuple[Load, ...]:
        """Every kind of flow, the traffic's own first."""
        return (self, *self.beside)

    @model_validator(mode="after")
    def _together(self) -> Self:
        if self.warm_up_s >= self.duration_s:
            raise ValueError("warm_up_s must be shorter than duration_s")
        names = [one.name for one in self.beside]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"beside: two kinds of flow are named {name!r}; names must differ")
        return self


class Select(Table):
    """The rule that selects the trials of a cell (`airtoll.analyse.selection`)."""

    rule: Literal["all", "closest_to_mean", "discard_first", "agreement"] = "all"
    keep: Count | None = Field(None, description="closest_to_mean: number of trials to keep")
    count: Count | None = Field(None, description="discard_first: number of trials to drop")
    ratio: Annotated[float, Field(gt=0, le=1)] | None = Field(
        None, description="agreement: least ratio between two attempts"
    )
    metric: str | None = Field(
        None,
        description="metric of the whole cell whose values select whole trials; default: each "
        "metric by its own values",
    )

    @model_validator(mode="after")
    def _complete(self) -> Self:
        needs = {"closest_to_mean": "keep", "discard_first": "count", "agreement": "ratio"}
        key = needs.get(self.rule)
        if key and getattr(self, key) is None:
            raise ValueError(f"rule {self.rule!r} needs {key}")
        return self


class Rerun(Table):
    """Repeat a trial whose value is too far below the earlier ones (McCarter, 5.4.1.3), or until
    two attempts agree (Tepšić)."""

    below_sigma: Positive = Field(5.0, description="standard deviations below the mean")
    agreement: Annotated[float, Field(gt=0, le=1)] | None = Field(
        None,
        description="in place of `below_sigma`: a trial is measured again until an attempt and the "
        "one before it agree (smaller over larger is at least this), and the last one counts",
    )
    minimum_trials: Annotated[int, Field(ge=2)] = Field(2, description="trials before it applies")
    metric: str = Field("throughput_bps", description="metric that the rule reads")
    limit: Count = Field(5, description="attempts per trial at most")


class Trials(Table):
    """Repetitions, order and selection of trials."""

    repetitions: Count = Field(5, description="trials per cell")
    until_precision: Annotated[float, Field(gt=0, lt=1)] | None = Field(
        None,
        description="trials are added to the cells whose throughput overhead has an interval wider "
        "than this on either side (a fraction: 0.005 is half a point), and to their references, "
        "after 10 of each cell; `--trials` switches it off",
    )
    most_trials: Count = Field(1000, description="most trials per cell of `until_precision`")
    order: Order = Field("interleaved", description="order of trials")
    pairing: Pairing = Field(
        "independent",
        description="common: trials of equal number draw the same random numbers under every "
        "policy, and policies are compared in pairs (simulator only)",
    )
    control: Control = Field(
        "none",
        description="backoff: throughputs are freed of the chance of the drawn back-off, a control "
        "variate, in cells of eight trials or more (simulator only)",
    )
    discard_first: Annotated[int, Field(ge=0)] = Field(0, description="unrecorded warm-up trials")
    select: Select = Field(unset(Select), description="selection rule")
    rerun: Rerun | None = Field(None, description="rule for repeating a trial")

    @model_validator(mode="after")
    def _control_of_all(self) -> Self:
        if self.control != "none" and self.select.rule in ("closest_to_mean", "agreement"):
            raise ValueError(
                f"control {self.control!r} and select.rule {self.select.rule!r} exclude each "
                "other: the rule reads the trials as they came"
            )
        return self


class Compare(Table):
    """Cells of the study and the readings of a data set that they are compared with."""

    dataset: str = Field(description="data set, see `airtoll datasets list`")
    cells: dict[str, Level] = Field(description="scenario, traffic and factor levels of our cells")
    readings: dict[str, Level] = Field(description="column values that select the readings")
    metric: str = Field(
        "throughput_bps", description="metric compared; `overhead` with a statistic other than mean"
    )
    statistic: Literal["mean", "max", "min"] = Field(
        "mean",
        description="mean: cell by cell; max, min: the largest or smallest value of all selected "
        "cells beside each selected printed figure, for texts that print extremes only",
    )
    minus: dict[str, Level] = Field(
        default_factory=dict,
        description="with max or min: levels of the cells whose values are subtracted, for printed "
        "differences between two systems",
    )
    over: dict[str, Level] = Field(
        default_factory=dict,
        description="with max or min: levels of the cells by whose values ours are divided, for "
        "printed ratios of two policies",
    )
    instrument: str = Field(
        "", description="the `[instrument.NAME]` through which our readings are seen"
    )
    fitted: tuple[str, ...] = Field(
        (),
        description="policies to whose readings a number of the study is fitted (of a scenario, an "
        "instrument): to meet them proves nothing",
    )
    caveat: str = Field("", description="caveat of these readings")

    @field_validator("fitted")
    @classmethod
    def _known_policies(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_canonical(name) for name in names)

    @model_validator(mode="after")
    def _extremes(self) -> Self:
        if self.statistic == "mean" and (self.minus or self.over):
            raise ValueError("minus and over need statistic max or min")
        if self.minus and self.over:
            raise ValueError("minus and over exclude each other")
        if self.statistic == "mean" and self.metric == "overhead":
            raise ValueError(
                "metric overhead needs statistic max or min; throughput_bps compares both"
            )
        if (self.minus or self.over) and self.metric == "overhead":
            raise ValueError("minus and over are for metrics, not for overhead")
        return self


class PrintedOrder(Table):
    """A printed order of TCP and UDP, which a study looks for.

    The data set's `choices.csv` says by scenario which of the two loses less throughput to the
    policy, against `study.baseline`. The answer counts the scenarios in which a setting (levels of
    the factors, a traffic of each transport) has the same order.
    """

    dataset: str = Field(description="data set, see `airtoll datasets list`")
    policy: str = Field(description="policy whose cost has the order")

    @field_validator("policy")
    @classmethod
    def _known_policy(cls, name: str) -> str:
        return _canonical(name)


class Instrument(Table):
    """A measuring program: what it does to a reading before it prints it."""

    source: str = Field(
        min_length=1, description="source of the description, or the readings that it is fitted to"
    )
    fitted: bool = Field(False, description="a number of it is fitted to readings")
    reads: str | None = Field(None, description="metric that it shows instead of the compared one")
    end: Literal["receiver", "sender"] = Field(
        "receiver", description="sender: it counts packets that were sent, delivered or not"
    )
    series: bool = Field(
        False, description="it takes a reading each second, and shows their mean (`series = true`)"
    )
    tick: NotNegative = Field(
        0.0, description="tick of the sender's clock in the metric's unit; 0: none"
    )
    advance: NotNegative = Field(
        0.0, description="progress of the clock's phase from one reading to the next, same unit"
    )
    successive: bool = Field(
        False, description="it shows absolute differences of successive readings"
    )
    step: NotNegative = Field(0.0, description="last place that it shows, metric's unit; 0: all")
    rounding: Literal["nearest", "down", "up"] = Field(
        "nearest", description="direction of rounding to the last place"
    )

    @model_validator(mode="after")
    def _each_part_acts(self) -> Self:
        if (self.tick or self.successive) and not self.series:
            raise ValueError("tick and successive act on readings of each second: set series")
        if bool(self.tick) != bool(self.advance):
            raise ValueError("tick and advance act together")
        if self.rounding != "nearest" and not self.step:
            raise ValueError("rounding acts on a step")
        if not (self.reads or self.series or self.step or self.end == "sender"):
            raise ValueError("changes nothing: set reads, end, series or step")
        return self


class ProfileSet(Table):
    """Named substitutions of device profiles: `old = "new"` beside the fields."""

    label: str = Field("", max_length=60, description=_LABEL)
    about: str = Field("", description="devices that the set stands for")
    profiles: dict[str, str] = Field(
        default_factory=dict, description="device profile -> the one that replaces it"
    )

    @model_validator(mode="before")
    @classmethod
    def _substitutions(cls, given: Any) -> Any:
        """Keys that are no field are substitutions."""
        if not isinstance(given, dict):
            return given
        fields = {key: value for key, value in given.items() if key in cls.model_fields}
        others = {key: value for key, value in given.items() if key not in cls.model_fields}
        return {**fields, "profiles": {**fields.get("profiles", {}), **others}}


class Head(Table):
    """The [study] table."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_.-]*$", max_length=100, description="short name")
    title: str = Field(min_length=1, max_length=300, description="title of the report")
    about: str = Field("", description="subject of the study")
    source: str = Field("", description="publication that the study repeats")
    question: str = Field("", description="question that the study answers, one sentence")
    page: str = Field(
        "",
        description="page about the study's results, such as `docs/studies/today.md`; "
        "`airtoll studies list --json` has it",
    )
    answers: tuple[str, ...] = Field(
        (),
        description="primary metrics, most important first: their comparisons are one family of "
        "tests (Holm), all others are exploratory (FDR); default: throughput_bps and, where "
        "stations join, negotiation_time_s",
    )
    baseline: str = Field("open", description="policy that overhead is computed against")
    today: str | None = Field(
        None,
        description="policy that one has: the answer says what changes from it; default: the "
        "baseline, or wpa2-psk-ccmp where the baseline is open, the grid has it, and no published "
        "readings are compared",
    )
    against: dict[str, Level] = Field(
        default_factory=dict,
        max_length=1,
        description="`scenario`, `traffic` or a factor of the grid, and the level "
        "that its other levels are compared with, policy by policy; default: policies are "
        "compared with `baseline`",
    )
    overhead: Overhead = Field("of_baseline", description="definition of overhead")
    combine: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="groups of traffics: throughputs are averaged within a group, overhead "
        "percentages over the groups, per scenario (McCarter, 5.1.1)",
    )
    octet_theory: tuple[Count, ...] = Field(
        (), description="packet sizes for which the report prints added octets / size"
    )
    leaves_out: tuple[str, ...] = Field((), description="effects that the model leaves out")

    @field_validator("answers")
    @classmethod
    def _each_once(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ValueError(f"{twice[0]!r} is named twice")
        return names

    @field_validator("baseline", "today")
    @classmethod
    def _known_policy(cls, name: str | None) -> str | None:
        return name if name is None else _canonical(name)


class Study(Table):
    """A whole study file."""

    study: Head
    trials: Trials = unset(Trials)
    scenario: dict[str, Scenario] = Field(min_length=1)
    traffic: dict[str, Traffic] = Field(min_length=1)
    profile_set: dict[str, ProfileSet] = Field(
        default_factory=dict, description="named substitutions of device profiles"
    )
    grid: dict[str, tuple[Level, ...]]
    exclude: tuple[dict[str, tuple[Level, ...]], ...] = Field(
        (), description="cells to leave out: a table matches a cell that matches all its keys"
    )
    question: tuple[Question, ...] = Field(
        (),
        description="questions that the study answers, most important first; default: one for each "
        "of `study.answers`, from `study.today` to every other policy",
    )
    require: tuple[Require, ...] = Field(
        (), description="requirements that `airtoll run --gate` and `airtoll gate` check"
    )
    compare: tuple[Compare, ...] = ()
    order: tuple[PrintedOrder, ...] = ()
    instrument: dict[str, Instrument] = Field(
        default_factory=dict, description="measuring programs that `[[compare]]` names"
    )
    as_printed: dict[str, Level] = Field(
        default_factory=dict, description="dotted key -> value that --as-printed sets"
    )

    @model_validator(mode="after")
    def _instruments_are_there(self) -> Self:
        named = {entry.instrument for entry in self.compare if entry.instrument}
        for name in sorted(named - set(self.instrument)):
            raise ValueError(f"compare.instrument: no [instrument.{name}]")
        for name in sorted(set(self.instrument) - named):
            raise ValueError(f"instrument.{name}: no [[compare]] table names it")
        return self

    @property
    def answers(self) -> tuple[str, ...]:
        """The primary metrics: those stated, or the default ones."""
        return self.study.answers or DEFAULT_ANSWERS

    @field_validator("grid", mode="before")
    @classmethod
    def _lists(cls, grid: Any) -> Any:
        return _as_lists(grid)

    @field_validator("exclude", mode="before")
    @classmethod
    def _exclude_lists(cls, tables: Any) -> Any:
        return (
            [_as_lists(table) for table in tables] if isinstance(tables, list | tuple) else tables
        )


def with_level(values: dict[str, Any], field: str, level: Level) -> dict[str, Any]:
    """``values`` with a level under a dotted field name, e.g. ``radius.delay_ms``."""
    name, _, rest = field.partition(".")
    inner = with_level(dict(values.get(name) or {}), rest, level) if rest else level
    return {**values, name: inner}


def _as_lists(table: Any) -> Any:
    if not isinstance(table, dict):
        raise ValueError("must be a table of lists")  # noqa: TRY004 - pydantic wants ValueError
    return {k: v if isinstance(v, list | tuple) else [v] for k, v in table.items()}


def _canonical(name: str) -> str:
    try:
        return resolve(name).name
    except PolicyError as error:
        raise ValueError(str(error)) from error
