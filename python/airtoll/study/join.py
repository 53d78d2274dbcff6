"""How stations join: ``join`` of a scenario, and its RADIUS server.

Takes a parsed mapping; gives frozen values. The testbeds decide whether a policy fits.
"""

import difflib
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from airtoll.study.table import NotNegative, Positive, Table, WireRate

#: Signature algorithm of a certificate's key, as a study writes it -> as the native code does.
SIGNATURES: Final = {
    "rsa2048": "rsa-2048",
    "rsa3072": "rsa-3072",
    "p256": "ecdsa-p-256",
    "p384": "ecdsa-p-384",
    "ml-dsa-44": "ml-dsa-44",
    "ml-dsa-65": "ml-dsa-65",
    "ml-dsa-87": "ml-dsa-87",
    "slh-dsa-sha2-128s": "slh-dsa-sha2-128s",
    "falcon-512-by-size": "falcon-512",
    "falcon-1024-by-size": "falcon-1024",
}
#: Groups of TLS that a station can show a share of (IANA "TLS Supported Groups").
Group = Literal[
    "secp256r1",
    "secp384r1",
    "x25519",
    "x25519mlkem768",
    "secp256r1mlkem768",
    "secp384r1mlkem1024",
    "mlkem512",
    "mlkem768",
    "mlkem1024",
]


#: Group of IKEv1, as a study writes it -> its number (RFC 2409, section 6; RFC 3526).
IKEV1_GROUPS: Final = {"modp1024": 2, "modp1536": 5, "modp2048": 14}
#: First key exchange of IKEv2, as a study writes it -> its identifier (IANA, transform type 4).
IKE_GROUPS: Final = {
    "modp2048": 14,
    "ecp256": 19,
    "x25519": 31,
    "mlkem512": 35,
    "mlkem768": 36,
    "mlkem1024": 37,
}


def _joined(value: Any) -> Any:
    return "+".join(map(str, value)) if isinstance(value, list | tuple) else value


def _known(value: str) -> str:
    names = value.split("+")
    allowed = ", ".join(SIGNATURES)
    for name in names:
        if name not in SIGNATURES:
            if f"{name}-by-size" in SIGNATURES:
                raise ValueError(
                    f"is {name!r}, which airtoll models by size alone: write {name}-by-size"
                )
            near = [short for short, long in SIGNATURES.items() if long == name]
            near = near or difflib.get_close_matches(name, SIGNATURES, 1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise ValueError(f"no algorithm {name!r}; {hint}allowed: {allowed}")
    if len(names) > 3:
        raise ValueError(f"has {len(names)} algorithms; give leaf, issuing CA and root at most")
    return value


def _algorithms(chain: str) -> tuple[str, ...]:
    names = tuple(chain.split("+"))
    return names * 3 if len(names) == 1 else names


def _known_or_none(value: str) -> str:
    return value if value == "none" else _known(value)


def _not_the_cached(value: Any) -> Any:
    if value == "fresh":
        raise ValueError(
            "is 'fresh': a PMKSA that both ends have is join.cached_pmk = true; allowed are none "
            "(there is no stale PMKSA), stale, stale-kept"
        )
    return value


class Proxy(Table):
    """A RADIUS proxy (RFC 2865 section 2.3) and the link between it and the node before it."""

    profile: str | None = Field(None, description="device profile; default: `ideal`")
    rate_mbps: WireRate = Field(100.0, description="rate of its link, Mb/s")
    delay_ms: NotNegative = Field(0.0, description="one-way delay of its link, milliseconds")
    loss_ratio: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.0, description="share of packets that its link loses, each way"
    )
    state_bytes: Annotated[int, Field(ge=1, le=253)] | None = Field(
        None,
        description="octets of its Proxy-State (RFC 2865 section 5.33); default: the identifier of "
        "the request in decimal, as FreeRADIUS (`process.c`)",
    )


