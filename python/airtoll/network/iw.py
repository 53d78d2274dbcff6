"""``iw dev NAME scan`` and ``iw dev NAME link``: one network per BSS.

Takes the text; gives drafts. ``link`` does not say how the network is secured. Words: iw 5.19
(``scan.c``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from airtoll.network.draft import Draft, Offered
from airtoll.network.hostap import Element
from airtoll.network.model import Pmf
from airtoll.network.radio import country_in, plain_phy
from airtoll.policies import Akm, Cipher
from airtoll.policies.suites import akm_of_selector, cipher_of_selector

FORMAT: Final = "iw"
_BSS: Final = re.compile(
    r"^(?:BSS|Connected to) ([0-9a-f]{2}(?::[0-9a-f]{2}){5})\s*\(on (\S+)\)?(.*)$"
)
_CIPHERS: Final = {
    "WEP-40": Cipher.WEP_40,
    "WEP-104": Cipher.WEP_104,
    "TKIP": Cipher.TKIP,
    "CCMP": Cipher.CCMP_128,
    "CCMP-256": Cipher.CCMP_256,
    "GCMP": Cipher.GCMP_128,
    "GCMP-256": Cipher.GCMP_256,
}
#: AKM suites as iw prints them -> names of the table of suites.
KEY_MANAGEMENT: Final = {
    "FT/IEEE 802.1X/SHA-384": "ft-802.1x-sha384",
    "IEEE 802.1X/SUITE-B-192": "802.1x-suite-b-192",
    "IEEE 802.1X/SUITE-B": "802.1x-suite-b",
    "IEEE 802.1X/SHA-256": "802.1x-sha256",
    "FT/IEEE 802.1X": "ft-802.1x",
    "IEEE 802.1X": "802.1x",
    "PSK/SHA-256": "psk-sha256",
    "FT/PSK": "ft-psk",
    "PSK": "psk",
    "FT/SAE": "ft-sae",
    "SAE": "sae",
    "OWE": "owe",
}
#: A suite that iw has no word for.
_SELECTOR: Final = re.compile(r"([0-9a-f]{2}-[0-9a-f]{2}-[0-9a-f]{2})[:-](\d+)")
_SUITE: Final = re.compile("|".join([_SELECTOR.pattern, *(re.escape(w) for w in KEY_MANAGEMENT)]))
_BLOCKS: Final = {
    "HT operation": "802.11n",
    "HT capabilities": "802.11n",
    "VHT capabilities": "802.11ac",
    "HE capabilities": "802.11ax",
    "EHT capabilities": "802.11be",
}
#: PHYs of the blocks, the newest last.
_NEWEST: Final = ("802.11n", "802.11ac", "802.11ax", "802.11be")
_RATES: Final = (
    ("EHT-MCS", "802.11be"),
    ("HE-MCS", "802.11ax"),
    ("VHT-MCS", "802.11ac"),
    ("MCS", "802.11n"),
)


def matches(text: str) -> bool:
    """Whether a text has the first line of a BSS."""
    return any(_BSS.match(line) for line in text.splitlines())


def drafts(text: str, source: str) -> Iterator[Draft]:
    """One draft per BSS."""
    one: _Bss | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        found = _BSS.match(line)
        if found is not None:
            if one is not None:
                yield one.finished()
            one = _Bss(source, found[1], found[2], is_link=line.startswith("Connected"))
            one.draft.in_use = one.is_link or "associated" in found[3]
        elif one is not None and line.strip():
            one.take(number, line.strip())
    if one is not None:
        yield one.finished()


class _Bss:
    """One BSS."""

    def __init__(self, source: str, bssid: str, interface: str, *, is_link: bool) -> None:
        self.draft = Draft(source, FORMAT, "heard")
        self.draft.bssid, self.draft.interface = bssid, interface
        self.is_link = is_link
        self.block = ""
        self.element: Element | None = None
        self.privacy = False
        self.akms: dict[Element, list[Akm]] = {"wpa": [], "rsn": []}
        self.pairwise: dict[Element, list[Cipher]] = {"wpa": [], "rsn": []}
        self.phys: list[str] = []

    def take(self, number: int, line: str) -> None:
        is_item = line.startswith("*")
        key, _, value = line.lstrip("* \t").partition(":")
        key, value = key.strip(), value.strip()
        if not is_item:
            self.block = key
            self.element = {"RSN": "rsn", "WPA": "wpa"}.get(key)  # type: ignore[assignment]
            if key in _BLOCKS:
                self.phys.append(_BLOCKS[key])
            if self.element is not None:
                self._security(number, value.lstrip("* \t"))
                return
            said = self._plain(key, value)
        elif self.element is not None:
            self._security(number, f"{key}: {value}")
            return
        else:
            said = self._of_block(key, value)
        if said:
            self.draft.read(number, key, value, said)

    def _plain(self, key: str, value: str) -> str | None:
        draft = self.draft
        number = re.match(r"-?\d+(?:\.\d+)?", value)
        if key == "SSID":
            draft.ssid = value or None
            return "SSID"
        if key == "freq" and number and draft.at_frequency(int(float(number[0]))):
            return f"channel {draft.channel} at {draft.band} GHz"
        if key == "signal" and number:
            draft.signal_dbm = float(number[0])
            return f"{number[0]} dBm"
        if key == "beacon interval" and number:
            draft.beacon_interval_tu = int(float(number[0]))
            return f"a beacon every {number[0]} TU"
        if key == "capability":
            self.privacy = "Privacy" in value
            return "encrypted" if self.privacy else "not encrypted"
        if key == "Country" and country_in(value[:2]):
            draft.country = country_in(value[:2])
            return f"country {draft.country}"
        if key in ("tx bitrate", "rx bitrate") and number and draft.rate_mbps is None:
            draft.rate_mbps = float(number[0])
            self.phys += [phy for word, phy in _RATES if re.search(rf"(?<!-)\b{word}\b", value)][:1]
            width = re.search(r"(\d+)MHz", value)
            draft.width_mhz = int(width[1]) if width else draft.width_mhz
            return f"{number[0]} Mb/s"
        return None

    def _of_block(self, key: str, value: str) -> str | None:
        draft = self.draft
        if self.block == "HT operation" and key == "secondary channel offset":
            draft.width_mhz = draft.width_mhz or (20 if "no secondary" in value else 40)
            return f"{draft.width_mhz} MHz"
        if self.block == "VHT operation" and key == "channel width":
            width = {"1": 80, "2": 160, "3": 160}.get(value[:1])
            draft.width_mhz = width or draft.width_mhz
            return f"{draft.width_mhz} MHz"
        if self.block == "BSS Load" and key == "station count" and value.isdecimal():
            draft.stations = int(value)
            return f"{value} stations"
        return None

    def _security(self, number: int, text: str) -> None:
        assert self.element is not None
        draft, security = self.draft, self.draft.security
        key, _, value = text.partition(":")
        value = value.strip()
        if key == "Authentication suites":
            for found in _SUITE.finditer(value):
                word = found[0]
                akm = _named(found)
                if akm is None:
                    security.strange_akms.append(word)
                    continue
                name = f"wpa-{akm}" if self.element == "wpa" and akm in ("psk", "802.1x") else akm
                self.akms[self.element].append(Akm(name))
        elif key == "Pairwise ciphers":
            self.pairwise[self.element] += _ciphers(value)
        elif key == "Group cipher":
            security.group = next(iter(_ciphers(value)), security.group)
        elif key == "Capabilities":
            pmf: Pmf = "optional" if "MFP-capable" in value else "off"
            security.pmf = "required" if "MFP-required" in value else pmf
        else:
            return
        draft.read(number, key, value, f"{'WPA' if self.element == 'wpa' else 'RSN'} element")

    def finished(self) -> Draft:
        draft, security = self.draft, self.draft.security
        elements: tuple[Element, ...] = ("wpa", "rsn")
        for element in elements:
            if self.akms[element]:
                security.offered.append(
                    Offered(element, tuple(self.akms[element]), tuple(self.pairwise[element]))
                )
        security.known = not self.is_link
        if security.known and not security.offered and self.privacy:
            security.wep, security.wep_length_unknown = Cipher.WEP_104, True
        if security.offered and security.pmf is None:
            security.pmf = "off"
        # The newest of those that the BSS has: one with HE has HT, too.
        draft.phy = max(self.phys, key=_NEWEST.index, default=plain_phy(draft.band))
        return draft


def _ciphers(value: str) -> list[Cipher]:
    found = []
    for word in value.split():
        selector = _SELECTOR.fullmatch(word)
        cipher = (
            cipher_of_selector(f"{selector[1]}-{selector[2]}") if selector else _CIPHERS.get(word)
        )
        if cipher is not None:
            found.append(cipher)
    return found


def _named(found: re.Match[str]) -> Akm | None:
    if found[0] in KEY_MANAGEMENT:
        return Akm(KEY_MANAGEMENT[found[0]])
    oui, kind = found.groups()
    return akm_of_selector(f"{oui}-{kind}")
