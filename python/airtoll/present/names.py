"""Names of cells and levels for people: display names, only the factors that vary, units.

Takes a plan; gives short text. The machine's cell names stay in files and JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from typing import Any, Final

from attrs import define

from airtoll.errors import PolicyError
from airtoll.plan import Cell
from airtoll.policies import display_name, resolve
from airtoll.present.digits import plain

#: Ending of a field's name -> unit of its values.
_UNITS: Final = {
    "ms": "ms",
    "us": "us",
    "s": "s",
    "mbps": "Mb/s",
    "dbm": "dBm",
    "db": "dB",
    "octets": "octets",
    "bytes": "octets",
    "kbytes": "KiB",
    "m": "m",
}
#: Field (without its table) -> noun that a number of it counts, or phrase with the value in it.
_PHRASES: Final = {
    "clients": "{} clients",
    "ssids": "{} SSIDs",
    "queue_packets": "a queue of {} packets",
    "queue_type": "a {} queue",
    "wired.queue_type": "a {} queue before the wire",
    "profile_set": "{} profiles",
    "ip": "{}",
    "rssi_dbm": "{} dBm",
    "rate_mbps": "{} Mb/s",
    "mtu_octets": "an MTU of {} octets",
    "tunnel_mtu_octets": "a tunnel MTU of {} octets",
    "frame_bursting_us": "bursts of {} us",
    "handover.method": "{}",
    "handover.stations": "{} stations at once",
    "handover.stagger_s": "{} apart",
    "handover.scan.max_channel_ms": "{} ms a channel",
    "handover.scan.mode": "{} scan",
    "join.multiplication_ms": "{} ms per multiplication",
    "join.group_rekey_tries": "{} tries per group key",
    "flows_per_station": "{} flows",
    "join.flood_per_s": "{} forged commits/s",
    "dtim_period": "a DTIM every {} beacons",
    "join.group_rekey_s": "group keys renewed every {} s",
    "join.chain": "{} certificates",
    "join.ike_chain": "{} certificates",
    "join.ike_additional": "{} keys",
    "join.tls_group": "{} keys",
    "join.eap_fragment_bytes": "EAP fragments of {} octets",
    "radius.requests_per_s": "{} RADIUS requests/s",
    "radius.proxies": "{} RADIUS proxies",
    "radius.transport": "RADIUS over {}",
    "radius.delay_ms": "a RADIUS server {} ms away",
    "radius.loss_ratio": "{} of RADIUS packets lost",
    "transfer_bytes": "a file of {}",
    "wired.delay_us": "a gateway {} away",
}
#: Fields that count a noun.
_PLURALS: Final = ("clients", "ssids", "radius.proxies", "flows_per_station")
#: (field, level) -> words, where the phrase of the field has no sense.
_LEVELS: Final = {
    ("handover.stations", "1"): "one station alone",
    ("radius.delay_ms", "0"): "a RADIUS server on site",
    ("radius.loss_ratio", "0 %"): "no loss",
    ("handover.scan.mode", "active"): "an active scan",
    ("handover.scan.mode", "passive"): "a passive scan",
    ("join.ike_chain", "none"): "a pre-shared key",
    ("join.ike_additional", "none"): "classical keys",
    ("frame_bursting_us", "0"): "no bursts",
    ("dtim_period", "1"): "a DTIM in every beacon",
}
#: Switches: field -> words for true and for false.
_SWITCHES: Final = {
    "join.anti_clogging": ("anti-clogging tokens", "no tokens"),
    "join.tls_resumption": ("resumed TLS sessions", "full TLS"),
    "join.cookies": ("cookies", "no cookies"),
    "join.rosenpass": ("Rosenpass", "no Rosenpass"),
}
_ABBREVIATIONS: Final = {
    "tls": "TLS", "radius": "RADIUS", "ip": "IP", "ssids": "SSIDs", "pmk": "PMK", "cw": "CW",
    "rssi": "signal level", "rts": "RTS", "mpdu": "MPDU", "mtu": "MTU", "eap": "EAP", "ike": "IKE",
}  # fmt: skip
_CCMP: Final = " CCMP-128"
_VALUES: Final = {
    "ipv4": "IPv4",
    "ipv6": "IPv6",
    "codel": "CoDel",
    "fq_codel": "FQ-CoDel",
    "fifo": "FIFO",
    "udp": "UDP",
    "tcp": "TCP",
    "tls": "TLS",
    "full": "a full join",
    "cached-pmk": "a cached PMK",
    "pmksa-caching": "PMKSA caching",
    "fast-transition": "fast transition",
    "fast-transition-ds": "fast transition over the DS",
    "secp256r1": "P-256",
    "x25519mlkem768": "X25519MLKEM768",
    "mlkem768": "ML-KEM-768",
    "mlkem1024": "ML-KEM-1024",
}
#: Times whose level is shown in the unit that suits it: field -> seconds of its unit.
_TIMES: Final = {"handover.stagger_s": 1.0, "wired.delay_us": 1e-6}
#: Fields that hold a chain of certificates: signature algorithms, the leaf's first.
_CHAINS: Final = ("join.chain", "join.ike_chain")
#: Beginnings of names of signature algorithms.
_SIGNATURES: Final = {
    "rsa": "RSA-", "p2": "P-2", "p3": "P-3", "p5": "P-5", "ml-dsa": "ML-DSA", "slh-dsa": "SLH-DSA",
}  # fmt: skip


@cache
def policy_name(policy: str) -> str:
    """The display name of a policy; a name outside of the catalogue stays as it is."""
    try:
        return display_name(resolve(policy))
    except PolicyError:
        return policy


@cache
def axis_name(key: str) -> str:
    """A factor's name with its unit, for an axis: ``RADIUS delay, ms``."""
    words, unit = _split(key)
    return f"{words}, {unit}" if unit else words


