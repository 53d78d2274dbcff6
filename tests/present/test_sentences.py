"""Sentences from claims: from what to what, where, and no more than the interval allows."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from airtoll.analyse import Estimate
from airtoll.analyse.estimate import DETERMINISTIC
from airtoll.answer import (
    Answered,
    Compare,
    Fallback,
    Fit,
    Held,
    Limit,
    Met,
    Ordered,
    Ordering,
    Parts,
    Possible,
    Printed,
    Reproduces,
    Verdict,
)
from airtoll.answer.compared import judge
from airtoll.answer.crossings import crossings
from airtoll.answer.trends import trends
from airtoll.observe.metrics import METRICS
from airtoll.observe.spoken import spoken
from airtoll.plan import make_plan
from airtoll.present.names import Names
from airtoll.present.words import Teller, _merged, reproduced
from airtoll.question import asked
from airtoll.study import parse

STUDY = """
[study]
name = "tells"
title = "tells"
[scenario.near]
label = "near the access point"
[scenario.far]
label = "far from it"
[traffic.udp]
label = "UDP"
transport = "udp"
[traffic.call]
label = "a call"
transport = "udp"
[profile_set.air]
label = "the air alone"
[profile_set.card]
label = "a serial card"
ideal = "esp32"
[grid]
policy = ["open", "wpa2-psk-ccmp", "wpa3-sae-ccmp", "wpa3-sae-gcmp-256", "wpa2-psk-ccmp+wireguard"]
profile_set = ["air", "card"]
"scenario.queue_packets" = [50, 400, 800]
{question}
"""
HERE = 'where = { scenario = "near", traffic = "udp", profile_set = "air"%s }'
SHORT = ', "scenario.queue_packets" = 50'


def estimate(value: float, half: float | None, unit: str) -> Estimate:
    if half is None:
        return Estimate(value, float("nan"), float("nan"), 0.95, 10, DETERMINISTIC, unit)
    return Estimate(value, value - half, value + half, 0.95, 10, "t", unit)


class Telling:
    """A question whose changes are stated, in the order of its places and candidates."""

    def __init__(self, question: str, unit: str, *values: tuple[float, float, float | None]):
        """``values``: before, after and the half width of the change, in the metric's unit."""
        plan = make_plan(parse(STUDY.format(question=question), Path("tells.toml")).study)
        (self.question,) = asked(plan)
        self.teller = Teller(Names(plan.cells))
        told = spoken(self.question.metric)
        places = [(p, a) for p in self.question.places for a in self.question.to if a in p.cells]
        assert len(places) == len(values)
        self.claims = []
        for (place, arm), (before, after, half) in zip(places, values, strict=True):
            scale = 1 / before if told.told == "share" else 1.0
            change = estimate(
                (after - before) * scale,
                None if half is None else half * scale,
                "1" if told.told == "share" else unit,
            )
            verdict, more = judge(
                change, self.question.unnoticed, METRICS[self.question.metric].better
            )
            self.claims.append(
                Compare(
                    self.question.metric,
                    place,
                    self.question.have,
                    arm,
                    estimate(before, half, unit),
                    estimate(after, half, unit),
                    change,
                    told.told == "share",
                    verdict,
                    more,
                )
            )

    def leads(self, **others: object) -> tuple[str, ...]:
        return self.teller.answer(self.answered(**others)).leads

    def answered(self, **others: object) -> Answered:
        fields = {"limits": (), "impossible": (), "fallbacks": (), "parts": None} | others
        found = tuple(crossings(self.question, self.claims))
        fields["trends"] = tuple(trends(self.question, self.claims))
        return Answered(self.question, tuple(self.claims), found, **fields)  # type: ignore[arg-type]


def policies(to: str, where: str = HERE % SHORT, metric: str = "throughput_bps") -> str:
    return (
        f'[[question]]\nmetric = "{metric}"\nfrom = {{ policy = "wpa2-psk-ccmp" }}\n{to}\n{where}'
    )


ONE = 'to = [{ policy = "wpa2-psk-ccmp+wireguard" }]'
TWO = 'to = [{ policy = "wpa3-sae-ccmp" }, { policy = "wpa2-psk-ccmp+wireguard" }]'


