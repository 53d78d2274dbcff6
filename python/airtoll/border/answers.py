"""Answers: the native module writes these as JSON, Python reads them as dictionaries.

Written by `make border` from the Rust types; not edited by hand.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

__all__ = [
    "AccessPointReport",
    "AkmRow",
    "Alternative",
    "AnalyticColumns",
    "AnnouncedBss",
    "AnnouncedSuites",
    "Binding",
    "BlackHoleRow",
    "ByKindOfdouble",
    "ByKindOfuint64",
    "Carrier",
    "CarrierUdp",
    "ChannelReport",
    "Checked",
    "CipherRow",
    "CipherSubjectRow",
    "Code",
    "CodeIke",
    "CodeMobileIp",
    "CodeReason",
    "CodeStatus",
    "Columns",
    "Comparison",
    "Count",
    "Curve",
    "Damage",
    "DhcpReport",
    "EapRow",
    "EndReport",
    "Failure",
    "FailureCountermeasures",
    "FailureElementMismatch",
    "FailureFlightTooLong",
    "FailureIntegrityFailure",
    "FailureNothingInCommon",
    "FailurePacketTooLong",
    "FailurePeerTimeout",
    "FailureServerTimeout",
    "FailureTooManyRounds",
    "FailureUnknownPmksa",
    "FailureWrongCertificate",
    "FailureWrongChannel",
    "FailureWrongCredentials",
    "FailureWrongPassphrase",
    "FragmentedFlowRow",
    "GenerationRow",
    "HashAlgorithm",
    "HeardAgent",
    "KemAlgorithm",
    "KemStep",
    "Kinds",
    "LeaveReport",
    "LedgerReport",
    "LinkReport",
    "LinkTypeReport",
    "MediumChannelCounts",
    "MediumDeviceCounts",
    "MediumFlowCounts",
    "MediumFlowDirection",
    "MediumLateness",
    "MediumRadioCounts",
    "MediumStatistics",
    "MultiLinkReport",
    "Negotiated",
    "NegotiatedMessage",
    "NegotiatedOutcome",
    "NegotiatedSecret",
    "NegotiatedTotals",
    "NetworkReport",
    "NetworksReport",
    "OfferReport",
    "OperatingChannelsReport",
    "Operation",
    "OperationAes",
    "OperationChaCha20Poly1305",
    "OperationDes",
    "OperationEcScalarMul",
    "OperationFieldPower",
    "OperationHash",
    "OperationKem",
    "OperationModExp",
    "OperationPbkdf2",
    "OperationRandom",
    "OperationRc4",
    "OperationSign",
    "OperationSubjectRow",
    "OperationVerify",
    "Owned",
    "Party",
    "PartyTotals",
    "PhaseReport",
    "ProbeResponseRow",
    "ProbeTrafficRow",
    "ProtocolTotals",
    "PublishedMaximum",
    "RateCount",
    "Refusal",
    "RegistrationAnswer",
    "RekeyReport",
    "Report",
    "RoamReport",
    "SecretName",
    "SessionReport",
    "SignatureAlgorithm",
    "Sketches",
    "SkippedKey",
    "SpacesRow",
    "Stage",
    "StationSums",
    "Step",
    "StepColumns",
    "Sums",
    "TunnelReport",
    "TunnelRow",
    "TunnelSetupReport",
    "VectorRow",
    "Visit",
    "Waits",
    "WeakLinkRow",
]


class Sketches(TypedDict):
    """Distributions over the packets of one flow and trial each. The lists have equal lengths."""

    trial: list[int]
    """Index into the seeds."""

    metric: list[str]
    """Name of the metric whose values are counted."""

    flow: list[str]
    """Flow."""

    station: list[str | None]
    """Station of the flow, where there is one."""

    nanoseconds: list[list[int]]
    """Middles of the occupied bins, upwards, ns. Bins are the same in every trial."""

    counts: list[list[int]]
    """Number of values in each of these bins."""


class Columns(TypedDict):
    """Rows of simulated trials. Every list has one entry for each row, but `sketches`,
    `backoff_excess_slots` and `failure`.
    """

    trial: list[int]
    """Index into the seeds."""

    metric: list[str]
    """Name of the metric."""

    flow: list[str | None]
    """Flow, where the metric is of one flow."""

    station: list[str | None]
    """Station (or other node), where the metric is of one."""

    second: list[int | None]
    """Second of a series, from 0 at the end of the warm-up."""

    value: list[float]
    """The value."""

    unit: list[str]
    """Its unit."""

    sketches: Sketches
    """Distributions over the packets of flows."""

    backoff_excess_slots: list[float]
    """For each seed: drawn back-off slots less their expectation, since the warm-up."""

    failure: list[str | None]
    """For each seed: which station did not join and why, or null."""


class AnalyticColumns(TypedDict):
    """Throughput of every flow, and of all flows together in the last row."""

    metric: list[str]
    """`throughput_bps`."""

    value: list[float]
    """The throughput, bit/s."""

    unit: list[str]
    """`bit/s`."""

    flow: list[str | None]
    """Name of the flow; null in the last row."""

    station: list[str | None]
    """Station of the flow; null in the last row."""

    second: list[int | None]
    """Null: no closed form gives a series."""

    lower: list[float]
    """Lower bound, bit/s."""

    upper: list[float]
    """Upper bound, bit/s."""

    method: list[str]
    """`maximum`, `bianchi`, `offered`, `tcp_bounds`; `sum` in the last row."""


class PublishedMaximum(TypedDict):
    """One line of table 4-2 of McCarter's thesis beside our closed forms, bit/s."""

    phy: str
    """PHY, as printed."""

    printed_tcp_bps: float
    """TCP throughput as printed."""

    printed_udp_bps: float
    """UDP throughput as printed."""

    udp_bps: float
    """Our UDP throughput."""

    tcp_lower_bps: float
    """Lower bound of our TCP throughput."""

    tcp_upper_bps: float
    """Upper bound of our TCP throughput."""

    udp_as_printed_bps: float
    """UDP throughput with the assumptions of the thesis."""

    tcp_as_printed_bps: float
    """TCP throughput with the assumptions of the thesis."""

    reading: str
    """The assumptions of the thesis."""


#: A part of a negotiation.
Stage = Literal[
    "authentication",
    "association",
    "eap",
    "keys",
    "group-keys",
    "fast-transition",
    "mobile-ip",
    "tunnel",
    "tunnel-move",
]

#: A party of a handshake.
Party = Literal[
    "station",
    "access-point",
    "old-access-point",
    "authentication-server",
    "gateway",
    "foreign-agent",
    "home-agent",
]


class CarrierUdp(TypedDict):
    """A UDP payload with this destination port."""

    udp: int


#: The layer below a message's octets.
Carrier = (
    Literal["management"]
    | Literal["eapol"]
    | Literal["radius"]
    | CarrierUdp
    | Literal["icmp"]
    | Literal["distribution-system"]
)

#: A hash function.
HashAlgorithm = Literal["md4", "md5", "sha1", "sha256", "sha384", "sha512", "blake2s"]

