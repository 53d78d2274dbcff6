"""Answers about costs below zero, about readings that have not settled, about unknown costs."""

from __future__ import annotations

import json
import re

import pytest

from airtoll.analyse.estimate import DETERMINISTIC
from airtoll.analyse.evidence import Evidence
from airtoll.observe.metrics import UNPRICED
from airtoll.observe.spoken import NOTHING_NOTICED
from airtoll.report import write_report
from airtoll.report.answer import table
from airtoll.report.compared_runs import against_first
from airtoll.report.headline import headline
from airtoll.report.summary import summarise
from airtoll.run import run
from airtoll.testbeds.contract import Measured, Row

STUDY = """
[study]
name = "signs"
title = "Signs"
baseline = "open"
overhead = "{definition}"

[trials]
repetitions = {trials}

[scenario.desk]
phy = "802.11g"
stations = [{{ name = "A" }}]

[traffic.udp]
transport = "udp"
duration_s = 2

[grid]
policy = ["open", "wpa2-psk-ccmp", "wpa3-sae-gcmp-256"]
"""


def answered(tmp_path, ledger, rates, definition="difference_bps", trials=6, caveats=()):
    """The first lines of the answer, where policies have these mean rates and deviations."""

    class Rated(ledger):
        def measure(self, trial, captures=None):
            mean, deviation = rates[trial.cell.policy]
            # The trials of a cell deviate by -5, -3, -1, 1, 3, 5 fifths.
            place = (2 * trial.number - trials - 1) / max(trials - 1, 1)
            value = mean + deviation * place
            said = caveats if trial.cell.policy == "wpa3-sae-gcmp-256" else ()
            return Measured(rows=(Row("throughput_bps", value, "bit/s"),), caveats=tuple(said))

    study = tmp_path / "signs.toml"
    study.write_text(STUDY.format(definition=definition, trials=trials))
    return summarise(run(study, testbed=Rated(), out=tmp_path / "run").path)


@pytest.mark.parametrize(
    "definition",
    ["of_baseline", pytest.param("of_secured", marks=pytest.mark.thorough), "difference_bps"],
)
@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ((-9e4, 1e5), (-3.5e5, 1e5), "falls by 1.31 "),
        # From a gain to a cost, and from a gain to a larger one.
        ((9e4, 1e4), (-3.5e5, 1e4), "falls by 2.19"),
        ((9e4, 1e4), (3.5e5, 1e4), "rises by 1.29"),
        ((-3e3, 2e5), (2e3, 2e5), "changes by "),
        ((-3e3, 2e5), (-9e5, 2e5), "falls by 4.49"),
    ],
)
def test_no_sentence_says_that_a_policy_costs_less_than_nothing(
    tmp_path, ledger, definition, first, second, said
):
    rates = {
        "open": (20e6, 1e4),
        "wpa2-psk-ccmp": (20e6 + first[0], first[1]),
        "wpa3-sae-gcmp-256": (20e6 + second[0], second[1]),
    }
    lines = headline(answered(tmp_path, ledger, rates, definition))
    start = "From WPA2-Personal to WPA3-Personal GCMP-256, throughput "
    sentence = next(line for line in lines if line.startswith(start))
    assert sentence.startswith(start + said)
    assert not any(re.search(r"(falls|rises) by [-–]|at most [-–]", line) for line in lines)


def test_a_real_but_tiny_change_has_its_digits_and_is_nothing_to_notice(tmp_path, ledger):
    rates = {
        "open": (20e6, 20.0),
        "wpa2-psk-ccmp": (20e6 - 300, 20.0),
        "wpa3-sae-gcmp-256": (20e6, 20.0),
    }
    summary = answered(tmp_path, ledger, rates, "of_baseline")
    rows = {row.policy: row for row in table(summary)}
    slower = rows["WPA2-Personal, CCMP-128"]
    assert slower.verdict == NOTHING_NOTICED
    assert any("0.0015" in value for value in slower.values)
    assert not any(value.startswith("0.00 ") for value in slower.values)


