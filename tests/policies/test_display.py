"""Names for people: one for each policy, and understood where a policy is asked for."""

from __future__ import annotations

import itertools
import re

import pytest

from airtoll.errors import PolicyError
from airtoll.policies import catalogue, display_name, resolve
from airtoll.policies.catalogue import aliases
from airtoll.policies.suites import akm_words, eap_methods


@pytest.mark.parametrize(
    ("policy", "name"),
    [
        ("open", "Open"),
        ("wpa2-psk-ccmp", "WPA2-Personal, CCMP-128"),
        ("wpa3-eap-tls-gcmp-256", "WPA3-Enterprise, 192-bit, GCMP-256"),
        ("wpa3-eap-tls-ccmp", "WPA3-Enterprise, EAP-TLS, CCMP-128"),
        ("owe-ccmp", "Enhanced Open, CCMP-128"),
        ("8021x-tls+wep-104+ipsec-3des-sha1", "802.1X, EAP-TLS with WEP-104 + IPsec 3DES SHA-1"),
        ("wpa2-psk-ccmp+wireguard", "WPA2-Personal, CCMP-128 + WireGuard"),
    ],
)
def test_display_names(policy, name):
    assert display_name(resolve(policy)) == name


def test_no_two_policies_share_a_name():
    # `open+wireguard` is `wireguard`.
    links = [policy.name for policy in catalogue() if policy.name != "open"]
    ciphers = ("tkip", "ccmp", "ccmp-256", "gcmp", "gcmp-256")
    for generation, cipher in itertools.product(("wpa", "wpa2", "wpa3"), ciphers):
        for word in akm_words(generation):
            methods = eap_methods() if word.endswith("eap") else (None,)
            links += ["-".join(filter(None, (generation, word, m, cipher))) for m in methods]
    tunnels = ("", "+wireguard", "+ipsec-aes-gcm", "+ipsec-aes-gcm-ikev1", "+ipsec-3des-sha1-ikev2")
    names: dict[str, str] = {}
    for link, tunnel in itertools.product(dict.fromkeys(links), tunnels):
        try:
            policy = resolve(link + tunnel)
        except PolicyError:
            continue
        assert names.setdefault(display_name(policy), policy.name) == policy.name
    assert len(names) > 300


def test_a_display_name_is_understood():
    for policy in catalogue():
        assert resolve(display_name(policy).upper()).name == policy.name


@pytest.mark.parametrize(
    ("word", "policy"),
    [
        ("WPA3-Enterprise", "wpa3-eap-tls-ccmp"),
        ("wpa2-personal", "wpa2-psk-ccmp"),
        ("Enhanced Open", "owe-ccmp"),
        ("WPA2-PSK (AES)", "wpa2-psk-ccmp"),
        ("psk2", "wpa2-psk-ccmp"),
        ("sae-mixed", "wpa2-wpa3-psk-transition"),
        ("wpa3", "wpa3-sae-ccmp"),
    ],
)
def test_words_of_vendors_are_understood(word, policy):
    assert resolve(word).name == policy
    assert word.lower() in aliases()


@pytest.mark.parametrize("word", aliases())
def test_every_alias_leads_to_a_policy(word):
    assert resolve(word).name == resolve(aliases()[word][0]).name


