"""The real stack's LEAP server with hostapd as authenticator and wpa_supplicant as station.

Both daemons are in namespaces with a virtual Ethernet cable between them; the server is in
hostapd's, as on an access point.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import asdict

from airtoll.testbeds.linux.daemons.leap import Server

PYTHON = Path(__file__).parents[2] / "python"
WEP_KEY = "0102030405060708090a0b0c0d"


@pytest.mark.parametrize("password", ["correct horse", "wrong horse"])
def test_wpa_supplicant_takes_the_wep_keys_of_the_server(
    peers: Any,
    start: Callable[..., Any],
    namespace: Callable[[str], Any],
    tmp_path: Path,
    password: str,
) -> None:
    programs = peers.needs("hostapd", "wpa_supplicant")
    near, far = namespace("near"), namespace("far")
    near.run("ip", "link", "add", "v0", "type", "veth", "peer", "name", "v0", "netns", far.name)
    for space, link in ((near, "lo"), (near, "v0"), (far, "v0")):
        space.run("ip", "link", "set", link, "up")
    settings = Server(
        "user",
        "correct horse",
        "shared secret",
        interface="v0",
        listen="v0",
        wep_key=WEP_KEY,
        ready=str(tmp_path / "ready"),
    )
    files = {
        "server.json": json.dumps(asdict(settings)),
        "hostapd.conf": "driver=wired\ninterface=v0\nieee8021x=1\nown_ip_addr=127.0.0.1\n"
        "auth_server_addr=127.0.0.1\nauth_server_port=1812\n"
        "auth_server_shared_secret=shared secret\n",
        "station.conf": "ap_scan=0\nnetwork={\n\tkey_mgmt=IEEE8021X\n\teap=LEAP\n"
        f'\tidentity="user"\n\tpassword="{password}"\n\teapol_flags=0\n}}\n',
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    module = [
        "env",
        f"PYTHONPATH={PYTHON}",
        sys.executable,
        "-m",
        "airtoll.testbeds.linux.daemons.leap",
    ]
    server = start([*near.prefix, *module, "serve", str(tmp_path / "server.json")], "leap")
    server.wait_for((tmp_path / "ready").exists)
    configuration = str(tmp_path / "hostapd.conf")
    hostapd = start([*near.prefix, programs["hostapd"], "-d", configuration], "hostapd")
    hostapd.wait_for(lambda: "AP-ENABLED" in hostapd.text())
    argv = [programs["wpa_supplicant"], "-dd", "-K", "-D", "wired", "-i", "v0"]
    station = start([*far.prefix, *argv, "-c", str(tmp_path / "station.conf")], "station")
    if password != "correct horse":
        station.wait_for(lambda: "CTRL-EVENT-EAP-FAILURE" in station.text())
        assert "Setting dynamic WEP key" not in station.text()
        return
    station.wait_for(lambda: "Setting dynamic WEP key: unicast" in station.text())
    told = station.text()
    assert "CTRL-EVENT-EAP-SUCCESS" in told
    assert told.count("EAPOL-Key key signature verified") == 2
    octets = " ".join(WEP_KEY[at : at + 2] for at in range(0, len(WEP_KEY), 2))
    assert told.count(f"Decrypted(RC4) key - hexdump(len=13): {octets}") == 2
    assert "Setting dynamic WEP key: broadcast keyidx 0 len 13" in told
