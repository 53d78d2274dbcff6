"""The tables of the pages on transition modes and on batteries are those of their studies."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest

from airtoll.plan import make_plan
from airtoll.policies import resolve
from airtoll.policies.transition import CLIENTS, choice
from airtoll.study import load
from airtoll.testbeds.simulator import Simulator

ROOT = Path(__file__).parents[2]


def rows(page: str, name: str) -> list[list[str]]:
    text = (ROOT / page).read_text("utf-8")
    table = text.split(f"<!-- table: {name} -->\n")[1].split("<!-- end of table -->")[0]
    lines = [line.strip("|").split("|") for line in table.splitlines()]
    return [[cell.strip() for cell in line] for line in lines[2:]]


def values(study: str, place: tuple[str, str, str], metric: str) -> list[float]:
    """The values of the planned trials of one cell."""
    plan = make_plan(load(ROOT / f"studies/{study}.toml").study, seed=1)
    found = []
    for trial in plan.trials():
        cell = trial.cell
        if (cell.scenario, cell.policy, cell.traffic) != place:
            continue
        measured = Simulator().measure(trial).rows
        found += [
            row.value
            for row in measured
            if row.metric == metric and row.flow is None and row.second is None
        ]
    return found


def test_the_choices_are_those_of_the_policies() -> None:
    table = rows("docs/studies/transition-modes.md", "choices-of-clients")
    assert len(table) == 6
    for mode, phy, *shown in table:
        for client, text in zip(CLIENTS, shown, strict=True):
            found = choice(resolve(mode), phy, client)
            expected = "no association" if found is None else f"{found.policy.name} ({found.place})"
            assert text == expected


@pytest.mark.parametrize("client", ["wpa2", pytest.param("wifi7", marks=pytest.mark.pages)])
def test_a_row_of_the_cost_is_that_of_the_planned_trials(client: str) -> None:
    policy = "wpa2-wpa3-psk-compatibility"
    place = (f"{client}-client", policy, "udp")
    table = rows("docs/studies/transition-modes.md", "cost-of-choices")
    (row,) = (one for one in table if one[:2] == [policy, CLIENTS[client].title])
    joins = values("transition-modes", place, "negotiation_time_s")
    assert row[2] == f"{1e3 * statistics.fmean(joins):.2f}"


def test_a_row_of_the_batteries_is_that_of_the_planned_trials() -> None:
    place = ("sensor", "wpa2-psk-ccmp", "wireguard-25s")
    table = rows("docs/studies/always-on-vpn.md", "battery-by-keepalive")
    (row,) = (one for one in table if one[:2] == ["WireGuard, every 25 s", place[1]])
    power = values("always-on-vpn", place, "power_w")
    assert row[4] == f"{1e3 * statistics.fmean(power):.2f}"


def test_keepalives_shorten_the_life_of_a_battery() -> None:
    table = {
        row[0]: row[2:]
        for row in rows("docs/studies/always-on-vpn.md", "battery-by-keepalive")
        if row[1] == "wpa2-psk-ccmp"
    }
    for column in (1, 3):
        hours = [
            float(table[name][column])
            for name in ("none", "WireGuard, every 25 s", "WireGuard, every 10 s")
        ]
        assert hours == sorted(hours, reverse=True)


@pytest.mark.parametrize("policy", ["open", "wpa3-sae-ccmp"])
def test_a_message_waits_half_a_listen_interval(policy: str) -> None:
    table = rows("docs/studies/always-on-vpn.md", "delay-by-listen-interval")
    phone = {int(row[1]): row for row in table if row[0] == "phone" and row[2] == policy}
    for interval, row in phone.items():
        # 60 messages in each of two trials: a standard error of 5 %.
        assert float(row[3]) == pytest.approx(51.2 * interval, rel=0.2)
        assert float(row[4]) <= 102.4 * interval + 2
    assert float(phone[1][5]) < float(phone[3][5]) < float(phone[10][5])


def test_a_row_of_the_tunnels_is_that_of_the_planned_trials() -> None:
    table = rows("docs/studies/tunnel-mtu.md", "throughput-by-tunnel-mtu")
    shown = {tuple(row[:3]): row[3:] for row in table}
    # 1400 octets: WireGuard adds 60, so that 1340 fits and 1420 does not.
    assert shown["1400", "ipsec-aes-gcm", "tcp"][2:] == ["0: stalls", "0: stalls"]
    assert shown["1400", "no tunnel", "tcp"] == ["0: stalls"] * 4
    assert "0: stalls" not in shown["1400", "wireguard", "tcp"]
    assert "0: stalls" not in shown["1400, MSS clamped", "no tunnel", "tcp"]
    plan = make_plan(load(ROOT / "studies/tunnel-mtu.toml").study, seed=1)
    wanted = "path-1400/wpa2-psk-ccmp+wireguard/tcp?scenario.tunnel_mtu_octets=1340"
    rates = [
        row.value
        for trial in plan.trials()
        if trial.cell.name == wanted
        for row in Simulator().measure(trial).rows
        if row.metric == "throughput_bps" and row.flow is None and row.second is None
    ]
    assert shown["1400", "wireguard", "tcp"][1] == f"{statistics.fmean(rates) / 1e6:.1f}"
