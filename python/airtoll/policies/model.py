"""The parts of a policy: values only.

Takes nothing; gives the frozen types that the catalogue is written in.
Never parses a name and never does IO. The facts of suites and methods are in ``suites``.
"""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen

from airtoll import border
from airtoll.policies.suites import Akm, Cipher, EapMethod, esp_suites


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
    """Access control that changes no data frame."""

    MAC_ACL = "mac-acl"
    FIREWALL = "firewall"


@frozen
class Link:
    """Link-layer security.

    ``akm``: ``None`` without RSN or WPA keys. ``eap_method``: ``None`` without 802.1X.
    ``authentication``: the 802.11 authentication algorithm: open, shared-key, sae or ft.
    ``pmf``: protected management frames: off, optional or required. ``transition``: the older link
    that the access point offers, too. ``overriding``: links of RSN overriding, whose RSN element is
    that of the older link (``transition`` module).
    """

    generation: Generation
    cipher: Cipher
    group_cipher: Cipher
    akm: Akm | None = None
    eap_method: EapMethod | None = None
    authentication: str = "open"
    pmf: str = "off"
    fast_transition: bool = False
    dynamic_wep: bool = False
    encrypts_data: bool = True
    transition: str | None = None
    overriding: tuple[str, ...] = ()


@frozen
class Tunnel:
    """A network-layer tunnel.

    ``kind``: esp, wireguard or openvpn. ``encryption``: null, des, 3des, aes-cbc, aes-gcm or
    chacha20-poly1305. ``integrity``: none, md5 or sha1. ``key_exchange``: ikev1, ikev2, noise,
    tls.
    """

    kind: str
    encryption: str
    integrity: str
    key_exchange: str

    @property
    def suite(self) -> str:
        """The transform's name in device profiles and in the simulator."""
        if self.kind == "wireguard":
            return self.kind
        if self.kind == "openvpn":
            return "openvpn-aes-gcm"
        return esp_suites()[self.encryption, self.integrity]


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
    """A break or a weakness, and its publication."""

    what: str
    source: str


@frozen
class Policy:
    """One set of security mechanisms, layer by layer.

    ``tunnels``: the innermost first. ``broken``: mechanisms that are cryptographically broken or
    withdrawn. ``weaknesses``: risks of sound mechanisms that are used with a weak secret, for too
    long, or alone.
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
        """Whether this is ``open``: no mechanism at any layer."""
        return self.name == "open"

    def native(self) -> border.PolicySpec:
        """The part of the policy that the handshakes need, as it crosses the border."""
        link = self.link
        method = link.eap_method
        return border.PolicySpec(
            name=self.name,
            link=border.LinkSpec(
                cipher=border.CipherSuite(link.cipher),
                group_cipher=border.CipherSuite(link.group_cipher),
                akm=None if link.akm is None else border.AkmSuite(link.akm),
                eap_method=None if method is None else border.EapMethod(method),
                authentication=border.AuthenticationAlgorithm(link.authentication),
                pmf=border.ManagementProtection(link.pmf),
                dynamic_wep=link.dynamic_wep,
            ),
            tunnels=tuple(
                border.TunnelSpec(
                    suite=border.TunnelSuite(tunnel.suite),
                    key_exchange=border.KeyExchange(tunnel.key_exchange),
                )
                for tunnel in self.tunnels
            ),
        )

    @property
    def data_frames(self) -> tuple[object, ...]:
        """The parts that act on data frames, of stations that are in: the ciphers of their link and
        the tunnels. Policies with equal parts have the same data frames."""
        ciphers = (self.link.cipher, self.link.group_cipher) if self.link.encrypts_data else ()
        return (*ciphers, *(tunnel.suite for tunnel in self.tunnels))

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
