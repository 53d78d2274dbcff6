"""Post-quantum joins in simulated time: keys, certificates, compression, limits of servers."""

from __future__ import annotations

import pytest
from attrs import evolve
from pydantic import ValidationError

from airtoll.plan import Cell, Trial
from airtoll.policies import resolve
from airtoll.study import Scenario, Traffic
from airtoll.testbeds.simulator import Simulator

TRAFFIC = {"transport": "udp", "offered_mbps": 0.5, "payload_bytes": 500, "duration_s": 0.2}
METHODS = ["wpa2-eap-tls-ccmp", "wpa2-eap-peap-ccmp", "wpa2-eap-ttls-ccmp"]


def cell(policy: str = "wpa2-eap-tls-ccmp", *, radius: object = None, **join: object) -> Cell:
    return Cell(
        scenario="s",
        policy=resolve(policy).name,
        traffic="t",
        factors=(),
        settings=Scenario.model_validate(
            {"authenticate": True, "join": {"tls": "1.3", **join}, "radius": radius or {}}
        ),
        load=Traffic.model_validate(TRAFFIC),
    )


def measured(of: Cell):
    return Simulator().measure(Trial(cell=of, number=1, attempt=1, seed=1))


def values(of: Cell) -> dict[str, float]:
    trial = measured(of)
    assert trial.failure is None
    return {row.metric: row.value for row in trial.rows if row.station == "A"}


@pytest.mark.parametrize("policy", METHODS)
def test_each_step_to_a_longer_signature_costs_octets_and_messages(policy: str) -> None:
    chains = ["p256", "ml-dsa-44", "ml-dsa-65", "ml-dsa-87"]
    found = [values(cell(policy, chain=chain)) for chain in chains]
    for metric in ("authentication_octets", "authentication_messages"):
        sizes = [one[metric] for one in found]
        assert sizes == sorted(set(sizes)), metric


def test_ml_kem_costs_the_octets_of_its_key_and_ciphertext() -> None:
    plain, hybrid = (values(cell(tls_group=group)) for group in ("x25519", "x25519mlkem768"))
    fragments = hybrid["authentication_messages"] - plain["authentication_messages"]
    more = hybrid["authentication_octets"] - plain["authentication_octets"]
    # FIPS 203 table 3: 1184 and 1088 octets; each further message has its own headers.
    assert fragments > 0
    assert 1184 + 1088 <= more <= 1184 + 1088 + 100 * fragments


def test_a_chain_without_an_issuing_authority_is_shorter() -> None:
    long, short = (values(cell(chain=chain)) for chain in ("ml-dsa-44", ["ml-dsa-44", "ml-dsa-44"]))
    assert short["authentication_octets"] < long["authentication_octets"] - 2 * 3000


def test_compression_shortens_classical_certificates_more_than_those_of_ml_dsa() -> None:
    def spared(chain: str) -> float:
        plain, packed = (
            values(cell(chain=chain, certificate_compression=wanted))["authentication_octets"]
            for wanted in (False, True)
        )
        return 1 - packed / plain

    assert spared("p256") > spared("ml-dsa-65") > 0


def test_resumption_makes_the_chain_irrelevant() -> None:
    rsa, quantum = (
        values(cell(chain=chain, tls_resumption=True)) for chain in ("rsa2048", "ml-dsa-87")
    )
    assert rsa["authentication_messages"] == quantum["authentication_messages"]


@pytest.mark.parametrize(
    ("radius", "join", "said"),
    [
        ({"max_rounds": 20}, {"chain": "ml-dsa-87"}, "more than 20 rounds"),
        (
            {"max_received_flight_bytes": 16384},
            {"chain": "ml-dsa-87"},
            "of more than 16384 octets",
        ),
        ({"max_sent_flight_bytes": 16384}, {"chain": "ml-dsa-87"}, "of more than 16384 octets"),
    ],
)
def test_a_limit_of_the_server_is_a_failure_with_its_name(
    radius: dict[str, int], join: dict[str, str], said: str
) -> None:
    assert said in str(measured(cell(radius=radius, eap_fragment_bytes=500, **join)).failure)
    assert measured(cell(**join)).failure is None


@pytest.mark.parametrize(
    ("policy", "join", "said"),
    [
        ("wpa2-eap-tls-ccmp", {"tls": "1.2", "chain": "ml-dsa-44"}, 'need join.tls = "1.3"'),
        ("wpa2-eap-tls-ccmp", {"tls": "1.2", "tls_group": "mlkem768"}, 'need join.tls = "1.3"'),
        ("wpa2-eap-tls-ccmp", {"tls": "1.2", "certificate_compression": True}, "RFC 8879"),
        ("wpa3-eap-tls-gcmp-256", {"chain": "ml-dsa-87"}, "192-bit"),
        ("wpa2-psk-ccmp", {"tls_group": "mlkem768"}, "no EAP method with TLS"),
    ],
)
def test_what_tls_does_not_carry_is_refused(
    policy: str, join: dict[str, object], said: str
) -> None:
    skip = Simulator().check(cell(policy, **join))
    assert skip is not None
    assert said in skip.reason


