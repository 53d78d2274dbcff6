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

QUICK, MORE, ALL = 40, 200, 5000
EACH = 20


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(first, marks=[pytest.mark.thorough] * (first >= QUICK))
        for first in range(0, MORE, EACH)
    ],
)
def test_random_scenarios_hold_their_relations(first):
    failures = [words for n in range(first, first + EACH) if (words := scenarios.tried(n))]
    assert not failures, "\n".join(failures)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(MORE, ALL, 50))
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


@pytest.mark.parametrize(
    ("policy", "scenario", "traffic"),
    [
        # IPv6 packets in fragments have a further header each.
        ("open", {"phy": "802.11g"}, {"ip": "ipv6", "payload_bytes": 9000}),
        # Michael's MIC is in the last MAC fragment alone.
        ("wpa-psk-tkip", {"phy": "802.11b", "fragmentation_threshold_octets": 700}, {}),
        # Packets in an A-MSDU are padded to four octets.
        (
            "wpa2-psk-ccmp",
            {"phy": "802.11ax", "amsdu_max_octets": 7935},
            {"payload_bytes": 201, "offered_mbps": 5},
        ),
    ],
)
def test_a_capture_counts_headers_security_and_payload_as_the_simulator(policy, scenario, traffic):
    case = scenarios.Case(
        {**scenario, "stations": [{"name": "A", "rssi_dbm": -40}]},
        {"transport": "udp", "duration_s": 0.1, **traffic},
        policy,
    )
    assert case.cell() is not None
    scenarios.a_capture_holds_what_was_counted(case)


def test_no_case_offers_more_than_a_few_seconds_simulate():
    case = scenarios.Case(
        {"phy": "802.11ac", "stations": [{"name": name} for name in "ABCDE"]},
        {"transport": "udp", "duration_s": 0.2, "offered_mbps": 200, "payload_bytes": 1},
    )
    assert scenarios.datagrams_of(case) == 25e6
    offered = [scenarios.datagrams_of(scenarios.case_of(n)[0]) for n in range(80, 180)]
    assert max(offered) <= scenarios.MOST_DATAGRAMS


def test_the_same_number_is_the_same_case():
    assert scenarios.case_of(7) == scenarios.case_of(7)
    assert scenarios.case_of(7)[0] != scenarios.case_of(18)[0]
