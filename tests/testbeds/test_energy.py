"""Power and battery of a station: the states of its radio, dozing, and packets in its host."""

from __future__ import annotations

from typing import Any

import pytest

from airtoll.plan import make_plan
from airtoll.profiles import load
from airtoll.study import Study
from airtoll.testbeds.analytic import Analytic
from airtoll.testbeds.linux.testbed import Linux
from airtoll.testbeds.simulator import Simulator

BEACON_S = 0.1024


def plan_of(station: dict[str, Any], load_: dict[str, Any], **settings: Any) -> Any:
    data = {
        "study": {"name": "energy", "title": "Energy", "baseline": "open"},
        "scenario": {"one": {"phy": "802.11g", "stations": [{"name": "A"} | station]} | settings},
        "traffic": {"load": {"transport": "udp", "duration_s": 60} | load_},
        "grid": {"scenario": ["one"], "traffic": ["load"], "policy": ["open"]},
    }
    return make_plan(Study.model_validate(data), repetitions=1)


def measured(station: dict[str, Any], load_: dict[str, Any], **settings: Any) -> dict[str, float]:
    plan = plan_of(station, load_, **settings)
    (cell,) = plan.cells
    testbed = Simulator()
    assert testbed.check(cell) is None
    rows = testbed.measure(plan.trial(cell, 1, 1)).rows
    return {row.metric: row.value for row in rows if row.station == "A" and row.second is None}


def every(seconds: float, payload: int = 32) -> dict[str, Any]:
    return {"payload_bytes": payload, "offered_mbps": payload * 8 / seconds / 1e6}


def energy_of(name: str) -> Any:
    energy = load(name).energy
    assert energy is not None
    return energy


def test_a_station_that_never_dozes_has_the_power_of_idle() -> None:
    values = measured({"profile": "esp32", "battery_wh": 7.4}, every(600))
    idle = energy_of("esp32").idle_w.value
    assert values["power_w"] == pytest.approx(idle, rel=1e-3)
    assert values["battery_h"] == pytest.approx(7.4 / values["power_w"])
    assert "doze_share" not in values


def test_dozing_is_worked_by_hand() -> None:
    """One frame at the start: awake for 100 ms, then 3 ms in every three beacon intervals."""
    station = {"profile": "esp32", "listen_interval": 3}
    values = measured(station, every(600))
    energy = energy_of("esp32")
    asleep = 60 - 0.1
    wakes = int(asleep / (3 * BEACON_S))
    dozes = asleep - wakes * energy.beacon_awake_ms.value / 1e3
    assert values["doze_share"] == pytest.approx(dozes / 60, abs=1e-4)
    power = (energy.idle_w.value * (60 - dozes) + energy.doze_w.value * dozes) / 60
    assert values["power_w"] == pytest.approx(power, rel=0.01)


def test_more_keepalives_take_more_power_and_longer_intervals_less() -> None:
    station = {"profile": "htc-dream-nic", "listen_interval": 3}
    often, seldom = (measured(station, every(s))["power_w"] for s in (5, 30))
    assert often > seldom
    longer = measured(station | {"listen_interval": 10}, every(30))["power_w"]
    assert longer < seldom
    # A shorter time awake after each frame.
    soon = measured(station | {"doze_after_ms": 10.0}, every(5))["power_w"]
    assert soon < often


def test_a_packet_costs_its_energy_in_the_host() -> None:
    """A thousand packets per second: 0.1295 mJ each, next to idle and transmitting."""
    values = measured({"profile": "htc-dream-nic"}, {"payload_bytes": 100, "offered_mbps": 0.8})
    energy = energy_of("htc-dream-nic")
    packets = 1000 * energy.packet_mj.value / 1e3
    rest = values["power_w"] - energy.idle_w.value - packets
    # 802.11g at 54 Mb/s: a frame of 100 octets and its acknowledgement last below 100 us.
    assert 0 < rest < 1000 * 100e-6 * energy.tx_w.value


@pytest.mark.parametrize(
    ("station", "settings", "reason"),
    [
        ({"battery_wh": 5.0}, {}, "need a profile with power figures"),
        ({"listen_interval": 3}, {}, "need a profile with power figures"),
        ({"profile": "esp32", "listen_interval": 3}, {"beacons": False}, "needs beacons"),
        ({"profile": "esp32", "doze_after_ms": 5.0}, {}, "needs listen_interval"),
    ],
)
def test_a_field_without_effect_is_refused(station, settings, reason) -> None:
    (cell,) = plan_of(station, every(600), **settings).cells
    skip = Simulator().check(cell)
    assert skip is not None
    assert reason in skip.reason


def test_other_testbeds_refuse_energy() -> None:
    (cell,) = plan_of({"profile": "esp32", "listen_interval": 3}, {}).cells
    for testbed in (Analytic(), Linux()):
        skip = testbed.check(cell)
        assert skip is not None
        assert "energy" in skip.reason or "power save" in skip.reason


def test_data_for_a_dozing_station_wait_for_a_beacon() -> None:
    down = {"direction": "down"} | every(7.03)
    awake = measured({"profile": "esp32"}, down)
    assert awake["delay_s"] < 0.001
    for interval in (1, 10):
        values = measured({"profile": "esp32", "listen_interval": interval}, down)
        assert 0.2 * interval * BEACON_S < values["delay_s"] < 0.8 * interval * BEACON_S
        assert values["delay_p99_s"] < interval * BEACON_S + 0.002


def test_a_station_that_hands_over_does_not_doze() -> None:
    plan = plan_of(
        {"profile": "esp32", "listen_interval": 3}, every(1), authenticate=True, handover={}
    )
    (cell,) = plan.cells
    skip = Simulator().check(cell)
    assert skip is not None
    assert "a station that hands over does not doze" in skip.reason