def test_one_change_has_its_interval_and_its_place():
    telling = Telling(policies(ONE), "bit/s", (20e6, 19e6, 0.04e6))
    assert telling.leads() == (
        "From WPA2-Personal to WPA2-Personal + WireGuard, throughput falls by 5.00 ± 0.20 % "
        "(near the access point, UDP, the air alone, a queue of 50 packets).",
    )


def test_a_large_change_names_both_values_where_there_is_room():
    telling = Telling(policies(ONE), "bit/s", (20e6, 10e6, 0.4e6))
    assert "throughput falls by 50.0 ± 2.0 % (near" in telling.leads()[0]
    assert telling.teller.claim(telling.claims[0]) == (
        "From WPA2-Personal to WPA2-Personal + WireGuard, throughput falls by 50.0 ± 2.0 %, "
        "from 20.00 to 10.00 Mb/s."
    )


def test_more_than_the_double_is_told_by_both_values_alone():
    telling = Telling(policies(ONE), "bit/s", (2e6, 28e6, 0.4e6))
    (line,) = telling.leads()
    assert "throughput rises from 2.00 to 28.00 Mb/s" in line


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (2.0, 0.0, "no packet instead of 2"),
        (0.0, 1.0, "1 packet instead of none"),
        (1.0, 2.6, "2.6 packets instead of 1"),
    ],
)
def test_lost_packets_of_a_hand_over_are_told_as_such(before, after, said):
    telling = Telling(policies(ONE, metric="handover_packets_lost"), "1", (before, after, None))
    opening = "From WPA2-Personal to WPA2-Personal + WireGuard, a hand-over loses"
    place = "(near the access point, UDP, the air alone, a queue of 50 packets)"
    assert telling.leads() == (f"{opening} {said} {place}.",)
    assert telling.teller.claim(telling.claims[0]) == f"{opening} {said}."


def test_as_many_lost_packets_are_no_change():
    telling = Telling(policies(ONE, metric="handover_packets_lost"), "1", (2.0, 2.0, None))
    assert "the number of packets lost per hand-over does not change" in telling.leads()[0]


def test_candidates_at_one_place_stand_side_by_side():
    telling = Telling(
        policies(TWO, metric="delay_s"), "s", (0.020, 0.057, 0.002), (0.020, 0.120, 0.002)
    )
    assert telling.leads() == (
        "From WPA2-Personal, the mean delay rises from 20 ms to 57 ms with WPA3-Personal CCMP-128 "
        "and to 120 ms with WPA2-Personal + WireGuard (near the access point, UDP, the air alone, "
        "a queue of 50 packets).",
    )


def test_equal_changes_are_told_together():
    telling = Telling(policies(TWO), "bit/s", (20e6, 19.0e6, 0.04e6), (20e6, 19.02e6, 0.04e6))
    (line,) = telling.leads()
    assert line.startswith(
        "From WPA2-Personal to WPA3-Personal CCMP-128 or WPA2-Personal + WireGuard, "
        "throughput falls by 4.9 to 5.0 % ("
    )


def test_an_unnoticed_change_is_as_large_as_its_interval_allows():
    telling = Telling(policies(ONE), "bit/s", (20e6, 19.96e6, 0.1e6))
    (line,) = telling.leads()
    # 0.2 % of what was, and up to 0.7 % within the interval.
    assert "throughput changes by at most 0.70 % (near the access point" in line
    assert line.endswith("): nothing that anyone would notice.")


def test_an_undecided_change_says_so():
    telling = Telling(policies(ONE), "bit/s", (20e6, 19.8e6, 0.6e6))
    (line,) = telling.leads()
    assert "throughput changes by -1.0 ± 3.0 % (" in line
    new = "a new run with 92 trials of each cell and another seed would decide in 4 of 5 cases"
    assert f"): too few trials to tell; {new}." in line


def test_places_are_named_each_after_what_they_share():
    where = 'where = { traffic = "udp", profile_set = "air"' + SHORT + " }"
    telling = Telling(policies(ONE, where), "bit/s", (20e6, 19e6, 4e4), (20e6, 17e6, 4e4))
    assert telling.leads() == (
        "UDP, the air alone, a queue of 50 packets: from WPA2-Personal to WPA2-Personal + "
        "WireGuard, throughput falls by 5.0 % (near the access point) and by 15 % (far from it).",
    )


