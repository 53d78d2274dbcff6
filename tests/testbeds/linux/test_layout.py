"""Where the parties of a trial are, in one subnet and in two domains."""

from __future__ import annotations

from pathlib import Path

import pytest

from airtoll.policies import resolve
from airtoll.testbeds.domains import DOMAINS
from airtoll.testbeds.linux.bridges import Bridged
from airtoll.testbeds.linux.daemons.credentials import Credentials
from airtoll.testbeds.linux.job import Flow, Job
from airtoll.testbeds.linux.layout import Layout
from airtoll.testbeds.linux.stack import Stack
from airtoll.testbeds.linux.two_domains import TwoDomains


@pytest.fixture(scope="module")
def stack(new_credentials: Credentials) -> Stack:
    """A stack that is not built: its addresses are known all the same."""
    return Stack("aaaa0009", new_credentials, Path("nowhere"))


def test_every_station_has_a_tunnel_to_the_server(stack: Stack) -> None:
    layout = stack.layout(Job("x", "wireguard", stations=("A", "B")), resolve("wireguard"))
    assert type(layout) is Layout
    places = [(p.near.node, p.far.node, p.station) for p in layout.tunnels()]
    assert places == [("sta1", "srv", "A"), ("sta2", "srv", "B")]
    assert layout.tunnels()[1].near.own == ("10.78.0.12/32", "fd78::c/128")
    assert (layout.source("B"), layout.peer("B")) == ("10.78.0.12", "10.78.0.1")
    assert layout.source("B", "ipv6") == "fd78::c"


def test_a_tunnel_inside_another_ends_at_addresses_inside_that_one(stack: Stack) -> None:
    policy = resolve("wpa2-psk-ccmp+wireguard+ipsec-aes-gcm")
    layout = stack.layout(Job("x", policy.name, stations=("A", "B")), policy)
    places = layout.tunnels()
    assert [(p.layer, p.tunnel.kind, p.station) for p in places] == [
        (0, "wireguard", "A"),
        (0, "wireguard", "B"),
        (1, "esp", "A"),
        (1, "esp", "B"),
    ]
    inner, outer = places[1], places[3]
    assert inner.near.own == ("10.78.0.12/32", "fd78::c/128")
    assert outer.near.own == ("10.78.1.12/32", "fd78:0:0:1::c/128")
    assert (inner.near.outer, inner.far.outer) == ("10.78.1.12", "10.78.1.1")
    assert (outer.near.outer, outer.far.outer) == ("10.77.0.12", "10.77.0.1")
    # The traffic is between the innermost addresses.
    assert (layout.source("B"), layout.peer("B")) == ("10.78.0.12", "10.78.0.1")


def test_two_stations_have_one_tunnel_between_them(stack: Stack) -> None:
    job = Job("x", "ipsec-aes-gcm", stations=("A", "B"), station_to_station=True)
    layout = stack.layout(job, resolve("ipsec-aes-gcm"))
    (place,) = layout.tunnels()
    assert (place.near.node, place.far.node, place.station) == ("sta1", "sta2", "A")
    assert (layout.peer("A"), layout.peer("B")) == ("10.78.0.12", "10.78.0.11")
    plain = stack.layout(job, resolve("open"))
    assert plain.peer("A") == "10.77.0.12"


def test_traffic_and_tunnels_end_at_hosts_behind_bridges(stack: Stack) -> None:
    job = Job("x", "wireguard", stations=("A", "B"), bridges=("A",))
    layout = stack.layout(job, resolve("wireguard"))
    assert isinstance(layout, Bridged)
    # The radios are the stations' own; the addresses go to the host behind.
    assert layout.nodes == {"A": "sta1", "B": "sta2"}
    assert [layout.end(name) for name in ("A", "B")] == ["lan1", "sta2"]
    assert [p.near.node for p in layout.tunnels()] == ["lan1", "sta2"]
    assert layout.addresses() == {"A": ("10.77.0.11",), "B": ("10.77.0.12",)}
    assert layout.source("A") == "10.78.0.11"
    between = Job("x", "open", stations=("A", "B"), bridges=("A", "B"), station_to_station=True)
    both = stack.layout(between, resolve("open"))
    assert (both.target("A"), both.target("B")) == ("lan2", "lan1")
    assert both.peer("A") == "10.77.0.12"
    assert Job.from_json(between.to_json()) == between


@pytest.mark.parametrize(
    ("place", "access_points", "target", "peer"),
    [
        ("n1", ("ap1",), "sta2", "10.81.0.12"),
        ("n2", ("ap1",), "ha1", "10.81.0.1"),
        ("n3", ("ap1",), "sta2", "10.81.0.12"),
        ("n4", ("ap1", "ap2"), "sta2", "10.82.0.12"),
        ("n5", ("ap1",), "host", "10.81.0.3"),
        ("r1", ("ap2", "ap1"), "sta2", "10.81.0.12"),
        ("r2", ("ap2",), "host", "10.81.0.3"),
        ("r3", ("ap2", "ap1"), "sta2", "10.81.0.12"),
        ("r4", ("ap2",), "sta2", "10.82.0.12"),
    ],
)
def test_the_nine_scenarios(
    stack: Stack, place: str, access_points: tuple[str, ...], target: str, peer: str
) -> None:
    stations = ("mobile", "peer") if DOMAINS[place].peer_ap else ("mobile",)
    policy = resolve("ipsec-3des-sha1")
    layout = stack.layout(Job("x", policy.name, stations=stations, domains=place), policy)
    assert isinstance(layout, TwoDomains)
    assert layout.access_points == access_points
    assert layout.abroad == (place[0] == "r")
    # The home address goes along.
    assert layout.source("mobile") == "10.81.0.11"
    assert (layout.target("mobile"), layout.peer("mobile")) == (target, peer)
    between, own = layout.tunnels()
    assert between.station is None
    assert (between.near.inside, between.far.inside) == (("10.81.0.0/24",), ("10.82.0.0/24",))
    assert (own.near.inside, own.far.inside) == (("10.81.0.11/32",), (f"{peer}/32",))
    assert (own.far.node, own.station) == ("ha1", "mobile")
    # The agent of the domain is the RADIUS server of its access point.
    servers = [layout.authenticator(node).server_node for node in access_points]
    assert servers == [{"ap1": "ha1", "ap2": "ha2"}[node] for node in access_points]
    if len(stations) == 2:
        assert layout.target("peer") == "sta1"
        assert layout.peer("peer") == "10.81.0.11"
        assert layout.heard_by("peer") == (access_points[-1],)


def test_flows_are_named_as_the_simulator_names_them(stack: Stack) -> None:
    def name(direction: str) -> str:
        job = Job("x", "open", stations=("mobile",), domains="r2", flow=Flow(direction=direction))
        return stack.layout(job, resolve("open")).flow_name("mobile")

    assert name("up") == "mobile-host-a"
    assert name("down") == "host-a-mobile"
