"""Hand-overs from the study file on: what is asked for, what is refused, what comes of it."""

from __future__ import annotations

import pytest
from attrs import evolve

from airtoll.plan import Cell, Trial
from airtoll.policies import resolve
from airtoll.study import Scenario, Traffic
from airtoll.testbeds.resolve import scenario
from airtoll.testbeds.roaming import NEXT_AP, SWITCH
from airtoll.testbeds.simulator import Simulator

CALL = {"transport": "udp", "application": "voip", "direction": "both", "duration_s": 1.0}
WALKER: dict[str, object] = {"stations": [{"name": "phone", "position_m": [2, 1]}]}
MOBILE_IP: dict[str, object] = {"join": {"mobile_ip": "home"}}
LISTENS: dict[str, dict[str, object]] = {
    "join": {"mobile_ip": "home", "movement_detection": "lifetime"}
}
PARTS = ("scan", "association", "eap", "keys", "mobile_ip", "tunnel", "wait")


def cell(policy: str, handover: dict[str, object], **settings: object) -> Cell:
    given = {
        "stations": [{"name": "phone", "rssi_dbm": -60}],
        "authenticate": True,
        "radius": {"delay_ms": 5},
        "handover": {"at_s": 0.507, **handover},
        **settings,
    }
    return Cell(
        scenario="s",
        policy=resolve(policy).name,
        traffic="t",
        factors=(),
        settings=Scenario.model_validate(given),
        load=Traffic.model_validate(CALL),
    )


def measured(of: Cell) -> dict[str, float]:
    trial = Simulator().measure(Trial(cell=of, number=1, attempt=1, seed=1))
    assert trial.failure is None
    return {row.metric: row.value for row in trial.rows if row.station == "phone"}


def test_the_second_access_point_is_next_to_the_first() -> None:
    resolved = scenario(cell("wpa2-eap-peap-ccmp", {"scan_ms": 40}))
    names = [node.name for node in resolved.nodes]
    assert names.count(NEXT_AP) == names.count(SWITCH) == 1
    first, second = resolved.bss
    assert first.channel != second.channel
    assert [b.rssi_dbm for b in resolved.radio.budgets] == [-60, -60]
    assert (NEXT_AP, SWITCH) in [link.nodes for link in resolved.links]
    (handover,) = resolved.handovers
    assert (handover.at_s, handover.scan_s) == (0.507, 0.04)


@pytest.mark.parametrize(
    ("policy", "handover", "settings", "words"),
    [
        ("wpa2-psk-ccmp", {"method": "fast-transition"}, {}, "no FT AKM"),
        ("wpa2-psk-ccmp", {"method": "fast-transition-ds"}, {}, "no FT AKM"),
        ("wpa2-ft-psk-ccmp", {"method": "fast-transition-ds", "scan_ms": 5}, {}, "scan_ms"),
        ("wpa2-psk-ccmp", {"method": "cached-pmk"}, {}, "no PMK to cache"),
        ("open", {"method": "cached-pmk"}, {}, "no PMK to cache"),
        ("wpa3-sae-ccmp", {"method": "pre-authentication"}, {}, "no EAP"),
        ("8021x-tls", {"method": "pre-authentication"}, {}, "no RSN"),
        ("wpa2-ft-eap-tls-ccmp", {"method": "pre-authentication"}, {}, "FT AKM"),
        ("wpa2-ft-psk-ccmp", {"method": "fast-transition-ds", "scan": {}}, {}, "no scan"),
        ("open", {"scan": {}, "scan_ms": 4}, {}, "leave one of them out"),
        ("open", {"walk": {}}, {}, "position_m"),
        ("open", {"walk": {}}, WALKER | {"rssi_dbm": -60}, "without rssi_dbm"),
        ("wpa2-eap-peap-ccmp", {"walk": {}, "method": "pre-authentication"}, WALKER, "walks"),
        ("open", {"at_s": 3.0}, {}, "after the traffic's end"),
        ("open", {}, {"authenticate": False}, "authenticate = true"),
        ("open", {}, {"topology": "r1"}, "two-domain"),
        ("open", {"path": [2, 2]}, {}, "another AP than it is at"),
        ("open", {"path": [1]}, {}, "another AP than it is at"),
        ("open", {"path": [2, 1]}, {}, "at 1.507 s comes after"),
        ("wpa2-psk-ccmp", {"method": "pmksa-caching"}, {}, "no PMK to cache"),
        ("open", {"tunnel": "mobike"}, {}, "no tunnel that could move"),
        ("wpa2-psk-ccmp+wireguard", {"tunnel": "mobike"}, {}, "IKEv2"),
        ("wpa2-psk-ccmp+ipsec-3des-sha1", {"tunnel": "mobike"}, {}, "IKEv2"),
        ("wpa2-psk-ccmp+ipsec-aes-gcm", {"tunnel": "roams"}, {}, "WireGuard"),
        ("wpa2-psk-ccmp+ipsec-aes-gcm", {"tunnel": "stays"}, {}, "without Mobile IP"),
        ("wpa2-psk-ccmp+ipsec-aes-gcm", {"tunnel": "mobike"}, MOBILE_IP, "home address"),
        ("wpa2-psk-ccmp", {"return_routability": True}, {}, "check of MOBIKE"),
        ("open", {"mobile_ip": "foreign"}, {}, "leads away from home"),
        ("open", {}, {"join": {"advertisement_s": 1}}, "Mobile IP's agents"),
        ("open", {"stations": 2}, {}, "the scenario has 1"),
        ("open", {"stations": 9, "stagger_s": 0.1}, {"clients": 9}, "at 1.307 s comes after"),
        ("open", {"walk": {}, "stations": 2, "stagger_s": 2}, WALKER | {"clients": 2}, "begins"),
        ("open", {}, LISTENS, "advertisements that run out"),
        ("open", {}, {"join": {**LISTENS["join"], "advertisement_s": 1}}, "another agent"),
    ],
)
def test_what_cannot_be_done_is_skipped_with_the_reason(
    policy: str, handover: dict[str, object], settings: dict[str, object], words: str
) -> None:
    skip = Simulator().check(cell(policy, handover, **settings))
    assert skip is not None
    assert words in skip.reason