def test_what_holds_at_most_places_comes_first():
    where = 'where = { traffic = "udp", profile_set = "air", scenario = "near" }'
    same, less = (20e6, 19.99e6, 1e4), (20e6, 17e6, 4e4)
    telling = Telling(policies(ONE, where), "bit/s", same, same, less)
    first, second = telling.leads()
    assert "throughput changes by at most 0.10 % " in first
    assert "throughput falls by 15.00 ± 0.20 % (" in second
    assert second.endswith("(a queue of 800 packets).")


QUEUES = """[[question]]
metric = "delay_s"
from = { "scenario.queue_packets" = 50 }
to = [{ "scenario.queue_packets" = 400 }, { "scenario.queue_packets" = 800 }]
where = { policy = "open", scenario = "near", traffic = "udp", profile_set = "air" }
"""


def test_further_levels_leave_out_the_words_of_the_first():
    telling = Telling(QUEUES, "s", (0.08, 0.7, 0.01), (0.08, 1.4, 0.01))
    assert telling.leads() == (
        "From a queue of 50 packets, the mean delay rises from 80 ms to 700 ms with 400 packets "
        "and to 1.4 s with 800 packets (near the access point, UDP, an open network, "
        "the air alone).",
    )


def test_the_level_from_which_on_it_changes():
    telling = Telling(
        QUEUES + 'along = "scenario.queue_packets"\n', "s", (0.08, 0.081, 0.001), (0.08, 1.4, 0.01)
    )
    assert telling.leads() == (
        "From a queue of 50 packets, the mean delay changes by nothing that anyone would notice "
        "up to 400 packets, and rises from 0.08 to 1.40 s at 800 packets (near the access "
        "point, UDP, an open network, the air alone).",
    )


def test_levels_without_a_verdict_are_named_with_the_turn():
    levels = '[{ "scenario.queue_packets" = 400 }, { "scenario.queue_packets" = 800 }]'
    turned = QUEUES.replace("= 50 }", "= 800 }").replace(levels, levels.replace("800", "50"))
    telling = Telling(
        turned + 'along = "scenario.queue_packets"\n', "s", (0.08, 0.1, 0.03), (0.08, 1.4, 0.01)
    )
    # One undecided level is no turn: it is told on its own.
    assert not telling.answered().crossings
    claims = [
        evolve(telling.claims[0], verdict=verdict, place=telling.claims[0].place)
        for verdict in (Verdict.UNNOTICED, Verdict.TOO_FEW, Verdict.COSTS)
    ]
    arms = [evolve(claims[0].to, levels=(("scenario.queue_packets", n),)) for n in (600, 500, 50)]
    telling.claims = [evolve(c, to=arm) for c, arm in zip(claims, arms, strict=True)]
    (crossing,) = telling.answered().crossings
    assert (crossing.last, crossing.between, crossing.first) == (600, (500,), 50)
    (line,) = telling.leads()
    assert "up to 600 packets, and rises" in line
    assert line.endswith("; too few trials to tell at 500 packets.")


def test_candidates_that_cannot_be_had_and_links_that_fall_back():
    telling = Telling(policies(TWO), "bit/s", (20e6, 19e6, 4e4), (20e6, 17e6, 4e4))
    question = telling.question
    refused = Possible(question.to[0], "wpa3-sae-ccmp: no association", question.places)
    falls = Fallback(question.have, "802.11ax (no multi-link)", "too old", question.places)
    told = telling.teller.answer(telling.answered(impossible=(refused,), fallbacks=(falls,)))
    assert told.leads[-1].startswith("WPA3-Personal CCMP-128 cannot be had (near")
    assert told.leads[-1].endswith("): no association.")
    assert told.reasons[0].startswith("WPA2-Personal falls back to 802.11ax (near")
    assert told.reasons[0].endswith("): too old.")


def test_what_all_places_share_is_said_of_a_candidate_that_cannot_be_had():
    two = HERE % ', "scenario.queue_packets" = [50, 400]'
    telling = Telling(policies(ONE, two), "bit/s", (20e6, 19e6, 4e4), (20e6, 19e6, 4e4))
    question = telling.question
    refused = Possible(question.to[0], "no association", question.places[:1])
    told = telling.teller.answer(telling.answered(impossible=(refused,)))
    assert told.leads[-1].startswith("Near the access point, UDP, the air alone: WPA2-Personal")
    assert told.leads[-1].endswith("cannot be had (a queue of 50 packets): no association.")


