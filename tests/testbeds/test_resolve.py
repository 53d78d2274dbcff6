"""The resolution of a cell: the native code accepts it, whatever the policy and the topology."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

import pytest
from attrs import evolve

from airtoll import _native, border
from airtoll.errors import ProfileError
from airtoll.plan import Cell, make_plan
from airtoll.policies import catalogue
from airtoll.profiles import load as load_profile
from airtoll.study import Scenario, Traffic, load, shipped
from airtoll.testbeds import roaming
from airtoll.testbeds.resolve import native, scenario, station_list, station_policy

POLICIES = [policy.name for policy in catalogue()]


def cell(policy: str = "open", **settings: object) -> Cell:
    traffic = settings.pop("traffic", {"transport": "udp"})
    stations = settings.pop("stations", [{"name": "A"}, {"name": "B"}])
    return Cell(
        scenario="s",
        policy=policy,
        traffic="t",
        factors=(),
        settings=Scenario.model_validate({"stations": stations, **settings}),
        load=Traffic.model_validate(traffic),
    )


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("topology", ["uplink", "downlink", "station-to-station"])
def test_every_policy_resolves(policy: str, topology: str) -> None:
    native(cell(policy, topology=topology)).check()


def with_new_values(cells: Iterable[Cell]) -> Iterator[Cell]:
    """The cells of which each has a scenario, policy, traffic or level that no earlier one has."""
    seen: set[str] = set()
    for planned in cells:
        values = {planned.scenario, planned.policy, planned.traffic, *map(str, planned.factors)}
        if not values <= seen:
            seen |= values
            yield planned


@pytest.mark.parametrize("name", sorted(shipped()))
def test_every_value_of_a_shipped_study_resolves(name: str) -> None:
    resolves(with_new_values(make_plan(load(name).study).cells))


@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(shipped()))
def test_every_shipped_cell_resolves(name: str) -> None:
    resolves(make_plan(load(name).study).cells)


def resolves(cells: Iterable[Cell]) -> None:
    """Fails where the native code refuses one of the cells."""
    for planned in cells:
        policies = [station_policy(planned, one) for one in station_list(planned.settings)]
        if roaming.why_not(planned, policies):
            continue  # a grid crosses all: the run skips this one with the reason
        native(planned).check()


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"phy": "802.11g", "rate_mbps": 55}, "55"),
        ({"phy": "802.11ax", "mcs": 12}, "mcs"),
        ({"phy": "802.11n", "width_mhz": 80}, "width"),
    ],
)
def test_what_the_phy_cannot_do_is_refused_by_name(settings, problem) -> None:
    with pytest.raises(_native.InvalidScenario, match=re.escape(problem)):
        native(cell(**settings)).check()


@pytest.mark.parametrize("topology", ["uplink", "station-to-station", "r1"])
def test_addresses_are_resolved_where_the_study_says_so(topology: str) -> None:
    stations = [{"name": "A"}] if topology == "r1" else [{"name": "A"}, {"name": "B"}]
    known = cell(topology=topology, stations=stations)
    assert "address_resolution" not in border.to_json(scenario(known))
    asks = cell(topology=topology, stations=stations, address_resolution="dynamic")
    assert scenario(asks).address_resolution == "dynamic"
    native(asks).check()


def test_a_study_states_delayed_acknowledgements() -> None:
    traffic = {"transport": "tcp", "delayed_ack_segments": 1, "delayed_ack_ms": 100}
    for flow in scenario(cell(traffic=traffic)).flows:
        assert flow.transport == border.TransportTcp(
            delayed_ack_segments=1, delayed_ack_timeout_ms=100.0
        )
    with pytest.raises(ValueError, match="delayed_ack_ms is for transport = 'tcp'"):
        cell(traffic={"transport": "udp", "delayed_ack_ms": 100})


def test_hosts_have_the_tcp_of_their_profiles_and_flows_only_what_the_study_states() -> None:
    stations = [
        {"name": "A", "profile": "laptop-ubuntu13"},
        {"name": "B", "profile": "laptop-windows8"},
    ]
    resolved = scenario(cell(stations=stations, traffic={"transport": "tcp", "window_kbytes": 64}))
    systems = {node.name: node.host.tcp for node in resolved.nodes}
    assert systems == {"A": "linux-3", "B": "windows-8", "ap": "generic", "server": "generic"}
    for flow in resolved.flows:
        assert flow.transport == border.TransportTcp(window_octets=65_536)


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_lookups_have_the_octets_of_the_study(transport: str) -> None:
    traffic = {"transport": transport, "application": "dns", "query_bytes": 50, "answer_bytes": 90}
    asked = cell(topology="uplink", traffic=traffic)
    (first, _) = scenario(asked).flows
    assert first.pattern.type == "dns"
    assert (first.pattern.query_octets, first.pattern.answer_octets) == (50, 90)
    native(asked).check()


def test_stations_are_repeated_up_to_the_number_of_clients() -> None:
    resolved = scenario(cell(stations=[{"name": "A"}], clients=20))
    names = [node.name for node in resolved.nodes if node.role is border.Role.STATION]
    assert len(names) == len(set(names)) == 20
    assert len(resolved.flows) == 20


def test_signal_levels_and_hidden_pairs_reach_the_radio() -> None:
    stations = [{"name": "A", "rssi_dbm": -52}, {"name": "B", "rssi_dbm": -60}]
    resolved = scenario(cell(stations=stations, hidden=[["A", "B"]]))
    assert resolved.radio.budgets == (
        border.LinkBudget(nodes=("A", "ap"), rssi_dbm=-52.0),
        border.LinkBudget(nodes=("B", "ap"), rssi_dbm=-60.0),
    )
    assert resolved.radio.hidden == (("A", "B"),)


def test_the_text_is_canonical() -> None:
    one, two = border.to_json(scenario(cell())), border.to_json(scenario(cell()))
    assert one == two
    assert one == json.dumps(json.loads(one), sort_keys=True, separators=(",", ":"))


def test_a_profile_gives_its_radio_a_network_card():
    study = load("tripathi2008").study
    cells = [c for c in make_plan(study).cells if dict(c.factors)["profile_set"] == "card"]
    (cell,) = (
        c
        for c in cells
        if c.scenario == "two" and c.policy == "wpa-psk-tkip" and c.traffic == "udp"
    )
    nodes = {node.name: node for node in scenario(cell).nodes}
    assert nodes["ap"].host.nic is None
    assert nodes["server"].host.nic is None
    nic = nodes["A"].host.nic
    assert nic is not None
    assert nic == nodes["C"].host.nic
    costs = {stage.cipher: stage.cost.fixed_ns for stage in nic.stages}
    assert costs[border.CipherSuite.TKIP] == 57_000.0
    assert scenario(cell).bss[0].cca_time_us == 4.0
    assert (nic.overlap, nic.meanwhile) == (border.Overlap.SERIAL, border.Meanwhile.NOTHING)


def test_a_card_may_take_a_time_that_varies(tmp_path):
    file = tmp_path / "varying.toml"
    number = '{ value = 12.5, source = "a trial value" }'
    file.write_text(
        'base = "p4-3.2ghz-rt61"\nabout = "a card"\n[card]\noverlap = "serial"\n'
        f"fetch = {{ frame_us = {number}, random_us = {number} }}\n"
    )
    study = load("tripathi2008").study
    cell = next(c for c in make_plan(study).cells if c.scenario == "single")
    moved = evolve(cell, profile_names=(("p4-3.2ghz-rt61", str(file)),))
    nic = next(n.host.nic for n in scenario(moved).nodes if n.name == "A")
    assert nic is not None
    (stage,) = nic.stages
    assert (stage.cost.fixed_ns, stage.random_ns) == (12_500.0, 12_500.0)


def test_fitted_cards_name_their_readings_and_leave_two_clients_out():
    for name in ("p4-3.2ghz-rt61-card", "pc-1.7ghz-wpc54g-card"):
        profile = load_profile(name)
        assert set(profile.fitted_numbers()) == {
            f"card.cipher.{suite}.frame_us" for suite in ("wep-40", "wep-104", "tkip", "ccmp-128")
        }
        assert {r.configuration for r in profile.seen} == {"single-client"}


def test_devices_space_mpdus_where_their_phy_has_aggregates() -> None:
    devices = {
        "stations": [{"name": "A", "profile": "laptop-ubuntu13"}, {"name": "B"}],
        "ap": {"profile": "tl-wr941nd"},
    }
    ten = (border.CipherDelimiters(cipher=border.CipherSuite.CCMP_128, count=10),)
    n = scenario(cell("wpa2-psk-ccmp", phy="802.11n", mcs=7, **devices))
    spaced = {node.name: (node.mpdu_start_spacing_us, node.cipher_delimiters) for node in n.nodes}
    assert spaced == {"A": (8.0, ten), "B": (0.0, ()), "ap": (8.0, ten), "server": (0.0, ())}
    for without in (
        cell("wpa2-psk-ccmp", phy="802.11g", rate_mbps=54, **devices),
        cell("wpa2-psk-ccmp", phy="802.11n", mcs=7, ampdu_max_octets=0, **devices),
    ):
        assert all(not node.cipher_delimiters for node in scenario(without).nodes)
        native(without).check()


@pytest.mark.parametrize(
    ("radio", "said"),
    [
        ("mpdu_start_spacing_us = { value = 3, source = 'a test' }", "3 is none of"),
        ("cipher_delimiters.tkip = { value = 10, source = 'a test' }", "never in an A-MPDU"),
        ("cipher_delimiters.ccmp-128 = { value = 0.5, source = 'a test' }", "not 1 to 255"),
    ],
)
def test_a_profile_with_an_impossible_spacing_is_refused(tmp_path, radio, said) -> None:
    file = tmp_path / "device.toml"
    file.write_text(f'base = "ideal"\nabout = "a test"\n[radio]\n{radio}\n', "utf-8")
    with pytest.raises(ProfileError, match=said):
        load_profile(str(file))


def test_the_group_of_ikev1_follows_the_policy() -> None:
    join = {"ikev1_group": "modp1536", "ike_group": "x25519"}
    for policy, group in (("ipsec-3des-sha1", 5), ("ipsec-aes-gcm", 31)):
        asked = cell(policy, authenticate=True, join=join)
        assert {one.options.ike_group for one in scenario(asked).associations} == {group}
