"""How a station leaves one access point for another: ``handover`` of a scenario.

Takes a parsed mapping; gives frozen values. The testbeds decide whether a policy fits.
"""

from typing import Final, Literal

from attrs import frozen
from pydantic import Field

from airtoll.study.table import Count, Db, Dbm, Metre, NotNegative, Positive, Table


class Walk(Table):
    """A walk in a straight line from the station's position; the first starts with the traffic."""

    to_m: tuple[Metre, Metre] = Field((60.0, 0.0), description="end of the walk, metres")
    back: bool = Field(False, description="the station walks back to its start")
    speed_m_s: Positive = Field(1.4, description="speed, m/s")
    threshold_dbm: Dbm = Field(
        -70.0,
        description="the station searches for another AP while the level of its own AP is below "
        "this, dBm",
    )
    hysteresis_db: Db = Field(
        8.0, description="the station moves when the other AP is this much stronger, dB"
    )


class Scan(Table):
    """A scan with frames (IEEE Std 802.11-2020, 11.1.4.3); times are those of Linux mac80211."""

    mode: Literal["active", "passive"] = Field(
        "active", description="active: probe requests; passive: the station listens for beacons"
    )
    channels: Count = Field(
        11, description="number of channels; the new AP is on the last one, the others are empty"
    )
    min_channel_ms: Positive = Field(
        30.0, description="active: waiting time on a silent channel, milliseconds"
    )
    max_channel_ms: Positive = Field(
        30.0,
        description="active: waiting time on a channel with a response; passive: waiting time on "
        "each channel (Linux: 110), milliseconds",
    )


@frozen
class Sweep:
    """Channels of 20 MHz that a station of Linux visits in a scan of one whole band.

    ``active``: with probe requests. ``passive``: where it may not send before it has heard a beacon
    (``why``); the station stays there for ``passive_ms`` (net/mac80211/scan.c: HZ / 9).
    """

    active: int
    passive: int
    why: str = ""
    passive_ms: float = 110.0


#: Band, GHz -> its channels in the USA: 1 to 11; 36 to 48 and 149 to 165, and 52 to 64 and 100 to
#: 144 with radar (wireless-regdb, db.txt, country US, DFS); and the preferred scanning channels,
#: one of each 80 MHz (IEEE Std 802.11ax-2021, 26.17.2.3), where stations may not send first (the
#: same file, NO-IR).
SWEEPS: Final = {
    "2.4": Sweep(11, 0),
    "5": Sweep(9, 16, "with radar"),
    "6": Sweep(0, 15, "preferred scanning channels"),
}


class Handover(Table):
    """The first stations leave their access point for one or more others during the trial.

    Every access point has the level of the first, unless the station walks.
    """

    at_s: NotNegative = Field(
        1.0, description="time of the departure after the start of the traffic, seconds"
    )
    stations: Count = Field(
        1, description="number of stations that hand over by the same path: the first ones"
    )
    stagger_s: NotNegative = Field(
        0.0,
        description="time between the departures of one station and the next, seconds; with "
        "`walk` between the starts of their walks",
    )
    path: tuple[Count, ...] = Field(
        (2,),
        min_length=1,
        description="numbers of the APs that the station moves to, in order; it starts at AP 1",
    )
    every_s: Positive = Field(
        1.0,
        description="time between two departures of a `path`, seconds; with `walk` the levels "
        "decide",
    )
    walk: Walk | None = Field(
        None, description="signal levels along a walk trigger the departure; replaces `at_s`"
    )
    next_ap_m: tuple[Metre, Metre] = Field(
        (60.0, 0.0),
        description="with `walk`: position of the second AP, metres; further APs follow in the "
        "same direction at the same spacing",
    )
    scan: Scan | None = Field(
        None, description="the station scans for the new AP with frames; replaces `scan_ms`"
    )
    again_s: Positive = Field(
        1.0, description="waiting time between a scan that found no AP and the next scan, seconds"
    )
    scan_ms: NotNegative = Field(
        0.0,
        description="duration of the scan for the new AP, milliseconds; 0: the station knows the "
        "AP (802.11k) or scanned before it left",
    )
    method: Literal[
        "full",
        "cached-pmk",
        "pmksa-caching",
        "pre-authentication",
        "fast-transition",
        "fast-transition-ds",
    ] = Field(
        "full",
        description="full: the whole join; cached-pmk: the new AP has the PMK (OKC); "
        "pmksa-caching: the PMKSA of an earlier visit, the whole join at an AP without one; "
        "pre-authentication: EAP through the old AP before the departure (802.11i); "
        "fast-transition: 802.11r over the air; fast-transition-ds: 802.11r over the DS, "
        "requested through the old AP before the departure",
    )
    ahead_ms: NotNegative = Field(
        1000.0,
        description="pre-authentication: starts this long before the departure, milliseconds; "
        "if it is not complete at the departure, the whole join follows",
    )
    stale_address_s: NotNegative = Field(
        0.0,
        description="fault: packets for the station go to the old AP, where they are lost, until "
        "this long after the join at the new one (a stale entry of a bridge or an ARP cache), s",
    )
    missing_block_ack_s: NotNegative = Field(
        0.0,
        description="fault: until this long after the join at the new AP there is no block ack "
        "session in either direction, so that each frame carries one MPDU, s",
    )
    legacy_rate_s: NotNegative = Field(
        0.0,
        description="fault: at an AP to which the station comes back on its `path`, frames have "
        "the non-HT rate of the same constellation (at most 54 Mb/s) in both directions until this "
        "long after the join, s",
    )
    mobile_ip: Literal["home", "foreign"] = Field(
        "home",
        description="with `join.mobile_ip`: the other APs are in the home network, or in foreign "
        "networks with the AP as foreign agent and packets in IP-in-IP",
    )
    tunnel: Literal["anew", "mobike", "roams", "stays"] = Field(
        "anew",
        description="how a tunnel follows the new outer address at the new AP. anew: a new "
        "negotiation; mobike: the IKEv2 SA moves (RFC 4555); roams: WireGuard's peer takes the "
        "address from the next packet; stays: Mobile IP below the tunnel keeps the address "
        "(`join.mobile_ip`)",
    )
    return_routability: bool = Field(
        False,
        description="with `mobike`: the gateway checks the new address before it uses it "
        "(RFC 4555, 3.7); this takes two more messages",
    )
