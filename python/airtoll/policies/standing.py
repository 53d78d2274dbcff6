"""How a policy stands today: withdrawn algorithms, caveats, credentials, rule sets.

Every judgement names its source. Strength orders policies that cost the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal

from attrs import frozen

from airtoll.policies.gates import why_not_at_6ghz, why_not_eht
from airtoll.policies.model import Generation, Link, Policy, Reference, Tunnel

Credentials = Literal["none", "shared", "personal", "certificates"]
CREDENTIALS: Final[tuple[Credentials, ...]] = ("none", "shared", "personal", "certificates")

TRIPLE_DES_WITHDRAWN: Final = Reference(
    "3DES may not encrypt since 2024",
    "NIST SP 800-131A rev. 2 section 2 (disallowed after 2023); RFC 8221 section 5 "
    "(ESP: SHOULD NOT)",
)
HMAC_MD5_WITHDRAWN: Final = Reference(
    "IPsec must not use HMAC-MD5",
    "RFC 8221 section 6 (ESP, AH: MUST NOT); RFC 8247 sections 2.2 and 2.3 (IKEv2: MUST NOT)",
)
IKEV1_WITHDRAWN: Final = Reference(
    "IKEv1 is deprecated, and its specifications are historic", "RFC 9395 section 3"
)

PEAP_CAVEAT: Final = Reference(
    "stations must check the server's certificate and name; otherwise a rogue access point gets "
    "the password exchange",
    "RFC 5281 section 14.1; Brenza, Degabriele, Hamm, WiSec 2015",
)
OWE_CAVEAT: Final = Reference(
    "neither end is authenticated: a rogue access point is not noticed", "RFC 8110 section 7"
)
DRAFT_CAVEAT: Final = Reference(
    "draft: no published standard has it, and the layout of its frames is airtoll's assumption",
    "IEEE 802.11bt works on it and has published nothing",
)
TRANSITION_CAVEAT: Final = Reference(
    "a station can be led to the weaker policy by a rogue access point",
    "Vanhoef, Ronen, Dragonblood, IEEE S&P 2020",
)
NO_PMF_CAVEAT: Final = Reference(
    "deauthentication frames can be forged: management frames are not protected",
    "IEEE 802.11-2020 clause 12.2.7; Bellardo, Savage, USENIX Security 2003",
)


def withdrawn(tunnels: Sequence[Tunnel]) -> tuple[Reference, ...]:
    """Algorithms of tunnels that their standards bodies have withdrawn."""
    found = []
    if any(tunnel.encryption == "3des" for tunnel in tunnels):
        found.append(TRIPLE_DES_WITHDRAWN)
    if any(tunnel.integrity == "md5" for tunnel in tunnels):
        found.append(HMAC_MD5_WITHDRAWN)
    if any(tunnel.key_exchange == "ikev1" for tunnel in tunnels):
        found.append(IKEV1_WITHDRAWN)
    return tuple(found)


def caveats(link: Link) -> tuple[Reference, ...]:
    """Risks of a sound link policy that its user has to know."""
    found = []
    if link.eap_method is not None and link.eap_method.uses_tls and link.eap_method.uses_password:
        found.append(PEAP_CAVEAT)
    if link.generation is Generation.OWE:
        found.append(OWE_CAVEAT)
    if link.akm is not None and link.akm.is_draft:
        found.append(DRAFT_CAVEAT)
    if link.transition is not None:
        found.append(TRANSITION_CAVEAT)
    if link.generation in (Generation.WPA, Generation.WPA2) and link.pmf == "off":
        found.append(NO_PMF_CAVEAT)
    return tuple(found)


def needs_8021x(policy: Policy) -> bool:
    """Whether the policy needs a RADIUS server."""
    return policy.link.eap_method is not None


def credentials(policy: Policy) -> Credentials:
    """The secret that a user brings to the link, or to the tunnel of an open link."""
    if policy.link.eap_method is not None:
        return "personal" if policy.link.eap_method.uses_password else "certificates"
    if policy.link.generation in (Generation.OPEN, Generation.OWE):
        # Each peer of a tunnel has a key pair of its own.
        return "personal" if policy.tunnels else "none"
    return "shared"


def requires_pmf(policy: Policy) -> bool:
    """Whether management frames are always protected."""
    return policy.link.pmf == "required"


def allowed_at_6ghz(policy: Policy) -> bool:
    """Whether the link may be used at 6 GHz (``gates``)."""
    return why_not_at_6ghz(policy) is None


def strength(policy: Policy) -> tuple[int, ...]:
    """Order of policies that cost the same: the larger tuple is the stronger policy.

    Security services first, then protected management frames, credentials of the user's own, bits
    of the cipher's key, SAE with hash-to-element, and the absence of caveats.
    """
    akm = policy.link.akm
    return (
        len(policy.services.names()),
        int(requires_pmf(policy)),
        CREDENTIALS.index(credentials(policy)),
        256 if policy.link.cipher in _LONG_KEYS else 128 if policy.link.encrypts_data else 0,
        int(akm is not None and akm.requires_hash_to_element),
        -len(policy.weaknesses),
    )


_LONG_KEYS: Final = ("ccmp-256", "gcmp-256")


@frozen
class RuleSet:
    """A named set of rules: its source, and the reasons for which a policy breaks it."""

    title: str
    source: str
    breaks: Callable[[Policy], str | None]


def _pci_dss(policy: Policy) -> str | None:
    if policy.broken:
        return f"no strong cryptography: {policy.broken[0].what}"
    if not policy.services.confidentiality:
        return "transmissions are not encrypted"
    if not policy.services.authentication:
        return "neither end is authenticated"
    if policy.link.transition is not None:
        return "stations may fall back to a weaker policy"
    return None


def _192_bit(policy: Policy) -> str | None:
    link = policy.link
    if link.akm is None or not link.akm.is_192_bit:
        return "the AKM must be one of the 192-bit mode, with EAP-TLS and GCMP-256"
    return None


RULE_SETS: Final[dict[str, RuleSet]] = {
    "wpa3-wifi7": RuleSet(
        "WPA3 for Wi-Fi 7",
        "Wi-Fi Alliance, WPA3 Specification; IEEE 802.11be-2024",
        why_not_eht,
    ),
    "pci-dss-4": RuleSet(
        "PCI DSS 4",
        "PCI Security Standards Council, PCI DSS v4.0.1, requirement 4.2.1.2 (strong cryptography "
        "for authentication and transmission) with its good practice (no fallback)",
        _pci_dss,
    ),
    "192-bit": RuleSet(
        "WPA3-Enterprise 192-bit",
        "Wi-Fi Alliance, WPA3 Specification; RFC 9151 (CNSA)",
        _192_bit,
    ),
}
