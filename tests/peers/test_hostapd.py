"""Our station and access point against hostapd's RADIUS and EAP server over loopback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from airtoll.testbeds.linux.daemons.credentials import Chain

ALL = ["station", "access-point", "authentication-server"]
#: Messages of a resumed conversation that hostapd needs more than our own server.
#: In TTLS with TLS 1.3 it drops its next ticket and ends at once.
RESUMED = {("ttls", "1.3"): -2}
USERS = """"{user}" {method} {password}
"{user}" MSCHAPV2,TTLS-PAP "correct horse" [2]
"""


@pytest.fixture
def server(peers: Any, start: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """Starts a hostapd without a radio, for its RADIUS server."""

    def begin(given: dict[str, Any], more: str = "", of_debian_13: Chain | None = None) -> Any:
        if of_debian_13 is not None:
            program = peers.debian_13("hostapd", tmp_path)
        elif given["method"] == "teap":
            program = [peers.built("hostapd")]
        else:
            program = [peers.needs("hostapd")["hostapd"]]
        if of_debian_13 is not None:
            more += f"openssl_ecdh_curves={given['groups'][0]}\n"
        chain = of_debian_13 or peers.chain_of(given["chain"])
        port = peers.free_port()
        method = given["method"].upper()
        password = '"correct horse"' if method == "MD5" else ""
        files = {
            "ca.pem": chain.authority,
            "server.pem": chain.server,
            "server.key": chain.server_key,
            "clients": "127.0.0.1 radius secret\n",
            "users": USERS.format(user=given["identity"], method=method, password=password),
            "hostapd.conf": (
                f"driver=none\nradius_server_clients={tmp_path}/clients\n"
                f"radius_server_auth_port={port}\neap_server=1\neap_user_file={tmp_path}/users\n"
                f"ca_cert={tmp_path}/ca.pem\nserver_cert={tmp_path}/server.pem\n"
                f"private_key={tmp_path}/server.key\nfragment_size={given['fragment_octets']}\n"
                f"tls_flags={'[ENABLE-TLSv1.3]' if given['tls'] == '1.3' else ''}\n{more}"
            ),
        }
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        daemon = start([*program, "-dd", "-K", str(tmp_path / "hostapd.conf")], "hostapd")
        daemon.wait_for(lambda: "AP-ENABLED" in daemon.text())
        return peers.Server(port, daemon)

    return begin


@pytest.mark.parametrize(
    ("method", "tls", "chain"),
    [
        ("md5", "1.2", "rsa2048"),
        ("tls", "1.2", "rsa2048"),
        ("tls", "1.2", "p256"),
        ("tls", "1.3", "rsa2048"),
        ("tls", "1.3", "p256"),
        ("peap", "1.2", "rsa2048"),
        ("ttls", "1.2", "rsa2048"),
        ("ttls", "1.3", "p256"),
    ],
)
def test_hostapd_accepts(peers: Any, server: Any, method: str, tls: str, chain: str) -> None:
    given = peers.eap_settings(method, tls, chain)
    hostapd = server(given)
    real = hostapd.talk(given)
    own = peers.Conversation(given, ["station", "access-point", "authentication-server"]).run()
    assert real.status("station") == "established", hostapd.daemon.text()[-6000:]
    assert real.status("access-point") == "established"
    assert real.secrets("station") == real.secrets("access-point")
    assert ("msk" in real.secrets("station")) == (method != "md5")
    # The same fragments, flights and rounds as with our own server.
    assert real.count("eapol") == own.count("eapol")
    assert real.count("radius") == own.count("radius")


#: hostapd wants a key and an identity for PACs, though none is asked for.
TEAP = (
    "pac_opaque_encr_key=000102030405060708090a0b0c0d0e0f\n"
    "eap_fast_a_id=101112131415161718191a1b1c1d1e1f\neap_fast_a_id_info=airtoll\n"
)


@pytest.mark.parametrize("chain", ["rsa2048", "p256"])
def test_hostapd_accepts_teap(peers: Any, server: Any, chain: str) -> None:
    given = peers.eap_settings("teap", "1.2", chain)
    hostapd = server(given, TEAP)
    real = hostapd.talk(given)
    own = peers.Conversation(given, ALL).run()
    assert real.status("station") == "established", hostapd.daemon.text()[-6000:]
    assert "EAP-TEAP: Valid Crypto-Binding TLV received" in hostapd.daemon.text()
    assert len(real.secrets("station")["msk"]) == 64
    assert real.secrets("station") == real.secrets("access-point")
    # hostapd sends its first inner request with its Finished: one round less than ours.
    assert real.count("eapol") == own.count("eapol") - 2
    assert real.count("radius") == own.count("radius") - 2


def test_hostapd_accepts_teap_with_a_basic_password(peers: Any, server: Any) -> None:
    given = peers.eap_settings("teap", "1.2", "rsa2048")
    hostapd = server(given, f"{TEAP}eap_teap_auth=1\n")
    real = hostapd.talk(given)
    assert real.status("station") == "established", hostapd.daemon.text()[-6000:]
    assert "EAP-TEAP: Correct password" in hostapd.daemon.text()
    assert real.secrets("station") == real.secrets("access-point")


@pytest.mark.parametrize("auth", [0, 1])
def test_hostapd_refuses_a_wrong_password_in_teap(peers: Any, server: Any, auth: int) -> None:
    given = peers.eap_settings("teap", "1.2", "rsa2048", password="wrong horse")
    hostapd = server(given, f"{TEAP}eap_teap_auth={auth}\n")
    real = hostapd.talk(given)
    assert real.why("access-point") == "wrong-credentials", hostapd.daemon.text()[-6000:]
    assert real.why("station") == "wrong-credentials"


@pytest.mark.parametrize("method", ["md5", "peap", "ttls"])
def test_a_wrong_password_is_rejected(peers: Any, server: Any, method: str) -> None:
    given = peers.eap_settings(method, "1.2", "rsa2048", password="wrong horse")
    real = server(given).talk(given)
    assert real.why("access-point") == "wrong-credentials"
    assert real.why("station") == "wrong-credentials"


def test_hostapd_s_bound_tunnel_under_tls_1_3_is_refused_by_wpa_supplicant_and_by_us(
    peers: Any, server: Any, start: Callable[..., Any], tmp_path: Path
) -> None:
    # hostapd 2.10 makes the binding of other keys than wpa_supplicant 2.10 and RFC 9427 do.
    program = peers.needs("eapol_test")["eapol_test"]
    given = peers.eap_settings("peap", "1.3", "p256")
    hostapd = server(given)
    (tmp_path / "station.conf").write_text(
        f'network={{\nkey_mgmt=WPA-EAP\neap=PEAP\nidentity="{given["identity"]}"\n'
        f'password="correct horse"\nca_cert="{tmp_path}/ca.pem"\nphase2="auth=MSCHAPV2"\n'
        'phase1="peapver=0 tls_disable_tlsv1_3=0"\n}\n'
    )
    argv = [
        program,
        "-c",
        str(tmp_path / "station.conf"),
        "-a",
        "127.0.0.1",
        "-p",
        str(hostapd.port),
    ]
    station = start([*argv, "-s", "radius secret", "-t", "10"], "eapol_test")
    station.process.wait(15)
    assert "EAP-PEAP: Invalid Compound_MAC in cryptobinding TLV" in station.text()
    real = hostapd.talk(given)
    assert real.why("station") == "wrong-credentials"


@pytest.mark.parametrize(
    ("method", "tls"), [("tls", "1.2"), ("peap", "1.2"), ("ttls", "1.2"), ("ttls", "1.3")]
)
def test_hostapd_resumes_a_session(peers: Any, server: Any, method: str, tls: str) -> None:
    given = peers.eap_settings(method, tls, "rsa2048")
    hostapd = server(given, "tls_session_lifetime=3600\n")
    first = hostapd.talk(given)
    assert first.status("station") == "established", hostapd.daemon.text()[-6000:]
    again = hostapd.talk({**given, "session": first.session("station")})
    assert again.status("station") == "established", hostapd.daemon.text()[-6000:]
    assert again.secrets("station") == again.secrets("access-point")
    assert again.secrets("station")["msk"] != first.secrets("station")["msk"]
    own = peers.Conversation(given, ALL).run()
    own = peers.Conversation({**given, "session": own.session("station")}, ALL).run()
    more = RESUMED.get((method, tls), 0)
    assert again.count("eapol") == own.count("eapol") + more
    assert again.count("radius") == own.count("radius") + more


def test_hostapd_ends_a_resumed_eap_tls_1_3_without_the_indication_that_we_wait_for(
    peers: Any, server: Any
) -> None:
    # It makes the octet of RFC 9190 section 2.1.3 but sends Success instead, which
    # wpa_supplicant 2.10 takes and our station does not.
    given = peers.eap_settings("tls", "1.3", "rsa2048")
    hostapd = server(given, "tls_session_lifetime=3600\n")
    first = hostapd.talk(given)
    assert first.status("station") == "established", hostapd.daemon.text()[-6000:]
    resumed = {**given, "session": first.session("station")}

    def over(talk: Any) -> bool:
        return bool(talk.status("access-point") != "waiting")

    again = hostapd.talk(resumed, over)
    assert "EAP-TLS: Send Commitment Message" in hostapd.daemon.text().split("resumed=1")[1]
    assert (again.status("access-point"), again.status("station")) == ("established", "waiting")


@pytest.mark.parametrize("chain", ["rsa3072", "p384"])
@pytest.mark.parametrize("tls", ["1.2", "1.3"])
def test_hostapd_takes_the_192_bit_suite(peers: Any, server: Any, tls: str, chain: str) -> None:
    given = peers.eap_settings("tls", tls, chain, suite="aes256-gcm-sha384")
    hostapd = server(given, "openssl_ciphers=SUITEB192\n" if chain == "p384" else "")
    real = hostapd.talk(given)
    own = peers.Conversation(given, ALL).run()
    assert real.status("station") == "established", hostapd.daemon.text()[-6000:]
    assert real.secrets("station") == real.secrets("access-point")
    assert real.count("eapol") == own.count("eapol")


@pytest.mark.parametrize("method", ["tls", "ttls"])
def test_our_station_gives_hostapd_the_share_that_it_asks_for(
    peers: Any, server: Any, method: str
) -> None:
    groups = ["secp256r1", "secp384r1"]
    given = peers.eap_settings(method, "1.3", "rsa2048", groups=groups)
    hostapd = server(given, "openssl_ecdh_curves=P-384\n")
    real = hostapd.talk(given)
    assert real.status("station") == "established", hostapd.daemon.text()[-6000:]
    assert real.secrets("station") == real.secrets("access-point")
    # A hello and its request more than with a server that takes the first share.
    own = peers.Conversation(given, ALL).run()
    assert real.count("eapol") == own.count("eapol") + 2


@pytest.mark.parametrize("fragment", [pytest.param(1024, marks=pytest.mark.thorough), 1398])
@pytest.mark.parametrize(
    ("method", "chain", "group"),
    [
        ("tls", "ml-dsa-44", "x25519mlkem768"),
        ("tls", "ml-dsa-65", "secp256r1mlkem768"),
        ("tls", "ml-dsa-87", "x25519mlkem768"),
        ("tls", "ml-dsa-44+ml-dsa-44+slh-dsa-sha2-128s", "x25519mlkem768"),
        ("ttls", "ml-dsa-87", "x25519mlkem768"),
    ],
)
def test_hostapd_with_openssl_3_5_takes_as_many_rounds_as_our_server(
    peers: Any, server: Any, method: str, chain: str, group: str, fragment: int
) -> None:
    given = peers.eap_settings(method, "1.3", chain, groups=[group], fragment_octets=fragment)
    hostapd = server(given, of_debian_13=peers.issued(chain))
    real = hostapd.talk(given)
    own = peers.Conversation(given, ALL).run()
    assert real.status("station") == "established", hostapd.daemon.text()[-6000:]
    assert real.secrets("station") == real.secrets("access-point")
    assert real.count("eapol") == own.count("eapol")
    assert real.count("radius") == own.count("radius")
