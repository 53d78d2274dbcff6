"""``nmcli device wifi list`` and ``nmcli connection show NAME``: one network per row or profile.

Takes the text; gives drafts. SECURITY names versions of WPA and 802.1X alone; the columns of
``nmcli -f ALL`` name suites. Words: NetworkManager 1.42, nmcli(1) and nm-settings-nmcli(5).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from airtoll.network.draft import Draft, Offered
from airtoll.network.hostap import Element, method_of
from airtoll.network.model import Pmf
from airtoll.policies import Akm, Cipher

FORMAT: Final = "nmcli"
_HEAD: Final = re.compile(r"^(?:[A-Z0-9-]+\s+)*(?:SSID|BSSID)\s.*\bSECURITY\b", re.MULTILINE)
_PROFILE: Final = re.compile(r"^802-11-wireless(?:-security)?\.[a-z0-9-]+:", re.MULTILINE)
#: Columns of ``nmcli -t device wifi list``, which prints no heading.
_TERSE: Final = (
    "IN-USE", "BSSID", "SSID", "MODE", "CHAN", "RATE", "SIGNAL", "BARS", "SECURITY"
)  # fmt: skip
#: A row of it: a colon in a value has a backslash before it.
_TERSE_ROW: Final = re.compile(r"^[* ]:(?:[0-9A-Fa-f]{2}\\:){5}[0-9A-Fa-f]{2}:", re.MULTILINE)
_COLUMN: Final = re.compile(r"[A-Z0-9-]+(?:\s|$)\s*")
_AKMS: Final = {
    "psk": "psk",
    "802.1X": "802.1x",
    "sae": "sae",
    "owe": "owe",
    "wpa-eap-suite-b-192": "802.1x-suite-b-192",
    "eap_suite_b_192": "802.1x-suite-b-192",
}
_CIPHERS: Final = {
    "pair_wep40": Cipher.WEP_40,
    "pair_wep104": Cipher.WEP_104,
    "pair_tkip": Cipher.TKIP,
    "pair_ccmp": Cipher.CCMP_128,
}
_PMF: Final[dict[str, Pmf]] = {"1": "off", "2": "optional", "3": "required"}
_SECRET_ENDS: Final = ("psk", "password", "wep-key0", "wep-key1", "wep-key2", "wep-key3", "pin")


def matches(text: str) -> bool:
    """Whether a text is a table with SECURITY or the settings of a Wi-Fi connection."""
    return any(form.search(text) is not None for form in (_HEAD, _PROFILE, _TERSE_ROW))


def drafts(text: str, source: str) -> Iterator[Draft]:
    """One draft per row of a table, or one of a connection."""
    if _HEAD.search(text) is None:
        if _TERSE_ROW.search(text) is None:
            yield _connection(text, source)
        else:
            yield from _terse(text, source)
        return
    columns: list[tuple[str, int, int | None]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if _HEAD.match(line):
            found = list(_COLUMN.finditer(line))
            ends = [*(one.start() for one in found[1:]), None]
            columns = [
                (one[0].strip(), one.start(), end) for one, end in zip(found, ends, strict=True)
            ]
        elif line.strip() and columns:
            yield _row(number, {name: line[a:b].strip() for name, a, b in columns}, source)


def _terse(text: str, source: str) -> Iterator[Draft]:
    for number, line in enumerate(text.splitlines(), start=1):
        if _TERSE_ROW.match(line):
            fields = [re.sub(r"\\(.)", r"\1", one) for one in re.split(r"(?<!\\):", line)]
            yield _row(number, dict(zip(_TERSE, fields, strict=False)), source)


def _row(number: int, cells: Mapping[str, str], source: str) -> Draft:
    draft = Draft(source, FORMAT, "heard")
    known = {
        "SSID": "SSID", "BSSID": "BSSID", "CHAN": "channel", "FREQ": "frequency",
        "SECURITY": "security", "WPA-FLAGS": "WPA element", "RSN-FLAGS": "RSN element",
        "IN-USE": "whether it is in use", "ACTIVE": "whether it is in use", "BANDWIDTH": "width",
    }  # fmt: skip
    for name, value in cells.items():
        if name in known:
            draft.read(number, name, value, known[name])
        else:
            draft.aside(number, name)
    ssid = cells.get("SSID", "--")
    draft.ssid = None if ssid in ("--", "") else ssid
    draft.bssid = cells["BSSID"].lower() if cells.get("BSSID") else None
    draft.in_use = "*" in (cells.get("IN-USE") or "") or cells.get("ACTIVE") == "yes"
    frequency = re.match(r"\d+", cells.get("FREQ", ""))
    if frequency:
        draft.at_frequency(int(frequency[0]))
    elif cells.get("CHAN", "").isdecimal():
        draft.on_channel(int(cells["CHAN"]))
    width = re.match(r"(\d+) MHz", cells.get("BANDWIDTH", ""))
    if width:
        draft.width_mhz = int(width[1])
    _secure(draft, cells)
    return draft


def _secure(draft: Draft, cells: Mapping[str, str]) -> None:
    security, words = draft.security, cells.get("SECURITY", "--").split()
    security.known = True
    if words in (["--"], []):
        return
    if words == ["WEP"]:
        security.wep, security.wep_length_unknown = Cipher.WEP_104, True
        return
    if not _flagged(draft, cells):
        _versions(draft, words)


def _flagged(draft: Draft, cells: Mapping[str, str]) -> bool:
    """Take the suites of ``nmcli -f ALL``; False where there are none."""
    security = draft.security
    elements: tuple[tuple[Element, str], ...] = (("wpa", "WPA-FLAGS"), ("rsn", "RSN-FLAGS"))
    for element, column in elements:
        words = cells.get(column, "").split()
        akms = [_AKMS[word] for word in words if word in _AKMS]
        ciphers = tuple(_CIPHERS[word] for word in words if word in _CIPHERS)
        if akms and ciphers:
            names = [f"wpa-{a}" if element == "wpa" and a in ("psk", "802.1x") else a for a in akms]
            security.offered.append(Offered(element, tuple(map(Akm, names)), ciphers))
    return bool(security.offered)


def _versions(draft: Draft, words: list[str]) -> None:
    """Take versions of WPA, with their usual suites, which is said."""
    security, enterprise = draft.security, "802.1X" in words
    usual: list[str] = []
    if "WPA1" in words:
        akm = Akm("wpa-802.1x" if enterprise else "wpa-psk")
        security.offered.append(Offered("wpa", (akm,), (Cipher.TKIP,)))
        usual.append("TKIP for WPA1")
    akms: list[str] = []
    if "WPA2" in words:
        akms.append("802.1x" if enterprise else "psk")
    if "WPA3" in words:
        akms.append("802.1x-sha256" if enterprise else "sae")
    if "OWE" in words or "OWE-TM" in words:
        akms.append("owe")
        security.owe_transition = "OWE-TM" in words
    if akms:
        offered = Offered("rsn", tuple(map(Akm, akms)), (Cipher.CCMP_128,))
        security.offered.append(offered)
        usual.append("CCMP-128")
    newer = {"sae", "owe", "802.1x-sha256"}
    if akms:
        security.pmf = (
            "required" if set(akms) <= newer else "optional" if newer & set(akms) else "off"
        )
    draft.assumed.append(f"{' and '.join(usual)}: nmcli names no cipher (nmcli -f ALL does)")


def _connection(text: str, source: str) -> Draft:
    draft = Draft(source, FORMAT, "station")
    security = draft.security
    security.known = True
    given: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        key, colon, value = line.partition(":")
        key, value = key.strip(), value.strip()
        if not colon or not key:
            continue
        if key.endswith(_SECRET_ENDS):
            draft.secret(number, key)
            continue
        given[key] = value
        wanted = {
            "802-11-wireless.ssid": "SSID",
            "802-11-wireless-security.key-mgmt": "key management",
            "802-11-wireless-security.pmf": "protected management frames",
            "802-1x.eap": "EAP method",
            "802-11-wireless.channel": "channel",
        }
        if key in wanted:
            draft.read(number, key, value, wanted[key])
        else:
            draft.aside(number, key)
    draft.ssid = given.get("802-11-wireless.ssid") or None
    if given.get("802-11-wireless.channel", "0") not in ("0", ""):
        draft.on_channel(int(given["802-11-wireless.channel"]))
    word = given.get("802-11-wireless-security.key-mgmt", "--")
    security.pmf = _PMF.get(given.get("802-11-wireless-security.pmf", "")[:1])
    for name in given.get("802-1x.eap", "").split(","):
        method = method_of(name.strip().upper())
        if method is not None:
            security.methods.append(method)
        elif name.strip() not in ("", "--"):
            security.strange_methods.append(name.strip())
    akm = {"wpa-psk": "psk", "sae": "sae", "owe": "owe", "wpa-eap": "802.1x",
           "wpa-eap-suite-b-192": "802.1x-suite-b-192"}.get(word)  # fmt: skip
    if word == "none":
        security.wep, security.wep_length_unknown = Cipher.WEP_104, True
    elif word == "ieee8021x":
        security.port_control = security.dynamic_wep = True
        security.wep, security.wep_length_unknown = Cipher.WEP_104, True
    elif akm is not None:
        cipher = Cipher.GCMP_256 if akm.endswith("192") else Cipher.CCMP_128
        security.offered.append(Offered("rsn", (Akm(akm),), (cipher,)))
        if akm in ("sae", "owe"):
            security.pmf = "required"
        draft.assumed.append(f"{str(cipher).upper()}: the connection names no cipher")
    elif word not in ("--", ""):
        security.strange_akms.append(word)
    return draft
