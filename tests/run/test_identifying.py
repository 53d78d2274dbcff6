"""Which device explains printed overheads: the readings, the split and the curves."""

import json

import pytest
from typer.testing import CliRunner

from airtoll.cli.app import app
from airtoll.errors import UsageError
from airtoll.run import identifying
from airtoll.run.identifying import Subject, identify_device

SINGLE = Subject("tripathi2008", "tripathi2008", ("single",))


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few mechanisms, costs and settings, and short trials."""
    names = ("octets only", "pipelined", "serial, nothing meanwhile")
    some = {name: identifying.MECHANISMS[name] for name in names}
    monkeypatch.setattr(identifying, "MECHANISMS", some)
    few = dict(list(identifying.SETTINGS.items())[:2])
    monkeypatch.setattr(identifying, "SETTINGS", few)
    monkeypatch.setattr(identifying, "_COSTS_US", (0.0, 40.0, 80.0))
    monkeypatch.setattr(identifying, "_SECONDS", 0.5)


def test_a_serial_card_explains_one_client_and_a_pipelined_one_does_not():
    found = identify_device([SINGLE], trials=1)
    models = {model.name: model for model in found.models}
    assert all(": single/" in name for name in found.fitted_on)
    assert len(found.fitted_on) == 10
    serial = models["serial, nothing meanwhile"]
    assert len(serial.predicted) == 10
    assert {p.reading.table for p in serial.predicted} == {"tripathi2008 4", "tripathi2008 5"}
    costs = {name: cost.value for name, cost in serial.fitted.items()}
    assert costs["tkip udp"] > costs["wep udp"] > costs["ccmp udp"] > 0.0
    assert not serial.key_lengths
    assert serial.noise_points < models["pipelined"].noise_points / 2
    assert serial.log_evidence > models["pipelined"].log_evidence + 5
    printed = {p.reading.name: p.reading.value for p in serial.predicted}
    tkip = next(v for name, v in printed.items() if name.endswith("two/wpa-psk-tkip/udp"))
    assert tkip == pytest.approx(4.39, abs=0.01), "Tripathi's table 5"


def test_the_command_prints_what_was_fitted_and_held_out():
    result = CliRunner().invoke(
        app, ["identify", "tripathi2008", "--see", "single", "--trials", "1", "--json"]
    )
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert answer["best"] == answer["models"][0]["name"]
    held_out = answer["models"][0]["held_out"]
    assert held_out["n"] == 10
    assert set(held_out["kendall"]) == {"tripathi2008 4", "tripathi2008 5"}
    assert set(answer["settings"]) == set(answer["open"]) == {"tripathi2008"}


def test_a_scenario_of_a_data_set_that_is_not_named_is_refused():
    run = CliRunner().invoke(app, ["identify", "tripathi2008", "--see", "mccarter2006/config1"])
    assert isinstance(run.exception, UsageError)
    assert "name mccarter2006 with --predict, too" in str(run.exception)


def test_an_unknown_scenario_is_refused_by_name():
    with pytest.raises(UsageError, match="no scenario 'triple'; known: single, two"):
        identify_device([Subject("tripathi2008", "tripathi2008", ("triple",))])


def test_unknown_settings_are_refused():
    with pytest.raises(UsageError, match="allowed are stated and open"):
        identify_device([SINGLE], settings="best")
