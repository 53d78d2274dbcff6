"""A gate: exit codes, lines and JUnit XML of requirements, on runs that are made here."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from attrs import evolve

from airtoll.analyse.pairing import how_runs_are_compared, runs_share_draws
from airtoll.observe.folder import RunFolder
from airtoll.observe.journal import Journal, Record, read
from airtoll.run.api import write

HEAD = """
[study]
name = "gated"
title = "A gate"
answers = ["throughput_bps"]
[trials]
repetitions = 6
[scenario.home]
phy = "802.11g"
stations = [{ name = "A" }, { name = "B" }]
[traffic.udp]
transport = "udp"
duration_s = 0.1
[traffic.slow]
transport = "udp"
offered_mbps = 1
duration_s = 0.1
[grid]
policy = ["open", "wpa2-psk-ccmp"]
"""
#: 54 Mb/s carry about 30 Mb/s: met by far, failed by far, and at the value itself.
MET = """
[[require]]
metric = "throughput_bps"
where = { policy = "wpa2-psk-ccmp", traffic = "udp" }
at_least = 20e6
at_most = 40e6
"""
FAILED = """
[[require]]
name = 'no <more> & no "less"'
metric = "throughput_bps"
where = { traffic = "udp" }
at_least = 50e6
"""
UNMEASURED = """
[[require]]
metric = "voice_mos"
where = { policy = "open", traffic = "udp" }
at_least = 4
"""
CHANGE = """
[[require]]
metric = "throughput_bps"
from = { policy = "open" }
where = { traffic = "udp" }
at_least = -0.2
[[require]]
metric = "overhead"
where = { traffic = "udp" }
at_most = 0.2
"""


@pytest.fixture(scope="module")
def place(airtoll: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that meets its requirements, and its run."""
    folder = tmp_path_factory.mktemp("gate")
    (folder / "met.toml").write_text(HEAD + MET + CHANGE)
    done = airtoll("run", "met.toml", "--out", "met", "--no-report", "--gate", cwd=folder)
    assert done.returncode == 0, done.stderr
    # Of the change and of the overhead there is one place each.
    assert "gate: 3 checks: 3 met" in done.stdout
    return folder


def test_a_failed_requirement_fails_the_build_with_its_line_and_its_case(airtoll, place):
    (place / "failed.toml").write_text(HEAD + MET + FAILED)
    done = airtoll("run", "failed.toml", "--out", "failed", "--no-report", "--gate",
                   "--junit", "gate.xml", cwd=place)  # fmt: skip
    assert done.returncode == 1
    assert "3 checks: 1 met, 2 failed" in done.stderr.splitlines()[-1]
    lines = [line for line in done.stdout.splitlines() if line.startswith("failed: ")]
    assert len(lines) == 2
    assert "± " in lines[0]
    assert "Mb/s, at least 50 Mb/s is required [home/open/udp]" in lines[0]
    suite = ElementTree.parse(place / "gate.xml").getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "2", "0")
    cases = suite.findall("testcase")
    assert [case.find("failure") is not None for case in cases] == [False, True, True]
    assert cases[1].get("name") == 'no <more> & no "less" [home/open/udp]'
    assert cases[1].find("failure").get("message") == lines[0]
    assert all(case.get("classname") and case.get("time") for case in cases)
    # The same of the run that exists.
    again = airtoll("gate", "failed", cwd=place)
    assert again.returncode == 1
    assert [line for line in again.stdout.splitlines() if line.startswith("failed: ")] == lines
    # Chosen levels choose the checks, and by them the exit code.
    one = airtoll("gate", "failed", "--where", "policy=open", cwd=place)
    assert one.returncode == 1
    assert "gate: 1 check: 1 failed" in one.stdout
    assert "[home/wpa2-psk-ccmp/udp]" not in one.stdout
    (place / "half.toml").write_text(HEAD + MET + FAILED.replace("udp", "slow"))
    half = airtoll("run", "half.toml", "--out", "half", "--no-report", "--gate", cwd=place)
    assert half.returncode == 1
    assert airtoll("gate", "half", "--where", "traffic=udp", cwd=place).returncode == 0


def test_a_gate_that_cannot_tell_does_not_pass(airtoll, place):
    (place / "unmeasured.toml").write_text(HEAD + MET + UNMEASURED)
    done = airtoll("run", "unmeasured.toml", "--out", "unmeasured", "--no-report", "--gate",
                   "--junit", "unmeasured.xml", cwd=place)  # fmt: skip
    assert done.returncode == 5
    line = next(line for line in done.stdout.splitlines() if line.startswith("not measured: "))
    assert "no trial measured it [home/open/udp]" in line
    suite = ElementTree.parse(place / "unmeasured.xml").getroot().find("testsuite")
    assert (suite.get("failures"), suite.get("errors")) == ("0", "1")
    assert suite.findall("testcase")[1].find("error").get("type") == "not measured"
    value = json.loads(airtoll("gate", "met", "--json", cwd=place).stdout)[0]["value"]["value"]
    limit = f"at_least = {value}"
    (place / "few.toml").write_text(HEAD + MET.replace("at_least = 20e6", limit))
    few = airtoll("run", "few.toml", "--out", "few", "--no-report", "--gate", cwd=place)
    assert few.returncode == 5
    assert any(line.startswith("too few trials: ") for line in few.stdout.splitlines())


