"""Our OpenVPN control channel against openvpn on a TUN device in a namespace.

The keys are proved by a packet each way: an echo request through the tunnel is answered.
"""

from __future__ import annotations

import re
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

STATION, GATEWAY = "10.8.0.2", "10.8.0.1"
STATIC_KEY = bytes(range(256))
DATA = 9 << 3
CHAINS = ["p256", "rsa2048"]


class OpenVpn(NamedTuple):
    """A running openvpn, and our socket in its namespace."""

    space: Any
    daemon: Any
    sock: socket.socket
    port: int

    def established(self) -> bool:
        return "Initialization Sequence Completed" in self.daemon.text()


def settings(peers: Any, chain: str, **more: Any) -> dict[str, Any]:
    return {
        "handshake": "open-vpn",
        "static_key": list(STATIC_KEY),
        "time": int(time.time()),
        "chain": peers.algorithms(chain),
        "inner": [[10, 8, 0, 2], [10, 8, 0, 1]],
        **more,
    }


def shared_key() -> str:
    text = STATIC_KEY.hex()
    lines = "\n".join(text[at : at + 32] for at in range(0, len(text), 32))
    name = "OpenVPN Static key V1"
    return f"-----BEGIN {name}-----\n{lines}\n-----END {name}-----\n"


@pytest.fixture
def openvpn(
    peers: Any, namespace: Callable[[str], Any], start: Callable[..., Any], tmp_path: Path
) -> Iterator[Callable[..., OpenVpn]]:
    program = peers.needs("openvpn", "ping")["openvpn"]
    if not Path("/dev/net/tun").exists():
        pytest.skip("no /dev/net/tun here")
    opened: list[OpenVpn] = []

    def make(side: str, chain: str) -> OpenVpn:
        space = namespace("ov")
        sock = space.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.bind(("127.0.0.1", 0))
        port = 1194 if side == "server" else sock.getsockname()[1]
        keys = peers.chain_of(peers.algorithms(chain))
        texts = {
            "ca": keys.authority,
            "cert": keys.server if side == "server" else keys.client,
            "key": keys.server_key if side == "server" else keys.client_key,
            "tls-crypt": shared_key(),
        }
        for name, text in texts.items():
            (tmp_path / name).write_text(text)
        files = [word for name in texts for word in (f"--{name}", str(tmp_path / name))]
        role = {
            "server": f"--server 10.8.0.0 255.255.255.0 --topology subnet --dh none --port {port}",
            "client": f"--client --nobind --remote 127.0.0.1 {port}",
        }[side]
        argv = [program, *role.split(), "--dev", "tun", "--proto", "udp4", "--verb", "6", *files]
        daemon = start([*space.prefix, *argv], "openvpn")
        made = OpenVpn(space, daemon, sock, port)
        opened.append(made)
        if side == "server":
            daemon.wait_for(made.established)
        return made

    yield make
    for one in opened:
        one.sock.close()


def seal(secrets: dict[str, bytes], name: str, packet: int, plain: bytes) -> bytes:
    key, implicit = secrets[name][:32], secrets[name][32:]
    head = bytes([DATA]) + secrets["tunnel-spis"][1:4] + struct.pack("!I", packet)
    sealed = AESGCM(key).encrypt(head[4:] + implicit, plain, head)
    return head + sealed[-16:] + sealed[:-16]


def unseal(secrets: dict[str, bytes], name: str, octets: bytes) -> bytes:
    key, implicit = secrets[name][:32], secrets[name][32:]
    head, tag, text = octets[:8], octets[8:24], octets[24:]
    return AESGCM(key).decrypt(head[4:] + implicit, text + tag, head)


def opcodes(talk: Any, sender: str) -> list[int]:
    return [message[3][0] >> 3 for message in talk.messages if message[0] == sender]


