"""Carrying out a plan: nothing lost, nothing doubled, and no value that depends on the order."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import polars as pl
import pytest

from airtoll.errors import Interrupted, RunError, StorageError
from airtoll.observe.journal import BROKEN
from airtoll.run import run
from airtoll.testbeds.contract import Measured


def tables(path: Path) -> tuple[bytes, bytes]:
    return (path / "observations.parquet").read_bytes(), (path / "trials.parquet").read_bytes()


def test_same_bytes_for_any_number_of_jobs_and_any_order(small_study, fake, tmp_path):
    results = []
    for index, (order, jobs) in enumerate(
        [("interleaved", 1), ("interleaved", 4), ("sequential", 2), ("random", 3)]
    ):
        study = small_study(f'order = "{order}"')
        out = tmp_path / f"run{index}"
        run(study, testbed=fake(), out=out, jobs=jobs)
        results.append(tables(out))
    assert all(result == results[0] for result in results)


def test_interleaved_and_sequential_orders(small_study, fake, tmp_path):
    bed = fake()
    run(small_study('order = "interleaved"'), testbed=bed, out=tmp_path / "a", jobs=1)
    assert [trial for _cell, trial, _attempt in bed.measured[:4]] == [1, 1, 1, 1]
    bed = fake()
    run(small_study('order = "sequential"'), testbed=bed, out=tmp_path / "b", jobs=1)
    assert [trial for _cell, trial, _attempt in bed.measured[:6]] == [1, 2, 3, 4, 5, 6]


def test_interrupted_run_keeps_what_it_had_and_resumes(small_study, fake, tmp_path):
    study = small_study()
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    run(study, testbed=fake(), out=whole, jobs=1)
    with pytest.raises(Interrupted, match="--resume"):
        run(study, testbed=fake(interrupt_after=7), out=parts, jobs=1)
    assert pl.read_parquet(parts / "trials.parquet").height == 7
    assert json.loads((parts / "run.json").read_text())["state"] == "interrupted"
    bed = fake()
    run(study, testbed=bed, out=parts, jobs=2, resume=True)
    assert len(bed.measured) == 24 - 7
    assert tables(parts) == tables(whole)
    assert json.loads((parts / "run.json").read_text())["state"] == "finished"


def test_a_finished_run_is_never_overwritten(small_study, fake, tmp_path):
    study = small_study()
    run(study, testbed=fake(), out=tmp_path / "run")
    before = tables(tmp_path / "run")
    with pytest.raises(StorageError, match="--resume"):
        run(study, testbed=fake(), out=tmp_path / "run")
    assert tables(tmp_path / "run") == before


def test_resuming_another_study_is_refused(small_study, fake, tmp_path):
    run(small_study(), testbed=fake(), out=tmp_path / "run")
    other = small_study('order = "random"')
    with pytest.raises(RunError, match=r"another version.*; undo the change of the file or"):
        run(other, testbed=fake(), out=tmp_path / "run", resume=True)


def test_skipped_failed_and_missing_are_told_apart(small_study, fake, tmp_path):
    study = small_study(policies=', "wep-40", "owe-ccmp"')
    result = run(study, testbed=fake(), out=tmp_path / "run")
    assert result.totals is not None
    assert (result.totals.ok, result.totals.skipped, result.totals.failed) == (24, 2, 12)
    trials = result.trials()
    skipped = trials.filter(status="skipped")
    assert set(skipped["policy"]) == {"wep-40"}
    assert set(skipped["reason"]) == {"the fake knows no WEP-40"}
    failed = trials.filter(status="failed")
    assert set(failed["reason"]) == {"did not authenticate: reason 23"}
    observed = result.observations()
    assert set(observed["policy"]) == {"open", "wpa2-psk-ccmp"}


def test_outliers_are_run_again_kept_and_listed(small_study, fake, tmp_path):
    study = small_study("rerun = { below_sigma = 5, minimum_trials = 3 }")
    serial = run(study, testbed=fake(outlier=True), out=tmp_path / "a", jobs=1)
    parallel = run(study, testbed=fake(outlier=True), out=tmp_path / "b", jobs=4)
    assert tables(tmp_path / "a") == tables(tmp_path / "b")
    assert parallel.totals == serial.totals
    assert serial.totals is not None
    assert serial.totals.rerun == 4
    again = serial.trials().filter(status="rerun")
    assert again["trial"].to_list() == [4, 4, 4, 4]
    assert all("standard deviations below the mean" in reason for reason in again["reason"])
    kept = serial.trials().filter(pl.col("status") == "ok", pl.col("trial") == 4)
    assert kept["attempt"].to_list() == [2, 2, 2, 2]


def test_a_trial_is_measured_again_until_two_attempts_agree(small_study, fake, tmp_path):
    study = small_study("rerun = { agreement = 0.9 }")
    done = run(study, testbed=fake(outlier=True), out=tmp_path / "run")
    assert done.totals is not None
    # Every trial has a second attempt, and the one with an outlier a third.
    assert (done.totals.ok, done.totals.rerun) == (24, 28)
    trials = done.trials()
    last = trials.filter(status="ok").sort("cell", "trial")
    assert last["attempt"].to_list() == [2, 2, 2, 3, 2, 2] * 4
    again = trials.filter(status="rerun")
    first = again.filter(attempt=1)["reason"]
    assert all("a first attempt has none to agree with" in reason for reason in first)
    (later,) = set(again.filter(attempt=2)["trial"].to_list())
    assert later == 4
    assert all("(limit 90 %)" in reason for reason in again.filter(attempt=2)["reason"])


def test_warm_ups_are_unrecorded(small_study, fake, tmp_path):
    result = run(small_study("discard_first = 2"), testbed=fake(), out=tmp_path / "run")
    trials = result.trials()
    assert trials.filter(status="warm_up").height == 8
    assert trials.filter(status="ok").height == 24


KILLED = textwrap.dedent(
    """
    import sys, time
    sys.path.insert(0, {tests!r})
    from fake import FakeTestbed
    from airtoll.run import run
    class Slow(FakeTestbed):
        def measure(self, trial, captures=None):
            time.sleep(0.004)
            return super().measure(trial, captures)
    run({study!r}, testbed=Slow(), out={out!r}, jobs=2, resume={resume})
    """
)


@pytest.mark.parametrize(
    "rule", ["", pytest.param("rerun = { agreement = 0.9 }", marks=pytest.mark.thorough)]
)
def test_killed_at_random_points_no_trial_is_lost_or_doubled(small_study, fake, tmp_path, rule):
    study = small_study(rule, policies=', "wpa3-sae-ccmp", "wpa2-psk-gcmp"')
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    run(study, testbed=fake(), out=whole, jobs=1)
    draw = random.Random(7)
    tests = str(Path(__file__).parents[1] / "contract")
    journal = parts / "journal.jsonl"
    seen = 0
    for _ in range(2):
        code = KILLED.format(
            tests=tests, study=str(study), out=str(parts), resume=(parts / "run.json").exists()
        )
        process = subprocess.Popen(
            [sys.executable, "-c", code], env={**os.environ}, stderr=subprocess.DEVNULL
        )
        goal = seen + draw.randint(2, 9)
        while process.poll() is None:
            if journal.exists() and journal.read_bytes().count(b"\n") >= goal:
                process.send_signal(signal.SIGKILL)
                break
            time.sleep(0.002)
        process.wait()
        seen = journal.read_bytes().count(b"\n")
        # A power cut may tear the last line as well.
        journal.write_bytes(journal.read_bytes() + b'{"cell": "home/op')
    run(study, testbed=fake(), out=parts, jobs=1, resume=True)
    assert tables(parts) == tables(whole)


def test_full_disk_gives_one_line_and_keeps_the_journal(small_study, tmp_path):
    out = str(tmp_path / "run")
    code = textwrap.dedent(
        f"""
        import resource, sys
        sys.path.insert(0, {str(Path(__file__).parents[1] / "contract")!r})
        from fake import FakeTestbed
        from airtoll.run import run
        from airtoll.errors import StorageError
        import signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
        try:
            run({str(small_study())!r}, testbed=FakeTestbed(), out={out!r}, jobs=1)
        except StorageError as error:
            print(error)
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ}
    )
    assert done.stdout.count("\n") == 1
    assert "File too large" in done.stdout
    lines = (tmp_path / "run" / "journal.jsonl").read_bytes()
    assert lines.count(b"\n") > 3
    assert lines.endswith(b"\n")


