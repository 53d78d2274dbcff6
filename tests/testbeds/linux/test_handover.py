"""Hand-overs of a study on Linux: what is refused, what the air shows, what the trial does."""

from __future__ import annotations

import math

import pytest
from attrs import evolve

from airtoll.capture import CaptureReport
from airtoll.plan.levels import level_dbm
from airtoll.study import Scenario, Traffic
from airtoll.testbeds.linux.conditions import Departure
from airtoll.testbeds.linux.testbed import flow_of, walk_of
from airtoll.testbeds.linux.timeline import Timeline
from airtoll.testbeds.linux.trial import association, handover
from airtoll.testbeds.linux.walking import Walk

STATION, OLD, NEW = "02:00:00:00:02:00", "02:00:00:00:00:00", "02:00:00:00:01:00"


def moved(*negotiated: str, keys_s: float | None = None) -> Timeline:
    """Two moves of the station; the last one is to the new AP."""
    roam = {
        "station": STATION,
        "from": OLD,
        "to": NEW,
        "handover_gap_s": 0.03,
        "handover_association_s": 0.002,
        "handover_eap_s": None,
        "handover_keys_s": keys_s,
        "negotiated": list(negotiated),
    }
    roams = [{**roam, "handover_gap_s": 9.0}, roam]
    return Timeline(CaptureReport({"sessions": [], "roams": roams}))


def move_of(timeline: Timeline) -> handover.Move:
    (move,) = handover.moves_of(timeline, STATION, 1)
    return move


def test_the_parts_of_the_gap_are_those_of_the_last_move() -> None:
    move = move_of(moved("4-way", keys_s=0.003))
    found = handover.values([(Departure(1.0), move)], "phone")
    assert {v.metric: v.value for v in found} == {
        "handover_gap_s": 0.03,
        "handover_association_s": 0.002,
        "handover_keys_s": 0.003,
    }
    assert {v.second for v in found} == {None}


def test_several_hand_overs_have_rows_each_and_means() -> None:
    first, second = handover.moves_of(moved("4-way"), STATION, 2)
    keys = evolve(second, keys_s=0.004)
    found = handover.values(
        [(Departure(1.2), first), (Departure(2.9, 3, -80.0, -60.0), keys)], "phone"
    )
    rows = {(v.metric, v.second): v.value for v in found}
    assert rows["handover_gap_s", 1] == 9.0
    assert rows["handover_gap_s", 2] == 0.03
    assert rows["handover_gap_s", None] == pytest.approx(4.515)
    assert rows["handovers", None] == 2
    # A part that one of them did not have counts as zero; other metrics are of those that have it.
    assert rows["handover_keys_s", None] == pytest.approx(0.002)
    assert rows["handover_scans", None] == rows["handover_scans", 2] == 3
    assert rows["handover_old_level_dbm", 2] == -80
    assert handover.values([], "phone") == []


def test_the_way_in_is_read_from_the_air() -> None:
    eap, ft = move_of(moved("eap", "4-way")), move_of(moved("ft"))
    cached = move_of(moved("4-way"))
    assert handover.problem("full", eap) is None
    assert "eap" in (handover.problem("cached-pmk", eap) or "")
    assert handover.problem("fast-transition", ft) is None
    assert handover.problem("fast-transition", eap)
    assert handover.problem("full", ft)
    assert handover.problem("pmksa-caching", eap) is None
    assert handover.problem("pmksa-caching", eap, visited=True)
    assert handover.problem("pmksa-caching", cached, visited=True) is None
    assert handover.problem("pmksa-caching", cached)
    assert handover.moves_of(moved(), "02:00:00:00:03:00", 2) == []


def test_access_points_have_channels_of_their_own() -> None:
    assert [association.channel_of(1, 20, n) for n in range(3)] == [1, 6, 11]
    assert [association.channel_of(36, 20, n) for n in range(4)] == [36, 40, 44, 48]
    assert [association.channel_of(36, 40, n) for n in range(4)] == [36, 44, 149, 157]
    assert [association.channel_of(36, 80, n) for n in range(2)] == [36, 149]
    assert association.channel_of(100, 20, 1) == 104


WALK = Walk(
    begin_m=(5.0, 0.0),
    end_m=(65.0, 0.0),
    back=True,
    speed_m_s=1.5,
    access_points_m=((0.0, 0.0), (80.0, 0.0)),
    at_one_metre_dbm=-40.0,
    exponent=3.0,
    threshold_dbm=-70.0,
    hysteresis_db=8.0,
    again_s=1.0,
)


def test_a_walk_goes_there_and_back() -> None:
    assert [WALK.position_m(at_s)[0] for at_s in (0.0, 10.0, 40.0, 50.0, 80.0, 99.0)] == [
        5.0,
        20.0,
        65.0,
        50.0,
        5.0,
        5.0,
    ]
    assert evolve(WALK, back=False).position_m(99.0) == (65.0, 0.0)
    assert evolve(WALK, end_m=WALK.begin_m).position_m(9.0) == WALK.begin_m


def test_levels_follow_the_position() -> None:
    near, far = WALK.levels_dbm(10.0)
    assert near == pytest.approx(-40 - 30 * math.log10(20))
    assert far == pytest.approx(-40 - 30 * math.log10(60))
    # Nearer than a metre a level rises no further.
    assert evolve(WALK, begin_m=(0.1, 0.0)).levels_dbm(0.0)[0] == -40


def test_a_walk_of_a_study_has_the_levels_of_the_simulator() -> None:
    station = {"name": "A", "position_m": [5.0, 0.0]}
    scenario = Scenario.model_validate(
        {
            "phy": "802.11a",
            "stations": [station],
            "handover": {"walk": {}, "path": [2, 3], "next_ap_m": [80.0, 0.0]},
        }
    )
    walk = walk_of(scenario)
    assert walk is not None
    assert walk.access_points_m == ((0.0, 0.0), (80.0, 0.0), (160.0, 0.0))
    assert walk.levels_dbm(0.0)[0] == pytest.approx(level_dbm(scenario, scenario.stations[0]))
    assert walk_of(Scenario.model_validate({"stations": [station]})) is None


def test_a_call_is_carried_at_its_codecs_rate() -> None:
    scenario = Scenario.model_validate({"stations": [{"name": "A"}]})
    call = Traffic.model_validate({"transport": "udp", "application": "voip"})
    flow = flow_of(scenario, call)
    assert (flow.payload_octets, flow.offered_bps, flow.direction) == (172, 68_800, "both")
