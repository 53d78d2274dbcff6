"""Hosts that ask for addresses at first contact, under whatever policy and topology."""

from __future__ import annotations

import pytest

from airtoll.plan import Cell, Trial
from airtoll.study import Scenario, Traffic
from airtoll.testbeds.simulator import Simulator


def values(cell: Cell) -> dict[str, float]:
    measured = Simulator().measure(Trial(cell=cell, number=1, attempt=1, seed=1))
    assert measured.failure is None
    return {row.metric: row.value for row in measured.rows}


def cell(policy: str, how: str, **settings: object) -> Cell:
    return Cell(
        scenario="s",
        policy=policy,
        traffic="t",
        factors=(),
        settings=Scenario.model_validate(
            {"phy": "802.11a", "rate_mbps": 54, "address_resolution": how, **settings}
        ),
        load=Traffic.model_validate(
            {"transport": "udp", "offered_mbps": 1, "payload_bytes": 1472, "duration_s": 0.5}
        ),
    )


@pytest.mark.parametrize("topology", ["uplink", "downlink", "r1"])
@pytest.mark.parametrize("authenticate", [False, True])
@pytest.mark.parametrize("policy", ["open", "wpa2-psk-ccmp", "wpa2-psk-ccmp+wireguard"])
def test_every_packet_arrives_and_the_question_is_booked(policy, authenticate, topology) -> None:
    known, asks = (
        values(cell(policy, how, topology=topology, authenticate=authenticate))
        for how in ("static", "dynamic")
    )
    assert asks["packets_lost"] == 0
    assert abs(asks["packets_received"] - known["packets_received"]) <= 1
    if not authenticate:
        # Otherwise tunnels may have asked before the traffic, which is what is booked.
        assert asks["octets_management"] > known["octets_management"]
