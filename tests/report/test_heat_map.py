"""Heat maps: cells in which nothing arrived are known, and the caption has the baseline."""

from __future__ import annotations

from airtoll.report import write_report
from airtoll.report.figures.answer import _silent
from airtoll.report.summary import summarise
from airtoll.run import run


def test_cells_in_which_nothing_arrived_are_known_and_the_caption_has_the_baseline(tmp_path):
    grid = {
        "policy": ["open", "wpa2-psk-ccmp"],
        "scenario.rate_mbps": [1, 2, 5.5, 11],
        "scenario.rssi_dbm": [-60, -80, -96, -98],
    }
    values = {"grid": grid, "question": [], "traffic.udp.duration_s": 0.2}
    values["traffic.response.duration_s"] = 0.2
    result = run("signal2006", out=tmp_path / "run", values=values, trials=2, jobs=1)
    silent = _silent(summarise(result.path))
    at_11 = "bench/wpa2-psk-ccmp/udp?scenario.rate_mbps=11;scenario.rssi_dbm="
    assert f"{at_11}-98" in silent
    assert f"{at_11}-60" not in silent
    assert "Overhead against Open." in write_report([result.path]).read_text("utf-8")
