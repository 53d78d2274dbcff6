"""Runs without a result end with an error that names the first reason and its remedy."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest
from typer.testing import CliRunner

from airtoll.cli.app import app
from airtoll.errors import RunError
from airtoll.observe.tables import read_observations, read_trials
from airtoll.report.headline import headline
from airtoll.report.summary import summarise
from airtoll.run import run
from airtoll.run.outcome import why_no_result


def trials(*rows):
    return pl.DataFrame(rows, schema=["cell", "status", "reason"], orient="row")


def test_a_run_with_a_counted_trial_has_a_result():
    table = trials(("a", "failed", "x"), ("b", "ok", None))
    assert why_no_result(table) is None


def test_all_failed_names_the_first_reason_and_the_field():
    reason = "A did not authenticate: key handshake: not done after 0.001 s"
    message = why_no_result(trials(("a/b/c", "skipped", "no"), ("d/e/f", "failed", reason)))
    assert message.startswith(f"all 1 trials failed; first, d/e/f: {reason}; ")
    assert "join.spread_ms" in message


def test_all_skipped_names_the_first_reason():
    assert why_no_result(trials(("a/b/c", "skipped", "no such"))) == (
        "all 1 cells are skipped; first, a/b/c: no such"
    )


def test_a_run_whose_trials_all_fail_exits_with_3(tmp_path):
    arguments = ["run", "quickstart", "--out", str(tmp_path / "run"), "--trials", "1"]
    arguments += ["--set", "scenario.home.authenticate=true", "--no-report"]
    arguments += ["--set", "scenario.home.join={limit_s=0.0001}"]
    arguments += ["--set", 'grid.traffic=["udp"]', "--set", "traffic.udp.duration_s=0.1"]
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, RunError)
    assert result.exception.exit_code == 3
    assert "not done after" in str(result.exception)
    assert "join.limit_s" in str(result.exception)


def test_a_study_of_skipped_cells_is_refused_after_the_table(tmp_path):
    arguments = ["check", "quickstart", "--set", 'scenario.home.phy="802.11be"']
    arguments += ["--set", 'scenario.home.band="6"']
    arguments += [
        "--set",
        'grid.policy=["wpa2-psk-ccmp"]',
        "--set",
        'study.baseline="wpa2-psk-ccmp"',
    ]
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, RunError)
    assert "skipped" in result.stdout
    assert "all 3 cells are skipped" in str(result.exception)


def test_a_data_set_without_readings_of_the_run_is_refused(tmp_path):
    folder = tmp_path / "run"
    arguments = ["run", "quickstart", "--out", str(folder), "--trials", "2", "--no-report"]
    arguments += ["--set", 'grid.traffic=["udp"]', "--set", "traffic.udp.duration_s=0.1"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    result = CliRunner().invoke(app, ["compare", str(folder), "tripathi2008"])
    assert result.exception is not None
    assert "no reading of tripathi2008" in str(result.exception)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (["--seed", "2"], "has seed 1, not 2"),
        (["--trials", "7"], "plans 2 trials per cell, not 7"),
        (["--set", "traffic.udp.duration_s=0.2"], r"has traffic.udp.duration_s = 0.1, not 0.2"),
        (["--set", "traffic.udp.warm_up_s=0.01"], "was made without --set traffic.udp.warm_up_s"),
        (["--on", "analytic"], "was made on simulator, not on analytic"),
        ([], None),
    ],
)
def test_resuming_with_another_option_is_refused_with_the_difference(tmp_path, more, expected):
    folder = tmp_path / "run"
    arguments = ["run", "quickstart", "--out", str(folder), "--trials", "2", "--no-report"]
    arguments += ["--set", 'grid.traffic=["udp"]', "--set", "traffic.udp.duration_s=0.1"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    resume = ["run", "quickstart", "--out", str(folder), "--resume", "--no-report", *more]
    result = CliRunner().invoke(app, resume)
    if expected is None:
        assert result.exit_code == 0
    else:
        assert isinstance(result.exception, RunError)
        assert expected in str(result.exception)


SHORT = ["--set", 'grid.traffic=["udp"]', "--set", "traffic.udp.duration_s=0.1"]


@pytest.mark.thorough
def test_the_expected_time_includes_joins_and_the_report():
    study = ["check", "reauthentication-storm", "--json"]
    found = json.loads(CliRunner().invoke(app, study).stdout)
    # Measured: 16.3 s of CPU time for one trial of each cell with 50 clients or more.
    joins = found["expected_s"] - found["expected_report_s"]
    assert 30 < joins < 120
    assert 0.3 < found["expected_report_s"] < 3
    of_cells = sum(cell["expected_s"] for cell in found["cells"])
    # Beside its trials each cell that runs takes some milliseconds.
    assert of_cells < joins < of_cells + 0.01 * len(found["cells"])
    assert all(cell["runs"] or cell["expected_s"] == 0 for cell in found["cells"])


def test_check_warns_of_a_level_that_the_rate_cannot_use():
    level = ["--set", "scenario.home.rssi_dbm=-85", "--set", 'scenario.home.stations=[{name="A"}]']
    result = CliRunner().invoke(app, ["check", "quickstart", "--json", *level])
    cells = json.loads(result.stdout)["cells"]
    found = re.match(
        r"station A: -85\.0 dBm is too low .* needs (-[\d.]+) dBm", cells[0]["warning"]
    )
    # IEEE Std 802.11-2020, table 17-18: 54 Mb/s needs -65 dBm with 10 dB of noise figure and 5 dB
    # of margin; the study's receiver has 7 dB, no margin, and decides softly.
    assert -78 < float(found[1]) < -73
    enough = ["--set", f"scenario.home.rssi_dbm={float(found[1]) + 1}", *level[2:]]
    result = CliRunner().invoke(app, ["check", "quickstart", "--json", *enough])
    assert json.loads(result.stdout)["cells"][0]["warning"] is None


def test_a_cell_without_throughput_has_its_own_verdict(tmp_path):
    folder = tmp_path / "run"
    level = ["--set", "scenario.home.rssi_dbm=-95", "--set", 'scenario.home.stations=[{name="A"}]']
    arguments = ["run", "quickstart", "--out", str(folder), "--trials", "3", "--no-report"]
    result = CliRunner().invoke(app, [*arguments, *SHORT, *level])
    assert result.exit_code == 0
    assert "3 cells carried no data" in result.stdout
    shown = CliRunner().invoke(app, ["show", str(folder), "costs"])
    assert "no throughput" in shown.stdout
    assert "nan" not in result.stdout


def storm(folder, join):
    """Two trials in which 30 clients join under a limit of time; the result of the command."""
    scenario = ["scenario.home.authenticate=true", "scenario.home.clients=30"]
    policy = ['grid.policy=["wpa2-psk-ccmp"]', 'study.baseline="wpa2-psk-ccmp"']
    settings = [*scenario, f"scenario.home.join={{{join}}}", *policy]
    more = [word for setting in settings for word in ("--set", setting)]
    arguments = ["run", "quickstart", "--out", str(folder), "--trials", "2", "--no-report"]
    return CliRunner().invoke(app, [*arguments, *SHORT, *more])


def test_stations_that_do_not_join_are_the_result_of_a_storm(tmp_path):
    folder = tmp_path / "run"
    result = storm(folder, "limit_s=0.06")
    assert result.exit_code == 0
    assert re.search(
        r"Not every client joined: [\d.]+ of 30(, on average,)? did \(WPA2-Personal", result.stdout
    )
    trials = read_trials(folder)
    assert set(trials["status"]) == {"ok"}
    assert re.match(r"\d+ of 30 stations joined, so no traffic", trials["caveats"][0][0])
    rows = read_observations(folder).filter(metric="joined_ratio")
    assert rows.height == 2
    assert rows["value"].is_between(0, 1, closed="none").all()


def test_a_storm_in_which_no_station_joins_has_the_result_0(tmp_path):
    folder = tmp_path / "run"
    result = storm(folder, "limit_s=0.000001, spread_ms=1")
    assert result.exit_code == 0, result.output
    assert "Not every client joined: 0 of 30 did" in result.stdout
    assert "nan" not in result.stdout
    assert read_observations(folder).filter(metric="joined_ratio")["value"].to_list() == [0, 0]


@pytest.mark.parametrize(("rate_mbps", "limited"), [(100, True), (1000, False)])
def test_a_wire_that_limits_throughputs_is_named(tmp_path, rate_mbps, limited):
    """802.11ac at 433 Mb/s behind a wired link of the default rate, and of a higher one."""
    file = tmp_path / "mine.toml"
    file.write_text(
        '[study]\nname = "mine"\ntitle = "mine"\n[trials]\nrepetitions = 2\n'
        '[scenario.lab]\nphy = "802.11ac"\nwidth_mhz = 80\nmcs = 9\n'
        f"wired = {{ rate_mbps = {rate_mbps} }}\n"
        '[traffic.udp]\ntransport = "udp"\nduration_s = 0.2\n'
        '[traffic.tcp]\ntransport = "tcp"\nduration_s = 0.5\nwarm_up_s = 0.2\n'
        '[grid]\npolicy = ["open", "wpa2-psk-ccmp"]\ntraffic = ["udp", "tcp"]\n'
    )
    result = run(file, out=tmp_path / "run", jobs=1)
    said = " ".join(headline(summarise(result.path)))
    words = "Not the air but the wired link limits throughput everywhere: raise `wired.rate_mbps`"
    assert (words in said) == limited


LOW = ["--set", "scenario.home.rssi_dbm=-85", "--set", 'scenario.home.stations=[{name="A"}]']


def test_a_run_warns_of_what_check_warns_of_before_its_first_trial(tmp_path):
    out = tmp_path / "run"
    arguments = ["run", "quickstart", *LOW, "--trials", "2", "--out", str(out), "--json"]
    result = CliRunner().invoke(app, [*arguments, "--set", "traffic.udp.duration_s=0.2"])
    # The answer is clean JSON, and the warning is on the other stream, before any trial.
    assert json.loads(result.stdout)
    before, _, after = result.stderr.partition("warning: 9 cells: station A: -85.0 dBm is too low")
    assert after
    assert "9 cells x 2 trials" in before
    assert "trials" in after
    # Once: the trials keep it, so that the page has it without the terminal.
    assert result.stderr.count("is too low for the rate") == 1
    assert "is too low for the rate" in (out / "report.html").read_text("utf-8")
    quiet = CliRunner().invoke(app, ["run", "quickstart", "--trials", "1", "--out", str(out) + "2"])
    assert "warning" not in quiet.stderr


def test_a_run_names_three_likely_mistakes_the_grave_one_first(tmp_path, monkeypatch):
    from airtoll.testbeds.contract import Caution
    from airtoll.testbeds.simulator import Simulator

    def cautions(self, cell):
        said = [Caution(f"{letter} may be") for letter in "abc"]
        grave = Caution(f"{len(cell.traffic)} frames vanish", is_grave=True)
        return (*((grave,) if cell.policy == "open" else ()), *said)

    monkeypatch.setattr(Simulator, "cautions", cautions)
    folder = str(tmp_path / "run")
    result = CliRunner().invoke(app, ["run", "quickstart", "--trials", "1", "--out", folder])
    lines = [line for line in result.stderr.splitlines() if re.match(r"warning|\d+ more", line)]
    assert lines == [
        "warning: 3 cells, the first: 3 frames vanish",
        "warning: 9 cells: a may be",
        "warning: 9 cells: b may be",
        "1 more warning: `airtoll check quickstart` shows all",
    ]


def test_silent_cells_say_why_no_data_arrived(tmp_path):
    choice = {
        "scenario": ["path-1492"],
        "policy": ["wpa2-psk-ccmp"],
        "traffic": ["tcp", "udp"],
        "scenario.tunnel_mtu_octets": [1420],
    }
    options = [f"--set=grid.{key}={json.dumps(value)}" for key, value in choice.items()]
    args = ["run", "tunnel-mtu", "--trials", "1", "--set=question=[]", *options]
    result = CliRunner().invoke(app, [*args, "--out", str(tmp_path / "run")])
    assert result.exit_code == 0, result.stderr
    (line,) = [one for one in result.stdout.splitlines() if "carried no data" in one]
    assert "packets of 1500 octets exceed the path MTU of 1492 octets and vanish" in line
    assert "too low for the rate" not in line
