"""Neighbouring sentences about several quantities of one change are one sentence."""

from __future__ import annotations

import pytest

from airtoll.present.joined import Lead, joined

THROUGHPUT = Lead("From A to B, throughput falls by 5.3 ± 0.2 % (TCP).", "throughput_bps")
DELAY = Lead("From A to B, the mean delay rises by 8 ms, from 2 to 10 ms (TCP).", "delay_s")
NOTHING = ": nothing that anyone would notice."


def test_quantities_of_one_change_are_told_together():
    (line,) = joined([THROUGHPUT, DELAY])
    assert line == (
        "From A to B, throughput falls by 5.3 ± 0.2 %, and the mean delay rises by 8 ms, from 2 to "
        "10 ms (TCP)."
    )


def test_a_verb_and_a_verdict_are_told_once():
    lines = joined(
        [
            Lead(
                f"From A to B, throughput changes by at most 0.4 % at all 8 places{NOTHING}",
                "throughput_bps",
            ),
            Lead(f"From A to B, the mean delay changes by at most 9 us (TCP){NOTHING}", "delay_s"),
            Lead(f"From A to B, jitter changes by at most 5 us (TCP){NOTHING}", "jitter_s"),
        ]
    )
    assert lines == [
        "From A to B, throughput changes by at most 0.4 % at all 8 places; the mean delay by at "
        f"most 9 us, and jitter by at most 5 us (TCP){NOTHING}"
    ]


def test_each_of_several_places_stays_with_its_change():
    several = Lead(
        "From A to B, throughput falls by 1 % (UDP) and by 5 % (TCP).", THROUGHPUT.metric
    )
    (line,) = joined([several, DELAY])
    assert "by 1 % (UDP) and by 5 % (TCP), and the mean delay" in line


def test_a_verdict_on_one_quantity_is_not_said_of_the_others():
    small = Lead(f"From A to B, jitter changes by at most 5 us (TCP){NOTHING}", "jitter_s")
    (line,) = joined([THROUGHPUT, small])
    assert line == (
        "From A to B, throughput falls by 5.3 ± 0.2 %, and jitter changes by at most 5 us "
        "(TCP), too little to notice."
    )
    (line,) = joined([small, THROUGHPUT])
    assert "5 us (TCP), too little to notice, and throughput falls" in line


@pytest.mark.parametrize(
    "other",
    [
        Lead("From A to C, the mean delay rises by 8 ms.", "delay_s"),
        Lead("UDP: from A to B, the mean delay rises by 8 ms.", "delay_s"),
        Lead("From A to B, throughput rises by 2 % (UDP).", "throughput_bps"),
        Lead("B cannot be had: no RADIUS server.", "delay_s"),
        Lead("From A to B, the mean delay rises by 8 ms."),
        Lead(f"From A to B, the mean delay rises {'by 8 ms (here) ' * 20}.", "delay_s"),
    ],
    ids=["other change", "other place", "same quantity", "other form", "no quantity", "too long"],
)
def test_other_sentences_stay_as_they_are(other):
    assert joined([THROUGHPUT, other]) == [THROUGHPUT.text, other.text]
    assert joined([other, THROUGHPUT]) == [other.text, THROUGHPUT.text]


def test_only_neighbours_are_told_together():
    between = Lead("From C to D, throughput rises by 2 %.", "throughput_bps")
    assert len(joined([THROUGHPUT, between, DELAY])) == 3
