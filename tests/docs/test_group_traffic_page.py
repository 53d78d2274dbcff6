"""The tables of the page on group-addressed traffic are those of its study."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest

from airtoll.plan import make_plan
from airtoll.study import load
from airtoll.testbeds.simulator import Simulator

ROOT = Path(__file__).parents[2]
SHARED, COPIES = "one group key, 6 Mb/s", "a key per client, copies"


def rows(name: str) -> dict[str, list[str]]:
    """The rows of a table of the page by their first cell."""
    text = (ROOT / "docs/studies/group-traffic.md").read_text("utf-8")
    table = text.split(f"<!-- table: {name} -->\n")[1].split("<!-- end of table -->")[0]
    lines = [line.strip("|").split("|") for line in table.splitlines()]
    return {line[0].strip(): [cell.strip() for cell in line[1:]] for line in lines[2:]}


def values(place: tuple[str, str], clients: int, metric: str) -> list[float]:
    """A metric of the planned trials of one cell with WPA3."""
    plan = make_plan(load(ROOT / "studies/group-traffic.toml").study, seed=1)
    found = []
    for trial in plan.trials():
        cell = trial.cell
        if (cell.scenario, cell.traffic, cell.policy) != (*place, "wpa3-sae-ccmp"):
            continue
        if dict(cell.factors)["scenario.clients"] == clients:
            measured = Simulator().measure(trial).rows
            found += [row.value for row in measured if row.metric == metric and not row.station]
    return found


@pytest.mark.parametrize(("way", "title"), [("shared", SHARED), ("unicast", COPIES)])
def test_a_row_is_that_of_the_planned_trials(way: str, title: str) -> None:
    share = statistics.fmean(values((way, "idle"), 30, "group_airtime_share"))
    assert rows("groups-air")[title][1] == f"{100 * share:.2f}"


def test_copies_cost_more_air_and_battery_the_more_clients_there_are() -> None:
    table = rows("groups-air")
    assert table.pop("no group-addressed messages")[:3] == ["-"] * 3
    air = {way: [float(cell) for cell in row[:3]] for way, row in table.items()}
    power = {way: [float(cell) for cell in row[3:]] for way, row in rows("groups-delay").items()}
    assert air[COPIES][2] > air[SHARED][2] > air["one group key, 24 Mb/s"][2]
    assert air["isolation, proxy ARP"][2] < air[SHARED][2]
    assert power[COPIES][2] > power[SHARED][2]
