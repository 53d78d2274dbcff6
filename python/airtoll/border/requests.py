"""Requests: Python builds these classes, the native module reads them as JSON.

Written by `make border` from the Rust types; not edited by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Literal

from airtoll.border.value import Value, field, frozen

__all__ = [
    "AccessCategory",
    "AddressResolution",
    "Aggregation",
    "AirSettings",
    "AirSettingsAssociation",
    "AirSettingsAuthentication",
    "AirSettingsFastTransition",
    "AirSettingsKeys",
    "AirSettingsOwe",
    "AirSettingsSae",
    "AkmSuite",
    "Announced",
    "Arrivals",
    "Association",
    "AuthenticationAlgorithm",
    "Band",
    "Beacons",
    "Bss",
    "CaptureOptions",
    "CategoryLinks",
    "CipherCost",
    "CipherDelimiters",
    "CipherSuite",
    "Coding",
    "CongestionControl",
    "Cost",
    "CryptoEngine",
    "Discipline",
    "DsssPreamble",
    "Duty",
    "EapLimits",
    "EapMethod",
    "EdcaParameters",
    "Encapsulation",
    "Energy",
    "Fading",
    "Faults",
    "Flow",
    "ForeignAgentSettings",
    "GroupDelivery",
    "GroupMessage",
    "GroupMessageAddressRequest",
    "GroupMessageMdns",
    "GroupMessageRouterAdvertisement",
    "GroupSource",
    "Handover",
    "HandoverMethod",
    "HashAlgorithm",
    "HomeAgentSettings",
    "HomedNode",
    "Host",
    "HystartRule",
    "IkeCipher",
    "Interferer",
    "IpVersion",
    "KemAlgorithm",
    "KeyExchange",
    "LinkBudget",
    "LinkDirection",
    "LinkSettings",
    "LinkSpec",
    "LossDetection",
    "ManagementProtection",
    "Master",
    "MasterMsk",
    "MasterPassphrase",
    "MasterPmk",
    "Meanwhile",
    "MediumDevice",
    "MediumDevices",
    "MediumFlow",
    "MediumLevel",
    "MediumLevelPoint",
    "MediumRadio",
    "MediumRequest",
    "MediumRequestAirtime",
    "MediumRequestBegin",
    "MediumRequestEndFlows",
    "MediumRequestLevel",
    "MediumRequestStartFlows",
    "MediumRequestStatistics",
    "MediumRequestStop",
    "MediumSettings",
    "MediumSimulated",
    "MediumWaypoint",
    "MobileIp",
    "MobileNodeSettings",
    "MobilityAgent",
    "MobilityDomain",
    "NamedGroup",
    "Neighbour",
    "Nic",
    "NicStage",
    "Node",
    "Ofdma",
    "Options",
    "OuterIp",
    "Overlap",
    "PassersBy",
    "PathLoss",
    "PathLossConstant",
    "PathLossLogDistance",
    "Pattern",
    "PatternDns",
    "PatternPaced",
    "PatternRequestResponse",
    "PatternSaturated",
    "PatternTransfer",
    "PatternVoip",
    "PolicySpec",
    "PowerSave",
    "Presence",
    "Protection",
    "Queue",
    "Radio",
    "RadiusTls",
    "Rate",
    "RateAarf",
    "RateFixed",
    "RateFixedMcs",
    "RateMinstrel",
    "Reassociation",
    "Retrieval",
    "Role",
    "RoleSettings",
    "RoleSettingsAir",
    "RoleSettingsEap",
    "RoleSettingsIkeV1",
    "RoleSettingsIkeV2",
    "RoleSettingsLeap",
    "RoleSettingsMobike",
    "RoleSettingsOpenVpn",
    "RoleSettingsWireGuard",
    "SaeFlood",
    "Scan",
    "Scenario",
    "SecurityAssociation",
    "Shown",
    "SignatureAlgorithm",
    "SingleRadio",
    "StageKind",
    "Standard",
    "StationChallenge",
    "StationChallengeAsResponse",
    "StationChallengeOnLink",
    "StationChallengeRelayed",
    "TargetWakeTime",
    "TcpSystem",
    "TlsSuite",
    "TlsVersion",
    "Transport",
    "TransportTcp",
    "TransportUdp",
    "Tunnel",
    "TunnelMove",
    "TunnelSpec",
    "TunnelSuite",
    "TxopProtection",
    "Walk",
    "Wall",
    "WireDiscipline",
    "WiredLink",
]


@frozen(kw_only=True, eq=False, repr=False)
class PathLossConstant(Value):
    """The same loss between every two nodes."""

    model: Literal["constant"] = field(default="constant", init=False)

    loss_db: float
    """Loss, dB."""


@frozen(kw_only=True, eq=False, repr=False)
class PathLossLogDistance(Value):
    """`reference_db + 10 * exponent * log10(d / 1 m)`, and `reference_db` below one metre."""

    model: Literal["log_distance"] = field(default="log_distance", init=False)

    reference_db: float
    """Loss at one metre, dB (46.7 at 5.15 GHz, 40.0 at 2.4 GHz in free space)."""

    exponent: float
    """Exponent (2 free space, 3 indoors)."""


#: Mean path loss by distance; positions are in metres.
PathLoss = PathLossConstant | PathLossLogDistance


@frozen(kw_only=True, eq=False, repr=False)
class Wall(Value):
    """A straight wall, seen from above."""

    from_m: tuple[float, float]
    """One end, metres."""

    to_m: tuple[float, float]
    """The other end, metres."""

    loss_db: float
    """Loss of a line that crosses it, dB."""


@frozen(kw_only=True, eq=False, repr=False)
class LinkBudget(Value):
    """The link budget of a pair of nodes; exactly one of `rssi_dbm` and `loss_db`."""

    nodes: tuple[str, str]
    """The two nodes."""

    bss: str | None = None
    """The BSS in which it holds; null: in all."""

    rssi_dbm: float | None = None
    """Power received at either from the other, dBm."""

    loss_db: float | None = None
    """Path loss, dB."""


@frozen(kw_only=True, eq=False, repr=False)
class Fading(Value):
    """Block fading: the power gain of a pair of nodes is constant for the coherence time and
    then drawn anew, the same in both directions. Its mean is 1.
    """

    k_db: float | None = None
    """Rician K-factor (power of the line of sight over that of the other paths), dB; null:
    Rayleigh.
    """

    coherence_us: float
    """Coherence time, us."""

    delay_spread_ns: float = 0.0
    """RMS delay spread of the paths that are no line of sight, 0 to 200 ns: the gain differs
    over the channel; 0: it is the same over the whole channel.
    """


@frozen(kw_only=True, eq=False, repr=False)
class Presence(Value):
    """Times in which an interferer has bursts, and times in which it has none, each drawn from
    an exponential distribution.
    """

    present_s: float
    """Mean time of presence, s."""

    absent_s: float
    """Mean time of absence, s."""


@frozen(kw_only=True, eq=False, repr=False)
class Interferer(Value):
    """A source of energy that is on for a time and off for a time, and defers to no one. From
    `busy_from_dbm` on nodes defer to it (IEEE 802.11-2020, 17.3.10.6); at any level its power
    adds to the noise of frames, or of MPDUs of an A-MPDU, that it overlaps.
    """

    channel: int | None = None
    """Number of the radio channel that it disturbs (`bss[].channel`); null: all."""

    level_dbm: float
    """Its power at every node while it is on, dBm."""

    busy_from_dbm: float = -62.0
    """Level from which it makes the medium busy, dBm."""

    burst_us: float
    """Length of a burst, us."""

    pause_us: float
    """Time between two bursts, its mean where it is random, us."""

    random: bool = False
    """Whether pauses are drawn from an exponential distribution; if not, all are equal."""

    presence: Presence | None = None
    """Times of presence and absence; null: always present."""


@frozen(kw_only=True, eq=False, repr=False)
class Radio(Value):
    """Propagation and receivers, common to all nodes."""

    path_loss: PathLoss = PathLossConstant(loss_db=60.0)
    """Path loss between positions."""

    walls: tuple[Wall, ...] = ()
    """Walls; each adds its loss to every straight line of sight that crosses it."""

    budgets: tuple[LinkBudget, ...] = ()
    """Explicit budgets of pairs of nodes, in both directions; they override positions."""

    hidden: tuple[tuple[str, str], ...] = ()
    """Pairs of nodes (names) that receive nothing of one another, not even as interference."""

    noise_figure_db: float = 7.0
    """Receiver noise figure, dB over kTB."""

    carrier_sense_dbm: float = -82.0
    """Power from which a frame makes the medium busy, dBm."""

    shadowing_db: float = 0.0
    """Standard deviation of log-normal shadowing, dB: the level of every pair of nodes differs
    from its mean by one draw per trial, the same in both directions; 0: none.
    """

    fading: Fading | None = None
    """Fading of the levels with time; null: none."""

    interferers: tuple[Interferer, ...] = ()
    """Sources of interference that defer to no one."""

    frame_errors: bool = True
    """Whether frames fail by noise (SNR and modulation); if not, only by collisions."""

    preamble_capture_db: float | None = None
    """Preamble detection among overlapping frames: a receiver locks on to the strongest of those
    that start together if it is this far above the others, dB; null: overlapping frames are
    all lost.
    """

    frame_capture_db: float | None = None
    """Frame capture: a later frame that is this much stronger takes over the receiver, dB; null:
    never.
    """


class Standard(StrEnum):
    """PHY generation, named after the amendment that defined its PPDU format.

    It is also the modulation class of a frame (Table 10-9): a frame at 11 Mb/s in an 802.11g
    BSS is of [`Generation::B`].
    """

    STANDARD_802_11B = "802.11b"
    """802.11b: DSSS and CCK at 2.4 GHz, 1 to 11 Mb/s."""

    STANDARD_802_11A = "802.11a"
    """802.11a: OFDM at 5 GHz, 6 to 54 Mb/s."""

    STANDARD_802_11G = "802.11g"
    """802.11g: ERP-OFDM at 2.4 GHz, 6 to 54 Mb/s, and the rates of 802.11b."""

    STANDARD_802_11N = "802.11n"
    """802.11n: HT with mixed preamble."""

    STANDARD_802_11AC = "802.11ac"
    """802.11ac: VHT to one user."""

    STANDARD_802_11AX = "802.11ax"
    """802.11ax: HE SU."""

    STANDARD_802_11BE = "802.11be"
    """802.11be: EHT MU PPDU to one user without OFDMA."""


class Band(StrEnum):
    """Frequency band; decides signal extension and interframe spaces."""

    BAND_2_4GHZ = "2.4ghz"
    """2.4 GHz."""

    BAND_5GHZ = "5ghz"
    """5 GHz."""

    BAND_6GHZ = "6ghz"
    """6 GHz."""


class Coding(StrEnum):
    """Error-correcting code of data frames. DSSS and CCK have none, OFDM has the convolutional
    code alone.
    """

    BCC = "bcc"
    """Convolutional code (BCC)."""

    LDPC = "ldpc"
    """Low-density parity-check codes (HT and later)."""


class DsssPreamble(StrEnum):
    """PLCP preamble of HR/DSSS (clause 16.2.2)."""

    LONG = "long"
    """144 + 48 bits at 1 Mb/s: 192 us."""

    SHORT = "short"
    """72 bits at 1 Mb/s and 48 at 2 Mb/s: 96 us; not for 1 Mb/s PSDUs."""


class Protection(StrEnum):
    """Protection of OFDM frames against stations that hear only DSSS."""

    NONE = "none"
    """None."""

    CTS_TO_SELF = "cts_to_self"
    """CTS-to-self."""

    RTS_CTS = "rts_cts"
    """RTS/CTS."""


@frozen(kw_only=True, eq=False, repr=False)
class RateFixed(Value):
    """One rate of 802.11b/a/g."""

    control: Literal["fixed"] = field(default="fixed", init=False)

    mbps: float
    """Mb/s: 1, 2, 5.5, 11 or 6, 9, 12, 18, 24, 36, 48, 54."""


@frozen(kw_only=True, eq=False, repr=False)
class RateFixedMcs(Value):
    """One MCS of 802.11n/ac/ax/be."""

    control: Literal["fixed_mcs"] = field(default="fixed_mcs", init=False)

    mcs: int
    """MCS index within `streams` (0-7 n, 0-9 ac, 0-11 ax, 0-13 be); for n also 8-31, which then
    says the streams itself.
    """

    streams: int = 1
    """Spatial streams, 1 to 8."""


@frozen(kw_only=True, eq=False, repr=False)
class RateAarf(Value):
    """AARF: up after successes, down after two failures, longer waits after a failed try
    (Lacage, Manshaei, Turletti 2004).
    """

    control: Literal["aarf"] = field(default="aarf", init=False)

    streams: int = 1
    """Highest number of spatial streams to use."""


@frozen(kw_only=True, eq=False, repr=False)
class RateMinstrel(Value):
    """Sampling of rates and choice by expected throughput, as the Minstrel of Linux does."""

    control: Literal["minstrel"] = field(default="minstrel", init=False)

    streams: int = 1
    """Highest number of spatial streams to use."""


#: How the rate of data frames is chosen.
Rate = RateFixed | RateFixedMcs | RateAarf | RateMinstrel


@frozen(kw_only=True, eq=False, repr=False)
class EdcaParameters(Value):
    """EDCA parameters of one access category; null: those of the BSS for a node, the standard's
    for a BSS.
    """

    aifsn: int | None = None
    """AIFSN, slots after SIFS, 1 to 15."""

    cw_min: int | None = None
    """CWmin, slots."""

    cw_max: int | None = None
    """CWmax, slots; at least CWmin."""

    txop_us: float | None = None
    """TXOP limit, us; 0: one frame exchange."""


class TxopProtection(StrEnum):
    """End of the time that frames of a TXOP reserve (IEEE 802.11-2020, 9.2.5.2, which leaves it
    to the sender). Acts where the TXOP limit is above 0.
    """

    SINGLE = "single"
    """The response to the frame."""

    MULTIPLE = "multiple"
    """The TXOP limit. Behind its last response the holder sends a CF-End where one fits."""


@frozen(kw_only=True, eq=False, repr=False)
class Aggregation(Value):
    """Aggregation limits."""

    ampdu_max_octets: int | None = None
    """Longest A-MPDU, octets; 0: no A-MPDU; null: the standard's limit (65,535 n, 1,048,575 ac,
    6,500,631 ax and be).
    """

    amsdu_max_octets: int = 0
    """Longest A-MSDU without its MAC header, octets; 0: none. MPDUs have their own limits."""

    window: int | None = None
    """Block-ack window, MPDUs; null: 64 (n, ac), 256 (ax), 1024 (be)."""


class CipherSuite(StrEnum):
    """A cipher suite of IEEE 802.11, or none."""

    OPEN = "open"
    """No cipher."""

    WEP_40 = "wep-40"
    """WEP with a 40-bit key."""

    WEP_104 = "wep-104"
    """WEP with a 104-bit key."""

    TKIP = "tkip"
    """Temporal Key Integrity Protocol. The key is 16 octets of encryption key and two Michael
    keys of 8.
    """

    CCMP_128 = "ccmp-128"
    """AES-128 in CCM with an 8-octet MIC."""

    CCMP_256 = "ccmp-256"
    """AES-256 in CCM with a 16-octet MIC."""

    GCMP_128 = "gcmp-128"
    """AES-128 in GCM with a 16-octet MIC."""

    GCMP_256 = "gcmp-256"
    """AES-256 in GCM with a 16-octet MIC."""

    BIP_CMAC_128 = "bip-cmac-128"
    """AES-128-CMAC truncated to 64 bits, for group-addressed management frames."""

    BIP_CMAC_256 = "bip-cmac-256"
    """AES-256-CMAC, 128 bits, for group-addressed management frames."""

    BIP_GMAC_128 = "bip-gmac-128"
    """AES-128-GMAC, for group-addressed management frames."""

    BIP_GMAC_256 = "bip-gmac-256"
    """AES-256-GMAC, for group-addressed management frames."""


class AkmSuite(StrEnum):
    """An AKM suite."""

    WPA_802_1X = "wpa-802.1x"
    """WPA version 1 with 802.1X, 00-50-F2:1."""

    WPA_PSK = "wpa-psk"
    """WPA version 1 with a pre-shared key, 00-50-F2:2."""

    AKM_SUITE_802_1X = "802.1x"
    """802.1X, 00-0F-AC:1."""

    PSK = "psk"
    """Pre-shared key, 00-0F-AC:2."""

    FT_802_1X = "ft-802.1x"
    """Fast transition with 802.1X, 00-0F-AC:3."""

    FT_PSK = "ft-psk"
    """Fast transition with a pre-shared key, 00-0F-AC:4."""

    AKM_SUITE_802_1X_SHA256 = "802.1x-sha256"
    """802.1X with SHA-256, 00-0F-AC:5."""

    PSK_SHA256 = "psk-sha256"
    """Pre-shared key with SHA-256, 00-0F-AC:6."""

    SAE = "sae"
    """Simultaneous authentication of equals, 00-0F-AC:8."""

    FT_SAE = "ft-sae"
    """Fast transition with SAE, 00-0F-AC:9."""

    AKM_SUITE_802_1X_SUITE_B = "802.1x-suite-b"
    """Suite B 802.1X, SHA-256, 00-0F-AC:11. No policy names it."""

    AKM_SUITE_802_1X_SUITE_B_192 = "802.1x-suite-b-192"
    """Suite B 802.1X at 192 bits (CNSA), SHA-384, 00-0F-AC:12."""

    FT_802_1X_SHA384 = "ft-802.1x-sha384"
    """Fast transition with 802.1X and SHA-384, 00-0F-AC:13."""

    OWE = "owe"
    """Opportunistic wireless encryption (RFC 8110), 00-0F-AC:18."""

    SAE_EXT_KEY = "sae-ext-key"
    """SAE with a group-dependent hash, 00-0F-AC:24."""

    FT_SAE_EXT_KEY = "ft-sae-ext-key"
    """Fast transition with SAE and a group-dependent hash, 00-0F-AC:25."""

    SAE_DRAFT_MLKEM768 = "sae-draft-mlkem768"
    """SAE and ML-KEM-768: a draft, whose frames airtoll assumes."""

    OWE_DRAFT_MLKEM768 = "owe-draft-mlkem768"
    """OWE and ML-KEM-768: a draft, whose frames airtoll assumes."""


class EapMethod(StrEnum):
    """An EAP method."""

    MD5 = "md5"
    """MD5-Challenge (RFC 3748 section 5.4): gives no key."""

    LEAP = "leap"
    """LEAP (Cisco)."""

    TLS = "tls"
    """EAP-TLS (RFC 5216, RFC 9190)."""

    TTLS = "ttls"
    """EAP-TTLS (RFC 5281) with PAP inside."""

    PEAP = "peap"
    """PEAPv0 (draft-kamath-pppext-peapv0, MS-PEAP) with EAP-MSCHAPv2 inside."""

    TEAP = "teap"
    """EAP-TEAP version 1 (RFC 7170, RFC 9930) with EAP-MSCHAPv2 inside."""


class AuthenticationAlgorithm(StrEnum):
    """The 802.11 authentication algorithm of a first association (802.11-2020, 9.4.1.1)."""

    OPEN = "open"
    """Open System."""

    SHARED_KEY = "shared-key"
    """Shared Key, with the WEP key."""

    SAE = "sae"
    """Simultaneous authentication of equals."""

    FT = "ft"
    """Fast BSS transition; the first association in a mobility domain authenticates with Open
    System.
    """


class ManagementProtection(StrEnum):
    """Protected management frames (802.11-2020, 12.6.3)."""

    OFF = "off"
    """Neither side can."""

    OPTIONAL = "optional"
    """Both can."""

    REQUIRED = "required"
    """Both must."""


@frozen(kw_only=True, eq=False, repr=False)
class LinkSpec(Value):
    """The link of a policy."""

    cipher: CipherSuite
    """Pairwise cipher."""

    group_cipher: CipherSuite
    """Group cipher."""

    akm: AkmSuite | None = None
    """AKM suite; null without link keys."""

    eap_method: EapMethod | None = None
    """EAP method; null without 802.1X."""

    authentication: AuthenticationAlgorithm = AuthenticationAlgorithm.OPEN
    """802.11 authentication algorithm."""

    pmf: ManagementProtection = ManagementProtection.OFF
    """Protected management frames."""

    dynamic_wep: bool = False
    """Whether 802.1X hands out WEP keys."""


@frozen(kw_only=True, eq=False, repr=False)
class Announced(Value):
    """Security that an access point announces in beacons, probe and association responses."""

    links: tuple[LinkSpec, ...]
    """Links that one RSN element offers together, the preferred one first; in transition modes
    two. Those of WPA version 1 are in its own element.
    """

    overriding: tuple[LinkSpec, ...] = ()
    """Links in RSN elements that override the first one for stations that know of them, at most
    two (Wi-Fi Alliance, WPA3 Specification, RSN overriding).
    """

    beacon_protection: bool = False
    """Beacons carry a MIC (BIGTK), where management frames are protected."""

    operating_channel_validation: bool = False
    """Both ends prove the channel that they are on (OCV), where management frames are protected."""

    owe_transition: bool = False
    """OWE transition mode: the links are those of a hidden BSS, and an open BSS has beacons of
    its own. The beacons of each name the other one.
    """


@frozen(kw_only=True, eq=False, repr=False)
class Beacons(Value):
    """Beacons of an access point."""

    interval_us: float = 102400.0
    """Interval, us (100 time units are 102,400 us)."""

    octets: int | None = None
    """Length of the beacon MPDU with FCS, octets; null: that of its elements."""

    multiple_bssid: bool = False
    """The SSIDs after the first are profiles in the beacon of the first (Multiple BSSID
    elements) and have no beacons of their own.
    """

    reported: int = 0
    """BSSs of the same device in other bands that the beacon reports (Reduced Neighbor Report)."""

    rate_mbps: float | None = None
    """Rate of the beacon, Mb/s; null: the lowest basic rate."""

    ssids: int = 1
    """How many SSIDs, each with a beacon of its own."""

    offset_us: float = 0.0
    """Instant of the first beacon, us."""


@frozen(kw_only=True, eq=False, repr=False)
class SaeFlood(Value):
    """Forged SAE commits, each from another address, at the times of a Poisson process. The
    access point takes one frame after the other, and loses those that find the socket of
    hostapd full.
    """

    station: str
    """The node whose radio sends them: a station of the BSS that joins nowhere."""

    commits_per_s: float
    """Commits per second in the mean."""

    with_tokens: bool = False
    """The attacker hears the access point's requests for tokens, and answers them."""


