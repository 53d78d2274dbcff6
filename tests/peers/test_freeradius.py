"""Our station and access point against a real FreeRADIUS over loopback."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from airtoll.testbeds.linux import freeradius as configuration
from airtoll.testbeds.linux.credentials import Chain, Credentials


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
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            text = text.replace('tls_max_version = "1.2"', 'tls_max_version = "1.3"')
            text = text.replace('ecdh_curve = ""', f'ecdh_curve = "{curve}"')
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
        daemon = start([*program, "-X", "-d", str(folder)], "freeradius")
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
