"""Group-addressed traffic of a study: its senders, its metrics, and the cells that are refused."""

from __future__ import annotations

from typing import Any

import pytest

from airtoll import border
from airtoll.plan import make_plan
from airtoll.study import Study
from airtoll.testbeds.analytic import Analytic
from airtoll.testbeds.linux import capability as linux_capability
from airtoll.testbeds.resolve import scenario
from airtoll.testbeds.simulator import Simulator

LOAD = {"mdns_per_min": 60.0, "arp_per_min": 30.0, "router_arp_per_min": 30.0}
TWO = [{"name": "A"}, {"name": "B"}]
DOWNLOAD = {"direction": "down", "stations": ["A"], "duration_s": 3.0}


def plan_of(policy: str = "wpa2-psk-ccmp", **settings: Any) -> Any:
    load = settings.pop("load", DOWNLOAD)
    data = {
        "study": {"name": "groups", "title": "Groups", "baseline": policy},
        "scenario": {"one": {"clients": 4, "queue_type": "fq_codel"} | settings},
        "traffic": {"load": {"transport": "udp", "duration_s": 3.0} | load},
        "grid": {"scenario": ["one"], "traffic": ["load"], "policy": [policy]},
    }
    return make_plan(Study.model_validate(data), repetitions=1)


def measured(policy: str = "wpa2-psk-ccmp", **settings: Any) -> dict[str, float]:
    plan = plan_of(policy, **settings)
    (cell,) = plan.cells
    testbed = Simulator()
    assert testbed.check(cell) is None
    rows = testbed.measure(plan.trial(cell, 1, 1)).rows
    return {row.metric: row.value for row in rows if row.station is None and row.second is None}


def test_a_load_is_one_sender_per_client_and_kind() -> None:
    (cell,) = plan_of(group_load=LOAD | {"advertisement_s": 200.0}).cells
    sources = scenario(cell).group_traffic
    kinds = [source.message.kind for source in sources]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "mdns": 4,
        "address_request": 8,
        "router_advertisement": 1,
    }
    assert {s.mean_interval_s for s in sources} == {1.0, 2.0, 200.0}
    asked = {(s.node, s.message.target) for s in sources if s.message.kind == "address_request"}
    assert ("A", "server") in asked
    assert ("server", "A4") in asked


def test_without_a_load_nothing_moves() -> None:
    (cell,) = plan_of().cells
    assert '"group":' not in border.to_json(scenario(cell))
    assert "group_traffic" not in border.to_json(scenario(cell))
    silent = measured()
    assert not [metric for metric in silent if metric.startswith("group_")]
    assert measured(group_load={"mdns_per_min": 0}) == silent
    # Ways to pass messages on, and no messages.
    for way in ({"multicast_to_unicast": True}, {"isolation": True, "proxy_arp": True}):
        assert measured(**way) == silent


def test_group_addressed_frames_take_air_from_data() -> None:
    loud = {"mdns_per_min": 600.0, "mdns_bytes": 400}
    silent, shared = measured(), measured(group_load=loud)
    # 40 messages per second: 488 octets at 54 and at 6 Mb/s, an acknowledgement with its space.
    expected = 40 * (96 + 16 + 28 + 676) * 1e-6
    assert shared["group_airtime_share"] == pytest.approx(expected, rel=0.25)
    assert shared["group_delivered_ratio"] == pytest.approx(1.0, abs=0.02)
    lost = 1 - shared["throughput_bps"] / silent["throughput_bps"]
    assert shared["group_airtime_share"] < lost < 2.5 * shared["group_airtime_share"]
    isolated = measured(group_load=loud, isolation=True)
    assert isolated["group_delivered_ratio"] == 0
    assert isolated["group_airtime_share"] < 0.4 * shared["group_airtime_share"]


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (
            {"topology": "station-to-station", "stations": TWO, "isolation": True},
            "forwards nothing between stations",
        ),
        (
            {"per_client_gtk": True, "address_resolution": "dynamic"},
            "set proxy_arp or multicast_to_unicast",
        ),
        ({"bridge": {}, "isolation": True}, "without bridges"),
        ({"bridge": {}, "group_load": LOAD}, "without bridges"),
        ({"topology": "n1", "clients": None, "proxy_arp": True}, "without bridges"),
        ({"group_load": {"mdns_bytes": 100}}, "needs mdns_per_min"),
        (
            {
                "topology": "station-to-station",
                "stations": TWO,
                "group_load": {"advertisement_s": 9.0},
            },
            "need a wired host",
        ),
        ({"dtim_period": 3}, "needs a station that dozes"),
    ],
)
def test_a_field_without_effect_is_refused(settings: dict[str, Any], reason: str) -> None:
    settings = {"load": {}} | settings
    (cell,) = plan_of(**settings).cells
    skip = Simulator().check(cell)
    assert skip is not None
    assert reason in skip.reason


@pytest.mark.parametrize(
    "settings",
    [
        {"group_load": LOAD},
        {"multicast_to_unicast": True},
        {"per_client_gtk": True},
        {"isolation": True},
        {"proxy_arp": True},
    ],
)
def test_other_testbeds_refuse_it(settings: dict[str, Any]) -> None:
    (cell,) = plan_of(clients=2, queue_type="fifo", **settings).cells
    skip = Analytic().check(cell)
    assert skip is not None
    assert "group" in skip.reason or "isolation" in skip.reason
    # Whatever tools this machine has.
    reason = linux_capability.CAPABILITY.why_not(cell)
    assert reason is not None
    assert next(iter(settings)) in reason


def test_stations_that_move_take_their_messages_along() -> None:
    """A hand-over to another access point: both repeat what the wires bring."""
    values = measured(
        clients=2,
        authenticate=True,
        group_load={"mdns_per_min": 300.0},
        handover={"at_s": 1.0},
        load={"direction": "down", "offered_mbps": 1, "duration_s": 4.0},
    )
    assert 0.9 < values["group_delivered_ratio"] <= 1.0
