"""check and run have the same rules; what would take gigabytes or hours is refused or announced."""

from __future__ import annotations

import json
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from airtoll import _native
from airtoll.cli.app import app
from airtoll.cli.running import size
from airtoll.errors import DiskRefused, StorageError, StudyError, UsageError
from airtoll.plan import make_plan
from airtoll.run import api, check, run
from airtoll.study import load, studies_folder
from airtoll.testbeds.captured import octets_of_captures
from airtoll.testbeds.resolve import native
from airtoll.testbeds.simulator import Simulator

STUDY = """
[study]
name = "limits"
title = "Limits"
[trials]
repetitions = 2
[scenario.s]
{scenario}
[traffic.t]
duration_s = {duration}
{traffic}
[grid]
policy = ["open"]
"""


def study(
    tmp_path: Path, *, scenario: str = "", traffic: str = 'transport = "udp"', duration: str = "0.1"
) -> Path:
    path = tmp_path / "limits.toml"
    path.write_text(STUDY.format(scenario=scenario, traffic=traffic, duration=duration))
    return path


TCP = 'transport = "tcp"\n'
UDP = 'transport = "udp"\n'

REFUSED = [
    ({"traffic": TCP + "mss_bytes = 64"}, "traffic.t.mss_bytes is 64: 88 to 65495 octets"),
    (
        {"traffic": TCP + "window_kbytes = 1"},
        "traffic.t.window_kbytes is 1: one segment (1460 octets) to 2^30",
    ),
    (
        {"scenario": 'phy = "802.11ac"\nwidth_mhz = 80\nmcs = 6\nstreams = 3'},
        "scenario.s.mcs is 6: ",
    ),
    (
        {"scenario": "rate_mbps = 55"},
        "scenario.s.rate_mbps is 55: one of 6, 9, 12, 18, 24, 36, 48 or 54 Mb/s (802.11a)",
    ),
    (
        {"scenario": 'stations = [{ name = "A" }, { name = "B", rate_mbps = 7 }]'},
        "scenario.s.stations[1].rate_mbps is 7: one of 6, 9, 12, 18, 24, 36, 48 or 54 Mb/s",
    ),
    ({"scenario": 'phy = "802.11n"\nwidth_mhz = 80'}, "scenario.s.width_mhz is 80: one of"),
    (
        {"traffic": UDP + "offered_mbps = 1e9"},
        "traffic.t.offered_mbps is 1e+09: at most one write a nanosecond",
    ),
    (
        {"duration": "0.0001"},
        "traffic.t.duration_s is 0.0001: at least 0.000240 s beyond warm_up_s: one packet of A-up",
    ),
    (
        {"traffic": UDP + "warm_up_s = 0.0999"},
        "traffic.t.duration_s is 0.1: at least 0.000240 s beyond warm_up_s",
    ),
    (
        {"scenario": "clients = 500", "traffic": UDP + "flows_per_station = 21"},
        "traffic.t.flows_per_station: 10500 flows of 500 stations; a trial has at most 10000",
    ),
]


