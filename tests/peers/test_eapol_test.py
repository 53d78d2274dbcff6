"""Our RADIUS and EAP server against eapol_test, which is wpa_supplicant behind a RADIUS client."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from airtoll.testbeds.linux.daemons.credentials import Chain

#: Messages that eapol_test needs more than our own station.
DIFFERENCES: dict[tuple[str, str, str], int] = {}


def network(folder: Path, given: dict[str, Any], chain: Chain, more: str = "") -> Path:
    """The configuration file of a station with these certificates."""
    for name, text in (
        ("ca.pem", chain.authority),
        ("client.pem", chain.client),
        ("client.key", chain.client_key),
    ):
        (folder / name).write_text(text)
    inner = dict.fromkeys(("peap", "teap"), 'phase2="auth=MSCHAPV2"') | {
        "ttls": 'phase2="auth=PAP"'
    }
    with_1_3 = given["tls"] == "1.3"
    lines = [
        "key_mgmt=WPA-EAP" if given["method"] != "md5" else "key_mgmt=IEEE8021X",
        f"eap={given['method'].upper()}",
        f'identity="{given["identity"]}"',
        f'ca_cert="{folder}/ca.pem"',
        f"fragment_size={given['fragment_octets']}",
        inner.get(given["method"], ""),
        f'phase1="tls_disable_tlsv1_3={int(not with_1_3)}{more}"',
    ]
    if given["method"] == "teap":
        lines += ['pac_file="blob://teap"']
    if given["method"] == "tls":
        lines += [f'client_cert="{folder}/client.pem"', f'private_key="{folder}/client.key"']
    else:
        lines += ['password="correct horse"']
    if given["tls"] == "1.2-rsa":
        lines += ['openssl_ciphers="AES128-GCM-SHA256"']
    if given.get("suite") == "aes256-gcm-sha384" and given["tls"] == "1.2":
        strong = {"ecdsa-p-384": 'openssl_ciphers="SUITEB192"'}
        lines += [strong.get(given["chain"][0], 'openssl_ciphers="ECDHE-RSA-AES256-GCM-SHA384"')]
    path = folder / "eapol_test.conf"
    path.write_text("network={\n" + "\n".join(f"  {line}" for line in lines if line) + "\n}\n")
    return path


def authenticate(
    peers: Any,
    start: Callable[..., Any],
    folder: Path,
    given: dict[str, Any],
    more: str = "",
    again: int = 0,
    of_debian_13: Chain | None = None,
) -> tuple[Any, str]:
    """Our server's side of the conversation, and what eapol_test wrote.

    ``again``: how often the station authenticates anew after the first time. ``of_debian_13``: the
    certificates of the one with OpenSSL 3.5.
    """
    if of_debian_13 is not None:
        program = peers.debian_13("eapol_test", folder)
    elif given["method"] == "teap":
        program = [peers.built("eapol_test")]
    else:
        program = [peers.needs("eapol_test")["eapol_test"]]
    conf = network(folder, given, of_debian_13 or peers.chain_of(given["chain"]), more)
    with socket.socket(type=socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        port = str(sock.getsockname()[1])
        argv = [*program, "-c", str(conf), "-a", "127.0.0.1", "-p", port, "-s", "radius secret"]
        argv += ["-t", "10", "-M", given["station"]] + (["-n"] if given["method"] == "md5" else [])
        argv += ["-r", str(again)] if again else []
        daemon = start(argv, "eapol_test")
        wire = peers.UdpWire("authentication-server", "access-point", "radius", sock)
        talk = peers.Conversation(given, ["authentication-server"], [wire])
        # A server that starts a conversation anew is undecided again.
        over = (lambda _: daemon.process.poll() is not None) if again else None
        talk.run(over, limit_s=12, timer_s=0.2 if again else 3.0)
        daemon.process.wait(15)
        return talk, daemon.text()


def hexdump(text: str, name: str) -> bytes:
    found = re.search(rf"{re.escape(name)} - hexdump\(len=\d+\): ([0-9a-f ]+)", text)
    assert found, f"{name} is not in the log"
    return bytes.fromhex(found[1])


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
        ("teap", "1.2", "rsa2048"),
        ("teap", "1.2", "p256"),
    ],
)
def test_eapol_test_accepts(
    peers: Any, start: Callable[..., Any], tmp_path: Path, method: str, tls: str, chain: str
) -> None:
    given = peers.eap_settings(method, tls, chain)
    talk, text = authenticate(peers, start, tmp_path, given)
    assert talk.status("authentication-server") == "established", text[-5000:]
    assert text.rstrip().endswith("SUCCESS"), text[-5000:]
    own = peers.Conversation(given, ["station", "access-point", "authentication-server"]).run()
    assert talk.count("radius") == own.count("radius") + DIFFERENCES.get((method, tls, chain), 0)
    if method != "md5":
        # The key that the station derived; eapol_test compares it with the RADIUS attributes too.
        msk = talk.secrets("authentication-server")["msk"]
        assert hexdump(text, "MS-MPPE-Recv-Key (crypt)") == msk[:32]
        assert hexdump(text, "MS-MPPE-Send-Key (sign)") == msk[32:]
        assert "MPPE keys OK: 1  mismatch: 0" in text


@pytest.mark.parametrize("method", ["md5", "peap", "ttls", "teap"])
def test_a_wrong_password_is_refused(
    peers: Any, start: Callable[..., Any], tmp_path: Path, method: str
) -> None:
    given = peers.eap_settings(method, "1.2", "rsa2048", password="another horse")
    talk, text = authenticate(peers, start, tmp_path, given)
    assert talk.status("authentication-server") == "failed"
    assert talk.why("authentication-server") == "wrong-credentials"
    assert text.rstrip().endswith("FAILURE"), text[-3000:]


def test_a_stranger_s_certificate_is_refused_by_the_station(
    peers: Any, start: Callable[..., Any], tmp_path: Path
) -> None:
    given = peers.eap_settings("tls", "1.2", "rsa2048", shown="rogue")
    talk, text = authenticate(peers, start, tmp_path, given)
    assert talk.why("authentication-server") == "wrong-certificate"
    assert text.rstrip().endswith("FAILURE"), text[-3000:]


@pytest.mark.parametrize("tls", ["1.2", "1.3"])
def test_eapol_test_insists_on_a_bound_tunnel_and_gets_it(
    peers: Any, start: Callable[..., Any], tmp_path: Path, tls: str
) -> None:
    given = peers.eap_settings("peap", tls, "rsa2048", cryptobinding=True)
    talk, text = authenticate(peers, start, tmp_path, given, " crypto_binding=2")
    assert talk.status("authentication-server") == "established", text[-5000:]
    assert text.rstrip().endswith("SUCCESS"), text[-5000:]
    msk = talk.secrets("authentication-server")["msk"]
    assert hexdump(text, "MS-MPPE-Recv-Key (crypt)") == msk[:32]
    assert "MPPE keys OK: 1  mismatch: 0" in text
    without = {**given, "cryptobinding": False}
    talk, text = authenticate(peers, start, tmp_path, without, " crypto_binding=2")
    assert text.rstrip().endswith("FAILURE"), text[-3000:]


#: Output of eapol_test after a successful conversation.
SUCCESS = "CTRL-EVENT-EAP-SUCCESS"


@pytest.mark.parametrize("tls", ["1.2", "1.3"])
@pytest.mark.parametrize("method", ["tls", "peap", "ttls"])
def test_eapol_test_resumes_its_session_with_our_server(
    peers: Any, start: Callable[..., Any], tmp_path: Path, method: str, tls: str
) -> None:
    given = peers.eap_settings(method, tls, "rsa2048", remembers=True)
    talk, text = authenticate(peers, start, tmp_path, given, again=1)
    assert talk.status("authentication-server") == "established", text[-5000:]
    assert text.rstrip().endswith("SUCCESS"), text[-5000:]
    assert "MPPE keys OK: 2  mismatch: 0" in text
    # The last keys are those of the resumed conversation.
    msk = talk.secrets("authentication-server")["msk"]
    assert hexdump(text.split(SUCCESS)[-2], "MS-MPPE-Recv-Key (crypt)") == msk[:32]
    ends = [at for at, message in enumerate(talk.messages) if message[3][0] == 2]
    assert len(ends) == 2
    full, short = ends[0] + 1, ends[1] - ends[0]
    own = peers.Conversation(given, ["station", "access-point", "authentication-server"]).run()
    assert full == own.count("radius")
    own = peers.Conversation(
        {**given, "session": own.session("station")},
        ["station", "access-point", "authentication-server"],
    ).run()
    assert short == own.count("radius")


def test_a_resumed_tunnel_is_bound_as_eapol_test_has_it(
    peers: Any, start: Callable[..., Any], tmp_path: Path
) -> None:
    given = peers.eap_settings("peap", "1.2", "rsa2048", cryptobinding=True, remembers=True)
    talk, text = authenticate(peers, start, tmp_path, given, " crypto_binding=2", again=1)
    assert talk.status("authentication-server") == "established", text[-5000:]
    assert "MPPE keys OK: 2  mismatch: 0" in text


@pytest.mark.parametrize("chain", ["rsa3072", "p384"])
@pytest.mark.parametrize("tls", ["1.2", "1.3"])
def test_eapol_test_takes_the_192_bit_suite(
    peers: Any, start: Callable[..., Any], tmp_path: Path, tls: str, chain: str
) -> None:
    given = peers.eap_settings("tls", tls, chain, suite="aes256-gcm-sha384", remembers=True)
    talk, text = authenticate(peers, start, tmp_path, given, again=1)
    assert talk.status("authentication-server") == "established", text[-5000:]
    assert "MPPE keys OK: 2  mismatch: 0" in text
    assert "resumed=1" in text


@pytest.mark.parametrize("method", ["tls", "peap", "ttls"])
def test_our_server_asks_eapol_test_for_another_share(
    peers: Any, start: Callable[..., Any], tmp_path: Path, method: str
) -> None:
    # OpenSSL shows X25519 and knows P-384.
    given = peers.eap_settings(method, "1.3", "p256", groups=["secp384r1"])
    talk, text = authenticate(peers, start, tmp_path, given)
    assert talk.status("authentication-server") == "established", text[-5000:]
    msk = talk.secrets("authentication-server")["msk"]
    assert hexdump(text, "MS-MPPE-Recv-Key (crypt)") == msk[:32]
    assert "MPPE keys OK: 1  mismatch: 0" in text
    hellos = [m for m in talk.messages if bytes.fromhex("cf21ad74e59a6111") in m[3]]
    assert len(hellos) == 1


#: Messages more than with our own station: OpenSSL shows a share of X25519, too, so that its
#: ClientHello does not fit a fragment of 1398 octets.
SECOND_SHARE = {1024: 0, 1398: 2}


@pytest.mark.parametrize("fragment", [pytest.param(1024, marks=pytest.mark.thorough), 1398])
@pytest.mark.parametrize(
    ("method", "chain"),
    [
        ("tls", "ml-dsa-44"),
        ("tls", "ml-dsa-65"),
        ("tls", "ml-dsa-87"),
        ("tls", "ml-dsa-44+ml-dsa-44+slh-dsa-sha2-128s"),
        ("peap", "ml-dsa-87"),
        ("ttls", "ml-dsa-65"),
    ],
)
def test_eapol_test_with_openssl_3_5_takes_as_many_rounds_as_our_station(
    peers: Any,
    start: Callable[..., Any],
    tmp_path: Path,
    method: str,
    chain: str,
    fragment: int,
) -> None:
    # OpenSSL 3.5 shows a share of no other group with ML-KEM, unless it is told to.
    given = peers.eap_settings(
        method, "1.3", chain, groups=["x25519mlkem768"], fragment_octets=fragment
    )
    talk, text = authenticate(peers, start, tmp_path, given, of_debian_13=peers.issued(chain))
    assert talk.status("authentication-server") == "established", text[-5000:]
    assert text.rstrip().endswith("SUCCESS"), text[-5000:]
    assert "MPPE keys OK: 1  mismatch: 0" in text
    own = peers.Conversation(given, ["station", "access-point", "authentication-server"]).run()
    assert talk.count("radius") == own.count("radius") + SECOND_SHARE[fragment]
