"""Our IKEv1 and IKEv2 against charon, each in a namespace of its own."""

from __future__ import annotations

import contextlib
import hmac
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

OURS, THEIRS = "10.77.0.1", "10.77.0.2"
MOVED = "10.77.0.3"
#: Addresses inside the tunnel.
NEAR, FAR = "10.78.0.1", "10.78.0.2"
PLUGINS = (
    "random nonce openssl des md5 sha1 sha2 hmac aes gcm kdf gmp pem x509 pubkey pkcs1 pkcs8 "
    "kernel-libipsec kernel-netlink socket-default vici"
)


class Charon:
    """A running IKE daemon with one connection to us, and our socket."""

    def __init__(self, daemon: Any, spaces: tuple[Any, Any], folder: Path) -> None:
        self.daemon, (self.near, self.far), self.folder = daemon, spaces, folder
        self.log = folder / "charon.log"
        self.socks = {}
        for port in (500, 4500):
            self.socks[port] = self.near.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.socks[port].bind((OURS, port))

    def swanctl(self, *arguments: str, check: bool = True) -> str:
        return str(
            self.far.run(
                "env",
                f"STRONGSWAN_CONF={self.folder}/strongswan.conf",
                "swanctl",
                *arguments,
                "--uri",
                f"unix://{self.folder}/vici",
                check=check,
            )
        )

    def load(self, version: int, ike: str, esp: str, secret: str) -> None:
        (self.folder / "swanctl.conf").write_text(f"""connections {{
  ours {{
    version = {version}
    local_addrs = {THEIRS}
    remote_addrs = {OURS}
    proposals = {ike}
    local {{
      auth = psk
      id = {THEIRS}
    }}
    remote {{
      auth = psk
      id = {OURS}
    }}
    children {{
      tunnel {{
        local_ts = {FAR}/32
        remote_ts = {NEAR}/32
        esp_proposals = {esp}
        mode = tunnel
      }}
    }}
  }}
}}
secrets {{
  ike-1 {{
    id-1 = {THEIRS}
    id-2 = {OURS}
    secret = "{secret}"
  }}
}}
""")
        self.swanctl("--load-all", "--file", str(self.folder / "swanctl.conf"))

    def initiate(self) -> subprocess.Popen[str]:
        """Has charon set the tunnel up, in the background."""
        variables = [f"STRONGSWAN_CONF={self.folder}/strongswan.conf"]
        order = ["--initiate", "--child", "tunnel", "--timeout", "15"]
        return subprocess.Popen(
            [
                *(*self.far.prefix, "env", *variables, "swanctl", *order),
                *("--uri", f"unix://{self.folder}/vici"),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def words(self) -> str:
        return self.log.read_text(errors="replace")


@pytest.fixture
def charon(
    peers: Any, namespace: Callable[[str], Any], start: Callable[..., Any], tmp_path: Path
) -> Iterator[Charon]:
    program = peers.needs("charon-systemd", "swanctl")["charon-systemd"]
    if not Path("/dev/net/tun").exists():
        pytest.skip("no /dev/net/tun here")
    if not any(Path("/usr/lib").glob("**/libstrongswan-kernel-libipsec.so")):
        pytest.skip("not installed: charon's own ESP, libcharon-extra-plugins (make system)")
    near, far = namespace("a"), namespace("b")
    near.run("ip", "link", "add", "v0", "type", "veth", "peer", "name", "v0", "netns", far.name)
    for space, address in ((near, OURS), (far, THEIRS)):
        space.run("ip", "addr", "add", f"{address}/24", "dev", "v0")
        space.run("ip", "link", "set", "v0", "up")
    far.run("ip", "addr", "add", f"{FAR}/32", "dev", "lo")
    (tmp_path / "strongswan.conf").write_text(
        f"charon-systemd {{\n  load = {PLUGINS}\n  plugins {{\n    vici {{\n"
        f"      socket = unix://{tmp_path}/vici\n    }}\n"
        # Its tun device comes up at a moment of its own: a list of addresses sent then
        # would stand before the exchange that a test waits for.
        "    kernel-netlink {\n      roam_events = no\n    }\n  }\n"
        "  journal {\n    default = -1\n  }\n"
        f"  filelog {{\n    main {{\n      path = {tmp_path}/charon.log\n      default = 2\n"
        "      flush_line = yes\n    }\n  }\n"
        "  install_virtual_ip = no\n}\n"
        "swanctl {\n  load = random nonce openssl pem x509 pubkey pkcs1 pkcs8\n}\n"
    )
    variables = {"STRONGSWAN_CONF": f"{tmp_path}/strongswan.conf"}
    daemon = start([*far.prefix, program], "charon", variables)
    daemon.wait_for((tmp_path / "vici").exists)
    made = Charon(daemon, (near, far), tmp_path)
    yield made
    for sock in made.socks.values():
        sock.close()


SECRET = "tunnel secret"


def octets(text: str) -> list[int]:
    return [int(part) for part in text.split(".")]


def v2(gcm: bool, group: int = 14, **more: Any) -> dict[str, Any]:
    return {
        "handshake": "ike-v2",
        "preshared": SECRET,
        "group": group,
        "gcm": gcm,
        "addresses": [octets(OURS), octets(THEIRS)],
        "inner": octets(NEAR),
        "nat_traversal": True,
        **more,
    }


def wires(peers: Any, charon: Charon, ours: str, theirs: str) -> list[Any]:
    made = []
    for port, sock in charon.socks.items():
        wire = peers.UdpWire(ours, theirs, f"udp:{port}", sock)
        wire.address = (THEIRS, port)
        made.append(wire)
    return made


class Esp:
    """One direction of a tunnel: ESP (RFC 4303) around IPv4 packets."""

    def __init__(self, suite: str, key: bytes, spi: bytes) -> None:
        self.suite, self.spi = suite, spi
        if suite == "aes-gcm":
            self.gcm, self.salt = AESGCM(key[:16]), key[16:]
            self.block = 4
            return
        size = {"aes-cbc": 16, "3des": 24}[suite.rpartition("-")[0]]
        self.mac_key, self.digest = key[size:], suite.rpartition("-")[2]
        kind = algorithms.AES if size == 16 else TripleDES
        self.cipher, self.block = kind(key[:size]), 16 if size == 16 else 8

    def _icv(self, octets: bytes) -> bytes:
        return hmac.digest(self.mac_key, octets, self.digest)[:12]

    def seal(self, sequence: int, packet: bytes) -> bytes:
        padding = -(len(packet) + 2) % self.block
        plain = packet + bytes(range(1, padding + 1)) + bytes([padding, 4])
        head = self.spi + sequence.to_bytes(4, "big")
        if self.suite == "aes-gcm":
            iv = sequence.to_bytes(8, "big")
            return head + iv + self.gcm.encrypt(self.salt + iv, plain, head)
        iv = bytes(range(self.block))
        coder = Cipher(self.cipher, modes.CBC(iv)).encryptor()
        octets = head + iv + coder.update(plain) + coder.finalize()
        return octets + self._icv(octets)

    def unseal(self, octets: bytes) -> bytes:
        assert octets[:4] == self.spi
        if self.suite == "aes-gcm":
            plain = self.gcm.decrypt(self.salt + octets[8:16], octets[16:], octets[:8])
        else:
            assert hmac.compare_digest(self._icv(octets[:-12]), octets[-12:])
            iv, sealed = octets[8 : 8 + self.block], octets[8 + self.block : -12]
            coder = Cipher(self.cipher, modes.CBC(iv)).decryptor()
            plain = coder.update(sealed) + coder.finalize()
        assert plain[-1] == 4
        return plain[: -2 - plain[-2]]


def prove(
    peers: Any,
    charon: Charon,
    suite: str,
    secrets: dict[str, bytes],
    ours: str,
) -> None:
    """An echo request through the tunnel is answered through it: both keys are charon's too."""
    forward, backward = secrets["tunnel-forward"], secrets["tunnel-backward"]
    spis = [secrets["tunnel-spis"][:4], secrets["tunnel-spis"][4:]]
    if ours == "gateway":
        forward, backward = backward, forward
        spis.reverse()
    out, back = Esp(suite, forward, spis[0]), Esp(suite, backward, spis[1])
    sock = charon.socks[4500]
    answer = b""
    # charon may still be installing what was agreed on: requests are repeated.
    for sequence in range(1, 21):
        sock.sendto(out.seal(sequence, peers.echo(8, NEAR, FAR)), (THEIRS, 4500))
        sock.settimeout(0.5)
        with contextlib.suppress(TimeoutError):
            while answer[:4] != spis[1]:  # IKE, and keepalives of the translator
                answer = sock.recv(2000)
            break
    plain = back.unseal(answer)
    assert plain[12:20] == socket.inet_aton(FAR) + socket.inet_aton(NEAR)
    assert (plain[9], plain[20]) == (1, 0)
    assert b"airtoll!" in plain


V2 = [
    ("aes-gcm", 14, "aes128gcm16-prfsha256-modp2048", "aes128gcm16"),
    ("aes-gcm", 19, "aes128gcm16-prfsha256-ecp256", "aes128gcm16"),
    ("aes-cbc-sha1", 14, "aes128-sha1-modp2048", "aes128-sha1"),
]


@pytest.mark.parametrize(("suite", "group", "ike", "esp"), V2)
def test_charon_answers_our_ikev2(
    peers: Any, charon: Charon, suite: str, group: int, ike: str, esp: str
) -> None:
    charon.load(2, ike, esp, SECRET)
    given = v2(suite == "aes-gcm", group)
    talk = peers.Conversation(given, ["station"], wires(peers, charon, "station", "gateway")).run()
    assert talk.status("station") == "established", charon.words()[-4000:]
    assert len(talk.messages) == 4
    prove(peers, charon, suite, talk.secrets("station"), "station")


@pytest.mark.parametrize(("suite", "group", "ike", "esp"), V2)
def test_our_ikev2_answers_charon(
    peers: Any, charon: Charon, suite: str, group: int, ike: str, esp: str
) -> None:
    # A proposal that we do not know comes first.
    charon.load(2, f"aes256gcm16-prfsha384-ecp384,{ike}", f"aes256gcm16,{esp}", SECRET)
    given = v2(suite == "aes-gcm", group, addresses=v2(True)["addresses"][::-1])
    asking = charon.initiate()
    talk = peers.Conversation(given, ["gateway"], wires(peers, charon, "gateway", "station")).run()
    assert talk.status("gateway") == "established", charon.words()[-4000:]
    assert "initiate completed successfully" in asking.communicate(timeout=20)[0]
    prove(peers, charon, suite, talk.secrets("gateway"), "gateway")


def test_another_key_is_named(peers: Any, charon: Charon) -> None:
    charon.load(2, V2[0][2], V2[0][3], "another secret")
    ways = wires(peers, charon, "station", "gateway")
    talk = peers.Conversation(v2(True), ["station"], ways).run()
    assert (talk.status("station"), talk.why("station")) == ("failed", "wrong-passphrase")


def test_another_proposal_is_named(peers: Any, charon: Charon) -> None:
    charon.load(2, "aes256gcm16-prfsha384-ecp384", "aes256gcm16", SECRET)
    ways = wires(peers, charon, "station", "gateway")
    talk = peers.Conversation(v2(True), ["station"], ways).run()
    assert (talk.status("station"), talk.why("station")) == ("failed", "nothing-in-common")


def test_a_tunnel_moves_to_another_address(peers: Any, charon: Charon) -> None:
    charon.load(2, V2[0][2], V2[0][3], SECRET)
    given = v2(True, mobike=True)
    talk = peers.Conversation(given, ["station"], wires(peers, charon, "station", "gateway")).run()
    secrets = talk.secrets("station")
    assert "ike-sa" in secrets, charon.words()[-4000:]
    prove(peers, charon, "aes-gcm", secrets, "station")
    charon.near.run("ip", "addr", "del", f"{OURS}/24", "dev", "v0")
    charon.near.run("ip", "addr", "add", f"{MOVED}/24", "dev", "v0")
    charon.socks[4500].close()
    sock = charon.near.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind((MOVED, 4500))
    charon.socks[4500] = sock
    wire = peers.UdpWire("station", "gateway", "udp:4500", sock)
    wire.address = (THEIRS, 4500)
    move = {
        "handshake": "mobike",
        "sa": list(secrets["ike-sa"]),
        "address": [int(part) for part in MOVED.split(".")],
    }
    moved = peers.Conversation(move, ["station"], [wire]).run()
    assert moved.status("station") == "established", charon.words()[-4000:]
    assert [message[0] for message in moved.messages][:2] == ["station", "gateway"]
    assert f"remote endpoint changed from {OURS}[4500] to {MOVED}[4500]" in charon.words()
    assert f"remote '{OURS}' @ {MOVED}[4500]" in charon.swanctl("--list-sas")
    # charon's own ESP cannot move an SA: it asks for a new pair, which only a kernel's would not.
    charon.daemon.wait_for(lambda: "activating CHILD_REKEY task" in charon.words())


V1 = [
    ("3des-sha1", "triple-des", 2, True, "3des-sha1-modp1024", "3des-sha1-modp1024"),
    ("3des-md5", "triple-des", 2, True, "3des-md5-modp1024", "3des-md5-modp1024"),
    ("aes-cbc-sha1", "aes128", 14, True, "aes128-sha1-modp2048", "aes128-sha1-modp2048"),
    ("aes-cbc-sha1", "aes128", 5, False, "aes128-sha1-modp1536", "aes128-sha1"),
]


def v1(suite: str, cipher: str, group: int, forward_secrecy: bool, **more: Any) -> dict[str, Any]:
    return {
        "handshake": "ike-v1",
        "preshared": SECRET,
        "group": group,
        "cipher": cipher,
        "hash": suite.rpartition("-")[2],
        "forward_secrecy": forward_secrecy,
        "addresses": [octets(OURS), octets(THEIRS)],
        "inner": [octets(NEAR), octets(FAR)],
        "nat_traversal": True,
        **more,
    }


@pytest.mark.parametrize(("suite", "cipher", "group", "pfs", "ike", "esp"), V1)
def test_charon_answers_our_ikev1(
    peers: Any, charon: Charon, suite: str, cipher: str, group: int, pfs: bool, ike: str, esp: str
) -> None:
    charon.load(1, ike, esp, SECRET)
    given = v1(suite, cipher, group, pfs)
    talk = peers.Conversation(given, ["station"], wires(peers, charon, "station", "gateway")).run()
    assert talk.status("station") == "established", charon.words()[-4000:]
    assert len(talk.messages) == 9
    prove(peers, charon, suite, talk.secrets("station"), "station")


@pytest.mark.parametrize(("suite", "cipher", "group", "pfs", "ike", "esp"), V1)
def test_our_ikev1_answers_charon(
    peers: Any, charon: Charon, suite: str, cipher: str, group: int, pfs: bool, ike: str, esp: str
) -> None:
    charon.load(1, f"aes256-sha256-modp3072,{ike}", f"aes256-sha256,{esp}", SECRET)
    addresses = [octets(THEIRS), octets(OURS)]
    given = v1(suite, cipher, group, pfs, addresses=addresses)
    asking = charon.initiate()
    talk = peers.Conversation(given, ["gateway"], wires(peers, charon, "gateway", "station")).run()
    assert talk.status("gateway") == "established", charon.words()[-4000:]
    assert "initiate completed successfully" in asking.communicate(timeout=20)[0]
    prove(peers, charon, suite, talk.secrets("gateway"), "gateway")


@pytest.mark.parametrize(
    ("secret", "ike", "why"),
    [
        ("another secret", V1[0][4], "wrong-passphrase"),
        (SECRET, "aes256-sha256-modp3072", "nothing-in-common"),
    ],
)
def test_ikev1_names_what_differs(
    peers: Any, charon: Charon, secret: str, ike: str, why: str
) -> None:
    charon.load(1, ike, V1[0][5], secret)
    ways = wires(peers, charon, "station", "gateway")
    talk = peers.Conversation(v1(*V1[0][:4]), ["station"], ways).run(timer_s=0.2)
    assert (talk.status("station"), talk.why("station")) == ("failed", why)