@frozen(kw_only=True, eq=False, repr=False)
class GroupDelivery(Value):
    """How an access point passes group-addressed frames on, and what it forwards between
    stations.
    """

    multicast_to_unicast: bool = False
    """Each station gets an acknowledged copy of its own at its own rate, as with
    `multicast_to_unicast` of Linux's mac80211.
    """

    per_client_keys: bool = False
    """Each station has a group key of its own, so that no frame reaches two stations: without
    `multicast_to_unicast` the access point passes nothing on to groups (Wi-Fi Alliance,
    Passpoint: DGAF Disable).
    """

    isolation: bool = False
    """Nothing is forwarded between the stations of the BSS."""

    proxy_arp: bool = False
    """The access point answers address requests for its stations and passes none on to them
    (IEEE 802.11-2020, 11.21.14).
    """

    dtim_period: int = 1
    """Beacons from one DTIM to the next, 1 to 255. Where a station of the BSS dozes, frames to
    groups wait for the DTIM.
    """


@frozen(kw_only=True, eq=False, repr=False)
class Neighbour(Value):
    """A neighbour's BSS on the channel. Its traffic begins with the trial, before stations join."""

    level_dbm: float | None = None
    """Level at which its nodes and those of any other BSS hear one another, dBm; between two
    BSSs that have one, the lower. Null: that of places and budgets.
    """


@frozen(kw_only=True, eq=False, repr=False)
class PassersBy(Value):
    """Probe Requests of stations that pass by (IEEE 802.11-2020, 11.1.4.3.2): to the broadcast
    address and with the wildcard SSID, at the times of a Poisson process, of one station
    after the other. Every access point on the channel that hears one answers for each of its
    networks with a Probe Response to that station.
    """

    per_s: float
    """Probe Requests per second in the mean, all stations together."""

    leaves_ratio: float = 0.0
    """Share of the requests whose sender has left the channel before a response arrives, 0 to 1:
    the responses to these get no Ack.
    """

    response_delay_us: float = 0.0
    """An access point has its responses ready at an instant up to this after a request,
    uniformly distributed, us.
    """

    response_attempts: int | None = None
    """Attempts of a response; null: those of the access point's BSS (`max_attempts`)."""


@frozen(kw_only=True, eq=False, repr=False)
class Ofdma(Value):
    """OFDMA of a BSS: equal resource units over the stations with frames, stations in turn."""

    downlink: bool = True
    """The access point sends to several stations in one PPDU; MU-BAR Trigger frames in it ask
    for BlockAcks.
    """

    uplink: bool = True
    """The access point asks stations for data by Basic Trigger frames."""

    poll_interval_us: float = 10000.0
    """Interval at which stations that reported empty queues are asked again, us."""

    mu_edca_timer_us: float = 2088960.0
    """MU EDCA timer, us: a station whose triggered data were acknowledged does not contend for
    so long; 0: it contends as before. Default: that of hostapd, 255 times 8 TU.
    """


