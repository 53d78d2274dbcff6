"""Hand-overs of a study on Linux: what is refused, what the air shows, what the trial does."""

from __future__ import annotations

from airtoll.capture import CaptureReport
from airtoll.study import Scenario, Traffic
from airtoll.testbeds.linux import handover
from airtoll.testbeds.linux.testbed import flow_of
from airtoll.testbeds.linux.timeline import Timeline

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
    move = handover.last_move(timeline, STATION)
    assert move is not None
    return move


def test_the_parts_of_the_gap_are_those_of_the_last_move() -> None:
    move = move_of(moved("4-way", keys_s=0.003))
    assert {v.metric: v.value for v in handover.values(move, "phone")} == {
        "handover_gap_s": 0.03,
        "handover_association_s": 0.002,
        "handover_keys_s": 0.003,
    }


def test_the_way_in_is_read_from_the_air() -> None:
    eap, ft = move_of(moved("eap", "4-way")), move_of(moved("ft"))
    assert handover.problem("full", eap) is None
    assert "eap" in (handover.problem("cached-pmk", eap) or "")
    assert handover.problem("fast-transition", ft) is None
    assert handover.problem("fast-transition", eap)
    assert handover.problem("full", ft)
    assert handover.last_move(moved(), "02:00:00:00:03:00") is None


def test_a_call_is_carried_at_its_codecs_rate() -> None:
    scenario = Scenario.model_validate({"stations": [{"name": "A"}]})
    call = Traffic.model_validate({"transport": "udp", "application": "voip"})
    flow = flow_of(scenario, call)
    assert (flow.payload_octets, flow.offered_bps, flow.direction) == (172, 68_800, "both")
