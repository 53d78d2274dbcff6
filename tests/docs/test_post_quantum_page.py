"""The tables of ``docs/studies/post-quantum.md`` are those of the studies that the page names."""

from __future__ import annotations

from pathlib import Path

import pytest

from airtoll.plan import Cell, Trial, make_plan
from airtoll.study import load
from airtoll.testbeds.simulator import Simulator

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/studies/post-quantum.md").read_text("utf-8")


def table(heading: str) -> list[list[str]]:
    lines = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0].splitlines()
    rows = [line.strip("|").split("|") for line in lines if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def cells(study: str) -> list[Cell]:
    return list(make_plan(load(ROOT / f"studies/{study}.toml").study, seed=1).cells)


def values(cell: Cell) -> dict[str, float] | None:
    """The first station's values of a trial; None where no station joined."""
    trial = Simulator().measure(Trial(cell=cell, number=1, attempt=1, seed=1))
    if trial.failure is not None:
        return None
    return {row.metric: row.value for row in trial.rows if row.station == "A"}


@pytest.mark.parametrize("row", table("Join time by chain"), ids=lambda row: f"{row[0]}-{row[1]}")
def test_a_row_of_the_join_times_is_that_of_a_trial(row: list[str]) -> None:
    chain, group, messages, octets, near, far = row
    for delay, printed, unit in ((0, near, 1e-3), (50, far, 1.0)):
        wanted = {
            "scenario.join.chain": chain,
            "scenario.join.tls_group": group,
            "scenario.radius.delay_ms": delay,
            "scenario.radius.loss_ratio": 0,
        }
        (cell,) = (
            one
            for one in cells("post-quantum")
            if one.policy == "wpa2-eap-tls-ccmp" and dict(one.factors) == wanted
        )
        found = values(cell)
        assert found is not None
        assert found["authentication_messages"] == int(messages)
        # Signatures of ECDSA have one of three lengths.
        assert found["authentication_octets"] == pytest.approx(int(octets.replace(",", "")), abs=6)
        digits = len(printed.partition(".")[2])
        assert round(found["join_time_s"] / unit, digits) == pytest.approx(
            float(printed), abs=1.5 * 10**-digits
        )


@pytest.mark.parametrize("row", table("Which chains which server carries"), ids=lambda r: r[0])
def test_a_row_of_the_servers_is_that_of_a_trial(row: list[str]) -> None:
    chain, fragments, *servers = row
    scenarios = ("freeradius-old", "freeradius", "hostapd")
    for scenario, printed in zip(scenarios, servers, strict=True):
        for fragment in map(int, fragments.split(",")):
            (cell,) = (
                one
                for one in cells("post-quantum-servers")
                if one.scenario == scenario
                and dict(one.factors)["scenario.join.chain"] == chain
                and dict(one.factors)["scenario.join.eap_fragment_bytes"] == fragment
            )
            joined = values(cell) is not None
            assert joined == (printed == "joins"), (scenario, chain, fragment)