def test_three_trials_that_tie_have_neither_interval_nor_verdict(tmp_path, ledger):
    rates = {
        "open": (20e6, 1e5),
        "wpa2-psk-ccmp": (19e6, 0.0),
        "wpa3-sae-gcmp-256": (19e6, 1e5),
    }
    summary = answered(tmp_path, ledger, rates, "of_baseline", trials=3)
    rows = {row.policy: row for row in table(summary)}
    tied = rows["WPA2-Personal, CCMP-128"]
    assert tied.values == ("19.00 Mb/s", "5.00 %")
    assert tied.verdict == "too few trials to tell (4 in a new run)"
    assert "±" in rows["WPA3-Personal, GCMP-256"].values[0]
    said = json.loads(write_report([summary.path], form="json").read_text("utf-8"))
    (estimate,) = (
        row
        for row in said["estimates"]
        if row["cell"] == "desk/wpa2-psk-ccmp/udp" and row["station"] is None
    )
    assert estimate["method"] == "equal in all trials: spread unknown"


def test_a_cost_that_no_profile_knows_is_unknown_and_not_zero(tmp_path, ledger):
    rates = {
        "open": (20e6, 1e4),
        "wpa2-psk-ccmp": (19e6, 1e4),
        "wpa3-sae-gcmp-256": (20e6, 1e4),
    }
    caveat = f"{UNPRICED}mt7621-software has no cost of GCMP-256 on its CPU"
    summary = answered(tmp_path, ledger, rates, "of_baseline", caveats=[caveat])
    lines = headline(summary)
    unknown = (
        "The cost of security is unknown in 1 cell (first: WPA3-Personal, GCMP-256): "
        "mt7621-software has no cost of GCMP-256 on its CPU; the throughput there leaves it out."
    )
    assert [line for line in lines if "GCMP-256" in line] == [unknown]
    rows = {row.policy: row for row in table(summary)}
    assert rows["WPA3-Personal, GCMP-256"].verdict == "cost unknown"
    assert "0.00 %" not in "".join(rows["WPA3-Personal, GCMP-256"].values)
    assert summary.analysis.overhead("desk/wpa3-sae-gcmp-256/udp") is None
    assert summary.analysis.overhead("desk/wpa2-psk-ccmp/udp").value == pytest.approx(0.05)


def test_the_simulator_says_which_cipher_has_no_cost(tmp_path):
    study = tmp_path / "router.toml"
    study.write_text(
        '[study]\nname = "router"\ntitle = "t"\n[trials]\nrepetitions = 2\n'
        '[scenario.s]\nap = { profile = "mt7621-software" }\n'
        '[traffic.t]\ntransport = "udp"\nduration_s = 0.2\n'
        '[grid]\npolicy = ["open", "wpa2-psk-ccmp", "wpa3-sae-gcmp-256"]\n'
    )
    summary = summarise(run(study, out=tmp_path / "run").path)
    assert summary.unpriced == {
        "s/wpa3-sae-gcmp-256/t": "mt7621-software has no cost of GCMP-256 on its CPU"
    }


def test_closed_forms_are_deterministic_and_differ_from_trials(tmp_path):
    study = tmp_path / "forms.toml"
    study.write_text(
        '[study]\nname = "forms"\ntitle = "t"\n[trials]\nrepetitions = 4\n[scenario.s]\n'
        '[traffic.t]\ntransport = "udp"\nduration_s = 0.5\n[grid]\npolicy = ["open", "wep-104"]\n'
    )
    forms = summarise(run(study, on="analytic", out=tmp_path / "forms").path)
    assert set(forms.analysis.estimates["method"].cast(str)) == {DETERMINISTIC}
    evidence = set(forms.analysis.comparisons.filter(metric="throughput_bps")["evidence"])
    assert evidence == {Evidence.DETERMINISTIC.value}
    assert {row.verdict for row in table(forms)} == {"baseline", "falls (deterministic)"}
    trials = summarise(run(study, out=tmp_path / "trials").path)
    (pair,) = against_first([trials, forms])
    # A model without chance has no spread, and that is known: Welch's test takes the other's.
    for change in pair.throughputs():
        assert change.evidence in (Evidence.HIGHER, Evidence.LOWER, Evidence.UNDETECTED)
        assert pair.verdict(change) in (
            "rises", "falls", NOTHING_NOTICED, "too few trials to tell",
        )  # fmt: skip
