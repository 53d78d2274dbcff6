"""OpenWrt's /etc/config/wireless (UCI): one network per ``wifi-iface``; and such a file written.

Takes the text of the file or of ``uci show wireless``; gives drafts. The meaning of ``encryption``
is that of OpenWrt's wifi-scripts (``iface.uc`` and ``ap.uc`` of 2025, ``netifd-wireless.sh`` before
them). Writing goes by the same table: the first words that are read as the policy.
"""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from attrs import define, field, frozen

from airtoll.errors import PolicyError, UsageError
from airtoll.network.draft import Draft, Offered
from airtoll.network.hostap import Element, akms_of, cipher_of, group_of, method_of
from airtoll.network.judging import finish
from airtoll.network.model import Pmf
from airtoll.network.radio import Band, band_of_channel, country_in, plain_phy
from airtoll.policies import AccessControl, Cipher, Policy

FORMAT: Final = "OpenWrt wireless"
_SECTION: Final = re.compile(r"^\s*config\s+['\"]?wifi-(?:device|iface)", re.MULTILINE)
_SHOWN: Final = re.compile(r"^wireless\.[^=\n]+='?wifi-(?:device|iface)'?\s*$", re.MULTILINE)


@frozen
class Encryption:
    """The meaning of a word of ``option encryption``.

    ``words``: key management, as in hostapd.conf. ``pmf``: without ``ieee80211w``, which the
    scripts take as it is written where it is there (``set_default``).
    """

    elements: tuple[Element, ...]
    words: tuple[str, ...]
    pmf: Pmf = "off"
    cipher: str = "CCMP"
    overriding: bool = False


