"""Power and battery of a station: the states of its radio, dozing, and packets in its host."""

from __future__ import annotations

from typing import Any

import pytest

from airtoll.plan import make_plan
from airtoll.policies import resolve
from airtoll.profiles import load
from airtoll.study import Study
from airtoll.testbeds.analytic import Analytic
from airtoll.testbeds.daily import join_unknown
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


SENSOR = {"profile": "esp32-c3", "battery_wh": 3.7}
DAY = {"joins_per_day": 96, "messages_per_day": 96, "wake_ms": 309, "message_ms": 100}


def day_of(
    policy: str, duty: dict[str, Any], station: dict[str, Any] | None = None, **settings: Any
) -> dict[str, float]:
    data = {
        "study": {"name": "day", "title": "Day", "baseline": "wpa2-psk-ccmp"},
        "scenario": {
            "one": {
                "phy": "802.11g",
                "authenticate": True,
                "duty": duty,
                "stations": [{"name": "A"} | (station or SENSOR)],
            }
            | settings
        },
        "traffic": {"load": {"transport": "udp", "duration_s": 60} | every(10, 200)},
        "grid": {"scenario": ["one"], "traffic": ["load"], "policy": [policy]},
    }
    plan = make_plan(Study.model_validate(data), repetitions=1)
    (cell,) = plan.cells
    testbed = Simulator()
    skip = testbed.check(cell)
    if skip is not None:
        raise ValueError(skip.reason)
    found = testbed.measure(plan.trial(cell, 1, 1))
    values = {r.metric: r.value for r in found.rows if r.station == "A" and r.second is None}
    return values | {f"caveat: {words}": 1.0 for words in found.caveats}


def test_a_day_is_its_wake_ups_joins_messages_and_sleep() -> None:
    values = day_of("wpa3-sae-ccmp", DAY)
    energy = energy_of("esp32-c3")
    assert values["wake_energy_j"] == pytest.approx(0.309 * energy.wake_w.value)
    # Awake for the whole join; the CPU works for most of it, and the radio sends for moments.
    cost = load("esp32-c3").seconds
    operation = load("esp32-c3").operation
    cpu_s = 4 * cost(operation["p-256-scalar-mul"]) + 8 * cost(operation["p-256-field-power"])
    low = energy.idle_w.value * values["join_time_s"] + energy.cpu_w.value * cpu_s
    assert low < values["join_energy_j"] < low + 0.01
    waits = 0.1 * (energy.idle_w.value - energy.sleep_w.value)
    assert waits < values["message_energy_j"] < waits + 1e-3
    each = sum(values[f"{part}_energy_j"] for part in ("wake", "join", "message"))
    rest_s = 86_400 - 96 * (0.309 + values["join_time_s"])
    day = 96 * each + energy.sleep_w.value * rest_s
    assert values["day_energy_j"] == pytest.approx(day, rel=1e-4)
    assert values["battery_days"] == pytest.approx(3.7 * 3600 / values["day_energy_j"])
    assert "battery_h" not in values


def test_the_energy_of_a_wake_up_can_be_stated() -> None:
    own, stated = day_of("wpa2-psk-ccmp", DAY), day_of("wpa2-psk-ccmp", DAY | {"wake_mj": 50})
    assert stated["wake_energy_j"] == pytest.approx(0.05)
    more = 96 * (0.05 - own["wake_energy_j"])
    assert stated["day_energy_j"] - own["day_energy_j"] == pytest.approx(more, rel=1e-6)


def test_what_a_profile_does_not_know_is_unknown() -> None:
    """The profile `esp32` has no cost of P-384: such a join has no energy, and its day none."""
    station = {"profile": "esp32", "battery_wh": 3.7}
    known = day_of("wpa2-eap-tls-ccmp", DAY, station, join={"chain": "p256"})
    assert known["battery_days"] > 0
    unknown = day_of("wpa2-eap-tls-ccmp", DAY, station, join={"chain": "p384"})
    assert not {"join_energy_j", "day_energy_j", "battery_days"} & unknown.keys()
    assert any("esp32 has no cost of ecdsa-p-384-sign" in words for words in unknown)


