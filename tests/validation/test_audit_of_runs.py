"""Runs of the simulator are clean: the audit finds nothing in them."""

from __future__ import annotations

import pytest

from airtoll.analyse.audit import audit_run
from airtoll.analyse.decomposition import REMAINDER, decompose
from airtoll.run import run

pytest.importorskip("airtoll._native", reason="needs the native module: make build")

SHORT = {f"traffic.{name}.duration_s": 0.5 for name in ("udp", "tcp", "small")}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return run(
        "quickstart", trials=5, out=tmp_path_factory.mktemp("run") / "quickstart", values=SHORT
    )


def test_no_finding(finished):
    study = finished.folder.study_file().study
    assert audit_run("run", finished.observations(), finished.trials(), study) == []


def test_the_ledger_explains_every_overhead(finished):
    spans = {
        cell.name: cell.load.duration_s - cell.load.warm_up_s
        for cell in finished.folder.plan().cells
    }
    frame = decompose(finished.observations(), spans, finished.trials())
    assert frame["cell"].n_unique() == 6
    rest = frame.filter(part=REMAINDER)
    assert rest["value"].abs().max() < 1e-9
    octets = frame.filter(part="airtime_security_s")
    assert (octets["value"] > 0).all()
