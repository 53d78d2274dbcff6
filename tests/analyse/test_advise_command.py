"""The command on readings of one's own: no simulator needed."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from airtoll.cli.app import app
from airtoll.errors import NotMeasured, StudyError, UsageError

MEANS = {"open": 24.0, "wep-104": 23.9, "wpa2-psk-ccmp": 23.0, "ipsec-3des-sha1": 12.0}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng = np.random.default_rng(3)
    place = tmp_path_factory.mktemp("advise")
    lines = ["scenario,policy,traffic,trial,metric,value,unit"]
    for policy, mean in MEANS.items():
        for traffic in ("tcp", "udp"):
            for trial in range(1, 9):
                value = rng.normal(mean, 0.05)
                lines.append(f"n1,{policy},{traffic},{trial},throughput,{value:.4f},Mbps")
    (place / "mine.csv").write_text("\n".join(lines) + "\n")
    made = CliRunner().invoke(
        app, ["import", str(place / "mine.csv"), "--format", "csv", "--out", str(place / "mine")]
    )
    assert made.exit_code == 0, made.output
    return place / "mine"


def test_advice_as_json(folder):
    result = CliRunner().invoke(
        app,
        ["advise", "--run", str(folder), "--need", "confidentiality", "--min-throughput", "20M",
         "--against", "agarwal2005", "--json"],
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert [a["recommended"] for a in data["advice"]] == ["wpa2-psk-ccmp", "wpa2-psk-ccmp"]
    wep = next(o for o in data["advice"][0]["options"] if o["policy"] == "wep-104")
    assert data["answer"] == "wpa2-psk-ccmp"
    assert wep["broken"]
    assert not wep["recommendable"]
    assert {(c["theirs"], c["ours"]) for c in data["against"]} == {
        ("ipsec-3des-sha1", "wpa2-psk-ccmp")
    }
    assert {v["policy"] for v in data["better_transport"]} == set(MEANS) - {"open"}
    assert all(s["cells"] for a in data["advice"] for s in a["sentences"][:1])


def test_advice_in_words(folder):
    arguments = ["advise", "--run", str(folder), "--need", "integrity"]
    result = CliRunner().invoke(app, [*arguments, "--details"])
    assert result.exit_code == 0, result.output
    assert "Choose wpa2-psk-ccmp: it costs" in result.stdout
    assert "Pareto front" in result.stdout
    answer = result.stdout.splitlines()[0]
    assert answer.startswith("Answer for all 2 places: WPA2-Personal, CCMP-128 (wpa2-psk-ccmp), ")
    assert "of throughput at most (n1/wpa2-psk-ccmp/" in answer
    assert "n1/wpa2-psk-ccmp/tcp" in result.stdout
    brief = CliRunner().invoke(app, arguments).stdout.splitlines()
    assert brief[0] == answer
    assert [line.split()[:3] for line in brief if line.startswith("n1")] == [
        ["n1,", "tcp", "wpa2-psk-ccmp"],
        ["n1,", "udp", "wpa2-psk-ccmp"],
    ]
    (why,) = [line for line in brief if line.startswith("Why not others: ")]
    assert "ipsec-3des-sha1, wep-104 (broken)" in why
    assert "open (" in why
    assert "Throughput lost is counted from open." in brief
    assert len(brief) < 15


def test_the_only_policy_that_may_be_recommended_is_called_so(folder):
    arguments = ["advise", "--run", str(folder), "--where", "traffic=tcp"]
    named = ["--policy", "open", "--policy", "wep-104", "--policy", "wpa2-psk-ccmp"]
    needs = ["--need", "confidentiality"]
    result = CliRunner().invoke(app, [*arguments, *named, *needs])
    answer = result.stdout.splitlines()[0]
    assert "the only one here that meets the needs and may be recommended" in answer


@pytest.mark.parametrize(
    "arguments",
    [
        ["--need", "secrecy"],
        ["--min-throughput", "fast"],
        ["--max-handover", "50"],
        ["--scenario", "attic"],
        ["--credentials", "password"],
        ["--rules", "fips"],
        ["--band", "7"],
        ["--margin", "some"],
    ],
)
def test_invalid_arguments_are_refused(folder, arguments):
    result = CliRunner().invoke(app, ["advise", "--run", str(folder), *arguments])
    assert result.exit_code != 0
    assert result.exception is not None


def test_needs_as_options(folder):
    def recommended(*options):
        result = CliRunner().invoke(app, ["advise", "--run", str(folder), "--json", *options])
        assert result.exit_code == 0, result.output
        return {a["recommended"] for a in json.loads(result.stdout)["advice"]}

    assert recommended() == {"wpa2-psk-ccmp"}
    assert recommended("--policy", "open") == {"open"}
    assert recommended("--policy", "Open") == {"open"}
    assert recommended("--pmf") == {None}
    assert recommended("--band", "6") == {None}
    assert recommended("--rules", "pci-dss-4") == {"wpa2-psk-ccmp"}
    assert recommended("--rules", "pci-dss-4,192-bit") == {None}
    assert recommended("--credentials", "certificates") == {None}


def advised(tmp_path, monkeypatch, *arguments: str) -> dict:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["advise", "--trials", "2", "--json", *arguments])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.thorough
def test_a_cipher_without_a_cost_on_the_devices_cpu_is_not_advised(tmp_path, monkeypatch):
    policies = ["wpa2-psk-ccmp", "wpa3-sae-gcmp-256", "wpa2-psk-ccmp+openvpn"]
    data = advised(
        tmp_path, monkeypatch, "--scenario", "quickstart/home", "--profile", "mt7621-software",
        *(word for policy in policies for word in ("--policy", policy)),
    )  # fmt: skip
    assert data["answer"] == "wpa2-psk-ccmp"
    for advice in data["advice"]:
        options = {option["policy"]: option for option in advice["options"]}
        for policy, words in (
            ("wpa3-sae-gcmp-256", "mt7621-software has no cost of GCMP-256 on its CPU"),
            (policies[2], "mt7621-software: the cost of OPENVPN-AES-GCM is unknown: no cycles"),
        ):
            assert options[policy]["meets"] == "unknown"
            assert not options[policy]["pareto"]
            assert options[policy]["figures"] == {}
            (cost,) = (c for c in options[policy]["checks"] if c["need"] == "cost")
            assert cost["figure"].startswith(words)
    assert {verdict["policy"] for verdict in data["better_transport"]} == {"wpa2-psk-ccmp"}


def test_a_limit_on_the_join_is_measured(tmp_path, monkeypatch):
    data = advised(
        tmp_path, monkeypatch, "--scenario", "home", "--max-negotiation", "300ms",
        "--policy", "wpa2-psk-ccmp", "--policy", "wpa3-sae-gcmp-256",
    )  # fmt: skip
    assert data["answer"] == "wpa3-sae-gcmp-256"
    for advice in data["advice"]:
        for option in advice["options"]:
            verdicts = {check["need"]: check["verdict"] for check in option["checks"]}
            # Two joins without a retry say little of the mean join.
            assert verdicts["negotiation"] == "likely"


PLACED = """
[study]
name = "placed"
title = "t"
[trials]
repetitions = 5
[scenario.desk]
[traffic.udp]
transport = "udp"
offered_mbps = 1
duration_s = 0.3
[grid]
policy = ["open", "wpa2-psk-ccmp", "wpa3-sae-gcmp-256"]
"""


@pytest.fixture(scope="module")
def placed(tmp_path_factory):
    place = tmp_path_factory.mktemp("placed")
    (place / "placed.toml").write_text(PLACED)
    arguments = ["run", str(place / "placed.toml"), "--out", str(place / "run")]
    made = CliRunner().invoke(app, arguments)
    assert made.exit_code == 0, made.output
    return place / "run"


def test_a_candidate_named_by_hand_is_in_the_answer_with_the_reason(placed):
    asked = ["advise", "--run", str(placed), "--policy", "wireguard", "--policy", "WPA2-Personal"]
    result = CliRunner().invoke(app, [*asked, "--json"])
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    options = {option["policy"]: option for option in data["advice"][0]["options"]}
    # Only those named, and each of them.
    assert set(options) == {"wireguard", "wpa2-psk-ccmp"}
    assert options["wireguard"]["meets"] == "not measured"
    assert options["wireguard"]["unmeasured"] == "the run has no such cell"
    assert options["wpa2-psk-ccmp"]["unmeasured"] is None
    assert data["answer"] == "wpa2-psk-ccmp"
    text = CliRunner().invoke(app, asked).stdout
    assert "wireguard was not measured: the run has no such cell." in text


def test_a_skipped_candidate_is_in_the_answer_with_its_reason(tmp_path, monkeypatch):
    data = advised(
        tmp_path, monkeypatch, "--scenario", "home", "--on", "analytic",
        "--policy", "wpa2-psk-ccmp", "--policy", "wireguard",
    )  # fmt: skip
    for advice in data["advice"]:
        options = {option["policy"]: option for option in advice["options"]}
        assert {"wpa2-psk-ccmp", "wireguard"} <= set(options)
        for option in options.values():
            if option["meets"] == "not measured":
                assert option["unmeasured"].startswith(("skipped: ", "failed: "))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--policy", "wireguard"], "not measured in desk, udp: wireguard"),
        (["--max-handover", "50ms"], "handover: handover_gap_s was not measured"),
        (["--max-negotiation", "50ms"], "negotiation_time_s was not measured"),
    ],
)
def test_not_measured_is_a_word_and_an_exit_code_of_its_own(placed, arguments, words):
    result = CliRunner().invoke(app, ["advise", "--run", str(placed), *arguments])
    assert isinstance(result.exception, NotMeasured)
    assert result.exception.exit_code == 5
    assert words in str(result.exception)
    assert result.stdout.startswith("No answer: not measured in desk, udp: ")
    assert "No unbroken policy meets" not in result.stdout
    plain = CliRunner().invoke(app, ["advise", "--run", str(placed), *arguments, "--json"])
    assert json.loads(plain.stdout)["answer"] is None


def test_needs_that_no_measured_policy_meets_are_no_missing_measurement(placed):
    arguments = ["advise", "--run", str(placed), "--min-throughput", "100M"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "No unbroken policy meets the needs in desk, udp" in result.stdout


@pytest.mark.thorough
def test_a_scenario_of_several_studies_is_refused_with_the_choices(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["advise", "--scenario", "walk"])
    assert isinstance(result.exception, UsageError)
    assert "post-quantum-roaming/walk, roaming2026/walk" in str(result.exception)
    assert not (tmp_path / "runs").exists()
    result = CliRunner().invoke(app, ["advise", "--scenario", "roaming2026/nowhere"])
    assert isinstance(result.exception, StudyError)
    # The choice is taken as it was written.
    data = advised(
        tmp_path, monkeypatch, "--scenario", "tripathi2008/single", "--policy", "wpa2-psk-ccmp"
    )
    assert {advice["scenario"] for advice in data["advice"]} == {"single"}


@pytest.mark.thorough
def test_a_throughput_that_has_not_settled_is_not_advised(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vpn.toml").write_text(
        '[study]\nname = "vpn"\ntitle = "t"\n[trials]\nrepetitions = 3\n'
        '[scenario.home]\ntopology = "downlink"\n'
        '[traffic.udp]\ntransport = "udp"\nduration_s = 2\n'
        '[grid]\npolicy = ["open", "wireguard", "wpa2-psk-ccmp"]\n'
    )
    assert CliRunner().invoke(app, ["run", "vpn.toml", "--out", "vpn"]).exit_code == 0
    data = json.loads(CliRunner().invoke(app, ["advise", "--run", "vpn", "--json"]).stdout)
    options = {option["policy"]: option for option in data["advice"][0]["options"]}
    assert data["answer"] == "wpa2-psk-ccmp"
    assert options["wireguard"]["meets"] == "unknown"
    assert "overhead" not in options["wireguard"]["figures"]
    (cost,) = (c for c in options["wireguard"]["checks"] if c["need"] == "cost")
    assert "not settled" in cost["figure"]
