"""Caveats are in the report, above all that no radio set the values."""

from __future__ import annotations

import json

from airtoll.observe.metrics import LIMIT, NOT_RADIO
from airtoll.observe.tables import read_trials
from airtoll.report import write_report
from airtoll.report.headline import headline
from airtoll.report.summary import summarise
from airtoll.run import run

STUDY = """
[study]
name = "bound"
title = "Bound"
about = "by the CPU"
baseline = "open"

[trials]
repetitions = 3

[scenario.desk]
phy = "802.11g"
stations = [{ name = "A" }]

[traffic.udp]
transport = "udp"
duration_s = 2

[grid]
policy = ["open", "wpa2-psk-ccmp"]
"""
REASON = "the CPU is at its end"


def bound(ledger: type, *policies: str) -> object:
    class Bound(ledger):
        def measure(self, trial, captures=None):
            measured = super().measure(trial, captures)
            said = (NOT_RADIO + REASON,) if trial.cell.policy in policies else ()
            return type(measured)(rows=measured.rows, caveats=(*said, "a door was open"))

    return Bound()


def test_a_throughput_of_the_cpu_is_called_so_everywhere(tmp_path, ledger):
    study = tmp_path / "bound.toml"
    study.write_text(STUDY)
    result = run(study, testbed=bound(ledger, "open", "wpa2-psk-ccmp"), out=tmp_path / "run")
    summary = summarise(result.path)
    assert headline(summary)[0].startswith("None of these throughputs is a radio's")
    assert headline(summary)[0].endswith(f"{REASON}.")
    assert summary.caveats == {NOT_RADIO + REASON: 6, "a door was open": 6}
    page = write_report([result.path]).read_text("utf-8")
    assert "None of these throughputs" in page
    assert "no radio throughput; " in page
    assert "a door was open" in page
    said = json.loads(write_report([result.path], form="json").read_text("utf-8"))["caveats"]
    assert {"says": "a door was open", "trials": 6} in said
    pair = write_report([result.path, result.path]).read_text("utf-8")
    assert "no radio throughput in run (fake)" in pair


def test_only_the_cells_that_say_so_are_none_of_a_radio(tmp_path, ledger):
    study = tmp_path / "bound.toml"
    study.write_text(STUDY)
    result = run(study, testbed=bound(ledger, "open"), out=tmp_path / "run")
    summary = summarise(result.path)
    assert summary.not_radio == {"desk/open/udp"}
    assert headline(summary)[0].startswith("1 of 2 throughputs is not a radio's")
    assert summary.verdict("desk/wpa2-psk-ccmp/udp", "falls") == "falls"


def test_runs_of_before_the_column_have_no_caveats(tmp_path, ledger):
    study = tmp_path / "bound.toml"
    study.write_text(STUDY)
    result = run(study, testbed=bound(ledger), out=tmp_path / "run")
    path = result.path / "trials.parquet"
    read_trials(result.path).drop("caveats").write_parquet(path)
    assert summarise(result.path).caveats == {}


def test_further_limits_are_counted_and_their_place_is_named(tmp_path, ledger):
    class Limited(ledger):
        def measure(self, trial, captures=None):
            measured = super().measure(trial, captures)
            said = [f"{LIMIT}queue {n}" for n in range(2 if trial.cell.policy == "open" else 3)]
            return type(measured)(rows=measured.rows, caveats=tuple(said))

    study = tmp_path / "bound.toml"
    study.write_text(STUDY)
    path = run(study, testbed=Limited(), out=tmp_path / "run").path
    (line,) = [one for one in headline(summarise(path)) if one.startswith("Not the air alone")]
    assert line.endswith(" (2 other limits are in the report under Trials).")
    study.write_text(STUDY.replace('["open", "wpa2-psk-ccmp"]', '["open"]'))
    path = run(study, testbed=Limited(), out=tmp_path / "one").path
    assert " (1 other limit is in the report under Trials)." in "\n".join(headline(summarise(path)))
