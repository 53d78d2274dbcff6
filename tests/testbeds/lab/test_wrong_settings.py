"""Wrong settings of an access point: each is caught, and named by its field."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from airtoll.testbeds.lab.access_point import LABELS, MODES
from airtoll.testbeds.lab.rehearsal.person import Slip

from .bench import acted, lab, plan

G = 'phy = "802.11g"\nrate_mbps = 54.0'
WPA2 = "WPA2-Personal (WPA2-PSK, RSN), WPA off, WPA3 off"


def label(**typed: str) -> Slip:
    return {LABELS[key]: value for key, value in typed.items()}


def fields_named(texts: Sequence[str]) -> list[str]:
    """Labels of the fields that prompts named as different."""
    return re.findall(r"^  ([^:\n]+): is .*, not ", "\n".join(texts), re.MULTILINE)


#: Kind of mistake -> policy, scenario, the slip, the field that is named.
KINDS: dict[str, tuple[str, str, Slip, str]] = {
    "a slip in the name": ("open", G, label(ssid="airtol-x"), LABELS["ssid"]),
    "the name is hidden": ("open", G, label(off="WPS"), "hidden network name"),
    "push button left on": ("wpa2-psk-ccmp", G, label(off="hidden network name"), "WPS"),
    "another channel": ("open", G, label(channel="11 (not automatic)"), LABELS["channel"]),
    "another band": ("open", G, label(channel="36 (not automatic)"), LABELS["channel"]),
    "WPA2 instead of WPA": ("wpa-psk-tkip", G, label(security=WPA2), LABELS["security"]),
    "WPA instead of WPA2": (
        "wpa2-psk-ccmp",
        G,
        label(security="WPA-Personal (WPA-PSK, WPA Pre-Shared Key), WPA2 off"),
        LABELS["security"],
    ),
    "WPA and WPA2 instead of WPA2": (
        "wpa2-psk-ccmp",
        G,
        label(security="WPA/WPA2-Personal mixed", cipher="TKIP with WPA, AES (CCMP) with WPA2"),
        LABELS["security"],
    ),
    "WPA2 and WPA3 instead of WPA3": (
        "wpa3-sae-ccmp",
        G,
        label(security="WPA2/WPA3-Personal mixed (transition)"),
        LABELS["security"],
    ),
    "personal instead of enterprise": (
        "wpa2-eap-peap-ccmp",
        G,
        label(security=WPA2),
        LABELS["security"],
    ),
    "open instead of WEP": (
        "wep-104",
        G,
        {**label(security="none (Disabled, Open)"), LABELS["cipher"]: "open"},
        LABELS["security"],
    ),
    "WEP instead of open": (
        "open",
        G,
        {**label(security="WEP")},
        LABELS["security"],
    ),
    "TKIP instead of AES": ("wpa2-psk-ccmp", G, label(cipher="TKIP"), LABELS["cipher"]),
    "both ciphers": ("wpa2-psk-ccmp", G, label(cipher="TKIP+AES"), LABELS["cipher"]),
    "no protected management frames": ("wpa3-sae-ccmp", G, label(pmf="disabled"), LABELS["pmf"]),
    "protection that is optional": (
        "wpa3-sae-ccmp",
        G,
        label(pmf="capable (optional)"),
        LABELS["pmf"],
    ),
    "an open network beside OWE": (
        "owe-ccmp",
        G,
        label(security="Enhanced Open (OWE) with an open network beside (transition)"),
        "OWE transition",
    ),
    "fast transition left off": (
        "wpa2-ft-psk-ccmp",
        G,
        label(fast_transition="off, mobility domain "),
        LABELS["fast_transition"],
    ),
    "a newer mode": ("wpa2-psk-ccmp", G, label(mode=MODES["802.11n"]), LABELS["mode"]),
    "an older mode": ("open", G, label(mode=MODES["802.11b"]), LABELS["mode"]),
    "802.11g in a study of 802.11b": (
        "open",
        'phy = "802.11b"\nrate_mbps = 11.0',
        label(mode=MODES["802.11g"]),
        LABELS["mode"],
    ),
    "a wider channel": (
        "open",
        'phy = "802.11n"\nband = "5"\nmcs = 3',
        label(width="40 MHz"),
        LABELS["width"],
    ),
    "the other preamble": (
        "open",
        'phy = "802.11b"\nrate_mbps = 11.0\npreamble = "short"',
        label(preamble="long"),
        LABELS["preamble"],
    ),
    "other basic rates": (
        "open",
        G + "\nbasic_rates_mbps = [6.0, 12.0, 24.0]",
        label(basic_rates="1, 2"),
        LABELS["basic_rates"],
    ),
    "another beacon interval": (
        "open",
        G,
        label(beacon_interval="200 (time units)"),
        LABELS["beacon_interval"],
    ),
    "another DTIM interval": (
        "open",
        G + "\ndtim_period = 3",
        label(dtim_period="1"),
        LABELS["dtim_period"],
    ),
    "another country": ("open", G, label(country="US"), LABELS["country"]),
    "another passphrase": (
        "wpa2-psk-ccmp",
        G,
        label(passphrase="not the one"),
        LABELS["passphrase"],
    ),
    "another passphrase of SAE": (
        "wpa3-sae-ccmp",
        G,
        label(passphrase="not the one"),
        LABELS["passphrase"],
    ),
    "another WEP key": ("wep-104", G, label(wep_key="00" * 13), LABELS["wep_key"]),
    "a short WEP key": (
        "wep-104",
        G,
        {**label(cipher="64 bit (a key of 40 bits)"), **label(wep_key="00" * 5)},
        LABELS["wep_key"],
    ),
    "shared key authentication": (
        "wep-104",
        G,
        label(authentication="shared key"),
        LABELS["authentication"],
    ),
    "another shared secret": (
        "wpa2-eap-peap-ccmp",
        G,
        label(radius_secret="testing123"),
        LABELS["radius_server"],
    ),
    "another RADIUS server": (
        "wpa2-eap-peap-ccmp",
        G,
        label(radius_server="192.168.1.9"),
        LABELS["radius_server"],
    ),
    "another RADIUS port": (
        "wpa2-eap-peap-ccmp",
        G,
        label(radius_port="1645"),
        LABELS["radius_server"],
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_setting_is_named_and_then_corrected(kind: str) -> None:
    policy, scenario, slip, field = KINDS[kind]
    measured, person, _ = acted(plan(policy, scenario=scenario), {0: slip})
    assert field in fields_named(person.prompts[1:2])
    assert measured[0].failure is None
    assert len(person.prompts) == 2


def test_settings_without_a_slip_are_believed_at_once() -> None:
    policies = list(dict.fromkeys(policy for policy, *_ in KINDS.values()))
    measured, person, _ = acted(plan(*policies))
    assert [one.failure for one in measured] == [None] * len(policies)
    assert len(person.prompts) == len(policies)
    assert fields_named(person.prompts) == []


def test_a_person_who_sets_nothing_is_told_so() -> None:
    measured, person, _ = acted(plan("open"), {0: {}})
    assert len(person.prompts) == 2
    assert "not as asked for" in person.prompts[1]
    assert measured[0].failure is None


def test_an_accepted_difference_is_a_caveat() -> None:
    accepting = lab(accept=["width"])
    scenario = 'phy = "802.11n"\nband = "5"\nmcs = 3'
    slips = {0: label(width="40 MHz")}
    measured, person, _ = acted(plan("open", scenario=scenario), slips, of_lab=accepting)
    assert len(person.prompts) == 1
    assert any("is 40 MHz, not 20 MHz (accepted)" in text for text in measured[0].caveats)
