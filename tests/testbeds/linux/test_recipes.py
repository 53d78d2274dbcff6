"""Recipes for stations with Android and Windows: commands, and answers as these systems print them.

The answers have the form of ``cmd wifi status`` (AOSP, WifiShellCommand and WifiInfo.toString) and
of ``netsh wlan show interfaces`` (Windows 10 and 11); names and addresses are made up.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from attrs import evolve

from airtoll.errors import TestbedError
from airtoll.policies import resolve
from airtoll.testbeds.linux.attended import recipes
from airtoll.testbeds.linux.attended.devices_driven import Driver
from airtoll.testbeds.linux.attended.recipes import Link, RecipeError
from airtoll.testbeds.linux.daemons.credentials import Credentials
from airtoll.testbeds.linux.hosts.host import LocalHost
from airtoll.testbeds.linux.job import Flow, Foreign, Job, Outcome
from airtoll.testbeds.linux.laboratory.bench import Laboratory
from airtoll.testbeds.linux.laboratory.lab import Lab, LabHost

BSSID = "02:11:22:33:44:55"
ANDROID = f"""Wifi is enabled
Wifi scanning is always available
==== Primary ClientModeManager instance ====
Wifi is connected to "Ev, 5G"
WifiInfo: SSID: "Ev, 5G", BSSID: {BSSID}, MAC: 12:34:56:78:9a:bc, IP: /192.168.1.23, \
Security type: 2, Supplicant state: COMPLETED, Wi-Fi standard: 11ax, RSSI: -48, \
Link speed: 1201Mbps, Frequency: 5500MHz, Net ID: 3, Metered hint: false, score: 60
successfulTxPackets: 1234
"""
WINDOWS = f"""
There are 2 interfaces on the system:

    Name                   : Wi-Fi 2
    State                  : disconnected

    Name                   : Wi-Fi
    Description            : Intel(R) Wi-Fi 6E AX211 160MHz
    GUID                   : 4a1b3f9e-2c7d-4e8a-9f01-b2c3d4e5f607
    Physical address       : 3C:58:C2:11:22:33
    State                  : connected
    SSID                   : lab : one
    BSSID                  : {BSSID.upper()}
    Network type           : Infrastructure
    Radio type             : 802.11ax
    Authentication         : WPA2-Personal
    Cipher                 : CCMP
    Connection mode        : Profile
    Channel                : 36
    Receive rate (Mbps)    : 1441
    Signal                 : 92%
    Profile                : lab : one

    Hosted network status  : Not available
"""


@pytest.fixture(scope="module")
def secret(new_credentials: Credentials) -> Credentials:
    return evolve(new_credentials, ssid="Ev, 5G", passphrase='a "b" $c <d>')


def test_android_tells_its_link() -> None:
    link = recipes.android_link(ANDROID)
    assert link == Link(True, "Ev, 5G", BSSID, "12:34:56:78:9a:bc", "2", None, "-48")
    masked = recipes.android_link(ANDROID.replace("12:34:56:78:9a:bc", "02:00:00:00:00:00"))
    assert masked.address is None
    away = "Wifi is enabled\nWifi scanning is always available\nWifi is not connected\n"
    assert recipes.android_link(away) == Link(connected=False)
    with pytest.raises(RecipeError, match="Android 11 or later"):
        recipes.android_link("cmd: Can't find service: wifi\n")


def test_the_networks_of_one_name_are_forgotten() -> None:
    told = """Network Id      SSID                         Security type
