"""Figures are the same octets with any number of processes."""

from __future__ import annotations

import importlib
import subprocess

from airtoll.drawing import Panel, Picture, develop
from airtoll.drawing.plate import Plate, new_plate


def panel(number: int) -> Panel:
    def draw() -> Plate:
        plate, axes = new_plate(2.0, f"panel {number}")
        line = axes.plot([0, 1, 2], [number, 1, -number], label="line")
        plate.say(line, f"line {number}")
        return plate

    return Panel(f"panel {number}", draw)


PICTURE = Picture("lines", "costs", "Why?", "Lines.", tuple(panel(n) for n in range(5)), 4)


def test_processes_do_not_change_a_figure():
    (one,) = develop([PICTURE], ("png", "svg", "pdf"), processes=1)
    (three,) = develop([PICTURE], ("png", "svg", "pdf"), processes=3)
    assert (one.in_page, one.files) == (three.in_page, three.files)
    assert len(one.files) == 3 * 4, "a folded panel has no files"
    assert len(one.in_page) == 5
    assert 'data-say="line 3"' in one.in_page[3]


def test_a_child_that_dies_loses_no_figure(monkeypatch):
    def stillborn() -> subprocess.Popen[bytes]:
        return subprocess.Popen(["false"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    (whole,) = develop([PICTURE], processes=1)
    module = importlib.import_module("airtoll.drawing.develop")
    monkeypatch.setattr(module, "_child", stillborn)
    (saved,) = develop([PICTURE], processes=2)
    assert saved.in_page == whole.in_page
