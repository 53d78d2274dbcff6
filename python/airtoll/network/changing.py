"""A file of settings with another policy: the lines that the policy needs are changed, no others.

Takes the text of hostapd.conf, of OpenWrt's /etc/config/wireless or of wpa_supplicant.conf, and the
settings of a policy in the same form; gives the text again with its changed lines. Secrets of the
file stay where they are, and are in no change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Protocol

from attrs import field, frozen

from airtoll.errors import PolicyError, UsageError
from airtoll.network import hostapd_conf, openwrt, supplicant_conf
from airtoll.network.draft import Draft
from airtoll.network.hostap import PMF
from airtoll.network.judging import finish
from airtoll.network.model import Network
from airtoll.policies import Policy, resolve
from airtoll.policies.gates import why_not_at_6ghz


class Reader(Protocol):
    """A reader of one form of files."""

    def matches(self, text: str) -> bool:
        """Whether a text has the form."""

    def drafts(self, text: str, source: str) -> Iterator[Draft]:
        """One draft for each network."""


@frozen(eq=False)
class Form:
    """One form of files.

    ``own``: keys that the policy decides; ``first`` of them is set in any case. ``given``: keys
    that belong to one place, and secrets, with the keys that may stand for them: they are added
    where the file has none of these. ``beside``: keys that serve the policy and mean no part of it:
    they are added, and stay as they are. ``defaults``: values that a missing key has.
    """

    reader: Reader
    first: tuple[str, ...]
    own: tuple[str, ...]
    given: Mapping[str, tuple[str, ...]]
    beside: tuple[str, ...] = ()
    defaults: Mapping[str, str] = field(factory=dict)


_RADIUS: Final = ("auth_server_addr", "auth_server_port", "auth_server_shared_secret")
FORMS: Final = (
    Form(
        openwrt,
        first=("encryption", "ieee80211r", "sae_ext_key"),
        own=("encryption", "ieee80211w", "ieee80211r", "sae_ext_key", "gcmp256", "owe_transition"),
        given={
            "key": ("sae_password",),
            "auth_server": ("server", "eap_server"),
            "auth_secret": (),
        },
        beside=("ieee80211k",),
    ),
    Form(
        supplicant_conf,
        first=("key_mgmt", "ieee80211w", "eap"),
        own=(
            "key_mgmt", "proto", "pairwise", "group", "ieee80211w", "eap", "auth_alg", "phase2",
        ),
        given={
            "psk": ("sae_password",),
            "sae_password": ("psk",),
            "identity": (),
            "password": (),
            "ca_cert": ("ca_path",),
            "client_cert": (),
            "private_key": (),
        },
    ),
    Form(
        hostapd_conf,
        first=("wpa", "wpa_key_mgmt", "rsn_pairwise", "ieee80211w"),
        own=(
            "wpa", "wpa_key_mgmt", "rsn_pairwise", "wpa_pairwise", "ieee80211w", "ieee8021x",
            "group_cipher", "group_mgmt_cipher", "auth_algs", "eap_server",
        ),
        given={
            "wpa_passphrase": ("wpa_psk", "wpa_psk_file"),
            "sae_password": ("wpa_passphrase", "sae_password_file"),
            **{key: ("eap_server",) if key == "auth_server_addr" else () for key in _RADIUS},
            "own_ip_addr": (),
            "nas_identifier": (),
            "mobility_domain": (),
            "ft_over_ds": (),
            "ft_psk_generate_local": (),
            "r1_key_holder": (),
            "pmk_r1_push": (),
        },
        beside=("rrm_neighbor_report",),
        defaults={"ieee80211w": "0"},
    ),
)  # fmt: skip
PASSPHRASES: Final = ("key", "psk", "sae_password", "wpa_passphrase")
_OPTION: Final = re.compile(
    r"(?P<head>\s*(?:option|list)\s+['\"]?(?P<key>\w+)['\"]?\s+)(?P<value>.*)"
)
_ASSIGNED: Final = re.compile(r"(?P<head>\s*(?P<key>[A-Za-z0-9_.-]+)\s*=\s*)(?P<value>.*)")
_QUOTED: Final = re.compile(r"'[^']*'|\"[^\"]*\"|\S+")


@frozen
class Change:
    """One line. ``number``: in the old text, from 1; of a new line, that of the line before it.

    ``old``, ``new``: None where the line is added or removed.
    """

    number: int
    old: str | None
    new: str | None


@frozen
class Changed:
    """``text``: the whole file; ``changes``: its changed lines, in order."""

    text: str
    changes: tuple[Change, ...]
    network: Network


@frozen
class Entry:
    """One key. ``line``: from 0."""

    line: int
    key: str
    value: str


@frozen
class Section:
    """The entries of one network, and the line after which new ones go."""

    entries: tuple[Entry, ...]
    last: int


def form_of(text: str) -> str | None:
    """The program of a text's form: openwrt, hostapd or wpa-supplicant; None for other texts."""
    names = dict(zip(FORMS, ("openwrt", "wpa-supplicant", "hostapd"), strict=True))
    return next((names[one] for one in FORMS if one.reader.matches(text)), None)


