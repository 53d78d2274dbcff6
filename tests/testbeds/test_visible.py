"""Networks that devices of the profiles can join, by policy and band."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from airtoll.cli.app import app
from airtoll.policies import resolve
from airtoll.profiles import Capabilities, load
from airtoll.testbeds.visible import in_words, networks


def words(profile: str, policy: str) -> str:
    return in_words(networks(load(profile).capabilities, resolve(policy)))


@pytest.mark.parametrize(
    ("profile", "policy", "seen"),
    [
        ("esp32", "wpa3-sae-ccmp", "2.4 GHz n"),
        ("esp32", "wpa3-sae-ext-gcmp-256", "no GCMP-256"),
        ("esp32-c6", "wpa3-sae-ext-gcmp-256", "no AKM sae-ext-key"),
        ("esp32", "wpa-psk-tkip", "2.4 GHz g"),
        # 6 GHz takes no WPA2 and no transition mode, and TKIP no HT.
        ("phone-ax", "wpa2-psk-ccmp", "2.4 GHz ax, 5 GHz ax"),
        ("phone-ax", "wpa3-sae-ccmp", "2.4 GHz ax, 5 GHz ax, 6 GHz ax"),
        ("phone-ax", "wpa2-wpa3-psk-transition", "2.4 GHz ax, 5 GHz ax"),
        ("phone-ax", "wpa-psk-tkip", "2.4 GHz g, 5 GHz a"),
        # Wi-Fi 7 takes GCMP-256, and RSN overriding offers it beside WPA2.
        ("phone-be", "wpa3-sae-ccmp", "2.4 GHz ax, 5 GHz ax, 6 GHz ax"),
        ("phone-be", "wpa3-sae-ext-gcmp-256", "2.4 GHz be, 5 GHz be, 6 GHz be"),
        ("phone-be", "wpa2-wpa3-psk-compatibility", "2.4 GHz be, 5 GHz be"),
        ("phone-ax", "wpa2-wpa3-psk-compatibility", "2.4 GHz ax, 5 GHz ax"),
        ("phone-be", "wpa2-wpa3-psk-transition", "2.4 GHz ax, 5 GHz ax"),
    ],
)
def test_a_device_joins_what_its_bands_and_the_gates_allow(
    profile: str, policy: str, seen: str
) -> None:
    assert words(profile, policy) == seen


def test_unstated_capabilities_are_taken_to_be_there() -> None:
    found = networks(Capabilities(), resolve("wpa3-sae-ext-gcmp-256"))
    assert [(one.band, one.phy) for one in found] == [
        ("2.4", "802.11be"),
        ("5", "802.11be"),
        ("6", "802.11be"),
    ]


def test_the_command_lists_profiles_and_refuses_unknown_policies() -> None:
    runner = CliRunner()
    told = json.loads(runner.invoke(app, ["profiles", "networks", "wpa2", "--json"]).output)
    assert {"profile", "policy", "band", "phy", "reason"} <= told[0].keys()
    assert {one["policy"] for one in told} == {"wpa2-psk-ccmp"}
    assert runner.invoke(app, ["profiles", "networks", "wpa9"]).exit_code != 0
