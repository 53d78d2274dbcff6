"""A router as a person meets it: fields with labels, and the beacons that follow from them.

Takes lines of the form ``label: value``; gives elements of a beacon. It knows nothing of a study: a
wrong value is carried out as it is.
"""

from __future__ import annotations

import re
from typing import Final

from attrs import define, evolve, field

from airtoll.border.answers import AnnouncedBss
from airtoll.errors import TestbedError
from airtoll.policies import Cipher
from airtoll.policies.suites import Akm, ManagementCipher, akm_of, akms
from airtoll.study.generations import GENERATIONS
from airtoll.testbeds.lab.access_point import LABELS, mode_of, security_of
from airtoll.testbeds.lab.air import announced
from airtoll.testbeds.linux.daemons.hostapd import frequency_mhz

BSSID: Final = "02:00:5e:00:53:01"
_PRIVACY: Final = 0x0010
_SHORT: Final = 0x0020
_ESS: Final = 0x0001
#: OUI of the elements of WPA and WPS.
_MICROSOFT: Final = bytes((0x00, 0x50, 0xF2))
_PMF_BITS: Final = {"off": 0, "optional": 1 << 7, "required": 3 << 6}
_PMF_WORDS: Final = {"disabled": "off", "capable": "optional", "required": "required"}
#: Widths above 20 MHz: middle of the channel from the primary one on, channel numbers.
_CENTRES: Final = {40: 2, 80: 6, 160: 14}