@pytest.mark.parametrize(
    ("chain", "said"),
    [("ml-dsa-45", "allowed: rsa2048"), (["p256"] * 4, "leaf, issuing CA and root at most")],
)
def test_a_wrong_chain_is_refused_with_what_is_allowed(chain: object, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        cell(chain=chain)


IPSEC = "ipsec-aes-gcm"


def ike(policy: str = IPSEC, **join: object) -> Cell:
    return cell(policy, tls="1.2", ike_group="x25519", **join)


@pytest.mark.parametrize(("kem", "octets"), [("mlkem512", 1568), ("mlkem768", 2272)])
def test_a_second_key_exchange_of_ike_costs_two_messages_and_fips_203_s_octets(
    kem: str, octets: int
) -> None:
    plain, hybrid = values(ike()), values(ike(ike_additional=kem))
    assert hybrid["messages_ikev2"] == plain["messages_ikev2"] + 2
    more = hybrid["authentication_octets"] - plain["authentication_octets"]
    # Each message has headers of 28, 4 and 8 octets, an IV, a pad length and a tag; IKE_SA_INIT
    # has a transform and a notification more in each direction.
    assert more == octets + 2 * (28 + 4 + 8 + 8 + 1 + 16) + 2 * (8 + 8)


def test_ml_kem_alone_takes_no_message_more() -> None:
    plain, kem = values(ike()), values(cell(IPSEC, tls="1.2", ike_group="mlkem512"))
    assert kem["messages_ikev2"] == plain["messages_ikev2"] == 4
    # FIPS 203 table 3 against two shares of X25519.
    more = kem["authentication_octets"] - plain["authentication_octets"]
    assert more == 800 + 768 - 2 * 32


def test_fragments_of_ike_take_one_round_trip_where_eap_takes_one_each() -> None:
    far = {"wired": {"delay_us": 50_000}}
    chain = "ml-dsa-87"
    settings = {"authenticate": True, **far}
    tunnel = ike(ike_chain=chain, ike_fragment_bytes=1280)
    tunnel = evolve(
        tunnel,
        settings=Scenario.model_validate(
            {**settings, "join": tunnel.settings.join.model_dump(exclude_defaults=True)}
        ),
    )
    found = values(tunnel)
    assert found["messages_ikev2"] > 30
    # IKE_SA_INIT and IKE_AUTH: two round trips of 100 ms.
    assert 0.2 < found["join_time_s"] < 0.25


def test_rosenpass_stands_before_wireguard_with_its_octets() -> None:
    plain = values(cell("wireguard", tls="1.2"))
    after = values(cell("wireguard", tls="1.2", rosenpass=True))
    assert after["messages_wireguard"] == plain["messages_wireguard"] == 3
    assert after["authentication_messages"] == plain["authentication_messages"] + 4
    more = after["authentication_octets"] - plain["authentication_octets"]
    assert more == 1092 + 1132 + 176 + 64


def test_ike_chains_fail_with_a_certificate_of_another_root() -> None:
    trial = measured(ike(ike_chain="rsa2048", fault="wrong-certificate"))
    assert "the certificate was not accepted" in str(trial.failure)


@pytest.mark.parametrize(
    ("policy", "join", "said"),
    [
        ("wpa2-psk-ccmp", {"ike_group": "x25519"}, "no tunnel with IKEv2"),
        ("wireguard", {"ike_additional": "mlkem768"}, "no tunnel with IKEv2"),
        ("ipsec-3des-sha1", {"ike_chain": "p256"}, "no tunnel with IKEv2"),
        ("ipsec-aes-gcm", {"rosenpass": True}, "no WireGuard"),
        ("ipsec-3des-sha1", {"ike_fragment_bytes": 1280}, "no tunnel with IKEv2"),
    ],
)
def test_settings_of_a_tunnel_are_refused_without_it(
    policy: str, join: dict[str, object], said: str
) -> None:
    skip = Simulator().check(cell(policy, tls="1.2", **join))
    assert skip is not None
    assert said in skip.reason


def test_a_short_path_to_the_server_loses_more_packets_because_each_fragment_can_be_lost() -> None:
    def times(mtu: int | None) -> list[float]:
        found = []
        for seed in range(1, 22):
            of = cell(
                radius={"loss_ratio": 0.03, "mtu_bytes": mtu},
                chain="ml-dsa-44",
                eap_fragment_bytes=1024,
            )
            trial = Simulator().measure(Trial(cell=of, number=1, attempt=1, seed=seed))
            found += [
                row.value
                for row in trial.rows
                if row.metric == "join_time_s" and row.station == "A"
            ]
        return sorted(found)

    whole, short = times(None), times(300)
    assert len(whole) == len(short) == 21
    # A packet of 1100 octets has four or five fragments; each lost packet waits for 2 s.
    assert short[10] > whole[10] + 4


def test_a_path_mtu_above_every_packet_changes_nothing_but_the_routers_hop() -> None:
    plain = values(cell(eap_fragment_bytes=500))
    routed = values(cell(radius={"mtu_bytes": 1500}, eap_fragment_bytes=500))
    assert routed["authentication_messages"] == plain["authentication_messages"]
    assert routed["join_time_s"] == pytest.approx(plain["join_time_s"], rel=0.05)


def test_a_path_mtu_without_a_radius_server_is_refused() -> None:
    skip = Simulator().check(cell("wpa2-psk-ccmp", tls="1.2", radius={"mtu_bytes": 576}))
    assert skip is not None
    assert "no 802.1X" in skip.reason
