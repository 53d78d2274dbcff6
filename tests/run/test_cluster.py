"""Trials on a Dask cluster: the same bytes as here, also when a worker dies half-way."""

from __future__ import annotations

import json
import os
import signal
import threading
from importlib.util import find_spec

import pytest

from airtoll import _native
from airtoll.errors import EnvironmentProblem, UsageError
from airtoll.observe.journal import BROKEN, FAULT
from airtoll.run import cluster, run
from airtoll.run.cluster import Cluster
from airtoll.testbeds.simulator import Simulator

pytestmark = pytest.mark.skipif(
    find_spec("distributed") is None, reason="the extra `dask` is not installed"
)

STUDY = """
[study]
name = "sent"
title = "Sent away"
[trials]
repetitions = 12
[scenario.home]
phy = "802.11a"
[traffic.udp]
transport = "udp"
duration_s = 3
[grid]
policy = ["open", "wpa2-psk-ccmp"]
"""


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "sent.toml"
    path.write_text(STUDY)
    return path


def tables(path):
    return (path / "observations.parquet").read_bytes(), (path / "trials.parquet").read_bytes()


def test_a_killed_worker_changes_nothing(study, tmp_path, monkeypatch):
    run(study, out=tmp_path / "here", jobs=1)
    killed: list[int] = []
    submit = Cluster.submit

    def submit_and_kill(self, trial):
        submit(self, trial)
        if trial.number == 4 and not killed:
            pids = self._client.run(os.getpid)
            victim = next(iter(pids.values()))
            killed.append(victim)
            threading.Timer(0.05, os.kill, (victim, signal.SIGKILL)).start()

    monkeypatch.setattr(Cluster, "submit", submit_and_kill)
    run(study, out=tmp_path / "away", jobs=2, executor="dask")
    assert killed
    assert tables(tmp_path / "away") == tables(tmp_path / "here")


@pytest.fixture(scope="module")
def local():
    """A scheduler of this process, without workers and a worker thread that a test may start."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=0, processes=False, dashboard_address=None) as started:
        yield started


def test_a_cluster_without_workers_is_said_and_ends(study, tmp_path, monkeypatch, local):
    monkeypatch.setattr(cluster, "_NO_WORKER_S", 0.5)
    monkeypatch.setattr(cluster, "_LOOK_S", 0.1)
    said = []
    with pytest.raises(EnvironmentProblem, match=r"has no worker for 0.5 s; start one with `dask"):
        run(
            study,
            out=tmp_path / "x",
            executor="dask",
            scheduler=local.scheduler_address,
            on_phase=said.append,
        )
    assert said[0].startswith("waiting for a worker: ")
    assert json.loads((tmp_path / "x" / "run.json").read_text())["state"] == "interrupted"


def test_a_worker_that_comes_late_carries_the_run_out(study, tmp_path, monkeypatch, local):
    monkeypatch.setattr(cluster, "_LOOK_S", 0.1)
    said = []
    threading.Timer(0.5, local.scale, (1,)).start()
    scheduler = local.scheduler_address
    values = {"traffic.udp.duration_s": 0.05}
    result = run(study, out=tmp_path / "x", executor="dask", scheduler=scheduler, values=values,
                 on_phase=said.append)  # fmt: skip
    assert result.totals.ok == 24
    assert said[0].startswith("waiting for a worker: ")
    assert said[1] == ""


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (lambda: _native.stop_with_fault("moved past"), "Fault: moved past (crates/"),
        # No Exception: it ended the thread of a worker, and the run waited for ever.
        (lambda: _raise(_native.PanicException("moved past")), "PanicException: moved past"),
    ],
)
def test_a_panic_on_a_worker_is_a_failed_trial(study, tmp_path, monkeypatch, local, error, words):
    local.scale(1)
    whole = Simulator.measure

    def measure(self, trial, captures=None):
        return error() if trial.number == 3 else whole(self, trial, captures)

    monkeypatch.setattr(Simulator, "measure", measure)
    values = {"traffic.udp.duration_s": 0.05}
    scheduler = local.scheduler_address
    result = run(study, out=tmp_path / "x", executor="dask", scheduler=scheduler, values=values)
    assert (result.totals.ok, result.totals.faults) == (22, 2)
    failed = result.trials().filter(status="failed")
    assert all(reason.startswith(f"{FAULT}{words}") for reason in failed["reason"])


# Workers start five times, for nine seconds of CPU time.
@pytest.mark.thorough
def test_workers_that_die_of_a_trial_fail_it_alone(study, tmp_path, monkeypatch):
    """The trial is broken, so that a resumed run tries again."""
    submit = Cluster.submit

    def submit_or_kill(self, trial):
        if (trial.number, trial.attempt, trial.cell.policy) == (2, 1, "open"):
            future = self._client.submit(os._exit, 1, pure=False)
            self._flying[future.key] = (trial, future)
            future.add_done_callback(self._ended.put)
        else:
            submit(self, trial)

    monkeypatch.setattr(Cluster, "submit", submit_or_kill)
    # Each death costs a start of a worker.
    monkeypatch.setattr(cluster, "_DEATHS", 1)
    values = {"traffic.udp.duration_s": 0.05}
    away = {"executor": "dask", "jobs": 2, "values": values, "out": tmp_path / "x"}
    result = run(study, **away)
    assert (result.totals.ok, result.totals.faults) == (23, 1)
    (reason,) = result.trials().filter(status="failed")["reason"]
    assert reason == f"{BROKEN}dask: its workers died"
    assert run(study, out=tmp_path / "x", resume=True).totals.ok == 24


def _raise(error):
    raise error


def test_what_cannot_be_sent_is_refused(study, tmp_path, fake):
    with pytest.raises(UsageError, match="fake cannot be sent"):
        run(study, testbed=fake(), out=tmp_path / "x", executor="dask")
    with pytest.raises(UsageError, match="choose local or dask"):
        run(study, testbed=fake(), out=tmp_path / "y", executor="cloud")
    for options, words in (
        ({"scheduler": "tcp://here:1"}, "--scheduler tcp://here:1: goes with --executor dask"),
        ({"scheduler": "", "executor": "dask"}, "--scheduler '': is empty"),
        (
            {"scheduler": "tcp://here:1", "executor": "dask", "jobs": 2},
            "--jobs is for workers of this machine",
        ),
    ):
        with pytest.raises(UsageError, match=words):
            run(study, out=tmp_path / "z", **options)
    assert not any((tmp_path / name).exists() for name in "xyz")


def test_a_missing_scheduler_is_named(study, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "_CONNECT_S", 1.0)
    with pytest.raises(EnvironmentProblem, match="no Dask scheduler answers"):
        run(study, out=tmp_path / "x", executor="dask", scheduler="tcp://127.0.0.1:9")