def _as_if(place: Path, name: str, change, **manifest) -> None:
    """The run ``met`` with other records in its journal."""
    folder = place / name
    shutil.copytree(place / "met", folder)
    journal = RunFolder(folder).journal
    records = [change(record) for record in read(journal)]
    journal.unlink()
    with Journal(journal) as changed:
        for record in records:
            changed.append(record)
    held = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(held | manifest))
    write(RunFolder(folder), RunFolder(folder).plan(), "simulator")


def _scaled(factor: float):
    """Records whose throughput is another one."""

    def change(record):
        values = tuple(
            value * factor if metric == "throughput_bps" else value
            for metric, value in zip(record.keys.metric, record.values, strict=True)
        )
        return evolve(record, values=values, sketches=())

    return change


def _failing(record):
    """Records in which one trial of a required cell failed."""
    if (record.cell, record.trial) != ("home/wpa2-psk-ccmp/udp", 6):
        return record
    reason = "the server did not answer"
    return Record(*record.key, record.seed, "failed", reason, record.caveats)


def test_a_run_that_is_worse_than_an_earlier_one_fails(airtoll, place):
    _as_if(place, "better", _scaled(1.2), seed=2)
    done = airtoll("gate", "met", "--compare-with", "better", "--junit", "since.xml", cwd=place)
    assert done.returncode == 1, done.stdout + done.stderr
    failed = [line for line in done.stdout.splitlines() if line.startswith("failed: ")]
    assert len(failed) == 4
    assert "throughput falls by 16" in failed[0]
    assert failed[0].endswith("[home/open/udp] (since better)")
    suite = ElementTree.parse(place / "since.xml").getroot().find("testsuite")
    assert suite.get("failures") == "4"
    _as_if(place, "worse", _scaled(0.8), seed=2)
    better = airtoll("gate", "met", "--compare-with", "worse", cwd=place)
    assert better.returncode == 0, better.stdout


def test_equal_runs_are_not_worse(airtoll, place):
    shutil.copytree(place / "met", place / "same")
    done = airtoll("gate", "met", "--compare-with", "same", cwd=place)
    assert done.returncode == 0, done.stdout
    assert "gate: 7 checks: 7 met" in done.stdout


def test_cells_of_other_settings_are_not_compared(airtoll, place):
    (place / "slow.toml").write_text(HEAD.replace('"802.11g"', '"802.11g"\nrate_mbps = 6'))
    done = airtoll("run", "slow.toml", "--out", "slow", "--no-report", "--gate",
                   "--compare-with", "met", cwd=place)  # fmt: skip
    assert done.returncode == 5
    assert "another scenario.rate_mbps in this cell" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "none.toml", "--gate"], "add a [[require]] table"),
        (["run", "met.toml", "--junit", "a.xml"], "go with --gate"),
        (["run", "met.toml", "--gate", "--junit", "no/a.xml"], "its folder does not exist"),
        (["run", "met.toml", "--gate", "--on", "analytic", "--compare-with", "met"],
         "is a run on simulator, not on analytic"),
        (["gate", "met", "--compare-with", "met"], "is the run itself"),
        (["gate", "nothing"], "no run folder"),
        (["gate", "met", "--where", "trafic=udp"], "did you mean traffic"),
    ],
)  # fmt: skip
def test_a_gate_that_checks_nothing_is_refused_before_the_run(airtoll, place, arguments, said):
    (place / "none.toml").write_text(HEAD)
    done = airtoll(*arguments, cwd=place)
    assert done.returncode in (2, 3)
    assert said in done.stderr.splitlines()[-1]
    assert not (place / "runs").exists()


@pytest.mark.thorough
def test_a_value_of_the_trials_that_did_not_fail_does_not_pass(airtoll, place):
    _as_if(place, "partly", _failing)
    done = airtoll("gate", "partly", cwd=place)
    assert done.returncode == 5, done.stdout + done.stderr
    assert "1 of 6 trials failed: the server did not answer" in done.stdout
    assert "[home/wpa2-psk-ccmp/udp]" in done.stdout
    since = airtoll("gate", "partly", "--compare-with", "met", cwd=place)
    lines = [line for line in since.stdout.splitlines() if line.endswith("(since met)")]
    assert [line.partition(";")[2].partition(":")[0] for line in lines] == [" 1 of 6 trials failed"]


@pytest.mark.thorough
def test_a_cell_that_failed_since_the_earlier_run_does_not_pass(airtoll, place):
    _as_if(place, "none", lambda record: Record(*record.key, record.seed, "failed", "no air", ())
           if record.cell == "home/open/slow" else record)  # fmt: skip
    done = airtoll("gate", "none", "--compare-with", "met", cwd=place)
    assert done.returncode == 5, done.stdout + done.stderr
    assert "not measured: throughput; no air [home/open/slow] (since met)" in done.stdout
    # The other way round there is nothing to compare with: the cell is named.
    back = airtoll("gate", "met", "--compare-with", "none", cwd=place)
    assert back.returncode == 0
    assert "1 cell (first: home/open/slow)" in back.stderr


def test_the_rule_by_which_two_runs_are_compared_has_one_owner_and_is_told() -> None:
    assert runs_share_draws("1", "1", "simulator")
    assert not runs_share_draws("1", "2", "simulator")
    assert not runs_share_draws("1", "1", "linux")
    told = {how_runs_are_compared(in_pairs=one) for one in (True, False)}
    assert len(told) == 2
    assert any("(Welch)" in one for one in told)
