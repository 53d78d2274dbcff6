"""The simulator against recorded figures of ns-3 (``benchmarks/ns3_agreement.py record``).

The readings are means over ns-3 runs with their standard error; the tolerances are
the larger of 1 % (above 20 stations 2.5 %) and two standard errors for throughput, and 2 % for the
delay of paced traffic.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
READINGS = json.loads((Path(__file__).parent / "ns3_readings.json").read_text())["cases"]


def _load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


scenarios = _load("scenarios")
_load("ns3_testbed")
agreement = _load("ns3_agreement")

#: A second or more each: long aggregates of many stations. Shorter rows of these kinds remain.
LONG = {
    "udp-ac80-mcs9-x10",
    "udp-ax80-mcs11-x10",
    "udp-ax80-mcs11-x20",
    "udp-be80-mcs5-emlsr-x4",
    "tcp-ax80-mcs11-up-x1",
    "tcp-ax80-mcs11-lan-up-x1",
}
CASES = [
    pytest.param(case, marks=[pytest.mark.thorough] * (case.name in LONG), id=case.name)
    for case in scenarios.cases()
    if case.name in READINGS
]


def test_every_case_has_a_reading() -> None:
    assert {case.name for case in scenarios.cases()} == set(READINGS) | agreement.UNRECORDED
    assert not agreement.UNRECORDED & set(READINGS)
    assert set(READINGS) >= LONG


@pytest.mark.parametrize(
    "case",
    [case for case in scenarios.cases() if case.category == "ALL"],
    ids=lambda case: case.name,
)
def test_access_categories_share_as_in_ns3(case: Any) -> None:
    recorded = READINGS[case.name]["flows_bps"]
    ours = agreement.ours(case, duration_s=60.0)["flows_bps"]
    kinds = range(4)
    for category in kinds:
        share, other = (
            sum(flows[category :: len(kinds)]) / sum(flows) for flows in (ours, recorded)
        )
        assert share == pytest.approx(other, abs=0.02), category


@pytest.mark.parametrize("case", CASES)
def test_agrees_with_ns3(case: Any) -> None:
    reason = agreement.KNOWN_DIFFERENCES.get(case.name)
    entry = READINGS[case.name]
    metric = "delay_s" if case.kind == "delay" else "throughput_bps"
    # Collisions make long A-MPDUs noisy: one percent needs more of them. OFDMA leaves none.
    contends = (case.stations > 1 or case.neighbours[0]) and case.ofdma == "off"
    duration_s = 60.0 if contends or case.kind == "tcp" else 10.0
    duration_s = agreement.OWN_SECONDS.get(case.name, duration_s)
    ours = agreement.ours(case, duration_s=duration_s)[metric]
    difference = ours / entry[metric] - 1
    # A known difference has to be where it is known to be: if it goes away, say so.
    allowed = agreement.tolerance(case, entry) if reason is None else reason.at_most
    assert abs(difference) <= allowed, f"{difference:+.2%}, allowed {allowed:.2%}"