#: Word before the first + -> its meaning.
ENCRYPTIONS: Final[Mapping[str, Encryption]] = MappingProxyType(
    {
        "psk": Encryption(("wpa",), ("WPA-PSK",)),
        "psk2": Encryption(("rsn",), ("WPA-PSK",)),
        "psk-mixed": Encryption(("wpa", "rsn"), ("WPA-PSK",)),
        "sae": Encryption(("rsn",), ("SAE",), "required"),
        "sae-mixed": Encryption(("rsn",), ("WPA-PSK", "SAE"), "optional"),
        "sae-compat": Encryption(("rsn",), ("WPA-PSK", "SAE"), "off", overriding=True),
        "owe": Encryption(("rsn",), ("OWE",), "required"),
        "wpa": Encryption(("wpa",), ("WPA-EAP",)),
        "wpa2": Encryption(("rsn",), ("WPA-EAP",)),
        "wpa-mixed": Encryption(("wpa", "rsn"), ("WPA-EAP",)),
        "wpa3": Encryption(("rsn",), ("WPA-EAP-SHA256",), "required"),
        "wpa3-mixed": Encryption(("rsn",), ("WPA-EAP", "WPA-EAP-SHA256"), "optional"),
        "wpa3-192": Encryption(("rsn",), ("WPA-EAP-SUITE-B-192",), "required", cipher="GCMP-256"),
    }
)
#: Other spellings of the same words.
_SAME: Final = {
    "psk3": "sae",
    "psk3-mixed": "sae-mixed",
    "mixed-psk": "psk-mixed",
    "psk+psk2": "psk-mixed",
    "psk2-mixed": "psk-mixed",
    "wpa2-mixed": "wpa-mixed",
}
#: Text after the word -> pairwise ciphers, as in hostapd.conf.
SUFFIXES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "": "",
        "ccmp": "CCMP",
        "aes": "CCMP",
        "tkip": "TKIP",
        "tkip+ccmp": "CCMP TKIP",
        "tkip+aes": "CCMP TKIP",
        "ccmp+tkip": "CCMP TKIP",
        "aes+tkip": "CCMP TKIP",
        "gcmp": "GCMP",
        "gcmp256": "GCMP-256",
        "ccmp256": "CCMP-256",
    }
)
#: Key management -> the one that 802.11r adds.
_FAST: Final = {
    "WPA-PSK": "FT-PSK",
    "WPA-EAP": "FT-EAP",
    "WPA-EAP-SHA256": "FT-EAP",
    "WPA-EAP-SUITE-B-192": "FT-EAP-SHA384",
    "SAE": "FT-SAE",
    "SAE-EXT-KEY": "FT-SAE-EXT-KEY",
}
_HTMODE: Final = re.compile(r"(HT|VHT|HE|EHT)(20|40|80|160|320)(?:[+-]|-[12])?")
_PHYS: Final = {"HT": "802.11n", "VHT": "802.11ac", "HE": "802.11ax", "EHT": "802.11be"}
_MODES: Final = "NOHT, HT20, HT40, VHT20 to VHT160, HE20 to HE160, EHT20 to EHT320"
_BANDS: Final[dict[str, Band]] = {"2g": "2.4", "5g": "5", "6g": "6"}
_SECRETS: Final = re.compile(
    r"key[1-4]?|password|priv_key\w*pwd\d?|\w*secret|sae_password|wpa_psk|r[01]kh|ext_key|ppsk_key"
)
_PRIVATE: Final = ("identity", "anonymous_identity")
_NO_MATTER: Final = re.compile(
    "|".join(
        (
            "type|path|phy|radio|macaddr|network|ifname|hidden|isolate|wds|wmm|uapsd|maclist",
            "macfile|txpower|antenna_gain|[rt]xantenna|distance|noscan|cell_density|legacy_rates",
            "log_level|country3|short_preamble|greenfield|ldpc|[rt]x_stbc|short_gi_\\w+|max_amsdu",
            "dtim_period|max_inactivity|maxassoc|disassoc_low_ack|skip_inactivity_poll|wps_\\w+",
            "ieee80211[kv]|bss_transition|wnm_\\w+|rrm_\\w+|time_\\w+|proxy_arp|mobility_domain",
            "nasid|ft_\\w+|reassociation_deadline|pmk_r1_push|r0_key_lifetime|r1_key_holder|ocv",
            "beacon_prot|wpa_\\w+|eap_reauth_period|sae_\\w+|rsn_override\\w*|rsn_preauth|okc",
            "multicast_\\w+|ieee80211w_\\w+|auth_(?:server|port)|acct_\\w+|server|port|dae_\\w+",
            "own_ip_addr|vlan_\\w+|dynamic_vlan|iw_\\w+|hs20\\w*|mbo|tdls_\\w+|airtime_\\w+|rnr",
            "background_radar|he_\\w+|mu_\\w+|su_\\w+|vendor_\\w+|num_global_macaddr|rxldpc",
            "country_ie|doth|start_disabled|default_disabled|ca_cert\\w*|client_cert\\w*|subject_\\w+",
            "altsubject_\\w+|domain_\\w+|owe_groups|owe_ptk_workaround|transition_disable|dpp\\w*",
            "channels|acs_\\w+|priority|mesh_\\w+|mlo|ht_coex|rts|frag|beacon_rate|htmode_\\w+|name",
            "default_radio\\w*|wpad\\w*|local_pwr_\\w+|he_bss_color|band_steer\\w*|eap_server\\w*",
            "disabled_reason|dtim|ampdu|bridge_\\w+|fils\\w*|erp_\\w+|interworking|ppsk|tags",
        )
    )
)


@define
class _Section:
    kind: str
    name: str
    #: option -> line and value; of a list the values in one.
    options: dict[str, tuple[int, str]] = field(factory=dict)
    broken: list[int] = field(factory=list)


def matches(text: str) -> bool:
    """Whether a text has sections of radios or interfaces."""
    return _SECTION.search(text) is not None or _SHOWN.search(text) is not None


def is_shown(text: str) -> bool:
    """Whether a text is the output of ``uci show``, and not a file."""
    return _SHOWN.search(text) is not None


