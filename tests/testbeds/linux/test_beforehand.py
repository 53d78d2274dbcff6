"""Answers of hosts before the first trial: what daemons refuse, and the cells that go with it."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from airtoll.plan import Plan, make_plan
from airtoll.study import parse
from airtoll.testbeds.linux.hosts.host import LocalHost
from airtoll.testbeds.linux.laboratory import beforehand
from airtoll.testbeds.linux.laboratory.beforehand import Answers, Asked
from airtoll.testbeds.linux.laboratory.lab import Lab

STUDY = """
[study]
name = "asked"
title = "Asked"
baseline = "open"
[scenario.one]
phy = "802.11g"
rate_mbps = 54.0
[traffic.stream]
transport = "udp"
[traffic.names]
application = "dns"
transport = "udp"
[grid]
policy = ["open", "wep-104", "wpa-psk-tkip", "wpa2-psk-ccmp", "wpa3-sae-ccmp"]
traffic = ["stream", "names"]
"""


def plan(*policies: str) -> Plan:
    text = STUDY
    if policies:
        text = STUDY[: STUDY.index("policy =")] + f"policy = {['open', *policies]!r}\n"
        text += 'traffic = ["stream", "names"]\n'
    return make_plan(parse(text, Path("asked.toml")).study)


def lab() -> Lab:
    host = {
        "laptop": {"role": "station", "address": "a", "interface": "wlan0", "ip": "10.0.0.1"},
        "desk": {"role": "server", "address": "b", "ip": "10.0.0.2"},
    }
    return Lab.model_validate({"lab": {"name": "x", "ap": {"ip": "10.0.0.3"}}, "host": host})


def reasons(asked: Asked) -> dict[tuple[str, str], str]:
    found = {(c.policy, c.traffic): asked.why_not(c, 1) for c in plan().cells}
    return {key: why for key, why in found.items() if why is not None}


def test_hosts_that_have_everything_refuse_nothing() -> None:
    assert reasons(Asked(lab(), {"laptop": Answers(), "desk": Answers()})) == {}


def test_each_policy_that_a_daemon_lacks_is_refused_with_one_reason() -> None:
    found = reasons(Asked(lab(), {"laptop": Answers(lacks=("WEP", "TKIP"))}))
    assert {policy for policy, _ in found} == {"wep-104", "wpa-psk-tkip"}
    assert len(set(found.values())) == 2
    assert found["wep-104", "stream"] == (
        "wep-104: wpa_supplicant of laptop was built without WEP: another build of it, or "
        "another host"
    )


def test_cells_whose_programs_a_host_cannot_run_are_refused_with_host_and_cure() -> None:
    found = reasons(Asked(lab(), {"desk": Answers(python="no python3")}))
    assert {traffic for _, traffic in found} == {"names"}
    assert found["open", "names"].startswith("dns: desk: no python3; on desk: apt-get install")


def test_cells_whose_tools_a_host_lacks_are_refused_with_the_packages() -> None:
    found = reasons(Asked(lab(), {"laptop": Answers(without=("irtt", "wg"))}))
    assert {traffic for _, traffic in found} == {"stream"}
    assert found["open", "stream"] == (
        "stream: laptop has no irtt; on laptop: apt-get install --no-install-recommends irtt"
    )
    server = reasons(Asked(lab(), {"desk": Answers(without=("freeradius",))}))
    assert server == {}
    more = plan("wpa2-eap-tls-ccmp", "wireguard", "ipsec-aes-gcm").cells
    needed = {cell.policy: beforehand.tools_of(cell) for cell in more}
    assert "wg" in needed["wireguard"]["station"]
    assert "swanctl" in needed["ipsec-aes-gcm"]["server"]
    assert "freeradius" in needed["wpa2-eap-tls-ccmp"]["server"]
    assert "freeradius" not in needed["wpa2-eap-tls-ccmp"]["station"]


def test_tunnels_that_a_kernel_lacks_are_refused_with_the_host() -> None:
    cells = plan("wireguard", "ipsec-aes-gcm").cells
    asked = Asked(lab(), {"desk": Answers(kernel=("ESP",))})
    found = {cell.policy: asked.why_not(cell, 1) for cell in cells}
    assert found == {
        "wireguard": None,
        "ipsec-aes-gcm": "ipsec-aes-gcm: the kernel of desk has no ESP: a kernel with the module, "
        "or another host",
        "open": None,
    }


def test_a_kernel_lacks_only_what_it_says_that_it_lacks() -> None:
    said = "@0\nError: Unknown device type.\n@1\nRTNETLINK answers: File exists\n"
    assert beforehand.unable(said) == ("WireGuard",)
    assert beforehand.unable("@0\n@1\nError: Requested type not found.\n") == ("ESP",)
    assert beforehand.unable("unshare: unshare failed: Operation not permitted\n") == ()


def test_a_host_that_is_not_reached_is_said_and_refuses_nothing() -> None:
    described = lab().model_copy(
        update={
            "host": {
                name: host.model_copy(update={"address": "127.0.0.1", "port": 1})
                for name, host in lab().host.items()
            }
        }
    )
    pytest.importorskip("asyncssh")
    asked = asyncio.run(beforehand.ask(described))
    assert [line.partition(": cannot")[0] for line in asked.lines()] == [
        "not asked: laptop",
        "not asked: desk",
    ]
    assert reasons(asked) == {}


def test_a_daemon_that_complains_about_a_line_lacks_what_it_asks_for() -> None:
    said = """@0
Line 4: unknown network field 'wep_key0'.
Failed to read or parse configuration '/dev/stdin'.
@1
Successfully initialized wpa_supplicant
airtoll-none: Unsupported driver 'nl80211'
@2
Line 3: invalid key_mgmt 'SAE'
"""
    assert beforehand.refused(said) == ("WEP", "SAE")
    assert beforehand.refused("") == ()


@pytest.mark.parametrize("role", ["station", "access-point"])
def test_the_daemons_of_this_machine_are_asked(
    role: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon = {"station": "wpa_supplicant", "access-point": "hostapd"}[role]
    if shutil.which(daemon) is None:
        pytest.skip(f"needs {daemon}")

    async def look() -> Answers:
        async with LocalHost("here", "0123abcd") as host:
            return await beforehand.look(host, role)

    assert asyncio.run(look()).lacks == ()  # Debian builds them with all of it
    # A line that no build knows is told apart from one that this build lacks not.
    one = beforehand.KNOWLEDGE[0]
    odd = beforehand.Knowledge("nothing", one.asked, "airtoll_asks=1", "airtoll_asks=1")
    monkeypatch.setattr(beforehand, "KNOWLEDGE", (one, odd))
    assert asyncio.run(look()).lacks == ("nothing",)
