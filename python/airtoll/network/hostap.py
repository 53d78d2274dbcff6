"""Words of hostapd.conf and wpa_supplicant.conf: one table for those who write and who read them.

Takes nothing; gives the words for AKMs, ciphers, EAP methods, protected management frames and
channel widths, and the way back. Option names: hostapd and wpa_supplicant 2.10.
"""

from __future__ import annotations

from functools import cache
from typing import Final, Literal

from airtoll.network.model import Pmf
from airtoll.policies import Akm, Cipher, EapMethod
from airtoll.policies.suites import eap_methods

#: Which element of a beacon announces a suite: that of WPA version 1, or the RSN element.
Element = Literal["wpa", "rsn"]

CIPHERS: Final = {
    Cipher.TKIP: "TKIP",
    Cipher.CCMP_128: "CCMP",
    Cipher.CCMP_256: "CCMP-256",
    Cipher.GCMP_128: "GCMP",
    Cipher.GCMP_256: "GCMP-256",
}
#: AKM -> hostapd's and wpa_supplicant's key_mgmt word.
KEY_MANAGEMENT: Final = {
    "wpa-802.1x": "WPA-EAP",
    "wpa-psk": "WPA-PSK",
    "802.1x": "WPA-EAP",
    "psk": "WPA-PSK",
    "ft-802.1x": "FT-EAP",
    "ft-psk": "FT-PSK",
    "802.1x-sha256": "WPA-EAP-SHA256",
    "psk-sha256": "WPA-PSK-SHA256",
    "sae": "SAE",
    "ft-sae": "FT-SAE",
    "802.1x-suite-b": "WPA-EAP-SUITE-B",
    "802.1x-suite-b-192": "WPA-EAP-SUITE-B-192",
    "ft-802.1x-sha384": "FT-EAP-SHA384",
    "owe": "OWE",
    "sae-ext-key": "SAE-EXT-KEY",
    "ft-sae-ext-key": "FT-SAE-EXT-KEY",
}
#: Protected management frames -> ieee80211w.
PMF: Final[dict[str, int]] = {"off": 0, "optional": 1, "required": 2}
#: Channel width, MHz -> vht_oper_chwidth, he_oper_chwidth and eht_oper_chwidth.
CHANNEL_WIDTHS: Final = {20: 0, 40: 0, 80: 1, 160: 2, 320: 9}


@cache
def akms_of(word: str) -> dict[Element, Akm]:
    """Element -> the AKM that a key_mgmt word stands for in it; empty for an unknown word."""
    found: dict[Element, Akm] = {}
    for name, known in KEY_MANAGEMENT.items():
        if known == word:
            akm = Akm(name)
            found["wpa" if akm.generations == ("wpa",) else "rsn"] = akm
    return found


@cache
def cipher_of(word: str) -> Cipher | None:
    """The cipher of a pairwise or group word (``CCMP-128`` is written, too), None if unknown."""
    aliases = {"CCMP-128": "CCMP", "GCMP-128": "GCMP"}
    wanted = aliases.get(word, word)
    wep = {"WEP40": Cipher.WEP_40, "WEP104": Cipher.WEP_104}
    return next((c for c, known in CIPHERS.items() if known == wanted), wep.get(wanted))


@cache
def method_of(word: str) -> EapMethod | None:
    """The EAP method of wpa_supplicant's word, None for one that airtoll does not have."""
    return next((method for method in eap_methods() if method.upper() == word), None)


def pmf_of(code: str) -> Pmf | None:
    """Protected management frames of an ``ieee80211w``, None for another value."""
    levels: dict[str, Pmf] = {"0": "off", "1": "optional", "2": "required"}
    return levels.get(code)


@cache
def group_of(ciphers: frozenset[Cipher]) -> Cipher:
    """The group cipher that hostapd chooses for these pairwise ones (``wpa_common.c``, 2.10)."""
    if Cipher.TKIP in ciphers:
        return Cipher.TKIP
    for cipher, others in (
        (Cipher.GCMP_128, (Cipher.CCMP_128,)),
        (Cipher.GCMP_256, (Cipher.CCMP_128, Cipher.GCMP_128)),
        (Cipher.CCMP_256, (Cipher.CCMP_128, Cipher.GCMP_128)),
    ):
        if cipher in ciphers and ciphers.isdisjoint(others):
            return cipher
    return Cipher.CCMP_128


def ssid_of(value: str) -> str | None:
    """The SSID of a ``ssid=`` of wpa_supplicant or ``ssid2=``: quoted, P"quoted" or hex digits."""
    text = value.strip()
    if len(text) > 2 and text[0] == "P" and text[1] == text[-1] == '"':
        return _unescaped(text[2:-1])
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1]
    try:
        return bytes.fromhex(text).decode("utf-8", "replace")
    except ValueError:
        return None


def _unescaped(text: str) -> str:
    octets = bytearray()
    plain = {"n": b"\n", "r": b"\r", "t": b"\t", "e": b"\x1b", "\\": b"\\", '"': b'"'}
    position = 0
    while position < len(text):
        taken = text[position]
        if taken != "\\" or position + 1 == len(text):
            octets += taken.encode()
            position += 1
            continue
        escaped = text[position + 1]
        digits = text[position + 2 : position + 4]
        if (
            escaped == "x"
            and len(digits) == 2
            and all(c in "0123456789abcdefABCDEF" for c in digits)
        ):
            octets.append(int(digits, 16))
            position += 4
        else:
            octets += plain.get(escaped, escaped.encode())
            position += 2
    return octets.decode("utf-8", "replace")


def wep_cipher_of(value: str) -> Cipher | None:
    """The cipher of a WEP key by its length; the key is quoted text or hex digits."""
    text = value.strip()
    quoted = len(text) > 1 and text[0] == text[-1] == '"'
    octets = len(text) - 2 if quoted else len(text) / 2
    return {5: Cipher.WEP_40, 13: Cipher.WEP_104}.get(int(octets) if octets % 1 == 0 else 0)