def level_name(key: str, value: Any) -> str:
    """A factor's level for people: ``50 clients``, ``RADIUS server 5 ms away``."""
    field = _field(key)
    if field in _SWITCHES:
        return _SWITCHES[field][0 if value else 1]
    shown = short_level(key, value)
    if (field, shown) in _LEVELS:
        return _LEVELS[field, shown]
    if field in _PHRASES:
        text = _PHRASES[field].format(shown)
        return _singular(text) if field in _PLURALS and value == 1 else text
    words, unit = _split(key)
    return f"{words} {shown}" + (f" {unit}" if unit and unit != "%" else "")


def _singular(text: str) -> str:
    return text.removesuffix("ies") + "y" if text.endswith("ies") else text.removesuffix("s")


def short_level(key: str, value: Any) -> str:
    """A level alone, for the ticks of its axis: ``50``, ``5 %``."""
    if isinstance(value, bool):
        switch = _SWITCHES.get(_field(key), ("on", "off"))
        return switch[0 if value else 1]
    if isinstance(value, int | float):
        if key.endswith("_ratio"):
            return f"{100 * value:g} %"
        if key.endswith("transfer_bytes"):
            return f"{value / 1e6:.3g} MB" if value >= 1e6 else f"{value / 1e3:.3g} kB"
        if _field(key) in _TIMES:
            return plain(value * _TIMES[_field(key)], "s")
        return f"{value:g}"
    if _field(key) in _CHAINS:
        return " + ".join(map(_signature, str(value).split("+")))
    return _VALUES.get(str(value), str(value))


def _signature(name: str) -> str:
    """A signature algorithm of a certificate chain: ``ML-DSA-44``."""
    for start, words in _SIGNATURES.items():
        if name.startswith(start):
            return words + name.removeprefix(start)
    return name