@define
class Router:
    """Its settings. ``kind``: as ``access_point.link_name``; ``akm``: beside the usual one."""

    ssid: str = "wireless"
    hidden: bool = False
    kind: str = "wpa2-psk"
    akm: str | None = None
    ciphers: tuple[Cipher, ...] = (Cipher.CCMP_128,)
    group: Cipher = Cipher.CCMP_128
    authentication: str = "open"
    passphrase: str = "made at the factory"
    wep_key: str = ""
    radius_server: str = ""
    radius_port: int = 1812
    radius_secret: str = ""
    pmf: str = "off"
    mobility_domain: str = ""
    phy: str = "802.11g"
    channel: int = 6
    width_mhz: int = 20
    preamble: str = "long"
    beacon_interval_tu: int = 100
    dtim_period: int = 2
    country: str | None = None
    wps: bool = False
    rate_mbps: float | None = None
    basic_rates_mbps: tuple[float, ...] = ()
    #: Settings that beacons do not show, by their labels.
    further: dict[str, str] = field(factory=dict)
    #: Whether it is powered and has not hung.
    alive: bool = True

    def type(self, label: str, value: str) -> None:
        """Set a field to a typed or chosen value; raises ``TestbedError`` for another label."""
        keys = {words: key for key, words in LABELS.items()}
        if label not in keys:
            raise TestbedError(f"rehearsal: this router has no field {label!r}")
        key = keys[label]
        first = value.split(" (")[0].strip()
        match key:
            case "ssid":
                self.ssid = value
            case "security":
                self.kind, self.akm = security_of(value)
                self._forget_keys()
            case "cipher":
                self._choose_cipher(value)
            case "authentication":
                self.authentication = "shared-key" if first == "shared key" else "open"
            case "passphrase":
                self.passphrase = value
            case "wep_key":
                self.wep_key = first
            case "radius_server":
                self.radius_server = value
            case "radius_port":
                self.radius_port = int(value)
            case "radius_secret":
                self.radius_secret = value
            case "pmf":
                self.pmf = _PMF_WORDS[first]
            case "fast_transition":
                self.mobility_domain = value.rpartition(" ")[2]
            case "mode":
                self.phy = mode_of(value)
            case "channel":
                self.channel = int(first)
            case "width":
                self.width_mhz = int(first.removesuffix(" MHz"))
            case "rate":
                self.rate_mbps = float(first.removesuffix(" Mb/s"))
            case "basic_rates":
                self.basic_rates_mbps = tuple(float(rate) for rate in value.split(", "))
            case "preamble":
                self.preamble = value
            case "beacon_interval":
                self.beacon_interval_tu = int(first)
            case "dtim_period":
                self.dtim_period = int(value)
            case "country":
                self.country = value
            case "off":
                self.hidden = "hidden network name" not in value
                self.wps = "WPS" not in value
            case _:
                self.further[key] = value

    def _forget_keys(self) -> None:
        # A menu of another security mode shows its own fields, with their defaults.
        self.ciphers, self.group = (Cipher.NONE,), Cipher.NONE
        self.authentication, self.pmf, self.mobility_domain = "open", "off", ""
        if self.kind.startswith("8021x") or "eap" not in self.kind:
            self.radius_secret = ""

    def _choose_cipher(self, value: str) -> None:
        if "TKIP" in value and "AES" in value:
            self.ciphers, self.group = (Cipher.TKIP, Cipher.CCMP_128), Cipher.TKIP
            return
        first = value.split(" (")[0].strip()
        words = {"64 bit": Cipher.WEP_40, "128 bit": Cipher.WEP_104, "AES": Cipher.CCMP_128,
                 "GCMP": Cipher.GCMP_128}  # fmt: skip
        cipher = words.get(first) or Cipher(first.lower())
        self.ciphers, self.group = (cipher,), cipher

    @property
    def wep(self) -> bool:
        """Whether it encrypts with WEP."""
        return self.ciphers[0] in (Cipher.WEP_40, Cipher.WEP_104)

    @property
    def frequency_mhz(self) -> int:
        """Centre of its primary channel, MHz."""
        return frequency_mhz(self.channel)

    def akms(self) -> list[Akm]:
        """The key managements that its beacons list."""
        if self.akm is not None:
            return [Akm(self.akm)]
        cipher = self.ciphers[-1]
        names = {
            "wpa-psk": [("psk", "wpa")],
            "wpa-eap": [("eap", "wpa")],
            "wpa2-psk": [("psk", "wpa2")],
            "wpa2-eap": [("eap", "wpa2")],
            "wpa3-eap": [("eap", "wpa3")],
            "wpa3-sae": [("sae", "wpa3")],
            "wpa-wpa2-psk": [("psk", "wpa2")],
            "wpa2-wpa3-psk": [("sae", "wpa3"), ("psk", "wpa2")],
            "owe": [("owe", "owe")],
            "owe-transition": [("owe", "owe")],
        }.get(self.kind, [])
        if self.kind == "wpa3-eap-192":
            return [one for one in akms() if one == "802.1x-suite-b-192"]
        found = [akm_of(word, of, cipher) for word, of in names]
        return [akm for akm in found if akm is not None]

    def elements(self) -> bytes:
        """The elements of its beacon."""
        rates = self._rates()
        out = bytearray(_tlv(0, b"" if self.hidden else self.ssid.encode()))
        out += _tlv(1, rates[:8])
        low = self.channel <= 14
        if low:
            out += _tlv(3, bytes((self.channel,)))
        out += _tlv(5, bytes((0, self.dtim_period, 0, 0)))
        if self.country is not None:
            out += _tlv(7, self.country.encode() + b" " + bytes((1, 11, 20)))
        if rates[8:]:
            out += _tlv(50, rates[8:])
        if self.kind.startswith(("wpa2", "wpa3", "owe", "wpa-wpa2")):
            out += _tlv(48, self._rsn())
        if self.mobility_domain:
            out += _tlv(54, bytes.fromhex(self.mobility_domain) + b"\x00")
        if not GENERATIONS[self.phy]["rates_mbps"]:
            out += _tlv(45, bytes(26))
            wide = self.width_mhz > 20
            out += _tlv(61, bytes((self.channel, 5 if wide else 0)) + bytes(20))
            if self.phy != "802.11n" and not low:
                out += self._vht()
            if self.phy in ("802.11ax", "802.11be"):
                out += _tlv(255, bytes((35,)) + bytes(21))
            if self.phy == "802.11be":
                out += _tlv(255, bytes((108,)) + bytes(14))
        if self.kind.startswith("wpa-"):
            out += _tlv(221, _MICROSOFT + bytes((1,)) + self._wpa())
        if self.wps:
            out += _tlv(221, _MICROSOFT + bytes((4,)) + bytes.fromhex("104a000110"))
        if self.kind == "owe-transition":
            out += _tlv(221, bytes.fromhex("506f9a1c") + bytes(6) + bytes((4,)) + b"open")
        return bytes(out)

    def _vht(self) -> bytes:
        wide = self.width_mhz >= 80
        first = self.channel + _CENTRES[80] if wide else 0
        second = self.channel + _CENTRES[160] if self.width_mhz == 160 else 0
        return _tlv(191, bytes(12)) + _tlv(192, bytes((int(wide), first, second, 0, 0)))

    def _rates(self) -> bytes:
        if self.phy == "802.11b":
            rates = GENERATIONS["802.11b"]["rates_mbps"]
        else:
            rates = GENERATIONS["802.11g" if self.channel <= 14 else "802.11a"]["rates_mbps"]
        basic = self.basic_rates_mbps or tuple(sorted(rates)[:2])
        return bytes(round(2 * r) | (0x80 if r in basic else 0) for r in sorted(rates))

    def _rsn(self) -> bytes:
        pairwise = [
            c for c in self.ciphers if not (self.kind == "wpa-wpa2-psk" and c is Cipher.TKIP)
        ]
        selectors = [cipher.selector for cipher in pairwise]
        body = b"\x01\x00" + _octets(self.group.selector)
        body += _list(selectors) + _list([akm.selector for akm in self.akms()])
        body += _PMF_BITS[self.pmf].to_bytes(2, "little")
        if self.pmf == "required" and self.ciphers == (Cipher.GCMP_256,):
            body += b"\x00\x00" + _octets(ManagementCipher.BIP_GMAC_256.selector)
        return body

    def _wpa(self) -> bytes:
        mixed = self.kind == "wpa-wpa2-psk"
        own = [] if mixed else self.akms()
        akm = next(iter(own), Akm("wpa-psk"))
        ciphers = [Cipher.TKIP] if mixed else list(self.ciphers)
        body = b"\x01\x00" + _octets(self.group.wpa_selector)
        return body + _list([c.wpa_selector for c in ciphers]) + _list([akm.selector])

    def announcement(self, signal_dbm: float = -40.0) -> AnnouncedBss:
        """Its beacon, as a station in the same room hears it."""
        privacy = _PRIVACY if self.ciphers != (Cipher.NONE,) or self.kind.endswith("wep") else 0
        short = _SHORT if self.preamble == "short" else 0
        return announced(
            BSSID,
            _ESS | privacy | short,
            self.beacon_interval_tu,
            self.elements(),
            self.frequency_mhz,
            signal_dbm,
        )

    def copy(self) -> Router:
        """The same settings on their own."""
        return evolve(self, further=dict(self.further))


def read_lines(text: str) -> dict[str, str]:
    """Labels and values of the settings in a prompt; lines of differences are none."""
    found = re.findall(r"^  ([^:\n]+): (.*)$", text, re.MULTILINE)
    known = set(LABELS.values())
    return {
        label: value
        for label, value in found
        if label in known and not re.match(r"is .*, not ", value)
    }


def _list(selectors: list[str | None]) -> bytes:
    return len(selectors).to_bytes(2, "little") + b"".join(map(_octets, selectors))


def _octets(selector: str | None) -> bytes:
    if selector is None:
        return bytes(4)
    *oui, kind = selector.split("-")
    return bytes(int(part, 16) for part in oui) + bytes((int(kind),))


def _tlv(number: int, body: bytes) -> bytes:
    return bytes((number, len(body))) + body
