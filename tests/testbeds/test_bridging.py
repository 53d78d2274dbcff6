"""Wireless bridges: what a cell with them resolves to, costs, and cannot be."""

from __future__ import annotations

import json
from typing import Any

import pytest

from airtoll import border
from airtoll.plan import Cell
from airtoll.policies import catalogue
from airtoll.study import Scenario, Traffic
from airtoll.testbeds.analytic import Analytic
from airtoll.testbeds.resolve import native, scenario
from airtoll.testbeds.simulator import Simulator

POLICIES = [policy.name for policy in catalogue()]
UDP = {"transport": "udp", "duration_s": 1}


def cell(policy: str = "open", load: dict[str, Any] | None = None, **settings: Any) -> Cell:
    usual = {"stations": [{"name": "A"}, {"name": "B"}], "bridge": {}}
    return Cell(
        scenario="s",
        policy=policy,
        traffic="t",
        factors=(),
        settings=Scenario.model_validate({**usual, **settings}),
        load=Traffic.model_validate(load or UDP),
    )


def values(planned: Cell) -> dict[str, float]:
    """The whole cell's values of one simulated trial."""
    columns = native(planned).simulate([1])
    rows = zip(columns["metric"], columns["flow"], columns["second"], columns["value"], strict=True)
    return {
        str(metric): float(str(value))
        for metric, flow, second, value in rows
        if second is None and (flow is None or metric == "throughput_bps")
    }


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("topology", ["uplink", "downlink", "station-to-station"])
@pytest.mark.parametrize("join", [False, True])
def test_every_policy_resolves(policy: str, topology: str, join: bool) -> None:
    planned = cell(policy, topology=topology, authenticate=join)
    native(planned).check()


def test_a_cell_without_bridges_resolves_as_before() -> None:
    text = border.to_json(scenario(cell("wpa2-psk-ccmp+wireguard", bridge=None, authenticate=True)))
    assert "four_address" not in text
    assert '"host":"' not in text
    assert json.loads(text)["nodes"][0]["tunnels"][0]["peer"] == "server"


def test_the_host_behind_has_traffic_and_tunnels() -> None:
    stations = [{"name": "A"}, {"name": "B", "bridge": False}]
    wired = {"rate_mbps": 10, "delay_us": 3}
    profile = {"profile": "dell-celeron-2.4"}
    bridge = {"wired": wired, "host": profile}
    planned = cell("open+wireguard", stations=stations, bridge=bridge, authenticate=True)
    resolved = scenario(planned)
    nodes = {node.name: node for node in resolved.nodes}
    assert list(nodes) == ["A", "A-host", "B", "ap", "server"]
    assert nodes["A"].four_address
    assert not nodes["B"].four_address
    assert [len(nodes[name].tunnels) for name in nodes] == [0, 1, 1, 0, 0]
    assert nodes["A-host"].host.transmit.fixed_ns > 0
    assert resolved.links[0] == border.WiredLink(
        nodes=("A", "A-host"), rate_bps=10e6, delay_s=3e-6, queue_packets=1000
    )
    assert [(f.name, f.station, f.source) for f in resolved.flows] == [
        ("A-up", "A", "A-host"),
        ("B-up", "B", "B"),
    ]
    assert [a.host for a in resolved.associations] == ["A-host", None]


def test_tunnels_go_from_host_to_host() -> None:
    resolved = scenario(cell("open+wireguard", topology="station-to-station"))
    nodes = {node.name: node for node in resolved.nodes}
    assert nodes["A-host"].tunnels[0].peer == "B-host"
    assert nodes["B-host"].tunnels[0].peer == "A-host"


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"authenticate": True, "handover": {}}, "access point"),
        ({"authenticate": True, "join": {"mobile_ip": "home"}}, "Mobile IP"),
        ({"stations": [{"name": "A"}, {"name": "A-host"}]}, "name"),
    ],
)
def test_what_a_bridge_cannot_be_is_skipped_with_the_reason(
    settings: dict[str, Any], problem: str
) -> None:
    for testbed in (Simulator(), Analytic()):
        skip = testbed.check(cell(**settings))
        assert skip is not None
        assert problem in skip.reason


@pytest.mark.parametrize(
    "settings", [{"bridge": None, "stations": [{"name": "A", "bridge": True}]}, {"topology": "n5"}]
)
def test_a_bridge_needs_a_scenario_that_has_one(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="bridge"):
        cell(**{"stations": [{"name": "A"}], **settings})


@pytest.mark.parametrize("policy", ["open", "wpa2-psk-ccmp"])
@pytest.mark.parametrize("direction", ["up", "down"])
@pytest.mark.parametrize("phy", ["802.11a", "802.11b"])
def test_the_closed_form_agrees(policy: str, direction: str, phy: str) -> None:
    load = {"transport": "udp", "duration_s": 5, "direction": direction}
    planned = cell(policy, load, phy=phy, stations=[{"name": "A"}])
    assert Analytic().check(planned) is None
    (theory, *_) = native(planned).analytic()["value"]
    ours = values(planned)["throughput_bps"]
    assert ours == pytest.approx(theory, rel=5e-3)
    plain = planned.settings.model_copy(update={"bridge": None})
    station = Cell("s", policy, "t", (), plain, planned.load)
    (longer, *_) = native(station).analytic()["value"]
    # On 802.11b every octet costs; on 802.11a it may fit into the last symbol.
    assert theory < longer if phy == "802.11b" else theory <= longer


@pytest.mark.parametrize(
    "settings",
    [
        {"phy": "802.11ax", "mcs": 9, "amsdu_max_octets": 7000},
        {"phy": "802.11n", "mcs": 5},
        {"fragmentation_threshold_octets": 500},
        {"edca": True},
    ],
)
def test_each_frame_has_six_octets_more(settings: dict[str, Any]) -> None:
    load = {"transport": "udp", "duration_s": 0.5, "payload_bytes": 1000, "offered_mbps": 4}
    alone = {"stations": [{"name": "A"}], **settings}
    bridge = values(cell("wpa2-psk-ccmp", load, **alone))
    station = values(cell("wpa2-psk-ccmp", load, bridge=None, **alone))
    assert bridge["octets_payload"] == station["octets_payload"] > 1e5
    assert bridge["octets_security"] == station["octets_security"]
    per_frame = 36 if {"edca", "phy"} & set(settings) else 34
    frames = bridge["octets_mac"] / per_frame
    assert frames == round(frames)
    assert bridge["octets_mac"] - station["octets_mac"] == 6 * frames


@pytest.mark.parametrize(
    "policy", ["wpa-psk-tkip", "wpa2-eap-peap-ccmp", "wpa2-psk-ccmp+wireguard"]
)
def test_three_bridges_join_and_carry_both_ways(policy: str) -> None:
    load = {"transport": "tcp", "duration_s": 1, "direction": "both"}
    stations = [{"name": "A"}]
    planned = cell(policy, load, stations=stations, clients=3, authenticate=True, phy="802.11g")
    columns = native(planned).simulate([1])
    assert columns["failure"] == [None]
    rows = zip(columns["metric"], columns["flow"], columns["value"], strict=True)
    rates = {str(flow): float(str(v)) for m, flow, v in rows if m == "throughput_bps" and flow}
    ways = {f"{name}-{way}" for name in ("A", "A2", "A3") for way in ("up", "down")}
    assert set(rates) == ways
    assert all(rate > 1e5 for rate in rates.values())
