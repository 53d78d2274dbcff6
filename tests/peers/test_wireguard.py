"""Our WireGuard handshake against wireguard-go on a TUN device in a namespace.

The keys are proved by a packet each way: an echo request through the tunnel is answered.
"""

from __future__ import annotations

import base64
import contextlib
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

OURS, THEIRS = "10.9.0.1", "10.9.0.2"
PORT = 51820


def public(private: bytes) -> bytes:
    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def packed(octets: bytes) -> str:
    return base64.b64encode(octets).decode()


class Tunnel:
    """wireguard-go with one peer, whose private key is ours."""

    def __init__(self, space: Any, link: str, preshared: bytes, daemon: Any) -> None:
        self.space, self.link, self.preshared, self.daemon = space, link, preshared, daemon
        self.private = bytes(range(1, 33))
        self.their_private = bytes(range(101, 133))
        self.sock = space.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sock.bind(("127.0.0.1", 0))
        port = self.sock.getsockname()[1]
        folder = Path(f"/run/{space.name}-{link}")
        folder.mkdir()
        try:
            (folder / "private").write_text(packed(self.their_private))
            (folder / "preshared").write_text(packed(preshared))
            more = ["preshared-key", str(folder / "preshared")] if any(preshared) else []
            space.run(
                *("wg", "set", link, "listen-port", str(PORT)),
                *("private-key", str(folder / "private"), "peer", packed(public(self.private))),
                *more,
                *("endpoint", f"127.0.0.1:{port}", "allowed-ips", f"{OURS}/32"),
            )
        finally:
            for file in folder.iterdir():
                file.unlink()
            folder.rmdir()
        space.run("ip", "addr", "add", f"{THEIRS}/24", "dev", link)
        space.run("ip", "link", "set", link, "up")

    def flood(self, octets: bytes) -> Callable[[], None]:
        """Sends a message again and again until the callable that it gives is called."""
        over = threading.Event()

        def send() -> None:
            with self.space.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
                sock.bind(("127.0.0.2", 0))
                while not over.is_set():
                    with contextlib.suppress(OSError):
                        sock.sendto(octets, ("127.0.0.1", PORT))

        threads = [threading.Thread(target=send) for _ in range(2)]
        for thread in threads:
            thread.start()

        def stop() -> None:
            over.set()
            for thread in threads:
                thread.join()

        return stop

    def settings(self, **more: Any) -> dict[str, Any]:
        return {
            "handshake": "wire-guard",
            "private": list(self.private),
            "peer": list(public(self.their_private)),
            "preshared": list(self.preshared),
            "timestamp": [0x40, *[0] * 11],
            **more,
        }


@pytest.fixture
def tunnel(
    peers: Any, namespace: Callable[[str], Any], start: Callable[..., Any]
) -> Iterator[Callable[[bytes], Tunnel]]:
    program = peers.needs("wireguard-go", "wg", "ping")["wireguard-go"]
    if not Path("/dev/net/tun").exists():
        pytest.skip("no /dev/net/tun here")
    opened: list[Tunnel] = []

    def make(preshared: bytes) -> Tunnel:
        space = namespace("wg")
        link = "airtoll0"
        variables = {"LOG_LEVEL": "verbose", "WG_PROCESS_FOREGROUND": "1"}
        daemon = start([*space.prefix, program, "-f", link], "wireguard-go", variables)
        daemon.wait_for(lambda: "UAPI listener started" in daemon.text())
        made = Tunnel(space, link, preshared, daemon)
        opened.append(made)
        return made

    yield make
    for made in opened:
        made.sock.close()


def seal(key: bytes, receiver: int, counter: int, plain: bytes) -> bytes:
    plain += bytes(-len(plain) % 16)
    nonce = bytes(4) + struct.pack("<Q", counter)
    sealed = ChaCha20Poly1305(key).encrypt(nonce, plain, b"")
    return struct.pack("<IIQ", 4, receiver, counter) + sealed


def unseal(key: bytes, octets: bytes) -> bytes:
    kind, _, counter = struct.unpack("<IIQ", octets[:16])
    assert kind == 4
    return ChaCha20Poly1305(key).decrypt(bytes(4) + struct.pack("<Q", counter), octets[16:], b"")


@pytest.mark.parametrize("preshared", [bytes(32), bytes(range(32))], ids=["plain", "preshared"])
def test_wireguard_go_answers_our_initiation(peers: Any, tunnel: Any, preshared: bytes) -> None:
    made = tunnel(preshared)
    wire = peers.UdpWire("station", "gateway", "udp:51820", made.sock)
    wire.address = ("127.0.0.1", PORT)
    talk = peers.Conversation(made.settings(), ["station"], [wire]).run()
    assert talk.status("station") == "established", made.daemon.text()
    assert [len(message[3]) for message in talk.messages] == [148, 92, 32]
    secrets = talk.secrets("station")
    forward, backward = struct.unpack("!II", secrets["tunnel-spis"])
    made.sock.settimeout(5)
    request = seal(secrets["tunnel-forward"], forward, 1, peers.echo(8, OURS, THEIRS))
    made.sock.sendto(request, ("127.0.0.1", PORT))
    answer = made.sock.recv(2000)
    while len(answer) == 32:  # keepalives
        answer = made.sock.recv(2000)
    assert struct.unpack("<I", answer[4:8])[0] == backward
    plain = unseal(secrets["tunnel-backward"], answer)
    assert plain[12:20] == socket.inet_aton(THEIRS) + socket.inet_aton(OURS)
    assert (plain[9], plain[20]) == (1, 0)
    assert b"airtoll!" in plain