def drafts(text: str, source: str) -> Iterator[Draft]:
    """One draft per ``wifi-iface``.

    Raises ``UsageError`` for an ``htmode`` that is unknown: PHY and width are it.
    """
    sections = list(_shown(text) if _SHOWN.search(text) else _written(text))
    radios = {section.name: section for section in sections if section.kind == "wifi-device"}
    for section in sections:
        if section.kind == "wifi-iface":
            _, device = section.options.get("device", (0, ""))
            # A list of devices is one network of several links.
            yield _network(section, [radios[d] for d in device.split() if d in radios], source)


def _written(text: str) -> Iterator[_Section]:
    section: _Section | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        words = _words(line)
        if words is not None and not words:
            continue
        if words is not None and words[0] == "config" and len(words) in (2, 3):
            if section is not None:
                yield section
            section = _Section(words[1], words[2] if len(words) == 3 else f"@{number}")
        elif words is not None and words[0] in ("option", "list") and len(words) == 3:
            if section is None:
                continue
            _add(section, words[1], number, words[2], more=words[0] == "list")
        elif section is not None and (words is None or words[0] != "package"):
            section.broken.append(number)
    if section is not None:
        yield section


def _shown(text: str) -> Iterator[_Section]:
    """Sections of ``uci show wireless``."""
    sections: dict[str, _Section] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        place, sign, value = line.strip().partition("=")
        parts = place.split(".")
        if not sign or parts[0] != "wireless" or len(parts) not in (2, 3):
            continue
        words = _words(value) or []
        if len(parts) == 2:
            sections[parts[1]] = _Section(words[0] if words else "", parts[1])
        elif parts[1] in sections:
            for word in words:
                _add(sections[parts[1]], parts[2], number, word, more=len(words) > 1)
    yield from sections.values()


def _words(line: str) -> list[str] | None:
    """The words of a line; None where a quote is open."""
    try:
        return shlex.split(line, comments=True)
    except ValueError:
        return None


def _add(section: _Section, key: str, number: int, value: str, *, more: bool) -> None:
    known = section.options.get(key)
    if more and known is not None:
        value = f"{known[1]} {value}"
    section.options[key] = (number, value)


def _network(section: _Section, radios: list[_Section], source: str) -> Draft:
    draft = Draft(source, FORMAT, "access point")
    draft.security.known = True
    draft.interface = section.name
    for radio in radios:
        _radio(draft, radio)
    if not radios:
        draft.contradictions.append(f"{section.name} has no radio: no wifi-device of its name")
    given = {key: value for key, (_, value) in section.options.items()}
    for key, (number, value) in section.options.items():
        _take(draft, number, key, value)
    for number in section.broken:
        draft.strange(number, "", "no option 'key' 'value'")
    _secure(draft, given)
    return draft


def _radio(draft: Draft, section: _Section) -> None:
    """Set the radio of a network, and note its lines."""
    given = {key: value for key, (_, value) in section.options.items()}
    band = _BANDS.get(given.get("band", ""))
    mode = given.get("hwmode", "")
    if band is None and mode:
        band = "5" if mode.removeprefix("11").startswith("a") else "2.4"
    for key, (number, value) in section.options.items():
        said = None
        if key == "band" and band is not None:
            said = f"{band} GHz"
        elif key == "hwmode":
            said = "band"
        elif key == "channel" and (value.isdecimal() or value == "auto"):
            draft.channel = int(value) if value.isdecimal() and int(value) else None
            said = f"channel {value}" if draft.channel else "the access point chooses a channel"
        elif key == "htmode":
            said = _htmode(draft, value)
            if said is None:
                raise UsageError(
                    f"--from {draft.source}: line {number}: htmode {value[:20]!r} is unknown; "
                    f"known are {_MODES}"
                )
        elif key == "country" and country_in(value):
            draft.country = country_in(value)
            said = f"country {draft.country}"
        elif key == "disabled":
            draft.enabled = value not in ("1", "true", "yes", "on")
            said = "enabled" if draft.enabled else "disabled"
        elif key == "beacon_int" and value.isdecimal():
            draft.beacon_interval_tu = int(value)
            said = f"a beacon every {value} TU"
        elif key == "basic_rate":
            rates = [int(word) / 1000 for word in value.split() if word.isdecimal()]
            draft.basic_rates_mbps = tuple(rates)
            said = "basic rates"
        elif key == "supported_rates":
            said = "rates"
        if said is not None:
            draft.read(number, key, value, said)
        elif _NO_MATTER.fullmatch(key) or key.startswith("ht_capab"):
            draft.aside(number, key)
        else:
            draft.strange(number, key)
    draft.band = band or (band_of_channel(draft.channel) if draft.channel else None)
    draft.phy = draft.phy or plain_phy(draft.band)
    by_number = band_of_channel(draft.channel) if draft.channel else None
    if by_number and draft.band and draft.band != "6" and by_number != draft.band:
        draft.contradictions.append(
            f"channel {draft.channel} is at {by_number} GHz, the radio at {draft.band} GHz"
        )
    wide = draft.width_mhz or 20
    if draft.band == "2.4" and wide > 40:
        draft.contradictions.append(f"{wide} MHz at 2.4 GHz, which has 40 MHz at most")


