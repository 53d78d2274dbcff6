"""The tables of ``docs/studies/post-quantum.md`` are those of the studies that the page names."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest
from attrs import evolve

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


def tls_cell(chain: str, delay_ms: int, loss_ratio: float) -> Cell:
    """The cell of EAP-TLS with X25519MLKEM768."""
    wanted = {
        "scenario.join.chain": chain,
        "scenario.join.tls_group": "x25519mlkem768",
        "scenario.radius.delay_ms": delay_ms,
        "scenario.radius.loss_ratio": loss_ratio,
    }
    (cell,) = (
        one
        for one in cells("post-quantum")
        if one.policy == "wpa2-eap-tls-ccmp" and dict(one.factors) == wanted
    )
    return cell


def values(cell: Cell, seed: int = 1) -> dict[str, float] | None:
    """The first station's values of a trial; None where no station joined."""
    trial = Simulator().measure(Trial(cell=cell, number=1, attempt=1, seed=seed))
    if trial.failure is not None:
        return None
    return {row.metric: row.value for row in trial.rows if row.station == "A"}


@pytest.mark.thorough
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


@pytest.mark.pages
@pytest.mark.parametrize("row", table("Join time with loss"), ids=lambda row: row[0])
def test_a_median_with_loss_is_that_of_41_joins(row: list[str]) -> None:
    chain, printed = row
    cell = tls_cell(chain, delay_ms=50, loss_ratio=0.05)
    times = []
    for seed in range(1, 42):
        found = values(cell, seed)
        assert found is not None
        times.append(found["join_time_s"])
    assert statistics.median(times) == pytest.approx(float(printed), abs=0.06)


@pytest.mark.parametrize("row", table("Resumption and compression"), ids=lambda row: row[0])
def test_a_row_of_resumption_and_compression_is_that_of_trials(row: list[str]) -> None:
    chain, *printed = row
    cell = tls_cell(chain, delay_ms=0, loss_ratio=0.0)
    changes = ({}, {"certificate_compression": True}, {"tls_resumption": True})
    for change, messages, octets in zip(changes, printed[::2], printed[1::2], strict=True):
        join = cell.settings.join.model_copy(update=change)
        settings = cell.settings.model_copy(update={"join": join})
        found = values(evolve(cell, settings=settings))
        assert found is not None
        assert found["authentication_messages"] == int(messages)
        assert found["authentication_octets"] == pytest.approx(int(octets.replace(",", "")), abs=6)


@pytest.mark.pages
@pytest.mark.parametrize(
    "row", table("Which chains which server carries"), ids=lambda r: f"{r[0]}-{r[1]}"
)
def test_a_row_of_the_servers_is_that_of_a_trial(row: list[str]) -> None:
    method, chain, fragments, *servers = row
    policy = {"EAP-TLS": "wpa2-eap-tls-ccmp", "PEAP": "wpa2-eap-peap-ccmp"}[method]
    scenarios = ("freeradius-3-2-1", "freeradius-3-2-7", "hostapd")
    for scenario, printed in zip(scenarios, servers, strict=True):
        for fragment in map(int, fragments.split(",")):
            (cell,) = (
                one
                for one in cells("post-quantum-servers")
                if (one.scenario, one.policy) == (scenario, policy)
                and dict(one.factors)["scenario.join.chain"] == chain
                and dict(one.factors)["scenario.join.eap_fragment_bytes"] == fragment
            )
            joined = values(cell) is not None
            assert joined == (printed == "joins"), (scenario, chain, fragment)
