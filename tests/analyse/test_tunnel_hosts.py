"""WireGuard on one CPU: the published rows, the fit, and the profiles that hold it."""

from __future__ import annotations

import numpy as np
import pytest

from airtoll.analyse.tunnel_hosts import OUTER, SEGMENT, Machine, Overheads, fit, halves, machines
from airtoll.observe.datasets import load_dataset
from airtoll.profiles import load


@pytest.fixture(scope="module")
def every():
    return machines(load_dataset("wg-bench"))


def test_planted_overheads_come_back():
    truth = Overheads({"a53": 60e3, "1004k": 140e3}, 0.45)
    blank = [
        Machine("m", "s", core, cores, clock, 1.0)
        for core, cores, clock in (
            ("a53", 2, 1.3e9),
            ("a53", 4, 2e9),
            ("a53", 4, 1.2e9),
            ("1004k", 2, 880e6),
        )
    ]
    seen = [
        Machine(m.name, m.soc, m.core, m.cores, m.clock_hz, truth.throughput_bps(m)) for m in blank
    ]
    found = fit(seen)
    for kind, cycles in truth.packet_cycles.items():
        assert found.packet_cycles[kind] == pytest.approx(cycles, rel=0.02)
    assert found.serial_share == pytest.approx(0.45, abs=0.01)


def test_each_half_predicts_the_other(every):
    assert len(every) >= 40
    for seen, unseen in (halves(every), halves(every)[::-1]):
        overheads = fit(seen)
        errors = [abs(overheads.error(machine)) for machine in unseen]
        assert np.median(errors) < 0.15
        assert len(errors) >= 20


def test_the_profiles_have_the_fit_to_every_second_machine(every):
    overheads = fit(halves(every)[0])
    for name, kind in (
        ("mt7621", "1004k"),
        ("qca9531", "24k"),
        ("ipq4019", "a7"),
        ("mt7981", "a53"),
        ("raspberry-pi-4", "a72"),
        ("raspberry-pi-5", "a76"),
    ):
        cost = load(name).tunnel["wireguard"]
        assert cost.packet_cycles is not None
        assert cost.serial_cycles is not None
        packet = overheads.packet_cycles[kind]
        assert cost.packet_cycles.value == pytest.approx(packet / 2, rel=0.01)
        assert cost.serial_cycles.value == pytest.approx(overheads.serial_share * packet, rel=0.01)


def test_cores_share_the_work_of_successive_packets():
    # Two ends on one core of a single-core device: the printed 19.2 Mb/s of a QCA9533.
    fixed, each = load("qca9531").tunnel_seconds("wireguard", OUTER)
    assert 8e-6 * SEGMENT / (2 * (fixed + each * OUTER)) == pytest.approx(19.2, rel=0.1)
    # On four fast cores one of them is busy with its part of every packet.
    assert load("mt7986").tunnel_seconds("wireguard", OUTER)[1] == 0.0
    # ESP of one flow is worked out on one core.
    fixed, each = load("mt7621").tunnel_seconds("esp-aes-gcm", OUTER)
    assert 8e-6 * 1386 / (fixed + each * 1496) == pytest.approx(31.5, rel=0.02)


def test_an_unknown_cost_is_no_cost_of_zero():
    assert load("mt7621").tunnel_seconds("openvpn-aes-gcm", OUTER) is None
