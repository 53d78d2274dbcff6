"""EAPOL on a wire (802.1X): our station with hostapd, and our access point with wpa_supplicant.

Both ends are in namespaces with a virtual Ethernet cable between them; ours uses packet sockets.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ETHERTYPE = 0x888E
#: The PAE group address (802.1X-2004, table 7-2).
GROUP = bytes.fromhex("0180c2000003")
METHODS = [("md5", "1.2"), ("tls", "1.2"), ("tls", "1.3"), ("peap", "1.2"), ("ttls", "1.3")]


class Cable:
    """EAPOL frames between our end and the other's."""

    def __init__(self, ours: str, theirs: str, sock: socket.socket, address: bytes) -> None:
        self.ours, self.theirs, self.sock, self.address = ours, theirs, sock, address

    def fileno(self) -> int:
        return self.sock.fileno()

    def take(self, message: tuple[str, str, str, bytes]) -> bool:
        if message[:3] != (self.ours, self.theirs, "eapol"):
            return False
        self.sock.send(GROUP + self.address + ETHERTYPE.to_bytes(2, "big") + message[3])
        return True

    def give(self) -> list[tuple[str, str, str, bytes]]:
        frame, (_, _, direction, *_) = self.sock.recvfrom(2000)
        if direction == socket.PACKET_OUTGOING:
            return []
        return [(self.theirs, self.ours, "eapol", frame[14:])]


@pytest.fixture
def cable(namespace: Callable[[str], Any]) -> Iterator[Callable[[str, str], tuple[Any, Cable]]]:
    """Lays a cable; gives the far namespace, where it is `v0`, and our end."""
    made: list[socket.socket] = []

    def lay(ours: str, theirs: str) -> tuple[Any, Cable]:
        near, far = namespace("near"), namespace("far")
        near.run("ip", "link", "add", "v0", "type", "veth", "peer", "name", "v0", "netns", far.name)
        for space, address in ((near, "02:00:00:00:00:01"), (far, "02:00:00:00:00:02")):
            space.run("ip", "link", "set", "v0", "address", address)
            space.run("ip", "link", "set", "v0", "up")
        sock = near.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERTYPE))
        sock.bind(("v0", ETHERTYPE))
        made.append(sock)
        return far, Cable(ours, theirs, sock, bytes.fromhex("020000000001"))

    yield lay
    for sock in made:
        sock.close()


@pytest.mark.parametrize(("method", "tls"), METHODS)
def test_hostapd_opens_the_port_to_our_station(
    peers: Any, start: Callable[..., Any], cable: Any, tmp_path: Path, method: str, tls: str
) -> None:
    program = peers.needs("hostapd")["hostapd"]
    given = peers.eap_settings(method, tls, "rsa2048")
    far, wire = cable("station", "access-point")
    chain = peers.chain_of("rsa2048")
    password = '"correct horse"' if method == "md5" else ""
    files = {
        "ca.pem": chain.authority,
        "server.pem": chain.server,
        "server.key": chain.server_key,
        "users": f'"{given["identity"]}" {method.upper()} {password}\n'
        f'"{given["identity"]}" MSCHAPV2,TTLS-PAP "correct horse" [2]\n',
        "hostapd.conf": "driver=wired\ninterface=v0\nieee8021x=1\neap_server=1\n"
        f"eap_user_file={tmp_path}/users\nca_cert={tmp_path}/ca.pem\n"
        f"server_cert={tmp_path}/server.pem\nprivate_key={tmp_path}/server.key\n"
        f"fragment_size=994\ntls_flags={'[ENABLE-TLSv1.3]' if tls == '1.3' else ''}\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    daemon = start([*far.prefix, program, "-d", str(tmp_path / "hostapd.conf")], "hostapd")
    daemon.wait_for(lambda: "AP-ENABLED" in daemon.text())
    talk = peers.Conversation(given, ["station"], [wire]).run()
    assert talk.status("station") == "established", daemon.text()[-5000:]
    own = peers.Conversation(given, ["station", "access-point", "authentication-server"]).run()
    assert talk.count("eapol") == own.count("eapol")
    daemon.wait_for(lambda: "CTRL-EVENT-EAP-SUCCESS" in daemon.text())


@pytest.mark.parametrize(("method", "tls"), METHODS)
def test_wpa_supplicant_authenticates_to_our_access_point(
    peers: Any, start: Callable[..., Any], cable: Any, tmp_path: Path, method: str, tls: str
) -> None:
    program = peers.needs("wpa_supplicant")["wpa_supplicant"]
    given = peers.eap_settings(method, tls, "rsa2048")
    far, wire = cable("access-point", "station")
    chain = peers.chain_of("rsa2048")
    inner = {"peap": 'phase2="auth=MSCHAPV2"\n', "ttls": 'phase2="auth=PAP"\n'}
    files = {
        "ca.pem": chain.authority,
        "client.pem": chain.client,
        "client.key": chain.client_key,
        "station.conf": "ap_scan=0\nnetwork={\nkey_mgmt=IEEE8021X\neapol_flags=0\n"
        f'eap={method.upper()}\nidentity="{given["identity"]}"\npassword="correct horse"\n'
        f'ca_cert="{tmp_path}/ca.pem"\nclient_cert="{tmp_path}/client.pem"\n'
        f'private_key="{tmp_path}/client.key"\nfragment_size=994\n{inner.get(method, "")}'
        f'phase1="tls_disable_tlsv1_3={int(tls != "1.3")}"\n}}\n',
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    argv = ["-D", "wired", "-i", "v0", "-c", str(tmp_path / "station.conf"), "-d"]
    daemon = start([*far.prefix, program, *argv], "wpa_supplicant")
    ours = ["access-point", "authentication-server"]
    talk = peers.Conversation(given, ours, [wire]).run()
    assert talk.status("access-point") == "established", daemon.text()[-5000:]
    assert talk.secrets("access-point") == talk.secrets("authentication-server")
    daemon.wait_for(lambda: "CTRL-EVENT-EAP-SUCCESS" in daemon.text())
