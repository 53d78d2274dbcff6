"""One direction per metric, and signs in words that follow from it."""

import math

import numpy as np
import polars as pl
import pytest

from airtoll.analyse import Estimate, analyse
from airtoll.analyse.advice import Needs, advise, better_transport
from airtoll.analyse.cost import as_cost, cost_in_words, sign_of
from airtoll.analyse.quantities import show_estimate, show_overhead
from airtoll.observe.metrics import METRICS, SHARES, more_is_better, name_of
from airtoll.study import load, shipped


def cost(value: float, low: float, high: float, unit: str) -> Estimate:
    return Estimate(value, low, high, 0.95, 10, "t", unit)


def test_every_answer_of_a_shipped_study_has_a_direction():
    answers = {metric for name in shipped() for metric in load(name).study.answers}
    for metric in answers:
        assert METRICS[metric].better in ("more", "less"), metric
    assert more_is_better("throughput_bps")
    assert more_is_better("joined_ratio")
    assert not more_is_better("delay_s")
    assert not more_is_better("overhead")
    # Jain's index is read as a number, other shares in percent.
    assert {name for name in SHARES if not METRICS[name].percent} == {"fairness_ratio"}
    assert name_of("handover_gap_s") == "gap of a hand-over"
    assert name_of("transfer_delay_s") == "transfer delay"


@pytest.mark.parametrize(
    ("overhead", "words"),
    [
        (cost(0.031, 0.029, 0.033, "1"), "it costs 3.10 [2.90, 3.30] %"),
        (cost(-0.04, -0.05, -0.03, "1"), "it gains 4.00 [3.00, 5.00] %"),
        (
            cost(0.001, -0.001, 0.003, "1"),
            "it costs nothing that anyone would notice (at most 0.30 %)",
        ),
        (
            cost(-0.004, -0.005, -0.003, "1"),
            "it costs nothing that anyone would notice (at most 0.50 %)",
        ),
        (cost(0.01, -0.01, 0.03, "1"), "too few trials to tell (at most 3.00 %)"),
        # T2 - T1 is negative where security costs throughput.
        (cost(-9e4, -1.77e5, -3e3, "bit/s"), "it costs 90 ± 87 kb/s"),
        (cost(4e5, 3.5e5, 4.5e5, "bit/s"), "it gains 400 ± 50 kb/s"),
        (
            cost(-1e5, -3.5e5, 1.5e5, "bit/s"),
            "too few trials to tell (at most 350.0 kb/s)",
        ),
        (cost(0.0, math.nan, math.nan, "1"), "it costs nothing that anyone would notice"),
        (cost(-0.02, math.nan, math.nan, "1"), "it gains 2.00 %"),
    ],
)
def test_a_cost_is_positive_in_words_and_a_gain_is_called_so(overhead, words):
    assert cost_in_words(overhead) == words
    assert "-" not in words


def test_a_small_difference_is_never_shown_as_zero():
    assert show_overhead(cost(3.2e-5, 2.8e-5, 3.6e-5, "1")) == "0.0032 ± 0.0004 %"
    assert show_overhead(cost(3.2e-5, math.nan, math.nan, "1")) == "0.003 %"
    assert show_overhead(cost(0.4729, 0.4717, 0.4741, "1")) == "47.29 ± 0.12 %"
    assert show_overhead(cost(0.0, math.nan, math.nan, "1")) == "0.00 %"
    # An interval without a width is none.
    assert show_overhead(cost(0.25, 0.25, 0.25, "1")) == "25.00 %"
    assert show_estimate(cost(25e6, 25e6, 25e6, "bit/s")) == "25.00 Mb/s"


def test_the_better_transport_is_that_of_the_smaller_loss(rows):
    rng = np.random.default_rng(4)
    frames = []
    for traffic, loss in (("tcp", 0.303e6), ("udp", 0.157e6)):
        values = {
            "open": rng.normal(20e6, 1e4, 10),
            "wpa2-psk-ccmp": rng.normal(20e6 - loss, 1e4, 10),
            # It gains: the larger gain is better.
            "wpa3-sae-gcmp-256": rng.normal(20e6 + loss, 1e4, 10),
        }
        frame = rows(values).with_columns(
            traffic=pl.lit(traffic), cell=pl.col("cell").str.replace("udp", traffic)
        )
        frames.append(frame)
    for definition in ("of_baseline", "of_secured", "difference_bps"):
        found = {
            verdict.policy: verdict
            for verdict in better_transport(analyse(pl.concat(frames), overhead=definition))
        }
        assert found["wpa2-psk-ccmp"].better == "udp"
        assert found["wpa2-psk-ccmp"].clear
        assert found["wpa3-sae-gcmp-256"].better == "tcp"
        assert sign_of(as_cost(found["wpa3-sae-gcmp-256"].overheads[0][1])) == "gain"


def test_a_limit_on_the_overhead_is_a_share_under_every_definition(rows):
    rng = np.random.default_rng(5)
    values = {
        "open": rng.normal(20e6, 1e4, 10),
        "wpa2-psk-ccmp": rng.normal(19e6, 1e4, 10),
        "wpa3-sae-gcmp-256": rng.normal(19.9e6, 1e4, 10),
    }
    for definition in ("of_baseline", "difference_bps"):
        analysis = analyse(rows(values), overhead=definition)
        advice = advise(analysis, Needs(max_overhead=0.02), "s", "udp")
        meets = {option.policy: option.meets for option in advice.options}
        assert meets["wpa2-psk-ccmp"] == "no"
        assert meets["wpa3-sae-gcmp-256"] == "yes"