def _htmode(draft: Draft, value: str) -> str | None:
    if value.upper() in ("NONE", "NOHT", ""):
        draft.width_mhz = 20
        return "20 MHz without MCSs"
    found = _HTMODE.fullmatch(value.upper())
    if found is None:
        return None
    draft.phy, draft.width_mhz = _PHYS[found[1]], int(found[2])
    return f"{draft.phy}, {draft.width_mhz} MHz"


def _take(draft: Draft, number: int, key: str, value: str) -> None:
    """Note one option of an interface, and set what needs no other option."""
    security = draft.security
    on = value in ("1", "true", "yes", "on")
    said: str | None = None
    if _SECRETS.fullmatch(key):
        draft.secret(number, key)
        return
    if key in _PRIVATE:
        draft.aside(number, key, "an identity; not kept")
        return
    if key == "device":
        said = "radio"
    elif key == "ssid":
        draft.ssid, said = value, "SSID"
    elif key == "bssid":
        draft.bssid, said = value.lower(), "BSSID"
    elif key == "mode":
        if value in ("sta", "station"):
            draft.role = "station"
        elif value != "ap":
            draft.contradictions.append(f"mode {value}: no network with an access point")
        said = value
    elif key == "disabled":
        draft.enabled = draft.enabled and not on
        said = "disabled" if on else "enabled"
    elif key == "macfilter":
        security.mac_filter = value == "allow"
        said = "MAC filter" if security.mac_filter else "no list of allowed stations"
    elif key.startswith("owe_transition"):
        security.owe_transition = value != "0"
        said = "OWE transition mode"
    elif key == "eap_type":
        for word in value.split():
            method = method_of(word.upper())
            if method is None:
                security.strange_methods.append(word)
            else:
                security.methods.append(method)
        said = "EAP method"
    elif key == "auth":
        said = "inner authentication"
    elif key in ("encryption", "ieee80211w", "ieee80211r", "sae_ext_key", "gcmp256"):
        said = {
            "encryption": "security",
            "ieee80211w": "protected management frames",
            "ieee80211r": "fast transition" if on else "no fast transition",
            "sae_ext_key": "SAE with AKM 24" if on else "no AKM 24",
            "gcmp256": "GCMP-256" if on else "no GCMP-256",
        }[key]
    elif _NO_MATTER.fullmatch(key):
        draft.aside(number, key)
        return
    if said is None:
        draft.strange(number, key)
    else:
        draft.read(number, key, value, said)


