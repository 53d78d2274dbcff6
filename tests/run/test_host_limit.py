"""One measurement of a station says what its host adds, and predicts the other policies."""

from __future__ import annotations

import json
import statistics
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from typer.testing import CliRunner

from airtoll.cli.app import app
from airtoll.errors import UsageError
from airtoll.observe.datasets import load_dataset
from airtoll.plan import Cell, make_plan
from airtoll.profiles import load_file
from airtoll.run.host_limit import host_limit, predict, profile_text, throughput_bps
from airtoll.study import Study
from airtoll.testbeds.simulator import Simulator

SAMPLE = Path(__file__).parents[1] / "observe" / "samples" / "iperf3-tcp.json"


def cell_of(transport: str = "tcp", direction: str = "up", **scenario: Any) -> Cell:
    own = {"phy": "802.11n", "band": "5", "mcs": 7, "guard_interval_ns": 400, **scenario}
    data = {
        "study": {"name": "host", "title": "Host"},
        "scenario": {"one": {"wired": {"rate_mbps": 1000}, **own}},
        "traffic": {"load": {"transport": transport, "direction": direction, "duration_s": 0.4}},
        "grid": {"scenario": ["one"], "traffic": ["load"], "policy": ["open"]},
    }
    return make_plan(Study.model_validate(data)).cells[0]


@pytest.mark.parametrize(
    ("transport", "direction"), [("udp", "up"), ("udp", "down"), ("tcp", "up")]
)
def test_a_planted_host_comes_back(transport: str, direction: str, tmp_path) -> None:
    cell = cell_of(transport, direction)
    packet_s = 500e-6
    place = tmp_path / "slow.toml"
    place.write_text(profile_text(cell, packet_s, "a planted host"))
    assert load_file(place).host.tx_packet_cycles.value == pytest.approx(500e3)
    (station,) = cell.settings.stations
    slow = station.model_copy(update={"profile": str(place)})
    planted = evolve(cell, settings=cell.settings.model_copy(update={"stations": (slow,)}))
    measured = throughput_bps(planted, Simulator())
    found = host_limit(cell, measured)
    assert found.limit == "host"
    assert found.packet_s == pytest.approx(packet_s, rel=0.02)
    (secured,) = predict(cell, found, ["wpa2-psk-ccmp"])
    truth = throughput_bps(evolve(planted, policy="wpa2-psk-ccmp"), Simulator())
    assert secured.predicted_bps == pytest.approx(truth, rel=0.01)


def test_near_the_air_the_share_is_kept() -> None:
    cell = cell_of("udp", "down")
    air = throughput_bps(cell, Simulator())
    found = host_limit(cell, 0.95 * air)
    assert (found.limit, found.packet_s) == ("air", 0.0)
    (secured,) = predict(cell, found, ["wpa2-psk-ccmp"])
    assert secured.predicted_bps == pytest.approx(0.95 * secured.air_bps)


def test_another_network_is_refused() -> None:
    with pytest.raises(UsageError, match="name a scenario"):
        host_limit(cell_of(), 500e6)


@pytest.mark.parametrize(
    ("chip", "direction"),
    [
        ("W8987", "TX"),
        pytest.param("W8987", "RX", marks=pytest.mark.thorough),
        pytest.param("IW416", "TX", marks=pytest.mark.thorough),
    ],
)
def test_tcp_of_real_chips_follows_from_the_open_reading(chip: str, direction: str) -> None:
    dataset = load_dataset("nxp-chips")
    errors = []
    for link in dataset.meta["link"]:
        if link["phy"] == "802.11ax" or (link["phy"] == "802.11ac" and link["band"] == "2.4"):
            continue
        readings = {
            row["policy"]: row["si"]
            for row in dataset.figures.iter_rows(named=True)
            if fnmatchcase(row["configuration"], link["configuration"])
            and row["configuration"].startswith(f"{chip} station")
            and row["configuration"].endswith(direction)
            and row["transport"] == "TCP"
        }
        if not readings:
            continue
        names = ("phy", "band", "width_mhz", "mcs", "guard_interval_ns")
        way = "up" if direction == "TX" else "down"
        cell = cell_of("tcp", way, **{name: link[name] for name in names})
        limit = host_limit(cell, readings["open"])
        for one in predict(cell, limit, ["wpa2-psk-ccmp", "wpa3-sae-ccmp"]):
            errors.append(abs(one.predicted_bps / readings[one.policy] - 1))
    assert statistics.median(errors) < 0.05


def command(tmp_path: Path, *arguments: str, **changed: Any) -> Any:
    data = json.loads(SAMPLE.read_text())
    data["start"]["test_start"] |= {"target_bitrate": 0, **changed}
    place = tmp_path / "open.json"
    place.write_text(json.dumps(data))
    return CliRunner().invoke(app, ["calibrate", str(place), *arguments])


def test_the_command_reads_one_iperf3_result(tmp_path) -> None:
    file = tmp_path / "mine.toml"
    done = command(tmp_path, "--policy", "wpa2-psk-ccmp", "--out", str(file), "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["direction"] == "up"
    assert found["limit"] == "host"
    assert found["measured_bps"] == pytest.approx(20.222e6, rel=1e-4)
    (one,) = found["predictions"]
    assert one["policy"] == "wpa2-psk-ccmp"
    assert one["throughput_bps"] == pytest.approx(found["measured_bps"], rel=0.02)
    fitted = load_file(file)
    assert fitted.fitted_numbers()
    assert fitted.seen[0].dataset == "open.json"


@pytest.mark.parametrize(
    ("arguments", "changed", "words"),
    [
        ((), {"target_bitrate": 20_000_000}, "measure with iperf3 -b 0"),
        (("--fit", "ideal"), {}, "takes no --fit"),
        (("--direction", "left"), {}, "up or down"),
        (("--scenario", "nowhere"), {}, "has no scenario 'nowhere'"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, arguments, changed, words) -> None:
    done = command(tmp_path, *arguments, **changed)
    assert done.exit_code != 0
    assert words in str(done.exception)
