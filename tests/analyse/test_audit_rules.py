"""Single audit rules against figures worked out by hand or by other programs."""

import copy
import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from airtoll.analyse.audit import audit
from airtoll.analyse.audit.granularity import deviation_possible, possible_sums
from airtoll.analyse.audit.inference import left_out
from airtoll.analyse.audit.limits import severity_above
from airtoll.analyse.ceiling import burst_ceiling_bps, ceiling_bps
from airtoll.errors import DatasetError

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
planting = importlib.import_module("audit_planting")


def test_grim_allows_exactly_the_means_of_whole_readings():
    rng = np.random.default_rng(1)
    for n in (4, 10, 28):
        for _ in range(300):
            values = rng.integers(0, 40, n)
            assert possible_sums(round(float(values.mean()), 2), 2, 1.0, n)
    assert possible_sums(5.19, 2, 1.0, 28) == []  # Brown and Heathers 2017: 145/28 = 5.18
    assert possible_sums(5.18, 2, 1.0, 28) == [145]
    assert possible_sums(0.25, 2, 0.5, 4) == [2]


def test_grimmer_allows_the_deviations_of_whole_readings_and_few_others():
    rng = np.random.default_rng(2)
    impossible = 0
    for _ in range(400):
        values = rng.integers(0, 12, 10)
        mean, deviation = round(float(values.mean()), 2), float(values.std(ddof=1))
        sums = possible_sums(mean, 2, 1.0, 10)
        assert deviation_possible(round(deviation, 2), 2, sums, 1.0, 10)
        impossible += not deviation_possible(round(deviation + 0.03, 2), 2, sums, 1.0, 10)
    assert impossible > 120


def test_the_left_out_reading_is_the_externally_studentised_residual():
    from scipy import stats

    x = np.array([10.0, 10.2, 9.9, 10.1, 9.8, 10.0, 12.0])
    away, chance = left_out(x)
    others = x[:-1]
    assert away[-1] == pytest.approx((12 - others.mean()) / others.std(ddof=1))
    t = (12 - others.mean()) / (others.std(ddof=1) * np.sqrt(1 + 1 / 6))
    assert chance[-1] == pytest.approx(min(1.0, 7 * 2 * stats.t.sf(t, 5)))
    assert np.all(np.abs(away[:-1]) < 2)
    # Readings printed alike differ by the step of their digits at least.
    assert np.abs(left_out(np.array([5.0, 5, 5, 5, 5, 5.1]))[0]).max() < 5


def test_an_early_outlier_is_found_and_clean_columns_stay_clean():
    """The rule of earlier trials could not see the first readings and fired on clean columns."""
    rng = np.random.default_rng(3)
    rows, meta = planting.clean(rng)
    meta["trials"]["outlier"] = {"sigma": 2.5, "where": "4"}
    assert audit(planting.dataset((rows, meta))) == []
    early = copy.deepcopy((rows, meta))
    target = next(r for r in early[0] if r["kind"] == "trial" and r["metric"] == "throughput")
    target["value"] = f"{0.9 * float(target['value']):.1f}"
    kinds = {f.kind for f in audit(planting.dataset(early))}
    assert "outlier_rule_not_applied" in kinds


def test_a_ceiling_is_a_range_and_its_severity_goes_by_the_margin():
    link = {"phy": "802.11g", "rate_mbps": 54.0, "hops": 1}
    low, high = ceiling_bps(link), burst_ceiling_bps(link)
    # 1536 octets: 20 + 4 x 57 + 6 us, ACK at 24 Mb/s 34 us, two SIFS of 10 us.
    assert high == pytest.approx(8 * 1472 / (254 + 34 + 20) * 1e6)
    assert severity_above(1.01 * low, low, high) == "note"
    assert severity_above(1.1 * low, low, high) == "warning"
    assert severity_above(1.01 * high, low, high) == "error"
    aggregated = {"phy": "802.11n", "rate_mbps": 150.0, "hops": 1}
    assert burst_ceiling_bps(aggregated) == ceiling_bps(aggregated)


@pytest.mark.parametrize(("factor", "severity"), [(1.14, "warning"), (1.4, "error")])
def test_readings_between_both_ceilings_are_a_warning(factor, severity):
    rows, meta = planting.clean(np.random.default_rng(5))
    for r in rows:
        own = (r["kind"], r["configuration"], r["transport"], r["metric"])
        if own == ("trial", "office", "UDP", "throughput"):
            r["value"] = f"{float(r['value']) / 0.95 * factor:.1f}"
    found = [f for f in audit(planting.dataset((rows, meta))) if f.kind == "above_phy_ceiling"]
    assert {f.severity for f in found} == {severity}
    assert all(" to " in f.recomputed for f in found)


def test_a_count_of_something_unknown_is_an_error_of_the_data_set():
    rows, meta = planting.clean(np.random.default_rng(6))
    meta["count"] = [{"says": "six lunches", "printed": 6, "of": "lunch"}]
    with pytest.raises(DatasetError, match="'lunch': allowed are"):
        audit(planting.dataset((rows, meta)))
    meta["count"] = [{"says": "six", "of": "security"}]
    with pytest.raises(DatasetError, match="'printed' is"):
        audit(planting.dataset((rows, meta)))


def test_the_text_on_udp_over_tcp_is_held_against_its_own_averages():
    from airtoll.observe.datasets import load_dataset

    found = [f for f in audit(load_dataset("mccarter2006")) if "6.1.1.3" in f.table]
    assert any("2 to 3 percent" in f.evidence and "1.04" in f.recomputed for f in found)
