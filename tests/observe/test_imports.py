"""Imports of files that the real tools wrote (iperf3 3.12, irtt 0.9.0, flent 2.1.1, loopback)."""

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from airtoll.cli.app import app
from airtoll.errors import DatasetError
from airtoll.observe.imports.files import Place, import_files, trials_of
from airtoll.observe.metrics import METRICS
from airtoll.observe.schema import OBSERVATIONS, TRIALS

SAMPLES = Path(__file__).parent / "samples"


def one(frame, metric):
    rows = frame.filter(metric=metric).filter(frame.filter(metric=metric)["second"].is_null())
    assert rows.height == 1
    assert rows["unit"][0] == METRICS[metric][0]
    return rows["value"][0]


def test_iperf3_udp():
    frame = import_files([SAMPLES / "iperf3-udp.json"], "iperf3", Place(policy="WPA2"))
    assert dict(frame.schema) == OBSERVATIONS
    assert frame["cell"].unique().to_list() == ["imported/wpa2-psk-ccmp/udp"]
    assert one(frame, "throughput_bps") == pytest.approx(5_001_409.9)
    assert one(frame, "offered_bps") == pytest.approx(5_001_496.6)
    assert one(frame, "jitter_s") == pytest.approx(7.573e-6, rel=1e-3)
    assert one(frame, "loss_ratio") == 0
    assert frame.filter(frame["second"].is_not_null()).height == 3
    assert dict(trials_of(frame).schema) == TRIALS


def test_iperf3_tcp():
    frame = import_files([SAMPLES / "iperf3-tcp.json"], "iperf3", Place())
    assert one(frame, "throughput_bps") == pytest.approx(20_222_196.95)
    assert one(frame, "tcp_retransmissions") == 0
    assert frame["traffic"].unique().to_list() == ["tcp"]
    assert frame.filter(metric="offered_bps").is_empty()


def test_irtt():
    frame = import_files([SAMPLES / "irtt.json.gz"], "irtt", Place())
    data = json.loads(gzip.decompress((SAMPLES / "irtt.json.gz").read_bytes()))
    assert one(frame, "response_time_s") == pytest.approx(data["stats"]["rtt"]["mean"] / 1e9)
    assert one(frame, "packets_sent") == 50
    assert one(frame, "jitter_s") > 0
    assert one(frame, "delay_s") == pytest.approx(
        data["stats"]["send_delay"]["mean"] / 1e9, rel=1e-4
    )


def test_irtt_over_two_machines_gives_no_one_way_delay(tmp_path):
    data = json.loads(gzip.decompress((SAMPLES / "irtt.json.gz").read_bytes()))
    data["config"]["remote_address"] = "192.0.2.7:2112"
    (tmp_path / "far.json").write_text(json.dumps(data))
    frame = import_files([tmp_path / "far.json"], "irtt", Place())
    assert frame.filter(metric="delay_s").is_empty()
    assert one(frame, "jitter_s") > 0


def test_flent():
    frame = import_files([SAMPLES / "ping.flent.gz"], "flent", Place())
    whole = frame.filter(frame["second"].is_null())
    assert sorted(whole["flow"].to_list()) == ["Ping (ms) ICMP", "Ping (ms) UDP"]
    udp = whole.filter(flow="Ping (ms) UDP")["value"][0]
    assert udp == pytest.approx(0.250469e-3, rel=1e-3)


def test_files_are_trials():
    file = SAMPLES / "iperf3-udp.json"
    frame = import_files([file, file, file], "iperf3", Place())
    assert sorted(frame["trial"].unique().to_list()) == [1, 2, 3]