class Radius(Table):
    """The RADIUS server, wired to the access point, or to a controller or proxies before it."""

    profile: str | None = Field(None, description="device profile; default: `ideal`")
    rate_mbps: WireRate = Field(100.0, description="rate of its link, Mb/s")
    delay_ms: NotNegative = Field(0.0, description="one-way delay of its link, milliseconds")
    loss_ratio: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.0, description="share of packets that its link loses, each way"
    )
    requests_per_s: Positive | None = Field(
        None,
        description="Access-Requests that the server handles per second, one at a time, in "
        "addition to the costs of its profile; a repeated request costs it nothing (RFC 5080 "
        "section 2.2.2); default: no limit",
    )
    controller: str | None = Field(
        None, description="device profile of a controller between AP and server; default: none"
    )
    mtu_bytes: Annotated[int, Field(ge=256, le=1500)] | None = Field(
        None,
        description="path MTU between access point and server, bytes: a router fragments longer "
        "packets (RFC 791), and the loss of one fragment loses the packet; default: no router",
    )
    fragments: Literal["pass", "dropped"] = Field(
        "pass",
        description="dropped: a firewall before the server (before the first proxy) passes no IP "
        "fragment, so that a packet longer than the path MTU (`mtu_bytes`, 1500 without it) never "
        "arrives",
    )
    proxies: (
        Annotated[int, Field(ge=0, le=16)] | Annotated[tuple[Proxy, ...], Field(max_length=16)]
    ) = Field(
        0,
        description="RADIUS proxies between access point and server, that of the access point "
        "first: tables, or a number of proxies that have the profile, rate, delay and loss of the "
        "server and its link. A proxy repeats nothing by itself: the access point does (RFC 5080 "
        "section 2.2.1)",
    )
    max_rounds: Annotated[int, Field(ge=1)] | None = Field(
        None,
        description="EAP responses after the identity that the server takes (FreeRADIUS 3.2: 50, "
        "mem.c; hostapd 2.10: 99, `max_auth_rounds` 100 with the identity); default: no limit",
    )
    max_received_flight_bytes: Annotated[int, Field(ge=64)] | None = Field(
        None,
        description="octets of one TLS flight that the server takes from a station "
        "(FreeRADIUS 3.2.1 to 3.2.10: 16384, eapcommon.c); default: no limit",
    )
    max_sent_flight_bytes: Annotated[int, Field(ge=64)] | None = Field(
        None,
        description="octets of one TLS flight that the server sends (`MAX_RECORD_SIZE` of "
        "FreeRADIUS 3.2.1: 16384, of 3.2.7: 65536); default: no limit",
    )

    transport: Literal["udp", "tls"] = Field(
        "udp",
        description="udp: RFC 2865, a request is repeated after 2, 6 and 14 s (RFC 5080 section "
        "2.2.1); tls: RADIUS over TLS (RFC 6614) on every link between access point, proxies and "
        "server, where TCP repeats what is lost and `mtu_bytes` bounds TCP's segments",
    )
    connection: Literal["up", "on-request"] = Field(
        "up",
        description='with `transport = "tls"`: up: the connections precede the first join; '
        "on-request: the first request opens each of them (three-way handshake of TCP, TLS 1.3 "
        "with certificates of both ends), and later ones use it",
    )
    tls_chain: Annotated[str, BeforeValidator(_joined), AfterValidator(_known)] = Field(
        "rsa2048",
        description='with `connection = "on-request"`: kind of the certificates of both ends of a '
        "connection, written as `join.chain` is",
    )

    @property
    def tls_algorithms(self) -> tuple[str, ...]:
        """The signature algorithms of the connections' certificates, from leaf to root."""
        return _algorithms(self.tls_chain)

    @property
    def chain(self) -> tuple[Proxy, ...]:
        """The proxies, that of the access point first."""
        if not isinstance(self.proxies, int):
            return self.proxies
        each = Proxy(
            profile=self.profile,
            rate_mbps=self.rate_mbps,
            delay_ms=self.delay_ms,
            loss_ratio=self.loss_ratio,
        )
        return (each,) * self.proxies


