"""The first sentences of every shipped study answer its question and stay as the runs give them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from airtoll.plan import make_plan
from airtoll.question import asked
from airtoll.study import load, shipped

ROOT = Path(__file__).parents[2]
#: Studies of about a second.
QUICK = ("airtime-fairness", "always-on-vpn", "mccarter2006-authentication", "walk-by-level")
#: Characters of a sentence that lists candidates, places, quantities and printed values.
LONGEST = 225

by_study = pytest.mark.parametrize("name", shipped())


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location(
        "study_answers", ROOT / "tools" / "study_answers.py"
    )
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


@by_study
def test_every_question_of_a_study_has_places_and_candidates(name):
    study = load(name).study
    assert study.question, f"{name}: asks nothing"
    questions = asked(make_plan(study, repetitions=1))
    assert len(questions) == len(study.question)
    for question in questions:
        assert question.places
        there = {arm for place in question.places for arm in place.cells}
        assert there == {question.have, *question.to}, question.text


@by_study
def test_two_decided_sentences_answer_it(name, tool):
    lines = tool.golden(name)
    assert len(lines) == tool.SENTENCES
    for line in lines:
        assert len(line) <= LONGEST, line
        assert line.endswith(".")
        assert "too few trials" not in line
        assert "not measured" not in line.lower()


@pytest.mark.parametrize(
    "name",
    [QUICK[0], *(pytest.param(name, marks=pytest.mark.thorough) for name in QUICK[1:])],
)
def test_the_sentences_of_a_short_study_are_those_of_its_run(name, tool):
    assert tool.sentences(name) == tool.golden(name)


@pytest.mark.slow
@by_study
def test_the_sentences_of_every_study_are_those_of_its_run(name, tool):
    assert tool.sentences(name) == tool.golden(name)


def test_the_pages_show_these_sentences(tool):
    for page, text in tool.pages():
        assert page.read_text("utf-8") == text, f"{page}: run tools/study_answers.py --pages"