#: An elliptic curve.
Curve = Literal["p-256", "p-384", "p-521", "x25519"]

#: A key-encapsulation mechanism of FIPS 203.
KemAlgorithm = Literal["ml-kem-512", "ml-kem-768", "ml-kem-1024"]

#: A step of a key-encapsulation mechanism.
KemStep = Literal["keygen", "encapsulate", "decapsulate"]

#: A signature algorithm with its key size.
SignatureAlgorithm = Literal[
    "rsa-2048",
    "ecdsa-p-256",
    "rsa-3072",
    "ecdsa-p-384",
    "ml-dsa-44",
    "ml-dsa-65",
    "ml-dsa-87",
    "slh-dsa-sha2-128s",
    "falcon-512",
    "falcon-1024",
]


class OperationRandom(TypedDict):
    """Random octets drawn."""

    operation: Literal["random"]

    octets: int
    """How many."""


class OperationHash(TypedDict):
    """Compressions of a hash, those inside HMAC and key derivation included."""

    operation: Literal["hash"]

    algorithm: HashAlgorithm
    """Which function."""

    blocks: int
    """How many."""


class OperationPbkdf2(TypedDict):
    """PBKDF2 (RFC 8018): the passphrase mapping of IEEE 802.11-2020 annex J.4."""

    operation: Literal["pbkdf2"]

    iterations: int
    """Iterations, all output blocks together."""


class OperationAes(TypedDict):
    """AES block operations, in any mode."""

    operation: Literal["aes"]

    key_bits: int
    """Bits of key."""

    blocks: int
    """How many."""


class OperationDes(TypedDict):
    """DES block operations; one block of triple DES is three."""

    operation: Literal["des"]

    blocks: int
    """How many."""


class OperationRc4(TypedDict):
    """RC4 octets."""

    operation: Literal["rc4"]

    octets: int
    """How many, discarded ones included."""


class OperationChaCha20Poly1305(TypedDict):
    """ChaCha20-Poly1305 octets."""

    operation: Literal["cha_cha20_poly1305"]

    octets: int
    """How many, associated data included."""


class OperationModExp(TypedDict):
    """Exponentiations modulo a prime (Diffie-Hellman)."""

    operation: Literal["mod_exp"]

    modulus_bits: int
    """Bits of the modulus."""

    exponent_bits: int
    """Bits of the exponent."""

    count: int
    """How many."""


class OperationEcScalarMul(TypedDict):
    """Multiplications of a point."""

    operation: Literal["ec_scalar_mul"]

    curve: Curve
    """The curve."""

    count: int
    """How many."""


class OperationFieldPower(TypedDict):
    """Powers in a curve's field: square roots and quadratic-residue tests of SAE."""

    operation: Literal["field_power"]

    curve: Curve
    """The curve."""

    count: int
    """How many."""


class OperationKem(TypedDict):
    """Steps of a key-encapsulation mechanism."""

    operation: Literal["kem"]

    algorithm: KemAlgorithm
    """The parameter set."""

    step: KemStep
    """Which step."""

    count: int
    """How many."""


class OperationSign(TypedDict):
    """Signatures made, or RSA decryptions."""

    operation: Literal["sign"]

    algorithm: SignatureAlgorithm
    """Algorithm and key size."""

    count: int
    """How many."""


class OperationVerify(TypedDict):
    """Signatures checked, or RSA encryptions."""

    operation: Literal["verify"]

    algorithm: SignatureAlgorithm
    """Algorithm and key size."""

    count: int
    """How many."""


#: One kind of work and how much of it.
Operation = (
    OperationRandom
    | OperationHash
    | OperationPbkdf2
    | OperationAes
    | OperationDes
    | OperationRc4
    | OperationChaCha20Poly1305
    | OperationModExp
    | OperationEcScalarMul
    | OperationFieldPower
    | OperationKem
    | OperationSign
    | OperationVerify
)

#: One message.
NegotiatedMessage = TypedDict(
    "NegotiatedMessage",
    {
        #: Part of the negotiation.
        "stage": Stage,
        #: Protocol, for example `EAPOL-Key`.
        "protocol": str,
        #: Name of the message in its standard.
        "name": str,
        #: Sender.
        "from": Party,
        #: Receiver.
        "to": Party,
        #: Carrier of the octets.
        "carrier": Carrier,
        #: Number of octets.
        "length": int,
        #: The octets, hexadecimal.
        "octets": str,
        #: Operations of the sender before the message.
        "operations": list[Operation],
    },
)


class ProtocolTotals(TypedDict):
    """Messages of one protocol."""

    protocol: str
    """Protocol."""

    messages: int
    """Messages."""

    octets: int
    """Their octets."""


class PartyTotals(TypedDict):
    """Work of one party."""

    party: Party
    """The party."""

    operations: list[Operation]
    """Its work, operations of one kind added up."""

    heavy: list[str]
    """Names under which a device profile prices the heavy ones: public keys, and passphrases."""


class NegotiatedTotals(TypedDict):
    """Sums over the messages of a negotiation."""

    messages: int
    """All messages."""

    messages_air: int
    """Messages that the station sends or receives."""

    octets_air: int
    """Their octets."""

    round_trips: int
    """Messages of the station that another party answers."""

    by_protocol: list[ProtocolTotals]
    """Sums by protocol."""

    by_party: list[PartyTotals]
    """Work by party."""


class CodeReason(TypedDict):
    """Reason code of deauthentication or disassociation."""

    reason: int


class CodeStatus(TypedDict):
    """Status code of authentication or (re)association."""

    status: int


class CodeMobileIp(TypedDict):
    """Reply code of Mobile IP registration (RFC 5944 section 3.4)."""

    mobile_ip: int


class CodeIke(TypedDict):
    """Notify message type of IKE (RFC 2408 section 3.14.1, RFC 7296 section 3.10.1)."""

    ike: int


#: A code of the air, or none where the protocol has no such code.
Code = CodeReason | CodeStatus | CodeMobileIp | CodeIke | Literal["silent"]


class FailureWrongPassphrase(TypedDict):
    """The peer proved another passphrase, PMK or shared key than ours."""

    failure: Literal["wrong-passphrase"]

    code: Code
    """Code in the frame that reports it."""


class FailureWrongCredentials(TypedDict):
    """The authentication server refused the credentials."""

    failure: Literal["wrong-credentials"]

    code: Code
    """Code in the frame that reports it."""


class FailureWrongCertificate(TypedDict):
    """A certificate chain does not end in the trusted root, or a signature is wrong."""

    failure: Literal["wrong-certificate"]

    code: Code
    """Code in the frame that reports it."""


class FailureIntegrityFailure(TypedDict):
    """A message integrity code or signature over the exchange is wrong."""

    failure: Literal["integrity-failure"]

    code: Code
    """Code in the frame that reports it."""


class FailureElementMismatch(TypedDict):
    """The RSN element in the handshake is not the one of the association."""

    failure: Literal["element-mismatch"]

    code: Code
    """Code in the frame that reports it."""


