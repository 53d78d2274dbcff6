"""``airtoll symptoms``: from the words of a complaint to the study that shows it."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from airtoll.analyse.explain import MECHANISMS
from airtoll.analyse.explain.symptoms import SYMPTOMS, matching, of_mechanism
from airtoll.cli.app import app
from airtoll.study import shipped
from airtoll.testbeds.capability import paths


@pytest.mark.parametrize(
    ("complaint", "study"),
    [
        ("joins take 3 s more after the certificate changed", "radius-fragments"),
        ("eap-tls never finishes over the vpn", "radius-fragments"),
        ("all phones drop at the full hour", "group-rekey-dozing"),
        ("group key handshake failed after 4 tries", "group-rekey-dozing"),
        ("esp32 does not join wpa3", "slow-sae"),
        ("battery", "esp32-battery"),
        ("twt", "always-on-vpn"),
        ("target wake time", "always-on-vpn"),
        ("battery drains in weeks with wpa3", "esp32-battery"),
        ("esp32 connect time after deep sleep", "cold-boot"),
        ("clients gone after access point reboot", "lost-associations"),
        ("endless loop with cached pmk", "stale-pmksa"),
        ("not faster than 54", "no-aggregation"),
        ("multicast makes everything slow", "group-traffic"),
        ("my neighbors fill the channel", "neighbours"),
    ],
)
def test_a_complaint_finds_its_study(complaint: str, study: str) -> None:
    assert study in [one.study for one in matching(complaint.split())[:2]]


@pytest.mark.parametrize(
    ("complaint", "study"),
    [
        ("my old phone only knows WPA2 and cannot join", "transition-modes"),
        ("phone knows only WPA2", "transition-modes"),
        ("old phone", "transition-modes"),
        ("old laptop can't connect to WPA3", "transition-modes"),
        ("neighbour", "neighbours"),
        ("neighbours on the channel slow", "neighbours"),
        ("the channel is busy", "neighbours"),
    ],
)
def test_the_best_symptom_is_first_and_few_others_are_told(complaint: str, study: str) -> None:
    found = matching(complaint.split())
    assert found[0].study == study
    assert len(found) <= 3


def test_words_that_every_complaint_has_find_nothing() -> None:
    assert matching(["the", "on", "a"]) == []
    assert matching(["the", "roaming", "is", "on", "a"]) == matching(["roaming"])


@pytest.mark.parametrize(
    ("complaint", "studies"),
    [
        ("slow wpa3", ["no-aggregation", "today"]),
        ("wpa3 slow slow", ["no-aggregation", "today"]),
        ("roaming slow", ["roaming-faults", "eduroam"]),
        ("multicast slow", ["group-traffic"]),
    ],
)
def test_every_word_of_a_complaint_counts(complaint: str, studies: list[str]) -> None:
    assert [one.study for one in matching(complaint.split())] == studies


def test_every_symptom_names_a_shipped_study_and_fields_that_exist() -> None:
    names = set(shipped())
    known = {path.split(".", 1)[1] for path, _ in paths() if path.startswith("scenario.")}
    known |= {key.rsplit(".", 1)[0] for key in known if "." in key} | {"grid.policy"}
    for symptom in SYMPTOMS:
        assert symptom.study in names
        assert set(symptom.settings) <= known, symptom.seen
        assert symptom.cause
        assert symptom.cure


def test_causes_of_mechanisms_are_those_of_explain() -> None:
    own = [one for one in SYMPTOMS if one.mechanism]
    assert own
    for symptom in own:
        assert symptom.mechanism is not None
        mechanism = MECHANISMS[symptom.mechanism]
        assert (symptom.cause, symptom.cure) == (mechanism.words, mechanism.remedy)
        assert of_mechanism(mechanism.name) is symptom


def test_the_command_prints_and_refuses() -> None:
    runner = CliRunner()
    shown = runner.invoke(app, ["symptoms", "phones", "drop", "hour"])
    assert shown.exit_code == 0
    assert "shown by: airtoll run group-rekey-dozing" in shown.output
    assert "wpa_group_update_count" in shown.output
    every = json.loads(runner.invoke(app, ["symptoms", "--json"]).output)
    assert len(every) == len(SYMPTOMS)
    assert runner.invoke(app, ["symptoms", "xylophone"]).exit_code != 0


def test_a_word_of_many_complaints_has_the_most_general_causes_first() -> None:
    """Any network may have rooms far away, or others on its channel."""
    found = matching(["slow", "wifi"])
    assert len(found) > 5
    assert [one.needs for one in found] == sorted(one.needs for one in found)
    assert {one.study for one in found[:2]} == {"signal2006", "neighbours"}


def test_five_are_told_and_a_line_says_how_to_see_all() -> None:
    runner = CliRunner()
    short, long = (
        runner.invoke(app, ["symptoms", "slow", "wifi", *more]).output for more in ((), ("--all",))
    )
    many = len(matching(["slow"]))
    assert (short.count("cause:"), long.count("cause:")) == (5, many)
    assert f"{many - 5} more with these words: airtoll symptoms slow wifi --all" in short
    assert "more with these words" not in long
    # A list without words is whole.
    assert runner.invoke(app, ["symptoms"]).output.count("cause:") == len(SYMPTOMS)