def written_form(text: str, source: str) -> Form:
    """The form of a text that is written, too. Raises ``UsageError`` for other texts."""
    form = next((one for one in FORMS if one.reader.matches(text)), None)
    if form is None or (form.reader is openwrt and openwrt.is_shown(text)):
        raise UsageError(
            f"--from {source}: settings are written as hostapd.conf, OpenWrt's "
            "/etc/config/wireless (the file itself) or wpa_supplicant.conf"
        )
    return form


def changed(
    text: str,
    source: str,
    policy: Policy,
    example: str,
    ssid: str | None,
    band: str | None = None,
) -> Changed:
    """The text with the policy for the network of an SSID, on all of its radios.

    ``example``: settings of the policy in the same form. ``band``: GHz; on the radios of this band
    alone. Raises ``UsageError`` for a form that is not written, several networks and no ``ssid``,
    a band that no radio is known to have, or a policy that 6 GHz does not take; ``PolicyError``
    where no change of the lines of security leads to the policy.
    """
    form = written_form(text, source)
    before = networks_in(form, text, source)
    chosen = chosen_of(before, source, ssid, band)
    _refuse_6ghz(policy, [before[index] for index in chosen], source)
    wanted = keys_of(form, example)
    sections = list(sections_of(form, text))
    if any(entry.key == "ieee80211w" for index in chosen for entry in sections[index].entries):
        # An example that leaves it to the default of its encryption would keep the file's value.
        wanted.setdefault("ieee80211w", str(PMF[policy.link.pmf]))
    for attempt in range(3):
        lines, changes = _edited(form, text, chosen, wanted, attempt)
        found = networks_in(form, "\n".join(lines) + "\n", source)
        if all(_means(found[index], before[index], policy) for index in chosen):
            return Changed("\n".join(lines) + "\n", tuple(changes), found[chosen[0]])
    raise PolicyError(
        f"policy {policy.name!r}: no change of the lines of security in {source} means it"
    )


def networks_in(form: Form, text: str, source: str) -> list[Network]:
    """The networks of a file, in its order."""
    return [finish(draft) for draft in form.reader.drafts(text, source)]


def _refuse_6ghz(policy: Policy, networks: Sequence[Network], source: str) -> None:
    reason = why_not_at_6ghz(policy)
    if reason is None or all(one.band != "6" for one in networks):
        return
    others = [one.band for one in networks if one.band not in (None, "6")]
    cure = f"; --band {others[0]} changes the other radio alone" if others else ""
    raise UsageError(f"--from {source}: {policy.name}: not at 6 GHz: {reason}{cure}")


def chosen_of(
    networks: Sequence[Network], source: str, ssid: str | None, band: str | None
) -> list[int]:
    """Indices of the radios of one network. Raises ``UsageError`` where none or several fit."""
    if band is not None:
        at = [one for one in networks if one.band == band and ssid in (None, one.name)]
        if not at:
            told = ", ".join(dict.fromkeys(f"{one.band} GHz" for one in networks if one.band))
            raise UsageError(f"--band {band}: {source} has {told or 'no band or channel'}")
        named = list(dict.fromkeys(one.name for one in at if one.enabled or len(at) == 1))
        if len(named) > 1:
            raise UsageError(f"--from {source}: several networks; say --ssid: {', '.join(named)}")
        return [networks.index(one) for one in at if one.name in named]
    names = list(dict.fromkeys(one.name for one in networks if one.enabled))
    if ssid is None and len(names) > 1:
        raise UsageError(f"--from {source}: several networks; say --ssid: {', '.join(names)}")
    found = [
        number
        for number, one in enumerate(networks)
        if one.name == (ssid or (names[0] if names else one.name))
    ]
    if not found:
        raise UsageError(f"--ssid {ssid}: {source} has {', '.join(names)}")
    return found


def _means(found: Network, before: Network, policy: Policy) -> bool:
    """Whether a network has the policy, without settings that defeat it.

    A file may leave the EAP method open, and offer a transition of which the policy is a part.
    """
    if set(found.contradictions) - set(before.contradictions):
        return False
    return policy.link in {resolve(name).link for name in found.candidates}


def keys_of(form: Form, example: str) -> dict[str, str]:
    """The keys of an example with one network, and their values."""
    (section,) = sections_of(form, example)
    return {entry.key: entry.value for entry in section.entries}