def test_some_of_many_candidates_are_counted_beside_all():
    two = HERE % ', "scenario.queue_packets" = [50, 400]'
    fall, few = (20e6, 18e6, 4e4), (20e6, 19.9e6, 6e5)
    telling = Telling(policies("", two), "bit/s", fall, fall, fall, few, fall, fall, fall, few)
    assert any("throughput falls with 3 of 4 choices, by 10" in line for line in telling.leads())


def test_who_holds_throughput_back():
    telling = Telling(policies(TWO), "bit/s", (20e6, 19e6, 4e4), (20e6, 17e6, 4e4))
    question = telling.question
    (place,) = question.places
    limits = tuple(
        Limit(cell, place, arm, Held.CPU if "wireguard" in str(arm) else Held.AIR, "phone", 1.0)
        for arm, cell in place.cells.items()
    )
    (line,) = telling.teller.answer(telling.answered(limits=limits)).extras
    assert line == (
        "Not the air but the CPU of phone limits throughput with WPA2-Personal + WireGuard."
    )


def test_who_holds_throughput_back_at_some_places_is_told_with_them():
    telling = Telling(policies(ONE, HERE % ""), "bit/s", *(((20e6, 17e6, 4e4),) * 3))
    question = telling.question
    limits = tuple(
        Limit(
            cell,
            place,
            arm,
            Held.CPU if arm in question.to and number < 2 else Held.AIR,
            "phone",
            1.0,
        )
        for number, place in enumerate(question.places)
        for arm, cell in place.cells.items()
    )
    (line,) = telling.teller.answer(telling.answered(limits=limits)).extras
    assert line == (
        "Not the air but the CPU of phone limits throughput with WPA2-Personal + WireGuard "
        "(a queue of 50 packets and a queue of 400 packets)."
    )


def test_the_parts_of_a_loss_add_up_and_say_of_what_they_are():
    telling = Telling(policies(ONE), "bit/s", (20e6, 17e6, 4e4))
    (loss,) = telling.claims
    parts = Parts(
        loss,
        (
            ("airtime_security_s", estimate(0.1, 0.001, "1")),
            ("crypto_exposed_s", estimate(0.05, 0.001, "1")),
        ),
        0.15,
    )
    (line,) = telling.teller.answer(telling.answered(parts=parts)).extras
    assert line.startswith("From WPA2-Personal to WPA2-Personal + WireGuard (")
    assert line.endswith(
        "15 % of throughput is lost: 10 % to octets that security adds and 5.0 % to waiting for "
        "the cipher."
    )


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ([("airtime_retry_s", -0.012)], "; less for retries and collisions wins 1.2 % back."),
        ([("airtime_mac_phy_s", -0.012)], "; fewer frames win 1.2 % back."),
        ([("airtime_retry_s", -0.0002)], "."),
    ],
)
def test_parts_that_exceed_the_whole_say_what_is_won_back(others, words):
    telling = Telling(policies(ONE), "bit/s", (20e6, 17e6, 4e4))
    costs = [("airtime_security_s", 0.02)]
    parts = tuple((name, estimate(value, 0.001, "1")) for name, value in (*costs, *others))
    claimed = Parts(telling.claims[0], parts, sum(value for _, value in (*costs, *others)))
    (line,) = telling.teller.answer(telling.answered(parts=claimed)).extras
    assert line.endswith(f"is lost: 2.0 % to octets that security adds{words}")


def test_levels_of_two_units_keep_both():
    names = Names(())
    sizes = [names.level("traffic.transfer_bytes", n) for n in (65.5e3, 1e6, 16.8e6)]
    assert _merged(sizes[0], sizes[-1]) == "a file of 65.5 kB to 16.8 MB"
    assert _merged("1 client", "8 clients") == "1 to 8 clients"
    assert _merged("a RADIUS server 1 ms away", "a RADIUS server 5 ms away") == (
        "a RADIUS server 1 to 5 ms away"
    )


def claim(**values: object) -> Reproduces:
    fields = {
        "dataset": "paper", "quantity": "overhead", "kind": Printed.VALUE, "axis": "",
        "variant": "", "instrument": "", "within": 0.01, "met": 5, "total": 20, "fitted_met": 0,
        "fitted": 0, "median": 0.02, "printed": (0.0056, 0.1516), "ours": (0.0099, 0.0146),
        "unit": "1",
    }  # fmt: skip
    return Reproduces(**{**fields, **values})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def names() -> Names:
    return Names(make_plan(parse(STUDY.format(question=""), Path("tells.toml")).study).cells)