def _secure(draft: Draft, given: Mapping[str, str]) -> None:
    """Set what ``encryption`` and the options beside it mean together."""
    security = draft.security
    text = given.get("encryption", "none").lower().replace("/", "+") or "none"
    word, _, suffix = text.partition("+")
    if text.startswith("psk+psk2"):
        word, suffix = "psk+psk2", text.removeprefix("psk+psk2").lstrip("+")
    word = _SAME.get(word, word)
    if text in ("none", "open"):
        security.pmf = "off"
        return
    if word.startswith("wep"):
        _wep(draft, text, given)
        return
    if word == "8021x":
        security.port_control, security.pmf = True, "off"
        return
    meant, ciphers = ENCRYPTIONS.get(word), SUFFIXES.get(suffix)
    if meant is None or ciphers is None:
        security.known = False
        security.strange_akms.append(text)
        draft.remarks.append(f"encryption {text}: unknown to airtoll")
        return
    _offer(draft, meant, ciphers or meant.cipher, given)
    akms = [akm for one in security.offered for akm in one.akms]
    if any(akm.uses_passphrase for akm in akms) and not {"key", "sae_password"} & set(given):
        draft.contradictions.append(f"encryption {text} without a key")
    servers = {"auth_server", "server", "eap_server"} & set(given)
    if draft.role == "access point" and any(akm.is_8021x for akm in akms) and not servers:
        draft.contradictions.append(f"encryption {text} without auth_server: no station can join")


def _wep(draft: Draft, text: str, given: Mapping[str, str]) -> None:
    security = draft.security
    security.pmf = "off"
    security.shared_key = "shared" in text
    key = given.get("key", "")
    value = given.get(f"key{key}", key) if key in ("1", "2", "3", "4") else key
    octets = len(value.removeprefix("s:"))
    security.wep = {5: Cipher.WEP_40, 10: Cipher.WEP_40}.get(octets, Cipher.WEP_104)
    security.wep_length_unknown = octets not in (5, 10, 13, 26)


def _offer(draft: Draft, meant: Encryption, ciphers: str, given: Mapping[str, str]) -> None:
    security = draft.security

    def on(key: str) -> bool:
        return given.get(key, "0") in ("1", "true", "yes", "on")

    levels: dict[str, Pmf] = {"0": "off", "1": "optional", "2": "required"}
    asked = levels.get(given.get("ieee80211w", ""))
    security.pmf = meant.pmf if asked is None else asked
    words = list(meant.words)
    if on("sae_ext_key") and "SAE" in words:
        words.append("SAE-EXT-KEY")
    fast = on("ieee80211r") and meant.elements != ("wpa",)
    if fast:
        words += [_FAST[known] for known in tuple(words) if known in _FAST]
    # The scripts add the AKMs with SHA-256 where management frames are protected.
    if asked in ("optional", "required"):
        words += [f"{known}-SHA256" for known in meant.words if known in ("WPA-PSK", "WPA-EAP")]
    if on("gcmp256") and "GCMP-256" not in ciphers:
        ciphers = f"GCMP-256 {ciphers}"
    pairwise = tuple(c for known in ciphers.split() if (c := cipher_of(known)) is not None)
    for element in meant.elements:
        akms = [akms_of(known)[element] for known in words if element in akms_of(known)]
        offered = Offered(element, tuple(dict.fromkeys(akms)), pairwise)
        security.offered.append(offered)
    security.overriding = meant.overriding
    if meant.overriding:
        # The RSN element has them off, and the elements that override it require them.
        security.pmf = "optional"
    security.group = group_of(frozenset(pairwise))


def phys_with_modes() -> tuple[str, ...]:
    """The PHYs that ``htmode`` names, the newest last."""
    return tuple(_PHYS.values())


@frozen
class RadioSettings:
    """The radio of a written file; ``channel`` None lets the access point choose."""

    phy: str = "802.11ax"
    band: Band = "5"
    channel: int | None = 36
    width_mhz: int = 80
    country: str | None = None