def _edited(
    form: Form, text: str, chosen: Sequence[int], wanted: Mapping[str, str], attempt: int
) -> tuple[list[str], list[Change]]:
    """The lines with the keys of a policy. ``attempt``: 0, keys that are there or come first; 1,
    all of the policy's; 2, and without keys that it does not have.
    """
    lines = text.splitlines()
    sections = list(sections_of(form, text))
    changes = []
    new_lines: dict[int, list[str]] = {}
    removed: set[int] = set()
    for index in chosen:
        section = sections[index]
        have = {entry.key: entry for entry in section.entries}
        for key, value in wanted.items():
            entry = have.get(key)
            if key in form.own and entry is not None and entry.value != value:
                new = _with_value(lines[entry.line], value)
                changes.append(Change(entry.line + 1, lines[entry.line], new))
                lines[entry.line] = new
            if entry is not None or form.defaults.get(key) == value:
                continue
            is_own = key in form.own and (attempt > 0 or key in form.first)
            is_given = key in form.given and not _stands_for(key, form.given[key], have)
            if is_own or key in form.beside or (is_given and (attempt > 0 or key in PASSPHRASES)):
                line = _new_line(form, lines[section.last], key, value)
                new_lines.setdefault(section.last, []).append(line)
                changes.append(Change(section.last + 1, None, line))
        if attempt > 1:
            for key in set(form.own) & have.keys() - wanted.keys():
                removed.add(have[key].line)
                changes.append(Change(have[key].line + 1, lines[have[key].line], None))
    found = []
    for number, line in enumerate(lines):
        if number not in removed:
            found.append(line)
        found += new_lines.get(number, [])
    return found, sorted(changes, key=lambda one: one.number)


def _stands_for(key: str, others: Sequence[str], have: Mapping[str, Entry]) -> bool:
    """Whether a file has a key that may stand for another one."""
    # SAE needs the passphrase: 64 digits of a PSK do not do.
    raw = {"psk"} if key == "sae_password" and "psk" in have else set()
    raw = {one for one in raw if not have[one].value.startswith('"')}
    return bool({*others} & have.keys() - raw)


def sections_of(form: Form, text: str) -> Iterator[Section]:
    """One section for each network, in the order of the drafts of the reader."""
    if form.reader is hostapd_conf:
        yield from _assigned(text, r"\s*bss\s*=", first_is_one=True)
    elif form.reader is supplicant_conf:
        yield from _assigned(text, r"\s*network\s*=\s*\{", first_is_one=False)
    else:
        yield from _of_openwrt(text)


def _assigned(text: str, begins: str, *, first_is_one: bool) -> Iterator[Section]:
    entries: list[Entry] = []
    is_open, last = first_is_one, 0
    for number, line in enumerate(text.splitlines()):
        words = line.strip()
        if re.match(begins, line):
            if is_open:
                yield Section(tuple(entries), last)
            entries, is_open, last = [], True, number
        elif words.startswith("}") and not first_is_one:
            if is_open:
                yield Section(tuple(entries), last)
            entries, is_open = [], False
        elif words and not words.startswith("#") and is_open and (found := _ASSIGNED.match(line)):
            entries.append(Entry(number, found["key"], found["value"].strip()))
            last = number
    if is_open:
        yield Section(tuple(entries), last)


def _of_openwrt(text: str) -> Iterator[Section]:
    entries: list[Entry] = []
    is_open, last = False, 0
    for number, line in enumerate(text.splitlines()):
        words = line.split()
        if words[:1] == ["config"]:
            if is_open:
                yield Section(tuple(entries), last)
            entries, last = [], number
            is_open = len(words) > 1 and words[1].strip("'\"") == "wifi-iface"
        elif is_open and (found := _OPTION.match(line)):
            quoted = _QUOTED.match(found["value"])
            value = quoted[0].strip("'\"") if quoted else ""
            entries.append(Entry(number, found["key"], value))
            last = number
    if is_open:
        yield Section(tuple(entries), last)


def _with_value(line: str, value: str) -> str:
    """The line with another value; its indentation and a comment behind it stay."""
    option = _OPTION.match(line)
    if option is not None:
        rest = _QUOTED.sub("", option["value"], count=1)
        return f"{option['head']}'{value}'{rest}"
    found = _ASSIGNED.match(line)
    assert found is not None
    return f"{found['head']}{value}"


def _new_line(form: Form, beside: str, key: str, value: str) -> str:
    indent = beside[: len(beside) - len(beside.lstrip())]
    if form.reader is openwrt:
        return f"{indent or chr(9)}option {key} '{value}'"
    if form.reader is supplicant_conf:
        indent = indent or "\t"
    return f"{indent}{key}={value}"
