import numpy as np
import polars as pl
import pytest

from airtoll.analyse.overhead import mean_of_estimates, overhead, overhead_value
from airtoll.analyse.selection import (
    agreement,
    bias_of_rule,
    closest_to_mean,
    discard_first,
    keep_all,
    largest_possible_z,
    needs_rerun,
    select_rows,
    sigma_rule,
)
from airtoll.errors import UsageError
from airtoll.observe.datasets import load_dataset


def test_printed_means_and_deviations_come_back():
    figures = load_dataset("mccarter2006").figures
    readings = figures.filter(kind="trial")
    keys = ["table", "configuration", "security", "transport"]
    ours = readings.group_by(keys).agg(
        mean=pl.col("number").mean(), std=pl.col("number").std(ddof=1)
    )
    compared = failed = 0
    for statistic in ("mean", "std"):
        printed = figures.filter(kind="published", statistic=statistic).join(ours, on=keys)
        for row in printed.iter_rows(named=True):
            compared += 1
            failed += abs(row[statistic] - row["number"]) > 0.5001 * 10.0 ** -row["decimals"]
    assert compared == 168
    assert failed <= 3  # the document's own slips are the audit's business


def test_combined_overhead_is_the_mean_of_tcp_and_udp():
    figures = load_dataset("mccarter2006").figures

    def readings(table, security):
        rows = figures.filter(kind="trial", table=table, security=security)
        return rows["si"].to_numpy()

    for security, printed in (("peap-ccmp", 0.0289), ("peap-tkip", 0.0367), ("wep-40", 0.0171)):
        parts = [
            overhead(readings(table, "open"), readings(table, security), "of_baseline")
            for table in ("7-1", "7-2")
        ]
        assert mean_of_estimates(parts).value == pytest.approx(printed, abs=5.1e-5)


def test_tripathi_cuts_off_after_two_decimals():
    figures = load_dataset("tripathi2008").figures.filter(table="3")
    mean = {
        row["security"]: row["number"]
        for row in figures.filter(metric="throughput").iter_rows(named=True)
    }
    for row in figures.filter(metric="overhead").iter_rows(named=True):
        exact = 100 * overhead_value(mean["open"], mean[row["security"]], "of_secured")
        assert int(exact * 100) / 100 == pytest.approx(row["number"])


def test_rules_by_hand():
    x = np.array([10.0, 1.0, 9.0, 11.0, 10.5])  # mean 8.3
    assert closest_to_mean(2)(x).tolist() == [True, False, True, False, False]
    assert discard_first(2)(x).tolist() == [False, False, True, True, True]
    assert agreement(0.9)(x).tolist() == [False, False, False, True, True]
    assert keep_all()(x).all()
    assert closest_to_mean(9)(x).all()


def test_rerun_rule_compares_with_those_before():
    base = [1559.0, 1570.0, 1548.0, 1560.0]
    assert needs_rerun(base, 1400.0, 5.0)
    assert not needs_rerun(base, 1540.0, 5.0)
    assert not needs_rerun([1559.0], 10.0, 5.0)
    mask = sigma_rule(5.0)(np.array([*base, 1400.0, 1561.0]))
    assert mask.tolist() == [True, True, True, True, False, True]


def test_five_sigma_of_ten_cannot_fire():
    assert largest_possible_z(10) == pytest.approx(2.846, abs=1e-3)
    x = np.array([0.0] * 9 + [-1e9])
    assert abs(x[-1] - x.mean()) / x.std(ddof=1) <= largest_possible_z(10) + 1e-9


def test_frames_and_arrays_select_alike():
    rng = np.random.default_rng(0)
    rows = [
        {"cell": cell, "trial": trial, "value": value, "flow": None}
        for cell in "abc"
        for trial, value in enumerate(rng.normal(10, 3, 20), 1)
    ]
    frame = pl.DataFrame(rows, schema_overrides={"flow": pl.String})
    for name, number, rule in (
        ("closest_to_mean", 5, closest_to_mean(5)),
        ("discard_first", 3, discard_first(3)),
        ("agreement", 0.8, agreement(0.8)),
    ):
        chosen = select_rows(frame, ["cell", "flow"], name, number)
        for cell in "abc":
            values = frame.filter(cell=cell)["value"].to_numpy()
            kept = chosen.filter(cell=cell).sort("trial")["value"].to_list()
            assert kept == values[rule(values)].tolist()


def test_closest_of_twenty_pretends_precision():
    bias = bias_of_rule(closest_to_mean(5), 20, np.random.default_rng(1), simulations=500)
    assert bias.coverage < 0.75
    assert bias.width_ratio < 0.6
    honest = bias_of_rule(keep_all(), 20, np.random.default_rng(1), simulations=500)
    assert 0.92 < honest.coverage < 0.98


def test_unknown_rules_are_refused():
    frame = pl.DataFrame({"cell": ["a"], "trial": [1], "value": [1.0]})
    with pytest.raises(UsageError, match="lacks its number"):
        select_rows(frame, ["cell"], "agreement", None)
    with pytest.raises(UsageError):
        closest_to_mean(0)