def test_printed_values_are_counted_and_fitted_ones_apart(names):
    air = claim(axis="profile_set", variant="air")
    card = claim(
        axis="profile_set", variant="card", met=6, total=10, fitted=10, fitted_met=10,
        ours=(0.015, 0.038),
        fits=(Fit("card.cipher.frame_us", 16.5e-6, 57e-6),),
    )  # fmt: skip
    assert reproduced([air, card], names).leads == (
        "With the air alone, 5 of 20 printed overheads are met within one point: "
        "printed 0.56 to 15 %, ours 0.99 to 1.5 %.",
        "With a serial card (17 to 57 us per frame), 6 of the 10 that it was not fitted to are "
        "met.",
    )


def test_a_fit_that_predicts_nothing_better_is_not_in_the_answer(names):
    told = reproduced(
        [
            claim(axis="profile_set", variant="air"),
            claim(axis="profile_set", variant="card", fits=(Fit("card", 1e-6, 1e-6),)),
        ],
        names,
    )
    assert len(told.leads) == 1
    assert told.extras[0].startswith("With a serial card (1.0 us), 5 of 20")


def test_values_that_were_all_fitted_to_prove_nothing(names):
    (line,) = reproduced([claim(total=0, met=0, fitted=4, fitted_met=4)], names).leads
    assert line.endswith("; none is a prediction.")


def test_impossible_printed_values_and_differences(names):
    several = claim(quantity="throughput_bps", unit="bit/s", within=0.05, printed=(1e6, 14e6),
                    ours=(1e6, 6.7e6), above=10)  # fmt: skip
    one = claim(quantity="throughput_bps", kind=Printed.DIFFERENCE, unit="bit/s", within=0.05,
                met=0, total=1, printed=(5e6, 5e6), ours=(-1e6, -1e6))  # fmt: skip
    told = reproduced([several, one], names)
    assert told.leads == (
        "5 of 20 printed throughputs are met within 5 % and 10 are above what the PHY can carry: "
        "printed 1.0 to 14 Mb/s, ours 1.0 to 6.7 Mb/s.",
    )
    (line,) = reproduced([evolve(several, excess=1)], names).leads
    assert (
        "are met within 5 %, 1 is above what the stations send and 10 are above what the PHY can "
        "carry: "
    ) in line
    assert told.extras == (
        "The printed difference of throughput is not met within 5 %: "
        "printed 5.0 Mb/s, ours -1.0 Mb/s.",
    )


def test_no_verdict_but_the_undecided_one_speaks_of_trials():
    assert {verdict.value for verdict in Verdict if "trials" in verdict.value} == {"too few trials"}


def test_an_unnoticed_change_without_an_interval_is_told_by_its_value():
    """Readings that tie within each side have no interval, and exact ranks may set them apart."""
    telling = Telling(policies(ONE), "bit/s", (20e6, 19.99e6, 0.001e6))
    (claim,) = telling.claims
    nowhere = float("nan")
    bare = Estimate(claim.change.value, nowhere, nowhere, 0.95, 10, "t", "1")
    telling.claims = [evolve(claim, change=bare, verdict=Verdict.UNNOTICED)]
    (lead,) = telling.leads()
    assert "throughput changes by at most 0.050 %" in lead


NAMED = """[[question]]
metric = "throughput_bps"
from = { policy = "open" }
to = [{ policy = "wpa2-psk-ccmp" }]
where = { traffic = "udp", profile_set = "air", "scenario.queue_packets" = 50 }
along = "scenario"
"""


@pytest.mark.parametrize(
    ("near", "far", "said"),
    [
        (0.981, 0.996, "shrinks from 1.9 % (near the access point) to 0.40 % (far from it)."),
        (0.981, 0.879, "grows from 1.9 % (near the access point) to 12 % (far from it)."),
        (
            0.981,
            0.98101,
            "is 1.900 ± 0.020 % (near the access point) and 1.899 ± 0.020 % (far from it): it "
            "neither grows nor shrinks beyond chance.",
        ),
    ],
)
def test_a_cost_grows_or_shrinks_along_named_places(near, far, said):
    telling = Telling(NAMED, "bit/s", (20e6, near * 20e6, 4e3), (20e6, far * 20e6, 4e3))
    (line,) = telling.leads()
    assert f"from an open network to WPA2-Personal, the loss of throughput {said}" in line


