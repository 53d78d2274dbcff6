"""Requirements name cells, stations and limits of their study, or are refused by check and run."""

from __future__ import annotations

from pathlib import Path

import pytest

from airtoll.errors import StudyError
from airtoll.plan import make_plan
from airtoll.question import required
from airtoll.run.api import prepare
from airtoll.study import parse, with_values

STUDY = """
[study]
name = "limits"
title = "Limits"
[scenario.home]
phy = "802.11g"
clients = 3
stations = [{{ name = "A" }}, {{ name = "B" }}]
[scenario.office]
phy = "802.11g"
[traffic.udp]
transport = "udp"
[grid]
policy = ["open", "wpa2-psk-ccmp", "wpa2-psk-tkip"]
[[exclude]]
scenario = "office"
policy = "wpa2-psk-tkip"
[[require]]
{require}
"""


def plan_of(require: str):
    return make_plan(parse(STUDY.format(require=require), Path("limits.toml")).study)


@pytest.mark.parametrize(
    ("require", "cells"),
    [
        ('metric = "throughput_bps"\nat_least = 1e6', 5),
        ('metric = "throughput_bps"\nat_least = 1e6\nwhere = { scenario = "off*" }', 2),
        ('metric = "throughput_bps"\nat_least = 1e6\nwhere = { policy = "WPA2-PSK-CCMP" }', 2),
        # An open network has no overhead.
        ('metric = "overhead"\nat_most = 0.1', 3),
        ('metric = "delay_s"\nat_most = 0.1\nstation = "B2"\nwhere = { scenario = "home" }', 3),
    ],
)
def test_a_requirement_names_the_cells_that_where_selects(require, cells):
    (one,) = required(plan_of(require))
    assert len(one.cells) == cells


def test_a_change_has_a_place_for_each_scenario():
    require = 'metric = "throughput_bps"\nat_least = -0.1\nfrom = { policy = "open" }'
    (one,) = required(plan_of(require))
    assert [len(place.cells) for place in one.asked.places] == [3, 2]


@pytest.mark.parametrize(
    ("require", "said"),
    [
        ('metric = "throughput_bps"', "names no limit"),
        ('metric = "throughput_bps"\nat_least = 2\nat_most = 1', "no value meets both"),
        ('metric = "speed"\nat_least = 1', "is no metric"),
        ('metric = "throughput_bps"\nat_least = 1\nwhere = { policy = "owe-ccmp" }',
         "is not in the grid"),
        ('metric = "throughput_bps"\nat_least = 1\nwhere = { room = 1 }', "no axis or factor"),
        ('metric = "throughput_bps"\nat_least = 1\n'
         'where = { scenario = "office", policy = "wpa2-psk-tkip" }', "names no cell"),
        ('metric = "throughput_bps"\nat_least = 1\nstation = "C"', "in none of its cells"),
        ('metric = "overhead"\nat_most = 5', "write 0.05 for 5 %"),
        ('metric = "overhead"\nat_most = 0.05\nfrom = { policy = "open" }', "leave `from` out"),
        ('metric = "throughput_bps"\nat_least = -5\nfrom = { policy = "open" }',
         "write -0.05 for 5 %"),
        ('metric = "throughput_bps"\nat_least = 1\nto = { policy = "open" }', "goes with from"),
        ('metric = "throughput_bps"\nat_least = -0.1\nfrom = { policy = "wpa2-psk-tkip" }\n'
         'where = { scenario = "office" }', "no cell with the levels of `from`"),
    ],
)  # fmt: skip
def test_a_requirement_without_a_cell_or_limit_is_refused(tmp_path, require, said):
    (tmp_path / "limits.toml").write_text(STUDY.format(require=require))
    with pytest.raises(StudyError, match="require") as refused:
        prepare(tmp_path / "limits.toml")
    assert said in str(refused.value)


def test_a_smaller_grid_narrows_a_requirement_or_refuses_it():
    require = (
        'metric = "delay_s"\nat_most = 1\nwhere = { policy = ["wpa2-psk-ccmp", "wpa2-psk-tkip"] }'
    )
    file = parse(STUDY.format(require=require), Path("limits.toml"))
    smaller = with_values(file, {"grid.policy": ["open", "wpa2-psk-ccmp"]})
    assert len(required(make_plan(smaller.study))[0].cells) == 2
    with pytest.raises(StudyError, match=r"require\[0\]\.where\.policy"):
        with_values(file, {"grid.policy": ["open"]})
