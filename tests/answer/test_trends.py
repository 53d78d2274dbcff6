"""A change grows or shrinks along a factor only as far as the intervals tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from airtoll.analyse import Estimate
from airtoll.answer import Answered, Compare, Way
from airtoll.answer.compared import judge
from airtoll.answer.trends import trends
from airtoll.plan import make_plan
from airtoll.present.names import Names
from airtoll.present.words import Teller
from airtoll.question import asked
from airtoll.study import parse

STUDY = """
[study]
name = "fades"
title = "fades"
[scenario.cell]
[traffic.udp]
label = "UDP"
transport = "udp"
[traffic.tcp]
label = "TCP"
transport = "tcp"
[grid]
policy = ["open", "wpa2-psk-ccmp"]
traffic = ["udp", "tcp"]
"scenario.clients" = [8, 1, 4]
[[question]]
metric = "throughput_bps"
from = { policy = "open" }
to = [{ policy = "wpa2-psk-ccmp" }]
where = { traffic = ["udp", "tcp"] }
along = "scenario.clients"
"""


def asking(study: str = STUDY):
    plan = make_plan(parse(study, Path("fades.toml")).study)
    (question,) = asked(plan)
    return plan, question


def claims_of(question, shares):
    """``shares``: (traffic, clients) -> change in percent and half its interval."""
    found = []
    for place in question.places:
        levels = dict(place.levels)
        share, half = (one / 100 for one in shares[levels["traffic"], levels["scenario.clients"]])
        before = Estimate(1e7, 9e6, 1.1e7, 0.95, 5, "t", "bit/s")
        change = Estimate(share, share - half, share + half, 0.95, 10, "Fieller", "1")
        verdict, fresh = judge(change, question.unnoticed, "more")
        (arm,) = question.to
        after = Estimate(1e7 * (1 + share), 9e6, 1.1e7, 0.95, 5, "t", "bit/s")
        found.append(
            Compare(
                question.metric, place, question.have, arm, before, after, change, True, verdict,
                fresh,
            )
        )  # fmt: skip
    return found


def of(udp, tcp=((-5, 0.1), (-5, 0.1), (-5, 0.1))):
    ends = {"udp": udp, "tcp": tcp}
    return {(t, c): ends[t][n] for t in ends for n, c in enumerate((1, 4, 8))}


@pytest.mark.parametrize(
    ("first", "last", "way"),
    [
        ((-5, 0.1), (-7, 0.1), Way.GROWS),
        ((-5, 0.1), (-3, 0.1), Way.SHRINKS),
        ((5, 0.1), (3, 0.1), Way.SHRINKS),
        ((-5, 0.3), (-5.2, 0.3), Way.STEADY),
        ((-5, 2), (-6, 2), Way.STEADY),
        # Smaller than what is noticed of throughput, and yet seen.
        ((-1.4, 0.02), (-1.2, 0.02), Way.SHRINKS),
    ],
)
def test_the_ends_of_the_factor_decide(first, last, way):
    _, question = asking()
    (udp, tcp) = trends(question, claims_of(question, of((first, first, last))))
    assert udp.way is way
    places = [dict(claim.place.levels) for claim in udp.compares]
    assert [place["scenario.clients"] for place in places] == [1, 4, 8]
    assert {place["traffic"] for place in places} == {"udp"}
    assert tcp.way is Way.STEADY


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ((-5, 0.1), (-0.2, 0.1)),  # a cost, and nothing that anyone would notice
        ((-5, 0.1), (5, 0.1)),  # a cost and a gain
        ((-5, float("nan")), (-7, 0.1)),  # no interval
    ],
)
def test_changes_of_two_verdicts_have_no_trend(first, last):
    _, question = asking()
    (tcp,) = trends(question, claims_of(question, of((first, (-5, 0.1), last))))
    assert dict(tcp.compares[0].place.levels)["traffic"] == "tcp"


@pytest.mark.parametrize(
    ("middle", "way", "turn"),
    [
        ((-6, 0.1), Way.GROWS, 1),
        ((-3, 0.1), Way.SHRINKS, 1),
        ((-5.2, 0.3), Way.STEADY, None),  # no more than chance away from the ends
        ((-4.7, 0.1), Way.STEADY, None),  # away from one end alone
    ],
)
def test_a_trend_turns_where_both_sides_are_beyond_chance(middle, way, turn):
    plan, question = asking()
    claims = claims_of(question, of(((-5, 0.1), middle, (-4.9, 0.2))))
    udp, tcp = trends(question, claims)
    assert (udp.way, udp.turn) == (way, turn)
    assert tcp.turn is None
    found = Answered(question, tuple(claims), (), (), (), (), None, (udp,))
    lead, *_ = Teller(Names(plan.cells)).answer(found).leads
    other = "shrinks" if way is Way.GROWS else "grows"
    said = f"% (UDP, 4 clients), and then {other} to 4.9 % (UDP, 8 clients)."
    assert (said in lead) == (turn is not None)


def test_without_a_factor_of_the_places_there_is_no_trend():
    _, question = asking(STUDY.replace('along = "scenario.clients"', ""))
    assert trends(question, claims_of(question, of([(-5, 0.1)] * 3))) == []


def test_the_sentence_names_both_ends_and_what_becomes_of_the_cost():
    plan, question = asking()
    claims = claims_of(question, of(((-5, 0.1), (-6, 0.1), (-7, 0.1))))
    found = Answered(question, tuple(claims), (), (), (), (), None, tuple(trends(question, claims)))
    grows, stays = Teller(Names(plan.cells)).answer(found).leads
    assert grows == (
        "From an open network to WPA2-Personal, the loss of throughput grows from 5.0 % "
        "(UDP, 1 client) to 6.0 % (UDP, 4 clients) and 7.0 % (UDP, 8 clients)."
    )
    assert stays.endswith("(TCP, 8 clients): it neither grows nor shrinks beyond chance.")
