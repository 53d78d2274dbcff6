"""The figure of jitter: drawn for a study that asks for it, and for no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from airtoll.report import write_report
from airtoll.report.figures.jitter import jitter
from airtoll.report.summary import summarise
from airtoll.run import run

pytest.importorskip("airtoll._native", reason="needs the native module: make build")

STUDY = """
[study]
name = "varying-delay"
title = "Delay that varies"
answers = [{answers}]
[trials]
repetitions = 2
[scenario.cell]
topology = "uplink"
phy = "802.11a"
rate_mbps = 54
stations = [{{ name = "A" }}]
[traffic.udp]
transport = "udp"
offered_mbps = 5
duration_s = 0.2
[traffic.fast]
transport = "udp"
offered_mbps = 20
duration_s = 0.2
[grid]
policy = ["open", "wpa2-psk-ccmp"]
"""


def _run(tmp_path: Path, answers: str) -> Path:
    file = tmp_path / "varying-delay.toml"
    file.write_text(STUDY.format(answers=answers))
    return run(str(file), out=tmp_path / "run", jobs=1).path


def test_a_dot_for_every_policy_and_traffic(tmp_path: Path) -> None:
    page = write_report([_run(tmp_path, '"throughput_bps", "jitter_s"')]).read_text("utf-8")
    assert "How much does the delay vary?" in page
    for words in ("Open, udp: ", "Open, fast: ", "WPA2-Personal, CCMP-128, udp: "):
        assert words in page
    assert (tmp_path / "run" / "figures" / "jitter-1.svg").is_file() or (
        tmp_path / "run" / "figures" / "jitter.svg"
    ).is_file()


def test_a_study_that_does_not_ask_has_no_figure(tmp_path: Path) -> None:
    assert list(jitter(summarise(_run(tmp_path, '"throughput_bps"')))) == []