0            Ev, 5G                           wpa2
3            "Ev, 5G"                         wpa3
3            "Ev, 5G"                         wpa2
7            Ev, 5G guest                     open
"""
    assert recipes.android_networks(told, "Ev, 5G") == [0, 3]
    assert recipes.android_networks("No networks\n", "Ev, 5G") == []


def test_windows_tells_its_link() -> None:
    link = recipes.windows_link(WINDOWS, "Wi-Fi")
    assert link == Link(
        True, "lab : one", BSSID, "3c:58:c2:11:22:33", "WPA2-Personal", "CCMP", "92%"
    )
    newer = WINDOWS.replace("    BSSID    ", "    AP BSSID ")
    assert recipes.windows_link(newer, "Wi-Fi").bssid == BSSID
    assert not recipes.windows_link(WINDOWS, "Wi-Fi 2").connected
    with pytest.raises(RecipeError, match="answer in English"):
        recipes.windows_link(WINDOWS.replace("Name ", "Nome "), "Wi-Fi")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, []),
        ({"connected": False}, ["it is not connected"]),
        ({"ssid": "other"}, ["the network is other, not Ev, 5G"]),
        ({"bssid": "02:00:00:00:00:01"}, [f"the access point is 02:00:00:00:00:01, not {BSSID}"]),
        ({"security": "4"}, ["the security type is 4, not 2"]),
        ({"security": None}, ["the security type is not told, not 2"]),
    ],
)
def test_differences_of_android(
    change: dict[str, object], said: list[str], secret: Credentials
) -> None:
    link = evolve(recipes.android_link(ANDROID), **change)
    policy = resolve("wpa2-psk-ccmp")
    assert recipes.differences("android", policy, secret, link, BSSID) == said


@pytest.mark.parametrize(
    ("policy", "authentication", "cipher", "fits"),
    [
        ("open", "Open", "None", True),
        ("open", "Open", "WEP", False),
        ("wep-104", "Open", "WEP", True),
        ("wpa-psk-tkip", "WPA-Personal", "TKIP", True),
        ("wpa2-psk-ccmp", "WPA2-Personal", "CCMP", True),
        ("wpa2-psk-ccmp", "WPA2-Personal", "TKIP", False),
        ("wpa2-psk-ccmp", "WPA3-Personal", "CCMP", False),
        ("wpa3-sae-ccmp", "WPA3-Personal (H2E)", "CCMP", True),
        ("owe-ccmp", "OWE", "CCMP", True),
    ],
)
def test_differences_of_windows(
    policy: str, authentication: str, cipher: str, fits: bool, secret: Credentials
) -> None:
    link = Link(True, secret.ssid, BSSID, None, authentication, cipher)
    found = recipes.differences("windows", resolve(policy), secret, link, BSSID)
    assert (found == []) == fits


@pytest.mark.parametrize(
    ("system", "policy", "refused"),
    [
        ("android", "open", False),
        ("android", "wpa2-psk-ccmp", False),
        ("android", "wpa3-sae-ccmp", False),
        ("android", "wep-104", True),
        ("android", "wpa2-eap-tls-ccmp", True),
        ("windows", "wep-104", False),
        ("windows", "wpa-psk-tkip", False),
        ("windows", "wpa2-eap-tls-ccmp", True),
        ("windows", "wpa2-ft-psk-ccmp", True),
        ("windows", "wpa2-psk-ccmp-256", True),
    ],
)
def test_policies_without_a_way_are_refused(
    system: recipes.System, policy: str, refused: bool
) -> None:
    why = recipes.why_not(system, resolve(policy))
    assert (why is not None) == refused
    assert why is None or f'by = "{system}"' in why


@pytest.mark.parametrize(
    ("policy", "authentication", "encryption", "key"),
    [
        ("open", "open", "none", None),
        ("wep-104", "open", "WEP", "networkKey"),
        ("wpa2-psk-ccmp", "WPA2PSK", "AES", "passPhrase"),
        ("wpa3-sae-ccmp", "WPA3SAE", "AES", "passPhrase"),
    ],
)
def test_profiles_are_xml_with_the_keys_as_they_are(
    policy: str, authentication: str, encryption: str, key: str | None, secret: Credentials
) -> None:
    root = ElementTree.fromstring(recipes.profile(resolve(policy), secret))
    found = {one.tag.rpartition("}")[2]: one.text for one in root.iter()}
    assert (found["authentication"], found["encryption"]) == (authentication, encryption)
    assert found.get("keyType") == key
    assert root[0].text == secret.ssid
    if key == "passPhrase":
        assert found["keyMaterial"] == secret.passphrase


def test_a_name_that_cmd_exe_would_change_is_refused(secret: Credentials) -> None:
    with pytest.raises(RecipeError, match=r"cannot be given to cmd\.exe"):
        recipes.windows_join("Wi-Fi", evolve(secret, ssid='a"b'))


#: An ``adb`` with one device that joins at the second look, and with the wrong type at first.
ADB = """#!/bin/sh
cd "$(dirname "$0")"
printf '%s\\n' "$*" >> asked
case "$4" in
  "cmd wifi status")
    if [ -e joined ]; then sed "s/Security type: 2/Security type: $(cat type)/" answer
    echo 2 > type
    else echo "Wifi is enabled"; echo "Wifi is not connected"; fi;;
  "cmd wifi connect-network 'Ev, 5G' wpa2 "*) touch joined; echo 4 > type;;
  "cmd wifi list-networks") printf 'Network Id SSID Security type\\n5 Ev, 5G wpa2\\n';;
  "cmd wifi forget-network 5"|"cmd wifi set-wifi-enabled enabled") ;;
  "/data/local/tmp/iperf3 -c 10.0.0.2"*) echo done > ran;;
  "/data/local/tmp/iperf3 -c 127.0.0.1"*) exec ${4#/data/local/tmp/};;
  *) echo "no such command" >&2; exit 1;;
