"""A trial that fails inside fails alone: it is kept with its reason, and the run goes on."""

from __future__ import annotations

import json

import polars as pl
import pytest
from attrs import evolve
from typer.testing import CliRunner

from airtoll import _native
from airtoll.cli.app import app
from airtoll.errors import EnvironmentProblem, TestbedError, TrialFault, UsageError
from airtoll.observe.journal import FAULT
from airtoll.report import report_text
from airtoll.run import run
from airtoll.run.outcome import refuse_faults
from airtoll.testbeds.contract import Measured, Row
from airtoll.testbeds.simulator import Simulator


def failing(fake, error, *, policy="wpa2-psk-ccmp", numbers=(2, 5)):
    """The fake testbed, whose trials with these numbers fail inside by ``error()``."""

    class Failing(fake):
        def measure(self, trial, captures=None):
            measured = super().measure(trial, captures)
            if trial.cell.policy == policy and trial.number in numbers and trial.attempt == 1:
                return error() or measured
            return measured

    return Failing


def fault():
    raise TrialFault("the simulator stopped: clock moved past an event")


def native_fault():
    _native.stop_with_fault("clock moved past an event")


def native_panic():
    raise _native.PanicException("clock moved past an event")


def unforeseen():
    return {}["key"]


def impossible():
    return Measured(rows=(Row("throughput_bps", float("nan"), "bit/s"),))


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize(
    ("error", "words"),
    [
        (fault, "the simulator stopped: clock moved past an event"),
        (native_fault, "Fault: clock moved past an event (crates/airtoll-python/src/fault.rs:"),
        (native_panic, "PanicException: clock moved past an event"),
        (unforeseen, "KeyError: 'key'"),
        (impossible, "throughput_bps of the cell is nan"),
    ],
)
def test_the_other_trials_go_on(small_study, fake, tmp_path, jobs, error, words):
    study = small_study()
    run(study, testbed=fake(), out=tmp_path / "whole", jobs=1)
    result = run(study, testbed=failing(fake, error)(), out=tmp_path / "run", jobs=jobs)
    assert (result.totals.ok, result.totals.failed, result.totals.faults) == (20, 4, 4)
    trials = result.trials()
    failed = trials.filter(status="failed")
    assert failed.select("cell", "trial").unique().height == 4
    assert set(failed["trial"]) == {2, 5}
    assert all(reason.startswith(FAULT + words) for reason in failed["reason"])
    assert json.loads((tmp_path / "run" / "run.json").read_text())["state"] == "finished"
    # Values of the others are those of a run without a fault.
    whole = pl.read_parquet(tmp_path / "whole" / "observations.parquet")
    kept = whole.join(failed, on=["cell", "trial", "attempt"], how="anti")
    assert result.observations().equals(kept)


@pytest.mark.parametrize(
    "error", [EnvironmentProblem("iperf3 is missing"), TestbedError("the stack is not open")]
)
def test_what_concerns_every_trial_ends_the_run(small_study, fake, tmp_path, error):
    def all_of_them():
        raise error

    bed = failing(fake, all_of_them, policy="open", numbers=(1,))()
    with pytest.raises(type(error), match=str(error)):
        run(small_study(), testbed=bed, out=tmp_path / "run", jobs=2)
    assert json.loads((tmp_path / "run" / "run.json").read_text())["state"] == "interrupted"


def test_a_resumed_run_meets_the_fault_again_only_where_it_is_asked_to(small_study, fake, tmp_path):
    study = small_study()
    run(study, testbed=failing(fake, fault)(), out=tmp_path / "run", jobs=2)
    bed = fake()
    again = run(study, testbed=bed, out=tmp_path / "run", resume=True)
    assert bed.measured == []
    assert again.totals.faults == 4
    bed = fake()
    repeated = run(study, testbed=bed, out=tmp_path / "run", resume=True, repeat_faults=True)
    assert sorted({(trial, attempt) for _cell, trial, attempt in bed.measured}) == [(2, 2), (5, 2)]
    assert (repeated.totals.ok, repeated.totals.faults) == (24, 0)
    # The failed attempts stay in the table.
    assert repeated.trials().filter(status="failed").height == 4
    with pytest.raises(UsageError, match="--repeat-faults goes with --resume"):
        run(study, testbed=fake(), out=tmp_path / "other", repeat_faults=True)


