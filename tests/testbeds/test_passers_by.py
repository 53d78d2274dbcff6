"""Stations that pass by: their probe traffic is in the ledger, and check states its share."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from airtoll.plan import make_plan
from airtoll.run.what_if import what_if
from airtoll.study import Study
from airtoll.testbeds import probe_traffic
from airtoll.testbeds.analytic import Analytic
from airtoll.testbeds.linux import capability as linux
from airtoll.testbeds.resolve import native, scenario
from airtoll.testbeds.simulator import Simulator

MANY: dict[str, Any] = {"per_s": 40.0}


def plan_of(given: dict[str, Any] | None, policy: str = "open", **more: Any) -> Any:
    own = {"rssi_dbm": -50.0, "clients": 2, "phy": "802.11g"} | more
    if given is not None:
        own["passers_by"] = given
    seconds = own.pop("duration_s", 1)
    data = {
        "study": {"name": "passing", "title": "Passing", "baseline": policy},
        "scenario": {"one": own},
        "traffic": {"load": {"transport": "udp", "duration_s": seconds}},
        "grid": {"scenario": ["one"], "traffic": ["load"], "policy": [policy]},
    }
    return make_plan(Study.model_validate(data), repetitions=1)


def cell_of(given: dict[str, Any] | None, policy: str = "open", **more: Any) -> Any:
    (cell,) = plan_of(given, policy, **more).cells
    return cell


def rows(given: dict[str, Any] | None, policy: str = "open", **more: Any) -> dict[str, float]:
    """Sums of the whole cell."""
    plan = plan_of(given, policy, **more)
    (cell,) = plan.cells
    testbed = Simulator()
    assert testbed.check(cell) is None
    measured = testbed.measure(plan.trial(cell, 1, 1))
    assert measured.failure is None
    sums: dict[str, float] = {}
    for row in measured.rows:
        assert not str(row.flow).startswith("passers")
        assert not str(row.station).startswith("passers")
        if row.second is None and row.flow is None and row.station is None:
            sums[row.metric] = row.value
    return sums


def test_no_requests_change_nothing() -> None:
    assert rows({"per_s": 0}) == rows(None)


def test_they_take_their_part_of_the_air() -> None:
    given = MANY | {"per_s": 100}
    cell = cell_of(given, ssids=3)
    stated = native(cell).probe_traffic()
    assert stated is not None
    alone, beside = (rows(one, ssids=3, duration_s=5) for one in (None, given))
    ledger = sum(v for m, v in beside.items() if m.startswith("airtime_") and m.endswith("_s"))
    assert ledger == pytest.approx(5.0, abs=1e-6)
    requests_s = 5 * 100 * stated["request_s"]
    assert beside["airtime_neighbours_s"] == pytest.approx(requests_s, rel=0.15)
    responses_s = 5 * 100 * sum(one["length_s"] for one in stated["responses"])
    more_s = beside["airtime_management_s"] - alone["airtime_management_s"]
    assert more_s == pytest.approx(responses_s, rel=0.15)
    loss = 1 - beside["throughput_bps"] / alone["throughput_bps"]
    # Each frame waits, too, as the share without waiting does not say.
    assert stated["share"] < loss < 1.6 * stated["share"]


def test_security_and_networks_lengthen_what_answers() -> None:
    def octets(policy: str, **more: Any) -> list[int]:
        found = native(cell_of(MANY, policy, **more)).probe_traffic()
        assert found is not None
        return [one["octets"] for one in found["responses"]]

    (plain,) = octets("open")
    (secured,) = octets("wpa2-psk-ccmp")
    # One RSN element: 2 octets before it, 20 in it.
    assert secured - plain == 22
    assert octets("wpa3-sae-ccmp")[0] > secured
    assert len(octets("open", ssids=4)) == 4
    together = octets("open", ssids=4, multiple_bssid=True)
    assert len(together) == 1
    assert plain < together[0] < 4 * plain
    # Of OWE transition mode the open network alone answers: the other one hides its name.
    assert len(octets("owe-transition")) == 1


def test_neighbours_answer_too() -> None:
    near = {"cells": 2, "level_dbm": -75.0, "stations": 0, "policy": ["open", "wpa3-sae-ccmp"]}
    found = native(cell_of(MANY, neighbours=near)).probe_traffic()
    assert found is not None
    assert [one["own"] for one in found["responses"]] == [True, False, False]
    quiet: dict[str, Any] = {"beacons": False, "duration_s": 5}
    alone = rows(MANY, **quiet)["airtime_neighbours_s"]
    beside = rows(MANY, neighbours=near, **quiet)["airtime_neighbours_s"]
    responses_s = 5 * 40 * sum(one["length_s"] for one in found["responses"][1:])
    # With SIFS and Acks, and what collides.
    assert responses_s < beside - alone < 2.5 * responses_s


def test_a_station_that_left_costs_every_attempt() -> None:
    def lost(**given: Any) -> dict[str, float]:
        return rows(MANY | {"leaves_ratio": 1.0} | given, duration_s=5, clients=1, edca=True)

    whole, once = lost(), lost(response_attempts=1)
    stated = native(cell_of(MANY, edca=True)).probe_traffic()
    assert stated is not None
    each_s = 5 * 40 * stated["responses"][0]["length_s"]
    assert once["airtime_retry_s"] == pytest.approx(each_s, rel=0.35)
    assert whole["airtime_retry_s"] > 4 * once["airtime_retry_s"]
    assert whole["throughput_bps"] < once["throughput_bps"]


def test_check_says_who_probes_and_what_it_takes() -> None:
    near = {"cells": 2, "level_dbm": -75.0, "stations": 1}
    given = {"per_s": 20, "leaves_ratio": 0.25}
    said = probe_traffic.words(cell_of(given, "wpa2-psk-ccmp", neighbours=near))
    assert said is not None
    assert said.startswith("stations that pass by send 20 Probe Requests of ")
    assert " per second at -70 dBm, answered by 1 Probe Response of " in said
    assert " of this cell and 2 Probe Responses of " in said
    assert " of 2 neighbours, 25 % of them 7 times because their station has left: " in said
    assert said.endswith(" % of the air without waiting")
    alone = probe_traffic.words(cell_of(given, neighbours=near | {"cells": 1}))
    assert " of 1 neighbour, 25 % of them" in (alone or "")
    far = probe_traffic.words(cell_of(MANY | {"level_dbm": -90.0}))
    assert "below carrier sense: no access point answers" in (far or "")
    assert probe_traffic.words(cell_of({"per_s": 0})) is None
    assert probe_traffic.words(cell_of(None)) is None


@pytest.mark.parametrize(
    ("given", "more", "problem"),
    [
        (MANY, {"topology": "n1", "clients": None}, "passers_by is not simulated with topology"),
        (MANY, {"address_resolution": "dynamic"}, "passers_by is not simulated with address"),
        (
            MANY,
            {"phy": "802.11ax", "ofdma": "downlink"},
            "passers_by is not simulated with ofdma",
        ),
        (
            MANY,
            {
                "phy": "802.11ac",
                "width_mhz": 80,
                "neighbours": {"level_dbm": -70.0, "width_mhz": 20},
            },
            "passers_by is not simulated with neighbours.width_mhz",
        ),
        (MANY, {"phy": "802.11ax", "band": "6"}, "at 6 GHz"),
    ],
)
def test_what_they_cannot_be_is_skipped_with_the_reason(
    given: dict[str, Any], more: dict[str, Any], problem: str
) -> None:
    policy = "wpa3-sae-ccmp" if more.get("band") == "6" else "open"
    skip = Simulator().check(cell_of(given, policy, **more))
    assert skip is not None
    assert problem in skip.reason


@pytest.mark.parametrize(
    "given",
    [{}, {"per_s": -1}, {"per_s": 9, "leaves_ratio": 1.1}, {"per_s": 9, "response_attempts": 0}],
)
def test_values_out_of_range_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        plan_of(given)


def test_other_testbeds_refuse_them() -> None:
    skip = Analytic().check(cell_of(MANY))
    assert skip is not None
    assert "no probe traffic" in skip.reason
    assert "probe" in (linux.CAPABILITY.why_not(cell_of(MANY)) or "")


def test_a_panel_has_none_of_them() -> None:
    assert what_if(plan_of(None)) is not None
    assert what_if(plan_of(MANY)) is None


def test_their_phy_and_rates_are_those_of_the_cell() -> None:
    resolved = scenario(cell_of(MANY, phy="802.11n", basic_rates_mbps=[12.0]))
    own, group = resolved.bss
    assert (group.standard, group.basic_rates_mbps) == (own.standard, own.basic_rates_mbps)
    assert [node.bss for node in resolved.nodes].count(group.name) == 4
