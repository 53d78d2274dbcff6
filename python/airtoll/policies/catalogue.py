"""The catalogue: which policies are listed, and the names that papers use for them.

Takes a name or an alias; gives the policy. Reads the two tables that ship with the package
(``aliases.toml``); never reads anything else.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from functools import cache
from importlib import resources

from airtoll.errors import PolicyError
from airtoll.policies.display import display_name
from airtoll.policies.grammar import link_names, parse
from airtoll.policies.model import Policy
from airtoll.policies.written import (
    generations,
    openwrt_enterprises,
    several_enterprises,
    written,
)

_LISTED = (
    "open",
    "mac-acl",
    "wep-40",
    "wep-104",
    "wep-104-shared",
    "wep-104-auth",
    "wpa-psk-tkip",
    "wpa-psk-ccmp",
    "wpa2-psk-tkip",
    "wpa2-psk-ccmp",
    "wpa2-psk-sha256-ccmp",
    "wpa2-psk-ccmp-256",
    "wpa2-psk-gcmp",
    "wpa2-psk-gcmp-256",
    "wpa2-ft-psk-ccmp",
    "wpa3-sae-ccmp",
    "wpa3-sae-gcmp-256",
    "wpa3-sae-ext-gcmp-256",
    "wpa3-ft-sae-ccmp",
    "owe-ccmp",
    "8021x-md5",
    "8021x-tls",
    "8021x-ttls",
    "8021x-peap",
    "8021x-teap",
    "8021x-leap",
    "8021x-md5+wep-40",
    "8021x-md5+wep-104",
    "8021x-tls+wep-40",
    "8021x-tls+wep-104",
    "8021x-peap+wep-104",
    "8021x-leap+wep-104",
    "wpa-eap-peap-tkip",
    "wpa-eap-leap-tkip",
    "wpa2-eap-tls-ccmp",
    "wpa2-eap-ttls-ccmp",
    "wpa2-eap-peap-ccmp",
    "wpa2-eap-teap-ccmp",
    "wpa2-eap-leap-ccmp",
    "wpa2-ft-eap-tls-ccmp",
    "wpa3-eap-tls-ccmp",
    "wpa3-eap-tls-gcmp-256",
    "wpa-wpa2-psk-transition",
    "wpa2-wpa3-psk-transition",
    "wpa2-wpa3-psk-compatibility",
    "owe-transition",
    "tsn-wep-104",
    "ipsec-des-md5",
    "ipsec-3des-md5",
    "ipsec-3des-sha1",
    "ipsec-aes-cbc-sha1",
    "ipsec-aes-gcm",
    "wireguard",
    "openvpn",
    "wep-104+ipsec-3des-sha1",
    "8021x-md5+wep-104+ipsec-3des-md5",
    "8021x-tls+wep-104+ipsec-3des-md5",
    "8021x-md5+wep-104+ipsec-3des-sha1",
    "8021x-tls+wep-104+ipsec-3des-sha1",
    "wpa2-psk-ccmp+wireguard",
    "wpa3-sae-ccmp+ipsec-aes-gcm",
)

#: Word -> the names that it may stand for.
_TWO_MEANINGS = {
    "wpa": ("wpa-psk-tkip", "wpa-psk-ccmp", "wpa-eap-peap-tkip"),
    "enterprise": ("WPA2-Enterprise", "WPA3-Enterprise"),
    "personal": ("WPA2-Personal", "WPA3-Personal"),
    "eap": ("WPA2-Enterprise", "WPA3-Enterprise"),
    "802.1x": ("WPA2-Enterprise", "WPA3-Enterprise"),
    "aes": ("wpa2-psk-ccmp", "wpa3-sae-ccmp"),
    "mixed": ("wpa2-wpa3-psk-transition", "wpa-wpa2-psk-transition"),
    "transition": ("wpa2-wpa3-psk-transition", "wpa-wpa2-psk-transition"),
}


@cache
def aliases() -> dict[str, tuple[str, str]]:
    """Alias (lower case) -> (canonical name, source of the alias)."""
    text = resources.files(__package__).joinpath("aliases.toml").read_text("utf-8")
    table: dict[str, dict[str, str]] = tomllib.loads(text)
    return {
        alias.lower(): (name, source)
        for source, rows in table.items()
        for alias, name in rows.items()
    }


@cache
def resolve(name: str) -> Policy:
    """The policy of a name, an alias or a display name, in any case of letters.

    Raises ``PolicyError`` if none is known, the parts cannot be joined, or the word is that of two
    policies; it names the nearest policy, if one is near.
    """
    wanted = name.strip().lower()
    if wanted in _TWO_MEANINGS:
        raise PolicyError(f"policy {name!r}: write {' or '.join(_TWO_MEANINGS[wanted])}")
    hit = aliases().get(wanted)
    known = hit[0] if hit else _displayed().get(wanted)
    # ``wpa2+wireguard``: an alias may be a part.
    parts = [aliases()[part][0] if part in aliases() else part for part in wanted.split("+")]
    joined = known or "+".join(parts)
    try:
        return parse(joined)
    except PolicyError as error:
        if (spoken := _spoken(wanted)) is not None:
            return parse(spoken)
        as_written = written(wanted)
        if as_written is not None and _is_policy(as_written):
            return parse(as_written)
        offered = openwrt_enterprises(wanted)
        if offered is not None:
            older, newer, personal = offered
            raise PolicyError(
                f"policy {name!r}: OpenWrt means {older} and {newer} by it, and no policy is both; "
                f"write the one that the station joins with, or {personal} for Personal"
            ) from error
        if several_enterprises(wanted):
            raise PolicyError(
                f"policy {name!r}: no policy has two generations of Enterprise; write "
                f"{' or '.join(_TWO_MEANINGS['enterprise'])}"
            ) from error
        # The name is the one that was given, not that of its aliases' meanings.
        said = str(error).replace(f"policy {joined!r}", f"policy {name!r}", 1)
        if of_none := re.search(r"wpa-?(?![123](?!\d))\d+", wanted):
            newest = re.sub(re.escape(of_none.group()), "wpa3", wanted)
            meant = newest if _is_known(newest) else "wpa3"
            raise PolicyError(
                f"policy {name!r}: there is no {of_none.group().upper()}, WPA3 is the newest; did "
                f"you mean {meant}?"
            ) from error
        near = nearest(wanted)
        if re.search(r"[\s,]", wanted):
            # The words of the grammar say nothing to those who write the name of a policy.
            said = f"policy {name!r}: no policy has this name, `airtoll policies list` names them"
            alike = difflib.get_close_matches(_words_of(wanted), _names_of_links(), 1, cutoff=0.75)
            near = near or next((_names_of_links()[one] for one in alike), None)
        raise PolicyError(said if near is None else f"{said}; did you mean {near}?") from error


def nearest(name: str) -> str | None:
    """The name that is nearest to an unknown one: with the same words, else with similar ones."""
    parts = [_nearest_part(part) for part in name.strip().lower().split("+")]
    found = "+".join(part for part in parts if part is not None)
    return found if None not in parts and _is_policy(found) else None


def _is_known(name: str) -> bool:
    return name in aliases() or _is_policy(name)


def _is_policy(name: str) -> bool:
    try:
        parse(name)
    except PolicyError:
        return False
    return True


def _nearest_part(part: str) -> str | None:
    known = _parts()
    if part in known:
        return part
    if _is_policy(f"{part}-ccmp"):
        return f"{part}-ccmp"
    words = sorted(part.split("-"))
    for name in known:
        if sorted(name.split("-")) == words:
            return name
    # A name of another generation is another policy, however near its letters are.
    named = generations(part)
    near = difflib.get_close_matches(part, known, 5, cutoff=0.75)
    spoken = difflib.get_close_matches(part, [a for a in aliases() if len(a) > 3], 5, cutoff=0.75)
    found = [*near, *(aliases()[alias][0] for alias in spoken)]
    return next((one for one in found if named <= generations(one)), None)


@cache
def _parts() -> tuple[str, ...]:
    """The parts of the listed policies, then every other link of the grammar."""
    listed = [part for name in _LISTED for part in name.split("+")]
    return tuple(dict.fromkeys([*listed, *link_names()]))


@cache
def _displayed() -> dict[str, str]:
    """Display name (lower case) -> canonical name of a listed policy."""
    return {display_name(policy).lower(): policy.name for policy in catalogue()}


def _words_of(text: str) -> str:
    """A name in words that any sign may join, with one word for fast transition."""
    plain = re.sub(r"(with )?(802\.11r|fast[ -]transition)", "ft", text.lower())
    plain = plain.replace("without encryption", "no encryption")
    return "-".join(re.split(r"[\s,-]+", plain.strip()))


@cache
def _names_of_links() -> dict[str, str]:
    """Display name of a link in plain words, without CCMP-128 too, -> its canonical name."""
    found: dict[str, str] = {}
    named = [(_words_of(display_name(one)), one.name) for one in catalogue() if not one.tunnels]
    named += [(_words_of(display_name(parse(name))), name) for name in link_names()]
    for words, name in named:
        found.setdefault(words, name)
    for words, name in named:
        found.setdefault(words.removesuffix("-ccmp-128"), name)
    return found


def _spoken(text: str) -> str | None:
    """The canonical name of a policy that is named as screens do: ``EAP-TLS with 802.11r``."""
    parts = [_spoken_part(part) for part in text.split("+")]
    found = "+".join(part for part in parts if part is not None)
    return found if None not in parts and _is_policy(found) else None


def _spoken_part(part: str) -> str | None:
    words = _words_of(part)
    if (name := _names_of_links().get(words)) is not None:
        return name
    if words == part:
        return part
    kept = [word for word in words.split("-") if word != "ft"]
    plain = "-".join(kept)
    known = aliases()[plain][0] if plain in aliases() else _names_of_links().get(plain)
    if known is None or len(kept) == len(words.split("-")):
        return known or words
    generation, _, rest = known.partition("-")
    return f"{generation}-ft-{rest}"


def catalogue() -> tuple[Policy, ...]:
    """The listed policies; the grammar composes many more."""
    return tuple(parse(name) for name in _LISTED)
