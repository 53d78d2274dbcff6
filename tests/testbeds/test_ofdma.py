"""``ofdma``: what it changes, and where it is refused."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from airtoll.plan import make_plan
from airtoll.study import Study
from airtoll.testbeds.analytic import Analytic
from airtoll.testbeds.simulator import Simulator

_FATES = ("sent", "received", "lost", "queued")
LAX: dict[str, Any] = {"phy": "802.11ax", "mcs": 7, "clients": 8, "block_ack_window": 1}


def plan_of(policy: str = "open", direction: str = "down", **own: Any) -> Any:
    load = {"transport": "udp", "payload_bytes": 100, "direction": direction, "duration_s": 1}
    data = {
        "study": {"name": "shared", "title": "Shared", "baseline": policy},
        "scenario": {"one": LAX | own},
        "traffic": {"load": load},
        "grid": {"scenario": ["one"], "traffic": ["load"], "policy": [policy]},
    }
    return make_plan(Study.model_validate(data), repetitions=1)


def rows(policy: str = "open", direction: str = "down", **own: Any) -> dict[str, float]:
    """Sums of the whole cell."""
    plan = plan_of(policy, direction, **own)
    (cell,) = plan.cells
    testbed = Simulator()
    assert testbed.check(cell) is None
    measured = testbed.measure(plan.trial(cell, 1, 1))
    assert measured.failure is None
    whole = (r for r in measured.rows if r.second is None and r.flow is None and r.station is None)
    return {row.metric: row.value for row in whole}


def why_not(**own: Any) -> str:
    (cell,) = plan_of(**own).cells
    skip = Simulator().check(cell)
    assert skip is not None
    return skip.reason


@pytest.mark.parametrize("direction", ["down", "up"])
def test_small_packets_of_many_stations_gain(direction: str) -> None:
    alone = rows(direction=direction)
    shared = rows(direction=direction, ofdma="both")
    assert shared["throughput_bps"] > 1.5 * alone["throughput_bps"]
    ledger = sum(v for m, v in shared.items() if m.startswith("airtime_") and m.endswith("_s"))
    assert ledger == pytest.approx(1.0, abs=1e-6)


def test_each_unit_carries_the_octets_of_security() -> None:
    ccmp = rows("wpa2-psk-ccmp", ofdma="downlink")
    gcmp = rows("wpa3-sae-gcmp-256", ofdma="downlink")
    assert ccmp["octets_security"] / ccmp["octets_payload"] == pytest.approx(0.16)
    assert gcmp["octets_security"] / gcmp["octets_payload"] == pytest.approx(0.24)


WEAK: dict[str, Any] = {"rssi_dbm": -71.0}
MANY: dict[str, Any] = {"block_ack_window": 64, "clients": 20}


@pytest.mark.parametrize(
    ("ofdma", "own"),
    [
        ("off", {}),
        ("downlink", WEAK),
        ("both", MANY),
        *(
            pytest.param(ofdma, own, marks=pytest.mark.thorough)
            for ofdma, own in [
                *(("off", WEAK), ("off", MANY), ("downlink", {}), ("downlink", MANY)),
                *(("uplink", {}), ("uplink", WEAK), ("uplink", MANY), ("both", {}), ("both", WEAK)),
            ]
        ),
    ],
)
def test_every_packet_is_accounted_for(ofdma: str, own: dict[str, Any]) -> None:
    plan = plan_of("wpa2-psk-ccmp", "both", ofdma=ofdma, **own)
    (cell,) = plan.cells
    found: dict[tuple[str, str], float] = {}
    for row in Simulator().measure(plan.trial(cell, 1, 1)).rows:
        if row.flow is not None and row.second is None:
            found[row.metric, row.flow] = row.value
    flows = {flow for _, flow in found}
    assert len(flows) == 2 * (own.get("clients") or 8)
    assert sum(v for (metric, _), v in found.items() if metric == "packets_received") > 100
    for flow in flows:
        of = {what: found[f"packets_{what}", flow] for what in _FATES}
        assert of["sent"] == of["received"] + of["lost"] + of["queued"]


@pytest.mark.thorough
def test_off_is_the_default() -> None:
    assert rows(ofdma="off") == rows()


@pytest.mark.thorough
def test_802_11be_has_it_up_to_80_mhz() -> None:
    own: dict[str, Any] = {"phy": "802.11be", "ofdma": "both", "security_gates": "ignore"}
    assert rows(width_mhz=80, **own)["throughput_bps"] > 0
    assert "only up to 80 MHz" in why_not(width_mhz=160, **own)


@pytest.mark.parametrize(
    ("own", "reason"),
    [
        ({"clients": 1}, "ofdma is both: only with at least two stations"),
        ({"rts_threshold_octets": 50}, "MU-RTS is not modelled"),
        ({"ampdu_max_octets": 0}, "only with A-MPDUs"),
        (
            {"clients": None, "stations": [{"name": n} for n in "AB"], "hidden": [["A", "B"]]},
            "hear one another",
        ),
        ({"neighbours": {"level_dbm": -75.0}}, "where another BSS is on the channel"),
    ],
)
def test_combinations_that_cannot_act_are_skipped_with_the_reason(
    own: dict[str, Any], reason: str
) -> None:
    assert reason in why_not(ofdma="both", **own)


def test_older_phys_have_none() -> None:
    with pytest.raises(ValidationError, match=r"802\.11ac has none; 802\.11ax and 802\.11be"):
        plan_of(phy="802.11ac", ofdma="both")


def test_closed_forms_refuse_it() -> None:
    (cell,) = plan_of(ofdma="both").cells
    skip = Analytic().check(cell)
    assert skip is not None
    assert "ofdma" in skip.reason
