"""The tables of the pages on Wi-Fi 7 are those of the studies that the pages name."""

from __future__ import annotations

import math
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from airtoll.plan import make_plan
from airtoll.study import load
from airtoll.testbeds.simulator import Simulator

ROOT = Path(__file__).parents[2]
WIFI7 = "wpa3-sae-ext-gcmp-256"


def rows(page: str, name: str) -> list[list[str]]:
    text = (ROOT / page).read_text("utf-8")
    table = text.split(f"<!-- table: {name} -->\n")[1].split("<!-- end of table -->")[0]
    lines = [line.strip("|").split("|") for line in table.splitlines()]
    return [[cell.strip() for cell in line] for line in lines[2:]]


def throughputs(study: str, scenario: str, policy: str, clients: int) -> list[float]:
    """Throughputs of the planned trials of one cell, bit/s."""
    plan = make_plan(load(ROOT / f"studies/{study}.toml").study, seed=1)
    found = []
    for trial in plan.trials():
        cell = trial.cell
        if (cell.scenario, cell.policy, cell.traffic) != (scenario, policy, "udp"):
            continue
        if dict(cell.factors)["scenario.clients"] != clients:
            continue
        measured = Simulator().measure(trial)
        found.append(
            math.fsum(
                row.value
                for row in measured.rows
                if row.metric == "throughput_bps" and row.flow is None and row.second is None
            )
        )
    return found


@pytest.mark.pages
def test_a_row_of_the_cost_is_that_of_the_planned_trials() -> None:
    for page in ("docs/studies/wifi7.md", "docs/guides/should-i-turn-wpa3-on.md"):
        (row,) = (
            one
            for one in rows(page, "security-of-wifi7")
            if one[:2] == ["802.11be, 2.4 GHz, 20 MHz", WIFI7]
        )
        means = [
            statistics.fmean(throughputs("wifi7", "be-24ghz", policy, 1))
            for policy in ("wpa2-psk-ccmp", WIFI7)
        ]
        assert row[2].split(" ")[0] == f"{100 * (1 - means[1] / means[0]):.2f}"


def test_a_row_of_the_net_cost_is_that_of_the_planned_trials() -> None:
    for policy in ("wpa2-psk-ccmp", WIFI7):
        mean = statistics.fmean(throughputs("staying-on-wpa2", "channel-80", policy, 1))
        for page in ("docs/studies/staying-on-wpa2.md", "docs/guides/should-i-turn-wpa3-on.md"):
            (row,) = (
                one for one in rows(page, "net-of-wpa2") if one[:2] == ["5 GHz, 80 MHz", policy]
            )
            assert row[3].split(" ")[0] == f"{mean / 1e6:.0f}"


def test_wpa2_loses_the_second_link() -> None:
    by = {(row[0], row[1]): row for row in rows("docs/studies/staying-on-wpa2.md", "net-of-wpa2")}
    links = "5 GHz, 80 MHz, and 6 GHz, 160 MHz"
    one, both = by[links, "wpa2-psk-ccmp"], by[links, WIFI7]
    assert (one[2], both[2]) == ("802.11ax, 5 GHz alone", "802.11be, both links")
    for column in (3, 4, 5):
        # WPA2 keeps the throughput of one link.
        kept = float(one[column].split(" ")[0])
        assert kept == pytest.approx(
            float(by["5 GHz, 80 MHz", "wpa2-psk-ccmp"][column].split(" ")[0]), rel=0.01
        )
        assert float(both[column].split(" ")[0]) > 2 * kept


def test_wpa2_loses_more_than_the_security_of_wifi_7_costs() -> None:
    table = rows("docs/studies/staying-on-wpa2.md", "net-of-wpa2")
    by = {(row[0], row[1]): row for row in table}
    assert by["6 GHz, 320 MHz", "wpa2-psk-ccmp"][2:] == ["no association", *["refused"] * 3]
    for channel in ("5 GHz, 80 MHz", "5 GHz, 160 MHz"):
        for column in (3, 4, 5):
            values = [
                float(by[channel, policy][column].split(" ")[0])
                for policy in ("wpa2-psk-ccmp", WIFI7)
            ]
            assert values[1] > values[0]


@pytest.mark.slow
def test_every_table_is_that_of_its_study() -> None:
    done = subprocess.run(
        [sys.executable, "tools/wifi7_pages.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_a_row_of_the_joins_is_that_of_the_planned_trials() -> None:
    page = "docs/studies/joining-a-busy-cell.md"
    (row,) = (
        one for one in rows(page, "join-by-load") if one[:2] == ["802.11a, DCF", "wpa2-psk-ccmp"]
    )
    plan = make_plan(load(ROOT / "studies/joining-a-busy-cell.toml").study, seed=1)
    times = [
        row.value
        for trial in plan.trials()
        if trial.cell.name == "dcf/wpa2-psk-ccmp/download"
        for row in Simulator().measure(trial).rows
        if row.metric == "join_time_s" and row.station is None
    ]
    assert row[5].split(" ")[0] == f"{1e3 * statistics.fmean(times):.1f}"
