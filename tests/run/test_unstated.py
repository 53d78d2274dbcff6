"""Settings of an access point, a tool or a link that open readings choose together."""

from __future__ import annotations

from pathlib import Path

import pytest

from airtoll.plan import Cell, make_plan
from airtoll.run import unstated
from airtoll.run.identifying import _Simulation
from airtoll.run.unstated import Option, choose
from airtoll.study.load import parse

_STUDY = """
[study]
name = "two-access-points"
title = "Two access points and two tools"
question = "?"
answers = ["throughput_bps"]
about = "Two access points, two kinds of datagrams"
source = "a test"
[trials]
repetitions = 2
[scenario.one]
about = "the first access point"
topology = "uplink"
phy = "802.11b"
rate_mbps = 2
preamble = "long"
stations = [{ name = "A" }]
ap = { profile = "cisco-1000" }
[scenario.far]
about = "the first access point from another place"
topology = "uplink"
phy = "802.11b"
rate_mbps = 5.5
preamble = "long"
stations = [{ name = "A" }]
ap = { profile = "cisco-1000" }
[scenario.two]
about = "the second access point"
topology = "uplink"
phy = "802.11b"
rate_mbps = 11
preamble = "long"
stations = [{ name = "A" }]
ap = { profile = "linksys-wrt54g" }
[traffic.iperf]
transport = "udp"
duration_s = 1
[traffic.qcheck]
transport = "udp"
duration_s = 1
[grid]
policy = ["open"]
"""
_PLANTED = (
    Option("short preamble", "cisco-1000"),
    Option("datagrams of 1024 octets", "qcheck"),
)


@pytest.fixture(scope="module")
def cells() -> list[Cell]:
    return list(make_plan(parse(_STUDY, Path("two.toml")).study).cells)


def simulate(cell: Cell, setting: unstated.Setting) -> float:
    return _SIMULATION(cell, setting, None, 0.0)


_SIMULATION = _Simulation(1, 1)


def test_settings_of_an_access_point_and_of_a_tool_are_found_together(
    cells: list[Cell], monkeypatch: pytest.MonkeyPatch
):
    names = ("CWmin 7", "short preamble", "datagrams of 1024 octets", "next lower link rate")
    monkeypatch.setattr(unstated, "KINDS", {name: unstated.KINDS[name] for name in names})
    truth = unstated.Chosen(_PLANTED)
    readings = [(cell, 1.003 * simulate(cell, truth.of(cell))) for cell in cells]
    found = choose(readings, simulate)
    assert set(found.options) == set(_PLANTED)
    assert found.compared[0].setting == found.name
    assert found.compared[0].error < 0.01
    # One setting alone is chosen where only one is asked for.
    assert len(choose(readings, simulate, jointly=False).options) == 1
    # Readings that the study's own settings give choose nothing.
    plain = [(cell, simulate(cell, unstated.Chosen().of(cell))) for cell in cells]
    assert choose(plain, simulate).options == ()


def test_one_reading_with_a_cause_of_its_own_does_not_choose_for_the_others(
    cells: list[Cell], monkeypatch: pytest.MonkeyPatch
):
    names = ("short preamble", "300 us per frame in the station's card")
    monkeypatch.setattr(unstated, "KINDS", {name: unstated.KINDS[name] for name in names})
    truth = unstated.Chosen(_PLANTED[:1])
    readings = [(cell, simulate(cell, truth.of(cell))) for cell in cells]
    last, value = readings[-1]
    readings[-1] = (last, 0.85 * value)
    assert choose(readings, simulate).options == _PLANTED[:1]


def test_no_open_reading_chooses_nothing():
    assert choose([], simulate).name == unstated.STATED


def test_an_option_concerns_the_cells_of_its_owner(cells: list[Cell]):
    preamble, datagrams = _PLANTED
    assert {c.scenario for c in cells if preamble.concerns(c)} == {"one", "far"}
    assert {c.traffic for c in cells if datagrams.concerns(c)} == {"qcheck"}
    assert preamble.name == "short preamble (cisco-1000)"