def test_an_undecided_place_has_no_trend():
    telling = Telling(NAMED, "bit/s", (20e6, 19e6, 4e4), (20e6, 19.9e6, 6e5))
    (line,) = telling.leads()
    assert "throughput falls by 5.00 ± 0.20 % (near the access point)" in line
    *_, untold = telling.teller.answer(telling.answered()).extras
    assert untold == (
        "Whether the change grows or shrinks from near the access point to far from it: too few "
        "trials to tell, as not every change is decided."
    )


def test_numbers_along_which_the_verdict_turns_have_their_level_and_no_trend():
    numbers = NAMED.replace('along = "scenario"', 'along = "scenario.queue_packets"')
    numbers = numbers.replace(', "scenario.queue_packets" = 50', ', scenario = "near"')
    same, less = (20e6, 19.99e6, 1e4), (20e6, 17e6, 4e4)
    (line,) = Telling(numbers, "bit/s", same, same, less).leads()
    assert "up to a queue of 400 packets, and falls by 15 % at a queue of 800 packets" in line
    more = (20e6, 17.8e6, 4e4)
    (line,) = Telling(numbers, "bit/s", (20e6, 19e6, 4e4), more, less).leads()
    assert line.endswith(
        "the loss of throughput grows from 5.0 % (a queue of 50 packets) to 11 % (a queue of 400 "
        "packets) and 15 % (a queue of 800 packets)."
    )


def setting(variant: int, *of: tuple[str, int, int, float]) -> Reproduces:
    met, total = (sum(one[at] for one in of) for at in (1, 2))
    median = min(one[3] for one in of)
    return claim(
        axis="scenario.queue_packets", variant=variant, quantity="throughput_bps", unit="bit/s",
        within=0.05, met=met, total=total, of_all=Met("", met, total, median),
        by_traffic=tuple(Met(*one) for one in of),
    )  # fmt: skip


def test_the_setting_that_meets_most_printed_values_is_named(names):
    told = reproduced(
        [
            setting(50, ("udp", 1, 5, 0.06), ("call", 0, 5, 0.2)),
            setting(400, ("udp", 5, 5, 0.01), ("call", 0, 5, 0.1)),
            setting(800, ("udp", 5, 5, 0.02), ("call", 0, 5, 0.1)),
        ],
        names,
    )
    assert told.leads == (
        "With a queue of 400 packets, 5 of 10 printed throughputs are met within 5 % (UDP 5 of 5, "
        "a call none of 5); none of the 3 settings meets more, and 1 meets as many, further away.",
    )
    assert len(told.extras) == 3


def test_only_the_nearest_setting_is_said_to_be_it(names):
    best = setting(400, ("udp", 3, 5, 0.1))
    (line,) = reproduced([best, setting(50, ("udp", 1, 5, 0.2))], names).leads
    assert line.endswith("none of the 2 settings meets more or comes nearer.")
    (line,) = reproduced([best, setting(50, ("udp", 1, 5, 0.06))], names).leads
    assert line.endswith("none of the 2 settings meets more.")


def test_each_traffic_has_its_setting_where_no_one_meets_as_many(names):
    told = reproduced(
        [
            setting(50, ("udp", 1, 4, 0.1), ("call", 3, 4, 0.02)),
            setting(400, ("udp", 3, 4, 0.03), ("call", 0, 4, 0.2)),
        ],
        names,
    )
    assert told.leads == (
        "With a queue of 400 packets 3 of 4 printed throughputs of UDP are met within 5 %, with a "
        "queue of 50 packets 3 of 4 of a call; none of the 2 settings meets all 8.",
    )


def test_settings_that_meet_nothing_say_how_far_the_nearest_is(names):
    told = reproduced([setting(50, ("udp", 0, 4, 0.3)), setting(400, ("udp", 0, 4, 0.15))], names)
    assert told.leads == (
        "With none of the 2 settings is any of 4 printed throughputs met within 5 %; nearest, with "
        "a queue of 400 packets, the median distance is 15 %.",
    )


