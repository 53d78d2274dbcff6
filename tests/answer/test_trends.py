"""A cost grows or fades along a factor only as far as the intervals tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from airtoll.analyse import Estimate
from airtoll.answer import Answered, Compare, Trending
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
    ("first", "last", "trending"),
    [
        ((-5, 0.1), (-7, 0.1), Trending.GROWS),
        ((-5, 0.1), (-3, 0.1), Trending.FADES),
        ((5, 0.1), (3, 0.1), Trending.FADES),
        ((-5, 0.3), (-5.2, 0.3), Trending.STAYS),
        # Smaller than what is noticed of throughput, and yet seen.
        ((-1.4, 0.02), (-1.2, 0.02), Trending.FADES),
    ],
)
def test_the_ends_of_the_factor_decide(first, last, trending):
    _, question = asking()
    (udp, tcp) = trends(question, claims_of(question, of((first, (-9, 0.1), last))))
    assert udp.trending is trending
    assert (udp.least, udp.most) == (1, 8)
    assert dict(udp.place.levels)["traffic"] == "udp"
    assert tcp.trending is Trending.STAYS


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ((-5, 2), (-6, 2)),  # neither a difference nor none
        ((-5, 0.1), (-0.2, 0.1)),  # a cost, and nothing that anyone would notice
        ((-5, 0.1), (5, 0.1)),  # a cost and a gain
        ((-5, float("nan")), (-7, 0.1)),  # no interval
    ],
)
def test_what_cannot_be_told_at_one_place_is_told_at_none(first, last):
    _, question = asking()
    assert trends(question, claims_of(question, of((first, (-5, 0.1), last)))) == []


def test_without_a_factor_of_the_places_there_is_no_trend():
    _, question = asking(STUDY.replace('along = "scenario.clients"', ""))
    assert trends(question, claims_of(question, of([(-5, 0.1)] * 3))) == []


def test_the_sentence_names_both_ends_and_what_becomes_of_the_cost():
    plan, question = asking()
    claims = claims_of(question, of(((-5, 0.1), (-6, 0.1), (-7, 0.1))))
    found = Answered(question, tuple(claims), (), (), (), (), None, tuple(trends(question, claims)))
    grows, stays = Teller(Names(plan.cells)).answer(found).leads
    assert grows == (
        "From an open network to WPA2-Personal, throughput falls by 5.00 ± 0.10 % (UDP, 1 client) "
        "and by 7.00 ± 0.10 % (UDP, 8 clients): the cost grows."
    )
    assert stays.endswith("(TCP, 8 clients): the cost neither grows nor fades noticeably.")