@frozen(kw_only=True, eq=False, repr=False)
class Bss(Value):
    """One basic service set: an access point and its stations."""

    name: str
    """Name, referred to by `nodes[].bss`."""

    channel: int = 0
    """Radio channel; BSSs with the same number share the air, others do not disturb."""

    standard: Standard
    """PHY of the BSS; a station may be older (`nodes[].standard`)."""

    band: Band | None = None
    """Frequency band; default 2.4 GHz for b and g, 6 GHz for 320 MHz, 5 GHz for the others."""

    width_mhz: int = 20
    """Channel width: 20, 40 (n and later), 80, 160 (ac and later), 320 (be), MHz."""

    primary: int = 0
    """Its primary 20 MHz channel, counted from the first one of the radio channel. Its channel
    is the block of `width_mhz` with it that begins at a multiple of its width. Counts where a
    neighbour's channel overlaps others in part.
    """

    guard_interval_ns: int = 800
    """Guard interval: 800 or 400 (n, ac), 800, 1600 or 3200 (ax, be), ns."""

    coding: Coding = Coding.BCC
    """Error-correcting code of frames with an MCS; others have the convolutional code."""

    preamble: DsssPreamble = DsssPreamble.LONG
    """DSSS/CCK preamble (b, and b rates in g); 1 Mb/s always uses the long one."""

    short_slot: bool = True
    """802.11g: 9 us slots instead of 20 us (which a b station in the BSS forces)."""

    protection: Protection = Protection.NONE
    """802.11g: protection of OFDM frames against b stations."""

    basic_rates_mbps: tuple[float, ...] | None = None
    """Basic rates, Mb/s; control responses use the highest not above the data rate. Default: the
    mandatory rates of the PHY (1, 2 for b; 6, 12, 24 for OFDM; also 1, 2, 5.5 and 11 where b
    stations may be).
    """

    rate: Rate
    """Rate of data frames; a station may have its own (`nodes[].rate`)."""

    edca: bool | None = None
    """EDCA instead of DCF (QoS data frames, four access categories). Default: on from 802.11n."""

    edca_parameters: (
        tuple[EdcaParameters, EdcaParameters, EdcaParameters, EdcaParameters] | None
    ) = None
    """EDCA parameters in the order background, best effort, video, voice; default: the
    standard's (IEEE 802.11-2020 Table 9-155). A node may have its own
    (`nodes[].edca_parameters`).
    """

    txop_protection: TxopProtection = TxopProtection.SINGLE
    """End of the time that frames of a TXOP reserve (IEEE 802.11-2020, 9.2.5.2)."""

    cw_min: int | None = None
    """CWmin of DCF (and of best effort and background under EDCA), slots; default: the PHY's."""

    cw_max: int | None = None
    """CWmax, slots; default: the PHY's."""

    max_attempts: int = 7
    """Attempts per frame before it is dropped."""

    rts_threshold_octets: int | None = None
    """RTS/CTS before MPDUs longer than this, octets; null: never."""

    fragmentation_threshold_octets: int | None = None
    """MPDUs longer than this (header and FCS counted, the cipher's octets not) are sent in
    fragments where no block ack agreement holds, octets; at least 256; null: never.
    """

    frame_burst_us: float = 0.0
    """Without EDCA: frames of one queue follow one another SIFS apart for this long after one
    contention, us; 0: one frame per contention. A node may have its own
    (`nodes[].frame_burst_us`).
    """

    cca_time_us: float = 0.0
    """Time that a station needs to notice that another one has begun to transmit (aCCATime), us:
    stations that begin within it collide. 0: only those that begin at the same instant do,
    which is exact where all back-offs keep the slot boundaries.
    """

    aggregation: Aggregation = Aggregation()
    """A-MPDU and A-MSDU (n and later)."""

    security: Announced | None = None
    """Security that the AP announces; null: that of the first station that joins in this BSS,
    else none but the privacy of its cipher.
    """

    beacons: Beacons | None = None
    """Beacons of the AP; null: none."""

    sae_anti_clogging_threshold: int | None = None
    """SAE: from this many sessions on that wait for a station's confirm, the access point asks a
    new station for an anti-clogging token (dot11RSNASAEAntiCloggingThreshold); null: as each
    association's options say.
    """

    sae_flood: SaeFlood | None = None
    """Forged SAE commits, from the start of the trial on; null: none. Needs
    `sae_anti_clogging_threshold`.
    """

    group_rekey_s: float | None = None
    """The access point renews its group keys this often, the first time so long after the
    traffic began, s; null: never. Every station that joins needs an AKM.
    """

    group_rekey_on_leave: bool = False
    """It renews them, too, when a station has left for another access point."""

    deauthenticate_at_s: float | None = None
    """The access point puts all of its stations off the network so long after the traffic began,
    by one Deauthentication frame to every station, s; null: never. The stations have to join
    first.
    """

    restart_at_s: float | None = None
    """The access point restarts so long after the traffic began, s, at once and without a frame:
    its associations and PMKSAs are lost; null: never. The stations have to join first.
    """

    group: GroupDelivery = GroupDelivery()
    """How the access point passes group-addressed frames on, and what it forwards between
    stations.
    """

    neighbour: Neighbour | None = None
    """Set for a neighbour's BSS: it takes its part of the channel, and its traffic is in no
    result. Null: results are those of this BSS.
    """

    passers_by: PassersBy | None = None
    """Set where it is no BSS: its stations pass by, probe, and have no access point. Needs
    `neighbour`, whose level then holds between them and all nodes of BSSs. Null: a BSS.
    """

    color: int = 0
    """BSS color (IEEE 802.11ax-2021, 26.11.4), 1 to 63; 0: none."""

    obss_pd_dbm: float | None = None
    """Its nodes sense frames of BSSs with another color below this level until they have read
    the color (OBSS PD level of spatial reuse, IEEE 802.11ax-2021, 26.10.2.2), -82 to -62 dBm,
    and send their next frames with 21 dBm less its excess over -82 dBm at most; null: they
    sense all to the end.
    """

    ofdma: Ofdma | None = None
    """OFDMA (802.11ax and later); null: each PPDU has one sender and one receiver."""


class Role(StrEnum):
    """Role of a node."""

    STATION = "station"
    """Wireless station, associated with the access point of its BSS."""

    ACCESS_POINT = "access_point"
    """Access point of its BSS; bridges between stations and to the wire."""

    WIRED = "wired"
    """Host or switch on the wire; forwards between its links."""


@frozen(kw_only=True, eq=False, repr=False)
class SingleRadio(Value):
    """Enhanced multi-link single-radio operation (EMLSR) of a station: one radio listens on all
    links and exchanges frames on one at a time (IEEE 802.11be-2024, 35.3.17).
    """

    padding_delay_us: int = 0
    """Padding of the initial control frame (MU-RTS) that the access point sends before data, us:
    0, 32, 64, 128 or 256. The radio turns to the link in this time.
    """

    transition_delay_us: int = 0
    """From the end of an exchange until the radio listens on all links again, us: 0, 16, 32, 64,
    128 or 256.
    """

    end_timeout_us: float | None = None
    """From its last answer in an exchange of the access point until it takes that for over, us;
    null: SIFS, a slot and the 20 us of aRxPHYStartDelay.
    """


class AccessCategory(StrEnum):
    """EDCA access category."""

    BACKGROUND = "background"
    """AC_BK."""

    BEST_EFFORT = "best_effort"
    """AC_BE."""

    VIDEO = "video"
    """AC_VI."""

    VOICE = "voice"
    """AC_VO."""


class LinkDirection(StrEnum):
    """Direction of a mapping."""

    UP = "up"
    """From the station."""

    DOWN = "down"
    """From the access point."""

    BOTH = "both"
    """Both."""


@frozen(kw_only=True, eq=False, repr=False)
class CategoryLinks(Value):
    """The links of an access category between a station and its access point (TID-to-link
    mapping, IEEE 802.11be-2024, 35.3.7.2).
    """

    category: AccessCategory
    """The access category, with both of its TIDs."""

    direction: LinkDirection = LinkDirection.BOTH
    """Frames of the access point, of the station, or both."""

    bss: tuple[str, ...]
    """The BSSs on whose links they go."""


@frozen(kw_only=True, eq=False, repr=False)
class CipherDelimiters(Value):
    """Delimiters of four octets after every MPDU of an A-MPDU but the last, where the MPDUs have
    a cipher: time that the cipher of a sender needs between two MPDUs.
    """

    cipher: CipherSuite
    """Which cipher."""

    count: int
    """Delimiters after each MPDU."""


class TunnelSuite(StrEnum):
    """The transform of an ESP security association in tunnel mode, WireGuard or OpenVPN.

    Key lengths change no octet count, so AES stands for all of its key lengths.
    """

    ESP_NULL_MD5 = "esp-null-md5"
    """NULL encryption (RFC 2410), HMAC-MD5-96 (RFC 2403)."""

    ESP_NULL_SHA1 = "esp-null-sha1"
    """NULL encryption, HMAC-SHA1-96 (RFC 2404)."""

    ESP_DES_MD5 = "esp-des-md5"
    """DES-CBC (RFC 2405), HMAC-MD5-96."""

    ESP_DES_SHA1 = "esp-des-sha1"
    """DES-CBC, HMAC-SHA1-96."""

    ESP_3DES_MD5 = "esp-3des-md5"
    """3DES-CBC (RFC 2451), HMAC-MD5-96."""

    ESP_3DES_SHA1 = "esp-3des-sha1"
    """3DES-CBC, HMAC-SHA1-96."""

    ESP_AES_CBC_MD5 = "esp-aes-cbc-md5"
    """AES-CBC (RFC 3602), HMAC-MD5-96."""

    ESP_AES_CBC_SHA1 = "esp-aes-cbc-sha1"
    """AES-CBC, HMAC-SHA1-96."""

    ESP_AES_GCM = "esp-aes-gcm"
    """AES-GCM with a 16-octet ICV (RFC 4106)."""

    WIREGUARD = "wireguard"
    """WireGuard transport data (Donenfeld 2017, section 5.4.6)."""

    OPENVPN_AES_GCM = "openvpn-aes-gcm"
    """OpenVPN's data channel over UDP, `P_DATA_V2` with AES-256-GCM."""


class OuterIp(StrEnum):
    """IP version of the outer header; neither carries options or extension headers."""

    IPV4 = "ipv4"
    """IPv4, 20 octets."""

    IPV6 = "ipv6"
    """IPv6, 40 octets."""


@frozen(kw_only=True, eq=False, repr=False)
class Encapsulation(Value):
    """A tunnel between two gateways or hosts."""

    suite: TunnelSuite
    """The transform."""

    outer: OuterIp = OuterIp.IPV4
    """The outer IP version."""

    udp_encapsulation: bool = False
    """Whether ESP travels in UDP port 4500 (RFC 3948); ignored for WireGuard, which is UDP."""


@frozen(kw_only=True, eq=False, repr=False)
class Cost(Value):
    """A cost that grows with the length: `fixed_ns + octets * per_octet_ns`."""

    fixed_ns: float = 0.0
    """Per frame or packet, ns."""

    per_octet_ns: float = 0.0
    """Per octet, ns."""


@frozen(kw_only=True, eq=False, repr=False)
class Tunnel(Value):
    """A tunnel from this node to another, which both en- and decapsulate on their host CPU.

    A host's tunnel takes all that the host sends, and its peer puts into it whatever it sends
    or passes on to the host. A gateway's tunnel takes what the gateway sends or passes on to
    `destinations`, in one direction; for the other one the peer has a tunnel of its own.
    Tunnels of one node are looked at in order and may nest.
    """

    peer: str
    """Node at the other end."""

    encapsulation: Encapsulation | None = None
    """Encapsulation: `suite` (`esp-3des-sha1`, `esp-aes-gcm`, `wireguard`, ...), `outer` (`ipv4`
    or `ipv6`), `udp_encapsulation`. Null: IP in IP without protection (RFC 2003), 20 octets.
    """

    mtu_octets: int | None = None
    """MTU of its interface at both ends, octets: longer packets are fragmented before they
    enter, and TCP's segments follow it. Null: that of Linux, 80 octets below the node's MTU
    with WireGuard, 1500 with OpenVPN (whose outer packets are then fragmented), else what the
    MTU of the node leaves.
    """

    destinations: tuple[str, ...] | None = None
    """Nodes whose packets a gateway puts into it, by the address on the outside of the packet;
    null: a host's tunnel.
    """

    encrypt: Cost = Cost()
    """CPU time to encapsulate a packet."""

    decrypt: Cost = Cost()
    """CPU time to decapsulate a packet."""

    peer_encrypt: Cost | None = None
    """The same at the peer; null: as here."""

    peer_decrypt: Cost | None = None
    """The same at the peer; null: as here."""


class TcpSystem(StrEnum):
    """An operating system, by its TCP; the names are those of device profiles."""

    GENERIC = "generic"
    """A current stack of no certain system."""

    WINDOWS_XP = "windows-xp"
    """Windows XP and Server 2003."""

    WINDOWS_7 = "windows-7"
    """Windows 7 and Server 2008 R2."""

    WINDOWS_8 = "windows-8"
    """Windows 8 and Server 2012."""

    WINDOWS_10 = "windows-10"
    """Windows 10."""

    LINUX_2_4 = "linux-2.4"
    """Linux 2.4."""

    LINUX_2_6 = "linux-2.6"
    """Linux 2.6.19 to 2.6.38."""

    LINUX_3 = "linux-3"
    """Linux 3."""

    LINUX_6 = "linux-6"
    """Linux 6."""

    NS_3 = "ns-3"
    """The network simulator ns-3."""

    RFC = "rfc"
    """Every mandatory behaviour of the RFCs, no option."""


class CryptoEngine(StrEnum):
    """Where the link cipher is worked out."""

    INLINE = "inline"
    """In the data path of the radio, one engine per direction."""

    COPROCESSOR = "coprocessor"
    """One engine beside the CPU for both directions, with a queue."""

    CPU = "cpu"
    """The host CPU, which the network stack needs too."""


@frozen(kw_only=True, eq=False, repr=False)
class CipherCost(Value):
    """Cost of one link cipher on a node's engine."""

    cipher: CipherSuite
    """Which cipher."""

    encrypt: Cost = Cost()
    """Encryption, per MPDU and per octet of MSDU in it."""

    decrypt: Cost = Cost()
    """Decryption, per MPDU and per octet of MSDU in it."""


class StageKind(StrEnum):
    """Stages of a network card, in the order in which a frame passes them."""

    FETCH = "fetch"
    """Descriptor and frame come over the bus."""

    KEY_SETUP = "key_setup"
    """The cipher's key is mixed or scheduled."""

    ENCRYPTION = "encryption"
    """The frame is encrypted."""

    TRANSMISSION = "transmission"
    """The frame is handed to the transmitter."""


