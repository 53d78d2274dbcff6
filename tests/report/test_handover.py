"""The page of a run in which a station handed over."""

from __future__ import annotations

from pathlib import Path

import pytest

from airtoll.report import write_report
from airtoll.report.handover import gaps
from airtoll.report.headline import headline
from airtoll.report.summary import summarise
from airtoll.run import run

STUDY = """
[study]
name = "walk"
title = "A short walk"
answers = ["handover_gap_s"]
[trials]
repetitions = 2
[scenario.walk]
phy = "802.11a"
stations = [{ name = "phone", rssi_dbm = -60 }]
authenticate = true
handover = { at_s = 0.307 }
[traffic.call]
transport = "udp"
application = "voip"
direction = "both"
duration_s = 0.6
[grid]
policy = ["open", "wpa2-ft-psk-ccmp"]
"scenario.handover.method" = ["full", "fast-transition"]
"""


def test_the_gap_and_its_parts_are_in_the_page(tmp_path: Path) -> None:
    study = tmp_path / "walk.toml"
    study.write_text(STUDY)
    folder = run(study, out=tmp_path / "walk").path
    summary = summarise(folder)
    found = gaps(summary)
    assert [gap.exchange.policy for gap in found] == [
        "Open: full",
        "WPA2-Personal, fast transition, CCMP-128: full",
        "WPA2-Personal, fast transition, CCMP-128: fast-transition",
    ]
    for gap in found:
        assert gap.exchange.negotiation is not None
        assert gap.exchange.reached_s == pytest.approx(gap.exchange.negotiation.value, abs=1e-9)
    assert any(", the gap of a hand-over " in line for line in headline(summary))
    write_report([folder])
    page = (folder / "report.html").read_text("utf-8")
    assert 'id="handover"' in page
    # The two ways of one call stand apart.
    assert "call, flow phone-up" in page
    assert "call, flow phone-down" in page
