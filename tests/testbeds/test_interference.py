"""Interferers: nodes defer to strong ones, weak ones cost frames, and nonsense is refused."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
import pytest

from airtoll.analyse.selection import closest_to_mean
from airtoll.plan import make_plan
from airtoll.study import Study
from airtoll.testbeds.analytic import Analytic
from airtoll.testbeds.simulator import Simulator

OVEN: dict[str, Any] = {"kind": "microwave", "level_dbm": -50.0}


def plan_of(
    interferer: dict[str, Any] | None,
    trials: int = 1,
    radio: dict[str, Any] | None = None,
    **more: Any,
) -> Any:
    data = {
        "study": {"name": "interference", "title": "Interference", "baseline": "open"},
        "scenario": {
            "one": {
                "phy": "802.11g",
                "rssi_dbm": -60.0,
                "beacons": False,
                "radio": {"interferer": interferer} | (radio or {}),
            }
            | more
        },
        "traffic": {"load": {"transport": "udp", "duration_s": 1}},
        "grid": {"scenario": ["one"], "traffic": ["load"], "policy": ["open"]},
    }
    return make_plan(Study.model_validate(data), repetitions=trials)


def rows(trials: int = 1, **given: Any) -> list[dict[str, float]]:
    plan = plan_of(trials=trials, **given)
    (cell,) = plan.cells
    testbed = Simulator()
    assert testbed.check(cell) is None
    found = []
    for number in range(1, trials + 1):
        measured = testbed.measure(plan.trial(cell, number, 1)).rows
        sums: dict[str, float] = {}
        for row in measured:
            if row.second is None and (row.flow or row.station is None):
                sums[row.metric] = sums.get(row.metric, 0.0) + row.value
        found.append(sums)
    return found


def test_a_strong_oven_takes_its_share_of_the_time() -> None:
    (clear,), (oven,) = rows(interferer=None), rows(interferer=OVEN)
    assert "airtime_interference_s" not in clear
    # On for half of the second; a frame of at most 0.3 ms straddles each of its 50 beginnings.
    assert 0.48 <= oven["airtime_interference_s"] <= 0.5
    ratio = oven["throughput_bps"] / clear["throughput_bps"]
    assert 0.47 < ratio < 0.51
    parts = [
        value
        for metric, value in oven.items()
        if metric.startswith("airtime_") and metric.endswith("_s")
    ]
    assert sum(parts) == pytest.approx(1.0, abs=1e-6)


def test_an_oven_below_energy_detection_costs_frames_and_no_waiting() -> None:
    # 10 dB below the signal: 54 Mb/s fails, and stations do not wait for the end of a burst.
    (oven,) = rows(interferer=OVEN | {"level_dbm": -70.0})
    assert oven["airtime_interference_s"] == 0
    # The contention window grows with each loss, so that little of half a second is spent on them.
    assert 0.03 < oven["airtime_retry_s"] < 0.3
    # 35 dB below the signal: no frame fails.
    (weak,), (clear,) = rows(interferer=OVEN | {"level_dbm": -95.0}), rows(interferer=None)
    assert weak["throughput_bps"] == clear["throughput_bps"]


def test_stations_defer_to_a_neighbour_from_carrier_sense_on() -> None:
    neighbour = {"kind": "neighbour", "level_dbm": -75.0, "duty": 0.3, "period_ms": 5.0}
    (heard,) = rows(interferer=neighbour)
    assert 0.2 < heard["airtime_interference_s"] < 0.4
    (unheard,) = rows(interferer=neighbour, radio={"carrier_sense_dbm": -70.0})
    assert unheard["airtime_interference_s"] == 0


def test_presence_gives_a_selection_rule_something_to_select_from() -> None:
    """Readings of a quiet cell agree; beside an oven that comes and goes they do not."""
    quiet, disturbed = (
        [one["throughput_bps"] for one in rows(trials=20, interferer=interferer)]
        for interferer in (None, OVEN | {"present_s": 1.0, "absent_s": 3.0})
    )
    spread = statistics.stdev(disturbed) / statistics.fmean(disturbed)
    assert statistics.stdev(quiet) / statistics.fmean(quiet) < 0.01
    assert spread > 0.1
    values = np.array(disturbed)
    kept = list(values[closest_to_mean(5)(values)])
    assert len(kept) == 5
    assert statistics.stdev(kept) < 0.5 * statistics.stdev(disturbed)


@pytest.mark.parametrize(
    ("interferer", "word"),
    [
        ({"kind": "neighbour", "level_dbm": -70.0}, "needs duty and period_ms"),
        (OVEN | {"present_s": 1.0}, "come together"),
        (OVEN | {"duty": 1.0}, "duty"),
        (OVEN | {"duty": 0.0}, "duty"),
        (OVEN | {"level_dbm": 40.0}, "level_dbm"),
        (OVEN | {"period_ms": 0.0}, "period_ms"),
        ({"kind": "radar", "level_dbm": -60.0}, "kind"),
    ],
)
def test_nonsense_is_refused(interferer: dict[str, Any], word: str) -> None:
    with pytest.raises(ValueError, match=word):
        plan_of(interferer)


def test_an_oven_needs_its_band_and_closed_forms_have_no_interferer() -> None:
    (cell,) = plan_of(OVEN, phy="802.11a").cells
    skip = Simulator().check(cell)
    assert skip is not None
    assert "ovens radiate at 2.4 GHz" in skip.reason
    (cell,) = plan_of(OVEN).cells
    skip = Analytic().check(cell)
    assert skip is not None
    assert "no interferer" in skip.reason
