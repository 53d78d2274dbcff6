"""Verification of an access point from the air: its announcement against the settings of a cell.

Takes the announcements that were heard and the settings asked for; gives the BSS and what differs,
field by field. An access point is believed when its beacons say so, and never because a person or
a command is done. Beacons show no keys: a join tests them, and
``doubts`` names the field that a failed join points to.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import cache
from typing import Final

from attrs import frozen

from airtoll import _native
from airtoll.border.answers import AnnouncedBss, AnnouncedSuites
from airtoll.policies import Cipher, Generation, resolve
from airtoll.policies.suites import Akm, ManagementCipher
from airtoll.testbeds.lab.access_point import LABELS, Settings, static_wep

#: Rates of DSSS and CCK, Mb/s (IEEE Std 802.11-2020, 15.2.3 and 16.2.3).
_DSSS_MBPS: Final = frozenset({1.0, 2.0, 5.5, 11.0})
#: PHYs from the oldest of a band.
_AGES: Final = (
    "802.11b", "802.11a", "802.11g", "802.11n", "802.11ac", "802.11ax", "802.11be",
)  # fmt: skip
#: Least likeness of a name that is taken for a misspelt one.
_ALIKE: Final = 0.6
#: Group management cipher where the RSN element names none (IEEE Std 802.11-2020, 9.4.2.24.1).
_BIP: Final = ManagementCipher.BIP_CMAC_128


@frozen
class Difference:
    """One field in which an access point is not as asked for.

    ``field``: its key in ``access_point.LABELS``, or a word of its own. ``seen`` and ``wanted`` in
    words.
    """

    field: str
    seen: str
    wanted: str

    @property
    def text(self) -> str:
        """In one line."""
        return f"{LABELS.get(self.field, self.field)}: is {self.seen}, not {self.wanted}"


@frozen
class Verified:
    """The access point of a cell: its announcement, and differences that the lab file accepts."""

    bss: AnnouncedBss
    accepted: tuple[Difference, ...] = ()


def announced(
    bssid: str,
    capability: int,
    interval_tu: int,
    elements: bytes,
    frequency_mhz: int | None,
    signal_dbm: float | None,
) -> AnnouncedBss:
    """The announcement of a BSS from the fields of a scan; elements as on the air."""
    text = _native.announced_bss(
        bssid, capability, interval_tu, elements, frequency_mhz, signal_dbm
    )
    found: AnnouncedBss = json.loads(text)
    return found


def examine(
    settings: Settings, heard: Sequence[AnnouncedBss], bssid: str | None = None
) -> tuple[AnnouncedBss | None, tuple[Difference, ...]]:
    """The BSS that is meant, and its differences; None where nothing like it was heard.

    ``bssid``: of the laboratory's access point, where its file names it.
    """
    meant, found = _meant(settings, heard, bssid)
    if meant is None:
        return None, tuple(found)
    return meant, (*found, *_differences(settings, meant))


def verify(
    settings: Settings,
    heard: Sequence[AnnouncedBss],
    bssid: str | None = None,
    accept: Iterable[str] = (),
) -> tuple[Verified | None, tuple[Difference, ...]]:
    """The verified access point, or None with the differences that are not accepted."""
    bss, differences = examine(settings, heard, bssid)
    accepted = tuple(one for one in differences if one.field in accept)
    left = tuple(one for one in differences if one.field not in accept)
    if bss is None or left:
        return None, left
    return Verified(bss, accepted), ()


def _meant(
    settings: Settings, heard: Sequence[AnnouncedBss], bssid: str | None
) -> tuple[AnnouncedBss | None, list[Difference]]:
    wanted = f"{settings.ssid!r} on channel {settings.channel}"
    if bssid is not None:
        own = [bss for bss in heard if bss["bssid"] == bssid]
        if not own:
            return None, [Difference("access point", f"not heard ({bssid})", wanted)]
        return own[0], []
    named = [bss for bss in heard if bss["ssid"] == settings.ssid]
    here = [bss for bss in named if _on_channel(settings, bss)]
    if len(here) > 1:
        who = ", ".join(bss["bssid"] for bss in here)
        said = f"used by {len(here)} access points on this channel ({who})"
        return here[0], [Difference("ssid", said, "used by one; or name its bssid in [lab.ap]")]
    if named:
        return (here or named)[0], []
    # A name with a slip, then one that is hidden on the right channel.
    rated = [
        (SequenceMatcher(None, bss["ssid"].lower(), settings.ssid.lower()).ratio(), bss)
        for bss in heard
        if bss["ssid"]
    ]
    alike = [(rate, bss) for rate, bss in rated if rate >= _ALIKE]
    if alike:
        return max(alike, key=lambda pair: pair[0])[1], []
    hidden = [bss for bss in heard if not bss["ssid"] and _on_channel(settings, bss)]
    if len(hidden) == 1:
        return hidden[0], []
    said = f"not heard among {len(heard)} networks" if heard else "not heard; the air is silent"
    return None, [Difference("access point", said, wanted)]


def _on_channel(settings: Settings, bss: AnnouncedBss) -> bool:
    return bss["frequency_mhz"] in (None, settings.frequency_mhz)


def _differences(settings: Settings, bss: AnnouncedBss) -> list[Difference]:
    return [
        *_network(settings, bss),
        *_security(settings, bss),
        *_radio(settings, bss),
        *_timing(settings, bss),
    ]


def _network(settings: Settings, bss: AnnouncedBss) -> list[Difference]:
    found: list[Difference] = []
    if not bss["ssid"]:
        found.append(Difference("hidden network name", "on", "off"))
    elif bss["ssid"] != settings.ssid:
        found.append(Difference("ssid", repr(bss["ssid"]), repr(settings.ssid)))
    if bss["damaged"]:
        found.append(Difference("beacon", "damaged (an element cannot be read)", "whole"))
    return found


def _security(settings: Settings, bss: AnnouncedBss) -> list[Difference]:
    link = settings.link
    seen, wanted = announced_security(bss), _kind(settings)
    if seen != wanted:
        return [Difference("security", seen, wanted)]
    found: list[Difference] = []
    if link.akm is not None:
        parts = []
        mixed = link.transition == "wpa-psk-tkip"
        if link.generation is Generation.WPA or mixed:
            parts.append((bss["wpa"], _expected_wpa(settings)))
        if link.generation is not Generation.WPA:
            parts.append((bss["rsn"], _expected_rsn(settings)))
        for told, asked in parts:
            assert told is not None
            found += _suites(told, asked)
        if link.generation is not Generation.WPA:
            found += _management(settings, bss["rsn"])
    for field, on, asked_for in (
        ("WPS", bss["wps"], False),
        ("OWE transition", bss["owe_transition"], link.transition == "open"),
        ("RSN overriding", bss["overriding"], bool(link.overriding)),
    ):
        if on != asked_for:
            found.append(Difference(field, "on" if on else "off", "on" if asked_for else "off"))
    if link.fast_transition and not bss["mobility_domain"]:
        found.append(Difference("fast_transition", "off", "on"))
    return found


def announced_security(bss: AnnouncedBss) -> str:
    """The kind of security that a BSS announces, in words."""
    rsn, wpa = bss["rsn"], bss["wpa"]
    if rsn is None and wpa is None:
        return "WEP" if bss["privacy"] else "none (open)"
    words = []
    if wpa is not None:
        words.append(f"WPA {_personal(wpa['akms'])}")
    if rsn is not None:
        modern = any(_generation(akm) in ("wpa3", "owe") for akm in rsn["akms"])
        older = any(_generation(akm) == "wpa2" for akm in rsn["akms"])
        names = [*(["WPA2"] if older or not modern else []), *(["WPA3"] if modern else [])]
        if any(_generation(akm) == "owe" for akm in rsn["akms"]):
            words.append("Enhanced Open (OWE)")
        else:
            words.append(f"{'/'.join(names)} {_personal(rsn['akms'])}")
    return " and ".join(words)


def _personal(akms: Sequence[str]) -> str:
    kinds = {
        "enterprise" if _akms()[akm].is_8021x else "personal" for akm in akms if akm in _akms()
    }
    return " and ".join(sorted(kinds)) or "of an unknown key management"


def _generation(selector: str) -> str:
    akm = _akms().get(selector)
    if akm is None:
        return "unknown"
    if akm == "owe":
        return "owe"
    return "wpa3" if akm.is_sae or akm.is_192_bit else "wpa2"


def _kind(settings: Settings) -> str:
    """The words of ``announced_security`` for what is asked for."""
    link = settings.link
    who = "enterprise" if settings.enterprise else "personal"
    if link.akm is None:
        wep = static_wep(link) or link.dynamic_wep
        return "WEP" if wep else "none (open)"
    if link.generation is Generation.OWE:
        return "Enhanced Open (OWE)"
    if link.generation is Generation.WPA:
        return f"WPA {who}"
    if link.transition == "wpa-psk-tkip":
        return f"WPA {who} and WPA2 {who}"
    # By the key managements: those of WPA3-Enterprise other than 192 bit are WPA2's.
    kinds = {_generation(akm) for akm in _expected_rsn(settings)["akms"]}
    names = [*(["WPA2"] if "wpa2" in kinds else []), *(["WPA3"] if "wpa3" in kinds else [])]
    return f"{'/'.join(names)} {who}"


def _expected_wpa(settings: Settings) -> AnnouncedSuites:
    link = settings.link
    other = link if link.transition is None else resolve(link.transition).link
    assert other.akm is not None
    return _expected(
        link.group_cipher.wpa_selector, [other.cipher.wpa_selector], [other.akm.selector], "off"
    )


def _expected_rsn(settings: Settings) -> AnnouncedSuites:
    link = settings.link
    assert link.akm is not None
    akms = [link.akm.selector]
    if link.transition == "wpa2-psk-ccmp":
        psk = resolve(link.transition).link.akm
        assert psk is not None
        # With RSN overriding the newer key managements are in other elements.
        akms = [psk.selector] if link.overriding else [*akms, psk.selector]
    return _expected(link.group_cipher.selector, [link.cipher.selector], akms, link.pmf)


def _expected(
    group: str | None, pairwise: Sequence[str | None], akms: list[str], pmf: str
) -> AnnouncedSuites:
    return AnnouncedSuites(
        group=group,
        pairwise=[suite for suite in pairwise if suite is not None],
        akms=akms,
        mfp_capable=pmf != "off",
        mfp_required=pmf == "required",
        group_management=None,
    )


def _suites(seen: AnnouncedSuites, wanted: AnnouncedSuites) -> list[Difference]:
    found: list[Difference] = []
    if set(seen["akms"]) != set(wanted["akms"]):
        told, asked = _names(seen["akms"], _akm_name), _names(wanted["akms"], _akm_name)
        found.append(Difference("key management", told, asked))
    if set(seen["pairwise"]) != set(wanted["pairwise"]):
        told, asked = _names(seen["pairwise"], cipher_name), _names(wanted["pairwise"], cipher_name)
        found.append(Difference("cipher", told, asked))
    if seen["group"] != wanted["group"]:
        told, asked = cipher_name(seen["group"]), cipher_name(wanted["group"])
        found.append(Difference("group cipher", told, asked))
    return found


def _management(settings: Settings, rsn: AnnouncedSuites | None) -> list[Difference]:
    assert rsn is not None
    found: list[Difference] = []
    seen = "required" if rsn["mfp_required"] else "optional" if rsn["mfp_capable"] else "off"
    if seen != settings.link.pmf:
        found.append(Difference("pmf", seen, settings.link.pmf))
    elif seen != "off":
        told = rsn["group_management"] or _BIP.selector
        wide = settings.link.pmf == "required" and settings.link.cipher is Cipher.GCMP_256
        asked = (ManagementCipher.BIP_GMAC_256 if wide else _BIP).selector
        if told != asked:
            found.append(
                Difference("group management cipher", cipher_name(told), cipher_name(asked))
            )
    return found


def _radio(settings: Settings, bss: AnnouncedBss) -> list[Difference]:
    found: list[Difference] = []
    mhz = bss["frequency_mhz"]
    channel = bss["channel"]
    if mhz is not None and mhz != settings.frequency_mhz:
        seen = f"{channel if channel is not None else '?'} ({mhz} MHz)"
        found.append(
            Difference("channel", seen, f"{settings.channel} ({settings.frequency_mhz} MHz)")
        )
        if (mhz < 3000) != (settings.frequency_mhz < 3000):
            return found  # rates and PHY are those of another band
    elif channel is not None and channel != settings.channel:
        found.append(Difference("channel", str(channel), str(settings.channel)))
    seen_phy = bss["phy"]
    # A router's mode of 802.11g has the rates of 802.11b, too; its elements say g.
    if seen_phy != settings.phy:
        older = _AGES.index(seen_phy) < _AGES.index(settings.phy)
        said = f"{seen_phy}" if older else f"{seen_phy} (with what is older)"
        found.append(Difference("mode", said, settings.phy))
    if bss["width_mhz"] != settings.width_mhz:
        found.append(Difference("width", f"{bss['width_mhz']} MHz", f"{settings.width_mhz} MHz"))
    if settings.phy == "802.11b" and seen_phy == "802.11b":
        foreign = sorted(set(bss["rates_mbps"]) - _DSSS_MBPS)
        if foreign:
            found.append(Difference("rates", _rates(foreign), "1, 2, 5.5 and 11 Mb/s alone"))
    if settings.rate_mbps is not None and settings.rate_mbps not in bss["rates_mbps"]:
        found.append(
            Difference(
                "rate", f"not among {_rates(bss['rates_mbps'])}", f"{settings.rate_mbps:g} Mb/s"
            )
        )
    basic = settings.basic_rates_mbps
    if basic and set(basic) != set(bss["basic_rates_mbps"]):
        found.append(Difference("basic_rates", _rates(bss["basic_rates_mbps"]), _rates(basic)))
    if settings.preamble is not None and bss["short_preamble"] != (settings.preamble == "short"):
        found.append(
            Difference("preamble", "short" if bss["short_preamble"] else "long", settings.preamble)
        )
    return found


def _timing(settings: Settings, bss: AnnouncedBss) -> list[Difference]:
    found: list[Difference] = []
    if bss["interval_tu"] != settings.beacon_interval_tu:
        found.append(
            Difference("beacon_interval", str(bss["interval_tu"]), str(settings.beacon_interval_tu))
        )
    period = bss["dtim_period"]
    if settings.dtim_period is not None and period not in (None, settings.dtim_period):
        found.append(Difference("dtim_period", str(period), str(settings.dtim_period)))
    country = bss["country"]
    if settings.country is not None and country not in (None, settings.country):
        found.append(Difference("country", str(country), settings.country))
    return found


def doubts(settings: Settings, failure: str) -> Difference | None:
    """The field that a failed join points to, where the beacons are right; None: another cause.

    ``failure``: of the station, the testbed or the RADIUS server, as a trial states it.
    """
    link = settings.link
    for pattern, field, seen, wanted in _CAUSES:
        if re.search(pattern, failure) and _concerns(field, settings):
            return Difference(field, seen, wanted)
    if static_wep(link) and re.search(r"carries no data", failure):
        return Difference(
            "wep_key", "another one (no data passes)", "the one asked for, as key 1, of that length"
        )
    return None


def _concerns(field: str, settings: Settings) -> bool:
    link = settings.link
    if field.startswith("radius"):
        return settings.enterprise
    if field == "authentication":
        return static_wep(link)
    return link.akm is not None and link.akm.uses_passphrase


#: Words of a failure -> field, what it is, what it should be.
_CAUSES: Final = (
    (
        r"[Ss]hared secret is incorrect|invalid Message-Authenticator|wrong shared secret",
        "radius_secret",
        "another one (the RADIUS server cannot verify the requests)",
        "the one asked for",
    ),
    (
        r"unknown client|no request (came|reached)",
        "radius_server",
        "another one (no request of this access point reaches the RADIUS server)",
        "the one asked for, with its port",
    ),
    (
        r"AUTH-REJECT.*(auth_type=1|auth_transaction=2 status_code=13)|status_code=(13|15)\b",
        "authentication",
        "refused by the access point",
        "the one asked for",
    ),
    (
        r"EAP authentication started.*state ASSOCIAT|state ASSOCIAT.*EAP",
        "radius_server",
        "another address, port or shared secret (no answer of the RADIUS server comes through)",
        "the one asked for, with its port and shared secret",
    ),
    (
        r"WRONG_KEY|4WAY_HANDSHAKE|4-?[Ww]ay|handshake|MIC failure|wrong passphrase|auth_type=3"
        r"|PSK-MISMATCH|reason=(1|2|15)\b|password",
        "passphrase",
        "another one (the handshake fails)",
        "the one asked for",
    ),
)


@cache
def _akms() -> dict[str, Akm]:
    return {row["selector"]: Akm(row["name"]) for row in _native.akm_suites()}


@cache
def _ciphers() -> dict[str, str]:
    found = {cipher.selector: str(cipher.value).upper() for cipher in Cipher if cipher.selector}
    found |= {c.wpa_selector: str(c.value).upper() for c in Cipher if c.wpa_selector}
    found |= {c.selector: str(c.value).upper() for c in ManagementCipher}
    return {selector: name for selector, name in found.items() if selector is not None}


def _akm_name(selector: str) -> str:
    akm = _akms().get(selector)
    return selector if akm is None else str(akm).upper()


def cipher_name(selector: str | None) -> str:
    """A suite's name, or its selector where the tables have none."""
    if selector is None:
        return "none"
    return _ciphers().get(selector, selector)


def _names(selectors: Sequence[str], name: object) -> str:
    assert callable(name)
    return " and ".join(sorted(name(selector) for selector in selectors)) or "none"


def _rates(rates: Iterable[float]) -> str:
    return ", ".join(f"{rate:g}" for rate in rates) + " Mb/s"