def test_parts_add_up_and_a_fast_transition_is_shorter() -> None:
    joins = {}
    for method in ("full", "cached-pmk", "fast-transition"):
        rows = measured(cell("wpa2-ft-eap-tls-ccmp", {"method": method}))
        parts = sum(rows.get(f"handover_{part}_s", 0.0) for part in PARTS)
        assert parts == pytest.approx(rows["handover_gap_s"], abs=1e-9)
        joins[method] = rows["handover_join_s"]
    assert joins["fast-transition"] < joins["cached-pmk"] < joins["full"] / 10


def test_eap_before_leaving_costs_the_call_nothing() -> None:
    full = measured(cell("wpa2-eap-peap-ccmp", {}))
    ahead = measured(cell("wpa2-eap-peap-ccmp", {"method": "pre-authentication"}))
    assert "handover_eap_s" not in ahead
    # Nine round trips to a server 5 ms away, whichever way the station's packets go.
    assert ahead["preauthentication_time_s"] > 0.09
    assert ahead["preauthentication_messages"] == full["handover_messages"] - 8
    assert ahead["handover_packets_lost"] == 0 < full["handover_packets_lost"]
    hurried = measured(cell("wpa2-eap-peap-ccmp", {"method": "pre-authentication", "ahead_ms": 20}))
    assert "preauthentication_time_s" not in hurried
    assert hurried["handover_eap_s"] == pytest.approx(full["handover_eap_s"], rel=0.05)


def test_who_must_look_for_the_access_point_is_away_longer() -> None:
    known = measured(cell("wpa2-psk-ccmp", {}))
    looked = measured(cell("wpa2-psk-ccmp", {"scan_ms": 300}))
    assert looked["handover_gap_s"] - known["handover_gap_s"] == pytest.approx(0.3, abs=0.02)
    assert looked["handover_packets_lost"] > known["handover_packets_lost"]
    assert looked["voice_mos"] < known["voice_mos"]


def test_over_the_ds_asks_before_it_leaves() -> None:
    air = measured(cell("wpa2-ft-eap-tls-ccmp", {"method": "fast-transition"}))
    ds = measured(cell("wpa2-ft-eap-tls-ccmp", {"method": "fast-transition-ds"}))
    assert ds["handover_messages"] == air["handover_messages"] + 2
    assert 0 < ds["handover_join_s"] < air["handover_join_s"]
    assert ds["handover_request_s"] > 0
    assert "handover_request_s" not in air
    parts = sum(ds.get(f"handover_{part}_s", 0.0) for part in PARTS)
    assert parts == pytest.approx(ds["handover_gap_s"], abs=1e-9)


