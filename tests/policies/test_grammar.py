"""The policy grammar: what composes, what is refused, and the octets of the standard."""

import pytest

from airtoll.errors import PolicyError
from airtoll.policies import Cipher, aliases, catalogue, display_name, resolve
from airtoll.policies.grammar import link_names, parse


def test_every_alias_leads_to_a_policy() -> None:
    for alias, (name, _source) in aliases().items():
        assert resolve(alias).name == name


def test_a_link_has_the_names_that_screens_show() -> None:
    """With commas as a heading, and without them and CCMP-128 inside a sentence."""
    for name in link_names():
        # An alias of a paper may have the letters of another link.
        shown = display_name(parse(name))
        spoken = shown.replace(", fast transition", " with 802.11r").replace(", ", " ")
        assert {resolve(words).name for words in (shown, spoken)} == {name}
        # WPA-Personal alone is that of TKIP.
        if name != "wpa-psk-ccmp":
            assert resolve(spoken.removesuffix(" CCMP-128")).name == name


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("WPA3-Enterprise EAP-TLS with 802.11r", "wpa3-ft-eap-tls-ccmp"),
        ("EAP-TLS with 802.11r", "wpa2-ft-eap-tls-ccmp"),
        ("wpa3 802.11r", "wpa3-ft-sae-ccmp"),
        ("802.1X, PEAP without encryption", "8021x-peap"),
        ("WPA3-Personal + WireGuard", "wpa3-sae-ccmp+wireguard"),
        ("WPA3-Personal, GCMP-256 + MAC-ACL", "wpa3-sae-gcmp-256+mac-acl"),
    ],
)
def test_people_write_policies_as_screens_do(words: str, name: str) -> None:
    assert resolve(words).name == name


@pytest.mark.parametrize("words", ["WPA3-Enterprise EAP-TLX", "EAP-TLS with 802.11k", "wpa3 ent"])
def test_an_unknown_name_in_words_is_refused_without_words_of_the_grammar(words: str) -> None:
    with pytest.raises(PolicyError) as refused:
        resolve(words)
    assert f"policy {words!r}: no policy has this name, `airtoll policies list`" in str(
        refused.value
    )
    assert "key management" not in str(refused.value)


def test_catalogue_names_are_canonical_and_unique() -> None:
    names = [policy.name for policy in catalogue()]
    assert len(names) == len(set(names))
    assert all(resolve(name).name == name for name in names)


@pytest.mark.parametrize(
    ("name", "octets"),
    [
        ("open", 0),
        ("wep-40", 8),
        ("wpa-psk-tkip", 20),
        ("wpa2-psk-ccmp", 16),
        ("wpa2-psk-ccmp-256", 24),
        ("wpa3-sae-gcmp-256", 24),
        ("wep-104-auth", 0),
        ("8021x-tls+wep-104", 8),
    ],
)
def test_octets_per_frame(name: str, octets: int) -> None:
    policy = resolve(name)
    assert policy.octets_per_mpdu + policy.octets_per_msdu == octets


def test_papers_hybrid_composes_layer_by_layer() -> None:
    policy = resolve("P-9")
    assert policy.link.cipher is Cipher.WEP_104
    assert policy.link.eap_method == "tls"
    assert [t.encryption for t in policy.tunnels] == ["3des"]
    assert policy.tunnels[0].integrity == "md5"


def test_wep_and_tkip_forbid_high_throughput_rates() -> None:
    assert not resolve("wep-104").ht_allowed
    assert not resolve("wpa-psk-tkip").ht_allowed
    assert resolve("wpa2-psk-ccmp").ht_allowed
    assert resolve("wep-104-auth").ht_allowed


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("wpa2-psk-rc4", "tkip"),
        ("wpa-sae-ccmp", "psk"),
        ("wpa2-eap-md5-ccmp", "peap"),
        ("8021x-aka", "leap"),
        ("wpa2-psk-ccmp+wep-40", "8021x"),
        ("ipsec-aes-gcm-sha1", "aes-cbc"),
        ("telepathy", "policies list"),
        ("open+open", "wireguard"),
        ("", "policies list"),
    ],
)
def test_refusals_say_what_is_allowed(name: str, hint: str) -> None:
    with pytest.raises(PolicyError) as caught:
        resolve(name)
    assert hint in str(caught.value)
    assert "\n" not in str(caught.value)