def test_a_word_with_two_meanings_asks_which():
    with pytest.raises(PolicyError, match="write WPA2-Enterprise or WPA3-Enterprise"):
        resolve("Enterprise")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("wpa2-eap-tls-ccmp-ft", "wpa2-ft-eap-tls-ccmp"),
        ("wpa2-pks-ccmp", "wpa2-psk-ccmp"),
        ("wpa3-sae-ext-gcm-256", "wpa3-sae-ext-gcmp-256"),
        ("WPA2-Persnal", "wpa2-psk-ccmp"),
        ("wpa4", "wpa3"),
        ("wpa2-eap-tls", "wpa2-eap-tls-ccmp"),
        ("wpa4-sae-gcmp-256", "wpa3-sae-gcmp-256"),
        ("wpa3-sae-gcmp+wiregaurd", "wpa3-sae-gcmp+wireguard"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(written, meant):
    with pytest.raises(PolicyError, match=f"did you mean {re.escape(meant)}\\?"):
        resolve(written)


def test_a_name_that_is_near_to_none_gets_no_guess():
    with pytest.raises(PolicyError) as refused:
        resolve("quantum")
    assert "did you mean" not in str(refused.value)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("wpa3-transition", "wpa2-wpa3-psk-transition"),
        ("WPA2/WPA3", "wpa2-wpa3-psk-transition"),
        ("wpa3/wpa2", "wpa2-wpa3-psk-transition"),
        ("wpa2-wpa3", "wpa2-wpa3-psk-transition"),
        ("WPA2-PSK/WPA3-SAE Mixed Mode", "wpa2-wpa3-psk-transition"),
        ("psk2+sae", "wpa2-wpa3-psk-transition"),
        ("sae-mixed", "wpa2-wpa3-psk-transition"),
        ("WPA3 compatibility mode", "wpa2-wpa3-psk-compatibility"),
        ("wpa2/wpa3+wireguard", "wpa2-wpa3-psk-transition+wireguard"),
        ("WPA/WPA2 PSK", "wpa-wpa2-psk-transition"),
        ("psk-mixed", "wpa-wpa2-psk-transition"),
        ("psk-mixed+tkip+ccmp", "wpa-wpa2-psk-transition"),
        ("psk-mixed+ccmp", "wpa2-psk-ccmp"),
        ("psk-mixed+aes", "wpa2-psk-ccmp"),
        ("psk-mixed+tkip", "wpa2-psk-tkip"),
        ("WPA-PSK/WPA2-PSK AES", "wpa2-psk-ccmp"),
        ("psk-mixed+ccmp+wireguard", "wpa2-psk-ccmp+wireguard"),
        ("psk2-mixed", "wpa-wpa2-psk-transition"),
        ("psk+psk2", "wpa-wpa2-psk-transition"),
        ("psk3", "wpa3-sae-ccmp"),
        ("psk3-mixed", "wpa2-wpa3-psk-transition"),
        ("sae-compat", "wpa2-wpa3-psk-compatibility"),
        ("WPA3 mixed mode", "wpa2-wpa3-psk-transition"),
        ("psk2", "wpa2-psk-ccmp"),
        ("psk2+aes", "wpa2-psk-ccmp"),
        ("wpa2psk", "wpa2-psk-ccmp"),
        ("WPA2 (AES)", "wpa2-psk-ccmp"),
        ("wpa2-tkip", "wpa2-psk-tkip"),
        ("psk+ccmp", "wpa-psk-ccmp"),
        ("sae", "wpa3-sae-ccmp"),
        ("WPA3 only", "wpa3-sae-ccmp"),
        ("WPA3-PSK", "wpa3-sae-ccmp"),
        ("Enhanced Open transition", "owe-transition"),
        ("WEP 64 bit", "wep-40"),
        ("wep128", "wep-104"),
    ],
)
def test_names_are_read_as_people_write_them(written: str, meant: str) -> None:
    assert resolve(written).name == meant


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("wpa2/wpa3-enterprise", "no policy has two generations of Enterprise"),
        ("wpa3-mixed", "OpenWrt means WPA2-Enterprise and WPA3-Enterprise by it"),
        ("wpa3-mixed+ccmp", "or sae-mixed for Personal"),
        ("wpa-mixed", "OpenWrt means WPA-Enterprise and WPA2-Enterprise by it"),
        ("wpa2-mixed+tkip", "or psk-mixed for Personal"),
        ("psk-mixed+gcmp", "policy 'psk-mixed+gcmp'"),
        ("transition", "write wpa2-wpa3-psk-transition or wpa-wpa2-psk-transition"),
        ("802.1x", "write WPA2-Enterprise or WPA3-Enterprise"),
        ("wpa2-40", "wpa2 has no key management"),
        ("wpa3-tkip", "wpa3 has no key management"),
        ("wpa2+", "cannot follow"),
    ],
)
def test_words_of_no_policy_are_refused(written: str, told: str) -> None:
    with pytest.raises(PolicyError, match=re.escape(told)) as refused:
        resolve(written)
    assert "did you mean" not in str(refused.value)
