"""What a policy is made of: values only.

Takes nothing; gives the frozen types that the catalogue is written in.
Never parses a name and never does IO.

Octet counts: IEEE 802.11-2020 clause 12.3.2 (WEP), 12.5.2 (TKIP), 12.5.3 (CCMP), 12.5.5 (GCMP).
"""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen


class Cipher(StrEnum):
    """A pairwise cipher suite of the link, by its airtoll name."""

    NONE = "open"
    WEP_40 = "wep-40"
    WEP_104 = "wep-104"
    TKIP = "tkip"
    CCMP_128 = "ccmp-128"
    CCMP_256 = "ccmp-256"
    GCMP_128 = "gcmp-128"
    GCMP_256 = "gcmp-256"

    @property
    def mpdu_octets(self) -> int:
        """Octets added to each MPDU: header before, ICV or MIC behind."""
        return _MPDU_OCTETS[self]

    @property
    def msdu_octets(self) -> int:
        """Octets added to each MSDU before fragmentation: TKIP's Michael."""
        return 8 if self is Cipher.TKIP else 0

    @property
    def ht_allowed(self) -> bool:
        """Whether HT, VHT and HE rates may be used (802.11-2020 clause 12.2.4, 12.6.1.1.2)."""
        return self not in (Cipher.WEP_40, Cipher.WEP_104, Cipher.TKIP)


_MPDU_OCTETS = {
    Cipher.NONE: 0,
    Cipher.WEP_40: 8,
    Cipher.WEP_104: 8,
    Cipher.TKIP: 12,
    Cipher.CCMP_128: 16,
    Cipher.CCMP_256: 24,
    Cipher.GCMP_128: 24,
    Cipher.GCMP_256: 24,
}


class Generation(StrEnum):
    """Which security architecture the link uses."""

    OPEN = "open"
    PRE_RSNA = "pre-rsna"  # WEP
    PORT_CONTROL = "802.1x"  # 802.1X without RSN keys
    WPA = "wpa"
    WPA2 = "wpa2"
    WPA3 = "wpa3"
    OWE = "owe"


class AccessControl(StrEnum):
    """What a policy adds without touching a data frame."""

    MAC_ACL = "mac-acl"
    FIREWALL = "firewall"


@frozen
class Link:
    """Link-layer security.

    ``akm``: suite type of 00-0F-AC (802.11-2020 table 9-151), ``None`` without RSN or WPA keys.
    ``eap_method``: md5, tls, ttls, peap or leap; ``None`` without 802.1X.
    ``authentication``: the 802.11 authentication algorithm: open, shared-key, sae or ft.
    ``pmf``: protected management frames: off, optional or required.
    """

    generation: Generation
    cipher: Cipher
    group_cipher: Cipher
    akm: int | None = None
    akm_name: str | None = None
    eap_method: str | None = None
    authentication: str = "open"
    pmf: str = "off"
    fast_transition: bool = False
    dynamic_wep: bool = False
    encrypts_data: bool = True
    transition: str | None = None


@frozen
class Tunnel:
    """A network-layer tunnel.

    ``kind``: esp or wireguard. ``encryption``: null, des, 3des, aes-cbc, aes-gcm or
    chacha20-poly1305. ``integrity``: none, md5 or sha1. ``key_exchange``: ikev1, ikev2, noise.
    """

    kind: str
    encryption: str
    integrity: str
    key_exchange: str


@frozen
class Services:
    """Security services offered; the columns of Agarwal and Wang's Table I, and one more."""

    authentication: bool
    confidentiality: bool
    integrity: bool
    non_repudiation: bool
    mutual_authentication: bool
    forward_secrecy: bool

    def names(self) -> tuple[str, ...]:
        """The services that are offered, in the order of the fields."""
        return tuple(name.replace("_", "-") for name in SERVICE_NAMES if bool(getattr(self, name)))


SERVICE_NAMES = (
    "authentication",
    "confidentiality",
    "integrity",
    "non_repudiation",
    "mutual_authentication",
    "forward_secrecy",
)


@frozen
class Reference:
    """What is broken or weak, and who showed it."""

    what: str
    source: str


@frozen
class Policy:
    """One set of security mechanisms, layer by layer.

    ``broken``: mechanisms that are cryptographically broken or withdrawn. ``weaknesses``: what
    sound ones leave open when used badly, for too long, or alone.
    """

    name: str
    link: Link
    tunnels: tuple[Tunnel, ...]
    access_control: tuple[AccessControl, ...]
    services: Services
    broken: tuple[Reference, ...]
    weaknesses: tuple[Reference, ...]

    @property
    def is_baseline(self) -> bool:
        """Whether this is ``open``: nothing at any layer."""
        return self.name == "open"

    @property
    def octets_per_mpdu(self) -> int:
        """Octets that the link cipher adds to each data MPDU."""
        return self.link.cipher.mpdu_octets if self.link.encrypts_data else 0

    @property
    def octets_per_msdu(self) -> int:
        """Octets that the link cipher adds to each MSDU."""
        return self.link.cipher.msdu_octets if self.link.encrypts_data else 0

    @property
    def ht_allowed(self) -> bool:
        """Whether the policy leaves HT, VHT and HE rates usable."""
        return not self.link.encrypts_data or self.link.cipher.ht_allowed
