"""How a change differs between the two places of a study that asks nothing itself."""

from __future__ import annotations

import math

import pytest
from attrs import evolve

from airtoll.analyse import Estimate
from airtoll.answer.apart import apart
from airtoll.answer.claims import Verdict
from airtoll.answer.compared import compared
from airtoll.present.words import Teller
from airtoll.question import asked
from airtoll.report.headline import headline
from airtoll.report.summary import summarise
from airtoll.run import run

STUDY = """
[study]
name = "mine"
title = "Mine"
answers = ["throughput_bps"]
baseline = "open"

[trials]
repetitions = 6

[scenario.home]
phy = "802.11g"
rate_mbps = 54

[scenario.office]
phy = "802.11b"
rate_mbps = 11

[traffic.udp]
transport = "udp"
payload_bytes = 200
duration_s = 0.5

[grid]
policy = ["open", "wpa2-psk-ccmp"]
"""


@pytest.fixture(scope="module")
def summary(tmp_path_factory):
    folder = tmp_path_factory.mktemp("apart")
    (folder / "mine.toml").write_text(STUDY)
    return summarise(run(folder / "mine.toml", out=folder / "run", jobs=1).path)


def claims(summary, first: tuple[float, float], second: tuple[float, float]):
    """The question and its changes with these values and half widths."""
    (question,) = asked(summary.plan)
    found = compared(question, summary.measured)
    changed = [
        evolve(
            claim,
            change=Estimate(value, value - half, value + half, 0.95, 6, "t", "1"),
            verdict=Verdict.COSTS,
        )
        for claim, (value, half) in zip(found, (first, second), strict=True)
    ]
    return question, changed


def test_the_interval_of_a_difference_adds_the_squares_of_both(summary):
    question, changed = claims(summary, (-0.01, 0.003), (-0.05, 0.004))
    (found,) = apart(question, changed)
    assert found.difference.value == pytest.approx(-0.04)
    assert found.difference.half_width == pytest.approx(math.hypot(0.003, 0.004))
    assert found.verdict is Verdict.CHANGES
    # The larger change is the second one, whatever the order of the places.
    assert found.more is changed[1]
    (reverse,) = apart(question, changed[::-1])
    assert reverse.difference == found.difference


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (
            (-0.01, 0.003),
            (-0.05, 0.004),
            "From an open network to WPA2-Personal, throughput falls by 4.00 ± 0.50 points more at "
            "one place than at the other (office: -5.0 %, home: -1.0 %).",
        ),
        (
            (0.02, 0.003),
            (-0.05, 0.004),
            "From an open network to WPA2-Personal, throughput changes by 7.00 ± 0.50 points more "
            "at one place than at the other (office: -5.0 %, home: +2.0 %).",
        ),
        (
            (-0.040, 0.003),
            (-0.042, 0.004),
            "From an open network to WPA2-Personal, throughput changes alike at both places, but "
            "for at most 0.70 points (office: -4.2 %, home: -4.0 %).",
        ),
        (
            (-0.04, 0.03),
            (-0.05, 0.04),
            "From an open network to WPA2-Personal, too few trials to tell whether throughput "
            "changes alike at both places (office: -5.0 %, home: -4.0 %).",
        ),
    ],
)
def test_the_difference_is_one_sentence(summary, first, second, words):
    question, changed = claims(summary, first, second)
    (found,) = apart(question, changed)
    assert Teller(summary.names)._apart(found, question) == words


def test_a_run_of_two_places_tells_how_their_costs_differ(summary):
    # 16 octets more are 12 us at 11 Mb/s of an exchange of about 1.1 ms, and one symbol of 4 us at
    # 54 Mb/s of one of about 0.24 ms: both cost more than what goes unnoticed.
    told = [
        line for line in headline(summary) if "both places" in line or "than at the other" in line
    ]
    assert len(told) == 1
    assert "home: -" in told[0]
    assert "office: -" in told[0]


def test_a_study_that_asks_is_told_as_it_asks(summary, tmp_path):
    asks = '\n[[question]]\nmetric = "throughput_bps"\nfrom = { policy = "open" }\n'
    (tmp_path / "mine.toml").write_text(STUDY + asks)
    done = run(tmp_path / "mine.toml", out=tmp_path / "run", trials=2, jobs=1)
    (answered,) = summarise(done.path).answered
    assert answered.compares
    assert answered.apart == ()


def test_unnoticed_changes_are_not_set_apart(summary):
    question, changed = claims(summary, (-0.001, 0.0003), (-0.005, 0.0004))
    quiet = [evolve(claim, verdict=Verdict.UNNOTICED) for claim in changed]
    assert list(apart(question, quiet)) == []