esac
"""


def test_an_android_device_is_driven_by_adb(
    secret: Credentials, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "adb").write_text(ADB)
    (tmp_path / "adb").chmod(0o700)
    (tmp_path / "answer").write_text(ANDROID)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    described = LabHost(role="station", by="android", address="R58M1", ip="10.0.0.9")
    driver = Driver.of(described)
    assert driver is not None

    async def steps() -> None:
        async with LocalHost("here", "0123abcd") as here:
            policy = resolve("wpa2-psk-ccmp")
            link = await driver.join(here, policy, secret, BSSID, 20.0)
            assert link.security == "2"
            await driver.run(here, ["iperf3", "-c", "10.0.0.2", "-t", "1"], 20.0)
            with pytest.raises(TestbedError, match="the access point is 02:11"):
                await driver.join(here, policy, secret, "02:00:00:00:00:09", 0.1)
            with pytest.raises(TestbedError, match="no such command"):
                await driver.run(here, ["iperf3", "-c", "10.0.0.3"], 20.0)

    asyncio.run(steps())
    asked = (tmp_path / "asked").read_text()
    assert asked.index("forget-network 5") < asked.index("connect-network")
    assert asked.startswith("-s R58M1 shell ")
    assert (tmp_path / "ran").exists()


SSH = """#!/bin/sh
cd "$(dirname "$0")"
for line; do :; done
printf '%s\\n' "$line" >> asked
case "$line" in
  "netsh wlan show interfaces") cat answer;;
  "netsh wlan connect "*) [ -e profile ];;
  "netsh wlan add profile "*) mv airtoll.xml profile;;
  "netsh wlan disconnect "*|"netsh wlan delete "*|"del airtoll.xml") exit 1;;
  "iperf3.exe -c 10.0.0.2"*) ;;
  *) exit 9;;
esac
"""
SCP = """#!/bin/sh
for word; do last=$word; done
eval "file=\\${$(($# - 1))}"
cp "$file" "$(dirname "$0")/${last#*:}"
"""


def test_a_windows_device_is_driven_over_ssh(
    secret: Credentials, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (("ssh", SSH), ("scp", SCP)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o700)
    (tmp_path / "answer").write_text(WINDOWS)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    described = LabHost(role="station", by="windows", address="me@10.0.0.8", ip="10.0.0.9")
    driver = Driver.of(described)
    assert driver is not None
    own = evolve(secret, ssid="lab : one")

    async def steps() -> None:
        async with LocalHost("here", "0123abcd") as here:
            await driver.join(here, resolve("wpa2-psk-ccmp"), own, BSSID, 5.0)
            await driver.run(here, ["iperf3", "-c", "10.0.0.2"], 20.0)
            await driver.leave(here, own)

    asyncio.run(steps())
    asked = (tmp_path / "asked").read_text().splitlines()
    assert 'netsh wlan connect name="lab : one" ssid="lab : one" interface="Wi-Fi"' in asked
    assert "WPA2PSK" in (tmp_path / "profile").read_text()


def lab(by: str, **ap: str) -> Lab:
    host = {
        "phone": {"role": "station", "by": by, "ip": "10.0.0.9", "address": "R58M1"},
        "desk": {"role": "server", "address": "b", "ip": "10.0.0.2"},
    }
    return Lab.model_validate({"lab": {"name": "x", "ap": {"ip": "10.0.0.1", **ap}}, "host": host})


def test_only_devices_have_a_recipe() -> None:
    assert Driver.of(lab("hand").host["phone"]) is None
    assert Driver.of(lab("windows").host["phone"]) is not None
    with pytest.raises(ValueError, match="serial of `adb devices`"):
        LabHost(role="station", by="android", ip="10.0.0.9")
    with pytest.raises(ValueError, match=r'only a station can be by = "android"'):
        LabHost(role="server", by="android", address="x", ip="10.0.0.9")


@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("iperf3") is None, reason="needs root and iperf3"
)
@pytest.mark.parametrize("heard", [BSSID, "02:00:00:00:00:09"])
def test_a_trial_with_an_access_point_that_airtoll_does_not_drive(
    heard: str, secret: Credentials, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "adb").write_text(ADB)
    (tmp_path / "adb").chmod(0o700)
    (tmp_path / "answer").write_text(ANDROID)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    server = {"role": "server", "address": "local", "ip": "127.0.0.1"}
    phone = {"role": "station", "by": "android", "address": "R58M1", "ip": "127.0.0.1"}
    of = Lab.model_validate(
        {
            "lab": {"name": "x", "hand_limit_s": 5, "ap": {"ip": "127.0.0.1"}},
            "host": {"desk": server, "phone": phone},
        }
    )
    flow = Flow(transport="udp", offered_bps=1e6, payload_octets=500, duration_s=1)
    job = Job("phone", "wpa2-psk-ccmp", flow=flow, foreign=Foreign(heard, 5500))

    async def steps() -> Outcome:
        async with Laboratory("0a0b0c0d", secret, tmp_path / "results", of) as laboratory:
            return await laboratory.measure(job)

    outcome = asyncio.run(steps())
    if heard != BSSID:
        assert outcome.failure is not None
        assert f"the access point is {BSSID}, not {heard}" in outcome.failure
        assert not outcome.values
        return
    assert outcome.failure is None
    rates = [one.value for one in outcome.values if one.metric == "throughput_bps"]
    assert rates
    assert rates[0] == pytest.approx(1e6, rel=0.3)
    assert outcome.negotiated["A"]["driven"] == "by the recipe for android"
    assert any("has not been tried on a device" in one for one in outcome.caveats)