def test_a_walking_station_leaves_by_level_and_scans_with_frames() -> None:
    walk = {"speed_m_s": 6, "threshold_dbm": -72, "hysteresis_db": 6}
    scan = {"channels": 5, "min_channel_ms": 10, "max_channel_ms": 20}
    of = cell("wpa2-psk-ccmp", {"walk": walk, "scan": scan}, **WALKER, rate_control="minstrel")
    resolved = scenario(of)
    assert resolved.radio.budgets == ()
    places = {node.name: node.position_m for node in resolved.nodes}
    assert (places["phone"], places[NEXT_AP]) == ((2.0, 1.0, 0.0), (60.0, 0.0, 0.0))
    longer = evolve(of, load=of.load.model_copy(update={"duration_s": 11.0}))
    rows = measured(longer)
    assert rows["handover_old_level_dbm"] < -72
    assert rows["handover_new_level_dbm"] >= rows["handover_old_level_dbm"] + 6
    # Four silent channels and one where the access point answers.
    assert 0.06 < rows["handover_scan_s"] < 0.066
    parts = sum(rows.get(f"handover_{part}_s", 0.0) for part in PARTS)
    assert parts == pytest.approx(rows["handover_gap_s"], abs=1e-9)


def test_addresses_that_a_station_learned_go_with_it() -> None:
    told, asked = (
        measured(cell("wpa2-psk-ccmp", {}, address_resolution=way)) for way in ("static", "dynamic")
    )
    assert asked["handover_messages"] == told["handover_messages"]
    assert asked["handover_join_s"] == pytest.approx(told["handover_join_s"], rel=0.2)
    assert asked["handover_gap_s"] < 0.05


@pytest.mark.parametrize(
    ("tunnel", "handover", "settings", "messages"),
    [
        ("ipsec-aes-gcm", {}, {}, 4),
        ("ipsec-aes-gcm", {"tunnel": "mobike"}, {}, 2),
        ("ipsec-aes-gcm", {"tunnel": "mobike", "return_routability": True}, {}, 4),
        ("ipsec-aes-gcm", {"tunnel": "stays"}, MOBILE_IP, 0),
        ("wireguard", {}, {}, 3),
        ("wireguard", {"tunnel": "roams"}, {}, 0),
    ],
)
def test_a_tunnel_takes_the_messages_of_its_way_to_move(
    tunnel: str, handover: dict[str, object], settings: dict[str, object], messages: int
) -> None:
    rows = measured(cell(f"wpa2-psk-ccmp+{tunnel}", handover, **settings))
    assert rows["handover_tunnel_messages"] == messages
    assert (rows["handover_tunnel_octets"] > 0) == (messages > 0)
    assert ("handover_tunnel_s" in rows) == (messages > 0)
    parts = sum(rows.get(f"handover_{part}_s", 0.0) for part in PARTS)
    assert parts == pytest.approx(rows["handover_gap_s"], abs=1e-9)
    if messages == 4:
        return
    # Of a packet each 20 ms one at most goes to the old access point while the station is away.
    assert rows["handover_gap_s"] < 0.04
    assert rows["handover_packets_lost"] <= 1


def test_a_station_walks_on_and_comes_back() -> None:
    path = {"path": [2, 3, 1], "at_s": 0.1, "every_s": 0.3, "method": "pmksa-caching"}
    of = cell("wpa3-sae-ccmp", path)
    resolved = scenario(of)
    first, *further = [bss.name for bss in resolved.bss]
    assert [h.bss for h in resolved.handovers] == [*further, first]
    assert [n.name for n in resolved.nodes if n.role == "station"] == ["phone"]
    assert len({bss.channel for bss in resolved.bss}) == 3
    trial = Simulator().measure(Trial(cell=of, number=1, attempt=1, seed=1))
    assert trial.failure is None
    messages = [row.value for row in trial.rows if row.metric == "handover_messages"]
    # Two access points that do not know the station, one that does, and the mean.
    assert messages == [10, 10, 8, pytest.approx(28 / 3)]
    rows = {row.metric: row.value for row in trial.rows if row.station == "phone"}
    assert rows["handovers"] == 3
    parts = sum(rows.get(f"handover_{part}_s", 0.0) for part in PARTS)
    assert parts == pytest.approx(rows["handover_gap_s"], abs=1e-9)


