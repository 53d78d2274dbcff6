"""How a station leaves one access point for another: ``handover`` of a scenario.

Takes a parsed mapping; gives frozen values. Never says whether a policy fits: a testbed does.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from airtoll.study.table import Count, NotNegative, Positive, Table


class Walk(Table):
    """A walk in a straight line from the station's position, which begins with the traffic."""

    to_m: tuple[float, float] = Field((60.0, 0.0), description="where it ends, metres")
    back: bool = Field(False, description="it turns there and goes back to where it began")
    speed_m_s: Positive = Field(1.4, description="speed, m/s")
    threshold_dbm: float = Field(
        -70.0, description="the station looks for another AP where its own is heard below this, dBm"
    )
    hysteresis_db: NotNegative = Field(
        8.0, description="it moves where the other AP is heard this much better, dB"
    )


class Scan(Table):
    """A scan with frames (IEEE Std 802.11-2020, 11.1.4.3); times are those of Linux mac80211."""

    mode: Literal["active", "passive"] = Field(
        "active", description="probe requests, or listening for beacons"
    )
    channels: Count = Field(
        11, description="channels, the new AP's among them and last; the others are empty"
    )
    min_channel_ms: Positive = Field(
        30.0, description="active: how long it waits on a channel that stays silent, milliseconds"
    )
    max_channel_ms: Positive = Field(
        30.0,
        description="active: how long where it heard something; passive (Linux: 110): on each "
        "channel, milliseconds",
    )


class Handover(Table):
    """The first station leaves its access point for a second one in mid-trial, or for several.

    The others are as well heard as the first, unless the station walks.
    """

    at_s: NotNegative = Field(1.0, description="when it leaves, seconds after the traffic's start")
    path: tuple[Count, ...] = Field(
        (2,),
        min_length=1,
        description="numbers of the APs that it moves to, one after the other; it begins at 1",
    )
    every_s: Positive = Field(
        1.0, description="time between two departures of a `path`, seconds; with `walk`: levels"
    )
    walk: Walk | None = Field(
        None, description="it leaves where the levels say so, in the place of `at_s`"
    )
    next_ap_m: tuple[float, float] = Field(
        (60.0, 0.0),
        description="where the second AP stands, with `walk`, metres; further ones in the same "
        "direction at the same distance from one another",
    )
    scan: Scan | None = Field(
        None, description="it looks for the new AP with frames, in the place of `scan_ms`"
    )
    again_s: Positive = Field(
        1.0, description="how long after a scan in vain it scans again, seconds"
    )
    scan_ms: NotNegative = Field(
        0.0,
        description="how long it is away to look for the new AP, milliseconds; 0: it knows it "
        "(802.11k), or scanned before it left",
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
        description="everything again; with the PMK cached at the new AP (OKC); with the PMKSA "
        "from before where it comes back, everything again elsewhere; with EAP run "
        "through the old AP before it leaves (802.11i); or 802.11r over the air, or over the "
        "DS: asked for through the old AP before it leaves",
    )
    ahead_ms: NotNegative = Field(
        1000.0,
        description="pre-authentication: how long before it leaves it begins, milliseconds; not "
        "done by then: everything again",
    )
    mobile_ip: Literal["home", "foreign"] = Field(
        "home",
        description="with `join.mobile_ip`: whether the other APs are at home, too, or foreign "
        "networks, where the AP is the foreign agent and packets go by IP in IP",
    )
    tunnel: Literal["anew", "mobike", "roams", "stays"] = Field(
        "anew",
        description="what becomes of a tunnel, whose outer address is another one at the new AP: "
        "set up anew; IKEv2's SA moves (RFC 4555); WireGuard's far end follows the next packet; "
        "or nothing, because Mobile IP below it keeps the address (`join.mobile_ip`)",
    )
    return_routability: bool = Field(
        False,
        description="with `mobike`: the gateway checks the new address before it believes it "
        "(RFC 4555, 3.7), two messages more",
    )
