"""Shadowing and fading: they act, by their distributions, and closed forms refuse them."""

from __future__ import annotations

import statistics
from typing import Any

import pytest

from airtoll.plan import make_plan
from airtoll.study import Study
from airtoll.testbeds.analytic import Analytic
from airtoll.testbeds.simulator import Simulator


def plan_of(trials: int, radio: dict[str, Any], **settings: Any) -> Any:
    one = {"phy": "802.11a", "rssi_dbm": -68.0, "retry_limit": 1, "radio": radio} | settings
    data = {
        "study": {"name": "fading", "title": "Fading", "baseline": "open"},
        "scenario": {"one": one},
        "traffic": {"load": {"transport": "udp", "duration_s": 1}},
        "grid": {"scenario": ["one"], "traffic": ["load"], "policy": ["open"]},
    }
    return make_plan(Study.model_validate(data), repetitions=trials)


def throughputs(trials: int, radio: dict[str, Any], **settings: Any) -> list[float]:
    plan = plan_of(trials, radio, **settings)
    (cell,) = plan.cells
    testbed = Simulator()
    assert testbed.check(cell) is None
    found = []
    for number in range(1, trials + 1):
        rows = testbed.measure(plan.trial(cell, number, 1)).rows
        found.append(sum(r.value for r in rows if r.metric == "throughput_bps" and r.flow))
    return found


def test_shadowing_spreads_the_trials() -> None:
    """Without it a strong link has the same result within the draws of contention."""
    still = throughputs(8, {}, rssi_dbm=-72.0)
    shadowed = throughputs(8, {"shadowing_db": 8.0}, rssi_dbm=-72.0)
    assert statistics.stdev(shadowed) > 5 * statistics.stdev(still)
    # The same seed draws the same levels.
    assert throughputs(8, {"shadowing_db": 8.0}, rssi_dbm=-72.0) == shadowed


def test_deep_fades_lose_frames_and_a_line_of_sight_loses_fewer() -> None:
    none, rician, rayleigh = (
        statistics.fmean(throughputs(3, radio, rssi_dbm=-70.0))
        for radio in (
            {},
            {"fading": "rician", "rician_k_db": 6.0},
            {"fading": "rayleigh"},
        )
    )
    assert rayleigh < rician < none


def test_the_share_of_faded_blocks_is_that_of_the_distribution() -> None:
    """54 Mb/s fails where the gain takes the level below what it needs: 1 - exp(-g), Rayleigh."""
    strong, weak = (
        statistics.fmean(
            throughputs(4, {"fading": "rayleigh", "coherence_ms": 2.0}, rssi_dbm=level)
        )
        for level in (-45.0, -66.0)
    )
    clear = statistics.fmean(throughputs(2, {}, rssi_dbm=-45.0))
    # 54 Mb/s needs about -76 dBm, a gain of 0.1 of the mean: 1 - exp(-0.1) = 0.095.
    assert strong == pytest.approx(clear, rel=0.02)
    assert 0.88 < weak / clear < 0.94


def test_a_longer_coherence_time_groups_the_losses() -> None:
    quick, slow = (
        throughputs(10, {"fading": "rayleigh", "coherence_ms": ms}) for ms in (1.0, 200.0)
    )
    assert statistics.stdev(slow) > 2 * statistics.stdev(quick)


def losses(radio: dict[str, Any], **settings: Any) -> float:
    """Share of the throughput that fading takes."""
    clear = statistics.fmean(throughputs(1, {}, **settings))
    fading = {"fading": "rayleigh", "coherence_ms": 5.0} | radio
    return 1 - statistics.fmean(throughputs(3, fading, **settings)) / clear


def test_several_paths_spare_a_wide_frame_the_deep_fades() -> None:
    """MCS 0 needs a tenth of the mean power: 1 - exp(-0.1) of the blocks of one path fade below."""
    found = {}
    # The mean SNR is 10 dB at both widths.
    for width, level in ((20, -84.0), (80, -78.0)):
        for spread in (0.0, 50.0, 150.0):
            settings = {"phy": "802.11ax", "width_mhz": width, "rssi_dbm": level, "mcs": 0}
            found[width, spread] = losses({"delay_spread_ns": spread}, **settings)
    assert found[20, 0.0] > found[20, 50.0] > found[20, 150.0]
    assert found[80, 0.0] > 2 * found[80, 50.0]
    assert found[80, 50.0] < found[20, 50.0]
    assert found[80, 150.0] < 0.01


def test_a_delay_spread_of_zero_changes_no_bit() -> None:
    fading = {"fading": "rician", "rician_k_db": 3.0}
    without = throughputs(2, fading, rssi_dbm=-70.0)
    assert throughputs(2, fading | {"delay_spread_ns": 0.0}, rssi_dbm=-70.0) == without
    assert throughputs(2, fading | {"delay_spread_ns": 30.0}, rssi_dbm=-70.0) != without


def test_a_unit_of_a_shared_frame_has_less_diversity_than_the_whole_channel() -> None:
    """Four stations with 20 of 80 MHz each, one after another with all of it: MCS 0, 10 dB."""
    own = {"phy": "802.11ax", "width_mhz": 80, "rssi_dbm": -78.0, "mcs": 0, "clients": 4}
    own |= {"topology": "downlink", "retry_limit": 7}
    lost = [losses({"delay_spread_ns": 50.0}, ofdma=ofdma, **own) for ofdma in ("off", "downlink")]
    assert lost[0] < 0.02 < lost[1] < 0.25


@pytest.mark.parametrize(
    "radio",
    [
        {"fading": "rayleigh"},
        {"fading": "rayleigh", "delay_spread_ns": 50.0},
        {"shadowing_db": 4.0},
    ],
)
def test_closed_forms_refuse_fading(radio: dict[str, Any]) -> None:
    (cell,) = plan_of(1, radio).cells
    skip = Analytic().check(cell)
    assert skip is not None
    assert "no fading, no shadowing" in skip.reason


@pytest.mark.parametrize(
    "radio",
    [{"fading": "rician"}, {"rician_k_db": 3.0}, {"coherence_ms": 5.0}, {"delay_spread_ns": 50.0}],
)
def test_fields_that_would_have_no_effect_are_refused(radio: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"rician_k_db|coherence_ms|delay_spread_ns"):
        plan_of(1, radio)


def test_delays_beyond_the_guard_interval_are_refused() -> None:
    with pytest.raises(ValueError, match="less than or equal to 200"):
        plan_of(1, {"fading": "rayleigh", "delay_spread_ns": 300.0})
