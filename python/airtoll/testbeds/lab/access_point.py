"""Settings of an access point: what a cell of a study asks for, in the words of routers.

Takes a cell and a laboratory; gives one frozen value, its lines for a person, and its variables for
a command. Two cells with equal settings need no touch between them. The EAP
method and tunnels are no settings of the access point.
"""

from __future__ import annotations

import re
from typing import Final

from attrs import evolve, field, frozen

from airtoll.plan import Cell
from airtoll.policies import Cipher, Generation, Link
from airtoll.policies.gates import why_not_high_throughput
from airtoll.policies.suites import akms
from airtoll.study.generations import GENERATIONS, band_of
from airtoll.testbeds.linux.daemons import freeradius
from airtoll.testbeds.linux.daemons.credentials import Credentials
from airtoll.testbeds.linux.daemons.hostapd import frequency_mhz
from airtoll.testbeds.linux.laboratory.lab import Lab, LabAccessPoint

#: PHY -> the mode as routers call it.
MODES: Final = {
    "802.11b": "802.11b only",
    "802.11g": "802.11g (b/g mixed is accepted, n is off)",
    "802.11a": "802.11a (n, ac and ax are off)",
    "802.11n": "802.11n (ac and ax are off)",
    "802.11ac": "802.11ac (ax is off)",
    "802.11ax": "802.11ax (be is off)",
    "802.11be": "802.11be",
}
#: Names of the lines by which a person finds a setting. The keys are those of ``Settings.fields``.
LABELS: Final = {
    "ssid": "Network name (SSID)",
    "security": "Security mode",
    "cipher": "Encryption",
    "authentication": "Authentication",
    "passphrase": "Passphrase",
    "wep_key": "WEP key 1 (hex)",
    "radius_server": "RADIUS server",
    "radius_port": "RADIUS port",
    "radius_secret": "RADIUS shared secret",
    "pmf": "Protected management frames (802.11w)",
    "fast_transition": "Fast transition (802.11r)",
    "mode": "Wireless mode",
    "channel": "Channel",
    "width": "Channel width",
    "rate": "Transmission rate",
    "basic_rates": "Basic rates",
    "preamble": "Preamble",
    "beacon_interval": "Beacon interval",
    "dtim_period": "DTIM interval",
    "rts_threshold": "RTS threshold",
    "fragmentation_threshold": "Fragmentation threshold",
    "frame_burst": "Frame burst",
    "isolation": "AP isolation",
    "country": "Country",
    "mac_filter": "MAC filter",
    "off": "Off",
}
_PMF: Final = {"off": "disabled", "optional": "capable (optional)", "required": "required"}
_HEX_DIGITS: Final = {40: 10, 104: 26}