@define(frozen=True, slots=False)
class Names:
    """Names of the cells of a plan, or of policies without a plan."""

    cells: Sequence[Cell]
    policies: Sequence[str] = ()

    @cached_property
    def _of(self) -> dict[str, Cell]:
        return {cell.name: cell for cell in self.cells}

    @cached_property
    def scenarios(self) -> tuple[str, ...]:
        """The scenarios, in the order of the study."""
        return tuple(dict.fromkeys(cell.scenario for cell in self.cells))

    @cached_property
    def traffics(self) -> tuple[str, ...]:
        """The traffics, in the order of the study."""
        return tuple(dict.fromkeys(cell.traffic for cell in self.cells))

    @cached_property
    def _labels(self) -> dict[tuple[str, str], str]:
        found = {}
        for cell in self.cells:
            found["scenario", cell.scenario] = cell.settings.label or cell.scenario
            found["traffic", cell.traffic] = cell.load.label or cell.traffic
            if cell.profile_label:
                level = str(dict(cell.factors)["profile_set"])
                found["profile_set", level] = cell.profile_label
        return found

    def level(self, axis: str, value: Any) -> str:
        """A level of an axis or of a factor for people: a policy, a label, `50 clients`."""
        if axis == "policy":
            return policy_name(str(value))
        if axis in ("scenario", "traffic"):
            return self._labels.get((axis, str(value)), str(value))
        if axis == "profile_set":
            return self._labels.get((axis, str(value))) or level_name(axis, value)
        return level_name(axis, value)

    def spoken(self, policy: str) -> str:
        """A policy inside a sentence: without commas, and without CCMP where no other cipher of the
        plan needs telling apart.
        """
        return self._spoken.get(policy) or _in_a_sentence(policy_name(policy))

    @cached_property
    def _spoken(self) -> dict[str, str]:
        full = {
            policy: _in_a_sentence(policy_name(policy))
            for policy in dict.fromkeys([*self.policies, *(cell.policy for cell in self.cells)])
        }
        short = {policy: words.replace(_CCMP, "") for policy, words in full.items()}
        # Only what ends with its cipher has others beside it: "WPA3-Personal GCMP-256".
        bare = {policy: _without_cipher(words) for policy, words in full.items()}
        shared = [one for one in set(bare.values()) if list(bare.values()).count(one) > 1]
        return _apart(
            {policy: full[policy] if bare[policy] in shared else short[policy] for policy in full}
        )

    @cached_property
    def levels(self) -> dict[str, tuple[Any, ...]]:
        """The factors with two levels or more, and their levels in the order of the study."""
        found: dict[str, dict[Any, None]] = {}
        for cell in self.cells:
            for key, value in cell.factors:
                found.setdefault(key, {})[value] = None
        return {key: tuple(values) for key, values in found.items() if len(values) > 1}

    @cached_property
    def plain(self) -> dict[str, Any]:
        """The first level of each factor that varies."""
        return {key: levels[0] for key, levels in self.levels.items()}

    @cached_property
    def of_policies(self) -> frozenset[str]:
        """Factors that vary under at most half of the policies: variants of these policies."""
        policies = dict.fromkeys(cell.policy for cell in self.cells)
        found = set()
        for key in self.levels:
            per_policy = [
                {dict(cell.factors).get(key) for cell in self.cells if cell.policy == policy}
                for policy in policies
            ]
            varying = sum(len(levels) > 1 for levels in per_policy)
            if 2 * varying <= len(policies):
                found.add(key)
        return frozenset(found)

    def place(
        self, scenario: str, traffic: str, factors: str = "{}", without: Iterable[str] = ()
    ) -> str:
        """Scenario, traffic and factor levels, as far as they vary in the plan.

        ``factors``: JSON. ``without``: axes that the reader knows already, ``policy`` for the
        factors that are variants of a policy.
        """
        left = set(without)
        words = []
        if len(self.scenarios) > 1 and "scenario" not in left:
            words.append(self.level("scenario", scenario))
        if len(self.traffics) > 1 and "traffic" not in left:
            words.append(self.level("traffic", traffic))
        if "policy" in left:
            left |= self.of_policies
        levels = json.loads(factors)
        # In the order of the study's grid, as the cells are.
        words += [
            self.level(key, levels[key]) for key in self.levels if key in levels and key not in left
        ]
        return ", ".join(words)

    @cached_property
    def _variants(self) -> dict[str, dict[str, Any]]:
        """By policy: the factors that vary under it and not under every policy, with the level of
        its first cell, which is the plain policy.
        """
        levels: dict[str, dict[str, list[Any]]] = {}
        keys = [key for key in self.levels if key in self.of_policies]
        for cell in self.cells if keys else ():
            own = dict(cell.factors)
            for key in keys:
                levels.setdefault(cell.policy, {}).setdefault(key, []).append(own.get(key))
        return {
            policy: {key: values[0] for key, values in of.items() if len(set(values)) > 1}
            for policy, of in levels.items()
        }

    def variant(self, policy: str, factors: str = "{}") -> str:
        """A policy with the factors that vary under it and not under every policy."""
        words = [policy_name(policy)]
        plain = self._variants.get(policy)
        if plain:
            levels = json.loads(factors)
            words += [
                level_name(key, levels[key])
                for key, first in plain.items()
                if key in levels and levels[key] != first
            ]
        return ", ".join(words)

    def cell(self, name: str) -> str:
        """A cell in words: the policy and its place."""
        cell = self._of.get(name)
        if cell is None:
            return name
        place = self.place(cell.scenario, cell.traffic, cell.factors_json, ("policy",))
        policy = self.variant(cell.policy, cell.factors_json)
        return f"{policy} ({place})" if place else policy