@pytest.mark.parametrize(("tables", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_what_a_trial_refuses_check_refuses_in_the_words_of_the_study(tmp_path, tables, words):
    path = study(tmp_path, **tables)
    _plan, (cell,) = check(path)
    assert cell.skip is not None
    assert cell.skip.reason.startswith(words)


@pytest.mark.parametrize(
    "traffic",
    ["flows_per_station = 1000000000", "window_kbytes = 1e7", "socket_buffer_kbytes = 1e9"],
)
def test_what_no_trial_can_carry_is_refused_with_the_study(tmp_path, traffic):
    transport = TCP if "window" in traffic else UDP
    with pytest.raises(StudyError, match=r"limits\.toml: traffic\.t\.\w+: .*less than or equal"):
        load(study(tmp_path, traffic=transport + traffic))


@pytest.mark.parametrize("rate", ["1e-9", "1e9"])
def test_cables_have_a_rate_that_the_clock_tells_apart(tmp_path, rate):
    with pytest.raises(StudyError, match=r"scenario\.s\.wired\.rate_mbps: "):
        load(study(tmp_path, scenario=f"wired = {{ rate_mbps = {rate} }}"))


@pytest.mark.parametrize("mss", [64, 87, 88, 200, 536, 1460, 9000])
@pytest.mark.parametrize("window", [0.5, 1, 2, 64])
def test_a_cell_that_check_accepts_is_carried_out(tmp_path, mss, window):
    traffic = f"{TCP}mss_bytes = {mss}\nwindow_kbytes = {window}"
    plan = make_plan(load(study(tmp_path, traffic=traffic, duration="0.02")).study)
    (cell,) = plan.cells
    bed = Simulator()
    if bed.check(cell) is None:
        assert bed.measure(plan.trial(cell, 1, 1)).failure is None
    else:
        # A trial refuses it with the same field.
        with pytest.raises(_native.InvalidScenario) as checked:
            native(cell).check()
        with pytest.raises(_native.InvalidScenario) as ran:
            native(cell).simulate([1])
        assert str(ran.value) == str(checked.value)
        assert checked.value.field


@pytest.mark.parametrize(
    ("traffic", "least_s"),
    [
        # 1.25e8 datagrams a second: 40 s were "about 1 s".
        ("offered_mbps = 1000\npayload_bytes = 1", 20),
        ("offered_mbps = 1e6", 15),
        ("socket_buffer_kbytes = 100000", 20),
    ],
)
def test_estimates_see_packets_that_queues_refuse(tmp_path, traffic, least_s):
    _plan, (cell,) = check(study(tmp_path, traffic=UDP + traffic, duration="1"))
    assert cell.skip is None
    assert cell.expected_s > least_s


@pytest.mark.thorough
def test_28_000_excludes_take_seconds(tmp_path):
    """Under a megabyte of patterns: the cells were compared with each of them."""
    levels = list(range(1, 201))
    patterns = ",".join(
        f'{{"traffic.payload_bytes"={1 + number % 199}}}' if number % 2 else '{policy="wep-40"}'
        for number in range(28_000)
    )
    text = f"exclude = [{patterns}]\n" + STUDY.format(scenario="", traffic=UDP, duration="0.1")
    text = text.replace('["open"]', '["open", "wep-40"]')
    text += f'"traffic.payload_bytes" = {levels}\n"scenario.queue_packets" = {levels[:50]}\n'
    path = tmp_path / "many.toml"
    path.write_text(text)
    begun = time.process_time()
    plan = make_plan(load(path).study)
    assert time.process_time() - begun < 20
    # Patterns with an odd number name even lengths up to 199, others a policy.
    kept = {cell.factors[1][1] for cell in plan.cells}
    named = {1 + number % 199 for number in range(1, 28_000, 2)}
    assert kept == set(levels) - named
    assert {cell.policy for cell in plan.cells} == {"open"}


def test_an_exclude_holds_where_all_of_its_axes_do(tmp_path):
    text = STUDY.format(scenario="", traffic=UDP, duration="0.1").replace(
        '["open"]', '["open", "wep-40", "wpa2-psk-ccmp"]\n"traffic.payload_bytes" = [1, 2, 3]'
    )
    text += '[[exclude]]\npolicy = ["wep-40", "open"]\n"traffic.payload_bytes" = [2, 3]\n'
    text += '[[exclude]]\n"traffic.payload_bytes" = 1\npolicy = "wpa2-psk-ccmp"\n'
    path = tmp_path / "some.toml"
    path.write_text(text)
    cells = {(cell.policy, cell.factors[0][1]) for cell in make_plan(load(path).study).cells}
    assert cells == {("open", 1), ("wep-40", 1), ("wpa2-psk-ccmp", 2), ("wpa2-psk-ccmp", 3)}


def test_the_size_of_captures_is_said_before_they_are_written(tmp_path):
    path = study(tmp_path)
    out = tmp_path / "run"
    result = CliRunner().invoke(app, ["run", str(path), "--captures", "--out", str(out)])
    assert result.exit_code == 0
    said = next(line for line in result.stderr.splitlines() if line.startswith("captures: about "))
    files = (file for file in (out / "captures").rglob("*") if file.is_file())
    octets = sum(file.stat().st_size for file in files)
    plan = make_plan(load(path).study)
    expected = 2 * octets_of_captures(plan.cells[0])
    assert expected == pytest.approx(octets, rel=0.3)
    assert size(expected) in said
    assert str(out / "captures") in said.replace("\n", "")


def test_captures_without_room_are_refused_before_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr(api.shutil, "disk_usage", lambda _: SimpleNamespace(free=1e5))
    with pytest.raises(DiskRefused, match=r"--captures: about 0\.0 GB, and 0\.0 GB are free"):
        run(study(tmp_path), out=tmp_path / "run", captures=True)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"seed": 1 << 64}, UsageError, "--seed 18446744073709551616: allowed are 0 to"),
        ({"trials": 10**12}, StudyError, "a run has at most 500000 trials"),
        ({"out": "\udcff"}, StorageError, "the name is no UTF-8"),
    ],
)
def test_an_option_that_no_run_can_have_leaves_no_folder(
    tmp_path, monkeypatch, options, error, words
):
    path = study(tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=words):
        run(path, **{"out": "run", **options})
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_values_and_names_that_are_no_utf_8_are_refused():
    for arguments in (
        ["check", "quickstart", "--set", "study.title=\udcff"],
        ["check", "x" * 5000],
    ):
        result = CliRunner().invoke(app, arguments)
        assert isinstance(result.exception, UsageError | StudyError), arguments