@pytest.mark.parametrize("preshared", [bytes(32), bytes(range(32))], ids=["plain", "preshared"])
def test_wireguard_go_takes_our_response(peers: Any, tunnel: Any, preshared: bytes) -> None:
    made = tunnel(preshared)
    wire = peers.UdpWire("gateway", "station", "udp:51820", made.sock)
    ping = subprocess.Popen(
        [*made.space.prefix, "ping", "-c", "1", "-W", "8", OURS], stdout=subprocess.PIPE
    )
    talk = peers.Conversation(made.settings(), ["gateway"], [wire]).run()
    assert talk.status("gateway") == "established", made.daemon.text()
    assert [len(message[3]) for message in talk.messages][:2] == [148, 92]
    secrets = talk.secrets("gateway")
    _, backward = struct.unpack("!II", secrets["tunnel-spis"])
    request = unseal(secrets["tunnel-forward"], talk.messages[-1][3])
    assert (request[9], request[20]) == (1, 8)
    length = struct.unpack("!H", request[2:4])[0]
    reply = peers.echo(0, OURS, THEIRS, request[24:length])
    made.sock.sendto(seal(secrets["tunnel-backward"], backward, 0, reply), wire.address)
    told = ping.communicate(timeout=15)[0].decode()
    assert "1 received" in told, told


def test_another_preshared_key_gets_no_session(peers: Any, tunnel: Any) -> None:
    made = tunnel(bytes(range(32)))
    wire = peers.UdpWire("station", "gateway", "udp:51820", made.sock)
    wire.address = ("127.0.0.1", PORT)
    given = made.settings(preshared=[9] * 32)
    talk = peers.Conversation(given, ["station"], [wire]).run(limit_s=10, timer_s=0.1)
    assert (talk.status("station"), talk.why("station")) == ("failed", "peer-timeout")


def test_our_initiator_brings_the_cookie_that_a_loaded_wireguard_go_asks_for(
    peers: Any, tunnel: Any
) -> None:
    made = tunnel(bytes(32))
    wire = peers.UdpWire("station", "gateway", "udp:51820", made.sock)
    wire.address = ("127.0.0.1", PORT)
    given = made.settings(private=list(range(50, 82)))
    # Initiations with a right MAC1, from elsewhere: its queue fills, and it calls itself loaded.
    stranger = peers.Conversation(given, ["station"], [], seed=7)
    stop = made.flood(bytes(stranger.machine.start()[0][3]))
    try:
        for attempt in range(8):
            time.sleep(0.3)
            # A later handshake has a later timestamp.
            given = made.settings(timestamp=[0x40, *[0] * 7, attempt, 0, 0, 0])
            talk = peers.Conversation(given, ["station"], [wire]).run(limit_s=20, timer_s=0.5)
            lengths = [len(message[3]) for message in talk.messages]
            assert talk.status("station") == "established", lengths
            if 64 in lengths:
                break
        else:
            pytest.skip("wireguard-go handles more initiations than this machine can send")
    finally:
        stop()
    # An initiation, a cookie reply, an initiation with MAC2 and the response to it.
    before = talk.messages[lengths.index(64) - 1][3]
    assert before[-16:] == bytes(16)
    after = next(m[3] for m in talk.messages[lengths.index(64) :] if len(m[3]) == 148)
    assert after[-16:] != bytes(16)


def test_wireguard_go_brings_the_cookie_that_our_loaded_gateway_asks_for(
    peers: Any, tunnel: Any
) -> None:
    made = tunnel(bytes(32))
    wire = peers.UdpWire("gateway", "station", "udp:51820", made.sock)
    ping = subprocess.Popen(
        [*made.space.prefix, "ping", "-c", "1", "-W", "12", OURS], stdout=subprocess.PIPE
    )
    talk = peers.Conversation(made.settings(), ["gateway"], [wire])
    talk.machine.set_busy("gateway", True)
    talk.run(limit_s=15, timer_s=15)
    ping.kill()
    ping.communicate()
    assert talk.status("gateway") == "established", made.daemon.text()
    lengths = [len(message[3]) for message in talk.messages]
    assert lengths[:4] == [148, 64, 148, 92], lengths
    assert talk.messages[2][3][-16:] != bytes(16)
    assert "Receiving cookie response" in made.daemon.text()
