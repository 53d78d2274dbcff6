"""One result reads with the same words in the answer and in every table."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest
from attrs import evolve

from airtoll.analyse import Estimate
from airtoll.analyse.analysis import SHIFT
from airtoll.analyse.comparison import compare_samples
from airtoll.analyse.estimate import COST_UNKNOWN, DETERMINISTIC, EQUAL, NOT_SETTLED
from airtoll.analyse.evidence import Evidence
from airtoll.answer import Compare, Stated, Verdict
from airtoll.answer.compared import judge
from airtoll.observe.metrics import METRICS
from airtoll.observe.spoken import NOTHING_NOTICED, SPOKEN, spoken
from airtoll.present.names import Names
from airtoll.present.words import Teller, rule, shows, stated, verdict
from airtoll.question import Arm, Place
from airtoll.report import write_report
from airtoll.report.answer import table
from airtoll.report.summary import summarise
from airtoll.report.views import VIEWS
from airtoll.run import run

HAVE, TO = (Arm((("policy", name),)) for name in ("open", "wpa2-psk-ccmp"))
TELLER = Teller(Names((), ["open", "wpa2-psk-ccmp"]))


def claim_of(metric: str, change: Estimate, *, is_share: bool, **more: object) -> Compare:
    unit = METRICS[metric].unit
    before = evolve(change, value=0.5, low=0.5, high=0.5, unit=unit)
    moved = change.value * (before.value if is_share else 1)
    value, fresh = judge(change, spoken(metric).unnoticed, METRICS[metric].better)
    return Compare(
        metric, Place((), {}), HAVE, TO, before, evolve(before, value=before.value + moved), change,
        is_share, value, fresh, **more,
    )  # fmt: skip


def synthetic() -> list[Compare]:
    """Changes of every metric: large, tiny, wide, tied, without chance, and unknown."""
    found = []
    for metric in METRICS:
        told = spoken(metric)
        unit = "1" if told.is_share else METRICS[metric].unit
        size = told.unnoticed or 1e-3
        for value, half, method in (
            (20 * size, size, "t"),
            (-20 * size, size, "t"),
            (0.1 * size, 0.1 * size, "t"),
            (0.3 * size, 40 * size, "t"),
            (3 * size, math.nan, DETERMINISTIC),
            (0.0, math.nan, EQUAL),
            (3 * size, math.nan, EQUAL),
        ):
            change = Estimate(value, value - half, value + half, 0.95, 10, method, unit)
            claim = claim_of(metric, change, is_share=told.is_share)
            found.append(claim)
        bare = evolve(claim, change=None, verdict=Verdict.UNMEASURED, reason="no trial measured it")
        found += [
            evolve(found[-5], verdict=Verdict.UNNOTICED, same_frames=True),
            bare,
            evolve(bare, reason=f"mean, {COST_UNKNOWN}"),
            evolve(bare, verdict=Verdict.UNSETTLED, reason=NOT_SETTLED),
        ]
    return found


CLAIMS = synthetic()


def test_the_claims_have_every_verdict():
    assert {claim.verdict for claim in CLAIMS} == set(Verdict)


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (11.18, "from a median of 4.89 to 16.05 s, by 11.04 to 11.32 s"),
        (11.16, "by 11.16 ± 0.14 s, from 4.89 to 16.05 s"),
    ],
)
def test_a_shift_that_is_not_the_difference_of_its_medians_is_told_by_its_interval(
    size: float, words: str
) -> None:
    change = Estimate(size, size - 0.14, size + 0.14, 0.95, 12, SHIFT, "s")
    claim = claim_of("join_all_time_s", change, is_share=False)
    before = Estimate(4.89, 4.8, 5.0, 0.95, 6, "median", "s")
    claim = evolve(claim, before=before, after=evolve(before, value=16.05), verdict=Verdict.COSTS)
    assert TELLER.change(claim).endswith(f"rises {words}")


def test_an_undecided_change_has_its_direction_and_a_first_step() -> None:
    change = Estimate(-0.02, math.nan, math.nan, 0.95, 4, EQUAL, "s")
    claim = claim_of("handover_gap_s", change, is_share=False)
    before = Estimate(0.04, 0.04, 0.04, 0.95, 2, "median", "s")
    after = evolve(before, value=0.02)
    claim = evolve(claim, before=before, after=after, verdict=Verdict.TOO_FEW, fresh=None)
    assert TELLER.change(claim) == (
        "the gap of a hand-over seems to fall by 20 ms, from 40 to 20 ms: too few trials to tell; "
        "first run with --trials 30"
    )
    same = evolve(claim, change=evolve(change, value=0.0), after=before)
    assert "seems not to change: too few" in TELLER.change(same)


def test_a_value_that_the_digits_of_the_change_would_hide_has_its_own_unit() -> None:
    change = Estimate(1.13, 1.12, 1.14, 0.95, 12, SHIFT, "s")
    claim = claim_of("rejoin_gap_s", change, is_share=False)
    before = Estimate(0.0021, 0.002, 0.003, 0.95, 6, "median", "s")
    claim = evolve(claim, before=before, after=evolve(before, value=1.132), verdict=Verdict.COSTS)
    assert TELLER.change(claim).endswith("rises by 1.13 ± 0.01 s, from 2.1 ms to 1.13 s")


def few(low: float, high: float, fresh: int, n: int) -> str:
    change = Estimate(-0.3, low, high, 0.95, n, "of_baseline, Fieller", "1")
    claim = claim_of("throughput_bps", change, is_share=True)
    before = Estimate(59e6, 37e6, 81e6, 0.95, n // 2, "mean, t", "bit/s")
    after = evolve(before, value=41e6)
    return TELLER.change(
        evolve(claim, before=before, after=after, verdict=Verdict.TOO_FEW, fresh=fresh)
    )


def test_a_wide_interval_has_both_ends_both_values_and_a_first_step():
    step = "6 trials differ too much to tell how many would decide; first run with --trials 30"
    assert few(-0.93, 0.52, 71, 12) == (
        "throughput changes by -30 % (-93 to 52), from 59 to 41 Mb/s: too few trials to tell; "
        + step
    )
    # A narrow one that asks for hundreds of times the trials, and those that have their number.
    assert few(-0.65, 0.05, 601, 12).endswith(step)
    assert "a new run with 71 trials" in few(-0.65, 0.05, 71, 12)
    assert "a new run with 71 trials" in few(-0.93, 0.52, 71, 60)


@pytest.mark.parametrize("metric", METRICS)
def test_the_sentence_about_a_change_has_the_words_of_its_row(metric):
    for claim in CLAIMS:
        if claim.metric != metric:
            continue
        if spoken(metric).told == "lost" and claim.verdict in (Verdict.GAINS, Verdict.COSTS):
            # "a hand-over loses no packet instead of 2" has both values as its verb.
            assert "loses" in TELLER.claim(claim)
        else:
            core, _, number = verdict(claim).partition(" (")
            assert core in TELLER.claim(claim)
            if number:
                if "differ too much" in number:
                    assert f"{number.partition(':')[0]}; first run" in TELLER.claim(claim)
                else:
                    assert number == f"{claim.fresh} in a new run)"
                    assert f"a new run with {claim.fresh} trials" in TELLER.claim(claim)


@pytest.mark.parametrize("metric", METRICS)
def test_the_verb_of_every_sentence_fits_one_thing(metric):
    words = re.escape(spoken(metric).words)
    verbs = "rises|falls|changes|seems|stays|does not change|has not settled|was not measured"
    pattern = re.compile(rf"From an open network to WPA2-Personal, {words} ({verbs})\b")
    for claim in CLAIMS:
        if claim.metric == metric:
            said = TELLER.claim(claim)
            assert pattern.match(said) or ", a hand-over loses " in said


@pytest.mark.parametrize("evidence", Evidence)
def test_statistics_adds_its_rule_in_brackets_and_changes_no_word(evidence):
    claim = next(c for c in CLAIMS if c.verdict is Verdict.COSTS)
    row = Stated(claim, evidence, margin=0.02, among=61)
    said = stated(row)
    assert said.startswith(verdict(claim))
    assert said.count("(") == (said != verdict(claim))
    assert stated(evolve(row, is_primary=False)).startswith(f"{verdict(claim)} (exploratory")


def test_the_rule_of_a_family_and_of_a_margin_are_named():
    claim = next(c for c in CLAIMS if c.verdict is Verdict.COSTS and c.metric == "throughput_bps")
    assert stated(Stated(claim, Evidence.LOWER_ALONE, among=61)) == (
        "falls (taken alone, not among 61 comparisons)"
    )
    said = stated(Stated(claim, Evidence.EQUIVALENT, margin=0.02))
    assert said == "falls (equivalent within 0.02 bit/s)"
    small = next(c for c in CLAIMS if c.verdict is Verdict.UNNOTICED and not c.same_frames)
    # A reader need not weigh a small difference.
    assert stated(Stated(small, Evidence.LOWER_ALONE, among=61)) == NOTHING_NOTICED


@pytest.mark.parametrize("metric", SPOKEN)
def test_the_limit_of_what_goes_unnoticed_has_its_unit(metric):
    limit = spoken(metric).unnoticed
    said = rule(metric, limit)
    assert bool(said) == (limit > 0)
    assert not said or said.endswith(f"is {NOTHING_NOTICED}.")


def test_a_test_without_a_question_has_the_same_words():
    few = compare_samples([1.0, 2.0], [1.5, 2.5], "s", method="mann-whitney")
    assert shows(few) == "too few trials to tell (4 in a new run)"
    assert shows(compare_samples([1, 2, 3], [1.1, 2.1, 3.2], "s")) == "too few trials to tell"
    assert shows(compare_samples([1, 2, 3], [11, 12, 13], "s")) == "falls"


STUDY = """
[study]
name = "both"
title = "both"
[trials]
repetitions = 4
pairing = "common"
[scenario.a]
phy = "802.11g"
rate_mbps = 54
[traffic.long]
transport = "udp"
payload_bytes = 1472
duration_s = 0.3
[traffic.tcp]
transport = "tcp"
duration_s = 0.3
[grid]
policy = ["open", "wpa2-psk-ccmp", "wpa3-sae-ccmp", "wpa3-sae-gcmp-256"]
"""


@pytest.fixture(scope="module", params=["open", "wpa2-psk-ccmp"])
def summary(request, tmp_path_factory):
    folder: Path = tmp_path_factory.mktemp("both")
    baseline = f'title = "both"\nbaseline = "{request.param}"'
    (folder / "both.toml").write_text(STUDY.replace('title = "both"', baseline))
    return summarise(run(folder / "both.toml", out=folder / "run", jobs=1).path)


def test_a_run_says_the_same_of_a_cell_in_its_answer_and_in_its_tables(summary):
    rows = {row.cell: row.verdict for row in table(summary) if row.station is None}
    compared = 0
    for answered in summary.answered:
        for claim in answered.compares:
            mine, other = (claim.place.cells[arm].name for arm in (claim.have, claim.to))
            if claim.metric != "throughput_bps" or mine not in summary.analysis.references:
                continue
            compared += 1
            assert rows[other].partition(" (")[0] == verdict(claim)
            assert verdict(claim).partition(" (")[0] in Teller(summary.names).claim(claim)
    assert compared
    cells = VIEWS["costs"](summary)
    at = cells.columns.index("verdict")
    assert {row[at] for row in cells.rows} == set(rows.values())


def test_equal_frames_are_equal_in_the_table_of_costs(summary):
    rows = {row.cell: row.verdict for row in table(summary)}
    same = "both send the same data frames"
    if summary.analysis.baseline == "wpa2-psk-ccmp":
        assert {rows[f"a/wpa3-sae-ccmp/{traffic}"] for traffic in ("long", "tcp")} == {same}
    else:
        assert same not in rows.values()


def test_json_has_the_words_of_the_page(summary):
    said = json.loads(write_report([summary.path], form="json").read_text("utf-8"))
    rows = {row.cell: row.verdict for row in table(summary)}
    found = [
        row
        for row in said["comparisons"]
        if row["metric"] == "throughput_bps" and row["station"] is None
    ]
    assert found
    for row in found:
        assert row["verdict"] == rows[row["cell"]]
        assert row["evidence"] in {one.value for one in Evidence}
