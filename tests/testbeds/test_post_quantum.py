"""Post-quantum joins in simulated time: keys, certificates, compression, limits of servers."""

from __future__ import annotations

import pytest
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
        ({"max_rounds": 50}, {"chain": "slh-dsa-sha2-128s"}, "more than 50 rounds"),
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
