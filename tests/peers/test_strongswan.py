"""Our IKEv1 and IKEv2 against charon, each in a namespace of its own."""

from __future__ import annotations

import contextlib
import hmac
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
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
                f"SWANCTL_DIR={self.folder}",
                "swanctl",
                *arguments,
                "--uri",
                f"unix://{self.folder}/vici",
                check=check,
            )
        )

    def trust(self, chain: Any) -> None:
        """Give charon a server's certificates and the root."""
        leaf, *issuing = chain.server.split("-----END CERTIFICATE-----\n")[:-1]
        files = {"x509/server.pem": leaf, "x509ca/root.pem": chain.authority}
        files |= {f"x509ca/issuing-{number}.pem": text for number, text in enumerate(issuing)}
        for place, text in files.items():
            (self.folder / place).parent.mkdir(exist_ok=True)
            whole = text if "END" in text else text + "-----END CERTIFICATE-----\n"
            (self.folder / place).write_text(whole)
        (self.folder / "private").mkdir(exist_ok=True)
        (self.folder / "private/server.key").write_text(chain.server_key)

    def load(
        self, version: int, ike: str, esp: str, secret: str, *, certificates: bool = False
    ) -> None:
        local = f"auth = psk\n      id = {THEIRS}"
        remote = f"auth = psk\n      id = {OURS}"
        if certificates:
            local, remote = "auth = pubkey\n      certs = server.pem", "auth = pubkey"
        (self.folder / "swanctl.conf").write_text(f"""connections {{
  ours {{
    version = {version}
    local_addrs = {THEIRS}
    remote_addrs = {OURS}
    proposals = {ike}
    local {{
      {local}
    }}
    remote {{
      {remote}
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
        variables = [
            f"STRONGSWAN_CONF={self.folder}/strongswan.conf",
            f"SWANCTL_DIR={self.folder}",
        ]
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


def needed(peers: Any) -> str:
    """The path of charon; skips with the reason where something is missing."""
    program = str(peers.needs("charon-systemd", "swanctl")["charon-systemd"])
    if not Path("/dev/net/tun").exists():
        pytest.skip("no /dev/net/tun here")
    return program


@contextlib.contextmanager
def running(
    launch: Sequence[str],
    namespace: Callable[[str], Any],
    start: Callable[..., Any],
    folder: Path,
    more: str = "",
) -> Iterator[Charon]:
    """charon in a network namespace beside ours; ``more``: lines of its settings."""
    near, far = namespace("a"), namespace("b")
    near.run("ip", "link", "add", "v0", "type", "veth", "peer", "name", "v0", "netns", far.name)
    for space, address in ((near, OURS), (far, THEIRS)):
        space.run("ip", "addr", "add", f"{address}/24", "dev", "v0")
        space.run("ip", "link", "set", "v0", "up")
    far.run("ip", "addr", "add", f"{FAR}/32", "dev", "lo")
    (folder / "strongswan.conf").write_text(
        f"charon-systemd {{\n  load = {PLUGINS}\n  plugins {{\n    vici {{\n"
        f"      socket = unix://{folder}/vici\n    }}\n"
        # Its tun device comes up at a moment of its own: a list of addresses sent then
        # would stand before the exchange that a test waits for.
        "    kernel-netlink {\n      roam_events = no\n    }\n  }\n"
        "  journal {\n    default = -1\n  }\n"
        f"  filelog {{\n    main {{\n      path = {folder}/charon.log\n      default = 2\n"
        "      flush_line = yes\n    }\n  }\n"
        f"  install_virtual_ip = no\n{more}}}\n"
        "swanctl {\n  load = random nonce openssl pem x509 pubkey pkcs1 pkcs8\n}\n"
    )
    variables = {"STRONGSWAN_CONF": f"{folder}/strongswan.conf"}
    daemon = start([*far.prefix, *launch], "charon", variables)
    daemon.wait_for((folder / "vici").exists)
    made = Charon(daemon, (near, far), folder)
    yield made
    for sock in made.socks.values():
        sock.close()


@pytest.fixture
def charon(
    peers: Any, namespace: Callable[[str], Any], start: Callable[..., Any], tmp_path: Path
) -> Iterator[Charon]:
    program = needed(peers)
    if not any(Path("/usr/lib").glob("**/libstrongswan-kernel-libipsec.so")):
        pytest.skip("not installed: charon's own ESP, libcharon-extra-plugins (make system)")
    with running([program], namespace, start, tmp_path) as made:
        yield made


@pytest.fixture
def charon_6(
    peers: Any, namespace: Callable[[str], Any], start: Callable[..., Any], tmp_path: Path
) -> Iterator[Charon]:
    """charon of Debian 14, which has ML-KEM, with fragments of at most 1280 octets."""
    needed(peers)
    launch = peers.of_debian(14, "/usr/sbin/charon-systemd", tmp_path)
    with running(launch, namespace, start, tmp_path, "  fragment_size = 1280\n") as made:
        yield made


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


#: First key exchange with its word in a proposal, the second one.
HYBRID = [
    (31, "x25519", "ml-kem-512"),
    (31, "x25519", "ml-kem-768"),
    (19, "ecp256", "ml-kem-1024"),
]


def words_of(first: str, second: str) -> str:
    """charon's words for these key exchanges."""
    return f"aes128gcm16-prfsha256-{first}-ke1_{second.replace('-', '')}"


@pytest.mark.parametrize(("group", "first", "second"), HYBRID)
@pytest.mark.parametrize("limit", [None, 1280])
def test_charon_answers_our_second_key_exchange(
    peers: Any, charon_6: Charon, group: int, first: str, second: str, limit: int | None
) -> None:
    charon_6.load(2, words_of(first, second), "aes128gcm16", SECRET)
    given = v2(True, group, additional=second, fragment_octets=limit)
    ways = wires(peers, charon_6, "station", "gateway")
    talk = peers.Conversation(given, ["station"], ways).run()
    assert talk.status("station") == "established", charon_6.words()[-4000:]
    # On the port of NAT traversal the key of ML-KEM-768 takes 1281 octets, one too many; with
    # ML-KEM-1024 both messages are too long.
    parts = {"ml-kem-512": 0, "ml-kem-768": 1, "ml-kem-1024": 2}[second]
    assert len(talk.messages) == 6 + (0 if limit is None else parts)
    prove(peers, charon_6, "aes-gcm", talk.secrets("station"), "station")


@pytest.mark.parametrize(("group", "first", "second"), HYBRID)
def test_our_second_key_exchange_answers_charon(
    peers: Any, charon_6: Charon, group: int, first: str, second: str
) -> None:
    ike = f"{words_of('ecp384', 'ml-kem-768')},{words_of(first, second)}"
    charon_6.load(2, ike, "aes128gcm16", SECRET)
    ends = v2(True)["addresses"][::-1]
    given = v2(True, group, additional=second, fragment_octets=1280, addresses=ends)
    asking = charon_6.initiate()
    ways = wires(peers, charon_6, "gateway", "station")
    talk = peers.Conversation(given, ["gateway"], ways).run()
    assert talk.status("gateway") == "established", charon_6.words()[-4000:]
    assert "initiate completed successfully" in asking.communicate(timeout=20)[0]
    prove(peers, charon_6, "aes-gcm", talk.secrets("gateway"), "gateway")


@pytest.mark.parametrize(("group", "word"), [(35, "mlkem512"), (36, "mlkem768"), (37, "mlkem1024")])
def test_charon_answers_ml_kem_alone(peers: Any, charon_6: Charon, group: int, word: str) -> None:
    charon_6.load(2, f"aes128gcm16-prfsha256-{word}", "aes128gcm16", SECRET)
    ways = wires(peers, charon_6, "station", "gateway")
    talk = peers.Conversation(v2(True, group), ["station"], ways).run()
    assert talk.status("station") == "established", charon_6.words()[-4000:]
    assert len(talk.messages) == 4
    prove(peers, charon_6, "aes-gcm", talk.secrets("station"), "station")


CHAINS = ["rsa2048", "rsa3072", "p256", "p384"]


@pytest.mark.parametrize("kind", CHAINS)
def test_charon_accepts_our_certificate_and_we_its(peers: Any, charon: Charon, kind: str) -> None:
    chain = peers.chain_of(kind)
    charon.trust(chain)
    charon.load(2, V2[1][2], V2[1][3], SECRET, certificates=True)
    given = v2(True, 19, chain=peers.algorithms(kind), fragment_octets=1280)
    ways = wires(peers, charon, "station", "gateway")
    talk = peers.Conversation(given, ["station"], ways).run()
    assert talk.status("station") == "established", charon.words()[-6000:]
    assert "authentication of 'C=DE, O=airtoll" in charon.words()
    prove(peers, charon, "aes-gcm", talk.secrets("station"), "station")


@pytest.mark.parametrize("kind", CHAINS)
def test_we_answer_charon_with_a_certificate(peers: Any, charon: Charon, kind: str) -> None:
    # Our responder shows the server's chain, and charon asks with it, too: one key signs for both.
    charon.trust(peers.chain_of(kind))
    charon.load(2, V2[1][2], V2[1][3], SECRET, certificates=True)
    ends = v2(True)["addresses"][::-1]
    chain = peers.algorithms(kind)
    given = v2(True, 19, chain=chain, fragment_octets=1280, addresses=ends)
    asking = charon.initiate()
    ways = wires(peers, charon, "gateway", "station")
    talk = peers.Conversation(given, ["gateway"], ways).run()
    assert talk.status("gateway") == "established", charon.words()[-6000:]
    assert "initiate completed successfully" in asking.communicate(timeout=20)[0]
    prove(peers, charon, "aes-gcm", talk.secrets("gateway"), "gateway")


def test_a_certificate_of_another_root_is_named(peers: Any, charon: Charon) -> None:
    charon.trust(peers.chain_of("p384"))
    charon.load(2, V2[1][2], V2[1][3], SECRET, certificates=True)
    given = v2(True, 19, chain=peers.algorithms("p256"), fragment_octets=1280)
    ways = wires(peers, charon, "station", "gateway")
    talk = peers.Conversation(given, ["station"], ways).run()
    assert (talk.status("station"), talk.why("station")) == ("failed", "wrong-certificate")


def test_certificates_and_a_second_key_exchange_go_together(peers: Any, charon_6: Charon) -> None:
    charon_6.trust(peers.chain_of("rsa3072"))
    ike = words_of("x25519", "ml-kem-768")
    charon_6.load(2, ike, "aes128gcm16", SECRET, certificates=True)
    chain = peers.algorithms("rsa3072")
    given = v2(True, 31, additional="ml-kem-768", chain=chain, fragment_octets=1280)
    ways = wires(peers, charon_6, "station", "gateway")
    talk = peers.Conversation(given, ["station"], ways).run()
    assert talk.status("station") == "established", charon_6.words()[-6000:]
    # Both ends fragment their messages of IKE_AUTH.
    assert (
        sum(message[3][4 + 16] == 53 for message in talk.messages if message[2] == "udp:4500") > 4
    )
    prove(peers, charon_6, "aes-gcm", talk.secrets("station"), "station")


def test_charon_without_a_second_key_exchange_has_nothing_in_common(
    peers: Any, charon_6: Charon
) -> None:
    charon_6.load(2, "aes128gcm16-prfsha256-x25519", "aes128gcm16", SECRET)
    ways = wires(peers, charon_6, "station", "gateway")
    given = v2(True, 31, additional="ml-kem-768")
    talk = peers.Conversation(given, ["station"], ways).run()
    assert (talk.status("station"), talk.why("station")) == ("failed", "nothing-in-common")


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
