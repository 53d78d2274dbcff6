"""Selection rules, deterministic cells and families of tests in the analysis of a run."""

import numpy as np
import polars as pl
import pytest

from airtoll.analyse import analyse
from airtoll.analyse.comparison import fdr_adjust, holm_adjust
from airtoll.analyse.estimate import DETERMINISTIC
from airtoll.analyse.evidence import Evidence


class Closest:
    rule, keep, count, ratio, metric = "closest_to_mean", 5, None, None, None


def test_a_selection_rule_moves_the_point_estimate_and_no_interval(rows):
    rng = np.random.default_rng(4)
    values = {"open": rng.normal(20e6, 2e5, 20), "wep-40": rng.normal(19.9e6, 2e5, 20)}
    by_rule, of_all = analyse(rows(values), select=Closest()), analyse(rows(values))
    one, two = (a.estimates.filter(policy="open").row(0, named=True) for a in (by_rule, of_all))
    order = np.argsort(np.abs(values["open"] - values["open"].mean()), kind="stable")
    assert one["value"] == pytest.approx(values["open"][order[:5]].mean())
    assert (one["n"], one["n_all"]) == (5, 20)
    for name in ("value_all", "deviation", "low", "high"):
        assert one[name] == pytest.approx(two[name])
    for name in ("p", "difference", "low", "high", "n"):
        assert by_rule.comparisons[name][0] == pytest.approx(of_all.comparisons[name][0])
    ours, whole = by_rule.overheads.row(0, named=True), of_all.overheads.row(0, named=True)
    assert ours["value"] != whole["value"]
    assert [ours[n] for n in ("value_all", "low", "high")] == pytest.approx(
        [whole[n] for n in ("value", "low", "high")]
    )


@pytest.mark.thorough
def test_the_interval_of_closest_five_of_twenty_covers_as_it_says(rows):
    rng = np.random.default_rng(5)
    drawn = {f"c{i}": rng.normal(1e6, 1e4, 20) for i in range(1000)}
    found = pl.concat(
        [rows({"open": values}, scenario=name) for name, values in list(drawn.items())]
    )
    estimates = analyse(found, select=Closest()).estimates
    covered = ((estimates["low"] <= 1e6) & (estimates["high"] >= 1e6)).mean()
    assert 0.93 < covered < 0.97


def test_a_rule_that_keeps_nothing_leaves_the_cell(rows):
    class Agree:
        rule, keep, count, ratio, metric = "agreement", None, None, 0.999, None

    result = analyse(rows({"open": [1e6, 2e6, 3e6]}), select=Agree())
    row = result.estimates.row(0, named=True)
    assert np.isnan(row["value"])
    assert (row["n"], row["n_all"], row["value_all"]) == (0, 3, 2e6)


def test_a_cell_of_closed_forms_is_one_trial(rows):
    frame = rows({"open": [20e6] * 5, "wep-40": [19e6] * 5})
    result = analyse(frame.with_columns(testbed=pl.lit("analytic")))
    assert result.comparisons["evidence"].to_list() == [Evidence.DETERMINISTIC.value]
    assert np.isnan(result.comparisons["p"][0])
    assert result.estimates["method"].unique().to_list() == [DETERMINISTIC]
    assert result.estimates["low"].is_nan().all()
    cost = result.overhead("s/wep-40/udp")
    assert cost.value == pytest.approx(0.05)
    assert not cost.has_interval
    assert cost.is_deterministic


