"""Changes against the study are told beside its question."""

import json

import pytest

from airtoll import run
from airtoll.report import write_report
from airtoll.report.closing import closing
from airtoll.report.summary import summarise

VALUES = {"grid.policy": ["open", "wpa2-psk-tkip"], "scenario.home.phy": "802.11g"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    few = {"traffic.udp.duration_s": 0.1, "grid.traffic": ["udp"]}
    run("quickstart", out=folder / "as-it-is", trials=2)
    run("quickstart", out=folder / "changed", trials=2, values=VALUES | few)
    return folder


@pytest.mark.parametrize("form", ["markdown", "json", "html"])
def test_every_form_says_what_was_changed(runs, form):
    for name, told in (("changed", True), ("as-it-is", False)):
        text = write_report([runs / name], form=form).read_text(encoding="utf-8")
        if form == "json":
            assert (json.loads(text)["changed"].get("scenario.home.phy") == "802.11g") is told
        else:
            assert ("scenario.home.phy = 802.11g" in text.replace("\\", "")) is told


def test_the_question_on_the_terminal_names_the_changes_first_and_stays_within_its_lines(runs):
    lines = closing(summarise(runs / "changed"), 80)
    assert "(changed: grid.policy = open, wpa2-psk-tkip; scenario.home.phy" in " ".join(lines)
    assert len(lines) <= 11
    assert not any("changed:" in line for line in closing(summarise(runs / "as-it-is"), 80))


def test_the_number_of_trials_changes_no_question(tmp_path):
    values = {"trials.until_precision": 0.9, "grid.traffic": ["udp"]}
    run("quickstart", out=tmp_path / "run", values=values)
    (question, *_) = closing(summarise(tmp_path / "run"), None)
    assert question.endswith("(changed: grid.traffic = udp)")
