"""Router profiles: published cipher rates come back, and software encryption costs throughput."""

from __future__ import annotations

import polars as pl
import pytest

from airtoll.profiles import load
from airtoll.run import run

STUDY = """
[study]
name = "router"
title = "A router"
[trials]
repetitions = 2
[scenario.home]
phy = "802.11n"
mcs = 7
streams = 2
stations = [{ name = "A" }]
ap = { profile = "router" }
[profile_set.hardware]
router = "mt7621"
[profile_set.software]
router = "mt7621-software"
[traffic.udp]
transport = "udp"
direction = "down"
duration_s = 0.5
[grid]
policy = ["open", "wpa2-psk-ccmp"]
profile_set = ["hardware", "software"]
"""


@pytest.mark.parametrize(
    ("name", "octets", "per_s"),
    [
        # CCM does twice the AES blocks of CBC: half of the printed rate of aes-128-cbc.
        ("mt7621-software", 1024, 12.92e6 / 2 / 1024),
        ("ipq4019-software", 1024, 18.61933e6 / 2 / 1024),
        # Operations per second as printed by the kernel's own test.
        ("mt7622-software", 64, 561_872),
        ("mt7622-software", 256, 437_846),
    ],
)
def test_a_published_rate_comes_back(name: str, octets: int, per_s: float) -> None:
    profile = load(name)
    cost = profile.cipher["ccmp-128"]
    assert cost.engine == "cpu"
    assert cost.octet_cycles is not None
    cycles = octets * cost.octet_cycles.value
    cycles += cost.frame_cycles.value if cost.frame_cycles else 0
    assert profile.clock_hz.value / cycles == pytest.approx(per_s, rel=2e-3)


def test_a_published_rate_of_gcm_comes_back() -> None:
    profile = load("ipq4019-software")
    cost = profile.cipher["gcmp-128"]
    assert cost.frame_cycles is not None
    assert cost.octet_cycles is not None
    for octets, rate in ((256, 6_442_240), (512, 7_300_608)):
        cycles = cost.frame_cycles.value + octets * cost.octet_cycles.value
        assert profile.clock_hz.value * octets / cycles == pytest.approx(rate, rel=2e-3)


@pytest.mark.parametrize("name", ["qca9531", "mt7621", "ipq4019", "mt7622", "mt7986"])
def test_a_router_says_what_is_not_published(name: str) -> None:
    hardware, software = load(name), load(f"{name}-software")
    assert hardware.cipher["ccmp-128"].engine == "inline"
    assert software.clock_hz == hardware.clock_hz
    for profile in (hardware, software):
        assert any("forwarding" in gap for gap in profile.gaps)
    # These SoCs borrow the cycles of another one with the same core.
    if name in ("qca9531", "mt7986"):
        assert any("none are published for this SoC" in gap for gap in software.gaps)


def test_encryption_on_a_slow_cpu_costs_throughput_where_the_radio_costs_next_to_none(tmp_path):
    study = tmp_path / "router.toml"
    study.write_text(STUDY)
    result = run(study, out=tmp_path / "run", jobs=1)
    rows = result.observations().filter(
        pl.col("flow").is_null() & pl.col("station").is_null(), metric="throughput_bps"
    )
    means = dict(rows.group_by("cell").agg(pl.col("value").mean()).iter_rows())
    hardware = means["home/wpa2-psk-ccmp/udp?profile_set=hardware"]
    software = means["home/wpa2-psk-ccmp/udp?profile_set=software"]
    opens = [means[f"home/open/udp?profile_set={name}"] for name in ("hardware", "software")]
    assert opens[0] == pytest.approx(opens[1], rel=1e-3)
    # 880 MHz / 136.2 cycles an octet: 51.7 Mb/s of payload, headers of IP and UDP included.
    assert software == pytest.approx(0.98 * 51.7e6, rel=0.03)
    assert hardware > 1.5 * software
    assert hardware > 0.98 * opens[0]


def test_a_microcontroller_computes_signatures_in_the_published_times() -> None:
    profile = load("cortex-m4f")
    seconds = {
        name: number.value / profile.clock_hz.value for name, number in profile.operation.items()
    }
    # Printed times at 64 MHz (P256-Cortex-M4, README).
    assert seconds["ecdsa-p-256-sign"] == pytest.approx(5.9e-3, rel=0.01)
    assert seconds["ecdsa-p-256-verify"] == pytest.approx(15.3e-3, rel=0.01)
    assert seconds["p-256-scalar-mul"] == pytest.approx(14.2e-3, rel=0.01)
    assert any("ESP32" in gap for gap in profile.gaps)