@pytest.mark.thorough
def test_the_same_question_takes_the_run_that_is_there(tmp_path, monkeypatch):
    """`advise` has one folder for a scenario, and carries no equal run out again."""
    monkeypatch.chdir(tmp_path)
    ask = ["advise", "--scenario", "home", "--trials", "2", "--policy"]
    first = CliRunner().invoke(app, [*ask, "wpa2-psk-ccmp"])
    assert first.exit_code == 0, first.output
    folder = tmp_path / "runs" / "advise-home"
    started = json.loads((folder / "run.json").read_text())
    (folder / "mine.txt").write_text("mine")
    again = CliRunner().invoke(app, [*ask, "wpa2-psk-ccmp"])
    assert "it asked the same" in again.stderr
    assert again.stdout == first.stdout
    assert json.loads((folder / "run.json").read_text()) == started
    other = CliRunner().invoke(app, [*ask, "wpa3-sae-ccmp"])
    assert other.exit_code == 0
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["advise-home"]
    assert "wpa3-sae-ccmp" in (folder / "run.json").read_text()
    assert (folder / "mine.txt").read_text() == "mine"


def test_a_question_about_joins_needs_stations_that_join(tmp_path) -> None:
    text = (studies_folder() / "quickstart.toml").read_text()
    asked = text.replace('["throughput_bps"]', '["throughput_bps", "join_time_s"]', 1)
    path = tmp_path / "asked.toml"
    path.write_text(asked)
    for carry_out in (check, run):
        with pytest.raises(StudyError, match=r"join_time_s is measured where stations join: set"):
            carry_out(path)
    _, checks = check(path, values={"scenario.home.authenticate": True})
    assert all(one.skip is None for one in checks)


def test_a_metric_that_is_none_names_those_that_are_alike(tmp_path) -> None:
    text = (studies_folder() / "quickstart.toml").read_text()
    path = tmp_path / "asked.toml"
    path.write_text(text.replace('["throughput_bps"]', '["join_times"]', 1))
    with pytest.raises(StudyError, match=r"'join_times' is no metric; did you mean join_time_s, "):
        check(path)
