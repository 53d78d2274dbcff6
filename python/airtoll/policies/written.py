"""Policy names as people, access points and operating systems write them: ``WPA2/WPA3 mixed``.

Takes a text in lower case; gives the canonical name, or None where the words are those of no
policy. Any sign may join the words, or none (``wpa2psk``), in any order. A generation alone means
Personal, but in OpenWrt's words of two generations of Enterprise. The grammar decides whether it
has the policy.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

#: Words of the Wi-Fi Alliance, of access points' pages and of OpenWrt, with what each says.
_SAYS: Final[dict[str, frozenset[str]]] = {
    "wpa": frozenset({"wpa"}),
    "wpa1": frozenset({"wpa"}),
    "wpa2": frozenset({"wpa2"}),
    "wpa3": frozenset({"wpa3"}),
    "psk2": frozenset({"wpa2", "personal"}),
    "psk3": frozenset({"wpa3", "personal"}),
    "psk": frozenset({"personal"}),
    "personal": frozenset({"personal"}),
    "passphrase": frozenset({"personal"}),
    "sae": frozenset({"wpa3", "personal"}),
    "enterprise": frozenset({"enterprise"}),
    "eap": frozenset({"enterprise"}),
    "802.1x": frozenset({"enterprise"}),
    "tkip": frozenset({"tkip"}),
    "aes": frozenset({"ccmp"}),
    "ccmp": frozenset({"ccmp"}),
    "gcmp": frozenset({"gcmp"}),
    "transition": frozenset({"several"}),
    "mixed": frozenset({"several"}),
    "compatibility": frozenset({"several", "compatibility"}),
    "compat": frozenset({"several", "compatibility"}),
    "owe": frozenset({"owe"}),
    "wep": frozenset({"wep"}),
    "mode": frozenset(),
    "only": frozenset(),
    "security": frozenset(),
    "and": frozenset(),
    "bit": frozenset(),
    "bits": frozenset(),
}
#: Sizes of WEP's key, with and without its initialization vector of 24 bits.
_WEP: Final = {"40": "wep-40", "64": "wep-40", "104": "wep-104", "128": "wep-104"}
_GENERATIONS: Final = frozenset({"wpa", "wpa2", "wpa3"})
_TUNNELS: Final = ("wireguard", "openvpn", "ipsec-", "mac-acl", "firewall")
_WORD: Final = re.compile("|".join(sorted((*_SAYS, *_WEP), key=len, reverse=True)))
_ALONE: Final = {
    frozenset({"wpa"}): "wpa-psk-tkip",
    frozenset({"wpa2"}): "wpa2-psk-ccmp",
    frozenset({"wpa3"}): "wpa3-sae-ccmp",
}
#: Words of OpenWrt's ``option encryption`` that are Enterprise without saying so -> the two links
#: that they offer, and the word of Personal (wifi-scripts, ``iface.uc``; the reader of its files
#: has them in ``airtoll.network.openwrt``).
_OPENWRT_ENTERPRISES: Final[dict[str, tuple[str, str, str]]] = {
    "wpa-mixed": ("WPA-Enterprise", "WPA2-Enterprise", "psk-mixed"),
    "wpa2-mixed": ("WPA-Enterprise", "WPA2-Enterprise", "psk-mixed"),
    "wpa3-mixed": ("WPA2-Enterprise", "WPA3-Enterprise", "sae-mixed"),
}


def written(text: str) -> str | None:
    """The canonical name of a policy that people write; tunnels follow it after ``+``.

    Where an access point offers WPA and WPA2 with one cipher, it is the link of a station that
    knows both.
    """
    parts = [part.strip() for part in text.split("+")]
    if not all(parts) or openwrt_enterprises(text) is not None:
        return None
    tunnels = [part for part in parts if part.startswith(_TUNNELS)]
    link = _link(" ".join(part for part in parts if part not in tunnels))
    return None if link is None else "+".join([link, *tunnels])


def several_enterprises(text: str) -> bool:
    """Whether a text names Enterprise of more than one generation: no policy is that."""
    says = _said(_words(text) or ())
    return "enterprise" in says and ("several" in says or len(says & _GENERATIONS) > 1)


def openwrt_enterprises(text: str) -> tuple[str, str, str] | None:
    """The two links that a word of OpenWrt offers by 802.1X, and its word of Personal."""
    return _OPENWRT_ENTERPRISES.get(text.split("+")[0].strip())


def generations(text: str) -> frozenset[str]:
    """The generations that a text names, WEP and OWE among them."""
    words = _words(text) or re.findall(r"wpa[23]?|owe|wep", text)
    return _said(words) & (_GENERATIONS | {"owe", "wep"})


def _said(words: Sequence[str]) -> frozenset[str]:
    return frozenset[str]().union(*(_SAYS.get(word, frozenset()) for word in words))


def _words(text: str) -> list[str] | None:
    """The known words of a text; None where it has another one."""
    found: list[str] = []
    for chunk in re.split(r"[\s/_,()&|-]+", text):
        at = 0
        while at < len(chunk):
            match = _WORD.match(chunk, at)
            if match is None:
                return None
            found.append(match.group())
            at = match.end()
    return found


def _link(text: str) -> str | None:
    words = _words(text.replace("enhanced open", "owe").replace("enhanced-open", "owe"))
    if not words:
        return None
    sizes = [word for word in words if word in _WEP]
    says = _said(words)
    if says == {"wep"} and len(sizes) <= 1:
        return _WEP[sizes[0]] if sizes else "wep-104"
    if sizes or says & {"wep", "enterprise"}:
        return None
    if "owe" in says:
        return "owe-transition" if "several" in says else "owe-ccmp"
    return _personal(says)


def _personal(says: frozenset[str]) -> str | None:
    """A passphrase or SAE: of one generation, or of two that follow one another."""
    named = says & _GENERATIONS
    ciphers = says & {"tkip", "ccmp", "gcmp"}
    if named in ({"wpa"}, {"wpa3"}) and "several" in says:
        named = named | {"wpa2"}
    elif not named and says >= {"several", "personal"}:
        named = frozenset({"wpa", "wpa2"})
    elif not named and "personal" in says:
        # OpenWrt's ``psk`` is the first generation, of which its ciphers tell no more.
        named = frozenset({"wpa"}) if ciphers else named
    if named == {"wpa", "wpa2"}:
        if ciphers in ({"tkip"}, {"ccmp"}):
            # A station that knows RSN takes it before WPA.
            return f"wpa2-psk-{''.join(ciphers)}"
        return "wpa-wpa2-psk-transition" if ciphers in (set(), {"tkip", "ccmp"}) else None
    if named == {"wpa2", "wpa3"}:
        kind = "compatibility" if "compatibility" in says else "transition"
        return f"wpa2-wpa3-psk-{kind}" if ciphers <= {"ccmp"} else None
    usual = _ALONE.get(named)
    if usual is None or "several" in says or len(ciphers) > 1:
        return None
    if named == {"wpa"} and not says & {"personal", "tkip", "ccmp"}:
        return None
    return "-".join([*usual.split("-")[:2], *ciphers]) if ciphers else usual
