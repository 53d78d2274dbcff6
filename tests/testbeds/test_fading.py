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


@pytest.mark.parametrize("radio", [{"fading": "rayleigh"}, {"shadowing_db": 4.0}])
def test_closed_forms_refuse_fading(radio: dict[str, Any]) -> None:
    (cell,) = plan_of(1, radio).cells
    skip = Analytic().check(cell)
    assert skip is not None
    assert "no fading, no shadowing" in skip.reason


@pytest.mark.parametrize(
    "radio",
    [{"fading": "rician"}, {"rician_k_db": 3.0}, {"coherence_ms": 5.0}],
)
def test_fields_that_would_have_no_effect_are_refused(radio: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"rician_k_db|coherence_ms"):
        plan_of(1, radio)
