"""Hand-overs of a study on Linux: what is refused, what the air shows, what the trial does."""

from __future__ import annotations

import pytest

from airtoll.policies import resolve
from airtoll.study import Scenario, Traffic
from airtoll.testbeds.linux import handover
from airtoll.testbeds.linux.testbed import flow_of
from airtoll.testbeds.linux.timeline import Message, Timeline

STATION, OLD, NEW = "02:00:00:00:02:00", "02:00:00:00:00:00", "02:00:00:00:01:00"


def moved(*between: Message, protected: bool = True) -> Timeline:
    """Joined at the old AP at 1 s; left it at 5.000 s and joined the new one at 5.002 s."""
    return Timeline(
        messages=[Message(1.0, "eap", STATION, "success"), *between],
        management=[
            (0.9, STATION, "auth", OLD),
            (0.95, STATION, "assoc", OLD),
            (5.0, STATION, "auth", NEW),
            (5.001, STATION, "auth", NEW),
            (5.002, STATION, "assoc", NEW),
        ],
        data=[
            (4.99, STATION, OLD, protected),
            (5.0005, STATION, OLD, protected),  # the old AP does not know yet
            (5.003, STATION, NEW, False),  # before the keys, or of an open network
            (5.02, STATION, NEW, protected),
        ],
    )


def move_of(timeline: Timeline) -> handover.Move:
    move = handover.last_move(timeline, STATION)
    assert move is not None
    return move


def parts(timeline: Timeline) -> dict[str, float]:
    return {v.metric: v.value for v in handover.values(move_of(timeline), "phone")}


def test_the_parts_of_the_gap_are_those_of_the_last_move() -> None:
    timeline = moved(Message(5.004, "eapol-key", STATION), Message(5.007, "eapol-key", STATION))
    values = parts(timeline)
    assert values == {
        "handover_gap_s": pytest.approx(0.03),
        "handover_association_s": pytest.approx(0.002),
        "handover_keys_s": pytest.approx(0.003),
    }


def test_open_data_ends_the_gap_of_an_open_network() -> None:
    values = parts(moved(protected=False))
    assert values["handover_gap_s"] == pytest.approx(0.013)


def test_the_way_in_is_read_from_the_air() -> None:
    eap = move_of(moved(Message(5.01, "eap", STATION, "response")))
    ft = move_of(moved(Message(5.0, "ft", STATION, "1")))
    assert handover.problem("full", eap) is None
    assert "eap" in (handover.problem("cached-pmk", eap) or "")
    assert handover.problem("fast-transition", ft) is None
    assert handover.problem("fast-transition", eap)
    assert handover.problem("full", ft)
    still = Timeline(management=[(0.9, STATION, "assoc", OLD)])
    assert handover.last_move(still, STATION) is None


@pytest.mark.parametrize(
    ("settings", "policy", "why"),
    [
        ({"method": "pre-authentication"}, "wpa2-eap-tls-ccmp", "pre-authentication"),
        ({"method": "full"}, "wpa2-ft-psk-ccmp", "fast transition wherever it can"),
        ({"scan_ms": 50}, "wpa2-psk-ccmp", "scan"),
        ({}, "ipsec-3des-sha1", "tunnel"),
        ({"path": [2, 1]}, "wpa2-psk-ccmp", "handover.path"),
        ({"method": "pmksa-caching"}, "wpa3-sae-ccmp", "pmksa-caching"),
    ],
)
def test_what_linux_cannot_do_is_said_before(settings, policy, why) -> None:
    scenario = Scenario.model_validate({"stations": [{"name": "A"}], "handover": settings})
    assert why in (handover.why_not(scenario, resolve(policy)) or "")


def test_a_call_is_carried_at_its_codecs_rate() -> None:
    scenario = Scenario.model_validate({"stations": [{"name": "A"}]})
    call = Traffic.model_validate({"transport": "udp", "application": "voip"})
    flow = flow_of(scenario, call)
    assert (flow.payload_octets, flow.offered_bps, flow.direction) == (172, 68_800, "both")
