"""The study of the guide about traffic and access runs as it is printed."""

import re
from pathlib import Path

import pytest

from airtoll.plan import make_plan
from airtoll.study import parse, with_values
from airtoll.testbeds.resolve import scenario
from airtoll.testbeds.simulator import Simulator

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "cells.md"


@pytest.fixture(scope="module")
def study():
    (text,) = re.findall(r"```toml\n(.*?)```", GUIDE.read_text(), re.S)
    return parse(text, GUIDE)


def test_the_study_of_the_guide_is_carried_out(study):
    short = with_values(study, {"traffic.mixed.duration_s": 0.5})
    plan = make_plan(short.study, repetitions=1)
    assert len(plan.cells) == 6
    testbed = Simulator()
    for cell in plan.cells[:2]:
        assert testbed.check(cell) is None
        rows = testbed.measure(plan.trial(cell, 1, 1)).rows
        flows = {row.flow for row in rows if row.flow}
        assert {"phone-up", "camera-camera-up", "download-laptop-down"} <= flows
        assert {"delay_s", "delay_p99_s"} <= {row.metric for row in rows}


def test_the_guide_states_the_limit_of_video(study):
    # Table 9-155: 3.008 ms for video with OFDM.
    cell = make_plan(study.study).cells[1]
    assert scenario(cell).bss[0].edca_parameters[2].txop_us == 3008
    assert "3008" in GUIDE.read_text()
