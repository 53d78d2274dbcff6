"""ML-KEM in key exchanges of the link, a draft, and certificates of Falcon by size."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from airtoll.errors import PolicyError
from airtoll.plan import Cell, Trial
from airtoll.policies import display_name, resolve
from airtoll.study import Scenario, Traffic
from airtoll.testbeds.linux.capability import CAPABILITY as REAL
from airtoll.testbeds.simulator import Simulator

TRAFFIC = {"transport": "udp", "offered_mbps": 0.5, "payload_bytes": 500, "duration_s": 0.2}
#: Octets of ML-KEM-768 (FIPS 203 table 3): encapsulation key and ciphertext.
KEY, CIPHERTEXT = 1184, 1088
#: Lowest basic rate of 802.11g, bit/s.
RATE = 6e6
PAIRS = (
    ("owe-ccmp", "owe-draft-mlkem768-ccmp"),
    ("wpa3-sae-ext-gcmp-256", "wpa3-sae-draft-mlkem768-gcmp-256"),
)


def cell(policy: str, profile: str | None = None, **join: object) -> Cell:
    station = {"name": "A"} | ({"profile": profile} if profile else {})
    return Cell(
        scenario="s",
        policy=policy,
        traffic="t",
        factors=(),
        settings=Scenario.model_validate(
            {"authenticate": True, "stations": [station], **({"join": join} if join else {})}
        ),
        load=Traffic.model_validate(TRAFFIC),
    )


def values(of: Cell) -> dict[str, float]:
    trial = Simulator().measure(Trial(cell=of, number=1, attempt=1, seed=1))
    assert trial.failure is None
    return {row.metric: row.value for row in trial.rows if row.station == "A"}


@pytest.mark.parametrize(("classical", "draft"), PAIRS)
def test_the_draft_has_the_messages_of_its_classical_akm_and_longer_ones(
    classical: str, draft: str
) -> None:
    one, other = values(cell(classical)), values(cell(draft))
    assert other["authentication_messages"] == one["authentication_messages"]
    more = other["authentication_octets"] - one["authentication_octets"]
    if classical.startswith("owe"):
        # Association frames, which these octets leave out, at the lowest basic rate.
        assert more == 0
        more = (other["association_time_s"] - one["association_time_s"]) * RATE / 8
    # Headers of the elements that carry both, and those of their fragments.
    assert KEY + CIPHERTEXT < more < KEY + CIPHERTEXT + 40
    assert other["join_time_s"] > one["join_time_s"]


@pytest.mark.parametrize(("classical", "draft"), PAIRS)
def test_a_device_pays_for_the_steps_of_ml_kem(classical: str, draft: str) -> None:
    """The station draws a key and decapsulates: 21 ms on a Cortex-M4F."""
    times = {name: values(cell(name, "cortex-m4f"))["join_time_s"] for name in (classical, draft)}
    free = {name: values(cell(name))["join_time_s"] for name in (classical, draft)}
    more = (times[draft] - free[draft]) - (times[classical] - free[classical])
    assert more == pytest.approx((642_096 + 707_827) / 64e6, rel=0.05)


@pytest.mark.parametrize(("_classical", "draft"), PAIRS)
def test_every_name_of_a_draft_says_so(_classical: str, draft: str) -> None:
    policy = resolve(draft)
    assert policy.link.akm is not None
    assert policy.link.akm.is_draft
    assert "draft" in str(policy.link.akm)
    assert "(draft)" in display_name(policy)
    assert any("draft" in weakness.what for weakness in policy.weaknesses)


def test_the_real_stack_refuses_a_draft_with_the_reason() -> None:
    for _, draft in PAIRS:
        policy = resolve(draft)
        reasons = [entry.reason for entry in REAL.policies if entry.asked(policy)]
        assert any("no daemon has a draft AKM" in reason for reason in reasons), draft
    for classical, _ in PAIRS:
        policy = resolve(classical)
        reasons = [entry.reason for entry in REAL.policies if entry.asked(policy)]
        assert not any("draft" in reason for reason in reasons)


def test_a_word_that_is_none_names_the_drafts_among_the_others() -> None:
    with pytest.raises(PolicyError, match="sae-draft-mlkem768"):
        resolve("wpa3-mlkem768-ccmp")
    with pytest.raises(PolicyError, match="no cipher"):
        resolve("owe-draft-mlkem1024-ccmp")


def test_falcon_is_shorter_than_ml_dsa_and_longer_than_ecdsa() -> None:
    octets = {
        chain: values(cell("wpa2-eap-tls-ccmp", tls="1.3", chain=chain))["authentication_octets"]
        for chain in ("p256", "falcon-512-by-size", "falcon-1024-by-size", "ml-dsa-44")
    }
    assert list(octets.values()) == sorted(octets.values())
    # Leaf and issuing CA of both ends: two keys, two signatures and that of the handshake each.
    more = 4 * (1793 - 897) + 6 * (1280 - 666)
    found = octets["falcon-1024-by-size"] - octets["falcon-512-by-size"]
    assert found == pytest.approx(more, rel=0.1)


def test_falcon_without_by_size_is_refused_with_the_name_to_write() -> None:
    with pytest.raises(ValidationError, match="write falcon-512-by-size"):
        cell("wpa2-eap-tls-ccmp", tls="1.3", chain="falcon-512")


def test_falcon_needs_tls_1_3() -> None:
    skip = Simulator().check(cell("wpa2-eap-tls-ccmp", chain="falcon-512-by-size"))
    assert skip is not None
    assert 'Falcon need join.tls = "1.3"' in skip.reason
