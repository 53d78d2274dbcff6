"""A failure of `docs/studies/failures.md` on the daemons: a server that gets no IP fragments.

wpa_supplicant and hostapd are in namespaces with a virtual Ethernet cable between them, FreeRADIUS
is in a third one whose kernel reassembles nothing, as behind a firewall that drops fragments.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from airtoll.testbeds.linux.daemons import credentials, freeradius
from airtoll.testbeds.linux.daemons.credentials import USER

NETWORK = ipaddress.ip_network("10.77.0.0/24")
HOSTAPD, SERVER = "10.77.0.1", "10.77.0.2"
PORT = 1812


@cache
def _secrets() -> credentials.Credentials:
    """Their certificates take a second: not when the file is collected."""
    return credentials.fresh()


def joined(
    peers: Any, start: Callable[..., Any], namespace: Callable[[str], Any], folder: Path, more: str
) -> tuple[Any, Any]:
    """Station and access point of an EAP-TLS join, which has begun; ``more``: of the station."""
    programs = peers.needs("hostapd", "wpa_supplicant", "freeradius")
    secrets = _secrets()
    chain = secrets.chain("rsa2048", None)
    far, near, behind = namespace("far"), namespace("near"), namespace("behind")
    for one, other, link in ((near, far, "v0"), (near, behind, "r0")):
        one.run(
            "ip", "link", "add", link, "type", "veth", "peer", "name", link, "netns", other.name
        )
        for space in (one, other):
            space.run("ip", "link", "set", link, "up")
    for space, address in ((near, HOSTAPD), (behind, SERVER)):
        space.run("ip", "address", "add", f"{address}/{NETWORK.prefixlen}", "dev", "r0")
    for name in ("low", "high"):
        behind.run("sh", "-c", f"echo 0 > /proc/sys/net/ipv4/ipfrag_{name}_thresh")
    base = folder / "radius"
    texts = freeradius.files(
        str(base), secrets, chain, port=PORT, network=str(NETWORK), method="tls"
    )
    for name, text in texts.items():
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_text(text)
    pems = {"ca": chain.authority, "client": chain.client, "key": chain.client_key}
    for name, text in pems.items():
        (folder / f"{name}.pem").write_text(text)
    (folder / "hostapd.conf").write_text(
        f"driver=wired\ninterface=v0\nieee8021x=1\nown_ip_addr={HOSTAPD}\n"
        f"auth_server_addr={SERVER}\nauth_server_port={PORT}\n"
        f"auth_server_shared_secret={secrets.radius_secret}\n"
    )
    (folder / "station.conf").write_text(
        "ap_scan=0\nnetwork={\n\tkey_mgmt=IEEE8021X\n\teap=TLS\n\teapol_flags=0\n"
        f'\tidentity="{USER}"\n\tca_cert="{folder}/ca.pem"\n\tclient_cert="{folder}/client.pem"\n'
        f'\tprivate_key="{folder}/key.pem"\n{more}}}\n'
    )
    log = base / "radius.log"
    argv = [programs["freeradius"], "-f", "-l", str(log), "-d", str(base)]
    server = start([*behind.prefix, *argv], "radius")
    server.wait_for(lambda: log.exists() and "Ready to process requests" in log.read_text())
    configuration = str(folder / "hostapd.conf")
    hostapd = start([*near.prefix, programs["hostapd"], "-dt", configuration], "hostapd")
    hostapd.wait_for(lambda: "AP-ENABLED" in hostapd.text())
    argv = [programs["wpa_supplicant"], "-D", "wired", "-i", "v0"]
    station = start([*far.prefix, *argv, "-c", str(folder / "station.conf")], "station")
    return station, hostapd


def responses(hostapd: Any) -> list[int]:
    """Octets of the station's EAP responses."""
    return [int(one) for one in re.findall(r"\(response\) .*length=(\d+)", hostapd.text())]


def test_eap_tls_stalls_where_fragments_are_dropped(
    peers: Any, start: Callable[..., Any], namespace: Callable[[str], Any], tmp_path: Path
) -> None:
    station, hostapd = joined(peers, start, namespace, tmp_path, "")
    hostapd.wait_for(lambda: "Resending RADIUS message" in hostapd.text())
    assert "CTRL-EVENT-EAP-SUCCESS" not in station.text()
    # The response that fills wpa_supplicant's fragment, with 10 octets of EAP-TLS, is not answered.
    assert responses(hostapd)[-1] == 1408 > max(responses(hostapd)[:-1])
    # hostapd repeats after 3 s (RADIUS_CLIENT_FIRST_WAIT), RFC 5080 after 2.
    sent, again = (
        float(re.findall(rf"^([0-9.]+): .*{words}", hostapd.text(), re.MULTILINE)[-1])
        for words in ("Sending RADIUS message", "Resending RADIUS message")
    )
    assert 2.5 < again - sent < 5


def test_shorter_eap_fragments_are_the_cure(
    peers: Any, start: Callable[..., Any], namespace: Callable[[str], Any], tmp_path: Path
) -> None:
    station, hostapd = joined(peers, start, namespace, tmp_path, "\tfragment_size=1024\n")
    station.wait_for(lambda: "CTRL-EVENT-EAP-SUCCESS" in station.text())
    assert max(responses(hostapd)) == 1034
