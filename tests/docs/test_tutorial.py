"""The tutorial's figures are what the commands still give."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from airtoll.report.summary import summarise
from airtoll.run import run

TUTORIAL = Path(__file__).parents[2] / "docs" / "guides" / "tutorial.md"
_COST = re.compile(
    r"^(home/\S+) +([\d.]+) Mb/s(?: +([\d.]+) ± ([\d.]+) %  (\w+))? *$", re.MULTILINE
)


@pytest.fixture(scope="module")
def summary(tmp_path_factory):
    return summarise(run("quickstart", out=tmp_path_factory.mktemp("tutorial") / "run").path)


def test_costs_are_within_their_intervals(summary):
    found = _COST.findall(TUTORIAL.read_text("utf-8"))
    assert len(found) == 9
    for cell, speed, overhead, _half, verdict in found:
        estimate = summary.analysis.estimate(cell, "throughput_bps")
        assert estimate.value / 1e6 == pytest.approx(float(speed), rel=0.005)
        if overhead:
            assert summary.analysis.overhead(cell).contains(float(overhead) / 100)
            row = summary.analysis.comparisons.filter(cell=cell, metric="throughput_bps")
            assert row["verdict"][0] == verdict


def test_both_policies_cost_one_symbol(summary):
    for policy in ("wpa2-psk-ccmp", "wpa3-sae-gcmp-256"):
        rows = summary.decomposition.filter(cell=f"home/{policy}/udp")
        parts = dict(rows.select("part", "value").iter_rows())
        # 4 us of the 394 us (nearly) that a full frame takes in all.
        symbol = parts["airtime_security_s"] + parts["airtime_mac_phy_s"]
        assert symbol == pytest.approx(0.0100, abs=0.0003)
        assert rows["value"].sum() == pytest.approx(
            summary.analysis.overhead(f"home/{policy}/udp").value, abs=1e-4
        )
