"""Files that would take the machine, values that cannot be, and texts that act on a terminal."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from airtoll.cli.app import app
from airtoll.errors import DatasetError
from airtoll.observe.imports.documents import MOST_OCTETS, MOST_VALUES
from airtoll.observe.imports.files import Place, import_files, read_file

SAMPLES = Path(__file__).parent / "samples"
HEAD = "metric,value,unit\n"


def refused(path, fmt):
    """The one line that refuses a file, within five seconds of processor time."""
    before = time.process_time()
    with pytest.raises(DatasetError) as caught:
        read_file(path, fmt, Place())
    assert time.process_time() - before < 5
    message = str(caught.value)
    assert message.startswith(f"{path}:")
    assert message.isprintable()
    assert len(message) < 1000
    return message


def report(**changes):
    """A result of iperf3 with other values; keys are paths with blanks."""
    found = json.loads((SAMPLES / "iperf3" / "321_quarter_seconds.json").read_text())
    for path, value in changes.items():
        *way, last = path.split("__")
        holder = found
        for step in way:
            holder = holder[step]
        holder[last] = value
    return found


def test_a_gzip_bomb_is_refused_by_its_size(tmp_path):
    bomb = tmp_path / "bomb.flent.gz"
    bomb.write_bytes(gzip.compress(b" " * 2**20) * (MOST_OCTETS // 2**20 + 1))
    assert bomb.stat().st_size < 200_000
    assert "holds more than 128 MiB after decompression" in refused(bomb, "flent")


@pytest.mark.parametrize("piece", ["0,", "[],", '"",'])
def test_a_text_of_millions_of_values_is_refused_by_their_number(tmp_path, piece):
    bomb = tmp_path / "bomb.json"
    bomb.write_text("{" + f'"x_values":[{piece * (MOST_VALUES + 1)}0]' + "}")
    assert "million values" in refused(bomb, "flent")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}" * 300_000, "more than 10000 documents"),
        ("{\n" * 300_000, "is no JSON"),
        ('{"a":' * 100_000, "nested too deeply"),
        ('{"a":[1,\n' * 60_000, "nested too deeply"),
        ("[" * 100_000, "holds no JSON"),
        ('{"' + "a" * 600_000, "ends in the middle"),
        ('{"a": ' + "9" * 5000 + "}", "4300 digits"),
    ],
)
def test_a_text_that_costs_more_than_it_holds_is_refused_at_once(tmp_path, text, said):
    bomb = tmp_path / "bomb.json"
    bomb.write_text(text)
    assert said in refused(bomb, "iperf3")


def test_a_test_of_too_many_series_is_refused(tmp_path):
    names = [f"TCP upload::{n}" for n in range(2000)]
    data = {"metadata": {}, "x_values": [0], "results": {name: [1.0] for name in names}}
    (tmp_path / "many.flent").write_text(json.dumps(data))
    assert "has 2000 series, more than 1000" in refused(tmp_path / "many.flent", "flent")


def test_a_table_of_too_many_rows_is_refused(tmp_path):
    rows = "".join(f"{n},throughput,1,Mbps\n" for n in range(200_001))
    (tmp_path / "long.csv").write_text("trial," + HEAD + rows)
    assert "has more than 200000 lines" in refused(tmp_path / "long.csv", "csv")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("throughput,1e300,Mbps", "throughput_bps is at most 1e+14 bit/s"),
        ("throughput,1e400,Mbps", "must be a finite number"),
        ("loss,101,%", "loss_ratio is at most 1"),
        ("loss,-1,%", "loss_ratio is not negative"),
        ("delay,1e30,s", "delay_s is at most 1e+08 s"),
        ("throughput,1_0,Mbps", "no number"),
        ("throughput,\u0661,Mbps", "no number"),
        ("throughput,0x10,Mbps", "no number"),
        ("throughput,,Mbps", "no number"),
        ("\x1b[31m,1,Mbps", "metric"),
    ],
)
def test_a_value_of_a_table_that_cannot_be_is_refused_with_its_line(tmp_path, row, said):
    (tmp_path / "a.csv").write_text(HEAD + row + "\n")
    message = refused(tmp_path / "a.csv", "csv")
    assert message.startswith(f"{tmp_path / 'a.csv'}:2:")
    assert said in message


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"end__sum_received__bits_per_second": 1e300}, "at most 1e+14 bit/s"),
        ({"end__sum_received__bits_per_second": -5}, "not negative"),
        ({"end__sum_received__bits_per_second": 10**400}, "out of range"),
        ({"end__sum_received__bits_per_second": "fast"}, "'fast', not a number"),
        ({"end__sum_received__bits_per_second": True}, "True, not a number"),
        ({"end__sum_received": []}, "sum_received' is missing"),
        ({"end": []}, "cut off"),
        ({"start": "x"}, "stands where an object"),
        ({"intervals": {"a": 1}}, "is not a list of objects"),
        ({"start__test_start__protocol": "\x1b[31mTCP"}, "known are TCP, UDP, SCTP"),
        ({"start__test_start__protocol": ["TCP"]}, "known are TCP, UDP, SCTP"),
        ({"error": "\x1b]0;owned\x07"}, "iperf3 ended with an error"),
    ],
)
def test_a_result_of_iperf3_that_cannot_be_is_one_line(tmp_path, changes, said):
    (tmp_path / "a.json").write_text(json.dumps(report(**changes)))
    assert said in refused(tmp_path / "a.json", "iperf3")


def test_no_text_of_a_file_acts_on_the_terminal(tmp_path):
    flent = json.loads(gzip.decompress((SAMPLES / "flent" / "tcp_nup.flent.gz").read_bytes()))
    flent["results"]["TCP \u2028|<b>$x$\\input{y}"] = flent["results"].pop("TCP upload::1")
    (tmp_path / "a.flent").write_text(json.dumps(flent))
    log = (SAMPLES / "iperf3" / "made_twice.json").read_text()
    name = "b\x1b[31m\n.json"
    (tmp_path / name).write_text(log + json.dumps({"error": "\x1b[2J"}) + "\n")
    words = ["--out", str(tmp_path / "\x1b[31m"), "import", "--format"]
    for file, fmt in (("a.flent", "flent"), (name, "iperf3"), (name, "iperf3")):
        order = [words[2], str(tmp_path / file), words[3], fmt, *words[:2]]
        done = CliRunner().invoke(app, order)
        said = done.stdout + done.stderr + str(done.exception or "")
        assert "\x1b" not in said
        assert "\u2028" not in said


def test_columns_of_a_table_are_read_or_said(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("Metric,Value,Unit,POLICY,date\nthroughput,7,Mbps,WPA2,monday\n")
    source = read_file(file, "csv", Place())
    assert source.trials[0].policy == "wpa2-psk-ccmp"
    assert source.left_out == ("column 'date' is not read",)
    file.write_text("metric,value,unit,policy,Policy\nthroughput,7,Mbps,WPA2,open\n")
    assert "column 'policy' stands twice" in refused(file, "csv")


def test_a_table_of_tabs_in_utf_16_is_read(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("metric\tvalue\tunit\nthroughput\t7\tMbps\n", encoding="utf-16")
    assert import_files([file], "csv", Place())["value"].to_list() == [7e6]


@pytest.mark.parametrize(
    ("fmt", "sample", "right"),
    [
        ("flent", "irtt.json.gz", "--format irtt"),
        ("irtt", "iperf3-udp.json", "--format iperf3"),
        ("iperf3", "ping.flent.gz", "--format flent"),
        ("csv", "iperf3-udp.json", "name its --format"),
    ],
)
def test_a_file_of_another_format_names_the_right_one(fmt, sample, right):
    assert right in refused(SAMPLES / sample, fmt)


def test_output_of_iperf_2_is_named(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("20261126112226,127.0.0.1,59682,127.0.0.1,5999,1,0.0-1.0,2019426,16155410\n")
    assert "iperf 2" in refused(file, "csv")


@pytest.mark.parametrize(
    "octets", [b"", b"\x1f\x8b\x08", b"BZh9", b"\xff\xfe", b"\x00\x01", b"\x1f\x8b" + b"\x00" * 50]
)
@pytest.mark.parametrize("fmt", ["iperf3", "irtt", "flent", "csv"])
def test_octets_that_are_no_text_are_one_line(tmp_path, octets, fmt):
    (tmp_path / "a").write_bytes(octets)
    refused(tmp_path / "a", fmt)


def test_a_series_whose_runner_is_no_name_is_read(tmp_path):
    flent = json.loads(gzip.decompress((SAMPLES / "flent" / "tcp_nup.flent.gz").read_bytes()))
    flent["metadata"]["SERIES_META"]["TCP upload::1"]["RUNNER"] = []
    (tmp_path / "a.flent").write_text(json.dumps(flent))
    assert "TCP upload::1" in import_files([tmp_path / "a.flent"], "flent", Place())["flow"]


def test_jitter_of_irtt_is_taken_in_order_of_arrival(tmp_path):
    """The second request arrives behind the third; transit times 10, 30, 10 ms; RFC 3550, 6.4.1."""
    trips = [
        {
            "delay": {"send": delay * 1_000_000, "rtt": 40_000_000},
            "timestamps": {"server": {"receive": {"wall": (sent + delay) * 1_000_000}}},
        }
        for sent, delay in ((0, 10), (5, 30), (10, 10))
    ]
    stats = {"packets_sent": 3, "packets_received": 3, "packet_loss_percent": 0}
    stats["rtt"] = {"n": 3, "mean": 40_000_000}
    (tmp_path / "a.json").write_text(json.dumps({"stats": stats, "round_trips": trips}))
    frame = import_files([tmp_path / "a.json"], "irtt", Place())
    # Differences 0 and 20 ms: J = 0 + 20 / 16.
    assert frame.filter(metric="jitter_s")["value"].to_list() == pytest.approx([20e-3 / 16])