def test_a_walk_past_three_access_points_and_back() -> None:
    walk = {"to_m": [120, 1], "speed_m_s": 20, "threshold_dbm": -72, "hysteresis_db": 6}
    walk["back"] = True
    given = {"walk": walk, "path": [2, 3, 2, 1], "again_s": 0.2}
    of = cell("wpa2-psk-ccmp", given, **WALKER, rate_control="minstrel")
    longer = evolve(of, load=of.load.model_copy(update={"duration_s": 12.0}))
    resolved = scenario(longer)
    places = {n.name: n.position_m for n in resolved.nodes}
    assert places["ap-3"] == (120.0, 0.0, 0.0)
    assert resolved.handovers[0].position_m == resolved.handovers[2].position_m == (60.0, 1.0, 0.0)
    assert resolved.handovers[3].position_m is None
    trial = Simulator().measure(Trial(cell=longer, number=1, attempt=1, seed=1))
    assert trial.failure is None
    rows = [row for row in trial.rows if row.metric == "handover_left_s"]
    left = [row.value for row in rows if row.second is not None]
    assert len(left) == 4
    assert [int(at) for at in left] == [row.second for row in rows if row.second is not None]
    # 12 s are there and back: as far from the turn on both ways.
    assert left == sorted(left)
    assert left[2] > 6 > left[1]


def test_a_station_abroad_finds_out_late_that_it_is() -> None:
    joins = {"mobile_ip": "home", "advertisement_s": 0.1}
    rows = {}
    for detection in ("link", "lifetime"):
        of = cell(
            "wpa2-psk-ccmp+ipsec-aes-gcm",
            {"mobile_ip": "foreign", "tunnel": "stays"},
            join={**joins, "movement_detection": detection},
        )
        longer = evolve(of, load=of.load.model_copy(update={"duration_s": 3.0}))
        resolved = scenario(longer)
        agents = [(a.node, a.foreign) for a in resolved.mobility_agents]
        assert agents == [("server", False), (NEXT_AP, True)]
        rows[detection] = measured(longer)
    link, lifetime = rows["link"], rows["lifetime"]
    assert "handover_movement_s" not in link
    # Valid for a second, and heard every tenth of one.
    assert 0.89 < lifetime["handover_movement_s"] < 1.0
    more = lifetime["handover_mobile_ip_s"] - link["handover_mobile_ip_s"]
    assert more == pytest.approx(lifetime["handover_movement_s"], abs=0.02)
    assert lifetime["handover_tunnel_messages"] == link["handover_tunnel_messages"] == 0


def test_several_stations_leave_one_after_another_by_the_same_path() -> None:
    group = cell(
        "open", {"stations": 3, "stagger_s": 0.05, "path": [2, 1], "every_s": 0.2}, clients=4
    )
    departures = [(one.station, one.bss, one.at_s) for one in scenario(group).handovers]
    first, *others = (at_s for _, _, at_s in departures)
    assert first == 0.507
    assert others == pytest.approx([0.707, 0.557, 0.757, 0.607, 0.807])
    assert [name for name, _, _ in departures] == [
        name for name in ("phone", "phone2", "phone3") for _ in range(2)
    ]
    levels = scenario(group).radio.budgets
    assert {b.nodes for b in levels if b.nodes[1] == NEXT_AP} == {
        (name, NEXT_AP) for name in ("phone", "phone2", "phone3")
    }


def test_one_of_several_stations_has_the_scenario_of_a_lone_one() -> None:
    alone = scenario(cell("wpa2-eap-peap-ccmp", {}))
    assert scenario(cell("wpa2-eap-peap-ccmp", {"stations": 1, "stagger_s": 3.0})) == alone


def test_each_of_several_stations_has_parts_that_add_up() -> None:
    group = cell("wpa2-eap-peap-ccmp", {"stations": 3, "stagger_s": 0.01}, clients=3)
    trial = Simulator().measure(Trial(cell=group, number=1, attempt=1, seed=1))
    assert trial.failure is None
    for station in ("phone", "phone2", "phone3"):
        rows = {row.metric: row.value for row in trial.rows if row.station == station}
        parts = sum(rows.get(f"handover_{part}_s", 0.0) for part in PARTS)
        assert parts == pytest.approx(rows["handover_gap_s"], abs=1e-9)


def test_walks_of_several_stations_begin_one_after_another() -> None:
    group = cell("open", {"walk": {}, "stations": 2, "stagger_s": 0.4}, **WALKER, clients=2)
    walks = [one.walk for one in scenario(group).handovers]
    assert [walk.begin_s for walk in walks if walk] == [0.0, 0.4]
    assert all("phone" not in budget.nodes[0] for budget in scenario(group).radio.budgets)
