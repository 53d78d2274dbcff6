"""Folders of captures: each attempt of a run has its own, whatever the cell is called."""

from __future__ import annotations

from pathlib import Path

from airtoll.plan import make_plan
from airtoll.run import run
from airtoll.study import load
from airtoll.testbeds.contract import folder_of

STUDY = """
[study]
name = "names"
title = "Names"
[trials]
repetitions = 2
[scenario."a b"]
[scenario."a_b"]
[scenario."a-b"]
[scenario."二"]
[scenario."三"]
[scenario."é"]
[scenario."s_open"]
[scenario."s"]
[scenario."LONG"]
[traffic.t]
transport = "udp"
duration_s = 0.01
[traffic.open_t]
transport = "udp"
duration_s = 0.01
[grid]
policy = ["open", "wep-104+ipsec-aes-gcm"]
"""


def test_no_two_attempts_share_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "names.toml"
    path.write_text(STUDY.replace("LONG", "x" * 100))
    plan = make_plan(load(path).study)
    trials = [
        plan.trial(cell, number, attempt)
        for cell in plan.cells
        for number, attempt in ((1, 1), (1, 2), (11, 1), (0, 1))
    ]
    names = [folder_of(trial) for trial in trials]
    assert len(set(names)) == len(names)
    assert all(len(name.encode()) < 255 and "/" not in name for name in names)
    # Names that nothing is lost of stay as they are.
    assert "a-b_open_t_1_1" in names
    assert "s_wep-104+ipsec-aes-gcm_t_11_1" in names


def test_captures_of_like_names_are_all_there(tmp_path: Path) -> None:
    path = tmp_path / "names.toml"
    path.write_text(STUDY.replace("LONG", "x" * 100))
    values = {
        "grid.scenario": ["a b", "a_b", "二", "三"],
        "grid.traffic": ["t"],
        "grid.policy": ["open"],
    }
    result = run(path, out=tmp_path / "run", captures=True, values=values)
    folders = list((result.path / "captures").iterdir())
    assert len(folders) == 8
    assert all((folder / "air.pcapng").stat().st_size for folder in folders)
