"""The tutorial shows the present output of its commands."""

from __future__ import annotations

import difflib
import importlib.util
from pathlib import Path

import pytest

from airtoll.report.summary import summarise
from airtoll.run import run

ROOT = Path(__file__).parents[2]
TUTORIAL = ROOT / "docs" / "guides" / "tutorial.md"


@pytest.fixture(scope="module")
def summary(tmp_path_factory):
    return summarise(run("quickstart", out=tmp_path_factory.mktemp("tutorial") / "run").path)


def test_every_output_is_that_of_its_command(tmp_path):
    spec = importlib.util.spec_from_file_location("tutorial", ROOT / "tools" / "tutorial.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    page = TUTORIAL.read_text("utf-8")
    now = tool.outputs(page, tmp_path)
    changed = list(difflib.unified_diff(page.splitlines(), now.splitlines(), n=0))
    assert tool.same(page, now), "\n".join(changed)
    assert not tool.same(page.replace("29.88", "29.87"), now)


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
