"""The cost of checking a large grid: each table validated once, each scenario resolved once."""

from __future__ import annotations

from airtoll.plan import make_plan
from airtoll.run import check
from airtoll.study import load
from airtoll.testbeds import resolve

STUDY = """
[study]
name = "wide"
title = "Two factors"
[scenario.home]
phy = "802.11a"
stations = [{ name = "A" }]
[traffic.udp]
transport = "udp"
duration_s = 0.1
[grid]
policy = ["open", "wpa2-psk-ccmp"]
"scenario.clients" = [1, 2, 3]
"traffic.payload_bytes" = [100, 200]
"""


def test_a_check_resolves_the_scenario_of_each_cell_once(tmp_path, monkeypatch):
    path = tmp_path / "wide.toml"
    # Lengths of its own: no other test has resolved these cells before.
    path.write_text(STUDY.replace("[100, 200]", "[101, 201]"))
    scenario, resolved = resolve.scenario, []

    def counted(cell):
        resolved.append(cell.name)
        return scenario(cell)

    monkeypatch.setattr(resolve, "scenario", counted)
    plan, cells = check(path)
    assert [c.skip for c in cells] == [None] * 12
    assert resolved == [cell.name for cell in plan.cells]


def test_cells_with_equal_levels_share_their_tables(tmp_path):
    path = tmp_path / "wide.toml"
    path.write_text(STUDY)
    cells = make_plan(load(path).study).cells
    assert len({id(cell.settings) for cell in cells}) == 3
    assert len({id(cell.load) for cell in cells}) == 2
    for cell in cells:
        levels = dict(cell.factors)
        assert cell.settings.clients == levels["scenario.clients"]
        assert cell.load.payload_bytes == levels["traffic.payload_bytes"]


SLOW_WIRE = """
[study]
name = "slow"
title = "A cable slower than the air"
[scenario.office]
phy = "802.11ax"
width_mhz = 80
mcs = 9
wired = { rate_mbps = RATE }
stations = [{ name = "A" }]
[traffic.udp]
transport = "udp"
duration_s = 0.1
[traffic.call]
transport = "udp"
application = "voip"
duration_s = 0.1
[grid]
policy = ["open"]
"""


def test_a_cable_that_is_slower_than_the_air_is_named(tmp_path):
    path = tmp_path / "slow.toml"
    path.write_text(SLOW_WIRE.replace("RATE", "100"))
    said = {cell.cell.traffic: cell.warning for cell in check(path)[1]}
    assert "the wired link (100 Mb/s) limits the throughput" in said["udp"]
    assert said["call"] is None  # a call takes what it offers
    path.write_text(SLOW_WIRE.replace("RATE", "1000"))
    assert [cell.warning for cell in check(path)[1]] == [None, None]