def write(policy: Policy, radio: RadioSettings | None = None) -> str:
    """The text of /etc/config/wireless for a policy, with placeholders for secrets.

    OpenWrt offers some links beside others; a comment names them. Raises ``PolicyError`` where no
    words of ``encryption`` lead new stations to this policy.
    """
    is_example = radio is None
    radio = radio or RadioSettings()
    options, beside = _options(policy)
    device = {
        "type": "mac80211",
        "band": next(word for word, band in _BANDS.items() if band == radio.band),
        "channel": "auto" if radio.channel is None else str(radio.channel),
    }
    letters = [letters for letters, phy in _PHYS.items() if phy == radio.phy]
    device["htmode"] = "NOHT"
    if letters and policy.ht_allowed:
        device["htmode"] = f"{letters[0]}{radio.width_mhz}"
    if radio.country is not None:
        device["country"] = radio.country
    interface = {"device": "radio0", "mode": "ap", "network": "lan", "ssid": "SSID", **options}
    if policy.link.fast_transition:
        interface["ieee80211k"] = "1"
    lines = [f"# {policy.name}; replace what is written in capitals."]
    if is_example:
        lines.append("# Examples: the values of wifi-device; keep those of your router (--from).")
    lines += [f"# Stations may choose {', '.join(beside)}, too."] if beside else []
    if policy.link.fast_transition:
        lines.append(
            "# ieee80211k lets clients ask for the other access points, which usteer or "
            "static-neighbor-reports lists."
        )
    lines += ["config wifi-device 'radio0'"]
    lines += [f"\toption {key} '{value}'" for key, value in device.items()]
    lines += ["", "config wifi-iface 'default_radio0'"]
    lines += [f"\toption {key} '{value}'" for key, value in interface.items()]
    if AccessControl.MAC_ACL in policy.access_control:
        lines += ["\toption macfilter 'allow'", "\tlist maclist '00:00:5e:00:53:01'"]
    return "\n".join(lines) + "\n"


def _options(policy: Policy) -> tuple[dict[str, str], list[str]]:
    """The options of an interface that mean this policy, and other links that they offer."""
    bare = policy.name.split("+")
    name = "+".join(part for part in bare if part.startswith(("wep-", "8021x-")) or part == bare[0])
    link = policy.link
    if link.akm is None and not link.encrypts_data and link.eap_method is None:
        if policy.name.startswith("wep-"):
            raise PolicyError(f"policy {policy.name!r}: OpenWrt has no WEP without encryption")
        return {"encryption": "none"}, []
    fitting: list[tuple[dict[str, str], list[str]]] = []
    for options in _choices():
        section = _Section("wifi-iface", "x", {key: (0, text) for key, text in options.items()})
        found = finish(_network(section, [], ""))
        if name in found.candidates:
            ours = {name, link.transition, *link.overriding}
            others = [one for one in found.offers if one not in ours]
            fitting.append((options, [] if link.transition is not None else others))
            if not fitting[-1][1]:
                break
    if not fitting:
        raise PolicyError(f"policy {policy.name!r}: no encryption word of OpenWrt means it")
    return min(fitting, key=lambda one: len(one[1]))


def _choices() -> Iterator[dict[str, str]]:
    """Options of interfaces, the plainest first."""
    for length, shared in itertools.product((13, 5), ("", "+shared")):
        yield {"encryption": f"wep{shared}", "key": "WEP-KEY-13-CH"[:length]}
    extras: tuple[dict[str, str], ...] = (
        {},
        {"ieee80211r": "1"},
        {"owe_transition": "1"},
        {"sae_ext_key": "1"},
    )
    for extra in (*extras, {"ieee80211w": "1"}):
        for word, suffix in itertools.product(ENCRYPTIONS, SUFFIXES):
            meant = ENCRYPTIONS[word]
            options = {"encryption": f"{word}+{suffix}" if suffix else word, **extra}
            if any(known.startswith("WPA-EAP") for known in meant.words):
                options |= {"auth_server": "192.0.2.1", "auth_secret": "RADIUS-SECRET"}
            elif "OWE" not in meant.words:
                options |= {"key": "PASSPHRASE"}
            yield options
