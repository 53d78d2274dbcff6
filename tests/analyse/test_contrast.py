"""Cells are compared with a level of a factor instead of the baseline policy."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from airtoll.analyse import analyse
from airtoll.analyse.contrast import Contrast
from airtoll.analyse.decomposition import decompose
from airtoll.errors import StudyError
from airtoll.observe.schema import OBSERVATIONS
from airtoll.report import write_report
from airtoll.report.headline import headline
from airtoll.report.summary import summarise
from airtoll.run import run
from airtoll.study import load, parse


def cell(scenario: str, policy: str, factors: dict[str, object], values: list[float]) -> list[dict]:
    text = json.dumps(factors, sort_keys=True, separators=(",", ":"))
    tail = ";".join(f"{k}={v}" for k, v in factors.items())
    return [
        {
            "schema_version": 1, "study": "s", "testbed": "simulator",
            "cell": f"{scenario}/{policy}/udp?{tail}", "scenario": scenario, "policy": policy,
            "traffic": "udp", "factors": text, "trial": number, "attempt": 1, "seed": number,
            "flow": None, "station": None, "second": None, "metric": "throughput_bps",
            "value": value, "unit": "bit/s",
        }
        for number, value in enumerate(values, 1)
    ]  # fmt: skip


def table() -> pl.DataFrame:
    rows = []
    for policy, scale in (("open", 1.0), ("wpa2-psk-ccmp", 0.5)):
        for mtu in (1500, 1400):
            for ssids, share in ((1, 1.0), (8, 0.9)):
                values = [1e6 * scale * share * (1 + 0.001 * k) for k in (-1, 0, 1)]
                rows += cell("a", policy, {"ssids": ssids, "mtu": mtu}, values)
    return pl.DataFrame(rows, schema=OBSERVATIONS)


def test_each_policy_is_compared_with_itself_at_the_level() -> None:
    found = analyse(table(), contrast=Contrast("ssids", 1))
    assert found.overheads.height == 4
    assert found.overheads["value"].to_list() == pytest.approx([0.1] * 4)
    for row in found.overheads.iter_rows(named=True):
        assert row["baseline_cell"] == row["cell"].replace("ssids=8", "ssids=1")
    assert len(found.references) == 4
    assert all("ssids=1;" in name for name in found.references)


def test_policies_stay_the_default() -> None:
    found = analyse(table())
    assert found.overheads["value"].to_list() == pytest.approx([0.5] * 4)
    assert found.contrast == Contrast("policy", "open")
    assert {name.split("/")[1] for name in found.references} == {"open"}


def test_pairs_of_trials_are_those_of_the_level() -> None:
    found = analyse(table(), contrast=Contrast("ssids", 1), paired=True)
    assert found.overheads["value"].to_list() == pytest.approx([0.1] * 4)
    assert found.comparisons["method"].str.starts_with("paired").all()


def test_a_scenario_is_a_reference_too() -> None:
    rows = cell("near", "open", {}, [2e6, 2e6]) + cell("far", "open", {}, [1e6, 1e6])
    frame = pl.DataFrame(rows, schema=OBSERVATIONS)
    found = analyse(frame, contrast=Contrast("scenario", "near")).overheads
    assert found["scenario"].to_list() == ["far"]
    assert found["value"].to_list() == [0.5]


def test_true_is_not_one() -> None:
    rows = cell("a", "open", {"on": True}, [2e6]) + cell("a", "open", {"on": False}, [1e6])
    frame = pl.DataFrame(rows, schema=OBSERVATIONS)
    assert analyse(frame, contrast=Contrast("on", 1)).overheads.is_empty()
    assert analyse(frame, contrast=Contrast("on", True)).overheads["value"].to_list() == [0.5]


STUDY = """
[study]
name = "ssids"
title = "SSIDs"
question = "What do SSIDs cost?"
against = {{ {against} }}
[trials]
repetitions = 2
[scenario.one]
phy = "802.11a"
stations = [{{ name = "A" }}]
[scenario.two]
phy = "802.11g"
stations = [{{ name = "A" }}]
[traffic.udp]
transport = "udp"
duration_s = 0.5
[traffic.call]
transport = "udp"
application = "voip"
direction = "both"
duration_s = 0.5
[grid]
policy = ["wpa2-psk-ccmp", "wpa3-sae-ccmp"]
"scenario.ssids" = [1, 4, 16]
"""


def study(against: str) -> str:
    return STUDY.format(against=against)


def test_the_answer_names_the_level(tmp_path: Path) -> None:
    file = tmp_path / "ssids.toml"
    file.write_text(study('"scenario.ssids" = 1'))
    assert load(file).study.study.baseline == "open"  # need not be in the grid
    run(file, out=tmp_path / "run")
    summary = summarise(tmp_path / "run")
    said = headline(summary)
    assert any(line.startswith("From 1 SSID to 16 SSIDs, throughput falls by ") for line in said)
    # A call has the throughput that it offers, and its places are told apart from the others.
    assert any(
        line.startswith("From 1 SSID to 16 SSIDs, throughput does not change (one and two, call")
        for line in said
    )
    parts = summary.decomposition
    assert parts.filter(part="airtime_contention_s").height == 16
    page = write_report([tmp_path / "run"]).read_text()
    assert "Levels are compared with 1 SSID" in page
    assert "T1 with 1 SSID and T2 with another level" in page


def test_the_parts_add_up_to_the_cost_of_the_level(tmp_path: Path) -> None:
    file = tmp_path / "ssids.toml"
    file.write_text(study('"scenario.ssids" = 1'))
    done = run(file, out=tmp_path / "run")
    summary = summarise(tmp_path / "run")
    found = decompose(
        done.observations(), summary.spans, contrast=Contrast("scenario.ssids", 1),
        definition="of_baseline",
    )  # fmt: skip
    for (name,), rows in found.filter(traffic="udp").group_by("cell"):
        whole = summary.analysis.overhead(str(name))
        assert whole is not None
        assert rows["value"].sum() == pytest.approx(whole.value, abs=2e-3)


@pytest.mark.parametrize(
    ("against", "words"),
    [
        ("policy = 'open'", "study.baseline"),
        ('"scenario.mcs" = 1', "no axis or factor of the grid"),
        ('"scenario.ssids" = 3', "is not in the grid; there are: 1, 4, 16"),
        ('"scenario.ssids" = true', "is not in the grid"),
        ("traffic = 'tcp'", "is not in the grid"),
        ("traffic = 'udp', scenario = 'one'", "against"),
    ],
)
def test_a_level_that_nothing_can_be_compared_with_is_refused(against: str, words: str) -> None:
    with pytest.raises(StudyError, match=words):
        parse(study(against), Path("ssids.toml"))


@pytest.mark.parametrize(
    "more",
    [
        ("[trials]", '[trials]\npairing = "common"'),
        ("question =", "octet_theory = [1500]\nquestion ="),
        ("question =", 'combine = { all = ["udp"] }\nquestion ='),
    ],
)
def test_what_asks_for_costs_of_policies_is_refused(more: tuple[str, str]) -> None:
    with pytest.raises(StudyError, match="leave one out"):
        parse(study('"scenario.ssids" = 1').replace(*more), Path("ssids.toml"))