@frozen
class Settings:
    """The settings that an access point is to have.

    ``policy``: name of a policy with this link. ``link``: without the EAP method, which only the
    RADIUS server needs to know; ``enterprise``: whether there is one. ``radius``: address and port
    of the RADIUS server, or None. Times and lengths as in a study; None: the access point's own.
    """

    ssid: str
    policy: str = field(eq=False)
    link: Link
    enterprise: bool
    phy: str
    channel: int
    frequency_mhz: int
    width_mhz: int
    radius: tuple[str, int] | None = None
    rate_mbps: float | None = None
    basic_rates_mbps: tuple[float, ...] = ()
    preamble: str | None = None
    beacon_interval_tu: int = 100
    dtim_period: int | None = None
    rts_threshold: int | None = None
    fragmentation_threshold: int | None = None
    frame_burst: bool = False
    isolation: bool = False
    country: str | None = None
    mac_filter: tuple[str, ...] = ()

    def fields(self, secret: Credentials) -> dict[str, str]:
        """Setting -> its value as a person types or chooses it, in the order of ``LABELS``."""
        link = self.link
        found = {"ssid": self.ssid, **_security(link, self.enterprise)}
        if link.akm is not None and link.akm.uses_passphrase:
            found["passphrase"] = secret.passphrase
        if static_wep(link):
            bits = wep_bits(link)
            found["wep_key"] = f"{secret.wep(bits)} ({_HEX_DIGITS[bits]} digits, the only key)"
        if self.radius is not None:
            found["radius_server"], found["radius_port"] = self.radius[0], str(self.radius[1])
            found["radius_secret"] = secret.radius_secret
        if link.akm is not None and link.generation is not Generation.WPA:
            found["pmf"] = _PMF[link.pmf]
        if link.fast_transition:
            found["fast_transition"] = f"on, mobility domain {secret.mobility_domain}"
        found["mode"] = MODES[self.phy]
        found["channel"] = f"{self.channel} (not automatic)"
        found["width"] = f"{self.width_mhz} MHz"
        if self.rate_mbps is not None:
            found["rate"] = f"{self.rate_mbps:g} Mb/s (automatic where there is no such choice)"
        if self.basic_rates_mbps:
            found["basic_rates"] = ", ".join(f"{rate:g}" for rate in self.basic_rates_mbps)
        if self.preamble is not None:
            found["preamble"] = self.preamble
        found["beacon_interval"] = f"{self.beacon_interval_tu} (time units, about a millisecond)"
        if self.dtim_period is not None:
            found["dtim_period"] = str(self.dtim_period)
        for name in ("rts_threshold", "fragmentation_threshold"):
            if (value := getattr(self, name)) is not None:
                found[name] = f"{value} octets"
        if self.frame_burst:
            found["frame_burst"] = "on"
        if self.isolation:
            found["isolation"] = "on"
        if self.country is not None:
            found["country"] = self.country
        if self.mac_filter:
            found["mac_filter"] = f"on, permit only {', '.join(self.mac_filter)}"
        off = ["hidden network name", "WPS", "guest networks", "band steering"]
        found["off"] = ", ".join([*off, "bands that are not named here"])
        return {key: found[key] for key in LABELS if key in found}

    def lines(self, secret: Credentials) -> list[str]:
        """One line for each setting, ``label: value``."""
        return [f"  {LABELS[key]}: {value}" for key, value in self.fields(secret).items()]

    def variables(self, secret: Credentials, access_point: LabAccessPoint) -> dict[str, str]:
        """Environment of a command that sets the access point; empty where nothing is asked for."""
        link, name = self.link, link_name(self.link, self.enterprise)
        key = secret.passphrase if link.akm is not None and link.akm.uses_passphrase else ""
        values: dict[str, object] = {
            "ADDRESS": access_point.address or access_point.ip,
            "SSID": self.ssid,
            "POLICY": self.policy,
            "SECURITY": name,
            "ENTERPRISE": int(self.enterprise),
            "CIPHER": link.cipher.value if link.encrypts_data else "none",
            "GROUP_CIPHER": link.group_cipher.value if link.encrypts_data else "none",
            "AUTHENTICATION": link.authentication,
            "PMF": link.pmf,
            "TRANSITION": link.transition or "",
            "FAST_TRANSITION": int(link.fast_transition),
            "MOBILITY_DOMAIN": secret.mobility_domain if link.fast_transition else "",
            "PASSPHRASE": key,
            "WEP_KEY": secret.wep(wep_bits(link)) if static_wep(link) else "",
            "RADIUS_SERVER": "" if self.radius is None else self.radius[0],
            "RADIUS_PORT": "" if self.radius is None else self.radius[1],
            "RADIUS_SECRET": "" if self.radius is None else secret.radius_secret,
            "PHY": self.phy,
            "BAND": band_name(self.frequency_mhz),
            "CHANNEL": self.channel,
            "WIDTH_MHZ": self.width_mhz,
            "RATE_MBPS": "" if self.rate_mbps is None else f"{self.rate_mbps:g}",
            "BASIC_RATES_MBPS": " ".join(f"{rate:g}" for rate in self.basic_rates_mbps),
            "PREAMBLE": self.preamble or "",
            "BEACON_INTERVAL_TU": self.beacon_interval_tu,
            "DTIM_PERIOD": self.dtim_period or "",
            "RTS_THRESHOLD": self.rts_threshold or "",
            "FRAGMENTATION_THRESHOLD": self.fragmentation_threshold or "",
            "FRAME_BURST": int(self.frame_burst),
            "ISOLATION": int(self.isolation),
            "COUNTRY": self.country or "",
            "MAC_FILTER": " ".join(self.mac_filter),
        }
        return {f"AIRTOLL_{name}": str(value) for name, value in values.items()}


def wanted(cell: Cell, lab: Lab, secret: Credentials, stations: tuple[str, ...] = ()) -> Settings:
    """The settings of the laboratory's access point for a cell.

    ``stations``: MAC addresses for a filter of the policy.
    """
    settings, link = cell.settings, cell.security.link
    band = band_of(settings)
    channel = lab.lab.channel_of(band)
    phy, width = settings.phy, settings.width_mhz
    if not GENERATIONS[phy]["rates_mbps"] and why_not_high_throughput(cell.security):
        # Real devices apply the gate: HT and later rates are off with WEP and TKIP.
        phy, width = ("802.11g" if band == "2.4ghz" else "802.11a"), 20
    enterprise = link.eap_method is not None
    akm = link.akm
    server = lab.host[lab.of("server")[0]].ip
    port = freeradius.PORTS[akm is not None and akm.is_192_bit]
    filtered = any(control.value == "mac-acl" for control in cell.security.access_control)
    return Settings(
        ssid=secret.ssid,
        policy=cell.policy,
        link=without_method(link),
        enterprise=enterprise,
        phy=phy,
        channel=channel,
        frequency_mhz=_frequency(channel, band),
        width_mhz=width,
        radius=(server, port) if enterprise else None,
        rate_mbps=settings.rate_mbps,
        basic_rates_mbps=settings.basic_rates_mbps or (),
        preamble=settings.preamble,
        beacon_interval_tu=settings.beacon_interval_tu,
        dtim_period=None
        if "dtim_period" not in settings.model_fields_set
        else settings.dtim_period,
        rts_threshold=settings.rts_threshold_octets,
        fragmentation_threshold=settings.fragmentation_threshold_octets,
        frame_burst=settings.frame_bursting_us > 0,
        isolation=settings.isolation,
        country=lab.lab.country,
        mac_filter=stations if filtered else (),
    )


