"""Heat maps: a cell in which nothing arrived has no overhead; the caption has the baseline."""

from __future__ import annotations

from airtoll.report import write_report
from airtoll.run import run


def test_a_cell_in_which_nothing_arrived_is_drawn_as_no_data(tmp_path):
    grid = {
        "policy": ["open", "wpa2-psk-ccmp"],
        "scenario.rate_mbps": [1, 2, 5.5, 11],
        "scenario.rssi_dbm": [-60, -94, -96, -98],
    }
    values = {"grid": grid, "question": [], "traffic.udp.duration_s": 0.2}
    values["traffic.response.duration_s"] = 0.2
    result = run("signal2006", out=tmp_path / "run", values=values, trials=2, jobs=1)
    page = write_report([result.path]).read_text("utf-8")
    assert "Overhead against Open." in page
    assert ">no data</text>" in page
    assert "no data arrived" in page
