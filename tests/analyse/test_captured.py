"""Two captures of the simulator taken apart, beside what its own ledger says."""

from __future__ import annotations

from pathlib import Path

import pytest

from airtoll.analyse.captured import take_apart
from airtoll.capture import capture_report
from airtoll.errors import UsageError
from airtoll.plan import Cell, Trial
from airtoll.study import Scenario, Traffic
from airtoll.testbeds.simulator import Simulator

POLICIES = ("open", "wpa3-sae-gcmp-256")


def _trial(policy: str, folder: Path, *, beacons: bool) -> tuple[Path, float]:
    """Folder of the captures of a trial, and its throughput in bit/s."""
    cell = Cell(
        scenario="s",
        policy=policy,
        traffic="t",
        factors=(),
        settings=Scenario.model_validate({"phy": "802.11a", "beacons": beacons}),
        load=Traffic.model_validate({"transport": "udp", "payload_bytes": 200, "duration_s": 0.5}),
    )
    trial = Trial(cell=cell, number=1, attempt=1, seed=1)
    measured = Simulator().measure(trial, folder)
    (rate,) = (
        row.value
        for row in measured.rows
        if row.metric == "throughput_bps" and row.flow is None and row.station is None
    )
    return measured.files[0].parent, rate


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, float]]:
    return {
        policy: _trial(policy, tmp_path_factory.mktemp(policy), beacons=False)
        for policy in POLICIES
    }


def test_parts_add_up_and_security_octets_are_the_largest(folders) -> None:
    (plain, rate), (secured, slower) = (folders[policy] for policy in POLICIES)
    key = [secured / "keys.json"]
    found = take_apart(
        capture_report([str(plain / "air.pcapng")], [], []),
        capture_report([str(secured / "air.pcapng")], [], key),
    )
    parts = dict(found.parts.select("part", "value").iter_rows())
    assert sum(parts.values()) == pytest.approx(found.overhead, abs=1e-9)
    assert found.overhead == pytest.approx(1 - slower / rate, abs=0.002)
    assert max(parts, key=lambda name: abs(parts[name])) == "airtime_security_s"
    # 24 octets of GCMP-256 per frame, whose payload of 200 octets goes in few symbols.
    assert 0.01 < parts["airtime_security_s"] < 0.03


def test_a_capture_without_payload_is_refused(folders) -> None:
    (plain, _), (secured, _) = (folders[policy] for policy in POLICIES)
    wire = capture_report([str(plain / "wire.pcapng")], [], [])
    air = capture_report([str(secured / "air.pcapng")], [], [])
    with pytest.raises(UsageError, match="baseline capture"):
        take_apart(wire, air)


@pytest.mark.parametrize("policy", ["wpa2-psk-ccmp", "wpa2-psk-gcmp", "wpa3-sae-gcmp-256"])
def test_closed_frames_cost_what_opened_ones_cost(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, policy: str
) -> None:
    plain, _ = _trial("open", tmp_path_factory.mktemp("open"), beacons=True)
    secured, _ = _trial(policy, tmp_path, beacons=True)
    baseline = capture_report([plain / "air.pcapng"])
    opened = take_apart(
        baseline, capture_report([secured / "air.pcapng"], key_logs=[secured / "keys.json"])
    )
    closed = take_apart(baseline, capture_report([secured / "air.pcapng"]))
    assert (opened.compared_by, opened.closed) == ("payload", {})
    assert closed.compared_by == "plaintext"
    assert list(closed.closed) == ["secured"]
    assert closed.overhead > 0.005
    assert closed.overhead == pytest.approx(opened.overhead, abs=1e-6)
    parts = {
        name: dict(found.parts.select("part", "value").iter_rows())
        for name, found in (("opened", opened), ("closed", closed))
    }
    security = "airtime_security_s"
    assert parts["closed"][security] == pytest.approx(parts["opened"][security], rel=1e-3)
    assert sum(parts["closed"].values()) == pytest.approx(closed.overhead, abs=1e-9)


def test_closed_frames_of_an_unknown_cipher_are_refused(folders) -> None:
    (plain, _), (secured, _) = (folders[policy] for policy in POLICIES)
    with pytest.raises(UsageError, match=r"secured capture: .* names their cipher"):
        take_apart(capture_report([plain / "air.pcapng"]), capture_report([secured / "air.pcapng"]))
