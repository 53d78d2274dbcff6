"""RADIUS through proxies and over TLS in simulated time."""

from __future__ import annotations

import statistics

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
                **({"clients": clients} if clients > 1 else {"stations": [{"name": "A"}]}),
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


@pytest.mark.parametrize("transport", ["udp", "tls"])
def test_each_proxy_adds_the_round_trip_of_its_link_to_each_request(transport: str) -> None:
    alone = values(cell(transport=transport))
    requests = alone["messages_radius"] / 2
    for proxies in (1, 4):
        through = values(cell(transport=transport, proxies=proxies))
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


def test_a_connection_that_is_up_takes_the_round_trips_of_udp() -> None:
    udp, tls = (values(cell(transport=transport)) for transport in ("udp", "tls"))
    assert tls["messages_radius"] == udp["messages_radius"]
    assert tls["eap_time_s"] == pytest.approx(udp["eap_time_s"], abs=2e-3)


@pytest.mark.parametrize("proxies", [0, 2])
def test_the_first_request_opens_the_connections_and_later_ones_use_them(proxies: int) -> None:
    """SYN and SYN-ACK, then the hello and the answer of TLS 1.3, on each link."""
    up, opened = (
        values(cell(transport="tls", connection=how, tls_chain=chain, proxies=proxies))
        for how, chain in (("up", "rsa2048"), ("on-request", "p256"))
    )
    more = (opened["eap_time_s"] - up["eap_time_s"]) / ROUND_TRIP / (1 + proxies)
    assert 2.0 <= more < 2.3


def test_larger_certificates_of_a_connection_take_longer_to_open_it() -> None:
    slow = {"transport": "tls", "connection": "on-request", "rate_mbps": 1}
    small, large = (
        values(cell(**slow, tls_chain=chain))["eap_time_s"] for chain in ("p256", "ml-dsa-65")
    )
    # Both ends show leaf and issuing CA: some 20 kilooctets more at 1 Mb/s.
    assert 0.1 < large - small < 0.5


def test_tcp_repeats_sooner_than_an_access_point() -> None:
    means = {}
    for transport in ("udp", "tls"):
        found = [values(cell(transport=transport, loss_ratio=0.05), s) for s in range(1, 22)]
        means[transport] = statistics.fmean(one["eap_time_s"] for one in found)
        repeated = len({one["messages_radius"] for one in found}) > 1
        assert repeated == (transport == "udp")
    assert means["tls"] < means["udp"] / 2


def test_the_path_mtu_bounds_the_segments_of_tcp() -> None:
    """A packet of two fragments over UDP is lost with either; TCP repeats the lost segment."""
    whole, cut = (values(cell(transport="tls", mtu_bytes=mtu)) for mtu in (1500, 576))
    assert cut["messages_radius"] == whole["messages_radius"]
    assert cut["eap_time_s"] == pytest.approx(whole["eap_time_s"], abs=5e-3)


@pytest.mark.parametrize("transport", ["udp", "tls"])
def test_proxy_states_beyond_the_longest_packet_are_named(transport: str) -> None:
    proxies = [{"state_bytes": 253}] * 16
    failure = str(measured(cell(transport=transport, proxies=proxies)).failure)
    assert "a RADIUS packet of 4" in failure
    assert "4096 is the most" in failure


def test_a_silent_server_over_tls_is_asked_once() -> None:
    of = cell(transport="tls")
    join = of.settings.join.model_copy(update={"fault": "silent-server"})
    settings = of.settings.model_copy(update={"join": join})
    trial = measured(Cell(of.scenario, of.policy, of.traffic, of.factors, settings, of.load))
    assert "the authentication server did not answer" in str(trial.failure)


@pytest.mark.parametrize(
    ("radius", "said"),
    [
        ({"connection": "on-request"}, 'radius.connection needs radius.transport = "tls"'),
        ({"transport": "tls", "tls_chain": "p256"}, "radius.tls_chain needs radius.connection"),
    ],
)
def test_a_setting_of_tls_without_its_transport_is_refused(
    radius: dict[str, str], said: str
) -> None:
    skip = Simulator().check(cell(**radius))
    assert skip is not None
    assert said in skip.reason


@pytest.mark.parametrize("name", ["proxies", "transport"])
def test_a_path_without_a_radius_server_is_refused(name: str) -> None:
    value = {"proxies": 1, "transport": "tls"}[name]
    skip = Simulator().check(cell("wpa2-psk-ccmp", **{name: value}))
    assert skip is not None
    assert f"radius.{name}: wpa2-psk-ccmp has no 802.1X" in skip.reason


def test_stations_share_a_lossy_connection_and_all_join() -> None:
    of = cell(clients=12, transport="tls", loss_ratio=0.05, proxies=1)
    trial = measured(of)
    assert trial.failure is None
    joined = [row.value for row in trial.rows if row.metric == "stations_joined"]
    assert joined == [12]