class FailureWrongChannel(TypedDict):
    """The peer's operating channel information names another channel than ours (802.11-2020,
    12.2.9).
    """

    failure: Literal["wrong-channel"]

    code: Code
    """Code in the frame that reports it."""


class FailureServerTimeout(TypedDict):
    """The authentication server did not answer."""

    failure: Literal["server-timeout"]

    code: Code
    """Code in the frame that reports it."""


class FailurePeerTimeout(TypedDict):
    """The other party did not answer."""

    failure: Literal["peer-timeout"]

    code: Code
    """Code in the frame that reports it."""


class FailureCountermeasures(TypedDict):
    """Two Michael failures within 60 seconds (802.11-2020, 12.5.2.4)."""

    failure: Literal["countermeasures"]

    code: Code
    """Code in the frame that reports it."""


class FailureNothingInCommon(TypedDict):
    """No suite, group, method or AKM in common."""

    failure: Literal["nothing-in-common"]

    code: Code
    """Code in the frame that reports it."""


class FailureUnknownPmksa(TypedDict):
    """The access point has no PMKSA of the station that asks to go on from one (802.11-2020,
    12.6.8.3).
    """

    failure: Literal["unknown-pmksa"]

    code: Code
    """Code in the frame that reports it."""


class FailureTooManyRounds(TypedDict):
    """An end of an EAP conversation gave it up (RFC 9191 section 3)."""

    failure: Literal["too-many-rounds"]

    code: Code
    """Code in the frame that reports it."""

    limit: int
    """Rounds that it takes after the identity."""


class FailurePacketTooLong(TypedDict):
    """A RADIUS packet is longer than the protocol allows (RFC 2865 section 3)."""

    failure: Literal["packet-too-long"]

    code: Code
    """Code in the frame that reports it."""

    octets: int
    """Its octets."""

    limit: int
    """Octets that a packet can have."""


class FailureFlightTooLong(TypedDict):
    """A TLS flight is longer than the authentication server holds."""

    failure: Literal["flight-too-long"]

    code: Code
    """Code in the frame that reports it."""

    limit: int
    """Octets that the server holds."""


#: Why a party gave up.
Failure = (
    FailureWrongPassphrase
    | FailureWrongCredentials
    | FailureWrongCertificate
    | FailureIntegrityFailure
    | FailureElementMismatch
    | FailureWrongChannel
    | FailureServerTimeout
    | FailurePeerTimeout
    | FailureCountermeasures
    | FailureNothingInCommon
    | FailureUnknownPmksa
    | FailureTooManyRounds
    | FailurePacketTooLong
    | FailureFlightTooLong
)

#: The name of a secret that a handshake gives.
SecretName = Literal[
    "pmk",
    "pmkid",
    "kck",
    "kek",
    "tk",
    "gtk",
    "igtk",
    "bigtk",
    "wep-key",
    "msk",
    "pmk-r0",
    "pmk-r1",
    "tunnel-forward",
    "tunnel-backward",
    "tunnel-spis",
    "ike-sa",
    "tls-session",
    "care-of-address",
]


class NegotiatedSecret(TypedDict):
    """One secret."""

    name: SecretName
    """Its name."""

    octets: str
    """Its octets, hexadecimal."""


class NegotiatedOutcome(TypedDict):
    """How a negotiation ended."""

    established: bool
    """Whether every part succeeded."""

    stage: NotRequired[Stage | None]
    """The part that failed."""

    failure: NotRequired[Failure | None]
    """Why it failed."""

    text: NotRequired[str | None]
    """The same in words."""

    secrets: NotRequired[list[NegotiatedSecret] | None]
    """Secrets that both ends hold."""


class Negotiated(TypedDict):
    """Everything that a policy negotiates."""

    messages: list[NegotiatedMessage]
    """The messages in order."""

    preparation: list[Operation]
    """Work that a party does once, before any association."""

    totals: NegotiatedTotals
    """Sums over the messages."""

    outcome: NegotiatedOutcome
    """How it ended."""


class Count(TypedDict):
    """A count and where it stands."""

    what: str
    """The counted messages and their place in the paper."""

    messages: int
    """Messages."""


class Comparison(TypedDict):
    """One protocol."""

    protocol: str
    """Its name in the paper."""

    printed: list[Count]
    """Counts in the paper; prose and table apart where they differ."""

    counted: list[Count]
    """Counts of the handshakes here."""

    messages: list[str]
    """Every message: sender, receiver and name."""

    explanation: str
    """Why the two differ, or that they do not."""


class Binding(TypedDict):
    """A mobility binding."""

    home_address: str
    """Home address of the node."""

    care_of_address: str
    """Where the tunnel of its packets ends; the home address after a deregistration."""

    lifetime_s: int
    """Seconds; 0: the node is at home and its binding ends."""

    reverse_tunnel: bool
    """Whether the node's own packets come back through the tunnel (RFC 3024)."""


class Visit(TypedDict):
    """A registration that a foreign agent relays."""

    home_address: str
    """Home address of the visitor."""

    home_agent: str
    """Its home agent."""

    code: int | None
    """Code of the reply; null for a request."""

    lifetime_s: int
    """Seconds: asked for in a request, granted in a reply; 0 ends the visit."""

    reverse_tunnel: bool
    """Whether the visitor asked for reverse tunnelling (RFC 3024)."""


class HeardAgent(TypedDict):
    """An agent that advertised itself."""

    router: str
    """Address of the agent on the link."""

    care_of_address: str | None
    """The care-of address that it offers; null at home."""


class RegistrationAnswer(TypedDict):
    """The reply to a registration."""

    code: int
    """Code of the reply; 0: accepted."""

    lifetime_s: int
    """Granted seconds."""

    retry: bool
    """The node has corrected its timestamps after the home agent's, and a new request may
    succeed.
    """


class SkippedKey(TypedDict):
    """A row of a key log that was left out."""

    file: str
    """The key log."""

    line: int
    """Number of the line, or of the row of a JSON list, from 1."""

    what: str
    """Why it cannot be used."""


class Kinds(TypedDict):
    """Frames by type."""

    management: int
    """802.11 management."""

    control: int
    """802.11 control."""

    data: int
    """802.11 data."""

    four_addresses: int
    """Data frames with four addresses, of `data`."""

    wired: int
    """Ethernet."""

    radius: int
    """RADIUS on a wire, of `wired`."""

    ike: int
    """IKE on a wire, of `wired`."""

    mobile_ip: int
    """Mobile IP on a wire, of `wired`."""

    wireguard: int
    """WireGuard on a wire, of `wired`."""

    openvpn: int
    """OpenVPN over UDP on a wire, of `wired`."""

    esp: int
    """ESP on a wire, of `wired`."""

    other: int
    """Anything else."""


class LinkTypeReport(TypedDict):
    """The packets of one link type."""

    link_type: int
    """The `LINKTYPE_` number of the tcpdump group."""

    name: str | None
    """Its name; null for a rare one."""

    frames: int
    """Packets."""

    not_read: int
    """Of `frames`, those that are not read because of the link type, or of the one inside it."""


