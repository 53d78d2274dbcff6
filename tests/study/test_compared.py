"""``[[compare]]``: every key selects cells of the grid and readings of the data set."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

import airtoll
from airtoll.errors import StudyError
from airtoll.run import prepare
from airtoll.study import data_folder, load, shipped

TEPSIC = shipped()["tepsic2014"].read_text("utf-8")


@pytest.mark.parametrize("name", shipped())
def test_every_shipped_comparison_selects_cells_and_readings(name):
    prepare(name)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('minus = { "traffic.ip"', 'minus = { "ip"', r"compare\[\d+\]\.minus\.ip: no axis"),
        (
            'minus = { profile_set = "windows8"',
            'minus = { profile_set = "windows9"',
            r"minus\.profile_set: 'windows9' selects no cell; there are: .*windows8",
        ),
        ("cells = { ", "cells = { nope = 1, ", r"compare\[0\]\.cells\.nope: no axis .* allowed: "),
        ("readings = { ", "readings = { nope = 1, ", r"compare\[0\]\.readings: nope: no column"),
        ("readings = { table", 'readings = { ip = "9", table', "tepsic2014 has no reading with ip"),
    ],
)  # fmt: skip
def test_a_comparison_that_selects_nothing_is_refused_by_name(tmp_path, old, new, message):
    assert old in TEPSIC
    file = tmp_path / "study.toml"
    file.write_text(TEPSIC.replace(old, new, 1), "utf-8")
    with pytest.raises(StudyError, match=message):
        prepare(file)


def test_a_checkout_reads_its_own_studies_and_not_a_copy_in_the_package(tmp_path, monkeypatch):
    module = sys.modules["airtoll.study.load"]
    package = tmp_path / "python" / "airtoll"
    stale = package / "data" / "studies"
    stale.mkdir(parents=True)
    (stale / "quickstart.toml").write_text("old", "utf-8")
    monkeypatch.setattr(module, "files", lambda _name: package)
    # Installed: no checkout above the package.
    assert data_folder("studies") == stale
    mark = tmp_path / "crates" / "airtoll-python" / "Cargo.toml"
    mark.parent.mkdir(parents=True)
    mark.write_text("", "utf-8")
    with pytest.raises(StudyError, match="the folder that ships with airtoll is missing"):
        data_folder("studies")
    shutil.copytree(data_folder_of_this_test(), tmp_path / "studies")
    assert data_folder("studies") == tmp_path / "studies"
    assert load("quickstart").path == tmp_path / "studies" / "quickstart.toml"


def data_folder_of_this_test():
    return Path(airtoll.__file__).parents[2] / "studies"
