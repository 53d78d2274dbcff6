"""Random valid scenarios hold the relations of ``scenarios.py``."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from pathlib import Path

import pytest

from airtoll.study import Study

_SPEC = importlib.util.spec_from_file_location(
    "campaign_scenarios", Path(__file__).parent / "scenarios.py"
)
scenarios = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = scenarios
_SPEC.loader.exec_module(scenarios)

QUICK, ALL = 80, 5000
EACH = 20


@pytest.mark.parametrize("first", range(0, QUICK, EACH))
def test_random_scenarios_hold_their_relations(first):
    failures = [words for n in range(first, first + EACH) if (words := scenarios.tried(n))]
    assert not failures, "\n".join(failures)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(QUICK, ALL, 50))
def test_many_random_scenarios_hold_their_relations(first):
    failures = [words for n in range(first, first + 50) if (words := scenarios.tried(n))]
    assert not failures, "\n".join(failures)


def test_a_failure_is_shrunk_to_the_keys_that_it_needs():
    case = scenarios.Case(
        {
            "phy": "802.11n",
            "edca": True,
            "retry_limit": 4,
            "stations": [{"name": "A", "rssi_dbm": -50}, {"name": "B", "rssi_dbm": -60}],
        },
        {"transport": "udp", "duration_s": 0.1, "offered_mbps": 2},
        "wpa2-psk-ccmp+wireguard",
    )
    small = scenarios.shrunk(case, lambda one: "edca" in one.scenario)
    assert small.scenario["edca"] is True
    assert set(small.scenario) == {"phy", "edca", "stations"}
    assert len(small.scenario["stations"]) == 1
    assert set(small.traffic) == {"transport", "duration_s"}
    assert small.policy == "open"
    assert Study.model_validate(tomllib.loads(small.toml()))


def test_the_same_number_is_the_same_case():
    assert scenarios.case_of(7) == scenarios.case_of(7)
    assert scenarios.case_of(7)[0] != scenarios.case_of(18)[0]