class Damage(TypedDict):
    """Where and how a file broke."""

    file: str
    """The file; `-` for standard input."""

    offset: int
    """Octet of the (unpacked) file at which the broken record starts."""

    after_frames: int
    """Packets read before it."""

    what: str
    """The damage, in words."""


class LinkReport(TypedDict):
    """A link of a multi-link association."""

    link_id: int | None
    """Link ID; null if no frame named it."""

    station: str | None
    """Address of the client on the link; null if no frame named it."""

    bssid: str | None
    """BSSID of the link; null if no frame named it."""


class MultiLinkReport(TypedDict):
    """A multi-link association."""

    station_mld: str
    """MLD address of the client."""

    ap_mld: str
    """MLD address of the AP."""

    links: list[LinkReport]
    """Links of the association."""


class Waits(TypedDict):
    """Seconds that each side kept the other waiting: of the time in which it was its turn to
    speak.
    """

    station: float
    """The client."""

    ap: float
    """The AP."""

    server: float
    """The authentication server behind the AP."""

    air: float
    """Frames on the air; 0 where no frame names its rate."""

    server_seen: str | None
    """Where the server's part was taken: `radius` on the wire, `air` if all that an AP took to
    answer an EAP response counts as the server's; null without EAP.
    """


class PhaseReport(TypedDict):
    """One phase."""

    phase: str
    """Its name."""

    at_s: float
    """Start, in seconds after the session's first frame."""

    duration_s: float
    """First to last frame."""

    frames: int
    """Frames."""

    octets: int
    """Octets on air."""


class RekeyReport(TypedDict):
    """A renewal of keys."""

    protocol: str
    """4-way, group, eap, rc4-key or a tunnel's protocol."""

    at_s: float
    """First frame, in seconds after the session's first."""

    duration_s: float
    """First to last frame."""

    frame: int
    """Number of the first frame."""

    frames: int
    """Frames."""

    complete: bool
    """Its last message was seen."""


class ChannelReport(TypedDict):
    """Operating channel information (IEEE 802.11-2020, 9.4.2.237)."""

    operating_class: int
    """Global operating class (table E-4)."""

    primary_channel: int
    """Number of the primary channel."""

    segment_1: int
    """Number of the centre of segment 1 of an 80+80 MHz channel, else 0."""

    width_mhz: int | None
    """Width of the class, MHz; null for an unknown class."""


class OperatingChannelsReport(TypedDict):
    """The operating channels that both ends of a handshake name."""

    protocol: str
    """4-way, group or ft."""

    at_s: float
    """The first message that names one, in seconds after the session's first frame."""

    frame: int
    """Number of that frame."""

    station: ChannelReport | None
    """The station's; null if its message was not captured or has none."""

    access_point: ChannelReport | None
    """The AP's; null if its message was not captured, not decrypted or has none."""

    mismatch: str | None
    """How they differ, or which end was captured on another channel than it names; null if all
    agree.
    """


class TunnelSetupReport(TypedDict):
    """A tunnel or a binding that was set up."""

    protocol: str
    """ikev1, ikev2, wireguard, openvpn or mobile-ip."""

    at_s: float
    """First message, in seconds after the session's first frame."""

    duration_s: float
    """First to last message."""

    messages: int
    """Messages."""


class DhcpReport(TypedDict):
    """DHCP messages of a station, those that only the MAC sent again not counted."""

    discover: int
    """Searches for servers."""

    offer: int
    """Offers of servers."""

    request: int
    """Requests for an address."""

    ack: int
    """Confirmations."""

    nak: int
    """Refusals of a server."""

    decline: int
    """Refusals of the client, as the address is in use."""


class EndReport(TypedDict):
    """The end of a session."""

    at_s: float
    """Seconds after the session's first frame."""

    frame: int
    """Its frame."""

    by: str
    """station or ap."""

    to_all: bool
    """It was for all stations of the BSS."""

    reason_code: int
    """Reason code (IEEE 802.11-2020, table 9-49)."""

    words: str
    """The end in words."""


#: The shape of [`Steps`] in a report: one entry of every list for each frame.
StepColumns = TypedDict(
    "StepColumns",
    {
        #: Seconds after the session's first frame.
        "at_s": list[float],
        #: Place of the file, from 0.
        "file": list[int],
        #: Number in the file, from 1.
        "frame": list[int],
        #: station or ap.
        "from": list[str],
        #: Phase that the frame belongs to; `rekey` and `end` follow the join.
        "phase": list[str],
        #: A retransmission.
        "again": list[bool],
        #: Name of the frame.
        "what": list[str],
    },
)


class SessionReport(TypedDict):
    """A session as it is printed."""

    station: str
    """Client."""

    bssid: str
    """AP; zeros where RADIUS does not name it."""

    ssid: str | None
    """SSID, null if it was never seen."""

    multi_link: MultiLinkReport | None
    """Both devices and their links, where the association has several; `station` and `bssid` are
    then those of the link of the association.
    """

    seen: str
    """Where it was seen: air, wire (EAPOL on Ethernet or a host's interface) or radius."""

    at_s: float
    """First frame, in seconds after the capture's first."""

    unix_s: float
    """The same, in seconds since the epoch."""

    file: int
    """Place of the file that holds the first frame, from 0."""

    frame: int
    """Number of the first frame of the attempt in its file."""

    last_frame: int
    """Number of the last frame."""

    akm: str | None
    """AKM; null if the choice was not seen."""

    cipher: str | None
    """Pairwise cipher; null if it was not seen."""

    group_cipher: str | None
    """Group cipher."""

    pmf: str | None
    """Management frame protection: none, capable or required; null if it was not seen."""

    wpa_version: int | None
    """1 for the WPA element, 2 for the RSN element; null without either."""

    eap_method: str | None
    """EAP method that the station answered in."""

    tls_version: str | None
    """TLS version that the server chose."""

    outcome: str
    """connected, failed, incomplete, or registered: Wi-Fi Protected Setup gave its credentials."""

    reason: str | None
    """Why it failed or ended, in words."""

    failures: list[str]
    """Every refusal on the way."""

    join_time_s: float | None
    """First authentication frame to message 4 of the 4-way handshake, or to the frame that lets
    the station in without one.
    """

    time_to_data_s: float | None
    """First authentication frame to the first data frame that both sides accept."""

    time_to_answer_s: float | None
    """First authentication frame to the first answer of DHCP, DHCPv6 or neighbour discovery."""

    association_time_s: float | None
    """First authentication frame to successful association response."""

    eap_time_s: float | None
    """First EAP message of the client to EAP-Success."""

    eap_time_capture_point: str
    """Where the EAP times were taken."""

    eap_time_at_server_s: float | None
    """First Access-Request to Access-Accept or Access-Reject, as a wire in the capture saw them."""

    key_handshake_time_s: float | None
    """First to last message of the key handshake of the join: 4-way (and the group handshake
    after it with WPA), FT, FILS or keys of dynamic WEP.
    """

    four_way_time_s: float | None
    """Last message 1 of the 4-way handshake to its message 4."""

    negotiation_time_s: float | None
    """First to last frame of everything negotiated to get in, tunnels included."""

    waits_s: Waits
    """Waiting times during the join, by the party that caused them."""

    authentication_messages: int
    """Messages of the join that negotiate: all but open-system authentication and association."""

    message_counts: dict[str, int]
    """The same by metric of the observation schema, with those of RADIUS."""

    messages: dict[str, int]
    """Frames of the whole session by protocol, without retransmissions."""

    retransmissions: int
    """Frames that were heard before."""

    phases: list[PhaseReport]
    """Phases of the join with time, frames and octets."""

    rekeys: list[RekeyReport]
    """Renewals of keys after the join."""

    rekeys_left_out: int
    """Renewals beyond those."""

    operating_channels: list[OperatingChannelsReport]
    """Operating channels that the ends name in each handshake; of FILS they are not read."""

    tunnels: list[TunnelSetupReport]
    """Tunnels and bindings that were set up with the join, by protocol."""

    dhcp: DhcpReport | None
    """DHCP messages; null without one."""

    end: EndReport | None
    """How the session ended; null if that was not seen."""

    data_protected: int
    """Data frames with the protected bit."""

    data_clear: int
    """Data frames without it, EAPOL not counted."""

    steps: StepColumns
    """Frames in order, by columns."""

    steps_left_out: int
    """Frames beyond those."""