@frozen(kw_only=True, eq=False, repr=False)
class NicStage(Value):
    """Cost of one stage, for one cipher or for all frames."""

    stage: StageKind
    """Which stage."""

    cipher: CipherSuite | None = None
    """Cipher of the frames that it costs time; null: every frame, encrypted or not. Costs of
    entries that fit the same frame add up.
    """

    cost: Cost
    """Time per MPDU and per octet of MSDU (LLC/SNAP header and IP packet) in it."""

    random_ns: float = 0.0
    """Mean of a further time per MPDU that is drawn for each from an exponential distribution,
    ns.
    """


class Overlap(StrEnum):
    """Which stages of a network card work at the same time."""

    PIPELINED = "pipelined"
    """Every stage takes its next frame as soon as it is done with the last one. Frames are ready
    before their turn, unless the slowest stage is slower than the air.
    """

    SERIAL = "serial"
    """The next frame is prepared when the last frame exchange is over, one stage after the
    other.
    """

    CUT_THROUGH = "cut_through"
    """As `serial`, but transmission begins when the first octets are through all stages: the
    time per octet of the slowest stage delays a frame only by as much as it exceeds the
    airtime.
    """


class Meanwhile(StrEnum):
    """Which part of contention passes while a network card prepares the next frame."""

    NOTHING = "nothing"
    """None: the interframe space begins when the frame is ready."""

    INTERFRAME_SPACE = "interframe_space"
    """The interframe space: back-off begins when it has passed and the frame is ready."""

    BACK_OFF = "back_off"
    """Interframe space and back-off: the frame is sent when both have ended and it is ready."""


@frozen(kw_only=True, eq=False, repr=False)
class Nic(Value):
    """A network card that prepares each frame before its radio contends for the medium."""

    stages: tuple[NicStage, ...] = ()
    """Costs of its stages; a stage that is not listed takes no time."""

    overlap: Overlap = Overlap.PIPELINED
    """Which stages work at the same time."""

    meanwhile: Meanwhile = Meanwhile.NOTHING
    """Which part of contention passes while a frame is prepared."""


@frozen(kw_only=True, eq=False, repr=False)
class Energy(Value):
    """Power that a node draws. The model and the energy of a packet are those of Serrano,
    Garcia-Saavedra, Bianchi, Banchs and Azcorra, IEEE/ACM Transactions on Networking, 2015.
    """

    idle_w: float = 0.0
    """While it is awake, W; the next three come on top."""

    transmit_w: float
    """While its radio transmits, W."""

    receive_w: float
    """While its radio receives a frame addressed to it, W."""

    cpu_w: float
    """While its CPU works, W."""

    doze_w: float = 0.0
    """While it dozes, W, in place of `idle_w`."""

    packet_j: float = 0.0
    """Energy of a packet that crosses its host in either direction, J (cross-factor)."""

    engine_w: float = 0.0
    """While its cipher engine works (not for `cpu`), W."""


@frozen(kw_only=True, eq=False, repr=False)
class Host(Value):
    """Costs of a node's host: one CPU that processes packets one after the other, and a cipher
    engine.
    """

    tcp: TcpSystem = TcpSystem.GENERIC
    """Operating system, by its TCP."""

    transmit: Cost = Cost()
    """Stack cost of a packet that the host sends (application to driver)."""

    receive: Cost = Cost()
    """Stack cost of a packet that the host receives (driver to application)."""

    forward: Cost = Cost()
    """Cost of a packet that the node forwards."""

    cpu_queue_packets: int | None = None
    """Packets that may wait for the CPU; more are dropped (a sending application of a saturated
    flow waits instead). Null: no limit.
    """

    engine: CryptoEngine = CryptoEngine.INLINE
    """Where the link cipher is worked out."""

    engine_queue_frames: int | None = None
    """Frames that may wait for a coprocessor; null: no limit."""

    ciphers: tuple[CipherCost, ...] = ()
    """Costs of link ciphers on that engine; a cipher not listed costs no time."""

    operations_ns: Mapping[str, float] = MappingProxyType({})
    """CPU time of one unit of each handshake operation, ns, by the name that
    `airtoll_handshakes::Operation::priced` gives; one not listed takes no time.
    """

    request_ns: float = 0.0
    """Time of a RADIUS server for a request that it has not seen, before its handshake
    operations on the CPU, ns; one request after the other. It recognises a repeated one when
    it comes (RFC 5080 section 2.2.2).
    """

    nic: Nic | None = None
    """Network card that prepares frames before its radio contends; null: frames are ready when
    they come into the transmit queue.
    """

    energy: Energy | None = None
    """Power figures; null: energy is not reported for this node."""


class Discipline(StrEnum):
    """Queue discipline."""

    FIFO = "fifo"
    """First in, first out; what does not fit is dropped."""

    CODEL = "codel"
    """First in, first out with CoDel (RFC 8289): target 5 ms, interval 100 ms."""

    ROUND_ROBIN = "round_robin"
    """One queue per receiver served in turn, and the longest is cut when the limit is reached."""

    FQ_CODEL = "fq_codel"
    """One queue per flow of each receiver with CoDel (RFC 8290), as Linux's mac80211: quantum
    300 octets, target 20 ms, interval 100 ms. Receivers are served in turn, and half of the
    longest queue is dropped when the limit is reached.
    """


@frozen(kw_only=True, eq=False, repr=False)
class Queue(Value):
    """A transmit queue."""

    packets: int
    """Packets that fit."""

    max_delay_ms: float | None = 500.0
    """MSDU lifetime (dot11MaxTransmitMSDULifetime): a packet that was not sent successfully this
    long after it came into the queue is dropped before the next attempt, ms; null: never.
    """

    discipline: Discipline = Discipline.FIFO
    """Which packet leaves first, and which is dropped."""

    packet_numbers_first: bool = False
    """Frames get their packet numbers when they come into the queue, in whose order they do not
    leave it: a fault of drivers. Receivers with a replay counter drop those that come late.
    Needs `fq_codel`.
    """

    airtime_fairness: bool = False
    """An access point gives its stations equal airtime in both directions together, by a deficit
    of 256 us, as Linux's mac80211; needs `fq_codel`.
    """


@frozen(kw_only=True, eq=False, repr=False)
class TargetWakeTime(Value):
    """Implicit, unannounced service periods of target wake time: the station is awake in each of
    them, and its access point sends without being asked. They come from an individual
    agreement (IEEE 802.11ax-2021, 26.8.2) or from a schedule that beacons announce (26.8.3).
    """

    interval_us: float
    """From the start of one service period to the next (TWT Wake Interval), us."""

    duration_us: float
    """Nominal minimum TWT wake duration, us; shorter than the interval."""

    broadcast: bool = False
    """The beacons announce it, and all stations of the BSS with this interval and duration share
    it. It needs beacons, and an interval of whole TUs (1,024 us).
    """


class Retrieval(StrEnum):
    """Frames by which a station that dozes gets the data that wait for it (IEEE 802.11-2020,
    11.2.3). All of them go to its access point at the lowest basic rate and are acknowledged;
    none is encrypted.
    """

    ACTIVE = "active"
    """A null frame says that it is in active mode, and all of the data follow. Another one says
    that it dozes again. Its own data frames wake it, too.
    """

    PS_POLL = "ps-poll"
    """A PS-Poll asks for each frame. Its own data frames say that it stays in power save mode."""

    U_APSD = "u-apsd"
    """A QoS null frame or a QoS data frame of its own begins an unscheduled service period
    (U-APSD), in which all that waits is sent.
    """


@frozen(kw_only=True, eq=False, repr=False)
class PowerSave(Value):
    """Dozing of a station (IEEE 802.11-2020, 11.2.3). Its own frames wake it. Its access point
    keeps data for it until a beacon that it wakes for, a service period of target wake time,
    or its next data frame.
    """

    listen_interval: int | None = None
    """It wakes for each n-th beacon, which needs beacons; null: for none. With `twt` data do not
    wait for these beacons: they keep its clock.
    """

    dtim: bool = False
    """It wakes for every DTIM, too, where nothing is sent to groups: it cannot know. Where
    something is, it always does.
    """

    twt: TargetWakeTime | None = None
    """Its agreement of target wake time; null: none."""

    retrieval: Retrieval | None = None
    """By which frames it gets the data that wait for it; null: its access point knows without a
    frame when it dozes and when it is awake.
    """

    after_us: float
    """It dozes this long after its last frame, us; with PS-Poll and U-APSD as soon as nothing
    waits for it.
    """

    beacon_awake_us: float
    """It is awake this long for a beacon, us."""


@frozen(kw_only=True, eq=False, repr=False)
class Duty(Value):
    """A day of a station that joins and sends messages now and then, of which the life of its
    battery follows.
    """

    joins_per_day: float
    """Joins in a day, each after a wake-up."""

    messages_per_day: float
    """Messages in a day: datagrams of its flows."""

    wake_us: float
    """From a wake-up to the first frame of the join, us."""

    wake_w: float
    """Power in that time, W."""

    message_awake_us: float
    """It stays awake for each message so long, on top of what it does in the trial, us."""

    sleep_w: float | None = None
    """Power while it sleeps, W; null: it stays associated and dozes, with the beacons that it
    wakes for.
    """


@frozen(kw_only=True, eq=False, repr=False)
class Node(Value):
    """A station, an access point or a wired host."""

    name: str
    """Name in flows, links and results."""

    role: Role
    """Its role."""

    bss: str | None = None
    """BSS of a station or an access point; absent for a wired host."""

    multi_link: tuple[str, ...] = ()
    """Further BSSs of a multi-link device, each on a channel of its own: it has one radio in
    each, and all transmit and receive independently (IEEE 802.11be, 35.3, STR) unless
    `single_radio` is set. A station's are BSSs of its access point. Traffic of two such
    devices takes all links that both have.
    """

    single_radio: SingleRadio | None = None
    """A station that has one radio for all of its links (EMLSR); null: one for each (STR)."""

    category_links: tuple[CategoryLinks, ...] = ()
    """Links of access categories between a station and its access point; a category without an
    entry takes all.
    """

    position_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Place, metres."""

    tx_power_dbm: float = 16.0
    """Transmit power, dBm."""

    standard: Standard | None = None
    """PHY of this station where it is older than its BSS (an 802.11b station in a g cell)."""

    rate: Rate | None = None
    """Rate of data frames between this station and its AP, both ways; null: the BSS's."""

    link_rates: tuple[Rate, ...] = ()
    """The same for each link of a station that is a multi-link device, the first one's before
    those of `multi_link`; empty: those of the BSSs.
    """

    frame_burst_us: float | None = None
    """Frame burst of this node's own frames without EDCA, us; null: the BSS's."""

    edca_parameters: (
        tuple[EdcaParameters, EdcaParameters, EdcaParameters, EdcaParameters] | None
    ) = None
    """EDCA parameters of this node alone, TXOP limits among them, in the BSS's order; null: the
    BSS's.
    """

    mpdu_start_spacing_us: float = 0.0
    """Minimum MPDU Start Spacing that this node announces: in an A-MPDU for it an MPDU starts at
    least so long after the one before it, us: 0 (no restriction), 0.25, 0.5, 1, 2, 4, 8 or 16
    (IEEE 802.11-2020, table 9-184). Its PHY aggregates (802.11n and later).
    """

    cipher_delimiters: tuple[CipherDelimiters, ...] = ()
    """Delimiters without content that this node puts between the MPDUs of its A-MPDUs where they
    have a cipher. Its PHY aggregates.
    """

    four_address: bool = False
    """A station that bridges: data frames between it and its AP have four addresses (IEEE
    802.11-2020, table 9-30), and it passes on what is for or from hosts on its wired links.
    EAPOL and management frames keep three, as Linux's do.
    """

    cipher: CipherSuite = CipherSuite.OPEN
    """Link cipher between this station and its AP: `open`, `wep-40`, `wep-104`, `tkip`,
    `ccmp-128`, `ccmp-256`, `gcmp-128` or `gcmp-256`. WEP and TKIP forbid HT, VHT, HE and EHT
    (IEEE 802.11-2020 clause 12.3.1 and 12.5.2): such a station falls back to 802.11a or g.
    """

    tunnels: tuple[Tunnel, ...] = ()
    """Network-layer tunnels of this node, the innermost first."""

    cookie_threshold: int | None = None
    """Unfinished WireGuard handshakes from which this gateway asks for cookies; null: never."""

    host: Host = Host()
    """Costs of the host."""

    queue: Queue = Queue(packets=500)
    """Transmit queue of the wireless interface, per access category."""

    mtu_octets: int = 1500
    """IP MTU of its interfaces, octets."""

    power_save: PowerSave | None = None
    """When a station dozes; null: never."""

    black_hole: bool = False
    """It drops what it passes on, exceeds its MTU and must not be fragmented (DF of IPv4, IPv6),
    and no sender hears of it: path MTU discovery meets a black hole (RFC 2923, 2.1).
    """

    drops_fragments: bool = False
    """It drops IP fragments that it would pass on, and packets that it would have to fragment,
    as a firewall does that inspects no fragments; no sender hears of it.
    """

    battery_wh: float | None = None
    """Energy of its battery, Wh; null: none."""

    duty: Duty | None = None
    """Its day; null: all day it does the same as in the trial."""


class WireDiscipline(StrEnum):
    """Queue discipline of a wired interface."""

    FIFO = "fifo"
    """First in, first out, as Linux's `pfifo_fast` for packets of one priority; what does not
    fit is dropped.
    """

    FQ_CODEL = "fq_codel"
    """Linux's `fq_codel`: one queue per flow with CoDel (RFC 8290), quantum 1514 octets, target
    5 ms, interval 100 ms, 1024 queues. A TCP sender is held back by its own segments in it as
    by those in a radio's queue.
    """