def test_the_settings_with_a_printed_order_and_the_scenarios_without_it(names):
    def at(queue: int, udp: str, *kept: str) -> Ordering:
        return Ordering((("scenario.queue_packets", queue), ("TCP", "call"), ("UDP", udp)), kept)

    order = Ordered(
        "paper",
        "wpa2-psk-ccmp",
        ("N1", "N2", "N3"),
        (at(50, "udp", "N1", "N2"), at(400, "udp", "N3"), at(800, "udp", "N3"), at(800, "call")),
    )
    assert Teller(names).ordered(order) == [
        "None of 4 settings gives the printed order of TCP and UDP in all 3 scenarios: at most it "
        "holds in 2 (N1 and N2) with a queue of 50 packets and UDP.",
        "In the other one (N3) it holds with 2 of the 3 other settings.",
    ]
    whole = evolve(order, settings=(at(50, "udp", "N1", "N2", "N3"), at(400, "udp", "N3")))
    assert Teller(names).ordered(whole) == [
        "The printed order of TCP and UDP holds in all 3 scenarios with a queue of 50 packets."
    ]


def test_values_that_nothing_was_fitted_to_are_called_so(names):
    (line,) = reproduced([claim(met=0, total=3, fitted=1, fitted_met=1)], names).leads
    assert line.startswith("None of 3 printed overheads that nothing was fitted to is met within")


def test_few_policies_are_named_and_many_counted():
    where = 'where = { scenario = "near", traffic = "udp", profile_set = "air"%s }'
    queues = f"""[[question]]
metric = "delay_s"
from = {{ "scenario.queue_packets" = 50 }}
to = [{{ "scenario.queue_packets" = 400 }}]
{where % ', policy = ["open", "wpa2-psk-ccmp", "wpa3-sae-ccmp"]'}
"""
    rises = (0.08, 0.7, 0.01)
    (line,) = Telling(queues, "s", *[rises] * 3).leads()
    assert "(an open network, WPA2-Personal and WPA3-Personal CCMP-128)" in line
    (line,) = Telling(
        queues.replace(where % ', policy = ["open", "wpa2-psk-ccmp", "wpa3-sae-ccmp"]', where % ""),
        "s",
        *[rises] * 5,
    ).leads()
    assert "(all 5 policies)" in line


def test_clients_that_join_in_some_trials_alone_are_a_share():
    telling = Telling(policies(ONE, metric="joined_ratio"), "1", (1.0, 0.125, 0.1))
    telling.claims = [evolve(one, clients=4) for one in telling.claims]
    (line,) = telling.leads()
    assert "the share of clients that join falls from 100.0 to 12.5 % (" in line
    telling.claims = [evolve(one, after=evolve(one.after, value=0.25)) for one in telling.claims]
    (line,) = telling.leads()
    assert "the number of clients that join falls from 4 to 1 of 4 (" in line


def test_a_candidate_with_which_no_client_joins_is_told_as_such():
    telling = Telling(policies(TWO, metric="joined_ratio"), "1", (1.0, 1.0, None), (1.0, 1.0, None))
    question = telling.question
    refused = tuple(Possible(arm, "EAP: no answer", question.places) for arm in question.to)
    leads = telling.leads(impossible=refused)
    assert leads[0].startswith(
        "No client joins with WPA3-Personal CCMP-128 and WPA2-Personal + WireGuard (near"
    )
    assert leads[0].endswith("): EAP: no answer.")


def test_lost_associations_are_told_with_the_number_of_clients(monkeypatch):
    near = 'label = "near the access point"'
    monkeypatch.setitem(globals(), "STUDY", STUDY.replace(near, f"{near}\nclients = 10"))
    (line,) = Telling(policies(ONE, metric="associations_lost"), "1", (0.0, 20.0, 1.0)).leads()
    assert "the number of lost associations of 10 clients rises from 0.0 to 20.0 (" in line


def test_several_undecided_changes_are_told_by_the_range_of_their_intervals():
    telling = Telling(policies(TWO), "bit/s", (20e6, 19.9e6, 0.2e6), (20e6, 20.1e6, 0.3e6))
    (lead,) = telling.leads()
    assert "throughput changes by something between -1.5 and 2.0 % (" in lead
    assert "±" not in lead
    assert "too few trials to tell" in lead
