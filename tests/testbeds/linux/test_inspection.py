"""Looks at the hosts of a laboratory: over a real sshd, and what each answer means."""

from __future__ import annotations

import asyncio
import getpass
import re
from pathlib import Path
from typing import Any

import pytest

from airtoll.testbeds.linux.laboratory.inspection import Finding, Seen, findings, inspect
from airtoll.testbeds.linux.laboratory.lab import Lab, load

LAB = """
[lab]
name = "bench"
channel = 36
{country}
[host.ap]
role = "access-point"
address = "{user}@127.0.0.1"
port = {port}
interface = "wlan7"
ip = "127.0.0.1"

[host.laptop]
role = "station"
address = "local"
interface = "wlan8"
ip = "127.0.0.1"

[host.phone]
role = "station"
by = "hand"
ip = "127.0.0.1"

[host.server]
role = "server"
address = "local"
ip = "127.0.0.1"
"""
ALL = frozenset({"hostapd", "iw", "ip", "tcpdump"})
IW_PHY = """
\tSupported interface modes:
\t\t * managed
\t\t * AP
\tSupported Ciphers:
\t\t* WEP40 (00-0f-ac:1)
\t\t* CCMP-128 (00-0f-ac:4)
"""
SURVEY = """Survey data from wlan7
\tfrequency:\t\t\t5180 MHz [in use]
\tchannel active time:\t\t1000 ms
\tchannel busy time:\t\t{busy} ms
"""


def lab(tmp_path: Path, port: int = 22, country: str = "") -> Lab:
    path = tmp_path / "lab.toml"
    path.write_text(LAB.format(port=port, user=getpass.getuser(), country=country))
    return load(path)


def test_every_host_is_asked(sshd: tuple[int, Path], tmp_path: Path) -> None:
    port, folder = sshd
    options = {
        "ap": {
            "client_keys": [str(folder / "user")],
            "known_hosts": ([f"{folder}/host.pub"], [], []),
        }
    }
    found = asyncio.run(inspect(lab(tmp_path, port), options))
    about = {(one.host, one.about): one for one in found}
    # No such radio is here, and the host itself answers over SSH and without it.
    assert about["ap", "radio"].state == about["laptop", "radio"].state == "problem"
    assert "wlan7" in about["ap", "radio"].found
    assert about["ap", "clock"].state == "ok"
    assert about["phone", "host"].found.startswith("driven by hand")
    assert ("server", "radio") not in about


def test_a_host_out_of_reach_is_a_problem_with_its_address(tmp_path: Path) -> None:
    found = asyncio.run(inspect(lab(tmp_path, 1), {"ap": {"known_hosts": None}}))
    first = found[0]
    assert (first.host, first.state) == ("ap", "problem")
    assert "127.0.0.1" in first.found
    assert any(one.host == "laptop" for one in found)


def seen(**sections: Any) -> Seen:
    healthy = {
        "user": "0",
        "present": "yes",
        "phy": "phy0",
        "info": IW_PHY,
        "country": "DE",
        "survey": SURVEY.format(busy=20),
        "power": "Power save: off",
        "governor": "performance",
    }
    return Seen({**healthy, **sections}, ALL, 0.0004, 0.002)


def of_ap(tmp_path: Path, answers: Seen, country: str = 'country = "DE"') -> list[Finding]:
    laboratory = lab(tmp_path, country=country)
    return findings("ap", laboratory.host["ap"], laboratory, answers)


def test_a_host_that_is_ready_has_no_problem_and_no_note(tmp_path: Path) -> None:
    found = of_ap(tmp_path, seen())
    assert {one.state for one in found} == {"ok"}
    assert next(one.found for one in found if one.about == "ciphers") == "ccmp-128, wep-40"


@pytest.mark.parametrize(
    ("answers", "about", "state", "said"),
    [
        ({"user": "1000"}, "rights", "problem", "not root"),
        ({"phy": ""}, "radio", "problem", "wlan7 is no wireless interface"),
        ({"wpad": "812"}, "wpad", "problem", "holds the radio"),
        ({"wpad": "wpad-basic-mbedtls - 1"}, "wpad", "note", "no 802.1X"),
        ({"manager": "9", "managed": "wlan7:connected"}, "NetworkManager", "note", "a run takes"),
        ({"governor": "powersave"}, "governor", "note", "powersave"),
        ({"route": "192.168.1.9 dev wlan7 src 192.168.1.1"}, "control", "problem", "under test"),
        ({"info": IW_PHY.replace("* AP", "* monitor")}, "modes", "problem", "no mode AP"),
        ({"power": "Power save: on"}, "power save", "note", "on"),
        ({"country": "US"}, "regulatory domain", "note", "US; a run sets DE"),
        ({"survey": SURVEY.format(busy=400)}, "channel", "note", "busy for 40%"),
        ({"survey": ""}, "channel", "note", "does not tell"),
    ],
)
def test_what_disturbs_is_named_with_a_remedy(
    tmp_path: Path, answers: dict[str, str], about: str, state: str, said: str
) -> None:
    found = [one for one in of_ap(tmp_path, seen(**answers)) if one.about == about]
    assert [one.state for one in found] == [state]
    assert re.search(said, found[0].found)
    assert found[0].mend


def test_a_device_that_networkmanager_leaves_alone_is_no_problem(tmp_path: Path) -> None:
    found = of_ap(tmp_path, seen(manager="9", managed="wlan7:unmanaged\nlo:connected"))
    assert not [one for one in found if one.about == "NetworkManager"]


def test_missing_tools_name_their_packages(tmp_path: Path) -> None:
    answers = Seen(seen().sections, frozenset({"iw", "ip"}), None, 0.0)
    found = {one.about: one for one in of_ap(tmp_path, answers)}
    assert found["tools"].state == "problem"
    assert found["tools"].mend.endswith("hostapd")
    assert found["clock"].found == "its date command tells whole seconds only"
