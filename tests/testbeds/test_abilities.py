"""A missing ability refuses the cells that ask for it; an unknown one refuses none."""

from __future__ import annotations

from typing import Any

import pytest

from airtoll.errors import ProfileError
from airtoll.plan import make_plan
from airtoll.profiles import load, load_file, shipped
from airtoll.study import Study
from airtoll.testbeds.analytic import Analytic
from airtoll.testbeds.simulator import Simulator


def reason(policy: str, *, bed: Any = None, **scenario: Any) -> str:
    one = {"phy": "802.11n", "band": "2.4", **scenario}
    data = {
        "study": {"name": "abilities", "title": "Abilities", "baseline": policy},
        "scenario": {"one": {key: value for key, value in one.items() if value is not None}},
        "traffic": {"load": {"transport": "udp", "duration_s": 0.05}},
        "grid": {"scenario": ["one"], "traffic": ["load"], "policy": [policy]},
    }
    (cell,) = make_plan(Study.model_validate(data)).cells
    skip = (bed or Simulator()).check(cell)
    return "" if skip is None else skip.reason


ESP32 = {"stations": [{"name": "A", "profile": "esp32"}]}
C6 = {"stations": [{"name": "A", "profile": "esp32-c6"}]}


@pytest.mark.parametrize("bed", [Simulator(), Analytic()])
def test_a_cipher_that_the_station_lacks_is_refused(bed: Any) -> None:
    assert "A has no GCMP-256" in reason("wpa3-sae-gcmp-256", bed=bed, **ESP32)
    assert reason("wpa3-sae-ccmp", bed=bed, **ESP32) == ""
    assert reason("wpa3-sae-gcmp-256", bed=bed, **C6) == ""


def test_so_is_one_that_the_access_point_lacks() -> None:
    ap = {"ap": {"profile": "esp32"}, "stations": [{"name": "A"}]}
    assert "the access point has no GCMP-256" in reason("wpa3-sae-gcmp-256", **ap)
    assert reason("wpa2-wpa3-psk-transition", **ap) == ""


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        ({**ESP32, "phy": "802.11ax"}, "no 802.11ax"),
        ({**ESP32, "streams": 2}, "1 spatial streams, not 2"),
        ({**ESP32, "band": "5"}, "no 5 GHz"),
        ({**C6, "phy": "802.11ax", "width_mhz": 80, "band": "5"}, "no 5 GHz"),
        (
            {
                "stations": [{"name": "A", "profile": "nrf70"}],
                "phy": "802.11ax",
                "mcs": 9,
            },
            "MCS up to 7 in 802.11ax, not 9",
        ),
    ],
)
def test_radio(scenario: dict[str, Any], words: str) -> None:
    assert words in reason("open", **scenario)


def test_a_station_of_an_older_generation_states_its_phy() -> None:
    wifi7 = {"phy": "802.11be", "band": "6", "width_mhz": 160, "mcs": 9}
    laptop = {"name": "A", "profile": "laptop-ax"}
    policy = "wpa3-sae-ext-gcmp-256"
    assert "give the station the phy" in reason(policy, **wifi7, stations=[laptop])
    assert reason(policy, **wifi7, stations=[{**laptop, "phy": "802.11ax"}]) == ""


def test_what_no_source_states_is_refused_nowhere() -> None:
    # No page that was read says which ciphers an nRF7002 has.
    assert load("nrf70").capabilities.ciphers is None
    nrf = {"stations": [{"name": "A", "profile": "nrf70"}]}
    assert reason("wpa3-sae-gcmp-256", **nrf) == ""


def test_several_links_at_once_are_more_than_one_at_a_time() -> None:
    links = [{"band": "5", "width_mhz": 80, "mcs": 9}, {"band": "6", "width_mhz": 160, "mcs": 9}]
    several = {"phy": "802.11be", "band": None, "mlo": {"links": links}}
    phone = {"stations": [{"name": "A", "profile": "phone-be"}]}
    found = reason("wpa3-sae-ext-gcmp-256", **several, **phone)
    assert "A has no multi-link operation" in found
    # Whether a BE200 uses its links at the same time is unknown.
    laptop = {"stations": [{"name": "A", "profile": "laptop-be"}]}
    assert reason("wpa3-sae-ext-gcmp-256", **several, **laptop) == ""


def test_every_stated_capability_has_a_source() -> None:
    stated = {name: profile.capabilities.stated() for name, profile in shipped().items()}
    assert {"esp32", "esp32-c3", "esp32-c6", "laptop-ax", "phone-be", "raspberry-pi-5"} <= {
        name for name, fields in stated.items() if fields
    }
    for fields in stated.values():
        for _, source in fields.values():
            assert len(source) > 3


def test_a_mistaken_name_is_refused(tmp_path) -> None:
    place = tmp_path / "mine.toml"
    place.write_text(
        'about = "x"\nclock_hz = { value = 1, source = "test" }\n'
        '[capabilities]\nciphers = { values = ["gcmp"], source = "test" }\n'
    )
    with pytest.raises(ProfileError, match="ciphers: unknown 'gcmp'"):
        load_file(place)