@frozen(kw_only=True, eq=False, repr=False)
class WiredLink(Value):
    """A full-duplex wired link."""

    nodes: tuple[str, str]
    """Its two ends: access points, wired hosts or stations with `four_address`."""

    rate_bps: float
    """Rate, bit/s. Ethernet adds 38 octets to a packet (preamble, header, FCS, gap)."""

    delay_s: float = 0.0
    """One-way delay, s."""

    loss_ratio: float = 0.0
    """Share of the packets in each direction that are lost on it."""

    queue_packets: int = 1000
    """Packets that may wait in each direction."""

    discipline: WireDiscipline = WireDiscipline.FIFO
    """Queue discipline of both ends."""


class KeyExchange(StrEnum):
    """The protocol that agrees on the keys of a tunnel."""

    IKEV1 = "ikev1"
    """IKE version 1 (RFC 2409)."""

    IKEV2 = "ikev2"
    """IKE version 2 (RFC 7296)."""

    NOISE = "noise"
    """The handshake of WireGuard, an instance of the Noise framework."""

    TLS = "tls"
    """OpenVPN's control channel with TLS 1.3."""


@frozen(kw_only=True, eq=False, repr=False)
class TunnelSpec(Value):
    """A tunnel of a policy."""

    suite: TunnelSuite
    """Transform of its packets."""

    key_exchange: KeyExchange
    """Protocol that agrees on its keys."""


@frozen(kw_only=True, eq=False, repr=False)
class PolicySpec(Value):
    """A policy."""

    name: str
    """Its name."""

    link: LinkSpec
    """Its link."""

    tunnels: tuple[TunnelSpec, ...] = ()
    """Its tunnels, outermost first."""


class TlsVersion(StrEnum):
    """Which TLS."""

    TLS_VERSION_1_2 = "1.2"
    """RFC 5246 with ECDHE."""

    TLS_VERSION_1_2_RSA = "1.2-rsa"
    """RFC 5246 with RSA key transport, the usual one of the 2000s."""

    TLS_VERSION_1_3 = "1.3"
    """RFC 8446."""


class NamedGroup(StrEnum):
    """A named group (RFC 8446 section 4.2.7)."""

    SECP256R1 = "secp256r1"
    """NIST P-256."""

    SECP384R1 = "secp384r1"
    """NIST P-384."""

    X25519 = "x25519"
    """Curve25519."""

    X25519MLKEM768 = "x25519mlkem768"
    """ML-KEM-768 and X25519 (draft-ietf-tls-ecdhe-mlkem)."""

    SECP256R1MLKEM768 = "secp256r1mlkem768"
    """P-256 and ML-KEM-768."""

    SECP384R1MLKEM1024 = "secp384r1mlkem1024"
    """P-384 and ML-KEM-1024."""

    MLKEM512 = "mlkem512"
    """ML-KEM-512 alone (draft-ietf-tls-mlkem)."""

    MLKEM768 = "mlkem768"
    """ML-KEM-768 alone."""

    MLKEM1024 = "mlkem1024"
    """ML-KEM-1024 alone."""


class SignatureAlgorithm(StrEnum):
    """A signature algorithm with its key size."""

    RSA_2048 = "rsa-2048"
    """RSA with a 2048-bit modulus."""

    ECDSA_P_256 = "ecdsa-p-256"
    """ECDSA on P-256."""

    RSA_3072 = "rsa-3072"
    """RSA with a 3072-bit modulus."""

    ECDSA_P_384 = "ecdsa-p-384"
    """ECDSA on P-384."""

    ML_DSA_44 = "ml-dsa-44"
    """ML-DSA-44 (FIPS 204)."""

    ML_DSA_65 = "ml-dsa-65"
    """ML-DSA-65."""

    ML_DSA_87 = "ml-dsa-87"
    """ML-DSA-87."""

    SLH_DSA_SHA2_128S = "slh-dsa-sha2-128s"
    """SLH-DSA-SHA2-128s (FIPS 205)."""

    FALCON_512 = "falcon-512"
    """Falcon-512 in the padded format, by size: its octets are made up."""

    FALCON_1024 = "falcon-1024"
    """Falcon-1024 in the padded format, by size."""


@frozen(kw_only=True, eq=False, repr=False)
class EapLimits(Value):
    """Limits of one end for one conversation. Each product has its own."""

    rounds: int | None = None
    """Responses after the identity that a server takes, or requests after it that a station
    answers; null without a limit.
    """

    received_flight_octets: int | None = None
    """Octets of one TLS flight that it receives; null without a limit."""

    sent_flight_octets: int | None = None
    """Octets of one TLS flight that it sends; null without a limit."""


@frozen(kw_only=True, eq=False, repr=False)
class RadiusTls(Value):
    """RADIUS over TLS."""

    up: bool
    """The connections are up before the first request; otherwise a request opens them."""

    chain: tuple[SignatureAlgorithm, ...]
    """The chains that both ends of a connection show."""


class KemAlgorithm(StrEnum):
    """A key-encapsulation mechanism of FIPS 203."""

    ML_KEM_512 = "ml-kem-512"
    """ML-KEM-512."""

    ML_KEM_768 = "ml-kem-768"
    """ML-KEM-768."""

    ML_KEM_1024 = "ml-kem-1024"
    """ML-KEM-1024."""


class MobileIp(StrEnum):
    """Where Mobile IP stands."""

    OFF = "off"
    """Not used."""

    HOME = "home"
    """The node registers with its home agent."""

    FOREIGN = "foreign"
    """The node registers through a foreign agent."""


@frozen(kw_only=True, eq=False, repr=False)
class Faults(Value):
    """Faults to inject."""

    wrong_passphrase: bool = False
    """The station has another passphrase or password."""

    wrong_certificate: bool = False
    """The RADIUS server shows a chain of an unknown root."""

    silent_server: bool = False
    """The RADIUS server does not answer."""

    stale_pmksa: bool = False
    """The station asks to go on from a PMKSA that the AP does not have. Acts with SAE and with
    802.1X.
    """

    keeps_stale_pmksa: bool = False
    """It keeps that PMKSA after the AP has refused it."""


@frozen(kw_only=True, eq=False, repr=False)
class Options(Value):
    """Choices that a policy leaves open."""

    tls: TlsVersion = TlsVersion.TLS_VERSION_1_2
    """Which TLS the EAP methods run."""

    tls_group: NamedGroup | None = None
    """The group of TLS in EAP and in OpenVPN, where it is not the suite's usual one."""

    chain: tuple[SignatureAlgorithm, ...] = (
        SignatureAlgorithm.RSA_2048,
        SignatureAlgorithm.RSA_2048,
        SignatureAlgorithm.RSA_2048,
    )
    """The signature algorithms of both ends' certificates, in EAP and in OpenVPN."""

    certificate_compression: bool = False
    """Whether certificates are compressed (RFC 8879)."""

    fragment_octets: int = 1398
    """Octets of TLS data in one EAP packet."""

    eap_limits: EapLimits = EapLimits()
    """When the authentication server gives a conversation up."""

    radius_proxies: bytes = b""
    """RADIUS proxies between access point and server, that of the access point first: octets of
    the Proxy-State value that each adds (RFC 2865 section 5.33); 0: the request's identifier
    in decimal.
    """

    radius_tls: RadiusTls | None = None
    """RADIUS goes over TLS between access point, proxies and server (RFC 6614); null: over UDP."""

    station_rounds: int | None = None
    """Requests after the one for the identity that the station answers; null without a limit."""

    cryptobinding: bool = False
    """Whether PEAP's server binds the tunnel to what runs in it."""

    group: int = 19
    """IANA group of SAE and OWE."""

    hash_to_element: bool = True
    """SAE with hash-to-element."""

    beacon_protection: bool = False
    """Whether the AP protects its beacons (BIGTK); acts with protected management frames."""

    operating_channel_validation: bool = False
    """Whether both ends prove the channel that they are on (OCV); acts with protected management
    frames.
    """

    links: int = 1
    """Links of a multi-link association; 1: none. More need GCMP-256, SAE as AKM 24, OWE or
    802.1X, required PMF and beacon protection.
    """

    anti_clogging: bool = False
    """Whether the AP asks for anti-clogging tokens."""

    authentication_timeout_ms: int | None = None
    """Time that the AP waits for the next authentication frame of SAE before it deauthenticates
    the station, ms; null: as long as a station repeats its frames.
    """

    group_update_count: int = 4
    """Transmissions of a message that renews group keys before the AP deauthenticates the
    station.
    """

    cookies: bool = False
    """Whether the gateway is under load and WireGuard asks for cookies."""

    rosenpass: bool = False
    """WireGuard's pre-shared key comes from Rosenpass, which runs first."""

    ike_group: int = 0
    """IKE group; 0 takes 2 for IKEv1 and 14 for IKEv2."""

    ike_chain: tuple[SignatureAlgorithm, ...] | None = None
    """The chains with which both ends of IKEv2 authenticate (RFC 7427); null: a pre-shared key."""

    ike_additional: KemAlgorithm | None = None
    """The second key exchange of IKEv2 (RFC 9370)."""

    ike_fragment_octets: int | None = None
    """Octets of the longest IPv4 datagram before IKEv2 fragments its messages (RFC 7383); null:
    IP does.
    """

    mobile_ip: MobileIp = MobileIp.OFF
    """Mobile IP registration after the link is up."""

    listens: bool = False
    """Mobile IP: the node does not ask for an agent, but waits until it is told to or hears one."""

    mobike: bool = False
    """Both ends of an IKEv2 tunnel say that it may move to other addresses (RFC 4555)."""

    return_routability: bool = False
    """The end that stays checks that the other one receives at its new address before it
    believes it (RFC 4555 section 3.7).
    """

    cached_pmk: bool = False
    """The PMK of an earlier association is still cached at both ends (802.11-2020, 12.6.10.3;
    with opportunistic key caching at another AP): SAE or EAP are left out.
    """

    tls_resumption: bool = False
    """Station and RADIUS server remember the TLS session of an earlier authentication, which
    EAP-TLS, PEAP and TTLS then resume (RFC 5246 section 7.3, RFC 8446 section 2.2, RFC 9190
    section 2.1.3).
    """

    faults: Faults = Faults()
    """Faults to inject."""


@frozen(kw_only=True, eq=False, repr=False)
class Association(Value):
    """A station that authenticates, associates and negotiates everything else that its policy
    asks for: before the trial's traffic starts, or during it.
    """

    station: str
    """The station; its access point is that of its BSS."""

    policy: PolicySpec
    """The policy that it negotiates."""

    options: Options = Options()
    """Choices that the policy leaves open, and injected faults."""

    host: str | None = None
    """Host on the wires of a station with `four_address` that negotiates the tunnels for the
    station; null: the station itself.
    """

    during_traffic: bool = False
    """The start counts from that of the traffic, which does not wait for this station. Flows
    from and to the station start when it has joined.
    """

    start_us: int = 0
    """Earliest start, us."""

    spread_us: int = 0
    """The start is drawn uniformly from this long after the earliest, us."""

    tries_again: bool = False
    """A station whose join failed begins again, until the limit of the associations."""

    maps_passphrase: bool = False
    """The station maps its passphrase to a key before each join (IEEE 802.11-2020, J.4.1)."""

    authentication_server: str | None = None
    """Node with the RADIUS server; needed with an EAP method."""

    radius_proxies: tuple[str, ...] = ()
    """Nodes of the RADIUS proxies between access point and server, that of the access point
    first; as many as `options.radius_proxies`.
    """

    gateway: str | None = None
    """Node at the far end of the tunnels; needed with tunnels."""

    home_agent: str | None = None
    """Node with the home agent; needed with Mobile IP."""

    foreign_agent: str | None = None
    """Node with the foreign agent; needed with Mobile IP abroad."""


@frozen(kw_only=True, eq=False, repr=False)
class Walk(Value):
    """A walk in a straight line. Levels follow positions but where `radio.budgets` has the pair;
    who senses whom is decided at the station's position and, in the next BSS, at the
    hand-over's `position_m`.
    """

    begin_s: float = 0.0
    """When the station sets out, counted from the start of the traffic, s; it stands until then."""

    to_m: tuple[float, float, float]
    """Where it ends, metres."""

    back: bool = False
    """It goes back from there to where it began."""

    speed_m_s: float
    """Speed, m/s."""

    threshold_dbm: float
    """The station looks for another access point where its own is heard below this, dBm."""

    hysteresis_db: float
    """It moves where the other one is heard this much better, dB."""


@frozen(kw_only=True, eq=False, repr=False)
class Scan(Value):
    """A scan (IEEE 802.11-2020, 11.1.4.3)."""

    channels: int
    """Channels, that of the new access point among them and last; the others are empty."""

    passive: bool = False
    """Listens for beacons instead of sending probe requests."""

    min_channel_s: float
    """How long an active scan waits on a channel that stays silent, s."""

    max_channel_s: float
    """How long a scan stays on a channel where it heard something, a passive one on each, s."""