class Join(Table):
    """How stations join: the exchanges on the air and on the wires before or during the traffic."""

    tls: Literal["1.2", "1.2-rsa", "1.3"] = Field(
        "1.2",
        description="TLS of EAP-TLS, TTLS and PEAP: 1.2 with ECDHE, 1.2 with RSA key transport "
        "(usual in the 2000s), 1.3",
    )
    tls_group: Group | None = Field(
        None,
        description='group of TLS\'s key exchange; those with ML-KEM need `tls = "1.3"` '
        "(draft-ietf-tls-ecdhe-mlkem, draft-ietf-tls-mlkem), OpenVPN has 1.3 in any case; default: "
        "P-256, in the 192-bit mode P-384, in OpenVPN X25519",
    )
    chain: Annotated[str, BeforeValidator(_joined), AfterValidator(_known)] = Field(
        "rsa2048",
        description="kind of the certificates of EAP and OpenVPN: one of "
        f"{', '.join(SIGNATURES)} for leaf, issuing "
        "CA and root, or those from leaf to root with or without issuing CA, as a list or joined "
        'by `+`; in EAP ML-DSA, SLH-DSA and Falcon need `tls = "1.3"`; Falcon has the sizes of its '
        "padded format and made-up octets (`by-size`); WPA3-Enterprise 192-bit uses "
        "RSA-3072 instead of RSA-2048 and P-384 instead of P-256",
    )
    certificate_compression: bool = Field(
        False,
        description='both ends compress their certificates with zlib (RFC 8879), in `tls = "1.3"`',
    )
    ike_group: Literal["modp2048", "ecp256", "x25519", "mlkem512", "mlkem768", "mlkem1024"] = Field(
        "modp2048",
        description="IKEv2: key exchange in IKE_SA_INIT; ML-KEM alone as in "
        "draft-ietf-ipsecme-ikev2-mlkem",
    )
    ikev1_group: Literal["modp1024", "modp1536", "modp2048"] = Field(
        "modp1024",
        description="group of tunnels with IKEv1, for main mode and for quick mode (FreeS/WAN's "
        "pluto proposes modp1536 first; Windows 2000 and XP have none above modp1024); policies "
        "without IKEv1 have none",
    )
    ike_additional: Literal["none", "mlkem512", "mlkem768", "mlkem1024"] = Field(
        "none",
        description="IKEv2: a second key exchange with ML-KEM, in IKE_INTERMEDIATE (RFC 9370, "
        "RFC 9242)",
    )
    ike_chain: Annotated[str, BeforeValidator(_joined), AfterValidator(_known_or_none)] = Field(
        "none",
        description="IKEv2: both ends authenticate with certificates of this chain, written as "
        "`chain` is (RFC 7427; ML-DSA and SLH-DSA: draft-ietf-ipsecme-ikev2-pqc-auth); none: with "
        "a pre-shared key",
    )
    ike_fragment_bytes: Annotated[int, Field(ge=200, le=1500)] | None = Field(
        None,
        description="IKEv2: longest IPv4 datagram, bytes, before IKE fragments its encrypted "
        "messages (RFC 7383; strongSwan: 1280, `charon.fragment_size`); default: IP fragments",
    )
    eap_fragment_bytes: Annotated[int, Field(ge=100, le=1398)] = Field(
        1398,
        description="octets of TLS data in one EAP packet (wpa_supplicant: 1398; FreeRADIUS: "
        "1024 minus header)",
    )
    max_rounds: Annotated[int, Field(ge=1)] | None = Field(
        None,
        description="EAP requests after the one for the identity that a station answers "
        "(wpa_supplicant 2.10: 99, `EAP_MAX_AUTH_ROUNDS` 100 with the identity); default: no limit",
    )
    cached_pmk: bool = Field(
        False, description="the PMK of an earlier association is still cached (PMKSA caching)"
    )
    pmksa: Annotated[Literal["none", "stale", "stale-kept"], BeforeValidator(_not_the_cached)] = (
        Field(
            "none",
            description="a PMKSA that the AP has lost; none: there is no such PMKSA (one that both "
            "ends have is `cached_pmk`); stale: the station names it (SAE, 802.1X): with "
            "802.1X the AP goes on with EAP, with SAE it refuses the association (status 53), and "
            "the station drops the PMKSA and begins anew at once, as wpa_supplicant; stale-kept: "
            "it keeps the PMKSA and repeats the association (`tries_again`)",
        )
    )
    tls_resumption: bool = Field(
        False,
        description="station and RADIUS server keep the TLS session of an earlier "
        "authentication; EAP-TLS, PEAP and TTLS resume this session (RFC 5246 section 7.3, "
        "RFC 9190 section 2.1.3)",
    )
    anti_clogging: bool = Field(
        False,
        description="SAE: the AP requires an anti-clogging token before it computes "
        "(802.11-2020, 12.4.6)",
    )
    anti_clogging_threshold: Annotated[int, Field(ge=0)] = Field(
        0,
        description="with `anti_clogging`: the AP requires tokens once this many SAE handshakes "
        "are open (hostapd: 5); 0: always",
    )
    flood_per_s: Annotated[float, Field(ge=0, le=10_000)] = Field(
        0.0,
        description="SAE: forged commits per second at the AP, each from another address, at "
        "random times from the start of the trial on. The AP takes one frame after the other, "
        "loses those that find hostapd's socket full (332 commits), and requires tokens from "
        "`anti_clogging_threshold` open handshakes on (default here: 5)",
    )
    flood_with_tokens: bool = Field(
        False,
        description="with `flood_per_s`: the sender hears the requests for tokens and answers them",
    )
    multiplication_ms: NotNegative | None = Field(
        None,
        description="SAE: time of a multiplication of a point on the stations' CPUs, ms; default: "
        "that of their profiles",
    )
    cookies: bool = Field(
        False,
        description="WireGuard: the gateway is under load and requires a cookie before it "
        "computes (Donenfeld 2017, section 5.3)",
    )
    cookie_threshold: Annotated[int, Field(ge=0)] = Field(
        0,
        description="with `cookies`: the gateway requires cookies once this many handshakes are "
        "open (wireguard-go: 128 in its queue); 0: always",
    )
    rosenpass: bool = Field(
        False,
        description="WireGuard: its pre-shared key comes from Rosenpass, a post-quantum exchange "
        "that runs first; its messages are modelled by size (white paper, section 2)",
    )
    cryptobinding: bool = Field(
        False,
        description="PEAP: the server binds the tunnel to the inner method (MS-PEAP section "
        "3.1.5.5)",
    )
    mobile_ip: Literal["off", "home", "foreign"] = Field(
        "off", description="Mobile IPv4 registration after the link is up"
    )
    first_at_home: bool = Field(
        False,
        description="topologies r1 to r4: the mobile node joins at home first, and link "
        "authentication and registration are repeated in the foreign network; times and messages "
        "are sums over both joins, without the time of the movement (Agarwal and Wang, VIII.B)",
    )
    advertisement_s: Positive | None = Field(
        None,
        description="interval of the Mobile IP agents' advertisements, s, in group-addressed "
        "frames (RFC 5944, 2.3); the lifetime is three intervals; default: the agents only "
        "answer solicitations",
    )
    movement_detection: Literal["link", "lifetime"] = Field(
        "link",
        description="how a Mobile IP node detects a move. link: by the new association, then it "
        "solicits; lifetime: its agent's last advertisement expires (RFC 5944, 2.4.2.1)",
    )
    fault: Literal["none", "wrong-passphrase", "wrong-certificate", "silent-server"] = Field(
        "none", description="the fault that the study injects"
    )
    tries_again: bool = Field(
        False,
        description="a station whose join failed begins again after 0.1, 0.5, 1, 5 and then every "
        "10 s (wpa_supplicant's pauses), until `limit_s`",
    )
    spread_ms: NotNegative = Field(
        0.0,
        description="stations start at random times within this interval, milliseconds; with "
        "`stations.joins_at_s` the interval begins there",
    )
    group_rekey_s: Positive | None = Field(
        None,
        description="interval at which the AP renews its group keys during the traffic, s "
        "(hostapd's wpa_group_rekey); default: never",
    )
    group_rekey_tries: Annotated[int, Field(ge=1, le=255)] = Field(
        4,
        description="transmissions of a new group key, the second after 0.5 s and further ones "
        "every second, before the AP deauthenticates a station without an answer (hostapd's "
        "wpa_group_update_count); a dozing station (`listen_interval`) hears them when it wakes",
    )
    group_rekey_on_leave: bool = Field(
        False,
        description="the AP also renews its group keys half a second after a station left for "
        "another AP (hostapd's wpa_strict_rekey)",
    )
    deauthenticate_at_s: Positive | None = Field(
        None,
        description="time after the start of the traffic, s, at which the AP deauthenticates all "
        "stations with one broadcast frame (protected by BIP with PMF); the stations rejoin; "
        "default: never",
    )
    limit_s: Positive = Field(
        120.0,
        description="a station that has not joined within this time has failed, s; during the "
        "traffic it counts from the latest `stations.joins_at_s`",
    )

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The signature algorithms of the chain's keys, from leaf to root: keys of `SIGNATURES`."""
        return _algorithms(self.chain)

    @property
    def ike_algorithms(self) -> tuple[str, ...] | None:
        """The signature algorithms of IKE's chain, or None with a pre-shared key."""
        return None if self.ike_chain == "none" else _algorithms(self.ike_chain)

    @property
    def is_post_quantum(self) -> bool:
        """Whether TLS carries Falcon or an algorithm of FIPS 203, 204 or 205."""
        signed = any("dsa" in name or "falcon" in name for name in self.algorithms)
        return signed or "mlkem" in (self.tls_group or "")
