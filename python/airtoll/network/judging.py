"""From what a source says of the security of a network to the airtoll policy.

Takes a :class:`Draft`; gives a :class:`Network` with its policy, the links that it offers, what had
to be assumed, and settings that exclude one another. Never guesses silently.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from attrs import field, frozen

from airtoll.network.draft import Draft, Security
from airtoll.network.model import Network
from airtoll.policies import Cipher, EapMethod, resolve
from airtoll.policies.gates import findings
from airtoll.policies.grammar import link_name
from airtoll.policies.standing import strength
from airtoll.policies.suites import eap_methods

_PERSONAL_TRANSITION: Final = "wpa2-wpa3-psk-transition"
_OLD_TRANSITION: Final = "wpa-wpa2-psk-transition"
_COMPATIBILITY: Final = "wpa2-wpa3-psk-compatibility"
_OWE_TRANSITION: Final = "owe-transition"
_TSN: Final = "tsn-wep-104"
#: The only method of WPA3-Enterprise's 192-bit mode (Wi-Fi Alliance, WPA3 Specification).
_OF_192_BIT: Final = EapMethod("tls")
#: Names of networks whose usual EAP method is that of the alias table.
_USUAL: Final = {"wpa": "WPA-Enterprise", "wpa2": "WPA2-Enterprise", "wpa3": "WPA3-Enterprise"}


@frozen
class Judgement:
    """The conclusions from a source; fields as of ``Network``."""

    policy: str | None = None
    candidates: tuple[str, ...] = ()
    offers: tuple[str, ...] = ()
    fast_transition: bool = False
    remarks: list[str] = field(factory=list)
    assumed: list[str] = field(factory=list)
    contradictions: list[str] = field(factory=list)


def finish(draft: Draft) -> Network:
    """The network of a draft, with its policy judged."""
    found = judge(draft)
    methods = draft.security.methods
    return Network(
        sources=(draft.source,),
        formats=(draft.format,),
        role=draft.role,
        ssid=draft.ssid,
        bssid=draft.bssid,
        interface=draft.interface,
        in_use=draft.in_use,
        enabled=draft.enabled,
        policy=found.policy,
        candidates=found.candidates,
        offers=found.offers,
        pmf=draft.security.pmf,
        group_cipher=draft.security.group,
        eap_method=methods[0] if len(methods) == 1 else None,
        fast_transition=found.fast_transition,
        phy=draft.phy,
        band=draft.band,
        channel=draft.channel,
        width_mhz=draft.width_mhz,
        rate_mbps=draft.rate_mbps,
        basic_rates_mbps=draft.basic_rates_mbps,
        beacon_interval_tu=draft.beacon_interval_tu,
        signal_dbm=draft.signal_dbm,
        stations=draft.stations,
        country=draft.country,
        remarks=tuple(dict.fromkeys((*draft.remarks, *found.remarks))),
        assumed=tuple(dict.fromkeys((*draft.assumed, *found.assumed))),
        contradictions=tuple(dict.fromkeys((*draft.contradictions, *found.contradictions))),
        understood=tuple(draft.understood),
        set_aside=tuple(draft.set_aside),
        not_understood=tuple(draft.not_understood),
    )


_UNSAID: Final = (
    "the source does not say how the network is secured; `iw dev NAME scan` and "
    "`nmcli -f ALL device wifi list` do, and --from takes the name of a policy"
)


def judge(draft: Draft) -> Judgement:
    """The policy of a draft, with everything that has to be said about it."""
    security = draft.security
    strange = [
        *(
            f"key management {word}: airtoll has no policy with it"
            for word in security.strange_akms
        ),
        *(f"EAP method {word}: airtoll has none" for word in security.strange_methods),
    ]
    if not security.known:
        return Judgement(remarks=[_UNSAID])
    methods, assumed = _methods(security)
    chosen = [_chosen(security, method) for method in methods]
    candidates = tuple(dict.fromkeys(name for name, _ in chosen if name is not None))
    if not candidates:
        return Judgement(remarks=strange or ["no policy of airtoll has these parts together"])
    policy = candidates[0]
    offers = next(links for name, links in chosen if name == policy)
    if security.wep_length_unknown:
        candidates = tuple(n for name in candidates for n in (name, name.replace("104", "40")))
        assumed = [*assumed, "WEP with a key of 104 bits: the source names no length"]
    found = Judgement(
        policy=policy,
        candidates=candidates,
        offers=offers,
        fast_transition=any("-ft-" in name for name in offers),
        remarks=strange,
        assumed=assumed,
    )
    found.remarks.extend(_remarks(security, policy, offers))
    found.contradictions.extend(_contradictions(draft, policy, offers))
    return found


def _methods(security: Security) -> tuple[Sequence[EapMethod | None], list[str]]:
    """EAP methods that the network may use, the usual one first, and what that assumes."""
    akms = [akm for offered in security.offered for akm in offered.akms]
    if not security.port_control and not any(akm.is_8021x for akm in akms):
        return [None], []
    if security.methods:
        if len(security.methods) == 1:
            return security.methods, []
        first = security.methods[0]
        return security.methods, [f"EAP method {first}: the first of those that are allowed"]
    if security.strange_methods:
        return [], []
    if any(akm.is_192_bit for akm in akms):
        return [_OF_192_BIT], []
    known = [method for method in eap_methods() if method.gives_keys or security.port_control]
    if security.dynamic_wep:
        known = [method for method in known if method.gives_keys]
    generations = {generation for akm in akms for generation in akm.generations}
    generation = max(generations & set(_USUAL), default="wpa2")
    if security.pmf != "required" and "wpa2" in generations:
        generation = "wpa2"
    usual = resolve(_USUAL[generation]).link.eap_method
    assert usual is not None
    others = [method for method in known if method != usual]
    return [usual, *others], [f"EAP method {usual}: the source names none"]


def _chosen(security: Security, method: EapMethod | None) -> tuple[str | None, tuple[str, ...]]:
    """The policy with an EAP method, and the links that it offers."""
    links = _links(security, method)
    name = _policy(security, links)
    if name is not None and security.mac_filter:
        name = "mac-acl" if name == "open" else f"{name}+mac-acl"
    return name, links


def _links(security: Security, method: EapMethod | None) -> tuple[str, ...]:
    """Links that stations may choose, those that a new station prefers first."""
    if security.port_control and not security.offered:
        wep = f"+{security.wep}" if security.wep is not None else ""
        return (f"8021x-{method}{wep}",)
    if not security.offered:
        if security.wep is not None:
            return (f"{security.wep}{'-shared' if security.shared_key else ''}",)
        return ("open",)
    names = {
        link_name(akm, cipher, method if akm.is_8021x else None, security.pmf)
        for offered in security.offered
        for akm in offered.akms
        for cipher in offered.pairwise
    }
    return tuple(sorted((name for name in names if name is not None), key=_preference))


@lru_cache(maxsize=4096)
def _preference(name: str) -> tuple[object, ...]:
    policy = resolve(name)
    newer = ("open", "pre-rsna", "802.1x", "wpa", "wpa2", "wpa3", "owe")
    generation = newer.index(policy.link.generation)
    ranks = tuple(-part for part in strength(policy))
    return (-generation, not policy.link.fast_transition, *ranks, -len(name), name)


def _policy(security: Security, links: Sequence[str]) -> str | None:
    """The policy that offers these links, or the preferred link where none offers them all."""
    if not links:
        return None
    if security.owe_transition and set(links) <= {"owe-ccmp", "open"}:
        return _OWE_TRANSITION
    if security.overriding:
        return _COMPATIBILITY
    if security.group is Cipher.WEP_104 and "wpa-psk-tkip" in links:
        return _TSN
    of_sae = [name for name in links if _generation(name) == "wpa3" and "-sae" in name]
    of_psk = [name for name in links if "-psk" in name or "-ft-psk" in name]
    old = [name for name in of_psk if _generation(name) == "wpa"]
    newer = [name for name in of_psk if _generation(name) == "wpa2"]
    if of_sae and newer and "wpa3-sae-ccmp" in _plain(of_sae):
        return _PERSONAL_TRANSITION
    if not of_sae and "wpa-psk-tkip" in old and "wpa2-psk-ccmp" in _plain(newer):
        return _OLD_TRANSITION
    return links[0]


def _generation(name: str) -> str:
    return name.partition("-")[0]


def _plain(names: Iterable[str]) -> set[str]:
    """The same links without fast transition."""
    return {name.replace("-ft-", "-") for name in names}


def _remarks(security: Security, policy: str, offers: Sequence[str]) -> list[str]:
    found = []
    link = resolve(policy).link
    within = {policy.removesuffix("+mac-acl"), link.transition, *link.overriding}
    if link.transition is not None and link.akm is not None:
        within.add(link_name(link.akm, link.cipher, link.eap_method, link.pmf))
    others = [name for name in offers if name not in within and policy != "mac-acl"]
    if others:
        found.append(f"stations may choose {', '.join(others)}, too")
    if security.pmf == "optional" and link.pmf == "off":
        found.append(
            "protected management frames are optional: clients that have them use them; "
            f"the figures of {policy} are those of clients without them"
        )
    elif security.pmf is not None and security.pmf != link.pmf:
        found.append(
            f"protected management frames are {security.pmf}; in {policy} they are {link.pmf}"
        )
    group = security.group
    if group is not None and group != link.group_cipher:
        found.append(f"the group cipher is {group}; in {policy} it is {link.group_cipher}")
    return found


def _contradictions(draft: Draft, policy: str, offers: Sequence[str]) -> list[str]:
    security, found = draft.security, []
    akms = [akm for offered in security.offered for akm in offered.akms]
    demanding = [akm for akm in akms if akm.requires_pmf]
    alone = len(demanding) == len(akms)
    if demanding and security.pmf == "off" and not security.overriding:
        found.append(
            f"{demanding[0]} without protected management frames (ieee80211w=0): "
            f"stations of WPA3 do not join; set {'2' if alone else '1'}"
        )
    elif demanding and alone and security.pmf == "optional" and draft.role != "station":
        found.append(
            f"{demanding[0]} alone requires protected management frames: "
            "set ieee80211w=2 (WPA3 Specification)"
        )
    only_rsn = bool(security.offered) and all(one.element == "rsn" for one in security.offered)
    ciphers = {cipher for one in security.offered for cipher in one.pairwise}
    if draft.role == "station":
        return found
    if only_rsn and security.group is Cipher.TKIP and Cipher.TKIP not in ciphers:
        found.append("group cipher TKIP although all stations have AES: broadcasts are at risk")
    elif only_rsn and Cipher.TKIP in ciphers and len(ciphers) > 1:
        found.append("TKIP beside AES in RSN: the group cipher is TKIP, and broadcasts are at risk")
    if draft.phy is not None:
        band = f"{draft.band}ghz" if draft.band is not None else ""
        weak = findings(draft.phy, band, resolve(policy))
        found += [f"{policy} with {draft.phy}: {one.words}" for one in weak]
    return found
