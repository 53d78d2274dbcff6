"""Policy names: the meaning of each part, and which parts may be joined.

Takes a canonical name such as ``wpa2-eap-peap-ccmp+ipsec-aes-gcm``; gives a :class:`Policy`.
Never resolves an alias (see ``catalogue``).

    name     = link *( "+" part )
    link     = "open" / wep / "8021x-" method / owe / rsn / transition
    wep      = "wep-" ("40" / "104") [ "-shared" / "-auth" ]
    owe      = ("owe" / "owe-draft-mlkem768") "-" cipher
    rsn      = generation "-" akm [ "-" method ] "-" cipher
    part     = wep (after 8021x only) / tunnel / "mac-acl" / "firewall"
    tunnel   = "ipsec-" encryption [ "-" integrity ] [ "-ikev1" / "-ikev2" ] / "wireguard" /
               "openvpn"

A name may also begin with a tunnel or an access control; the link is then ``open``. Of several
tunnels the first one is innermost, and the last one is next to the link.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product

from attrs import evolve

from airtoll.errors import PolicyError
from airtoll.policies.model import (
    AccessControl,
    Generation,
    Link,
    Policy,
    Reference,
    Services,
    Tunnel,
)
from airtoll.policies.standing import caveats, withdrawn
from airtoll.policies.suites import (
    Akm,
    Cipher,
    EapMethod,
    akm_of,
    akm_words,
    eap_methods,
    esp_suites,
)

_CIPHERS = {
    "tkip": Cipher.TKIP,
    "ccmp": Cipher.CCMP_128,
    "ccmp-256": Cipher.CCMP_256,
    "gcmp": Cipher.GCMP_128,
    "gcmp-256": Cipher.GCMP_256,
}
_GENERATION_CIPHERS = {
    "wpa": ("tkip", "ccmp"),
    "wpa2": ("tkip", "ccmp", "ccmp-256", "gcmp", "gcmp-256"),
    "wpa3": ("ccmp", "ccmp-256", "gcmp", "gcmp-256"),
}
_TRANSITIONS = {
    "wpa-wpa2-psk-transition": ("wpa2-psk-ccmp", Cipher.TKIP, "wpa-psk-tkip"),
    "wpa2-wpa3-psk-transition": ("wpa3-sae-ccmp", Cipher.CCMP_128, "wpa2-psk-ccmp"),
    "wpa2-wpa3-psk-compatibility": ("wpa3-sae-ccmp", Cipher.CCMP_128, "wpa2-psk-ccmp"),
    "owe-transition": ("owe-ccmp", Cipher.CCMP_128, "open"),
    "tsn-wep-104": ("wpa-psk-tkip", Cipher.WEP_104, "wep-104"),
}
#: Links in RSNE Override and RSNE Override 2 (``transition``).
_OVERRIDING = {"wpa2-wpa3-psk-compatibility": ("wpa3-sae-ccmp", "wpa3-sae-ext-gcmp-256")}

WEP_BROKEN = Reference(
    "the key is recovered from captured frames in minutes",
    "Fluhrer, Mantin, Shamir, SAC 2001; Tews, Weinmann, Pyshkin, WISA 2007; "
    "deprecated by IEEE 802.11-2020 clause 12.3.1",
)
TKIP_BROKEN = Reference(
    "frames can be decrypted and forged; RC4 biases",
    "Tews, Beck, WiSec 2009; Vanhoef, Piessens, USENIX Security 2015; "
    "deprecated by IEEE 802.11-2020 clause 12.1",
)
LEAP_BROKEN = Reference(
    "the MSCHAP challenge and response cross the air in clear: passwords fall to a dictionary",
    "Wright, asleap, DEF CON 11, 2003",
)
MD5_BROKEN = Reference(
    "no server authentication, no key, dictionary attack on one captured exchange",
    "RFC 4017 section 3; RFC 3748 section 5.4",
)
BROKEN_METHODS = {"leap": LEAP_BROKEN, "md5": MD5_BROKEN}
PSK_DICTIONARY = Reference(
    "one captured 4-way handshake lets passphrases be tried off-line",
    "Moskowitz, 2003; IEEE 802.11-2020 clause 12.7.1.1",
)
DES_BROKEN = Reference("56-bit keys are searched exhaustively", "RFC 4772")
SWEET32 = Reference(
    "64-bit blocks repeat after 32 GB under one key", "Bhargavan, Leurent, CCS 2016"
)
OPEN_NOTHING = Reference("anybody can read and forge every frame", "no mechanism at any layer")


@lru_cache(maxsize=4096)
def parse(name: str) -> Policy:
    """The policy of a canonical name.

    Raises ``PolicyError`` that names the part that cannot be read, and the allowed parts.
    """
    link: Link | None = None
    tunnels: list[Tunnel] = []
    access: list[AccessControl] = []
    for part in name.split("+"):
        if part in (a.value for a in AccessControl):
            access.append(AccessControl(part))
        elif part in ("wireguard", "openvpn") or part.startswith("ipsec-"):
            tunnels.append(_tunnel(part, name))
        elif part in ("wep-40", "wep-104") and link is not None:
            link = _static_wep_after_8021x(link, part, name)
        elif link is None and not tunnels and not access:
            link = _link(part, name)
        else:
            raise PolicyError(
                f"policy {name!r}: {part!r} cannot follow {name.split('+')[0]!r}; "
                "allowed after '+': wep-40 or wep-104 (after 8021x-...), ipsec-..., wireguard, "
                "openvpn, mac-acl, firewall"
            )
    link = link or _link("open", name)
    return Policy(
        name=name,
        link=link,
        tunnels=tuple(tunnels),
        access_control=tuple(access),
        services=_services(link, tunnels),
        broken=(*_broken(link, tunnels), *withdrawn(tunnels)),
        weaknesses=(*_weaknesses(link, tunnels), *caveats(link)),
    )


def link_names() -> list[str]:
    """The names of all links with an AKM that the grammar composes."""
    found = []
    for generation, ciphers in _GENERATION_CIPHERS.items():
        for word in akm_words(generation):
            methods = [m for m in eap_methods() if m.gives_keys] if word.endswith("eap") else [None]
            for method, cipher in product(methods, ciphers):
                parts = [generation, word, *([method] if method else []), cipher]
                found.append("-".join(parts))
    return [name for name in found if _is_policy(name)]


def _is_policy(name: str) -> bool:
    try:
        parse(name)
    except PolicyError:
        return False
    return True


@lru_cache(maxsize=4096)
def link_name(
    akm: Akm, cipher: Cipher, method: EapMethod | None = None, pmf: str | None = None
) -> str | None:
    """The name of the link with these parts, or None where no policy has them together.

    ``pmf`` tells generations apart where both have the AKM: WPA3 requires it.
    """
    words = [word for word, known in _CIPHERS.items() if known is cipher]
    if not words or not akm.generations or akm.is_8021x is (method is None):
        return None
    generation = akm.generations[0]
    if pmf == "required" and "wpa3" in akm.generations:
        generation = "wpa3"
    parts = [] if generation == "owe" else [generation]
    parts += [akm.policy_word, *([method] if method else []), *words]
    try:
        name = "-".join(parts)
        return name if parse(name).link.akm == akm else None
    except PolicyError:
        return None


def _link(part: str, name: str) -> Link:
    if part == "open":
        return Link(Generation.OPEN, Cipher.NONE, Cipher.NONE, encrypts_data=False)
    if part.startswith("wep-"):
        return _wep(part, name)
    if part.startswith("8021x-"):
        method = part.removeprefix("8021x-")
        if method not in eap_methods():
            raise PolicyError(
                f"policy {name!r}: unknown EAP method {method!r}; known: {', '.join(eap_methods())}"
            )
        return Link(
            Generation.PORT_CONTROL,
            Cipher.NONE,
            Cipher.NONE,
            eap_method=EapMethod(method),
            encrypts_data=False,
        )
    if part in _TRANSITIONS:
        inner, group, other = _TRANSITIONS[part]
        link = _link(inner, name)
        mixed = part.startswith("wpa2-wpa3")
        pmf = link.pmf if link.generation is Generation.OWE else "optional" if mixed else "off"
        return evolve(
            link,
            group_cipher=group,
            pmf=pmf,
            transition=other,
            overriding=_OVERRIDING.get(part, ()),
        )
    if part.startswith("owe-"):
        word = next(word for word in _longest_first("owe") if part.startswith(word + "-"))
        cipher = _cipher(part.removeprefix(word + "-"), "wpa3", name)
        akm = akm_of(word, "owe", cipher)
        return Link(Generation.OWE, cipher, cipher, akm=akm, pmf="required")
    return _rsn(part, name)


def _wep(part: str, name: str) -> Link:
    size, _, variant = part.removeprefix("wep-").partition("-")
    if size not in ("40", "104") or variant not in ("", "shared", "auth"):
        raise PolicyError(
            f"policy {name!r}: {part!r} is no WEP policy; "
            "known: wep-40, wep-104, each also -shared or -auth"
        )
    cipher = Cipher(f"wep-{size}")
    return Link(
        Generation.PRE_RSNA,
        cipher,
        cipher,
        authentication="shared-key" if variant else "open",
        encrypts_data=variant != "auth",
    )


def _rsn(part: str, name: str) -> Link:
    generation, _, rest = part.partition("-")
    if generation not in _GENERATION_CIPHERS:
        raise PolicyError(
            f"policy {name!r}: unknown policy {part!r}; `airtoll policies list` shows the catalogue"
        )
    words = akm_words(generation)
    for word in _longest_first(generation):
        if rest.startswith(word + "-"):
            break
    else:
        raise PolicyError(
            f"policy {name!r}: {generation} has no key management that begins {rest!r}; "
            f"it has {', '.join(words)}"
        )
    tail = rest.removeprefix(word + "-")
    method: EapMethod | None = None
    if word.endswith("eap"):
        given, _, tail = tail.partition("-")
        keying = [known for known in eap_methods() if known.gives_keys]
        if given not in keying:
            raise PolicyError(
                f"policy {name!r}: EAP method {given!r} gives no key for {generation}; "
                f"known: {', '.join(keying)}"
            )
        method = EapMethod(given)
    cipher = _cipher(tail, generation, name)
    akm = akm_of(word, generation, cipher)
    assert akm is not None
    return Link(
        Generation(generation),
        cipher,
        cipher,
        akm=akm,
        eap_method=method,
        authentication=akm.authentication,
        pmf="required" if generation == "wpa3" else "off",
        fast_transition=akm.is_ft,
    )


def _longest_first(generation: str) -> list[str]:
    """The words for AKMs, those that begin with another one before it."""
    return sorted(akm_words(generation), key=len, reverse=True)


def _cipher(tail: str, generation: str, name: str) -> Cipher:
    allowed = _GENERATION_CIPHERS[generation]
    if tail not in allowed:
        raise PolicyError(
            f"policy {name!r}: {tail or 'no cipher'!r} is no cipher of {generation}; "
            f"allowed: {', '.join(allowed)}"
        )
    return _CIPHERS[tail]


def _static_wep_after_8021x(link: Link, part: str, name: str) -> Link:
    if link.generation is not Generation.PORT_CONTROL or link.encrypts_data:
        raise PolicyError(f"policy {name!r}: {part!r} can only follow 8021x-METHOD")
    cipher = Cipher(part)
    return evolve(
        link,
        cipher=cipher,
        group_cipher=cipher,
        encrypts_data=True,
        # A method that exports a key may hand out WEP keys (dynamic WEP); EAP-MD5 exports none.
        dynamic_wep=link.eap_method is not None and link.eap_method.gives_keys,
    )


def _tunnel(part: str, name: str) -> Tunnel:
    if part == "wireguard":
        return Tunnel("wireguard", "chacha20-poly1305", "none", "noise")
    if part == "openvpn":
        return Tunnel("openvpn", "aes-gcm", "none", "tls")
    rest = part.removeprefix("ipsec-")
    exchange = "ikev2"
    for candidate in ("ikev1", "ikev2"):
        if rest.endswith("-" + candidate):
            exchange = candidate
            rest = rest.removesuffix("-" + candidate)
    for (encryption, integrity), suite in esp_suites().items():
        if suite == f"esp-{rest}":
            if encryption in ("des", "3des") and not part.endswith("ikev2"):
                # The papers' tunnels were FreeS/WAN and Windows 2000: IKEv1 only.
                exchange = "ikev1"
            return Tunnel("esp", encryption, integrity, exchange)
    raise PolicyError(
        f"policy {name!r}: {part!r} is no tunnel; known: ipsec-aes-gcm and "
        "ipsec-{null,des,3des,aes-cbc}-{md5,sha1}, each also -ikev1 or -ikev2, wireguard, "
        "openvpn"
    )


def _services(link: Link, tunnels: list[Tunnel]) -> Services:
    encrypts = link.encrypts_data and link.cipher is not Cipher.NONE
    secret = any(t.encryption != "null" for t in tunnels)
    method = link.eap_method
    # OWE agrees on keys without authenticating either end (RFC 8110 section 1).
    authenticated = link.generation not in (Generation.OPEN, Generation.OWE)
    return Services(
        authentication=authenticated or bool(tunnels),
        confidentiality=encrypts or secret,
        # WEP's CRC is linear and proves nothing (Borisov, Goldberg, Wagner, MobiCom 2001).
        integrity=(encrypts and link.cipher not in (Cipher.WEP_40, Cipher.WEP_104))
        or bool(tunnels),
        # Only a signature by the user's own key binds the user: certificates on both sides.
        non_repudiation=method is not None and not method.uses_password,
        mutual_authentication=(method is not None and method.gives_keys)
        or (link.akm is not None and link.generation is not Generation.OWE)
        or bool(tunnels),
        forward_secrecy=(link.akm is not None and link.akm.has_forward_secrecy)
        or (method is not None and method.uses_tls)
        or bool(tunnels),
    )


def _broken(link: Link, tunnels: list[Tunnel]) -> tuple[Reference, ...]:
    """Mechanisms that are cryptographically broken or withdrawn, in any use.

    WEP below a sound tunnel is listed as well: the tunnel alone protects as much and costs less.
    """
    found: list[Reference] = []
    ciphers = {link.cipher, link.group_cipher}
    if ciphers & {Cipher.WEP_40, Cipher.WEP_104}:
        found.append(WEP_BROKEN)
    if Cipher.TKIP in ciphers:
        found.append(TKIP_BROKEN)
    if link.eap_method in BROKEN_METHODS:
        found.append(BROKEN_METHODS[link.eap_method])
    if any(tunnel.encryption == "des" for tunnel in tunnels):
        found.append(DES_BROKEN)
    return tuple(found)


def _weaknesses(link: Link, tunnels: list[Tunnel]) -> tuple[Reference, ...]:
    """Risks of sound mechanisms that are used with a weak secret, for too long, or alone."""
    found: list[Reference] = []
    if link.generation is Generation.OPEN and not tunnels:
        found.append(OPEN_NOTHING)
    if link.akm is not None and link.akm.is_psk:
        found.append(PSK_DICTIONARY)
    if any(tunnel.encryption == "3des" for tunnel in tunnels):
        found.append(SWEET32)
    return tuple(found)