def test_csv(tmp_path):
    file = tmp_path / "mine.csv"
    file.write_text(
        "scenario,policy,traffic,trial,metric,value,unit\n"
        "office,No Security,tcp,1,throughput,25.4,Mbps\n"
        "office,WPA2-AES,tcp,1,throughput,24260,kbps\n"
        "office,WPA2-AES,tcp,1,rtt,3.5,ms\n"
    )
    frame = import_files([file], "csv", Place())
    assert frame.filter(policy="open")["value"].to_list() == [25.4e6]
    secured = frame.filter(policy="wpa2-psk-ccmp")
    assert sorted(secured["value"].to_list()) == pytest.approx([0.0035, 24.26e6])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("metric,value\n", "column 'unit' is missing"),
        ("metric,value,unit\nspeed,1,Mbps\n", r"mine\.csv:2: metric 'speed'"),
        ("metric,value,unit\nthroughput,1,ms\n", r"mine\.csv:2: unit 'ms' does not fit"),
        ("metric,value,unit\nthroughput,x,Mbps\n", r"mine\.csv:2: no number"),
        ("metric,value,unit,policy\nthroughput,1,Mbps,wpa9\n", r"mine\.csv:2: .*wpa9"),
        ("metric,value,unit\n", "holds no row"),
    ],
)
def test_csv_mistakes_name_the_line(tmp_path, text, message):
    file = tmp_path / "mine.csv"
    file.write_text(text)
    with pytest.raises(DatasetError, match=message):
        import_files([file], "csv", Place())


def test_what_is_no_result_is_refused(tmp_path):
    bad = tmp_path / "bad.json"
    bad.write_text("{}")
    with pytest.raises(DatasetError, match="not a result of iperf3"):
        import_files([bad], "iperf3", Place())
    bad.write_text('{"error": "unable to connect to server"}')
    with pytest.raises(DatasetError, match="unable to connect"):
        import_files([bad], "iperf3", Place())
    bad.write_text("no json")
    with pytest.raises(DatasetError, match="not readable"):
        import_files([bad], "irtt", Place())
    with pytest.raises(DatasetError, match="no such file"):
        import_files([tmp_path / "none.json"], "flent", Place())
    with pytest.raises(DatasetError, match="allowed are iperf3"):
        import_files([bad], "netperf", Place())


def test_the_command_adds_files_once(tmp_path):
    runner = CliRunner()
    folder = tmp_path / "mine"
    command = ["import", "--format", "iperf3", "--out", str(folder), "--json"]
    first = runner.invoke(app, [*command, str(SAMPLES / "iperf3-udp.json")])
    assert first.exit_code == 0, first.output
    again = runner.invoke(
        app,
        [*command, "--policy", "wpa2-psk-ccmp", str(SAMPLES / "iperf3-udp.json"),
         str(SAMPLES / "iperf3-tcp.json")],
    )  # fmt: skip
    assert again.exit_code == 0, again.output
    assert json.loads(again.stdout)["files"] == [str(SAMPLES / "iperf3-tcp.json")]
    audited = runner.invoke(app, ["audit", str(folder), "--json"])
    assert json.loads(audited.stdout) == []


def test_own_readings_beside_printed_ones(tmp_path):
    file = tmp_path / "mine.csv"
    lines = ["policy,traffic,trial,metric,value,unit"]
    for trial in range(1, 6):
        lines.append(f"No Security,tcp,{trial},throughput,{25.4 + trial / 100},Mbps")
        lines.append(f"WPA2-AES,tcp,{trial},throughput,{24.26 + trial / 100},Mbps")
    file.write_text("\n".join(lines) + "\n")
    done = CliRunner().invoke(
        app,
        ["import", str(file), "--format", "csv", "--out", str(tmp_path / "out"), "--json",
         "--against", "tripathi2008", "--readings", "table=2"],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    published = json.loads(done.stdout)["published"]
    assert {(p["policy"], p["quantity"]) for p in published} == {
        ("open", "throughput_bps"),
        ("wpa2-psk-ccmp", "throughput_bps"),
        ("wpa2-psk-ccmp", "overhead"),
    }
    assert all(abs(p["relative_error"]) < 0.02 for p in published)
