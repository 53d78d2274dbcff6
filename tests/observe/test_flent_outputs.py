"""Files of real flent versions: 0.14 and 1.9.9 (public data), 2.3 (loopback)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import polars as pl
import pytest

from airtoll.errors import DatasetError
from airtoll.observe.imports.files import Place, import_files, read_file

SAMPLES = Path(__file__).parent / "samples" / "flent"


def whole(path):
    """Values of the whole test by flow and metric, and what is unknown."""
    (trial,) = read_file(path, "flent", Place()).trials
    values = {(row[1], row[0]): row[4] for row in trial.rows if row[3] is None}
    return values, trial.caveats


def read(name):
    return json.loads(gzip.decompress((SAMPLES / name).read_bytes()))


def changed(tmp_path, name, change):
    data = read(name)
    change(data)
    (tmp_path / "changed.flent").write_text(json.dumps(data))
    return tmp_path / "changed.flent"


def test_a_starved_flow_has_the_mean_of_netperf():
    values, _caveats = whole(SAMPLES / "starved_rrul_2016.flent.gz")
    rates = {flow: value for (flow, metric), value in values.items() if metric == "throughput_bps"}
    assert rates == {
        "TCP download BE": 6.08e6,
        "TCP download BK": 0.23e6,
        "TCP download CS5": 0.15e6,
        "TCP download EF": 10.73e6,
        "TCP upload BE": 0.13e6,
        "TCP upload BK": 0.01e6,
        "TCP upload CS5": 0.01e6,
        "TCP upload EF": 0.01e6,
    }


def test_without_netperfs_mean_samples_count_by_their_durations(tmp_path):
    def forget(data):
        for meta in data["metadata"]["SERIES_META"].values():
            meta.pop("MEAN_VALUE", None)

    values, _ = whole(changed(tmp_path, "starved_rrul_2016.flent.gz", forget))
    # netperf's own mean is 6.08 Mb/s; the mean of the samples alike is 13.44.
    assert values["TCP download BE", "throughput_bps"] == pytest.approx(6.08e6, rel=1e-3)
    assert values["TCP download BK", "throughput_bps"] == pytest.approx(0.23e6, rel=2e-3)


def test_old_samples_of_netperfs_pings_are_requests_per_second():
    values, caveats = whole(SAMPLES / "starved_rrul_2016.flent.gz")
    # 2,833 requests in 30.29 s; netperf itself divides 70 s by them and prints 24.69 ms.
    assert values["Ping (ms) UDP BE", "response_time_s"] == pytest.approx(24.69e-3, rel=1e-3)
    assert any("UDP BE" in text and "10.7 ms" in text for text in caveats)
    assert values["Ping (ms) UDP BK", "response_time_s"] == pytest.approx(11.55e-3, rel=1e-3)
    assert values["Ping (ms) ICMP", "response_time_s"] == pytest.approx(229.3e-3, rel=1e-3)


def test_units_follow_from_the_name_where_flent_wrote_none():
    values, _ = whole(SAMPLES / "empty_series_meta_rrul_2019.flent.gz")
    data = read("empty_series_meta_rrul_2019.flent.gz")
    samples = data["raw_values"]["TCP upload EF"]
    octets = sum(sample["val"] * sample["dur"] for sample in samples)
    mean = octets / sum(sample["dur"] for sample in samples)
    assert values["TCP upload EF", "throughput_bps"] == pytest.approx(mean * 1e6)
    requests = sum(s["dur"] / s["val"] for s in data["raw_values"]["Ping (ms) UDP BE"])
    time = sum(s["dur"] for s in data["raw_values"]["Ping (ms) UDP BE"])
    assert values["Ping (ms) UDP BE", "response_time_s"] == pytest.approx(time / requests / 1e3)
    assert len({flow for flow, _metric in values}) == 12


def test_what_flent_computed_from_other_series_is_no_flow():
    values, caveats = whole(SAMPLES / "tcp_nup.flent.gz")
    # flent gives "TCP upload fairness", 0.9975, the unit Mbits/s.
    rates = {flow for flow, metric in values if metric == "throughput_bps"}
    assert rates == {"TCP upload::1", "TCP upload::2", "TCP upload::3"}
    assert caveats == ()


def test_rates_of_udp_are_those_of_the_sender(tmp_path):
    values, _ = whole(SAMPLES / "udp_flood.flent.gz")
    assert values["UDP upload", "offered_bps"] == pytest.approx(104.8587e6, rel=1e-5)
    assert values["UDP upload", "throughput_bps"] == pytest.approx(104.858569e6)

    def unanswered(data):
        data["metadata"]["SERIES_META"]["UDP upload"]["MEAN_VALUE"] = None

    values, caveats = whole(changed(tmp_path, "udp_flood.flent.gz", unanswered))
    assert ("UDP upload", "throughput_bps") not in values
    assert any("throughput is unknown" in text for text in caveats)


def test_a_series_without_a_value_and_one_without_a_metric_are_named(tmp_path):
    def change(data):
        steps = len(data["x_values"])
        meta = data["metadata"]["SERIES_META"]
        data["results"]["TCP upload::4"] = [None] * steps
        meta["TCP upload::4"] = {"UNITS": "Mbits/s", "RUNNER": "NetperfDemoRunner"}
        data["results"]["qdisc-stats::delay"] = [1.0] * steps
        meta["qdisc-stats::delay"] = {"UNITS": "ms"}
        data["metadata"]["FAILED_RUNNERS"] = 1

    values, caveats = whole(changed(tmp_path, "tcp_nup.flent.gz", change))
    assert not {"TCP upload::4", "qdisc-stats::delay"} & {flow for flow, _metric in values}
    assert any("TCP upload::4: has no value" in text for text in caveats)
    assert any("left out: qdisc-stats::delay" in text for text in caveats)
    assert any("1 of flent's runners failed" in text for text in caveats)


def test_a_compressed_file_may_be_bzip2(tmp_path):
    import bz2

    text = gzip.decompress((SAMPLES / "tcp_nup.flent.gz").read_bytes())
    (tmp_path / "a.flent.bz2").write_bytes(bz2.compress(text))
    ours = import_files([tmp_path / "a.flent.bz2"], "flent", Place())
    assert ours.equals(import_files([SAMPLES / "tcp_nup.flent.gz"], "flent", Place()))


@pytest.mark.parametrize("name", ["=cmd()", "a\x1b[31m", "", "x" * 200])
def test_a_series_whose_name_cannot_be_printed_is_refused(tmp_path, name):
    def change(data):
        data["results"][name] = data["results"].pop("TCP upload::1")

    with pytest.raises(DatasetError) as caught:
        whole(changed(tmp_path, "tcp_nup.flent.gz", change))
    assert str(caught.value).isprintable()
    assert "series" in str(caught.value)


def test_values_by_second_lie_in_the_test():
    frame = import_files([SAMPLES / "starved_rrul_2016.flent.gz"], "flent", Place())
    seconds = frame.filter(pl.col("second").is_not_null())
    assert seconds["second"].max() <= 70
    assert seconds["value"].is_finite().all()