class Refusal(TypedDict):
    """Equal attempts that did not connect."""

    outcome: str
    """failed or incomplete."""

    reason: str
    """Why, or after which frame the capture shows no more."""

    bssid: str
    """AP."""

    ssid: str | None
    """SSID, null if it was never seen."""

    sessions: int
    """Attempts."""

    stations: int
    """Stations that made them."""

    station: str
    """One of them."""

    first_at_s: float
    """First attempt, in seconds after the capture's first frame."""

    last_at_s: float
    """Last attempt."""

    file: int
    """File and number of the frame that begins the first attempt."""

    frame: int
    """Its number."""


class LeaveReport(TypedDict):
    """Deauthentications or disassociations of one kind."""

    bssid: str
    """The BSS."""

    by: str
    """station or ap."""

    to_all: bool
    """They are for all stations of the BSS."""

    kind: str
    """deauthentication or disassociation."""

    reason_code: int
    """Reason code (IEEE 802.11-2020, table 9-49)."""

    words: str
    """The reason in words."""

    frames: int
    """Frames, those that were sent again included."""

    first_at_s: float
    """First one, in seconds after the capture's first frame."""

    last_at_s: float
    """Last one."""

    file: int
    """File and number of the first one."""

    frame: int
    """Its number."""


class AccessPointReport(TypedDict):
    """A BSS that a beacon or a probe response announces."""

    bssid: str
    """Its address."""

    ssid: str | None
    """SSID; null if it was never seen."""

    channel: int | None
    """Primary channel that its beacons name; null at 6 GHz."""

    frequency_mhz: int | None
    """Frequency at which its beacons were heard, MHz; null where no radio header says so."""

    akms: list[str]
    """AKMs that it offers, those of WPA included; empty without RSN and WPA."""

    ciphers: list[str]
    """Pairwise ciphers; `wep` or `open` without RSN and WPA."""

    group_cipher: str | None
    """Group cipher."""

    pmf: str
    """Management frame protection: none, capable or required."""


#: One roam.
RoamReport = TypedDict(
    "RoamReport",
    {
        #: Client.
        "station": str,
        #: AP it left.
        "from": str,
        #: AP it went to.
        "to": str,
        #: First data frame through the new AP, in seconds after the capture's first frame.
        "at_s": float,
        #: Number of that frame.
        "frame": int,
        #: Last data frame through the old AP to the first through the new one, without the time in
        #: which the station was idle.
        "handover_gap_s": float,
        #: The same with it.
        "silence_s": float,
        #: Of the silence: pauses above a second in which the station could have sent.
        "idle_s": float,
        #: Of the gap: first authentication frame to association response.
        "handover_association_s": float | None,
        #: Of the gap: first to last frame of EAP.
        "handover_eap_s": float | None,
        #: Of the gap: first to last frame of the key handshake.
        "handover_keys_s": float | None,
        #: Protocols that negotiated with the new AP.
        "negotiated": list[str],
    },
)


class Checked(TypedDict):
    """Packets of one protocol by the outcome of their check."""

    verified: int
    """The authenticator fits; ESP packets and IKEv2 messages were decrypted."""

    failed: int
    """A key is there, and the authenticator does not fit."""

    no_key: int
    """No key was given, or a response without its request."""

    unchecked: int
    """Decrypted under a key whose row names no authenticator that is checked."""


class TunnelReport(TypedDict):
    """Checks of all protocols."""

    esp: Checked
    """ESP packets."""

    ikev2: Checked
    """Encrypted IKEv2 messages."""

    ikev2_payloads: dict[str, int]
    """Payloads inside decrypted IKEv2 messages by the notation of RFC 7296 section 3.2; `other`:
    of another type; `unreadable`: messages whose checksum fits and whose payloads cannot be
    read.
    """

    radius: Checked
    """RADIUS packets."""

    esp_inner_octets: int
    """Octets of the packets inside ESP, padding not counted; of nested packets those of each."""


class ByKindOfuint64(TypedDict):
    """One value for each kind."""

    management: int
    """Management frames."""

    control: int
    """Control frames."""

    payload: int
    """Application octets."""

    headers: int
    """Headers of every layer, with preambles and FCS."""

    security: int
    """Cipher overhead of data frames."""

    key_exchange: int
    """Frames that negotiate keys."""

    retries: int
    """Frames sent again."""


class ByKindOfdouble(TypedDict):
    """One value for each kind."""

    management: float
    """Management frames."""

    control: float
    """Control frames."""

    payload: float
    """Application octets."""

    headers: float
    """Headers of every layer, with preambles and FCS."""

    security: float
    """Cipher overhead of data frames."""

    key_exchange: float
    """Frames that negotiate keys."""

    retries: float
    """Frames sent again."""


class Sums(TypedDict):
    """Sums by kind."""

    frames: int
    """Frames."""

    retries: int
    """Frames with the retry bit."""

    octets: ByKindOfuint64
    """Octets on air with FCS, by kind."""

    airtime_s: ByKindOfdouble
    """Seconds on air by kind."""

    inner_headers_octets: int
    """Of `octets.headers`: LLC, network and transport headers, which the cipher covers. Those of
    frames that stay closed are in `octets.payload`.
    """

    inner_headers_airtime_s: float
    """The same of `airtime_s.headers`."""