def test_a_stated_multiplication_prices_sae() -> None:
    """Four multiplications of a point; the powers of the field are those of the profile."""
    station = {"profile": "esp32", "battery_wh": 3.7}
    priced = day_of("wpa3-sae-ccmp", DAY, station)
    stated = day_of("wpa3-sae-ccmp", DAY, station, join={"multiplication_ms": 65.0})
    # 265 ms in the profile; the awake radio takes its power of listening.
    assert priced["join_energy_j"] - stated["join_energy_j"] == pytest.approx(
        4 * 0.2 * energy_of("esp32").idle_w.value, rel=0.01
    )
    none = load("esp32").model_copy(update={"operation": {}})
    policy = resolve("wpa3-sae-ccmp")
    assert join_unknown(policy, none) == (
        "esp32 has no cost of p-256-field-power, p-256-scalar-mul"
    )
    assert "scalar" not in str(join_unknown(policy, none, multiplication_stated=True))


def test_an_association_costs_its_beacons_and_the_doze_after_a_message() -> None:
    station = SENSOR | {"listen_interval": 10}
    duty = {"joins_per_day": 0, "messages_per_day": 96, "between": "doze"}
    values = day_of("wpa2-psk-ccmp", duty, station)
    energy = energy_of("esp32-c3")
    share = energy.beacon_awake_ms.value / 1e3 / (10 * BEACON_S)
    dozing_w = energy.idle_w.value * share + energy.doze_w.value * (1 - share)
    # 100 ms awake after each message.
    awake_j = 0.1 * (energy.idle_w.value - dozing_w)
    assert values["message_energy_j"] == pytest.approx(awake_j, rel=0.1)
    day = dozing_w * 86_400 + 96 * values["message_energy_j"]
    assert values["day_energy_j"] == pytest.approx(day, rel=1e-6)


def test_a_station_that_wakes_for_every_dtim_dozes_less() -> None:
    station = {"profile": "esp32", "listen_interval": 10}
    without = measured(station, every(600))
    often = measured(station | {"dtim_wake": True}, every(600))
    same = measured({"profile": "esp32", "listen_interval": 1}, every(600))
    third = measured(station | {"dtim_wake": True}, every(600), dtim_period=3)
    assert often == same
    assert same["power_w"] > third["power_w"] > without["power_w"]
    down = {"direction": "down"} | every(7.03)
    assert measured(station | {"dtim_wake": True}, down)["delay_s"] < BEACON_S


@pytest.mark.parametrize(
    ("duty", "station", "settings", "reason"),
    [
        (DAY, {"profile": "laptop-ax"}, {}, "power figures"),
        (DAY, SENSOR, {"authenticate": False}, "needs authenticate = true"),
        ({"joins_per_day": 1}, SENSOR, {}, "needs duty.wake_ms"),
        (DAY | {"wake_ms": 1e6}, SENSOR, {}, "longer than a day"),
        (DAY | {"wake_ms": 0, "wake_mj": 9}, SENSOR, {}, "needs duty.wake_ms above 0"),
        (DAY | {"between": "doze"}, SENSOR, {}, "needs listen_interval"),
        (DAY, SENSOR | {"listen_interval": 3}, {}, 'needs duty.between = "doze"'),
        (DAY, {"profile": "htc-dream-nic"}, {}, "in deep sleep is not known"),
        ({"joins_per_day": 0, "wake_ms": 3}, SENSOR, {}, "joins_per_day above 0"),
        ({"wake_ms": 3, "message_ms": 3}, SENSOR, {}, "needs duty.messages_per_day"),
        (DAY, SENSOR | {"dtim_wake": True}, {}, "dtim_wake needs listen_interval"),
    ],
)
def test_a_day_without_meaning_is_refused(duty, station, settings, reason) -> None:
    with pytest.raises(ValueError, match=reason.replace(".", r"\.")):
        day_of("wpa2-psk-ccmp", duty, station, **settings)
