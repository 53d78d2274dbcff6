"""RADIUS through proxies in simulated time."""

from __future__ import annotations

import pytest

from airtoll.plan import Cell, Trial
from airtoll.policies import resolve
from airtoll.study import Scenario, Traffic
from airtoll.testbeds.simulator import Simulator

TRAFFIC = {"transport": "udp", "offered_mbps": 0.5, "payload_bytes": 500, "duration_s": 0.2}
#: One-way delay of each link, ms, and its round trip, s.
DELAY_MS, ROUND_TRIP = 10, 0.02


def cell(policy: str = "wpa2-eap-tls-ccmp", *, clients: int = 1, **radius: object) -> Cell:
    return Cell(
        scenario="s",
        policy=resolve(policy).name,
        traffic="t",
        factors=(),
        settings=Scenario.model_validate(
            {
                "authenticate": True,
                "stations": [{"name": "A"}],
                **({"clients": clients, "stations": []} if clients > 1 else {}),
                "join": {"chain": "p256"},
                "radius": {"delay_ms": DELAY_MS, **radius},
            }
        ),
        load=Traffic.model_validate(TRAFFIC),
    )


def measured(of: Cell, seed: int = 1):
    return Simulator().measure(Trial(cell=of, number=1, attempt=1, seed=seed))


def values(of: Cell, seed: int = 1) -> dict[str, float]:
    trial = measured(of, seed)
    assert trial.failure is None
    return {row.metric: row.value for row in trial.rows if row.station == "A"}


def test_each_proxy_adds_the_round_trip_of_its_link_to_each_request() -> None:
    alone = values(cell())
    requests = alone["messages_radius"] / 2
    for proxies in (1, 4):
        through = values(cell(proxies=proxies))
        assert through["messages_radius"] == alone["messages_radius"]
        assert through["authentication_octets"] == pytest.approx(
            alone["authentication_octets"], abs=6
        )
        more = (through["eap_time_s"] - alone["eap_time_s"]) / ROUND_TRIP / proxies
        assert more == pytest.approx(requests, abs=0.2)


def test_a_list_of_proxies_has_links_of_its_own() -> None:
    near = values(cell(proxies=[{"delay_ms": 0}]))
    far = values(cell(proxies=[{"delay_ms": 40}]))
    more = far["eap_time_s"] - near["eap_time_s"]
    assert more == pytest.approx(0.08 * near["messages_radius"] / 2, rel=0.01)


def test_proxy_states_beyond_the_longest_packet_are_named() -> None:
    proxies = [{"state_bytes": 253}] * 16
    failure = str(measured(cell(proxies=proxies)).failure)
    assert "a RADIUS packet of 4" in failure
    assert "4096 is the most" in failure


def test_a_path_without_a_radius_server_is_refused() -> None:
    skip = Simulator().check(cell("wpa2-psk-ccmp", proxies=1))
    assert skip is not None
    assert "radius.proxies: wpa2-psk-ccmp has no 802.1X" in skip.reason
