"""HTML of estimates and analyses for notebooks."""

from __future__ import annotations

import math

import polars as pl

from airtoll.analyse import Estimate, analyse
from airtoll.run import run


def test_an_estimate_shows_its_interval_and_how_it_was_made():
    shown = Estimate(0.02, 0.018, 0.022, 0.95, 8, 'Fieller <"t">', "1")._repr_html_()
    assert "2.00 ± 0.20 %" in shown
    assert "95 % interval, n = 8, Fieller &lt;&quot;t&quot;&gt;" in shown
    assert '<"t">' not in shown


def test_an_estimate_without_an_interval_shows_its_value():
    shown = Estimate(3e6, math.nan, math.nan, 0.95, 1, "mean", "bit/s")._repr_html_()
    assert "3.000 Mb/s" in shown


def test_an_analysis_shows_one_row_for_each_secured_cell(small_study, fake, tmp_path):
    result = run(small_study(), testbed=fake(), out=tmp_path / "run", jobs=1)
    found = analyse(result.observations(), result.trials(), baseline="open")
    shown = found._repr_html_()
    whole = found.overheads.filter(pl.col("flow").is_null() & pl.col("station").is_null())
    assert shown.count("<tr>") == 1 + whole.height
    assert whole["cell"][0] in shown