class StationSums(TypedDict):
    """Sums of one station."""

    address: str
    """Its address."""

    rate_up_mbps: float | None
    """Mean rate of the data frames that it sent, Mb/s; null if none names its rate."""

    rate_down_mbps: float | None
    """The same of those that it was sent."""

    level_down_dbm: float | None
    """Mean level of those that it was sent, dBm; null if no radio header names it."""

    frames: int
    """Frames."""

    retries: int
    """Frames with the retry bit."""

    octets: ByKindOfuint64
    """Octets on air with FCS, by kind."""

    airtime_s: ByKindOfdouble
    """Seconds on air by kind."""

    inner_headers_octets: int
    """Of `octets.headers`: LLC, network and transport headers, which the cipher covers. Those of
    frames that stay closed are in `octets.payload`.
    """

    inner_headers_airtime_s: float
    """The same of `airtime_s.headers`."""


class Owned(TypedDict):
    """Sums of one AP."""

    address: str
    """Its address."""

    frames: int
    """Frames."""

    retries: int
    """Frames with the retry bit."""

    octets: ByKindOfuint64
    """Octets on air with FCS, by kind."""

    airtime_s: ByKindOfdouble
    """Seconds on air by kind."""

    inner_headers_octets: int
    """Of `octets.headers`: LLC, network and transport headers, which the cipher covers. Those of
    frames that stay closed are in `octets.payload`.
    """

    inner_headers_airtime_s: float
    """The same of `airtime_s.headers`."""


class Step(TypedDict):
    """Sums of one step of time."""

    second: int
    """Seconds after the first frame."""

    frames: int
    """Frames."""

    retries: int
    """Frames with the retry bit."""

    octets: ByKindOfuint64
    """Octets on air with FCS, by kind."""

    airtime_s: ByKindOfdouble
    """Seconds on air by kind."""

    inner_headers_octets: int
    """Of `octets.headers`: LLC, network and transport headers, which the cipher covers. Those of
    frames that stay closed are in `octets.payload`.
    """

    inner_headers_airtime_s: float
    """The same of `airtime_s.headers`."""


class RateCount(TypedDict):
    """Frames at one rate."""

    rate: str
    """Rate or MCS in words."""

    frames: int
    """Frames."""


class Alternative(TypedDict):
    """Octets and airtime of the data frames under another cipher."""

    cipher: str
    """The cipher."""

    octets_per_frame: int
    """Octets it adds to each frame."""

    data_airtime_s: float
    """Airtime of the data frames, in seconds."""


class LedgerReport(TypedDict):
    """The ledger as it is printed."""

    total: Sums
    """Whole capture."""

    data_frames: int
    """Plain data frames."""

    frames_without_rate: int
    """Frames whose radio header names no rate that exists."""

    security_share: float | None
    """Share of all airtime that cipher overhead and key exchange take; null without airtime."""

    retry_rate: float | None
    """Share of frames with the retry bit."""

    stations: list[StationSums]
    """Per client."""

    access_points: list[Owned]
    """Per AP."""

    step_s: int
    """Seconds in each step of `seconds`."""

    seconds: list[Step]
    """Over time; steps without frames are left out."""

    rates: list[RateCount]
    """Frames by rate or MCS."""

    data_airtime_s: float
    """Airtime of first-time data frames as captured."""

    same_traffic_under: list[Alternative]
    """The same data frames under each other cipher."""


class Report(TypedDict):
    """Everything that is printed."""

    files: list[str]
    """The files, in the order given."""

    frames: int
    """Packets."""

    protected: int
    """Data frames with the protected bit."""

    protected_mgmt: int
    """Management frames with the protected bit."""

    decrypted: int
    """Of `protected`, opened, also those before their key."""

    decrypted_mgmt: int
    """Of `protected_mgmt`, opened."""

    decrypted_late: int
    """Of `decrypted`, those that came before their key."""

    undecrypted: dict[str, int]
    """Protected data frames that stay closed, by reason."""

    undecrypted_mgmt: dict[str, int]
    """The same for management frames."""

    closed_ciphers: dict[str, int]
    """Protected data frames that stay closed, by the cipher whose octets the ledger takes off:
    the station's choice, or what the BSS announces; `unknown` where neither was captured.
    """

    skipped_keys: list[SkippedKey]
    """Rows of key logs that cannot be used."""

    michael_failures: int
    """Frames opened with TKIP whose Michael MIC is wrong."""

    refused: dict[str, int]
    """Frames opened here that a receiver refuses, by reason: `replay` (a packet number that was
    there before), `packet number out of order` (below that of a frame before it under one
    TID) and `Michael failure`.
    """

    eapol_frames: int
    """Frames with EAPOL, those seen after decryption included."""

    eap_frames: int
    """Frames with EAP."""

    kinds: Kinds
    """Frames by type."""

    link_types: list[LinkTypeReport]
    """Packets of the whole files by link type."""

    wrapped: dict[str, int]
    """Frames that were inside packets of others, by wrapper: PKTAP, TZSP, CAPWAP, GRE of Aruba,
    and PPI around another link type than 802.11.
    """

    damage: Damage | None
    """Where the first broken file broke, or null."""

    damages: list[Damage]
    """Every broken file."""

    start_s: float | None
    """First packet of the capture, in seconds since the epoch; null without packets."""

    duration_s: float
    """First to last packet (of the window)."""

    frames_without_time: int
    """Packets to which the file gives no time; they have that of the packet before."""

    sessions: list[SessionReport]
    """Sessions that were selected, by their first frame or slowest first."""

    outcomes: dict[str, int]
    """Sessions by outcome, those not listed included."""

    sessions_not_listed: int
    """Sessions that the selection leaves out."""

    sessions_left_out: int
    """Sessions beyond the table's limit."""

    refusals: list[Refusal]
    """Attempts that did not connect, equal ones together, most frequent first."""

    refusals_left_out: int
    """Groups of them beyond the limit."""

    leaves: list[LeaveReport]
    """Deauthentications and disassociations by BSS, side, receivers and reason, most frequent
    first.
    """

    leaves_left_out: int
    """Frames of further kinds."""

    access_points: list[AccessPointReport]
    """BSSs that beacons or probe responses announce."""

    roams: list[RoamReport]
    """Roams."""

    group_management: dict[str, int]
    """Group management frames with a MIC (BIP), by the outcome of its check."""

    tunnels: TunnelReport
    """Protected packets of wires, by the outcome of their check."""

    ledger: LedgerReport
    """Airtime and octets."""


class AnnouncedSuites(TypedDict):
    """Suites of an RSN or WPA element; each as OUI and type, `00-0f-ac-4`."""

    group: str | None
    """Group data cipher; null where the element leaves it out."""

    pairwise: list[str]
    """Pairwise ciphers."""

    akms: list[str]
    """AKM suites."""

    mfp_capable: bool
    """Management frames can be protected."""

    mfp_required: bool
    """Management frames must be protected."""

    group_management: str | None
    """Group management cipher; null where the element leaves it out."""