def _in_a_sentence(name: str) -> str:
    """The name of a policy without commas; an open network is no name, and no part of one."""
    words = name.replace(", no encryption", " without encryption")
    words = words.replace(", fast transition", " with 802.11r").replace(", ", " ")
    words = re.sub(r"^Open$", "an open network", words)
    return re.sub(r"^Open \+ ", "", words)


def _apart(names: dict[str, str]) -> dict[str, str]:
    """Names without the words that all have in common; the open network is told by its own.

    Where all differ in their tunnels alone, the link without one has no tunnel.
    """
    secured = {policy: words for policy, words in names.items() if words != "an open network"}
    if len(secured) < 2:
        return names
    split = [words.split() for words in secured.values()]
    count = 0
    while all(len(words) > count for words in split) and len({w[count] for w in split}) == 1:
        count += 1
    rest = {policy: words.split()[count:] for policy, words in secured.items()}
    if all(not words or words[0] == "+" for words in rest.values()):
        return names | {p: " ".join(w[1:]) or "no tunnel" for p, w in rest.items()}
    while count and not all(words and words[0][0].isupper() for words in rest.values()):
        count -= 1
        rest = {policy: words.split()[count:] for policy, words in secured.items()}
    return names | {policy: " ".join(words) for policy, words in rest.items()}


def _without_cipher(words: str) -> str:
    return re.sub(r" (SAE-EXT|TKIP|[CG]CMP-(128|256))", "", words)


def _field(key: str) -> str:
    """A factor without its table."""
    return key.partition(".")[2] if key.startswith(("scenario.", "traffic.")) else key


def _split(key: str) -> tuple[str, str]:
    """The words of a factor and the unit of its values."""
    parts = _field(key).split(".")
    # `handover.walk.hysteresis_db` is the hysteresis; of `radius.delay_ms` both words are needed.
    kept = parts[-1:] if len(parts) != 2 or parts[0] in ("handover", "join") else parts
    words = " ".join(kept).split("_")
    unit = ""
    if words[-2:] == ["per", "s"]:
        words[-1] = "second"
    elif len(words) > 1 and words[-1] in _UNITS:
        unit = _UNITS[words.pop()]
    elif words[-1] == "ratio":
        words.pop()
        unit = "%"
    text = " ".join(_ABBREVIATIONS.get(word, word) for part in words for word in part.split())
    return text, unit
