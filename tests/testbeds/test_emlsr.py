"""One radio for several links (EMLSR), and links of access categories: fields, refusals, trials."""

from __future__ import annotations

import math
from typing import Any

import pytest

from airtoll.plan import Cell, make_plan
from airtoll.study import Study
from airtoll.testbeds.resolve import scenario
from airtoll.testbeds.simulator import Simulator

WIFI7 = "wpa3-sae-ext-gcmp-256"
FIVE: dict[str, Any] = {"band": "5", "width_mhz": 80, "mcs": 9}
SIX: dict[str, Any] = {"band": "6", "width_mhz": 160, "mcs": 9}
ONE_RADIO: dict[str, Any] = {"links": [FIVE, SIX], "mode": "emlsr"}
TWO_RADIOS: dict[str, Any] = {"links": [FIVE, SIX]}


def study_of(policy: str = WIFI7, traffic: dict[str, Any] | None = None, **settings: Any) -> Study:
    load: dict[str, Any] = {"transport": "udp", "direction": "down", "duration_s": 0.2}
    own: dict[str, Any] = {"phy": "802.11be", "mlo": ONE_RADIO, "queue_packets": 4096}
    own["wired"] = {"rate_mbps": 10_000, "delay_us": 50}
    return Study.model_validate(
        {
            "study": {"name": "radio", "title": "Radio", "baseline": policy},
            "scenario": {"one": own | settings},
            "traffic": {"load": load | (traffic or {})},
            "grid": {"scenario": ["one"], "traffic": ["load"], "policy": [policy]},
        }
    )


def cell_of(policy: str = WIFI7, **settings: Any) -> Cell:
    return make_plan(study_of(policy, **settings)).cells[0]


def value(metric: str, traffic: dict[str, Any] | None = None, **settings: Any) -> float:
    """Sum of a metric over the flows of a trial, or its value for the cell."""
    trial = next(iter(make_plan(study_of(traffic=traffic, **settings)).trials()))
    rows = [r for r in Simulator().measure(trial).rows if r.metric == metric and r.second is None]
    of_flows = [row.value for row in rows if row.flow is not None]
    return math.fsum(of_flows or [row.value for row in rows if row.station is None])


def test_a_station_has_one_radio_and_the_access_point_one_for_each_link():
    stations = [{"name": "phone"}, {"name": "laptop", "mlo_mode": "str"}, {"name": "tv", "link": 1}]
    resolved = scenario(cell_of(stations=stations, mlo=ONE_RADIO | {"padding_delay_us": 128}))
    radios = {node.name: node.single_radio for node in resolved.nodes}
    assert radios["phone"] is not None
    assert (radios["phone"].padding_delay_us, radios["phone"].transition_delay_us) == (128, 64)
    assert (radios["laptop"], radios["tv"], radios["ap"]) == (None, None, None)


def test_one_radio_gives_less_than_two_and_more_stations_fill_the_links():
    one = value("throughput_bps")
    two = value("throughput_bps", mlo=TWO_RADIOS)
    padded = value("throughput_bps", mlo=ONE_RADIO | {"padding_delay_us": 256})
    ten = value("throughput_bps", clients=10)
    assert padded < one < 0.9 * two
    assert ten > 1.15 * one


def test_initial_control_frames_take_airtime():
    short = value("airtime_protection_s", mlo=ONE_RADIO | {"padding_delay_us": 0})
    long = value("airtime_protection_s", mlo=ONE_RADIO | {"padding_delay_us": 256})
    assert value("airtime_protection_s", mlo=TWO_RADIOS) == 0
    assert long > 2 * short > 0


def test_a_call_of_one_radio_takes_longer():
    call = {"application": "voip", "direction": "both", "wmm": "voice", "duration_s": 1.0}
    one, two = (value("delay_s", call, mlo=links) for links in (ONE_RADIO, TWO_RADIOS))
    assert one > two


def test_stations_with_one_radio_join_over_two_links():
    trial = next(iter(make_plan(study_of(authenticate=True)).trials()))
    rows = {row.metric: row.value for row in Simulator().measure(trial).rows if row.flow is None}
    assert rows["negotiation_time_s"] > 0


@pytest.mark.parametrize("mode", ["str", "emlsr"])
def test_voice_takes_the_link_that_it_is_mapped_to(mode):
    mapped = TWO_RADIOS | {"mode": mode, "mapping": [{"category": "voice", "links": [2]}]}
    call = {"application": "voip", "direction": "both", "wmm": "voice", "duration_s": 0.5}
    settings: dict[str, Any] = {"mlo": mapped, "beacons": False}
    assert value("busy_link_1_share", call, **settings) == 0
    assert value("busy_link_2_share", call, **settings) > 0
    # Best effort takes both.
    assert value("busy_link_1_share", **settings) > 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mlo": ONE_RADIO | {"padding_delay_us": 100}}, "0, 32, 64, 128 or 256"),
        ({"mlo": ONE_RADIO | {"mapping": [{"category": "voice", "links": [3]}]}}, "1 to 2"),
        ({"mlo": ONE_RADIO | {"mapping": [{"category": "voice", "links": []}]}}, "at least 1"),
        (
            {
                "mlo": ONE_RADIO
                | {
                    "mapping": [
                        {"category": "voice", "links": [1]},
                        {"category": "voice", "direction": "up", "links": [2]},
                    ]
                }
            },
            "one for each direction",
        ),
        ({"stations": [{"name": "A", "link": 1, "mlo_mode": "emlsr"}]}, "all links of mlo"),
        ({"mlo": None, "stations": [{"name": "A", "mlo_mode": "emlsr"}]}, "all links of mlo"),
    ],
)
def test_mistakes_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        study_of(**settings)


def test_delays_of_no_radio_are_refused():
    skip = Simulator().check(cell_of(mlo=TWO_RADIOS | {"transition_delay_us": 128}))
    assert skip is not None
    assert "need a station on several links" in skip.reason
