"""A second SSID beside the network of a file, with a policy of its own.

Takes the text of hostapd.conf or of OpenWrt's /etc/config/wireless, and the settings of a policy in
the same form; gives the text with one more network on each radio. Name and passphrase of the second
network are placeholders.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Final

from airtoll.errors import PolicyError, UsageError
from airtoll.network import hostapd_conf, supplicant_conf
from airtoll.network.changing import (
    PASSPHRASES,
    Form,
    Section,
    chosen_of,
    keys_of,
    networks_in,
    sections_of,
    written_form,
)
from airtoll.policies import Policy, resolve
from airtoll.policies.gates import why_not_at_6ghz
from airtoll.policies.model import AccessControl

#: Keys of the first network that hold for the second, too, beside those of its RADIUS server.
_OF_BSS: Final = ("bridge", "ctrl_interface", "ctrl_interface_group", "wmm_enabled")
_OF_INTERFACE: Final = ("mode", "network", "isolate")
_SSID: Final = "SECOND-SSID"
_PASSPHRASE: Final = "SECOND-PASSPHRASE"
#: Characters of an interface's name (IFNAMSIZ of Linux without the octet that ends it).
_LONGEST: Final = 15


def with_second(
    text: str,
    source: str,
    policy: Policy,
    example: str,
    ssid: str | None = None,
    band: str | None = None,
) -> str:
    """The text with a second network of a policy, on the radios of the network of an SSID.

    ``example``: settings of the policy in the same form. ``band``: GHz; on the radios of this band
    alone. A radio at 6 GHz is left out where it does not take the policy. Raises ``UsageError`` for
    a file of stations, several networks and no ``ssid``, or no radio that takes the policy;
    ``PolicyError`` where the form has no second network of this policy.
    """
    form = written_form(text, source)
    if form.reader is supplicant_conf:
        raise UsageError(
            f"--second-ssid: {source} is of a station; the file of the access point has the SSIDs"
        )
    before = networks_in(form, text, source)
    if any(one.name == _SSID for one in before):
        raise UsageError(f"--second-ssid: {source} has one; give {_SSID} its name first")
    if AccessControl.MAC_ACL in policy.access_control:
        raise PolicyError(f"policy {policy.name!r}: a list of stations goes with no second SSID")
    chosen = chosen_of(before, source, ssid, band)
    reason = why_not_at_6ghz(policy)
    fitting = [index for index in chosen if reason is None or before[index].band != "6"]
    if not fitting:
        raise UsageError(f"--second-ssid {policy.name}: not at 6 GHz: {reason}")
    sections = list(sections_of(form, text))
    wanted = keys_of(form, example)
    own = {key: value for key, value in wanted.items() if key in form.own or key in form.given}
    new: list[str] = []
    if form.reader is hostapd_conf:
        # The file has one radio, and the first section its interface.
        fitting = fitting[:1]
        new += _bss(text, _keys(sections[0]), _keys(sections[fitting[0]]), form, own)
    else:
        for index in fitting:
            new += [*([""] if new else []), *_interface(text, sections[index], form, own, source)]
    head = [f"# A second SSID, {policy.name}; replace what is written in capitals."]
    if any(key in PASSPHRASES for key in own):
        head.append("# Take another passphrase: this SSID may give its own away.")
    done = "\n".join([*text.splitlines(), "", *head, *new]) + "\n"
    found = [one for one in networks_in(form, done, source) if one.name == _SSID]
    known = {words for one in before for words in one.contradictions}
    means = all(
        policy.link in {resolve(name).link for name in one.candidates}
        and not set(one.contradictions) - known
        for one in found
    )
    if len(found) != len(fitting) or not means:
        raise PolicyError(f"policy {policy.name!r}: no second SSID in {source} means it")
    return done


def _keys(section: Section) -> dict[str, str]:
    return {entry.key: entry.value for entry in section.entries}


def _values(form: Form, own: Mapping[str, str], first: Mapping[str, str]) -> dict[str, str]:
    """The keys of the policy; those of one place have the values of the file."""
    return {
        key: _PASSPHRASE
        if key in PASSPHRASES
        else first.get(key, value)
        if key in form.given
        else value
        for key, value in own.items()
    }


def _bss(
    text: str,
    radio: Mapping[str, str],
    first: Mapping[str, str],
    form: Form,
    own: Mapping[str, str],
) -> Iterator[str]:
    """The lines of a BSS, which end the file: what follows ``bss`` is of that BSS."""
    name = radio.get("interface", "wlan0")
    taken = set(re.findall(r"^\s*(?:interface|bss)\s*=\s*(\S+)", text, re.MULTILINE))
    names = (f"{name[: _LONGEST - 1 - len(str(n))]}_{n}" for n in itertools.count(1))
    yield f"bss={next(one for one in names if one not in taken)}"
    yield f"ssid={_SSID}"
    yield from (f"{key}={first[key]}" for key in _OF_BSS if key in first)
    yield from (f"{key}={value}" for key, value in _values(form, own, first).items())


def _interface(
    text: str, section: Section, form: Form, own: Mapping[str, str], source: str
) -> Iterator[str]:
    """The lines of an interface on the radio of another one."""
    first = _keys(section)
    radios = [word for one in section.entries if one.key == "device" for word in one.value.split()]
    if len(radios) != 1:
        raise UsageError(
            f"--second-ssid: a wifi-iface of {source} has {len(radios)} radios, not one"
        )
    options = {"device": radios[0]}
    options |= {key: first[key] for key in _OF_INTERFACE if key in first}
    options |= {"ssid": _SSID, **_values(form, own, first)}
    taken = set(re.findall(r"^\s*config\s+\S+\s+['\"]?(\w+)", text, re.MULTILINE))
    names = itertools.chain(("second",), (f"second{n}" for n in itertools.count(2)))
    free = next(one for n in names if (one := f"{n}_{radios[0]}") not in taken)
    yield f"config wifi-iface '{free}'"
    yield from (f"\toption {key} '{value}'" for key, value in options.items())
