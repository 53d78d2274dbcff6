"""Outputs of real iperf3 builds from 3.0.11 to 3.21 on loopback, and edited copies (``made_*``).

Each test sends 20 Mb/s in a direction; its right value is next to the file's name.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

from airtoll.errors import DatasetError
from airtoll.observe.imports.files import Place, import_files, read_file

SAMPLES = Path(__file__).parent / "samples" / "iperf3"


def whole(name):
    """Values of the whole test by metric and flow."""
    frame = import_files([SAMPLES / f"{name}.json"], "iperf3", Place())
    assert frame["trial"].unique().to_list() == [1]
    rows = frame.filter(pl.col("second").is_null())
    return {(row["metric"], row["flow"]): row["value"] for row in rows.iter_rows(named=True)}


def caveats(name):
    (trial,) = read_file(SAMPLES / f"{name}.json", "iperf3", Place()).trials
    return trial.caveats


def series(name):
    frame = import_files([SAMPLES / f"{name}.json"], "iperf3", Place())
    return frame.filter(pl.col("second").is_not_null()).select("second", "value").rows()


@pytest.mark.parametrize(
    ("name", "forward", "reverse"),
    [
        ("37_bidir_tcp", 19.95e6, 20.29e6),  # sum_sent and sum_received stand twice
        ("39_bidir_udp", 20.0e6, 20.4e6),  # sum stands twice
        ("320_bidir_stream", 20.43e6, 20.43e6),
        ("made_bidir_warning_prefix", 20.0e6, 20.0e6),
    ],
)
def test_both_directions_are_flows_and_add_up(name, forward, reverse):
    values = whole(name)
    assert values["throughput_bps", "forward"] == pytest.approx(forward, rel=3e-3)
    assert values["throughput_bps", "reverse"] == pytest.approx(reverse, rel=3e-3)
    assert values["throughput_bps", None] == pytest.approx(
        values["throughput_bps", "forward"] + values["throughput_bps", "reverse"]
    )


def test_the_server_of_a_reverse_test_knows_what_it_sent_only():
    values = whole("321_srv_tcp_R")
    assert values["offered_bps", None] == pytest.approx(20.43e6, rel=1e-3)
    assert set(values) == {("offered_bps", None), ("tcp_retransmissions", None)}
    assert "what the client received is unknown" in caveats("321_srv_tcp_R")[0]


def test_the_server_of_a_forward_test_knows_what_it_received_only():
    values = whole("39_srv_udp")
    # 3.9 prints 0 octets in all, and those of each interval: 153 datagrams of 32 KiB in 2.042 s.
    assert values["throughput_bps", None] == pytest.approx(153 * 32768 * 8 / 2.042217, rel=1e-3)
    assert values["loss_ratio", None] == 0
    assert ("offered_bps", None) not in values
    assert "what the client sent is unknown" in caveats("39_srv_udp")[0]


def test_the_server_of_a_test_in_both_directions_knows_a_half_of_each():
    values = whole("320_srv_bidir_stream")
    assert values["throughput_bps", "forward"] == pytest.approx(20.4e6, rel=0.01)
    assert values["offered_bps", "reverse"] == pytest.approx(20.4e6, rel=0.01)
    assert not {("throughput_bps", None), ("throughput_bps", "reverse")} & set(values)
    assert len(caveats("320_srv_bidir_stream")) == 2


def test_a_direction_that_is_unknown_makes_no_total_of_the_other(tmp_path):
    from airtoll.analyse import analyse
    from airtoll.observe.imports.trial import trials_of

    frame = import_files([SAMPLES / "320_srv_bidir_stream.json"], "iperf3", Place())
    estimates = analyse(frame, trials_of(frame)).estimates
    of_cell = estimates.filter(pl.col("flow").is_null())["metric"].to_list()
    assert "throughput_bps" not in of_cell
    assert "offered_bps" not in of_cell


@pytest.mark.parametrize(
    ("name", "throughput"),
    [
        ("317_stream", 20.268e6),
        ("321_fullstream", 20.261e6),
        ("made_windows_utf16", 41.919e6),
        ("made_warning_prefix", 20.262e6),
        ("made_twice", 20.262e6),
    ],
)
def test_one_test_is_one_trial_however_it_is_written(name, throughput):
    assert whole(name)["throughput_bps", None] == pytest.approx(throughput, rel=1e-4)


def test_two_tests_in_one_file_are_two_trials(tmp_path):
    both = tmp_path / "log.json"
    texts = [(SAMPLES / f"{name}.json").read_text() for name in ("317_stream", "321_fullstream")]
    both.write_text("\n".join(texts))
    frame = import_files([both], "iperf3", Place())
    assert frame["trial"].unique().sort().to_list() == [1, 2]


def test_a_number_that_is_none_is_unknown_and_the_rest_is_read():
    # The stream's lost share is -nan; the sums have 19 of 221.
    assert whole("made_nan")["loss_ratio", None] == pytest.approx(19 / 221)
    # A server of 3.0.11 prints -nan for the share of a last interval without a datagram.
    assert whole("30_srv_udp_nan")["loss_ratio", None] == pytest.approx(117 / 581)


def test_an_unknown_sum_is_left_out_and_said(tmp_path):
    text = (SAMPLES / "317_stream.json").read_text()
    before, received, behind = text.partition('"sum_received":')
    file = tmp_path / "nan.json"
    for word in ("nan", "-nan", "NaN", "-nan(ind)", "inf", "1.#QNAN0"):
        rest = re.sub(r'("bits_per_second":)[0-9.]+', rf"\g<1> {word}", behind, count=1)
        file.write_text(before + received + rest)
        (trial,) = read_file(file, "iperf3", Place()).trials
        assert "throughput_bps" not in {row[0] for row in trial.rows}, word
        assert any("throughput_bps: it is unknown" in text for text in trial.caveats)


def test_an_exponent_with_a_blank_is_a_number(tmp_path):
    text = (SAMPLES / "made_exponent_space.json").read_text()
    assert "5.924e 06" in text
    assert whole("made_exponent_space")["loss_ratio", None] == pytest.approx(19 / 221)
    file = tmp_path / "sum.json"
    at = text.index('"end":\t{')
    own = '"bits_per_second":\t'
    end = text[at:].replace(f"{own}19397556.853949", f"{own}5.924e 06")
    file.write_text(text[:at] + end)
    frame = import_files([file], "iperf3", Place())
    offered = frame.filter(pl.col("second").is_null(), metric="offered_bps")
    assert offered["value"].to_list() == [5.924e6]


def test_datagrams_that_are_lost_in_the_warm_up_are_no_loss_of_the_test():
    # One test: its server counted 143 lost of 611, its client 213, with those of the warm-up.
    client, server = whole("31_udp_warm_up"), whole("31_srv_udp_warm_up")
    assert server["loss_ratio", None] == pytest.approx(143 / 611, rel=1e-3)
    assert not {("loss_ratio", None), ("packets_lost", None), ("throughput_bps", None)} & set(
        client
    )
    assert client["offered_bps", None] == pytest.approx(20e6, rel=0.01)
    assert "warm-up" in caveats("31_udp_warm_up")[0]


def test_a_count_below_zero_is_unknown():
    # 3.13 prints 18446744073709551311 datagrams for those that it does not know.
    values = whole("313_srv_udp_warm_up")
    assert values["packets_sent", None] == 611
    assert values["throughput_bps", None] == pytest.approx(20.02e6, rel=1e-3)


def test_the_loss_is_unknown_where_the_last_datagrams_did_not_arrive():
    values = whole("316_bidir_udp_late")
    assert ("loss_ratio", "forward") not in values
    assert values["throughput_bps", "forward"] == pytest.approx(12.96e6, rel=1e-3)
    assert any("lost or still queued" in text for text in caveats("316_bidir_udp_late"))


def test_a_test_of_which_nothing_arrived_lost_everything(tmp_path):
    report = json.loads((SAMPLES.parent / "iperf3-udp.json").read_text())
    for name in ("sum_received", "sum"):
        report["end"][name] |= {"packets": 0, "lost_packets": 0, "lost_percent": 0}
        report["end"][name] |= {"bits_per_second": 0, "bytes": 0, "jitter_ms": 0}
    (tmp_path / "dead.json").write_text(json.dumps(report))
    frame = import_files([tmp_path / "dead.json"], "iperf3", Place())
    assert frame.filter(metric="loss_ratio")["value"].to_list() == [1.0]
    assert frame.filter(pl.col("second").is_null(), metric="throughput_bps")["value"].to_list() == [
        0
    ]
    assert "jitter_s" not in frame["metric"]


def test_intervals_of_a_quarter_second_make_seconds_and_longer_ones_none():
    assert [second for second, _rate in series("321_quarter_seconds")] == [0, 1]
    assert all(rate == pytest.approx(20.4e6, rel=0.05) for _, rate in series("321_quarter_seconds"))
    assert series("321_two_seconds") == []


def test_a_failed_test_is_left_out_and_said(tmp_path):
    good = (SAMPLES / "made_twice.json").read_text()
    failed = (SAMPLES / "32_srv_error.json").read_text()
    with pytest.raises(DatasetError, match="client has unexpectedly closed"):
        import_files([SAMPLES / "32_srv_error.json"], "iperf3", Place())
    log = tmp_path / "log.json"
    log.write_text(good + failed)
    source = read_file(log, "iperf3", Place())
    assert len(source.trials) == 1
    assert "iperf3 ended with an error" in source.left_out[0]


@pytest.mark.parametrize("name", ["made_warning_prefix", "317_stream"])
def test_a_test_that_is_cut_off_is_left_out_and_said(tmp_path, name):
    text = (SAMPLES / f"{name}.json").read_text()
    cut = tmp_path / "cut.json"
    cut.write_text(text[: 2 * len(text) // 3])
    with pytest.raises(DatasetError, match=r"cut off|no JSON"):
        import_files([cut], "iperf3", Place())
    other = (SAMPLES / "321_fullstream.json").read_text()
    cut.write_text(text[: 2 * len(text) // 3] + "\n" + other)
    source = read_file(cut, "iperf3", Place())
    assert len(source.trials) == 1
    assert source.left_out


def test_a_list_of_tests_is_several_trials(tmp_path):
    one, two = ((SAMPLES / f"{name}.json").read_text() for name in ("37_bidir_tcp", "39_srv_udp"))
    file = tmp_path / "slurped.json"
    file.write_text(f"[\n{one},\n{two}]")
    assert len(read_file(file, "iperf3", Place()).trials) == 2


def test_text_for_people_names_the_option(tmp_path):
    file = tmp_path / "text.txt"
    file.write_text("Connecting to host 127.0.0.1, port 5201\n[ ID] Interval  Transfer  Bitrate\n"
                    "[  5]   0.00-1.00   sec  2.50 MBytes  20.9 Mbits/sec\n")  # fmt: skip
    with pytest.raises(DatasetError, match="run iperf3 with --json"):
        import_files([file], "iperf3", Place())
