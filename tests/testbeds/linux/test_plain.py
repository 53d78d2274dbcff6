"""Jobs, outcomes and credentials survive the way through JSON; wrong fields are refused by name."""

from __future__ import annotations

import json

import pytest

from airtoll.border.answers import MediumFlowCounts, MediumStatistics
from airtoll.errors import TestbedError
from airtoll.testbeds.linux.conditions import Conditions, Signals, Verdict
from airtoll.testbeds.linux.daemons.credentials import Credentials
from airtoll.testbeds.linux.daemons.mobile_ip import Registered
from airtoll.testbeds.linux.job import Flow, Job, Outcome, Value

JOB = Job(
    name="a",
    policy="open",
    stations=("A", "B"),
    flow=Flow(stations=("A",), offered_bps=1e6),
    simulated=("C", "D"),
    levels_dbm=(("A", -60.0),),
    hidden=(("A", "B"),),
)


FLOW: MediumFlowCounts = {
    "station": "sim1",
    "direction": "up",
    "counted_s": 1.0,
    "offered": 9,
    "delivered": 8,
    "octets": 8 * 1508,
    "attempts": 10,
    "given_up": 1,
    "queue_drops": 0,
    "delay_mean_s": 0.01,
    "delay_longest_s": 0.02,
}

AIR: MediumStatistics = {
    "span_s": 1.0,
    "airtime": True,
    "radios": [],
    "channels": [{"frequency_mhz": 2412, "busy_s": 0.5}],
    "flows": [FLOW],
    "lateness": {"happenings": 1, "mean_s": 0.0, "most_s": 0.0},
    "refused": 0,
    "overruns": 0,
}


def sent(value: Job | Outcome | Credentials) -> dict[str, object]:
    plain: dict[str, object] = json.loads(json.dumps(value.to_json()))
    return plain


def test_values_survive_the_way_through_json(new_credentials: Credentials) -> None:
    outcome = Outcome(
        values=(Value("throughput_bps", 1.0, "bit/s", second=3),),
        conditions=Conditions(
            cpu={"busy": 0.5},
            traffic_window=(1.0, 2.0),
            radio=Signals({"A": {"RSSI": "-50"}}, {"A": {"RSSI": "-51"}}),
            air=AIR,
            verdict=Verdict(1.0, 2.0, None),
            keys={"A": (("CCMP", False),)},
            registrations=(Registered("10.0.0.9", 0, "10.0.0.1", None, 600, 0.1, 0.2),),
            survey={"ap1": ({"frequency_mhz": 2412, "in_use": True},)},
        ),
        keys=({"kind": "tk"},),
        addresses={"A": ("10.0.0.1", "fd00::1")},
    )
    secrets = new_credentials
    assert Job.from_json(sent(JOB)) == JOB
    assert Outcome.from_json(sent(outcome)) == outcome
    assert Credentials.from_json(sent(secrets)) == secrets


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"colour": 1}, "Job: unknown field colour"),
        ({"name": 3}, r"Job.name: 3 is not of type str"),
        ({"levels_dbm": [["A"]]}, r"Job.levels_dbm\[0\]"),
        ({"flow": {"transport": "tcp"}}, "Job.flow: the field"),
    ],
)
def test_a_wrong_field_is_named(change: dict[str, object], said: str) -> None:
    with pytest.raises(TestbedError, match=said):
        Job.from_json({**sent(JOB), **change})


def test_a_word_that_is_none_of_the_allowed_is_named() -> None:
    wrong = Outcome(conditions=Conditions(air={**AIR, "flows": [{**FLOW, "direction": "left"}]}))
    with pytest.raises(TestbedError, match=r"direction: 'left' is none of 'up', 'down'"):
        Outcome.from_json(sent(wrong))