def test_the_report_marks_the_cells(small_study, fake, tmp_path):
    study = small_study()
    whole = failing(fake, fault, numbers=range(1, 7))
    text = report_text([run(study, testbed=whole(), out=tmp_path / "all").path])
    assert "2 cells without a result: failed inside: the simulator stopped" in text
    part = run(study, testbed=failing(fake, fault)(), out=tmp_path / "part")
    assert "2 cells without 4 of their trials: failed inside" in report_text([part.path])


STUDY = """
[study]
name = "faulty"
title = "A fault in one cell"
[trials]
repetitions = 2
[scenario.home]
[traffic.udp]
transport = "udp"
duration_s = 0.05
[grid]
policy = ["open", "wpa2-psk-ccmp"]
"""


@pytest.fixture
def faulty(tmp_path, monkeypatch):
    """A study whose secured cells meet a panic of the native module, in this folder."""
    whole = Simulator.measure

    def measure(self, trial, captures=None):
        if trial.cell.policy != "open" and trial.attempt == 1:
            _native.stop_with_fault("clock moved past an event")
        return whole(self, trial, captures)

    monkeypatch.setattr(Simulator, "measure", measure)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "faulty.toml").write_text(STUDY)
    return tmp_path


def test_the_command_says_so_exits_with_4_and_names_the_way_on(faulty):
    result = CliRunner().invoke(app, ["run", "faulty.toml", "--out", "run"])
    assert isinstance(result.exception, TestbedError)
    assert result.exception.exit_code == 4
    said = str(result.exception)
    assert said.startswith("run: 2 of 4 trials failed inside, the others are kept; first, ")
    assert "home/wpa2-psk-ccmp/udp, trial 1: failed inside: Fault: clock moved past" in said
    assert "`airtoll run faulty.toml --resume --repeat-faults --out run`" in said
    assert (faulty / "run" / "report.html").is_file()
    assert "The throughput is " in result.stdout
    again = CliRunner().invoke(app, ["run", "faulty.toml", "--resume", "--out", "run"])
    assert again.exception.exit_code == 4
    command = said.partition("`airtoll ")[2].partition("`")[0].split()
    assert CliRunner().invoke(app, command).exit_code == 0


def test_a_watch_says_so_too(faulty, monkeypatch):
    """One trial of its round fails inside; the others give the overhead."""
    whole = Simulator.measure

    def measure(self, trial, captures=None):
        if trial.number == 1 and trial.cell.policy != "open":
            _native.stop_with_fault("clock moved past an event")
        return whole(self, evolve(trial, attempt=2), captures)

    monkeypatch.setattr(Simulator, "measure", measure)
    watch = ["watch", "faulty.toml", "--every", "0s", "--for", "1s", "--trials", "3"]
    result = CliRunner().invoke(app, watch)
    assert isinstance(result.exception, TestbedError), result.output
    assert "round-00001: 1 of 6 trials failed inside" in str(result.exception)
    assert "round" in result.stdout


def test_a_run_without_a_fault_is_not_refused(small_study, fake, tmp_path):
    result = run(small_study(policies=', "owe-ccmp"'), testbed=fake(), out=tmp_path / "run")
    assert result.totals.failed
    refuse_faults(result, "small.toml")


def test_a_panic_is_an_exception_with_its_place_and_prints_nothing(capfd):
    with pytest.raises(_native.Fault, match=r"^a \{b\} \(crates/.*fault\.rs:\d+\)$"):
        _native.stop_with_fault("a {b}")
    assert capfd.readouterr() == ("", "")
