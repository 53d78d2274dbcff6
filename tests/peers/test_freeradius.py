"""Our station and access point against a real FreeRADIUS over loopback."""

from __future__ import annotations

import hmac
import re
import select
import socket
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from airtoll.testbeds.linux.daemons import freeradius as configuration
from airtoll.testbeds.linux.daemons.credentials import Chain, Credentials


@pytest.fixture
def server(peers: Any, start: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """Starts a FreeRADIUS with a chain of this kind."""

    def begin(
        kind: str,
        method: str,
        shown: Chain | None = None,
        *,
        remembers: bool = False,
        curve: str = "",
        fragment: int | None = None,
        base: str = "radius",
        of_debian_13: bool = False,
        auto_chain: bool = True,
        home: int | None = None,
        radsec: bool = False,
    ) -> Any:
        none = dict.fromkeys((field.name for field in attrs.fields(Credentials)), "")
        credentials = Credentials(
            **{**none, "password": "correct horse", "radius_secret": '"radius secret"'}
        )
        port = peers.free_port()
        folder = tmp_path / base
        program = (
            peers.debian_13("freeradius", folder)
            if of_debian_13
            else [peers.needs("freeradius")["freeradius"]]
        )
        files = configuration.files(
            str(folder),
            credentials,
            shown or peers.chain_of(kind),
            port=port,
            network="127.0.0.2",
            method=method,
        )
        (folder / "sessions").mkdir(parents=True)
        if radsec:
            files |= {"client.pem": peers.chain_of(kind).client}
            files |= {"client.key": peers.chain_of(kind).client_key}
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            text = text.replace('ecdh_curve = ""', f'ecdh_curve = "{curve}"')
            if home is not None and name == "radiusd.conf":
                text = as_proxy(text, home, str(folder) if radsec else None)
            elif radsec and name == "radiusd.conf":
                text = over_tls(text, port, str(folder))
            if fragment is not None:
                text = text.replace("fragment_size = 1024", f"fragment_size = {fragment}")
            if not auto_chain:
                text = text.replace("ca_file =", "auto_chain = no\n            ca_file =")
            if remembers:
                cache = (
                    f'enable = yes\nname = "airtoll"\nlifetime = 1\npersist_dir = {folder}/sessions'
                )
                text = text.replace("enable = no\n", f"{cache}\n")
            (folder / name).write_text(text)
        # Its TLS sockets need threads, which -X turns off.
        told = ["-fxx", "-l", "stdout"] if radsec else ["-X"]
        daemon = start([*program, *told, "-d", str(folder)], f"freeradius-{base}")
        daemon.wait_for(lambda: "Ready to process requests" in daemon.text())
        return peers.Server(port, daemon)

    return begin


#: Messages that FreeRADIUS needs more than our own server, and why. Its CertificateRequest names
#: its authorities, which takes the flight over a fragment's edge; with its session cache off it
#: sends no ticket, and Success needs no acknowledgement of one.
DIFFERENCES = {("tls", "1.2-rsa"): 2, ("peap", "1.3"): -2, ("ttls", "1.3"): -2}
ALL = ["station", "access-point", "authentication-server"]


@pytest.mark.parametrize(
    ("method", "tls", "chain"),
    [
        ("md5", "1.2", "rsa2048"),
        ("tls", "1.2", "rsa2048"),
        ("tls", "1.2", "p256"),
        ("tls", "1.2-rsa", "rsa2048"),
        ("tls", "1.3", "rsa2048"),
        ("tls", "1.3", "p256"),
        ("peap", "1.2", "rsa2048"),
        ("peap", "1.3", "p256"),
        ("ttls", "1.2", "rsa2048"),
        ("ttls", "1.3", "p256"),
    ],
)
def test_freeradius_accepts(peers: Any, server: Any, method: str, tls: str, chain: str) -> None:
    given = peers.eap_settings(method, tls, chain)
    freeradius = server(chain, method)
    real = freeradius.talk(given)
    own = peers.Conversation(given, ALL).run()
    assert real.status("station") == "established", freeradius.daemon.text()[-6000:]
    assert real.status("access-point") == "established"
    assert real.secrets("station") == real.secrets("access-point")
    assert ("msk" in real.secrets("station")) == (method != "md5")
    more = DIFFERENCES.get((method, tls), 0)
    assert real.count("eapol") == own.count("eapol") + more
    assert real.count("radius") == own.count("radius") + more


@pytest.mark.parametrize("method", ["md5", "peap", "ttls"])
def test_a_wrong_password_is_rejected(peers: Any, server: Any, method: str) -> None:
    given = peers.eap_settings(method, "1.2", "rsa2048", password="wrong horse")
    real = server("rsa2048", method).talk(given)
    assert (real.status("access-point"), real.why("access-point")) == (
        "failed",
        "wrong-credentials",
    )
    assert (real.status("station"), real.why("station")) == ("failed", "wrong-credentials")


#: Messages of a resumed conversation that FreeRADIUS needs more than our own server.
#: Its ticket and PEAP's result come one after the other, ours in one flight.
RESUMED = {("peap", "1.3"): 2}


@pytest.mark.parametrize(
    ("method", "tls"),
    [("tls", "1.2"), ("tls", "1.3"), ("peap", "1.2"), ("peap", "1.3"), ("ttls", "1.2")],
)
def test_freeradius_resumes_a_session(peers: Any, server: Any, method: str, tls: str) -> None:
    given = peers.eap_settings(method, tls, "rsa2048")
    freeradius = server("rsa2048", method, remembers=True)
    first = freeradius.talk(given)
    assert first.status("station") == "established", freeradius.daemon.text()[-6000:]
    again = freeradius.talk({**given, "session": first.session("station")})
    assert again.status("station") == "established", freeradius.daemon.text()[-6000:]
    assert again.secrets("station") == again.secrets("access-point")
    assert again.secrets("station")["msk"] != first.secrets("station")["msk"]
    own = peers.Conversation(given, ALL).run()
    sessions = {**given, "session": own.session("station")}
    own = peers.Conversation(sessions, ALL).run()
    assert own.secrets("station") == own.secrets("authentication-server")
    more = RESUMED.get((method, tls), 0)
    assert again.count("eapol") == own.count("eapol") + more
    assert again.count("radius") == own.count("radius") + more
    assert again.octets("radius") < first.octets("radius") / 2


def test_freeradius_gives_no_ticket_for_ttls_with_tls_1_3(peers: Any, server: Any) -> None:
    given = peers.eap_settings("ttls", "1.3", "rsa2048")
    real = server("rsa2048", "ttls", remembers=True).talk(given)
    assert real.status("station") == "established"
    assert not real.remembers("station")


def test_freeradius_without_a_cache_makes_a_full_handshake(peers: Any, server: Any) -> None:
    given = peers.eap_settings("tls", "1.2", "rsa2048")
    own = peers.Conversation(given, ALL).run()
    freeradius = server("rsa2048", "tls")
    real = freeradius.talk({**given, "session": own.session("station")})
    assert real.status("station") == "established", freeradius.daemon.text()[-6000:]
    assert real.count("eapol") == own.count("eapol")


@pytest.mark.parametrize("chain", ["rsa3072", "p384"])
@pytest.mark.parametrize("tls", ["1.2", "1.3"])
def test_freeradius_takes_the_192_bit_suite(peers: Any, server: Any, tls: str, chain: str) -> None:
    given = peers.eap_settings("tls", tls, chain, suite="aes256-gcm-sha384")
    freeradius = server(chain, "tls", remembers=True)
    real = freeradius.talk(given)
    own = peers.Conversation(given, ALL).run()
    assert real.status("station") == "established", freeradius.daemon.text()[-6000:]
    assert real.secrets("station") == real.secrets("access-point")
    suite = {"1.2": "AES256-GCM-SHA384", "1.3": "TLS_AES_256_GCM_SHA384"}[tls]
    assert f'{suite}"' in freeradius.daemon.text()
    assert real.count("eapol") == own.count("eapol")
    again = freeradius.talk({**given, "session": real.session("station")})
    assert again.status("station") == "established", freeradius.daemon.text()[-6000:]
    assert again.octets("radius") < real.octets("radius") / 2


@pytest.mark.parametrize(("method", "more"), [("tls", 0), ("peap", DIFFERENCES["peap", "1.3"])])
def test_our_station_gives_freeradius_the_share_that_it_asks_for(
    peers: Any, server: Any, method: str, more: int
) -> None:
    groups = ["secp256r1", "secp384r1"]
    given = peers.eap_settings(method, "1.3", "rsa2048", groups=groups)
    freeradius = server("rsa2048", method, curve="secp384r1")
    real = freeradius.talk(given)
    assert real.status("station") == "established", freeradius.daemon.text()[-6000:]
    assert real.secrets("station") == real.secrets("access-point")
    # A hello and a request more than with a server that takes the first share.
    own = peers.Conversation(given, ALL).run()
    assert real.count("eapol") == own.count("eapol") + 2 + more


@pytest.mark.parametrize(("size", "passes"), [(200, True), (70, False)])
def test_freeradius_ends_after_as_many_rounds_as_our_server(
    peers: Any, server: Any, size: int, passes: bool
) -> None:
    """FreeRADIUS takes 50 responses after the identity and refuses the next, and so do we."""
    given = peers.eap_settings("tls", "1.3", "rsa3072", fragment_octets=size)
    freeradius = server("rsa3072", "tls", fragment=200)
    real = freeradius.talk(given)
    own = peers.Conversation({**given, "limits": {"rounds": 50}}, ALL).run()
    for conversation in (real, own):
        assert (conversation.status("station") == "established") == passes
    assert ("More than 50 roundtrips" in freeradius.daemon.text()) != passes
    if not passes:
        assert own.why("authentication-server") == "too-many-rounds"
        # Requests with the identity, 50 responses and the refused one, and an answer to each. Our
        # access point repeats the last one, because FreeRADIUS delays its Access-Reject.
        numbers = re.findall(r"\((\d+)\) Received Access-Request", freeradius.daemon.text())
        assert max(map(int, numbers)) + 1 == 52
        assert own.count("radius") == 2 * 52


def test_freeradius_refuses_a_flight_of_more_than_16384_octets(peers: Any, server: Any) -> None:
    """The flight of a station with a chain of ML-DSA-87; one of ML-DSA-65 is short enough."""
    for chain, refused in (("ml-dsa-87", True), ("ml-dsa-65", False)):
        given = peers.eap_settings(
            "tls", "1.3", chain, trusted=["ecdsa-p-256"] * 3, fragment_octets=994
        )
        freeradius = server("p256", "tls", base=chain)
        real = freeradius.talk(given)
        # OpenSSL 3.0 has no ML-DSA, so that FreeRADIUS accepts neither of both chains.
        assert real.status("station") == "failed"
        assert ("greater than the size that we can handle" in freeradius.daemon.text()) == refused
        own = peers.eap_settings(
            "tls", "1.3", chain, fragment_octets=994, limits={"received_flight_octets": 16384}
        )
        assert (peers.Conversation(own, ALL).run().status("station") == "failed") == refused


#: Chains that OpenSSL 3.5 takes in TLS: of SLH-DSA it verifies certificates, but has no signatures.
POST_QUANTUM = [
    "p256",
    "ml-dsa-44+ml-dsa-44",
    "ml-dsa-44+ml-dsa-65",
    "ml-dsa-44",
    "ml-dsa-65",
    "ml-dsa-44+ml-dsa-44+slh-dsa-sha2-128s",
]


#: Messages more than with our own server: its CertificateRequest takes a flight over an edge.
OVER_AN_EDGE = {("ml-dsa-44+ml-dsa-44", 1024): 2, ("ml-dsa-44+ml-dsa-65", 1024): 2}


@pytest.mark.parametrize("fragment", [1024, 1398])
@pytest.mark.parametrize("chain", POST_QUANTUM)
def test_freeradius_with_openssl_3_5_takes_as_many_rounds_as_our_server(
    peers: Any, server: Any, chain: str, fragment: int
) -> None:
    # FreeRADIUS takes 30 octets of its fragment for headers.
    given = peers.eap_settings(
        "tls", "1.3", chain, groups=["x25519mlkem768"], fragment_octets=fragment - 30
    )
    freeradius = server(
        chain,
        "tls",
        peers.issued(chain),
        curve="X25519MLKEM768",
        fragment=fragment,
        of_debian_13=True,
        auto_chain=False,
    )
    real = freeradius.talk(given)
    own = peers.Conversation(given, ALL).run()
    assert real.status("station") == "established", freeradius.daemon.text()[-6000:]
    assert real.secrets("station") == real.secrets("access-point")
    assert real.count("radius") == own.count("radius") + OVER_AN_EDGE.get((chain, fragment), 0)
    # Its CertificateRequest names an authority; its attributes have other lengths.
    assert real.octets("radius") == pytest.approx(own.octets("radius"), rel=0.03)


def test_freeradius_adds_the_root_to_a_chain_without_an_issuing_ca(peers: Any, server: Any) -> None:
    chain = "ml-dsa-44+ml-dsa-44"
    given = peers.eap_settings("tls", "1.3", chain, groups=["x25519mlkem768"])
    sizes = []
    for auto_chain in (False, True):
        freeradius = server(
            chain,
            "tls",
            peers.issued(chain),
            curve="X25519MLKEM768",
            base=f"auto-chain-{auto_chain}",
            of_debian_13=True,
            auto_chain=auto_chain,
        )
        real = freeradius.talk(given)
        assert real.status("station") == "established", freeradius.daemon.text()[-6000:]
        sizes.append(real.octets("radius"))
    # A key of 1312 octets and a signature of 2420 (FIPS 204 table 2), names and headers.
    assert 4000 < sizes[1] - sizes[0] < 6000


@pytest.mark.parametrize(("method", "passes"), [("tls", False), ("peap", True), ("ttls", True)])
def test_freeradius_3_2_7_sends_a_flight_that_it_does_not_take(
    peers: Any, server: Any, method: str, passes: bool
) -> None:
    """A chain of ML-DSA-87 has 19,964 octets: only EAP-TLS has a station show one."""
    chain = "ml-dsa-87"
    given = peers.eap_settings(
        method,
        "1.3",
        chain,
        groups=["x25519mlkem768"],
        limits={"received_flight_octets": 16384, "sent_flight_octets": 65536},
    )
    freeradius = server(
        chain, method, peers.issued(chain), curve="X25519MLKEM768", of_debian_13=True
    )
    real = freeradius.talk(given)
    own = peers.Conversation(given, ALL).run()
    text = freeradius.daemon.text()
    assert (real.status("station") == "established") == passes, text[-6000:]
    assert (own.status("station") == "established") == passes
    assert ("TLS reassembled data length" in text) != passes
    if passes:
        assert real.count("radius") == own.count("radius") + DIFFERENCES[method, "1.3"]
    else:
        assert own.why("authentication-server") == "flight-too-long"
        numbers = re.findall(r"\((\d+)\) Received Access-Request", text)
        assert 2 * (max(map(int, numbers)) + 1) == own.count("radius")


def test_openssl_3_5_has_no_leaf_of_slh_dsa(peers: Any, server: Any) -> None:
    chain = "slh-dsa-sha2-128s"
    with pytest.raises(AssertionError, match="unknown certificate type"):
        server(chain, "tls", peers.issued(chain), of_debian_13=True)


def connection(folder: str, end: str) -> str:
    """The block of TLS of an end of RADIUS over TLS: "client" or "server"."""
    return f"""tls {{
        private_key_file = {folder}/{end}.key
        certificate_file = {folder}/{end}.pem
        ca_file = {folder}/ca.pem
        tls_min_version = "1.2"
        tls_max_version = "1.2"
        cipher_list = "ECDHE-RSA-AES128-GCM-SHA256"
        ecdh_curve = "prime256v1"
        fragment_size = 8192
        require_client_cert = yes
        cache {{
            enable = no
        }}
    }}
"""


def over_tls(text: str, port: int, folder: str) -> str:
    """The configuration of a server as that of one that listens for RADIUS over TLS."""
    clients = """clients radsec {
    client proxies {
        ipaddr = 127.0.0.1
        proto = tls
        secret = radsec
    }
}
"""
    listens = f"""port = {port}
        proto = tcp
        clients = radsec
        {connection(folder, "server")}"""
    head, _, rest = text.partition("server default {")
    return f"{head}{clients}server default {{{rest.replace(f'port = {port}', listens, 1)}"


def as_proxy(text: str, home: int, folder: str | None = None) -> str:
    """The configuration of a server as that of a proxy, with its home server on this port.

    ``folder``: with RADIUS over TLS to the home server, that of the proxy's certificates.
    """
    reached = (
        'secret = "radius secret"'
        if folder is None
        else f"proto = tcp\n    secret = radsec\n    {connection(folder, 'client')}"
    )
    head, _, rest = text.partition("server default {")
    asks = f"""proxy server {{
}}
home_server home {{
    type = auth
    ipaddr = 127.0.0.1
    port = {home}
    {reached}
    status_check = none
}}
home_server_pool homes {{
    home_server = home
}}
realm DEFAULT {{
    auth_pool = homes
    nostrip
}}
"""
    listens, _, others = rest.partition("authorize {")
    proxies = """authorize {
        update control {
            Proxy-To-Realm := "DEFAULT"
        }
    }
    authenticate"""
    return f"{head}{asks}server default {{{listens}{proxies}{others.partition('authenticate')[2]}"


def states(packet: bytes) -> list[bytes]:
    """The Proxy-State values of a RADIUS packet."""
    found, at = [], 20
    while at < len(packet):
        kind, length = packet[at], packet[at + 1]
        if kind == 33:
            found.append(packet[at + 2 : at + length])
        at += length
    return found


@pytest.mark.parametrize("method", ["md5", "peap", "tls"])
def test_a_proxy_of_freeradius_between_our_ends(peers: Any, server: Any, method: str) -> None:
    """Its packets have the octets of our proxy's: the client's and one Proxy-State."""
    given = peers.eap_settings(method, "1.2", "rsa2048")
    with (
        socket.socket(type=socket.SOCK_DGRAM) as near,
        socket.socket(type=socket.SOCK_DGRAM) as far,
    ):
        far.bind(("127.0.0.1", 0))
        proxy = server("rsa2048", method, home=far.getsockname()[1])
        client = peers.UdpWire("access-point", "authentication-server", "radius", near)
        client.address = ("127.0.0.1", proxy.port)
        home = peers.UdpWire("authentication-server", "access-point", "radius", far)
        real = peers.Conversation(given, ALL, [client, home]).run()
    assert real.status("station") == "established", proxy.daemon.text()[-6000:]
    assert real.secrets("access-point") == real.secrets("authentication-server")
    radius = [message[3] for message in real.messages if message[2] == "radius"]
    # Access point, proxy, server, proxy.
    assert len(radius) % 4 == 0
    for at in range(0, len(radius), 4):
        asked, passed, answered, returned = radius[at : at + 4]
        assert (asked[0], states(asked), states(returned)) == (1, [], [])
        state = str(asked[1]).encode()
        assert states(passed) == states(answered) == [state]
        assert len(passed) - len(asked) == len(answered) - len(returned) == 2 + len(state)


class Relay:
    """A TCP relay that keeps the TLS records of each direction: their types and lengths."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.octets = [b"", b""]
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        try:
            near, _ = self.listener.accept()
            far = socket.create_connection(("127.0.0.1", self.port))
        except OSError:
            return
        with near, far:
            ends = [near, far]
            while True:
                for one in select.select(ends, [], [])[0]:
                    number = ends.index(one)
                    data = one.recv(65536)
                    if not data:
                        return
                    self.octets[number] += data
                    ends[1 - number].sendall(data)

    def records(self, direction: int) -> list[tuple[int, int]]:
        """Content type and whole length of the records of the client (0) or the server (1)."""
        found, at, octets = [], 0, self.octets[direction]
        while at + 5 <= len(octets):
            length = 5 + int.from_bytes(octets[at + 3 : at + 5])
            found.append((octets[at], length))
            at += length
        return found


def test_radius_over_tls_between_two_freeradius(peers: Any, server: Any) -> None:
    """One record per packet, one connection for all, and the octets that our record adds.

    TLS 1.2 with AES-GCM adds an explicit nonce of 8 octets where TLS 1.3 has a content type of one.
    """
    given = peers.eap_settings("tls", "1.2", "rsa2048")
    home = server("rsa2048", "tls", base="home", radsec=True)
    relay = Relay(home.port)
    with relay.listener:
        port = relay.listener.getsockname()[1]
        proxy = server("rsa2048", "tls", base="proxy", home=port, radsec=True)
        real = proxy.talk(given)
    assert real.status("station") == "established", proxy.daemon.text()[-6000:]
    radius = [message[3] for message in real.messages if message[2] == "radius"]
    asked, answered = radius[::2], radius[1::2]
    sent, returned = ([size for kind, size in relay.records(way) if kind == 23] for way in (0, 1))
    state = [2 + len(str(packet[1])) for packet in asked]
    assert sent == [
        len(packet) + more + 5 + 8 + 16 for packet, more in zip(asked, state, strict=True)
    ]
    assert returned == [
        len(packet) + more + 5 + 8 + 16 for packet, more in zip(answered, state, strict=True)
    ]


def access_request(secret: bytes, identity: bytes) -> bytes:
    """An Access-Request with EAP-Response/Identity and Message-Authenticator (RFC 3579)."""
    eap = struct.pack("!BBHB", 2, 1, 5 + len(identity), 1) + identity
    attributes = bytes((1, 2 + len(identity))) + identity + bytes((79, 2 + len(eap))) + eap
    signature = bytes((80, 18))
    header = struct.pack("!BBH", 1, 7, 20 + len(attributes) + 18) + bytes(range(16))
    unsigned = header + attributes + signature + bytes(16)
    return unsigned[:-16] + hmac.digest(secret, unsigned, "md5")


def test_freeradius_works_once_on_a_request_that_is_repeated(peers: Any, server: Any) -> None:
    """RFC 5080 section 2.2.2, as the simulated server does: the same answer, without new work."""
    radius = server("rsa2048", "peap")
    request = access_request(b"radius secret", b"airtoll")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.bind(("127.0.0.2", 0))
        client.settimeout(10)
        answers = []
        for _ in range(2):
            client.sendto(request, ("127.0.0.1", radius.port))
            answers.append(client.recv(4096))
    assert answers[0] == answers[1]
    # The second one comes from what it kept: it challenged once, with one random State.
    text = radius.daemon.text()
    assert len(re.findall(r"Received Access-Request", text)) == 1
    assert "duplicate" in text