class HandoverMethod(StrEnum):
    """How a station gets in at the new access point."""

    FULL = "full"
    """Everything that the policy negotiates, again (with `cached_pmk` in the options: without
    SAE or EAP).
    """

    FAST_TRANSITION = "fast-transition"
    """Fast BSS transition over the air (IEEE 802.11-2020, 13.5.2)."""

    FAST_TRANSITION_DS = "fast-transition-ds"
    """Fast BSS transition over the DS, asked for through the old access point before the station
    leaves (IEEE 802.11-2020, 13.5.3).
    """

    PMKSA_CACHING = "pmksa-caching"
    """Everything again at an access point where the station was not before; with the PMKSA of
    its last association at one to which it comes back (IEEE 802.11-2020, 12.6.10.3).
    """

    PRE_AUTHENTICATION = "pre-authentication"
    """EAP with the new access point through the old one before the station leaves, and the PMK
    from it (IEEE 802.11-2020, 12.6.10.2); everything again if that is not done by then.
    """


class TunnelMove(StrEnum):
    """Treatment of a tunnel whose end is at another access point."""

    ANEW = "anew"
    """It is set up anew from the new address."""

    MOBIKE = "mobike"
    """IKEv2's SA moves (RFC 4555)."""

    ROAMS = "roams"
    """WireGuard's other end follows the next packet that it can authenticate (Donenfeld 2017,
    section 2.1).
    """

    STAYS = "stays"
    """Its address is a home address of Mobile IP and stays what it was."""


@frozen(kw_only=True, eq=False, repr=False)
class Reassociation(Value):
    """The negotiation of a station that hands over with its next access point."""

    policy: PolicySpec
    """The policy that it negotiates."""

    options: Options = Options()
    """Choices that the policy leaves open, and injected faults."""

    authentication_server: str | None = None
    """Node with the RADIUS server; needed with an EAP method."""

    radius_proxies: tuple[str, ...] = ()
    """Nodes of the RADIUS proxies between access point and server, that of the access point
    first; as many as `options.radius_proxies`.
    """

    gateway: str | None = None
    """Node at the far end of the tunnels; needed with tunnels."""

    home_agent: str | None = None
    """Node with the home agent; needed with Mobile IP."""

    foreign_agent: str | None = None
    """Node with the foreign agent; needed with Mobile IP abroad."""


@frozen(kw_only=True, eq=False, repr=False)
class Handover(Value):
    """One hand-over; those of one station follow one another in the order of the list."""

    station: str
    """The station that moves; it has an association of its own."""

    bss: str
    """The BSS that it moves to: another one than that in which it is."""

    position_m: tuple[float, float, float] | None = None
    """Position of the station in that BSS, metres. It decides who senses whom there and, without
    `walk`, the levels; null: the station's own position. Equal in all hand-overs of the
    station to that BSS.
    """

    at_s: float | None = None
    """When it leaves, counted from the start of the traffic, s; null with `walk`."""

    walk: Walk | None = None
    """It leaves where the level says so, on its way from its own position; null: at `at_s`."""

    scan_s: float = 0.0
    """How long it scans after that, s; 0 with `scan`."""

    scan: Scan | None = None
    """It scans with frames; null: for `scan_s`."""

    again_s: float = 1.0
    """Time from a scan that found no AP to the next scan, s."""

    ahead_s: float = 1.0
    """With pre-authentication: how long before it leaves it begins, s; at the earliest when the
    traffic does.
    """

    method: HandoverMethod = HandoverMethod.FULL
    """How it gets in."""

    stale_address_s: float = 0.0
    """Packets for the station go to the old access point until so long after it has joined, s:
    the distribution system does not know its address there.
    """

    missing_block_ack_s: float = 0.0
    """Its data frames there have no block ack agreement until so long after it has joined, s."""

    legacy_rate_s: float = 0.0
    """At an access point to which it comes back its data frames have the non-HT rate of the same
    constellation until so long after it has joined, s.
    """

    tunnel: TunnelMove = TunnelMove.ANEW
    """Treatment of its tunnels, whose outer address is another one there unless the station uses
    Mobile IP: `anew`, `mobike`, `roams` or `stays`.
    """

    association: Reassociation
    """Negotiation with the new access point."""


@frozen(kw_only=True, eq=False, repr=False)
class MobilityAgent(Value):
    """An agent of Mobile IP that advertises itself on the link of an access point (RFC 5944
    section 2.3).
    """

    node: str
    """The agent: the access point itself, or a node that it reaches over the links."""

    bss: str
    """The BSS whose access point sends its advertisements to every station."""

    foreign: bool = False
    """A foreign agent, whose care-of address is its own; otherwise a home agent."""

    period_s: float
    """Time between two advertisements, s; they are valid three times as long, in whole seconds."""

    offset_s: float = 0.0
    """When the first one comes, s."""


class AddressResolution(StrEnum):
    """How hosts learn one another's link-layer addresses."""

    STATIC = "static"
    """They know them from the start."""

    DYNAMIC = "dynamic"
    """They ask at first contact: ARP (RFC 826), Neighbour Discovery (RFC 4861)."""


class IpVersion(StrEnum):
    """Network protocol."""

    IPV4 = "ipv4"
    """IPv4, 20 header octets."""

    IPV6 = "ipv6"
    """IPv6, 40 header octets (8 more in each fragment)."""


@frozen(kw_only=True, eq=False, repr=False)
class GroupMessageMdns(Value):
    """Announcement of multicast DNS (RFC 6762)."""

    kind: Literal["mdns"] = field(default="mdns", init=False)

    payload_octets: int
    """DNS message, 35 to 1232 octets."""

    ip: IpVersion = IpVersion.IPV4
    """Network protocol."""


@frozen(kw_only=True, eq=False, repr=False)
class GroupMessageAddressRequest(Value):
    """Request for the address of a host: ARP (RFC 826), or over IPv6 a Neighbour Solicitation
    (RFC 4861, 4.3). The host, or an access point for it, answers.
    """

    kind: Literal["address_request"] = field(default="address_request", init=False)

    target: str
    """The host: a station or a wired host."""

    ip: IpVersion = IpVersion.IPV4
    """Network protocol."""


@frozen(kw_only=True, eq=False, repr=False)
class GroupMessageRouterAdvertisement(Value):
    """Router Advertisement (RFC 4861, 4.2) with link-layer address, MTU and one prefix."""

    kind: Literal["router_advertisement"] = field(default="router_advertisement", init=False)


#: A message to a group.
GroupMessage = GroupMessageMdns | GroupMessageAddressRequest | GroupMessageRouterAdvertisement


@frozen(kw_only=True, eq=False, repr=False)
class GroupSource(Value):
    """Messages to a group that a node sends again and again, as a Poisson process."""

    name: str
    """Name, used once; it names the random stream."""

    node: str
    """Node that sends: a station or a wired host."""

    mean_interval_s: float
    """Mean time between two messages, s."""

    message: GroupMessage
    """Its message."""


class CongestionControl(StrEnum):
    """Congestion control."""

    NEW_RENO = "new_reno"
    """Additive increase, halving (RFC 5681, RFC 6582)."""

    CUBIC = "cubic"
    """CUBIC (RFC 9438)."""

    BBR = "bbr"
    """BBR version 1 with pacing (draft-cardwell-iccrg-bbr-congestion-control-00)."""


class HystartRule(StrEnum):
    """When slow start ends without a loss."""

    OFF = "off"
    """Never."""

    LINUX = "linux"
    """HyStart of Linux's CUBIC: a train of acknowledgements half a round trip long, or a longer
    round trip.
    """

    RFC_9406 = "rfc-9406"
    """HyStart++ (RFC 9406): a round trip that stays longer for five rounds."""


class LossDetection(StrEnum):
    """How a sender with selective acknowledgements finds losses."""

    DUPLICATE_ACKS = "duplicate-acks"
    """By octets and ranges reported above (RFC 6675)."""

    RACK = "rack"
    """By the time of transmission, with a reordering window (RACK), and a probe of the tail
    (TLP; RFC 8985).
    """


@frozen(kw_only=True, eq=False, repr=False)
class TransportUdp(Value):
    """UDP."""

    protocol: Literal["udp"] = field(default="udp", init=False)

    socket_buffer_octets: int | None = None
    """Send buffer, octets of payload between application and radio; null: as much as the
    transmit queue and a full aggregate take.
    """


@frozen(kw_only=True, eq=False, repr=False)
class TransportTcp(Value):
    """TCP."""

    protocol: Literal["tcp"] = field(default="tcp", init=False)

    mss_octets: int | None = None
    """Maximum segment size without options, octets; null: MTU less IP and TCP headers."""

    window_octets: int | None = None
    """Receive window, octets; above 65,535 window scaling is on. Null: the receiver's."""

    congestion_control: CongestionControl | None = None
    """Congestion control; null: the sender's."""

    initial_window_segments: int | None = None
    """Initial congestion window, segments (RFC 6928); null: the sender's."""

    delayed_ack_segments: int | None = None
    """Segments per acknowledgement (RFC 5681 section 4.2); 1: every segment is acknowledged at
    once. Null: the receiver's.
    """

    delayed_ack_timeout_ms: float | None = None
    """Longest delay of an acknowledgement, ms; null: the receiver's."""

    receive_offload: bool | None = None
    """Segments that arrive at one instant in order, as those of an A-MPDU, draw one
    acknowledgement (generic receive offload). Null: the receiver's, and false with
    `delayed_ack_segments`.
    """

    timestamps: bool | None = None
    """Timestamps (RFC 7323): 12 header octets. Null: where both ends have them."""

    sack: bool | None = None
    """Selective acknowledgements (RFC 2018); null: where both ends have them."""

    hystart: HystartRule | None = None
    """When slow start ends without a loss; null: as the sender's, and as the congestion control
    has it.
    """

    loss_detection: LossDetection | None = None
    """How the sender finds losses; null: the sender's."""

    min_rto_ms: float | None = None
    """Smallest retransmission time-out, ms; null: the sender's."""

    no_path_mtu_discovery: bool = False
    """Segments are as long as the interface allows, and a tunnel's outer packets are fragmented.
    False: the ends know the path MTU (RFC 1191), and segments fit into every tunnel.
    """

    mtu_probing: bool = False
    """After three time-outs in a row a sender takes segments of 1024 octets for a black hole of
    path MTU discovery (RFC 4821, 7.6; Linux with `net.ipv4.tcp_mtu_probing = 1`). It does not
    probe for longer ones.
    """


#: Transport protocol.
Transport = TransportUdp | TransportTcp


class Arrivals(StrEnum):
    """Spacing of paced writes."""

    CONSTANT = "constant"
    """Equal spacing."""

    POISSON = "poisson"
    """Exponential spacing."""


@frozen(kw_only=True, eq=False, repr=False)
class PatternSaturated(Value):
    """Saturated: a packet is always ready."""

    type: Literal["saturated"] = field(default="saturated", init=False)

    payload_octets: int
    """UDP payload or length of one TCP write, octets."""


@frozen(kw_only=True, eq=False, repr=False)
class PatternPaced(Value):
    """A fixed offered rate."""

    type: Literal["paced"] = field(default="paced", init=False)

    payload_octets: int
    """UDP payload or length of one TCP write, octets."""

    rate_bps: float
    """Offered rate of payload, bit/s."""

    arrivals: Arrivals = Arrivals.CONSTANT
    """Spacing of the writes."""


@frozen(kw_only=True, eq=False, repr=False)
class PatternTransfer(Value):
    """A given amount, as fast as it goes (FTP-like)."""

    type: Literal["transfer"] = field(default="transfer", init=False)

    octets: int
    """Total, octets."""

    payload_octets: int
    """UDP payload or length of one TCP write, octets."""


@frozen(kw_only=True, eq=False, repr=False)
class PatternRequestResponse(Value):
    """A request, a response, a pause, and again (RPC- or HTTP-like)."""

    type: Literal["request_response"] = field(default="request_response", init=False)

    request_octets: int
    """Request, octets."""

    response_octets: int
    """Response, octets."""

    server_s: float = 0.0
    """Time the server takes to answer, s."""

    think_s: float = 0.0
    """Pause between a response and the next request, s."""

    count: int | None = None
    """How many exchanges; null: until the end."""

    retry_s: float = 1.0
    """UDP: repeat the request if there is no answer within this time, s."""


@frozen(kw_only=True, eq=False, repr=False)
class PatternDns(Value):
    """DNS lookups one after the other: over UDP, or with TCP over TLS (RFC 7858)."""

    type: Literal["dns"] = field(default="dns", init=False)

    query_octets: int = 44
    """DNS message of the query, octets. Default 44: header 12, `www.example.com` 17, type and
    class 4 (RFC 1035 section 4.1), EDNS(0) option record 11 (RFC 6891).
    """

    answer_octets: int = 60
    """DNS message of the answer, octets. Default 60: the query with one A record of 16."""

    server_s: float = 0.0
    """Time that the resolver takes to answer, s."""

    think_s: float = 0.0
    """Pause between an answer and the next lookup, s."""

    count: int | None = None
    """Number of lookups; null: until the end."""

    retry_s: float = 5.0
    """UDP: repeat the query if there is no answer within this time, s (5 in `resolv.conf`)."""

    client_hello_octets: int = 201
    """TLS record of the ClientHello, octets. Default: RFC 8448 section 3."""

    server_flight_octets: int = 774
    """TLS records from ServerHello to the server's Finished, octets. Default: RFC 8448 section 3
    (95 and 679, with a certificate of 432 octets).
    """

    client_finished_octets: int = 58
    """TLS record of the client's Finished, octets. Default: RFC 8448 section 3."""


@frozen(kw_only=True, eq=False, repr=False)
class PatternVoip(Value):
    """One direction of a voice call: 160 octets of G.711 and 12 of RTP every 20 ms by default."""

    type: Literal["voip"] = field(default="voip", init=False)

    payload_octets: int = 172
    """Voice and RTP octets per packet."""

    interval_ms: float = 20.0
    """Spacing of packets, ms."""


