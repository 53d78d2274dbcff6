"""The command on readings of one's own: no simulator needed."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from airtoll.cli.app import app

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
    result = CliRunner().invoke(app, ["advise", "--run", str(folder), "--need", "integrity"])
    assert result.exit_code == 0, result.output
    assert "Choose wpa2-psk-ccmp: it costs" in result.stdout
    assert "Pareto front" in result.stdout
    answer = result.stdout.splitlines()[0]
    assert answer.startswith("Answer for all 2 places: WPA2-Personal, CCMP-128 (wpa2-psk-ccmp), ")
    assert "of throughput at most (n1/wpa2-psk-ccmp/" in answer
    assert "n1/wpa2-psk-ccmp/tcp" in result.stdout


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


def test_a_cipher_without_a_cost_on_the_devices_cpu_is_not_advised(tmp_path, monkeypatch):
    policies = ["wpa2-psk-ccmp", "wpa3-sae-gcmp-256", "wpa2-psk-ccmp+openvpn"]
    data = advised(
        tmp_path, monkeypatch, "--scenario", "office", "--profile", "mt7621-software",
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
            assert verdicts["negotiation"] == "yes"
