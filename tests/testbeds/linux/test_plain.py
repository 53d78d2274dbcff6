"""Jobs, outcomes and credentials survive the way through JSON; wrong fields are refused by name."""

from __future__ import annotations

import json

import pytest

from airtoll.errors import TestbedError
from airtoll.testbeds.linux import credentials
from airtoll.testbeds.linux.credentials import Credentials
from airtoll.testbeds.linux.job import Flow, Job, Outcome, Value

JOB = Job(
    name="a",
    policy="open",
    stations=("A", "B"),
    flow=Flow(stations=("A",), offered_bps=1e6),
    levels_dbm=(("A", -60.0),),
    hidden=(("A", "B"),),
)


def sent(value: Job | Outcome | Credentials) -> dict[str, object]:
    plain: dict[str, object] = json.loads(json.dumps(value.to_json()))
    return plain


def test_values_survive_the_way_through_json() -> None:
    outcome = Outcome(
        values=(Value("throughput_bps", 1.0, "bit/s", second=3),),
        conditions={"cpu": {"busy": 0.5}, "traffic_window": [1.0, 2.0]},
        keys=({"kind": "tk"},),
        addresses={"A": ("10.0.0.1", "fd00::1")},
    )
    secrets = credentials.fresh()
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