def test_a_trial_whose_testbed_broke_is_tried_again_on_resume(small_study, fake, tmp_path):
    class Breaking(fake):
        """Breaks in two trials, as a guest that dies does."""

        broken = 2

        def measure(self, trial, captures=None):
            if trial.number == 2 and self.broken:
                self.broken -= 1
                return Measured(failure=f"{BROKEN}guest: the guest died")
            return super().measure(trial, captures)

    study = small_study()
    first = run(study, testbed=Breaking(), out=tmp_path / "run", jobs=1)
    assert first.totals is not None
    assert (first.totals.ok, first.totals.failed) == (22, 2)
    bed = fake()
    second = run(study, testbed=bed, out=tmp_path / "run", jobs=1, resume=True)
    assert [(trial, attempt) for _cell, trial, attempt in bed.measured] == [(2, 2), (2, 2)]
    assert second.totals is not None
    assert (second.totals.ok, second.totals.failed) == (24, 0)
    ok = second.trials().filter(status="ok")
    assert ok.select("cell", "trial").n_unique() == ok.height == 24


def test_a_run_that_went_on_in_another_place_says_so(small_study, fake, tmp_path):
    class Placed(fake):
        """Knows its guest only once a trial was carried out."""

        place = "kvm"

        def environment(self):
            return {"fake": "1", **({"accelerator": self.place} if self.measured else {})}

    class Elsewhere(Placed):
        place = "uml"

    study = small_study()
    with pytest.raises(Interrupted):
        run(study, testbed=Placed(interrupt_after=3), out=tmp_path / "run", jobs=1)
    manifest = json.loads((tmp_path / "run" / "run.json").read_text())
    assert manifest["environment"]["accelerator"] == "kvm"
    result = run(study, testbed=Elsewhere(), out=tmp_path / "run", jobs=1, resume=True)
    assert result.places == ["kvm", "uml"]
    # A call that measures nothing more adds nothing.
    again = run(study, testbed=Elsewhere(), out=tmp_path / "run", jobs=1, resume=True)
    assert again.places == ["kvm", "uml"]
