"""Labels of scenarios and traffics under values of the command line."""

from __future__ import annotations

import pytest

from airtoll.errors import StudyError
from airtoll.study import load, with_values


def test_a_label_follows_a_value_that_it_states():
    file = load("quickstart")
    assert "1472" in file.study.traffic["udp"].label
    other = with_values(file, {"traffic.udp.payload_bytes": 72}).study
    assert other.traffic["udp"].label == "UDP, 72 octets"
    assert other.traffic["tcp"].label == file.study.traffic["tcp"].label
    named = {"traffic.udp.payload_bytes": 72, "traffic.udp.label": "small datagrams"}
    assert with_values(file, named).study.traffic["udp"].label == "small datagrams"
    # A label whose number follows from the value in another way names the value.
    sensor = load("esp32-battery")
    seldom = with_values(sensor, {"scenario.quarter.duty.joins_per_day": 48}).study
    assert sensor.study.scenario["quarter"].label == "a join every 15 minutes"
    assert seldom.scenario["quarter"].label == "quarter, joins_per_day 48"


def test_texts_that_state_a_replaced_number_follow_or_go():
    file = load("enterprise-move")
    assert "50 clients" in file.study.study.about
    other = with_values(file, {"scenario.campus.clients": 400}).study
    assert other.study.about == other.scenario["campus"].about == ""
    assert other.study.leaves_out == file.study.study.leaves_out
    queue = load("gheryani2013-queue")
    offered = next(name for name, one in queue.study.traffic.items() if one.offered_mbps == 14)
    asked = with_values(queue, {f"traffic.{offered}.offered_mbps": 8}).study.study
    assert asked.question == f"{queue.study.study.question} (offered_mbps 8)"
    # The length of a trial is no part of what a study asks.
    longer = with_values(queue, {f"traffic.{offered}.duration_s": 90}).study.study
    assert longer.question == queue.study.study.question


def test_a_value_goes_to_a_table_of_a_list_and_to_every_scenario():
    file = load("esp32-battery")
    for key in ("scenario.quarter.stations.A.battery_wh", "scenario.quarter.stations.0.battery_wh"):
        found = with_values(file, {key: 7.4}).study.scenario
        others = [one for name, one in found.items() if name != "quarter"]
        assert found["quarter"].stations[0].battery_wh == 7.4
        assert {one.stations[0].battery_wh for one in others} == {3.7}
    every = with_values(file, {"scenario.*.stations.A.battery_wh": 7.4}).study.scenario
    assert {one.stations[0].battery_wh for one in every.values()} == {7.4}
    with pytest.raises(StudyError, match="no 'B'; there are A"):
        with_values(file, {"scenario.quarter.stations.B.battery_wh": 7.4})
    with pytest.raises(
        StudyError, match=r"name a table of it: A \(scenario\.quarter\.stations\.A\.b"
    ):
        with_values(file, {"scenario.quarter.stations.battery_wh": 7.4})
    with pytest.raises(StudyError, match="set a key of '0'"):
        with_values(file, {"scenario.quarter.stations.0": 7.4})


def test_a_label_says_a_value_that_tells_scenarios_apart_that_were_alike():
    file = load("esp32-battery")
    labels = {name: one.label for name, one in file.study.scenario.items()}

    def under(values):
        found = with_values(file, values).study.scenario
        return {name: one.label for name, one in found.items() if one.label != labels[name]}

    one = {"scenario.hourly.stations.A.battery_wh": 7.4}
    assert under(one) == {"hourly": "a join every hour, battery_wh 7.4"}
    two = {**one, "scenario.dtim.stations.0.battery_wh": 14.8}
    assert under(two) == {
        "hourly": "a join every hour, battery_wh 7.4",
        # Too long with its whole label.
        "dtim": "dtim, battery_wh 14.8",
    }
    # The labels of all scenarios say a value that one of them has to say.
    every = under({"scenario.*.stations.A.battery_wh": 7.4})
    assert set(every) == set(labels)
    assert all(label.endswith("battery_wh 7.4") for label in every.values())
    assert under({"scenario.hourly.stations.A.battery_wh": 3.7}) == {}
    kept = under({"scenario.hourly.join.cached_pmk": True})
    assert kept == {"hourly": "a join every hour, cached_pmk true"}
    # A scenario alone in the grid has no other to be mistaken for.
    assert under({**one, "grid.scenario": ["hourly"]}) == {}