def static_wep(link: Link) -> bool:
    """Whether a WEP key is typed into the access point."""
    wep = link.cipher in (Cipher.WEP_40, Cipher.WEP_104) and link.akm is None
    return wep and not link.dynamic_wep


def wep_bits(link: Link) -> int:
    """Bits of the link's WEP key."""
    return 40 if link.cipher is Cipher.WEP_40 else 104


def link_name(link: Link, enterprise: bool) -> str:
    """The kind of security in one word, for commands: ``wpa2-psk``, ``wpa3-eap-192``, ``wep``."""
    if link.akm is None:
        kind = "wep" if link.cipher is not Cipher.NONE else "open"
        return f"8021x-{kind}" if enterprise else kind
    if link.generation is Generation.OWE:
        return "owe-transition" if link.transition else "owe"
    head = link.generation.value
    if link.transition == "wpa-psk-tkip":
        return "wpa-wpa2-psk"
    if link.transition == "wpa2-psk-ccmp":
        return "wpa2-wpa3-psk"
    if enterprise:
        return f"{head}-eap-192" if link.akm.is_192_bit else f"{head}-eap"
    return f"{head}-sae" if link.akm.is_sae else f"{head}-psk"


def without_method(link: Link) -> Link:
    """The link as an access point knows it: it passes EAP on, whatever the method."""
    return evolve(link, eap_method=None)


def band_name(mhz: int) -> str:
    """``2.4``, ``5`` or ``6``, of a frequency."""
    return "2.4" if mhz < 3000 else "5" if mhz < 5925 else "6"


def _frequency(channel: int, band: str) -> int:
    return 5950 + 5 * channel if band == "6ghz" else frequency_mhz(channel)


#: link_name -> the mode as routers call it, with the words of different makes.
_MODES: Final = {
    "open": "none (Disabled, Open)",
    "wep": "WEP",
    "8021x-open": "802.1X without encryption (Open with 802.1X)",
    "8021x-wep": "RADIUS (802.1X with WEP)",
    "wpa-psk": "WPA-Personal (WPA-PSK, WPA Pre-Shared Key), WPA2 off",
    "wpa2-psk": "WPA2-Personal (WPA2-PSK, RSN), WPA off, WPA3 off",
    "wpa3-sae": "WPA3-Personal (SAE), WPA2 off",
    "wpa-wpa2-psk": "WPA/WPA2-Personal mixed",
    "wpa2-wpa3-psk": "WPA2/WPA3-Personal mixed (transition)",
    "wpa-eap": "WPA-Enterprise (WPA RADIUS), WPA2 off",
    "wpa2-eap": "WPA2-Enterprise (WPA2 RADIUS), WPA off, WPA3 off",
    "wpa3-eap": "WPA3-Enterprise",
    "wpa3-eap-192": "WPA3-Enterprise, 192 bit",
    "owe": "Enhanced Open (OWE)",
    "owe-transition": "Enhanced Open (OWE) with an open network beside (transition)",
}
_CIPHER_WORDS: Final = {
    Cipher.WEP_40: "64 bit (a key of 40 bits)",
    Cipher.WEP_104: "128 bit (a key of 104 bits)",
    Cipher.TKIP: "TKIP",
    Cipher.CCMP_128: "AES (CCMP)",
    Cipher.CCMP_256: "CCMP-256",
    Cipher.GCMP_128: "GCMP",
    Cipher.GCMP_256: "GCMP-256",
}
_AUTHENTICATION: Final = {"open": "open system", "shared-key": "shared key"}


def _security(link: Link, enterprise: bool) -> dict[str, str]:
    name = link_name(link, enterprise)
    found = {"security": _MODES[name]}
    if name == "wpa-wpa2-psk":
        found["cipher"] = "TKIP with WPA, AES (CCMP) with WPA2 (TKIP+AES)"
    elif link.cipher is not Cipher.NONE:
        found["cipher"] = _CIPHER_WORDS[link.cipher]
    if static_wep(link):
        found["authentication"] = _AUTHENTICATION[link.authentication]
    if link.akm is not None and link.akm not in _USUAL:
        found["security"] += f", key management {link.akm.upper()} ({link.akm.selector})"
    return found


def security_of(text: str) -> tuple[str, str | None]:
    """The kind of security of a line for a person, and the key management that it names, if any."""
    mode, _, rest = text.partition(", key management ")
    named = re.search(r"\((00-[0-9a-f-]+)\)", rest)
    selectors = {akm.selector: str(akm) for akm in akms()}
    for name, words in sorted(_MODES.items(), key=lambda item: -len(item[1])):
        if mode == words:
            return name, None if named is None else selectors[named[1]]
    raise ValueError(f"{text!r} is no security mode")


def mode_of(text: str) -> str:
    """The PHY of a line for a person."""
    return next(phy for phy, words in MODES.items() if words == text)


#: Key managements that the mode alone names.
_USUAL: Final = (
    "wpa-psk", "wpa-802.1x", "psk", "802.1x", "sae", "owe", "802.1x-sha256", "802.1x-suite-b-192",
)  # fmt: skip