class AnnouncedBss(TypedDict):
    """Announcement of a BSS."""

    bssid: str
    """BSSID."""

    ssid: str
    """Name of the network; empty where it is hidden."""

    frequency_mhz: int | None
    """Centre of the primary channel, MHz; null where the receiver does not state it."""

    signal_dbm: float | None
    """Level at the receiver, dBm; null where it does not state it."""

    interval_tu: int
    """Beacon interval, time units of 1024 us."""

    privacy: bool
    """Data frames are encrypted."""

    short_preamble: bool
    """Short preambles are allowed."""

    rates_mbps: list[float]
    """Supported rates, Mb/s."""

    basic_rates_mbps: list[float]
    """Those of them that every station must know."""

    phy: str
    """Newest generation of the PHY, by its name in studies."""

    channel: int | None
    """Number of the primary channel; null where no element states it."""

    width_mhz: int
    """Channel width, MHz."""

    dtim_period: int | None
    """Beacons from one DTIM to the next; null in a probe response."""

    country: str | None
    """Two letters of the regulatory domain."""

    rsn: AnnouncedSuites | None
    """RSN element."""

    wpa: AnnouncedSuites | None
    """WPA element."""

    wps: bool
    """Wi-Fi Protected Setup is on."""

    owe_transition: bool
    """Another BSS is named for stations without OWE."""

    overriding: bool
    """An element overrides the RSN element for newer stations."""

    mobility_domain: bool
    """A mobility domain is announced."""

    stations: int | None
    """Associated stations, as the access point states them."""

    busy_share: float | None
    """Share of time for which the access point finds the channel busy, 0 to 1."""

    damaged: bool
    """An element cannot be read."""


class OfferReport(TypedDict):
    """The offer of a security element. Suites are selectors as hostapd prints them."""

    group: str | None
    """Group cipher."""

    pairwise: list[str]
    """Pairwise ciphers."""

    akms: list[str]
    """AKMs."""

    pmf: str
    """Protected management frames: off, optional or required."""


class NetworkReport(TypedDict):
    """A network as its beacons announce it."""

    bssid: str
    """BSSID."""

    ssid: str | None
    """SSID; null where every frame hides it."""

    frames: int
    """Beacons and probe responses."""

    frame: int
    """Place of the first of them among all packets, from 1."""

    frequency_mhz: int | None
    """Frequency of the radio that captured the last one, MHz."""

    signal_dbm: int | None
    """Its signal, dBm."""

    channel: int | None
    """Number of the primary channel."""

    width_mhz: int
    """Channel width, MHz."""

    phy: str | None
    """Newest PHY that it announces; null where only the band could tell (802.11a or g)."""

    at_6ghz: bool
    """Whether it is at 6 GHz."""

    rates_mbps: list[float]
    """Rates, Mb/s."""

    basic_rates_mbps: list[float]
    """Of them the basic ones."""

    beacon_interval_tu: int
    """Beacon interval, time units of 1024 us."""

    country: str | None
    """Country, two letters."""

    stations: int | None
    """Stations, by the BSS Load element."""

    privacy: bool
    """Privacy bit."""

    wpa: OfferReport | None
    """The WPA element (version 1)."""

    rsn: OfferReport | None
    """The RSN element."""

    rsn_override: OfferReport | None
    """RSNE Override."""

    rsn_override_2: OfferReport | None
    """RSNE Override 2."""

    owe_transition: bool
    """OWE Transition Mode element."""

    mobility_domain: str | None
    """Mobility domain of fast transition, four hexadecimal digits in the order of hostapd.conf."""

    other_elements: list[str]
    """Elements that are not read: number, `255.` and the extension, or `221` with OUI and type."""


class NetworksReport(TypedDict):
    """Every network of some captures."""

    networks: list[NetworkReport]
    """Networks in the order of their first frame."""

    left_out: int
    """BSSs beyond the limit."""

    frames: int
    """Packets of the files."""


class AkmRow(TypedDict):
    """An AKM suite."""

    name: str
    """Its name."""

    selector: str
    """OUI and suite type as hostapd prints them: `00-0f-ac-2`."""

    suite_type: int
    """The number behind the OUI (IEEE 802.11-2020 table 9-151)."""

    policy_word: str
    """Word of the AKM in policy names."""

    generations: list[str]
    """Generations of links whose policies may use it: wpa, wpa2, wpa3, owe."""

    pairwise: str | None
    """The one pairwise suite that may be used; null where there are several."""

    hash_octets: int | None
    """Octets of its hash; null where the Diffie-Hellman group decides."""

    authentication: str
    """The 802.11 authentication algorithm of the first association: open, sae or ft."""

    is_8021x: bool
    """Whether 802.1X comes before the key handshake."""

    is_psk: bool
    """Whether the pre-shared key is the PMK."""

    is_sae: bool
    """Whether it authenticates with SAE."""

    is_ft: bool
    """Whether it uses the fast-transition key hierarchy."""

    is_192_bit: bool
    """Whether it belongs to WPA3-Enterprise's 192-bit mode."""

    requires_pmf: bool
    """Whether protected management frames are mandatory."""

    requires_hash_to_element: bool
    """Whether SAE must derive its password element by hash-to-element."""

    has_forward_secrecy: bool
    """Whether it gives forward secrecy by itself."""

    caches_pmk: bool
    """Whether both ends may keep the PMK for a later association."""

    is_draft: bool
    """Whether no published standard has it."""


class CipherRow(TypedDict):
    """A cipher suite of the link."""

    name: str
    """Its name."""

    selector: str | None
    """OUI and suite type in an RSNE; null for `open`."""

    wpa_selector: str | None
    """The same in the element of WPA version 1; null for suites that it does not know."""

    mpdu_octets: int
    """Octets added to each MPDU."""

    msdu_octets: int
    """Octets added to each MSDU before fragmentation."""

    key_octets: int
    """Octets of its key."""

    is_group_management: bool
    """Whether it protects group-addressed management frames."""

    permits_high_throughput: bool
    """Whether HT, VHT and HE rates may be used."""


class EapRow(TypedDict):
    """An EAP method."""

    name: str
    """Its name."""

    number: int
    """Method type (IANA)."""

    gives_keys: bool
    """Whether it gives an MSK."""

    uses_tls: bool
    """Whether it runs TLS."""

    runs_tls13: bool
    """Whether it runs TLS 1.3 here."""

    uses_password: bool
    """Whether the station has a password."""

    inner: str | None
    """The authentication inside the TLS tunnel; null where there is none."""


class TunnelRow(TypedDict):
    """A network-layer tunnel."""

    name: str
    """Its name."""

    encryption: str
    """Encryption algorithm."""

    integrity: str
    """Integrity algorithm; none where the encryption authenticates."""


class SpacesRow(TypedDict):
    """Interframe spaces of a PHY generation in a band."""

    band: str
    """The band: 2.4ghz, 5ghz or 6ghz."""

    slot_us: float
    """Slot, microseconds."""

    sifs_us: float
    """SIFS, microseconds."""

    cw_min: int
    """Smallest contention window, slots."""

    signal_extension_us: float
    """Signal extension, microseconds."""