@pytest.mark.parametrize("requests", [False, True], ids=["pushed", "requested"])
@pytest.mark.parametrize("chain", CHAINS)
def test_openvpn_answers_our_client(peers: Any, openvpn: Any, chain: str, requests: bool) -> None:
    made = openvpn("server", chain)
    wire = peers.UdpWire("station", "gateway", "udp:1194", made.sock)
    wire.address = ("127.0.0.1", made.port)
    talk = peers.Conversation(settings(peers, chain, requests=requests), ["station"], [wire]).run()
    said = made.daemon.text()
    assert talk.status("station") == "established", (talk.why("station"), said)
    assert ("PUSH: Received control message: 'PUSH_REQUEST'" in said) == requests
    assert "SENT CONTROL" in said
    assert "TLSv1.3" in said
    secrets = talk.secrets("station")
    made.sock.settimeout(5)
    request = seal(secrets, "tunnel-forward", 1, peers.echo(8, STATION, GATEWAY))
    made.sock.sendto(request, ("127.0.0.1", made.port))
    answer = made.sock.recv(2000)
    while answer[0] != DATA or unseal(secrets, "tunnel-backward", answer)[9:10] != b"\x01":
        answer = made.sock.recv(2000)
    plain = unseal(secrets, "tunnel-backward", answer)
    assert plain[12:20] == socket.inet_aton(GATEWAY) + socket.inet_aton(STATION)
    assert plain[20] == 0
    assert b"airtoll!" in plain


@pytest.mark.parametrize("chain", CHAINS)
def test_openvpn_takes_our_gateway(peers: Any, openvpn: Any, chain: str) -> None:
    made = openvpn("client", chain)
    wire = peers.UdpWire("gateway", "station", "udp:1194", made.sock)
    talk = peers.Conversation(settings(peers, chain), ["gateway"], [wire]).run()
    assert talk.status("gateway") == "established", (talk.why("gateway"), made.daemon.text())
    secrets = talk.secrets("gateway")
    made.daemon.wait_for(made.established)
    ping = subprocess.Popen(
        [*made.space.prefix, "ping", "-c", "1", "-W", "8", GATEWAY], stdout=subprocess.PIPE
    )
    made.sock.settimeout(5)
    plain = b""
    # ICMP in IPv4; the kernel also asks for IPv6 routers.
    while plain[:1] != b"\x45" or plain[9] != 1:
        octets = made.sock.recv(2000)
        if octets[0] == DATA:
            plain = unseal(secrets, "tunnel-forward", octets)
    reply = peers.echo(0, GATEWAY, STATION, plain[24:])
    made.sock.sendto(seal(secrets, "tunnel-backward", 1, reply), wire.address)
    told = ping.communicate(timeout=15)[0].decode()
    assert "1 received" in told, told


def test_our_packets_have_openvpn_s_octets(peers: Any, openvpn: Any) -> None:
    """Our two ends against each other, and ours against openvpn: the same packets either way."""
    chain = "p256"
    made = openvpn("server", chain)
    wire = peers.UdpWire("station", "gateway", "udp:1194", made.sock)
    wire.address = ("127.0.0.1", made.port)
    real = peers.Conversation(settings(peers, chain), ["station"], [wire]).run()
    ours = peers.Conversation(settings(peers, chain), ["station", "gateway"]).run()
    assert real.status("station") == ours.status("station") == "established"
    for sender in ("station", "gateway"):
        assert opcodes(real, sender) == opcodes(ours, sender), (sender, made.daemon.text())

    def octets(talk: Any, sender: str) -> int:
        return sum(len(message[3]) for message in talk.messages if message[0] == sender)

    assert octets(real, "station") == pytest.approx(octets(ours, "station"), rel=0.01)
    # OpenSSL's CertificateRequest names its authorities and lists all of its signature algorithms.
    assert octets(ours, "gateway") < octets(real, "gateway") < 1.1 * octets(ours, "gateway")


def test_another_shared_key_gets_no_answer(peers: Any, openvpn: Any) -> None:
    made = openvpn("server", "p256")
    wire = peers.UdpWire("station", "gateway", "udp:1194", made.sock)
    wire.address = ("127.0.0.1", made.port)
    given = settings(peers, "p256", static_key=[9] * 256)
    talk = peers.Conversation(given, ["station"], [wire]).run(limit_s=10, timer_s=0.1)
    assert (talk.status("station"), talk.why("station")) == ("failed", "peer-timeout")
    assert re.search(r"tls-crypt unwrapping failed", made.daemon.text())


def test_openvpn_refuses_a_gateway_of_another_root(peers: Any, openvpn: Any) -> None:
    made = openvpn("client", "p256")
    wire = peers.UdpWire("gateway", "station", "udp:1194", made.sock)
    given = settings(peers, "p256", shown="rogue")
    talk = peers.Conversation(given, ["gateway"], [wire])
    # OpenVPN 2.6 sends no alert: it begins again.
    talk.run(lambda _: "VERIFY ERROR" in made.daemon.text(), limit_s=15)
    assert "VERIFY ERROR" in made.daemon.text()
    assert talk.status("gateway") != "established"
    assert not made.established()
