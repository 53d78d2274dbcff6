"""Transition modes and RSN overriding: the offers of an access point and the choice of a station.

Takes a policy, the PHY of the access point and the age of a station; gives the policy that the two
agree on. ``CLIENTS`` says what stations of each age know, with sources.
"""

from __future__ import annotations

from typing import Final, Literal

from attrs import evolve, frozen

from airtoll.policies.grammar import parse
from airtoll.policies.model import Generation, Policy
from airtoll.policies.suites import Cipher

Client = Literal["wpa2", "wpa3", "wifi7"]

_OLD: Final = (
    Generation.OPEN,
    Generation.PRE_RSNA,
    Generation.PORT_CONTROL,
    Generation.WPA,
    Generation.WPA2,
)


@frozen
class Age:
    """Abilities of stations of an age.

    ``generations``: of links. ``gcmp``: GCMP and ciphers of 256 bits. ``hash_to_group``: AKM 24 and
    25. ``overriding``: RSN overriding.
    """

    title: str
    generations: tuple[Generation, ...]
    gcmp: bool
    hash_to_group: bool
    overriding: bool
    source: str


CLIENTS: Final[dict[Client, Age]] = {
    "wpa2": Age(
        "WPA2 alone",
        _OLD,
        gcmp=False,
        hash_to_group=False,
        overriding=False,
        source="IEEE Std 802.11i-2004: CCMP and TKIP with AKM 1 and 2",
    ),
    "wpa3": Age(
        "WPA3, before Wi-Fi 7",
        (*_OLD, Generation.WPA3, Generation.OWE),
        gcmp=True,
        hash_to_group=False,
        overriding=False,
        source="R. Nayanajith, WPA3-Personal Deployment Options, mrncciew.com, October 2025; "
        "OpenWrt, "
        "commit 86b9eec8: stations without RSN overriding never take SAE in compatibility mode",
    ),
    "wifi7": Age(
        "Wi-Fi 7",
        (*_OLD, Generation.WPA3, Generation.OWE),
        gcmp=True,
        hash_to_group=True,
        overriding=True,
        source="Wi-Fi Alliance, WPA3 Specification v3.4 (RSN overriding), as described by "
        "A. Mora, WiFi Explorer and RSN Override, intuitibits.com",
    ),
}


@frozen
class Offer:
    """A link that an access point offers, and where its beacons say so.

    ``place``: the RSN element, one of the two that override it, or an open BSS beside.
    """

    policy: Policy
    place: Literal["RSN element", "RSNE Override", "RSNE Override 2", "open BSS"]


def offers(policy: Policy, phy: str) -> tuple[Offer, ...]:
    """The links of an access point, those that a station prefers first.

    ``phy``: PHY of the access point. RSNE Override 2 is for 802.11be alone (Wi-Fi Alliance, WPA3
    and Wi-Fi Enhanced Open Deployment and Implementation Guide v1.1, 2.4, as OpenWrt quotes it).
    """
    link = policy.link
    if link.transition is None:
        return (Offer(policy, "RSN element"),)
    if not link.overriding:
        open_beside = link.generation is Generation.OWE
        return (
            Offer(policy, "RSN element"),
            Offer(_like(policy, link.transition), "open BSS" if open_beside else "RSN element"),
        )
    found = [Offer(_like(policy, link.transition), "RSN element")]
    found.append(Offer(_like(policy, link.overriding[0]), "RSNE Override"))
    if phy == "802.11be":
        found.append(Offer(_like(policy, link.overriding[1]), "RSNE Override 2"))
    return tuple(reversed(found))


def knows(client: Client, offer: Offer) -> bool:
    """Whether a station of this age can use an offer."""
    age, link = CLIENTS[client], offer.policy.link
    if offer.place.startswith("RSNE Override") and not age.overriding:
        return False
    if link.akm is not None and link.akm.requires_hash_to_element and not age.hash_to_group:
        return False
    if link.cipher in _LONG and not age.gcmp:
        return False
    return link.generation in age.generations


def choice(policy: Policy, phy: str, client: Client | None) -> Offer | None:
    """The offer that a station chooses, ``None`` where it knows none of them.

    ``client``: age of the station; ``None``: it knows all offers.
    """
    for offer in offers(policy, phy):
        if client is None or knows(client, offer):
            return offer
    return None


_LONG: Final = (Cipher.GCMP_128, Cipher.GCMP_256, Cipher.CCMP_256)


def _like(policy: Policy, name: str) -> Policy:
    """The policy ``name`` with the group cipher, the tunnels and the filters of ``policy``."""
    further = policy.name.split("+")[1:]
    chosen = parse("+".join([name, *further]))
    if chosen.link.akm is None:
        return chosen
    return evolve(chosen, link=evolve(chosen.link, group_cipher=policy.link.group_cipher))
