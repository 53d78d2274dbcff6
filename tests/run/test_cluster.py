"""Trials on a Dask cluster: the same bytes as here, also when a worker dies half-way."""

from __future__ import annotations

import os
import signal
import threading

import pytest

pytest.importorskip("distributed", reason="the extra `dask` is not installed")

from airtoll.errors import EnvironmentProblem, UsageError
from airtoll.run import cluster, run
from airtoll.run.cluster import Cluster

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


def test_what_cannot_be_sent_is_refused(study, tmp_path, fake):
    with pytest.raises(UsageError, match="fake cannot be sent"):
        run(study, testbed=fake(), out=tmp_path / "x", executor="dask")
    with pytest.raises(UsageError, match="choose local or dask"):
        run(study, testbed=fake(), out=tmp_path / "y", executor="cloud")


def test_a_missing_scheduler_is_named(study, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "_CONNECT_S", 1.0)
    with pytest.raises(EnvironmentProblem, match="no Dask scheduler answers"):
        run(study, out=tmp_path / "x", executor="dask", scheduler="tcp://127.0.0.1:9")