#: Packets of the application, and their times.
Pattern = (
    PatternSaturated
    | PatternPaced
    | PatternTransfer
    | PatternRequestResponse
    | PatternDns
    | PatternVoip
)


@frozen(kw_only=True, eq=False, repr=False)
class Flow(Value):
    """One flow of application data."""

    name: str
    """Name in results."""

    station: str | None = None
    """Station that results of this flow are filed under; null: none."""

    source: str
    """Node that sends (and that asks, in request-response)."""

    destination: str
    """Node that receives."""

    ip: IpVersion = IpVersion.IPV4
    """Network protocol."""

    transport: Transport
    """Transport protocol and its options."""

    pattern: Pattern
    """Packets of the application, and their times."""

    start_s: float = 0.0
    """When it starts, s."""

    stop_s: float | None = None
    """When the application stops sending, s; null: never."""

    access_category: AccessCategory = AccessCategory.BEST_EFFORT
    """Access category under EDCA."""


@frozen(kw_only=True, eq=False, repr=False)
class Scenario(Value):
    """One trial to simulate."""

    duration_s: float
    """Simulated length of the trial, warm-up included, seconds."""

    warm_up_s: float = 0.0
    """Left out of every metric at the start, seconds; shorter than `duration_s`."""

    series: bool = False
    """Whether to give one throughput, delay, jitter and loss row per flow and second as well."""

    radio: Radio = Radio()
    """Propagation and receivers."""

    bss: tuple[Bss, ...]
    """The basic service sets. BSSs with the same `channel` contend with one another."""

    nodes: tuple[Node, ...]
    """Stations, access points and wired hosts."""

    links: tuple[WiredLink, ...] = ()
    """Wired links between access points and wired hosts; packets take the shortest way."""

    associations: tuple[Association, ...] = ()
    """Stations that join in simulated time. Traffic starts when all of them have but those that
    join during it, and `duration_s` counts from then; stations not listed are joined from the
    start.
    """

    association_limit_s: float = 120.0
    """Stations that have not joined by then have failed to, s; during the traffic it counts from
    the latest `start_us`.
    """

    handovers: tuple[Handover, ...] = ()
    """Stations that move to another BSS during the trial."""

    mobility_agents: tuple[MobilityAgent, ...] = ()
    """Agents of Mobile IP that advertise themselves."""

    address_resolution: AddressResolution = AddressResolution.STATIC
    """How hosts learn one another's link-layer addresses."""

    group_traffic: tuple[GroupSource, ...] = ()
    """Group-addressed traffic of nodes."""

    flows: tuple[Flow, ...]
    """The traffic."""


class TlsSuite(StrEnum):
    """How strong the records and the key schedule are."""

    AES128_GCM_SHA256 = "aes128-gcm-sha256"
    """AES-128-GCM with SHA-256, keys from P-256."""

    AES256_GCM_SHA384 = "aes256-gcm-sha384"
    """AES-256-GCM with SHA-384, keys from P-384: WPA3-Enterprise 192-bit mode (WPA3
    specification section 3.5, RFC 6460).
    """


class Shown(StrEnum):
    """Which certificate a party shows."""

    OWN = "own"
    """The chain of its own role."""

    ROGUE = "rogue"
    """A server's, with an untrusted root."""


@frozen(kw_only=True, eq=False, repr=False)
class StationChallengeRelayed(Value):
    """The authenticator relays the challenge in an Access-Request."""

    challenge: Literal["relayed"] = field(default="relayed", init=False)


@frozen(kw_only=True, eq=False, repr=False)
class StationChallengeAsResponse(Value):
    """The authenticator relays EAP responses only (hostapd). The server receives the challenge
    on the link and sends it to the authenticator as a response. Its keys have the 32 octets
    that hostapd takes as PMK.
    """

    challenge: Literal["as-response"] = field(default="as-response", init=False)


@frozen(kw_only=True, eq=False, repr=False)
class StationChallengeOnLink(Value):
    """The authenticator relays EAP responses only. RADIUS ends with Access-Accept after the
    first half, without keys, and the server answers the challenge on the link.
    """

    challenge: Literal["on-link"] = field(default="on-link", init=False)

    wep_key: bytes | None = None
    """WEP key for broadcast and unicast that EAPOL-Key frames then distribute; null without
    encryption.
    """


#: The way of the challenge of a LEAP station to the server.
StationChallenge = StationChallengeRelayed | StationChallengeAsResponse | StationChallengeOnLink


class IkeCipher(StrEnum):
    """The cipher of IKE and of ESP."""

    DES = "des"
    """DES-CBC."""

    TRIPLE_DES = "triple-des"
    """3DES-CBC."""

    AES128 = "aes128"
    """AES-CBC with 128 bits."""


class HashAlgorithm(StrEnum):
    """A hash function."""

    MD4 = "md4"
    """MD4 (RFC 1320)."""

    MD5 = "md5"
    """MD5 (RFC 1321)."""

    SHA1 = "sha1"
    """SHA-1 (FIPS 180-4)."""

    SHA256 = "sha256"
    """SHA-256."""

    SHA384 = "sha384"
    """SHA-384."""

    SHA512 = "sha512"
    """SHA-512."""

    BLAKE2S = "blake2s"
    """BLAKE2s (RFC 7693)."""


@frozen(kw_only=True, eq=False, repr=False)
class MobilityDomain(Value):
    """A mobility domain of fast transition (802.11-2020, 13.2)."""

    identifier: bytes
    """Mobility domain identifier."""

    r0_key_holder: bytes
    """R0 key holder identifier, 1 to 48 octets."""

    over_the_ds: bool
    """Whether fast transition over the DS is offered."""


@frozen(kw_only=True, eq=False, repr=False)
class LinkSettings(Value):
    """A link between a station and an access point."""

    ssid: str
    """Network name."""

    station: str
    """The station's address, colon-separated."""

    access_point: str
    """The access point's."""

    akm: AkmSuite | None = None
    """AKM; none on an open network."""

    pairwise: CipherSuite
    """Pairwise cipher."""

    group: CipherSuite
    """Group cipher."""

    protection: ManagementProtection = ManagementProtection.OFF
    """Protected management frames."""

    hash_to_element: bool = False
    """Whether SAE maps the password with hash-to-element."""

    mobility_domain: MobilityDomain | None = None
    """Mobility domain of fast transition."""

    beacon_protection: bool = False
    """Whether beacons are protected."""

    operating_channel: bytes | None = None
    """Operating class, primary channel and centre of segment 1 of this end, with operating
    channel validation; none: no validation.
    """

    links: int = 0
    """Links of a multi-link association, whose addresses follow from those of the first; 0 or 1:
    none.
    """


@frozen(kw_only=True, eq=False, repr=False)
class MasterPassphrase(Value):
    """A passphrase, mapped to a PSK with the network name (802.11-2020, J.4.1)."""

    passphrase: str


@frozen(kw_only=True, eq=False, repr=False)
class MasterPmk(Value):
    """The PMK of SAE, of OWE, or of a cache."""

    pmk: bytes


@frozen(kw_only=True, eq=False, repr=False)
class MasterMsk(Value):
    """The MSK of an EAP method."""

    msk: bytes


#: Start of a link's key hierarchy.
Master = MasterPassphrase | MasterPmk | MasterMsk


@frozen(kw_only=True, eq=False, repr=False)
class AirSettingsAuthentication(Value):
    """Open System or, with a WEP key, Shared Key authentication."""

    stage: Literal["authentication"] = field(default="authentication", init=False)

    link: LinkSettings
    """The link."""

    wep_key: bytes | None = None
    """WEP key of 5 or 13 octets."""


@frozen(kw_only=True, eq=False, repr=False)
class AirSettingsSae(Value):
    """SAE."""

    stage: Literal["sae"] = field(default="sae", init=False)

    link: LinkSettings
    """The link."""

    password: str
    """Password."""

    group: int
    """IANA number of the group."""

    further_groups: tuple[int, ...] = ()
    """Groups that a station tries next, or that an access point takes as well."""

    identifier: str | None = None
    """Password identifier, with hash-to-element."""

    anti_clogging: bool = False
    """Whether the access point is busy."""


@frozen(kw_only=True, eq=False, repr=False)
class AirSettingsAssociation(Value):
    """Association without a key exchange in it."""

    stage: Literal["association"] = field(default="association", init=False)

    link: LinkSettings
    """The link."""

    pmkids: tuple[bytes, ...] = ()
    """Identifiers of cached PMKs, 16 octets each."""


@frozen(kw_only=True, eq=False, repr=False)
class AirSettingsOwe(Value):
    """Association with OWE's key exchange."""

    stage: Literal["owe"] = field(default="owe", init=False)

    link: LinkSettings
    """The link."""

    group: int
    """IANA number of the group."""

    further_groups: tuple[int, ...] = ()
    """Groups that a station tries next, or that an access point takes as well."""


@frozen(kw_only=True, eq=False, repr=False)
class AirSettingsKeys(Value):
    """The 4-way handshake."""

    stage: Literal["keys"] = field(default="keys", init=False)

    link: LinkSettings
    """The link."""

    master: Master
    """Where the keys come from."""

    pmkid: bytes | None = None
    """Identifier of the PMK, 16 octets."""

    station_element: bytes | None = None
    """RSN element of the association request; that of the link unless given."""

    access_point_element: bytes | None = None
    """RSN element of the beacons; that of the link unless given."""


@frozen(kw_only=True, eq=False, repr=False)
class AirSettingsFastTransition(Value):
    """Fast BSS transition to the access point of the link."""

    stage: Literal["fast-transition"] = field(default="fast-transition", init=False)

    link: LinkSettings
    """The link."""

    master: Master
    """Where the keys come from."""

    old_access_point: str
    """Address of the access point that the station leaves."""

    over_the_ds: bool = False
    """Through that access point instead of over the air."""


#: A handshake between a station and an access point.
AirSettings = (
    AirSettingsAuthentication
    | AirSettingsSae
    | AirSettingsAssociation
    | AirSettingsOwe
    | AirSettingsKeys
    | AirSettingsFastTransition
)


@frozen(kw_only=True, eq=False, repr=False)
class RoleSettingsEap(Value):
    """EAP between station, access point and authentication server."""

    handshake: Literal["eap"] = field(default="eap", init=False)

    method: EapMethod
    """The method."""

    tls: TlsVersion = TlsVersion.TLS_VERSION_1_2
    """Which TLS, for the methods that use it."""

    suite: TlsSuite = TlsSuite.AES128_GCM_SHA256
    """Its suite."""

    groups: tuple[NamedGroup, ...] = ()
    """Its groups, where they are not the suite's usual ones."""

    chain: tuple[SignatureAlgorithm, ...] = (
        SignatureAlgorithm.RSA_2048,
        SignatureAlgorithm.RSA_2048,
        SignatureAlgorithm.RSA_2048,
    )
    """Certificates of both ends."""

    trusted: tuple[SignatureAlgorithm, ...] | None = None
    """The chain whose root our end trusts, where it is another."""

    shown: Shown = Shown.OWN
    """Which of them our end shows."""

    identity: str
    """Identity that the station claims."""

    password: str
    """Password."""

    radius_secret: str
    """Secret that access point and server share."""

    fragment_octets: int
    """Octets of TLS data in one EAP packet."""

    limits: EapLimits = EapLimits()
    """When a server gives the conversation up."""

    certificate_compression: bool = False
    """Whether certificates are compressed (RFC 8879)."""

    cryptobinding: bool = False
    """Whether PEAP's server binds the tunnel to what runs in it."""

    session: bytes | None = None
    """A TLS session of an earlier conversation to resume, as the exchange gave it."""

    remembers: bool = False
    """Whether our end remembers the session of a conversation for the next."""

    station: str
    """The station's address, colon-separated."""

    access_point: str
    """The access point's."""


@frozen(kw_only=True, eq=False, repr=False)
class RoleSettingsLeap(Value):
    """LEAP's authentication server."""

    handshake: Literal["leap"] = field(default="leap", init=False)

    identity: str
    """Identity of its user."""

    password: str
    """Password of the user."""

    radius_secret: str
    """Secret that access point and server share."""

    challenge: StationChallenge = StationChallengeRelayed()
    """The way of the station's challenge to the server."""


@frozen(kw_only=True, eq=False, repr=False)
class RoleSettingsIkeV1(Value):
    """IKEv1, the station being the initiator and the gateway the responder."""

    handshake: Literal["ike-v1"] = field(default="ike-v1", init=False)

    preshared: str
    """Pre-shared key."""

    group: int
    """IKE group: 2, 5 or 14."""

    cipher: IkeCipher
    """des, triple-des or aes128."""

    hash: HashAlgorithm
    """md5 or sha1."""

    forward_secrecy: bool
    """Whether quick mode has a Diffie-Hellman exchange of its own."""

    addresses: tuple[bytes, bytes]
    """IPv4 addresses of initiator and responder."""

    inner: tuple[bytes, bytes]
    """Their addresses inside the tunnel."""

    nat_traversal: bool = False
    """Whether the ends look for address translation."""


