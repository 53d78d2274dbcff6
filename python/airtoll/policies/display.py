"""Names of policies for people: the words of the Wi-Fi Alliance, the EAP method, the cipher.

Takes a policy; gives one short name. Each canonical name of the catalogue has its own. Files and
JSON keep the canonical names.
"""

from __future__ import annotations

from typing import Final

from airtoll.policies.model import AccessControl, Generation, Link, Policy, Tunnel
from airtoll.policies.suites import Akm, Cipher

_CIPHERS: Final = {
    Cipher.TKIP: "TKIP",
    Cipher.CCMP_128: "CCMP-128",
    Cipher.CCMP_256: "CCMP-256",
    Cipher.GCMP_128: "GCMP-128",
    Cipher.GCMP_256: "GCMP-256",
    Cipher.WEP_40: "WEP-40",
    Cipher.WEP_104: "WEP-104",
}
_TRANSITIONS: Final = {
    "wpa-wpa2-psk-transition": "WPA/WPA2-Personal transition",
    "wpa2-wpa3-psk-transition": "WPA2/WPA3-Personal transition",
    "wpa2-wpa3-psk-compatibility": "WPA3-Personal compatibility (RSN overriding)",
    "owe-transition": "Enhanced Open transition",
    "tsn-wep-104": "WPA-Personal with WEP-104 clients",
}
_ENCRYPTIONS: Final = {
    "null": "no encryption",
    "des": "DES",
    "3des": "3DES",
    "aes-cbc": "AES-CBC",
    "aes-gcm": "AES-GCM",
}
#: Tunnels whose name is one part of a policy's.
_NAMED: Final = {"wireguard": "WireGuard", "openvpn": "OpenVPN, AES-256-GCM"}
#: Ends of names of AKMs that no published standard has.
_DRAFT: Final = ", with ML-KEM-768 (draft)"
_ACCESS: Final = {AccessControl.MAC_ACL: "MAC filter", AccessControl.FIREWALL: "firewall"}


def display_name(policy: Policy) -> str:
    """The name of a policy for people, e.g. ``WPA3-Enterprise, 192-bit, GCMP-256``."""
    parts = policy.name.split("+")
    tunnels = [part for part in parts if part in _NAMED or part.startswith("ipsec-")]
    words = [_link_words(policy.link, parts[0])]
    words += [_ACCESS[control] for control in policy.access_control]
    words += [_tunnel(*pair) for pair in zip(policy.tunnels, tunnels, strict=True)]
    return " + ".join(words)


def _link_words(link: Link, name: str) -> str:
    if link.transition is not None:
        return _TRANSITIONS[name]
    if link.generation is Generation.OPEN:
        return "Open"
    if link.generation is Generation.PRE_RSNA:
        variant = "" if link.authentication == "open" else ", shared key"
        return _CIPHERS[link.cipher] + (variant if link.encrypts_data else ", authentication only")
    if link.generation is Generation.PORT_CONTROL:
        assert link.eap_method is not None
        wep = f" with {_CIPHERS[link.cipher]}" if link.encrypts_data else ", no encryption"
        return f"802.1X, {_method(link.eap_method)}{wep}"
    if link.generation is Generation.OWE:
        draft = _DRAFT if link.akm is not None and link.akm.is_draft else ""
        return f"Enhanced Open{draft}, {_CIPHERS[link.cipher]}"
    assert link.akm is not None
    return f"{_suite(link, link.akm)}, {_CIPHERS[link.cipher]}"


def _suite(link: Link, akm: Akm) -> str:
    words = f"{link.generation.value.upper()}-{'Enterprise' if link.eap_method else 'Personal'}"
    if akm.is_192_bit:
        words += ", 192-bit"
    # The 192-bit mode takes EAP-TLS alone; elsewhere the method is a choice.
    if link.eap_method and not (akm.is_192_bit and link.eap_method == "tls"):
        words += f", {_method(link.eap_method)}"
    if akm.endswith("-sha256") and link.generation is not Generation.WPA3:
        words += ", SHA-256"
    if akm.endswith("-suite-b"):
        words += ", Suite B"
    if akm.is_sae and akm.endswith("-ext-key"):
        words += ", SAE-EXT"
    if akm.is_draft:
        words += _DRAFT
    if link.fast_transition:
        words += ", fast transition"
    return words


def _method(name: str) -> str:
    word = name.upper()
    return word if word.endswith("EAP") else f"EAP-{word}"


def _tunnel(tunnel: Tunnel, part: str) -> str:
    if tunnel.kind in _NAMED:
        return _NAMED[tunnel.kind]
    words = f"IPsec {_ENCRYPTIONS[tunnel.encryption]}"
    if tunnel.integrity != "none":
        words += f" {tunnel.integrity.upper().replace('SHA1', 'SHA-1')}"
    exchange = part.rpartition("-")[2]
    return words + (f", {exchange.upper().replace('V', 'v')}" if exchange[:3] == "ike" else "")
