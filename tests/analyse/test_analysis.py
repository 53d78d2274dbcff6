import json
import time
from dataclasses import dataclass, field

import numpy as np
import polars as pl
import pytest

from airtoll.analyse import analyse, compare
from airtoll.analyse.comparison import compare_samples
from airtoll.analyse.evidence import Evidence
from airtoll.analyse.overhead import overhead
from airtoll.errors import UsageError
from airtoll.observe.datasets import POLICY_OF_LABEL, load_dataset
from airtoll.observe.schema import OBSERVATIONS
from airtoll.policies import resolve


@dataclass(frozen=True)
class Select:
    rule: str = "all"
    keep: int | None = None
    count: int | None = None
    ratio: float | None = None
    metric: str | None = None


@dataclass(frozen=True)
class Entry:
    cells: dict
    readings: dict
    metric: str = "throughput_bps"
    statistic: str = "mean"
    minus: dict = field(default_factory=dict)
    caveat: str = ""
    over: dict = field(default_factory=dict)
    instrument: str = ""
    fitted: tuple = ()


def table(cells: int, trials: int, seed: int = 0, policies=("open", "wpa2-psk-ccmp")):
    rng = np.random.default_rng(seed)
    rows = []
    for index in range(cells):
        for number, policy in enumerate(policies):
            values = rng.normal(20e6 - number * 1e6, 2e5, trials)
            scenario = f"s{index}"
            rows += [
                {
                    "cell": f"{scenario}/{policy}/udp",
                    "scenario": scenario,
                    "policy": policy,
                    "traffic": "udp",
                    "factors": "{}",
                    "trial": trial,
                    "attempt": 1,
                    "metric": "throughput_bps",
                    "value": value,
                    "unit": "bit/s",
                }
                for trial, value in enumerate(values, 1)
            ]
    return pl.DataFrame(rows).with_columns(
        [
            pl.lit(None, kind).alias(name)
            for name, kind in OBSERVATIONS.items()
            if name not in rows[0]
        ]
    )


def test_estimates_overheads_and_verdicts():
    frame = table(2, 10)
    result = analyse(frame, overhead="of_secured")
    values = {
        policy: frame.filter(scenario="s1", policy=policy)["value"].to_numpy()
        for policy in ("open", "wpa2-psk-ccmp")
    }
    ours = result.overhead("s1/wpa2-psk-ccmp/udp")
    alone = overhead(values["open"], values["wpa2-psk-ccmp"], "of_secured")
    assert ours.value == pytest.approx(alone.value)
    assert (ours.low, ours.high) == pytest.approx((alone.low, alone.high))
    assert result.comparisons["evidence"].to_list() == ["lower", "lower"]
    assert result.overhead("s1/open/udp") is None
    combined = result.combined_overhead(["s0/wpa2-psk-ccmp/udp", "s1/wpa2-psk-ccmp/udp"])
    assert combined.value == pytest.approx(result.overheads["value"].mean())


def test_selection_and_failed_trials():
    frame = table(1, 20)
    trials = frame.select("cell", "trial", "attempt").with_columns(
        status=pl.when(pl.col("trial") == 3).then(pl.lit("rerun")).otherwise(pl.lit("ok"))
    )
    result = analyse(frame, trials, select=Select("closest_to_mean", keep=5))
    row = result.estimates.filter(policy="open").row(0, named=True)
    assert (row["n"], row["n_all"]) == (5, 19)
    assert result.selection == "closest_to_mean(5)"


def test_one_metric_selects_whole_trials():
    frame = table(1, 6)
    delays = frame.with_columns(
        metric=pl.lit("delay_s"), value=10.0 ** pl.col("trial"), unit=pl.lit("s")
    )
    both = pl.concat([frame, delays])
    by_each = analyse(both, select=Select("agreement", ratio=0.9)).estimates
    assert by_each.filter(metric="delay_s")["n"].to_list() == [0, 0]
    select = Select("agreement", ratio=0.9, metric="throughput_bps")
    by_one = analyse(both, select=select).estimates
    for policy in ("open", "wpa2-psk-ccmp"):
        own = by_one.filter(policy=policy)
        assert own["n"].n_unique() == 1
        assert own["n"][0] > 1
    with pytest.raises(UsageError, match="no cell has 'nothing'"):
        analyse(both, select=Select("agreement", ratio=0.9, metric="nothing"))


