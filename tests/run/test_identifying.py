"""Which device explains printed overheads: the readings, the split and the curves."""

import importlib
import json

import pytest
from typer.testing import CliRunner

from airtoll.cli.app import app
from airtoll.cli.identify import plain
from airtoll.errors import UsageError
from airtoll.report.identified import identified_page
from airtoll.run import identifying, unstated
from airtoll.run.identifying import Subject, identify_device

SINGLE = Subject("tripathi2008", "tripathi2008", ("single",))


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few mechanisms, costs and settings, and short trials."""
    # It takes its devices from the whole table when it is imported.
    importlib.import_module("airtoll.run.explaining")
    names = ("octets only", "pipelined", "serial, nothing meanwhile")
    some = {name: identifying.MECHANISMS[name] for name in names}
    monkeypatch.setattr(identifying, "MECHANISMS", some)
    few = dict(list(unstated.KINDS.items())[:1])
    monkeypatch.setattr(unstated, "KINDS", few)
    monkeypatch.setattr(identifying, "_FIRST_US", (0.0, 40.0, 80.0))
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


@pytest.mark.thorough
def test_explain_ranks_the_devices_of_a_data_set_by_the_readings_that_it_sees():
    result = CliRunner().invoke(app, ["explain", "tripathi2008", "single", "--json"])
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert next(iter(answer["weights"])) == "serial, nothing meanwhile"
    assert sum(answer["weights"].values()) == pytest.approx(1.0)
    assert all(": single/" in name for name in answer["fitted_on"])
    words = CliRunner().invoke(app, ["explain", "tripathi2008", "single"]).stdout
    assert "1. serial, nothing meanwhile" in words
    assert "others: " in words


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


def test_the_page_shows_models_and_experiments():
    result = CliRunner().invoke(
        app, ["identify", "tripathi2008", "--see", "single", "--trials", "1", "--html"]
    )
    assert result.exit_code == 0, result.output
    page = result.stdout
    assert page.startswith("<!doctype html>")
    assert "<script" not in page
    assert "serial, nothing meanwhile" in page
    assert "payload of one sender, octets" in page
    assert "rate of one sender, Mb/s" in page
    assert "senders" in page


@pytest.mark.thorough
def test_a_fit_at_the_limit_of_the_search_is_shown_as_impossible():
    found = plain(identify_device([SINGLE], trials=1))
    assert "impossible" not in identified_page(found, "title").lower()
    (pipelined,) = (m for m in found["models"] if m["name"] == "pipelined")
    pipelined["at_limit"] = ["tkip udp"]
    page = identified_page(found, "title")
    assert "Physically impossible is the fit of pipelined" in page
    assert "(impossible)" in page
    assert "no limit" in page


@pytest.mark.thorough
def test_a_serial_cards_overhead_falls_with_rising_payload_and_with_a_second_sender():
    found = identify_device([SINGLE], trials=1, experiments=True)
    by_title = {one.title.rpartition(": ")[2]: one for one in found.experiments}
    serial = "serial, nothing meanwhile"
    payload = by_title["payload of one sender, octets"].overheads[serial]
    assert payload[0] > payload[-1] > 0
    senders = by_title["senders"].overheads[serial]
    assert senders[0] > 2 * senders[1]
    assert by_title["rate of one sender, Mb/s"].levels == (6.0, 12.0, 24.0, 54.0)


@pytest.mark.thorough
def test_each_study_is_predicted_by_the_others(monkeypatch):
    monkeypatch.setattr(identifying, "_FIRST_US", (0.0, 60.0))
    subjects = [
        Subject("tripathi2008", "tripathi2008", ()),
        Subject("mccarter2006", "mccarter2006", ()),
    ]
    found = identifying.leave_one_out(subjects, trials=1)
    for name, one in found.items():
        assert all(not reading.startswith(f"{name}:") for reading in one.fitted_on)
        predicted = [p.reading for p in one.models[0].predicted]
        assert predicted
        assert all(reading.dataset == name for reading in predicted)


def test_leaving_one_out_needs_two_data_sets_and_no_see():
    run = CliRunner().invoke(app, ["identify", "tripathi2008", "--leave-one-out"])
    assert run.exit_code != 0
    assert "two data sets" in str(run.exception)
    run = CliRunner().invoke(app, ["identify", "tripathi2008"])
    assert run.exit_code != 0
    assert "--leave-one-out" in str(run.exception)