@frozen(kw_only=True, eq=False, repr=False)
class RoleSettingsIkeV2(Value):
    """IKEv2 with one ESP tunnel."""

    handshake: Literal["ike-v2"] = field(default="ike-v2", init=False)

    preshared: str
    """Pre-shared key."""

    chain: tuple[SignatureAlgorithm, ...] | None = None
    """The chains with which both ends authenticate instead."""

    group: int
    """Transform of the first key exchange: 14, 19, 31, or 35 to 37."""

    additional: KemAlgorithm | None = None
    """The second key exchange."""

    fragment_octets: int | None = None
    """Octets of the longest IPv4 datagram before messages are fragmented; null: never."""

    gcm: bool
    """AES-GCM instead of AES-CBC with HMAC-SHA-1."""

    addresses: tuple[bytes, bytes]
    """IPv4 addresses of initiator and responder."""

    inner: bytes
    """The initiator's address inside the tunnel."""

    nat_traversal: bool = False
    """Whether the ends look for address translation."""

    mobike: bool = False
    """Whether the tunnel may move."""


@frozen(kw_only=True, eq=False, repr=False)
class RoleSettingsMobike(Value):
    """A tunnel of IKEv2 that moves: the station's end comes from another address."""

    handshake: Literal["mobike"] = field(default="mobike", init=False)

    sa: bytes
    """The IKE SA, as an exchange with `mobike` gave it."""

    address: bytes
    """The new address."""

    checks: bool = False
    """Whether the gateway checks that the station is there."""


@frozen(kw_only=True, eq=False, repr=False)
class RoleSettingsAir(Value):
    """A stage between station and access point."""

    handshake: Literal["air"] = field(default="air", init=False)

    settings: AirSettings
    """The handshake and its settings."""


@frozen(kw_only=True, eq=False, repr=False)
class RoleSettingsOpenVpn(Value):
    """OpenVPN with tls-crypt, the station being the client and the gateway the server."""

    handshake: Literal["open-vpn"] = field(default="open-vpn", init=False)

    static_key: bytes
    """The shared key of tls-crypt, 256 octets."""

    time: int
    """Seconds since 1970."""

    chain: tuple[SignatureAlgorithm, ...] = (
        SignatureAlgorithm.RSA_2048,
        SignatureAlgorithm.RSA_2048,
        SignatureAlgorithm.RSA_2048,
    )
    """Certificates of both ends."""

    shown: Shown = Shown.OWN
    """Which of them a gateway shows."""

    groups: tuple[NamedGroup, ...] = ()
    """Groups of TLS; empty: X25519."""

    requests: bool = False
    """Whether the client sends PUSH_REQUEST before it gets the options."""

    inner: tuple[bytes, bytes]
    """Addresses in the tunnel: the client's, the gateway's."""


@frozen(kw_only=True, eq=False, repr=False)
class RoleSettingsWireGuard(Value):
    """WireGuard, the station being the initiator and the gateway the responder."""

    handshake: Literal["wire-guard"] = field(default="wire-guard", init=False)

    private: bytes
    """Our static private key."""

    peer: bytes
    """Their static public key."""

    preshared: bytes
    """Pre-shared key; zero without one."""

    timestamp: bytes
    """First TAI64N timestamp of the initiator."""

    source: bytes = b"\x00\x00\x00\x00\x00\x00"
    """The other end's outer address and port, which a cookie is for."""


#: Settings of a handshake.
RoleSettings = (
    RoleSettingsEap
    | RoleSettingsLeap
    | RoleSettingsIkeV1
    | RoleSettingsIkeV2
    | RoleSettingsMobike
    | RoleSettingsAir
    | RoleSettingsOpenVpn
    | RoleSettingsWireGuard
)


@frozen(kw_only=True, eq=False, repr=False)
class SecurityAssociation(Value):
    """A mobility security association (section 1.6): HMAC-MD5 with a 128-bit key, and timestamps
    against replay where the parties have a time of day.
    """

    spi: int = 256
    """Security parameters index."""

    key: bytes
    """128-bit key."""


@frozen(kw_only=True, eq=False, repr=False)
class HomedNode(Value):
    """A mobile node of a home agent."""

    home_address: str
    """Home address."""

    association: SecurityAssociation
    """Security association of the node with the home agent."""


@frozen(kw_only=True, eq=False, repr=False)
class HomeAgentSettings(Value):
    """Settings of a home agent."""

    address: str
    """Address on the home link."""

    nodes: tuple[HomedNode, ...]
    """The mobile nodes."""

    lifetime_s: int = 600
    """Longest registration, seconds."""

    valid_s: int = 30
    """Lifetime of an advertisement, seconds."""


@frozen(kw_only=True, eq=False, repr=False)
class ForeignAgentSettings(Value):
    """Settings of a foreign agent."""

    address: str
    """Address on the visited link."""

    care_of_address: str
    """The care-of address that it offers."""

    lifetime_s: int = 600
    """Longest registration, seconds."""

    valid_s: int = 30
    """Lifetime of an advertisement, seconds."""


@frozen(kw_only=True, eq=False, repr=False)
class MobileNodeSettings(Value):
    """Settings of a mobile node."""

    home_address: str
    """Home address."""

    home_agent: str
    """Home agent."""

    association: SecurityAssociation
    """Security association with the home agent."""

    reverse_tunnel: bool = False
    """Whether it asks for reverse tunnelling (RFC 3024)."""

    lifetime_s: int = 600
    """Lifetime that it asks for, seconds."""


@frozen(kw_only=True, eq=False, repr=False)
class CaptureOptions(Value):
    """Options of a report on captures: the window of time and the sessions that it lists."""

    since_s: float | None = None
    """Begin of the window: Unix seconds, or seconds after the first frame with `relative`; null:
    the first frame.
    """

    until_s: float | None = None
    """End of the window; null: the last frame."""

    relative: bool = False
    """Whether the window counts from the first frame."""

    owners: tuple[tuple[str, str], ...] = ()
    """IP address and MAC address of stations."""

    stations: tuple[str, ...] = ()
    """MAC addresses of the stations whose sessions are listed; empty: all."""

    aps: tuple[str, ...] = ()
    """BSSIDs of the APs whose sessions are listed; empty: all."""

    ssids: tuple[str, ...] = ()
    """SSIDs of the networks whose sessions are listed; empty: all."""

    slowest: bool = False
    """Whether the longest join comes first."""

    most: int | None = None
    """Most sessions that are listed; null: all."""

    steps: bool = True
    """Whether each session has its frames."""


@frozen(kw_only=True, eq=False, repr=False)
class MediumWaypoint(Value):
    """A point of a path."""

    at_s: float
    """When, s."""

    position_m: tuple[float, float, float]
    """Where, m."""


@frozen(kw_only=True, eq=False, repr=False)
class MediumFlow(Value):
    """Equal MSDUs of a simulated station, one by one or as many as its queue takes."""

    msdu_octets: int
    """Octets of an MSDU: LLC/SNAP header and packet."""

    interval_s: float | None = None
    """Time between MSDUs, s, of which the first comes after a random part; null: saturated."""

    access_category: AccessCategory | None = None
    """Access category of its QoS data; null: data without QoS."""


@frozen(kw_only=True, eq=False, repr=False)
class MediumSimulated(Value):
    """A station without a mac80211: the medium makes its frames, and takes those for it.

    It does not join. From the request that starts flows to the one that ends them it has
    frames of their real length, which contend as those of other radios do.
    """

    access_point: str
    """Name of its access point's radio; it needs an interface."""

    frequency_mhz: int
    """Centre frequency of its channel."""

    rate: str
    """The one rate of its data and of data for it, as statistics name it: Mb/s, or MCS, streams,
    width and guard interval.
    """

    attempts: int = 7
    """Attempts that a frame has as long as no mac80211 has sent data the same way at this rate,
    between any station and the access point. From then on it has the retry chain of that
    data.
    """

    cipher_octets: int = 0
    """Octets that the cipher adds to a frame: header, MIC and ICV."""

    up: MediumFlow | None = None
    """Flow to the access point."""

    down: MediumFlow | None = None
    """Flow from the access point, through its queue; not saturated."""


@frozen(kw_only=True, eq=False, repr=False)
class MediumRadio(Value):
    """One radio."""

    name: str
    """Its name."""

    address: str
    """The address by which mac80211_hwsim names it (42:00:00:00:NN:00)."""

    interfaces: tuple[str, ...] = ()
    """MAC addresses of its interfaces; others are learned from what it sends."""

    tx_power_dbm: float = 16.0
    """Transmit power."""

    path: tuple[MediumWaypoint, ...] = ()
    """Where it is and when; between two points it moves along a straight line at even speed."""

    simulated: MediumSimulated | None = None
    """A station that the medium itself simulates; null: mac80211 has this radio."""


@frozen(kw_only=True, eq=False, repr=False)
class MediumLevelPoint(Value):
    """A point of a level."""

    at_s: float = 0.0
    """When, s."""

    dbm: float
    """Received power, dBm."""


@frozen(kw_only=True, eq=False, repr=False)
class MediumLevel(Value):
    """The level at which either of two radios hears the other."""

    radios: tuple[str, str]
    """The two radios."""

    points: tuple[MediumLevelPoint, ...]
    """Points in time; in between the level changes evenly."""


@frozen(kw_only=True, eq=False, repr=False)
class MediumDevice(Value):
    """A device: one CPU and its cipher engines behind all of its radios."""

    radios: tuple[str, ...]
    """Names of its radios."""

    host: Host
    """Costs of its work; no network card and no limits of queues."""


@frozen(kw_only=True, eq=False, repr=False)
class MediumDevices(Value):
    """Devices whose processors take time for what their radios send and receive."""

    radios: tuple[MediumDevice, ...]
    """Devices with radios; a radio of none takes no time."""

    wired: Host | None = None
    """The host at the far end of the access points' cable; null: it takes no time."""

    authentication_server: Host | None = None
    """The authentication server; null: it takes no time."""

    cipher: CipherSuite
    """Cipher of protected data frames."""

    policy: PolicySpec
    """Policy of the associations, by which the operations of a message are known."""

    options: Options = Options()
    """Choices that the policy leaves open."""


@frozen(kw_only=True, eq=False, repr=False)
class MediumSettings(Value):
    """Settings of a new air."""

    radios: tuple[MediumRadio, ...]
    """The radios; at most [`MAX_RADIOS`]."""

    standard: Standard = Standard.STANDARD_802_11N
    """Generation whose slots, windows and basic rates hold in the BSSs on this medium; OFDM at
    either band unless told.
    """

    short_preamble: bool = False
    """Preamble of DSSS frames that mac80211 does not ask to be short."""

    path_loss: PathLoss = PathLossConstant(loss_db=60.0)
    """Path loss between positions; the same loss everywhere unless told."""

    walls: tuple[Wall, ...] = ()
    """Walls between positions."""

    levels: tuple[MediumLevel, ...] = ()
    """Levels of named pairs, which override positions."""

    hidden: tuple[tuple[str, str], ...] = ()
    """Pairs of radios that never sense one another."""

    noise_figure_db: float = 7.0
    """Receiver noise figure over kTB."""

    carrier_sense_dbm: float = -82.0
    """Power from which a frame makes the medium busy."""

    frame_errors: bool = True
    """Whether frames fail by noise, or by collisions only."""

    queue_frames: int = 100
    """Frames that wait per radio and access category; more are dropped."""

    airtime: bool = True
    """Whether anything takes airtime. If not, frames pass at once and unharmed: what is left is
    the ceiling that the machine sets.
    """

    seed: int = 0
    """Seed of back-offs and of losses."""

    devices: MediumDevices | None = None
    """Devices whose processors take time; null: nothing but the air takes time."""


@frozen(kw_only=True, eq=False, repr=False)
class MediumRequestBegin(Value):
    """A new air from now on."""

    op: Literal["begin"] = field(default="begin", init=False)

    settings: MediumSettings
    """The radios and the rules of the BSS."""


@frozen(kw_only=True, eq=False, repr=False)
class MediumRequestStatistics(Value):
    """Asks for the counts."""

    op: Literal["statistics"] = field(default="statistics", init=False)

    forget: bool = False
    """Whether to begin anew after this answer."""


@frozen(kw_only=True, eq=False, repr=False)
class MediumRequestAirtime(Value):
    """Whether frames take airtime from now on."""

    op: Literal["airtime"] = field(default="airtime", init=False)

    on: bool
    """False: frames pass at once and unharmed."""


@frozen(kw_only=True, eq=False, repr=False)
class MediumRequestLevel(Value):
    """The level at which either of two radios hears the other."""

    op: Literal["level"] = field(default="level", init=False)

    radios: tuple[str, str]
    """Their names."""

    dbm: float
    """Received power."""


@frozen(kw_only=True, eq=False, repr=False)
class MediumRequestStartFlows(Value):
    """The flows of simulated stations begin, and their counts begin anew."""

    op: Literal["start_flows"] = field(default="start_flows", init=False)

    warm_up_s: float = 0.0
    """Until their counts begin, s."""

    counted_s: float
    """For how long they are counted, s; they go on after it."""

    beside: bool = False
    """Whether the warm-up begins with the first data frame of mac80211 that is as long as their
    frames, so that both are counted at the same time.
    """


@frozen(kw_only=True, eq=False, repr=False)
class MediumRequestEndFlows(Value):
    """The flows of simulated stations end; what waits of them is gone."""

    op: Literal["end_flows"] = field(default="end_flows", init=False)


@frozen(kw_only=True, eq=False, repr=False)
class MediumRequestStop(Value):
    """Asks for the counts and ends the medium."""

    op: Literal["stop"] = field(default="stop", init=False)


#: A request.
MediumRequest = (
    MediumRequestBegin
    | MediumRequestStatistics
    | MediumRequestAirtime
    | MediumRequestLevel
    | MediumRequestStartFlows
    | MediumRequestEndFlows
    | MediumRequestStop
)
