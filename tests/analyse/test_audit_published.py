"""The audit on the published data: what a reader with a calculator finds there."""

import pytest

from airtoll.analyse.audit import KINDS, SEVERITIES, audit
from airtoll.observe.datasets import list_datasets, load_dataset


@pytest.fixture(scope="module")
def findings():
    return {name: audit(load_dataset(name)) for name in list_datasets()}


def has(found, kind, table="", where="", printed="", recomputed=""):
    return any(
        f.kind == kind
        and table in f.table
        and where in f.where
        and printed in f.printed
        and recomputed in f.recomputed
        for f in found
    )


def test_every_finding_is_well_formed(findings):
    for name, found in findings.items():
        # Five tables of devices have no link and no derived figure: nothing can contradict them.
        assert found or load_dataset(name).of_devices
        for f in found:
            assert f.dataset == name
            assert f.kind in KINDS
            assert f.severity in SEVERITIES
            assert f.table
            assert f.where
            assert f.evidence
        assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    ("dataset", "expected"),
    [
        ("mccarter2006", ("copied_column", "6-10, 6-13", "peap-ccmp")),
        ("mccarter2006", ("percentage_mismatch", "6-14", "peap-tkip, UDP", "2.80", "4.1")),
        ("mccarter2006", ("percentage_mismatch", "6-14", "wep-40, UDP", "1.20", "1.97")),
        ("mccarter2006", ("percentage_mismatch", "6.1.1.1", "peap-tkip", "2.7 %", "2.93")),
        ("mccarter2006", ("percentage_mismatch", "6.1.1.1", "peap-tkip", "42.8", "46.1")),
        ("mccarter2006", ("percentage_mismatch", "3.2.4", "wpa-tkip", "11", "10.4")),
        ("mccarter2006", ("at_offered_load", "6-6", "open")),
        ("mccarter2006", ("outlier_rule_cannot_fire", "5.4.1.3", "", "5", "2.85")),
        ("mccarter2006", ("outlier_rule_not_applied", "6-5", "wep-104", "991")),
        ("mccarter2006", ("unsupported_difference", "6-17", "wep-40, TCP", "0.14")),
        ("mccarter2006", ("claim_contradicted", "6.3, 7.1", "config2")),
        ("mccarter2006", ("claim_contradicted", "4.2.2.1", "", "1890000", "1935000")),
        ("nxp-chips", ("above_phy_ceiling", "sta_throughput_06", "IW610", "76", "68.82")),
        ("nxp-chips", ("at_offered_load", "sta_throughput_02", "24 figures", "118")),
        ("nxp-chips", ("above_offered_load", "sta_throughput.md", "W8987", "228", "120")),
        ("tripathi2008", ("total_mismatch", "4", "wpa-ccmp", "25.37", "25.47")),
        ("tripathi2008", ("percentage_mismatch", "4", "wep-40", "2.47", "2.48")),
        ("tripathi2008", ("percentage_mismatch", "4", "wpa-tkip", "2.49", "2.48")),
        ("tripathi2008", ("truncated_rounding", "2", "wpa-ccmp", "4.69", "4.70")),
        ("tripathi2008", ("truncated_rounding", "IV", "wpa2-ccmp", "1.06", "1.07")),
        ("tripathi2008", ("above_phy_ceiling", "3", "open", "34.78", "29.93")),
        ("tripathi2008", ("claim_contradicted", "VII", "3")),
        ("tripathi2008", ("standard_mismatch", "VII", "wep-40")),
        ("agarwal2005", ("copied_column", "II", "8021x-tls, 8021x-tls+ipsec", "3.144")),
        ("agarwal2005", ("additive_table", "II")),
        ("agarwal2005", ("hidden_part", "II", "8021x-md5", "1.749", "0.454")),
        ("agarwal2005", ("hidden_part", "IV", "ipsec-3des-sha / 8021x-tls", "0.46")),
        ("tripathi2008", ("mean_impossible", "4", "client A", "10.07", "10.06")),
        ("agarwal2005", ("total_mismatch", "III", "non-roaming, 8021x-tls", "21", "25")),
        ("agarwal2005", ("conflicting_figures", "III", "8021x-tls", "21", "25")),
        ("agarwal2005", ("ratio_mismatch", "IX.A", "", "82 %", "18.1")),
        ("agarwal2005", ("service_mismatch", "", "P-4", "yes", "no")),
        ("gheryani2013", ("copied_column", "3", "TCP")),
        ("gheryani2013", ("copied_column", "8", "UDP")),
        ("gheryani2013", ("derived_series", "5", "", "jitter", "table 8")),
        ("gheryani2013", ("derived_series", "7", "", "jitter", "table 10")),
        ("gheryani2013", ("clock_step", "8", "", "", "3.12")),
        ("gheryani2013", ("above_phy_ceiling", "4", "open, UDP", "14.003", "6.9")),
        ("gheryani2013", ("above_offered_load", "2", "TCP, reading 1", "1.247", "1")),
        ("gheryani2013", ("at_offered_load", "3", "open, UDP")),
        ("gheryani2013", ("range_mismatch", "3.1", "range_low", "9.5", "9.28")),
        ("gheryani2013", ("range_mismatch", "3.3", "range_high", "35.25", "35.23")),
        ("gheryani2013", ("conflicting_figures", "2.3", "link_rate", "11", "12")),
        ("tepsic2014", ("above_phy_ceiling", "UDP", "", "118", "70.")),
        ("tepsic2014", ("conflicting_figures", "discussion", "UDP, IPv4", "4.5", "6")),
        ("tepsic2014", ("claim_contradicted", "UDP", "", "1.9 to 2.1", "2.41")),
        ("tepsic2014", ("standard_mismatch", "security", "", "256", "128")),
    ],
)
def test_known_mistakes_are_found(findings, dataset, expected):
    assert has(findings[dataset], *expected)


def test_what_holds_is_not_reported(findings):
    mccarter = findings["mccarter2006"]
    assert not has(mccarter, "mean_mismatch")
    assert not has(mccarter, "deviation_mismatch")
    assert not has(mccarter, "definition_mismatch")
    assert not has(mccarter, "above_phy_ceiling")
    assert not has(findings["tripathi2008"], "percentage_mismatch", "3")
    assert not has(findings["tripathi2008"], "percentage_mismatch", "5")
    assert not has(findings["agarwal2005"], "ratio_mismatch", "IV")