class GenerationRow(TypedDict):
    """A PHY generation."""

    name: str
    """Name of the standard."""

    format: str
    """Format of its frames."""

    bands: list[SpacesRow]
    """Interframe spaces by band, those of the default band first."""

    widths_mhz: list[int]
    """Channel widths, MHz."""

    guard_intervals_ns: list[int]
    """Guard intervals, nanoseconds."""

    rates_mbps: list[float]
    """Rates without MCS, Mb/s."""

    mandatory_rates_mbps: list[float]
    """Of them the mandatory ones: every DSSS rate, or 6, 12 and 24 Mb/s (16.2.3.4, 17.3.8.3)."""

    dsss: bool
    """Whether it has DSSS rates only."""

    mcs_top: int | None
    """Highest MCS; null without MCSs."""

    streams: int | None
    """Most spatial streams; null without MCSs."""

    ampdu_octets: int | None
    """Most octets of an A-MPDU; null without aggregation."""

    window: int | None
    """Most MPDUs of an A-MPDU; null without aggregation."""

    multi_user_mhz: int | None
    """Widest channel of PPDUs that several users share by OFDMA, MHz; null without."""

    shortest_preamble_us: float
    """Shortest preamble, microseconds."""

    long_preamble_us: float
    """Preamble of the longest form, microseconds."""

    symbol_us: float | None
    """A data symbol with the shortest guard interval, microseconds; null for DSSS."""

    service_and_tail_bits: int | None
    """Bits of the SERVICE field and of the tail; null for DSSS."""


class WeakLinkRow(TypedDict):
    """A station whose fixed rate loses most frames of 1500 octets."""

    station: str
    """Its name."""

    level_dbm: float
    """Level of the weaker direction, dBm."""

    needed_dbm: float
    """Level that the rate needs, dBm."""


class BlackHoleRow(TypedDict):
    """A flow of TCP whose full packets vanish."""

    flow: str
    """Its name."""

    octets: int
    """Length of its full packets, octets."""

    mtu_octets: int
    """MTU of the path, octets."""

    found: bool
    """Whether the sender finds shorter segments."""


class FragmentedFlowRow(TypedDict):
    """A flow of UDP whose datagrams travel in fragments."""

    flow: str
    """Its name."""

    payload_octets: int
    """Payload of its datagrams, octets."""

    fits_octets: int
    """The longest payload that travels in one packet, octets."""

    mtu_octets: int
    """The least MTU at which its datagrams are whole, octets."""

    by_tunnel: bool
    """Whether they would be whole without a tunnel."""


class ProbeResponseRow(TypedDict):
    """The Probe Response of one network."""

    bss: str
    """The BSS of its access point."""

    own: bool
    """Whether that is a BSS whose results count."""

    octets: int
    """Length with FCS, octets."""

    length_s: float
    """Airtime of one attempt, s."""

    attempts: int
    """Attempts where its station has left."""


class ProbeTrafficRow(TypedDict):
    """Probe traffic of stations that pass by, and its share of the air without waiting."""

    request_octets: int
    """Length of a Probe Request with FCS, octets."""

    request_s: float
    """Airtime of a Probe Request, s."""

    responses: list[ProbeResponseRow]
    """The responses of all access points that sense it."""

    share: float
    """Share of the air that requests, responses and their Acks take."""


class VectorRow(TypedDict):
    """A published test vector."""

    vector: str
    """Its name."""

    source: str
    """Where it is published."""

    passed: bool
    """Whether the result is the published one."""


class CipherSubjectRow(TypedDict):
    """A cipher that can be measured."""

    name: str
    """Its name."""

    kind: str
    """`link` or `tunnel`."""

    modes: list[str]
    """Ways in which it can run here."""


class OperationSubjectRow(TypedDict):
    """A public-key operation of the handshakes that can be measured."""

    name: str
    """Its name."""

    implementation: str
    """The library that carries it out."""

    units: int
    """Units in a call."""

    unit: str
    """The unit."""


class MediumRadioCounts(TypedDict):
    """Counts of one radio."""

    name: str
    """Its name."""

    data_attempts: dict[str, int]
    """Attempts of unicast data frames with a payload, by the name of the rate (`rates::name`);
    without EAPOL in clear.
    """

    frames: int
    """Frames that mac80211 gave."""

    sent: int
    """Of them: sent, and acknowledged or needing no acknowledgement."""

    given_up: int
    """Of them: given up after the last attempt."""

    queue_drops: int
    """Of them: dropped at a full queue, though reported as acknowledged."""

    attempts: int
    """Times that a data or management frame was put on the air."""

    retries: int
    """Of them: not the first of their frame."""

    collisions: int
    """Attempts that overlapped with another transmission at their receiver."""

    received: int
    """Frames delivered to it."""

    octets: int
    """Octets of the frames sent (FCS included, each frame once)."""

    air_s: float
    """Time that it transmitted: data, responses and protection, s."""

    longest_queue: int
    """Most frames that waited in one of its queues."""


class MediumChannelCounts(TypedDict):
    """Counts of one channel."""

    frequency_mhz: int
    """Centre frequency."""

    busy_s: float
    """Time that at least one transmission was on, s."""


class MediumDeviceCounts(TypedDict):
    """Counts of one device."""

    name: str
    """Names of its radios, or which host it is."""

    cpu_s: float
    """Time that its CPU worked or has yet to work, s."""

    engines_s: float
    """The same of its cipher engines together."""


#: Which way a flow of a simulated station goes.
MediumFlowDirection = Literal["up", "down"]


class MediumFlowCounts(TypedDict):
    """Counts of one flow of a simulated station, of what happened in the counted time."""

    station: str
    """Name of its station."""

    direction: MediumFlowDirection
    """Which way it goes."""

    counted_s: float
    """Counted time so far, s."""

    offered: int
    """MSDUs for its queue; a saturated flow counts those that its queue took."""

    delivered: int
    """MSDUs that arrived."""

    octets: int
    """Octets of the MSDUs that arrived."""

    attempts: int
    """Times that one was put on the air and was done with: acknowledged or given up."""

    given_up: int
    """MSDUs without an acknowledgement after their last attempt, of which none had arrived."""

    queue_drops: int
    """MSDUs that found their queue full."""

    delay_mean_s: float
    """Mean time from the queue to the arrival, s; 0 where none arrived."""

    delay_longest_s: float
    """The longest, s."""


class MediumLateness(TypedDict):
    """How late deliveries were made, against the instants at which the air let them through."""

    happenings: int
    """Deliveries and reports made."""

    mean_s: float
    """Their mean lateness, s."""

    most_s: float
    """The largest, s."""


class MediumStatistics(TypedDict):
    """Counts of the medium and of the program around it."""

    span_s: float
    """Time that the counts cover, s."""

    airtime: bool
    """Whether anything took airtime."""

    radios: list[MediumRadioCounts]
    """By radio, in the order of the settings."""

    channels: list[MediumChannelCounts]
    """By channel, in the order of first use."""

    devices: NotRequired[list[MediumDeviceCounts]]
    """By device, those with radios first; none where the settings have none."""

    flows: NotRequired[list[MediumFlowCounts]]
    """By flow of simulated stations, in the order of their radios; none where there are none."""

    lateness: MediumLateness
    """How late deliveries and reports were."""

    refused: int
    """Messages that the kernel refused: to radios that are down or on another channel."""

    overruns: int
    """Times that the kernel had more frames than the socket could hold."""