@pytest.mark.parametrize("testbed", ["simulator", "linux", "imported", None])
def test_equal_readings_of_a_random_model_are_not_called_deterministic(rows, testbed):
    frame = rows({"open": [20e6] * 3, "wep-40": [19e6] * 3, "wep-104": [19e6, 19.1e6, 18.9e6]})
    result = analyse(frame.with_columns(testbed=pl.lit(testbed)))
    for policy in ("open", "wep-40"):
        estimate = result.estimate(f"s/{policy}/udp", "throughput_bps")
        assert estimate.is_equal
        assert not estimate.is_deterministic
    # Three against three: the most extreme order has p = 0.1.
    assert set(result.comparisons["evidence"]) == {Evidence.TOO_FEW.value}
    assert set(result.comparisons["needs"]) == {5}
    # Neither a width of zero nor that of one side alone.
    assert not result.overhead("s/wep-40/udp").has_interval
    assert not result.overhead("s/wep-104/udp").has_interval
    assert result.estimate("s/wep-104/udp", "throughput_bps").has_interval


def test_equal_readings_are_judged_by_ranks_where_trials_are_enough(rows):
    values = {"open": [20e6] * 6, "wep-40": [19e6] * 6, "wep-104": [20e6] * 6}
    found = analyse(rows(values)).comparisons.sort("policy")
    evidence = dict(found.select("policy", "evidence").iter_rows())
    assert evidence == {"wep-40": Evidence.LOWER.value, "wep-104": Evidence.EQUAL.value}
    assert found.filter(policy="wep-40")["p"][0] == pytest.approx(2 / 924)


def test_equal_differences_of_pairs_are_judged_as_those_of_independent_sides(rows):
    first = [20e6, 20.1e6, 20.2e6, 19.9e6, 20.3e6, 20.05e6]
    values = {"open": first, "wep-40": [value - 1e6 for value in first]}
    pairs, alone = (
        analyse(rows(values), paired=paired).comparisons.row(0, named=True)
        for paired in (True, False)
    )
    for column in ("difference", "low", "high", "p", "evidence"):
        assert pairs[column] == alone[column]
    # The interval is not the single value that all differences have.
    assert pairs["low"] < -1.1e6 < -1e6 < -0.9e6 < pairs["high"]


def ten_metrics(rows, rng, answers):
    """A run of ten metrics without any difference; whether any primary difference is reported."""
    frames = [
        rows({"open": rng.normal(1, 0.1, 10), "wep-40": rng.normal(1, 0.1, 10)}, metric, "1")
        for metric in ["throughput_bps", *(f"m{i}" for i in range(9))]
    ]
    return analyse(pl.concat(frames), answers=answers).comparisons


@pytest.mark.thorough
def test_ten_metrics_without_a_difference_show_one_in_five_percent_of_runs(rows):
    rng = np.random.default_rng(6)
    runs = 100
    primary = exploratory = 0
    for _ in range(runs):
        found = ten_metrics(rows, rng, ("throughput_bps",))
        told = found.filter(pl.col("p_adjusted") < 0.05)
        primary += told.filter(family="primary").height > 0
        exploratory += told.filter(family="exploratory").height > 0
    # 5 of 100 by design, and about 40 where the ten were not one family.
    assert primary <= 0.12 * runs
    assert exploratory <= 0.12 * runs


def test_primary_metrics_share_one_holm_family_and_others_are_called_exploratory(rows):
    from scipy import stats

    found = ten_metrics(rows, np.random.default_rng(7), ("throughput_bps", "m1", "m2"))
    primary = found.filter(family="primary")
    assert set(primary["metric"]) == {"throughput_bps", "m1", "m2"}
    assert primary["p_adjusted"].to_numpy() == pytest.approx(holm_adjust(primary["p"].to_numpy()))
    other = found.filter(family="exploratory")
    assert other["p_adjusted"].to_numpy() == pytest.approx(
        stats.false_discovery_control(other["p"].to_numpy())
    )
    assert set(primary["among"]) == {primary.height}
    assert set(other["among"]) == {other.height}


def test_fdr_leaves_out_what_has_no_p_value():
    from scipy import stats

    p = np.array([0.01, np.nan, 0.04, 0.03])
    adjusted = fdr_adjust(p)
    assert np.isnan(adjusted[1])
    assert adjusted[[0, 2, 3]] == pytest.approx(stats.false_discovery_control(p[[0, 2, 3]]))
