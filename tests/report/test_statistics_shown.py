"""Page, terminal and JSON show the figures by the rule and those of all trials, and both sums."""

import csv
import io
import json
import re

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from airtoll.cli.app import app
from airtoll.report import write_report
from airtoll.report.summary import summarise
from airtoll.run import run

VALUES = {
    "grid.traffic": ["tcp"],
    "grid.policy": ["open", "wpa2-psk-ccmp"],
    "traffic.tcp.duration_s": 0.5,
    "trials.select": {"rule": "closest_to_mean", "keep": 2},
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    place = tmp_path_factory.mktemp("shown") / "run"
    return run("quickstart", out=place, trials=6, values=VALUES).path


@pytest.fixture(scope="module")
def cell(finished):
    analysis = summarise(finished).analysis
    name = "home/wpa2-psk-ccmp/tcp"
    return analysis.overhead(name), analysis.overhead_of_all(name)


def test_the_page_shows_both(finished, cell):
    page = write_report([finished]).read_text()
    by_rule, of_all = cell
    assert "overhead (rule)" in page
    assert page.count("all trials</th>") == 2
    assert f"{100 * by_rule.value:.2f} %" in page
    assert f"{100 * of_all.value:.2f} ± {100 * of_all.half_width:.2f} %" in page
    assert "2 of 6" in page


def test_the_table_of_costs_shows_both(finished, cell):
    text = CliRunner().invoke(app, ["show", str(finished), "costs", "--csv"]).stdout
    by_rule, of_all = cell
    rows = list(csv.DictReader(io.StringIO(text)))
    (row,) = [one for one in rows if one["throughput overhead by rule_value"]]
    for title, estimate in (("by rule", by_rule), ("of all trials", of_all)):
        assert float(row[f"throughput overhead {title}_value"]) == estimate.value
        assert row[f"throughput overhead {title}_unit"] == "1"
    assert row["throughput overhead by rule_low"] == ""
    assert float(row["throughput overhead of all trials_high"]) == of_all.high


def test_json_holds_both(finished, cell):
    result = CliRunner().invoke(app, ["report", str(finished), "--json"])
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    (overhead,) = [o for o in data["overheads"] if o["station"] is None and o["flow"] is None]
    by_rule, of_all = cell
    assert overhead["value"] == pytest.approx(by_rule.value)
    assert overhead["value_all"] == pytest.approx(of_all.value)
    assert data["selection"] == "closest_to_mean(2)"
    assert data["answers"] == ["throughput_bps"]
    assert data["question"].endswith("?")


def test_the_overhead_of_means_is_next_to_the_decompositions_sum(finished, cell):
    page = write_report([finished]).read_text()
    assert "overhead of means" in page
    assert "the mean of 1 / T is larger than 1 / mean of T" in page
    row = re.search(
        r'WPA2-Personal, CCMP-128</th>.*?<b>([^<]+)</b></td><td class="n">([^<]+)</td>', page
    )
    assert row
    decomposed, of_means = (float(value) for value in row.groups())
    assert of_means == pytest.approx(100 * cell[1].value, abs=0.006)
    # Both are taken over all trials; the first is the overhead of mean times per bit.
    rates = {
        policy: np.array(table["value"])
        for (policy,), table in summarise(finished)
        .observations.filter((pl.col("metric") == "throughput_bps") & pl.col("flow").is_null())
        .filter(pl.col("second").is_null())
        .group_by(["policy"])
    }
    times = {policy: float((1 / values).mean()) for policy, values in rates.items()}
    assert decomposed == pytest.approx(100 * (1 - times["open"] / times["wpa2-psk-ccmp"]), abs=0.02)
