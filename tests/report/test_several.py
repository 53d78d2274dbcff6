"""Several runs on one page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from airtoll.analyse.between import Readings, changes, pairs_of
from airtoll.analyse.comparison import least_p_of_pairs
from airtoll.report import FORMATS, write_report
from airtoll.report.compared_runs import against_first, words
from airtoll.report.summary import RunSummary, summarise
from airtoll.run import run


@pytest.fixture
def two(small_study, fake, ledger, tmp_path):
    study = small_study()
    first = run(study, testbed=fake(), out=tmp_path / "before", jobs=1)
    second = run(study, testbed=ledger(), out=tmp_path / "after", jobs=1)
    return [first.path, second.path]


def test_one_page_for_both(two):
    page = write_report(two)
    assert page == two[0] / "comparison.html"
    text = page.read_text("utf-8")
    assert "after (fake) against before (fake): 4 of 4 throughputs differ" in text
    assert not re.search(r'(src|href)="(https?:)?//', text)
    settings = re.findall(r'<p class="soft">(?:before|after) \(fake\): (.*)</p>', text)
    assert len(settings) == 2
    assert all("802.11" in one and " MHz, " in one and "s a trial" in one for one in settings)
    assert (two[0] / "figures" / "difference.svg").stat().st_size > 1000


def test_a_run_against_itself_differs_nowhere(two):
    text = write_report([two[0], two[0]]).read_text("utf-8")
    assert "0 of 4 throughputs differ" in text


@pytest.mark.parametrize("form", FORMATS)
def test_every_format(two, form):
    text = write_report(two, form=form).read_text("utf-8")
    assert "home/wpa2-psk-ccmp/udp" in text


def test_json_has_both_estimates_the_difference_and_the_verdict(two):
    value = json.loads(write_report(two, form="json").read_text("utf-8"))
    row = next(
        r
        for r in value["changes"]
        if r["metric"] == "throughput_bps" and r["cell"] == "home/open/tcp" and not r["flow"]
    )
    assert row["difference"]["value"] == pytest.approx(
        row["value_second"]["value"] - row["value_first"]["value"]
    )
    assert row["verdict"] == "rises"


def test_runs_of_one_seed_are_compared_in_pairs_and_others_by_welch(tmp_path: Path) -> None:
    def finished(name: str, **further: Any) -> RunSummary:
        values = {"grid.policy": ["open"], "grid.traffic": ["udp"], **further.pop("values", {})}
        run("quickstart", out=tmp_path / name, trials=4, values=values, jobs=1, **further)
        return summarise(tmp_path / name)

    first = finished("first")
    changed = {"values": {"traffic.udp.payload_bytes": 1400}}
    (same,) = against_first([first, finished("same", **changed)])
    (other,) = against_first([first, finished("other", seed=9, **changed)])
    found = [next(c for c in pair.throughputs()) for pair in (same, other)]
    assert found[0].difference.method == "paired t"
    assert found[1].difference.method != "paired t"
    assert found[0].difference.low < found[0].difference.value < found[0].difference.high
    assert "in pairs" in words(same)[-1]
    assert "(Welch)" in words(other)[-1]

    # Values vary from trial to trial, and the differences of the trials do not.
    (again,) = against_first([first, finished("again")])
    change = next(iter(again.throughputs()))
    assert change.first.has_interval
    assert not change.difference.has_interval
    assert again.verdict(change) == "does not change (equal in every trial)"
    readings = [Readings(one.observations, one.trials) for one in (first, same.second)]
    pairs = {key: {**pair, "reach": 0.0} for key, pair in pairs_of(*readings).items()}
    shift = next(
        one for one in changes(first.analysis, same.second.analysis, pairs)
        if one.cell == change.cell and one.metric == change.metric
    )  # fmt: skip
    assert (shift.p, shift.needs) == (least_p_of_pairs(4), 6)
    assert again.verdict(shift) == "too few trials to tell (6 in a new run)"
