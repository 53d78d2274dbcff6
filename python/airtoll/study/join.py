"""How stations join: ``join`` of a scenario, and its RADIUS server.

Takes a parsed mapping; gives frozen values. Never says whether a policy fits: a testbed does.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from airtoll.study.table import NotNegative, Positive, Table


class Radius(Table):
    """The RADIUS server, wired to the access point or to a controller before it."""

    profile: str | None = Field(None, description="device profile; default: `ideal`")
    rate_mbps: Positive = Field(100.0, description="rate of its link, Mb/s")
    delay_ms: NotNegative = Field(0.0, description="one-way delay of its link, milliseconds")
    loss_ratio: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.0, description="share of packets that its link loses, each way"
    )
    requests_per_s: Positive | None = Field(
        None,
        description="Access-Requests it works off in a second, one after the other, beside the "
        "costs of its profile; default: no limit",
    )
    controller: str | None = Field(
        None, description="device profile of a controller between AP and server; default: none"
    )


class Join(Table):
    """How stations join: what goes over the air and the wires before the traffic."""

    tls: Literal["1.2", "1.2-rsa", "1.3"] = Field(
        "1.2",
        description="TLS of EAP-TLS, TTLS and PEAP: 1.2 with ECDHE, 1.2 with RSA key transport "
        "(usual in the 2000s), 1.3",
    )
    chain: Literal["rsa2048", "p256", "rsa3072", "p384"] = Field(
        "rsa2048",
        description="kind of the certificates; the 192-bit mode of WPA3-Enterprise has RSA-3072 or "
        "P-384 in the place of RSA-2048 and P-256",
    )
    cached_pmk: bool = Field(
        False, description="PMK of an earlier association still cached (PMKSA caching)"
    )
    tls_resumption: bool = Field(
        False,
        description="station and RADIUS server remember a TLS session of an earlier "
        "authentication, which EAP-TLS, PEAP and TTLS resume (RFC 5246 section 7.3, RFC 9190 "
        "section 2.1.3)",
    )
    anti_clogging: bool = Field(
        False,
        description="SAE: the AP asks for a token before it computes (802.11-2020, 12.4.6)",
    )
    anti_clogging_threshold: Annotated[int, Field(ge=0)] = Field(
        0,
        description="with `anti_clogging`: SAE sessions that wait for a confirm from which the AP "
        "asks (hostapd: 5); 0: it asks everybody",
    )
    cookies: bool = Field(
        False,
        description="WireGuard: the gateway is under load and asks for a cookie before it computes "
        "(Donenfeld 2017, section 5.3)",
    )
    cookie_threshold: Annotated[int, Field(ge=0)] = Field(
        0,
        description="with `cookies`: unfinished handshakes from which the gateway asks "
        "(wireguard-go: 128 that wait for it); 0: it asks everybody",
    )
    cryptobinding: bool = Field(
        False,
        description="PEAP: the server binds the tunnel to what runs in it (MS-PEAP section "
        "3.1.5.5)",
    )
    mobile_ip: Literal["off", "home", "foreign"] = Field(
        "off", description="Mobile IPv4 registration after the link is up"
    )
    advertisement_s: Positive | None = Field(
        None,
        description="Mobile IP agents advertise themselves this often, s, in group-addressed "
        "frames (RFC 5944, 2.3), valid three times as long; default: they answer solicitations",
    )
    movement_detection: Literal["link", "lifetime"] = Field(
        "link",
        description="how a Mobile IP node finds out that it has moved: its link tells it, and it "
        "solicits; or its agent's last advertisement runs out (RFC 5944, 2.4.2.1)",
    )
    fault: Literal["none", "wrong-passphrase", "wrong-certificate", "silent-server"] = Field(
        "none", description="what is made to go wrong"
    )
    spread_ms: NotNegative = Field(
        0.0, description="stations start at random within this time, milliseconds"
    )
    group_rekey_s: Positive | None = Field(
        None,
        description="the AP renews its group keys this often during the traffic, s (hostapd's "
        "wpa_group_rekey); default: never",
    )
    group_rekey_on_leave: bool = Field(
        False,
        description="it renews them, too, half a second after a station left for another AP "
        "(hostapd's wpa_strict_rekey)",
    )
    deauthenticate_at_s: Positive | None = Field(
        None,
        description="the AP puts everybody off the network this long after the traffic's start, "
        "s, by one deauthentication frame to all (under BIP with PMF), and they come back; "
        "default: never",
    )
    limit_s: Positive = Field(120.0, description="a station that has not joined by then failed, s")
