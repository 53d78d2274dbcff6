"""Choices of stations of each age among the links that an access point offers."""

from __future__ import annotations

import pytest

from airtoll.policies import catalogue, resolve
from airtoll.policies.transition import CLIENTS, choice, offers

NEW = "wpa3-sae-ext-gcmp-256"
TRANSITION = "wpa2-wpa3-psk-transition"
COMPATIBILITY = "wpa2-wpa3-psk-compatibility"


@pytest.mark.parametrize(
    ("policy", "phy", "chosen"),
    [
        (TRANSITION, "802.11ax", ("wpa2-psk-ccmp", TRANSITION, TRANSITION)),
        (COMPATIBILITY, "802.11ax", ("wpa2-psk-ccmp", "wpa2-psk-ccmp", "wpa3-sae-ccmp")),
        (COMPATIBILITY, "802.11be", ("wpa2-psk-ccmp", "wpa2-psk-ccmp", NEW)),
        ("owe-transition", "802.11ax", ("open", "owe-transition", "owe-transition")),
        ("wpa3-sae-ccmp", "802.11ax", (None, "wpa3-sae-ccmp", "wpa3-sae-ccmp")),
        (NEW, "802.11be", (None, None, NEW)),
        ("wpa2-psk-ccmp", "802.11be", ("wpa2-psk-ccmp",) * 3),
        ("wpa2-psk-gcmp-256", "802.11ax", (None, "wpa2-psk-gcmp-256", "wpa2-psk-gcmp-256")),
    ],
)
def test_choices_by_age(policy, phy, chosen):
    found = [choice(resolve(policy), phy, client) for client in CLIENTS]
    assert tuple(one and one.policy.name for one in found) == chosen


def test_a_station_without_an_age_takes_the_preferred_offer():
    for policy in catalogue():
        first = offers(policy, "802.11be")[0]
        assert choice(policy, "802.11be", None) == first
        # Without RSN overriding that is the policy itself.
        assert bool(policy.link.overriding) or first.policy == policy


def test_all_links_of_compatibility_mode_share_a_group_cipher():
    found = offers(resolve(COMPATIBILITY), "802.11be")
    assert [one.place for one in found] == ["RSNE Override 2", "RSNE Override", "RSN element"]
    assert {one.policy.link.group_cipher for one in found} == {"ccmp-128"}
    assert [one.policy.link.pmf for one in found] == ["required", "required", "off"]


def test_tunnels_stay_with_the_chosen_link():
    chosen = choice(resolve(f"{TRANSITION}+wireguard"), "802.11ax", "wpa2")
    assert chosen is not None
    assert chosen.policy.name == "wpa2-psk-ccmp+wireguard"
    assert len(chosen.policy.tunnels) == 1


def test_every_age_has_a_source():
    assert all(age.source for age in CLIENTS.values())
