"""All policies of a plan, with a tunnel and without one, in one sentence."""

from __future__ import annotations

from airtoll.analyse import Estimate
from airtoll.answer import Answered, Compare
from airtoll.answer.compared import judge
from airtoll.plan import make_plan
from airtoll.policies import resolve
from airtoll.present.names import Names
from airtoll.present.words import Teller
from airtoll.question import asked
from airtoll.study import load


def first_lead(with_tunnel: float, without: float, half: float = 0.002) -> str:
    """The first sentence where the changes of both groups are these shares, ± ``half``."""
    plan = make_plan(load("agarwal2005").study, seed=1, repetitions=2)
    question = asked(plan)[0]
    claims = []
    for place in question.places:
        for arm in question.to:
            share = with_tunnel if resolve(str(arm["policy"])).tunnels else without
            change = Estimate(share, share - half, share + half, 0.95, 20, "Fieller", "1")
            before, after = (
                Estimate(5e6 * by, 4.9e6 * by, 5.1e6 * by, 0.95, 10, "t", "bit/s")
                for by in (1, 1 + share)
            )
            verdict, fresh = judge(change, question.unnoticed, "more")
            claims.append(
                Compare(
                    question.metric, place, question.have, arm, before, after, change, True,
                    verdict, fresh,
                )
            )  # fmt: skip
    answered = Answered(question, tuple(claims), (), (), (), (), None, ())
    return Teller(Names(plan.cells)).answer(answered).leads[0]


def test_two_groups_that_answer_alike_are_one_sentence() -> None:
    assert first_lead(-0.05, -0.001) == (
        "TCP, a laptop: from an open network, throughput falls by 5.0 % with the 6 policies with "
        "IPsec and changes by at most 0.30 % with the 5 without, too little to notice (at home and "
        "roaming)."
    )


def test_an_undecided_group_is_not_told_so() -> None:
    assert "the 6 policies" not in first_lead(-0.05, -0.009, half=0.012)
