"""Labels of scenarios and traffics under values of the command line."""

from __future__ import annotations

from airtoll.study import load, with_values


def test_a_value_takes_away_a_label_that_states_a_number():
    file = load("quickstart")
    assert "1472" in file.study.traffic["udp"].label
    other = with_values(file, {"traffic.udp.payload_bytes": 72}).study
    assert other.traffic["udp"].label == ""
    assert other.traffic["tcp"].label == file.study.traffic["tcp"].label
    named = {"traffic.udp.payload_bytes": 72, "traffic.udp.label": "UDP, 72 octets"}
    assert with_values(file, named).study.traffic["udp"].label == "UDP, 72 octets"