def test_extremes_over_cells_are_compared_with_printed_ones():
    dataset = load_dataset("tepsic2014")
    rows = [
        {**row, "scenario": "relay", "factors": json.dumps({"ip": ip}), "value": value + trial}
        for ip, values in (("ipv4", (50e6, 40e6)), ("ipv6", (47e6, 39e6)))
        for policy, value in zip(("open", "wpa2-psk-ccmp"), values, strict=True)
        for trial in range(1, 4)
        for row in [
            {
                **table(1, 1).row(0, named=True),
                "policy": policy,
                "cell": f"relay/{policy}/udp?ip={ip}",
                "traffic": "udp",
                "trial": trial,
            }
        ]
    ]
    result = analyse(pl.DataFrame(rows))
    readings = {"table": "prose UDP throughput", "metric": "throughput"}
    largest, difference, overhead = compare(
        result,
        dataset,
        [
            Entry({"traffic": "ud*"}, readings, statistic="max"),
            Entry({"ip": "ipv4"}, readings, statistic="min", minus={"ip": "ipv6"}),
            Entry({}, readings | {"metric": "overhead"}, metric="overhead", statistic="max"),
        ],
    )
    assert largest.ours.value == pytest.approx(50e6 + 2)
    assert (largest.published.value, largest.extreme) == (118e6, "the largest of 4 cells")
    assert difference.ours.value == pytest.approx(1e6)
    assert (difference.cell, difference.extreme) == (
        "relay/wpa2-psk-ccmp/udp?ip=ipv4",
        "the smallest of 2 differences",
    )
    assert overhead.ours.value == pytest.approx(0.2, abs=1e-6)
    assert overhead.published.value == pytest.approx(0.22)


def test_single_trials_have_no_interval():
    result = analyse(table(1, 1))
    estimate = result.overhead("s0/wpa2-psk-ccmp/udp")
    assert not estimate.has_interval
    assert result.comparisons.row(0, named=True)["evidence"] == Evidence.TOO_FEW.value
    assert result.comparisons["needs"][0] == 2


def test_bad_arguments():
    with pytest.raises(UsageError, match="of_baseline"):
        analyse(table(1, 2), overhead="relative")
    with pytest.raises(UsageError, match="level"):
        analyse(table(1, 2), level=95)


def test_empty_tables_analyse_to_nothing():
    empty = pl.DataFrame(schema=OBSERVATIONS)
    result = analyse(empty)
    assert result.estimates.is_empty()
    assert result.overheads.is_empty()
    assert result.comparisons.is_empty()


def test_ten_thousand_cells_are_quick():
    frame = table(500, 3)
    copies = [
        frame.with_columns(
            pl.col("cell", "scenario").str.replace("s", f"c{i}-", literal=True),
        )
        for i in range(10)
    ]
    big = pl.concat(copies)
    assert big["cell"].n_unique() == 10_000
    start = time.process_time()
    result = analyse(big)
    assert result.overheads.height == 5_000
    assert time.process_time() - start < 5


def test_a_data_set_compares_with_itself():
    dataset = load_dataset("mccarter2006")
    result = analyse(dataset.observations().filter(scenario="soho"))
    found = compare(
        result,
        dataset,
        [
            Entry(
                {"scenario": "soho", "traffic": t},
                {"configuration": "soho", "transport": t.upper()},
            )
            for t in ("tcp", "udp")
        ],
    )
    throughputs = [one for one in found if one.quantity == "throughput_bps"]
    overheads = [one for one in found if one.quantity == "overhead"]
    assert (len(throughputs), len(overheads)) == (10, 8)
    assert all(abs(one.relative_error) < 1e-4 for one in throughputs)
    assert all(abs(one.absolute_error) < 1e-4 for one in overheads)
    assert all(one.published.has_interval for one in throughputs)


def test_published_labels_are_in_the_catalogue():
    for policy in POLICY_OF_LABEL.values():
        assert resolve(policy).name == policy


def test_equivalence_within_a_margin():
    frame = table(1, 30, policies=("open", "wep-40"))
    same = frame.with_columns(
        value=pl.when(pl.col("policy") == "wep-40").then(pl.col("value") + 1e6).otherwise("value")
    )
    assert analyse(same).comparisons["evidence"][0] == Evidence.UNDETECTED.value
    within = analyse(same, margin=0.02).comparisons.row(0, named=True)
    assert within["evidence"] == Evidence.EQUIVALENT.value
    assert within["margin"] == pytest.approx(0.02 * same.filter(policy="open")["value"].mean())
    alone = compare_samples(
        same.filter(policy="wep-40")["value"].to_numpy(),
        same.filter(policy="open")["value"].to_numpy(),
        "bit/s",
        margin=0.02 * same.filter(policy="open")["value"].mean(),
    )
    assert within["equivalence_p"] == pytest.approx(alone.equivalence_p)


def test_the_only_flow_of_a_cell_is_no_second_comparison():
    frame = table(2, 10)
    whole = analyse(frame).comparisons
    again = pl.concat([frame, frame.with_columns(flow=pl.lit("up"), station=pl.lit("A"))])
    both = analyse(again).comparisons
    assert both.height == 2 * whole.height
    for name in ("p_adjusted", "evidence"):
        assert both.filter(pl.col("flow").is_null())[name].to_list() == whole[name].to_list()
        assert both.filter(flow="up")[name].to_list() == whole[name].to_list()
